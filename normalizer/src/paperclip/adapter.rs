//! What Paperclip's host wants to know of a runtime before it runs it.

use std::borrow::Cow;

pub use runtape_core::report::AdapterCapabilities as Capabilities;

use super::calling::Calling;

/// A runtime as one of Paperclip's adapters.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// The adapter's type, as the host stores it with an agent.
    pub adapter_type: &'static str,
    /// What the codes of errors and checks begin with.
    pub code_prefix: &'static str,
    /// The model's maker, where the runtime has only one.
    pub provider: Option<&'static str>,
    /// What the host may do with it.
    pub capabilities: Capabilities,
    /// How its CLI is called; `None` for what an adapter does not start.
    pub calling: Option<&'static Calling>,
}

/// A gateway: the host may do nothing with it but send messages.
pub(crate) const GATEWAY: Capabilities = Capabilities {
    supports_local_agent_jwt: false,
    supports_instructions_bundle: false,
    instructions_path_key: None,
    requires_materialized_runtime_skills: false,
};

/// A CLI on the host's own machine that finds skills by itself.
pub(crate) const LOCAL: Capabilities = Capabilities {
    supports_local_agent_jwt: true,
    supports_instructions_bundle: true,
    instructions_path_key: Some(Cow::Borrowed("instructionsFilePath")),
    requires_materialized_runtime_skills: false,
};

/// One that reads skills from a directory only.
pub(crate) const LOCAL_WITH_SKILLS_ON_DISK: Capabilities = Capabilities {
    requires_materialized_runtime_skills: true,
    ..LOCAL
};

/// One that has its own idea of instructions.
pub(crate) const LOCAL_WITHOUT_INSTRUCTIONS: Capabilities = Capabilities {
    supports_local_agent_jwt: true,
    ..GATEWAY
};
