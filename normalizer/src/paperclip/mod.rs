//! Paperclip's contract: what its host wants to know of a finished run.

mod execution_result;

pub use execution_result::{ExecutionResult, ExecutionUsage, SessionParams};
