//! What a runtime's output formats carry, for those who choose one.

/// Something that an output format may tell of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// What the model said.
    Text,
    /// The model's reasoning.
    Thinking,
    /// That tools were called, and which.
    Calls,
    /// What the tools were called with.
    Arguments,
    /// What the tools gave back.
    Results,
    /// The tokens used.
    Tokens,
    /// What the run cost.
    Cost,
    /// The id of the session, to go on with it.
    Session,
    /// The model's name.
    Model,
}

impl Carried {
    /// Returns the name, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::Calls => "calls",
            Self::Arguments => "arguments",
            Self::Results => "results",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Session => "session",
            Self::Model => "model",
        }
    }
}

/// An output format of a runtime.
#[derive(Clone, Copy, Debug)]
pub struct OutputFormat {
    /// The name, as in the metadata of a run.
    pub name: &'static str,
    /// What on the command line asks for it; empty for what is printed unasked.
    pub flags: &'static str,
    /// What it tells of a run, where there is something to tell.
    pub carries: &'static [Carried],
}

impl OutputFormat {
    /// Creates a row of the table of formats.
    pub(super) const fn new(
        name: &'static str,
        flags: &'static str,
        carries: &'static [Carried],
    ) -> Self {
        Self {
            name,
            flags,
            carries,
        }
    }
}

/// Returns the format that tells most; of those that tell the same, the first.
#[must_use]
pub fn best(formats: &'static [OutputFormat]) -> Option<&'static OutputFormat> {
    let most = formats.iter().map(|format| format.carries.len()).max()?;
    formats.iter().find(|format| format.carries.len() == most)
}
