//! What the caller must act on. Bad input is not an error here: it becomes records.

use runtape_core::Runtime;

/// An error of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NormalizeError {
    /// No parser reads this runtime's output.
    #[error(
        "the output of runtime {runtime} cannot be read, expected one of: {}",
        crate::runtimes::readable()
    )]
    Unreadable {
        /// The runtime.
        runtime: Runtime,
    },
    /// No parser reads this runtime's session files.
    #[error("the history of runtime {runtime} cannot be read")]
    NoHistory {
        /// The runtime.
        runtime: Runtime,
    },
}
