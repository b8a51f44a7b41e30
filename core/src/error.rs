//! What can go wrong in this crate.

/// An error of the model: a value that breaks one of its rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CoreError {
    /// An id does not follow the rule for its kind.
    #[error("invalid {kind} {id:?}: {rule}")]
    InvalidId {
        /// Which kind of id, in words.
        kind: &'static str,
        /// The text that was refused, cut to a readable length.
        id: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A runtime's name is not one this version knows.
    #[error("unknown runtime {name:?}, expected one of: {known}")]
    UnknownRuntime {
        /// The name that was given.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// Adding two usages passed the largest number a counter can hold.
    #[error("usage overflow in {counter}")]
    UsageOverflow {
        /// The counter's name as in JSON.
        counter: &'static str,
    },
    /// Records do not form a run: one is missing, doubled or out of place.
    #[error("run {run}: record {seq}: {fault}")]
    BrokenRun {
        /// The run.
        run: String,
        /// Sequence number of the record at fault.
        seq: u64,
        /// What is wrong with it.
        fault: String,
    },
}
