//! Places on the tape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the two streams of a process.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// A half-open range of bytes in one stream of the recorded raw output.
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
