//! Paperclip's contract: what its host wants to know of a runtime, a run and a session.
//!
//! An adapter built on runtape has its server side here: [`ExecutionResult`] of a finished run,
//! [`SessionCodec`] for what is kept between runs, [`Detection`] of failures that it must act on,
//! [`Capabilities`] (in the registry of runtimes), [`redact_environment`] for its logs. What an
//! environment test returns is `runtape_core::report::DoctorReport`.
//!
//! How a CLI is started for an agent is here, too: [`EnvironmentRequest`], [`SessionRequest`] and
//! [`CommandRequest`] before a run, [`OutcomeRequest`] after it. Each is JSON that `runtape paperclip`
//! reads, so that an adapter in another language has none of these rules. What differs by runtime is
//! its [`Calling`].

pub(crate) mod adapter;
mod agent_config;
mod billing;
pub mod calling;
mod command;
mod detection;
mod environment;
mod execution_result;
mod outcome;
mod redact;
mod session;

pub use adapter::{Adapter, Capabilities};
pub use agent_config::AgentConfig;
pub use billing::{Billing, maker};
pub use calling::Calling;
pub(crate) use command::fault;
pub use command::{CommandRequest, called};
pub use detection::{Detection, FailureKind, ProcessOutput};
pub use environment::{EnvironmentRequest, inherited};
pub use execution_result::{ExecutionResult, ExecutionUsage};
pub use outcome::{OutcomeRequest, Stop, is_unknown_session};
pub use redact::{REDACTED, has_password, is_secret, redact_arguments, redact_environment};
pub use session::{
    AcpxSession, FreshReason, ResumeDecision, SessionCodec, SessionParams, SessionRequest,
    StoredSession, Surroundings,
};
