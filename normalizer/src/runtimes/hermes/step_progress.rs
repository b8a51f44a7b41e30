//! Where the model is in its step.

/// How far the open step is. Steps count messages: what is said after a call is the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StepProgress {
    /// No step is open.
    #[default]
    None,
    /// The model speaks.
    Speaking,
    /// The model made a call.
    Calling,
}

impl StepProgress {
    /// The model speaks; `true` if that opens a step.
    pub(super) fn speak(&mut self) -> bool {
        std::mem::replace(self, Self::Speaking) != Self::Speaking
    }
}
