//! Paperclip's contract: what its host wants to know of a runtime, a run and a session.
//!
//! An adapter built on runtape has its server side here: [`ExecutionResult`] of a finished run,
//! [`SessionCodec`] for what is kept between runs, [`Detection`] of failures that it must act on,
//! [`Capabilities`] (in the registry of runtimes), [`redact_environment`] for its logs. What an
//! environment test returns is `runtape_core::report::DoctorReport`.

pub(crate) mod adapter;
mod detection;
mod execution_result;
mod redact;
mod session;

pub use adapter::{Adapter, Capabilities};
pub use detection::{Detection, FailureKind, ProcessOutput};
pub use execution_result::{ExecutionResult, ExecutionUsage};
pub use redact::{REDACTED, is_secret, redact_environment};
pub use session::{
    AcpxSession, FreshReason, ResumeDecision, SessionCodec, SessionParams, StoredSession,
    Surroundings,
};
