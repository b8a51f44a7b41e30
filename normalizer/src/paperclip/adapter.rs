//! What Paperclip's host wants to know of a runtime before it runs it.

use serde::Serialize;

/// A runtime as one of Paperclip's adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// The adapter's type, as the host stores it with an agent.
    pub adapter_type: &'static str,
    /// What the codes of errors and checks begin with.
    pub code_prefix: &'static str,
    /// The model's maker, where the runtime has only one.
    pub provider: Option<&'static str>,
    /// What the host may do with it.
    pub capabilities: Capabilities,
}

/// What the host may do with a runtime. Absent means no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Whether the host makes a token for the agent to call it back with.
    pub supports_local_agent_jwt: bool,
    /// Whether the host keeps the agent's instructions.
    pub supports_instructions_bundle: bool,
    /// The configuration key that holds the path of the instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_path_key: Option<&'static str>,
    /// Whether skills must be written to disk before a run.
    pub requires_materialized_runtime_skills: bool,
}

impl Capabilities {
    /// Nothing of it.
    pub const NONE: Self = Self {
        supports_local_agent_jwt: false,
        supports_instructions_bundle: false,
        instructions_path_key: None,
        requires_materialized_runtime_skills: false,
    };

    /// A CLI on the host's own machine that finds skills by itself.
    pub const OF_LOCAL_CLI: Self = Self {
        supports_local_agent_jwt: true,
        supports_instructions_bundle: true,
        instructions_path_key: Some("instructionsFilePath"),
        requires_materialized_runtime_skills: false,
    };

    /// The same for a CLI that reads skills from a directory only.
    #[must_use]
    pub const fn with_skills_on_disk(self) -> Self {
        Self {
            requires_materialized_runtime_skills: true,
            ..self
        }
    }

    /// The same for a CLI that has its own idea of instructions.
    #[must_use]
    pub const fn without_instructions(self) -> Self {
        Self {
            supports_instructions_bundle: false,
            instructions_path_key: None,
            ..self
        }
    }
}
