//! Sessions whose sources are all in memory.

use super::{Framing, History, Segment, SegmentLine, Session};
use crate::redact::Kept;

/// A source in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSource {
    /// Its path below the place, or the session's id in a database.
    pub name: String,
    /// How it is cut into lines.
    pub framing: Framing,
    /// All of it; of a database, its rows as lines.
    pub bytes: Vec<u8>,
}

/// Reads one session from sources that are sorted by name, as they are given: nothing is filtered.
#[must_use]
pub fn read_session(history: &History, sources: &[SessionSource]) -> Session {
    let mut reader = (history.reader)();
    for source in sources {
        reader.begin_source(&source.name);
        let bytes = source.bytes.as_slice();
        if source.framing == Framing::Document {
            reader.line(0..length(bytes), Kept::as_given(bytes));
            continue;
        }
        let mut start = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let end = start + length(line);
            let whole = line.strip_suffix(b"\n");
            let text = whole.unwrap_or(line);
            if whole.is_some() || is_whole(text) {
                reader.line(start..start + length(text), Kept::as_given(text));
            }
            start = end;
        }
    }
    reader.finish()
}

/// Tells whether a last line without its end is a whole JSON value.
fn is_whole(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Returns the lines of a segment as they stand on the tape.
#[must_use]
pub fn segment_bytes(segment: &Segment, sources: &[SessionSource]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in &segment.lines {
        match line {
            SegmentLine::Made(line) => bytes.extend_from_slice(line),
            SegmentLine::Kept { source, place } => {
                let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
                let source = sources.get(*source).map(|source| source.bytes.as_slice());
                let line = source.and_then(|all| all.get(index(place.start)..index(place.end)));
                bytes.extend_from_slice(line.unwrap_or_default());
            }
        }
        bytes.push(b'\n');
    }
    bytes
}
