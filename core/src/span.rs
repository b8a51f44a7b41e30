//! Places on the tape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stream on the tape.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Standard input: what the recorder gave to the process.
    Stdin,
    /// The runtime's own session file.
    History,
}

impl Stream {
    /// All streams that a tape can have.
    pub const ALL: [Self; 4] = [Self::Stdout, Self::Stderr, Self::Stdin, Self::History];

    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Stdin => "stdin",
            Self::History => "history",
        }
    }
}

/// A half-open range of bytes in one stream of the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// Which stream.
    pub stream: Stream,
    /// The first byte.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
}

impl Span {
    /// Widens the span so that it covers `other`, if both lie in the same stream.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        if self.stream != other.stream {
            return self;
        }
        Self {
            stream: self.stream,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}
