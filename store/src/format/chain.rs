//! Hashes that make tampering evident.
//!
//! Each record's hash covers its canonical JSON, which holds run, sequence number and span, and
//! the hash before it. Tape blocks form a chain of their own, and so do seals.

use runtape_core::{Message, Record, RecordKind, RunId, Stream, ToolResultContent};

use super::streams::StreamLengths;
use crate::error::{Result, StoreError};

/// A BLAKE3 hash.
pub(crate) type Hash = [u8; 32];

/// How many bytes of a record's hash are kept to tell which record was changed. The whole hash
/// at the end of the block is what proves; these only point.
pub(crate) const MARK: usize = 4;

/// Length from which on a text is worth a look before it is written.
const LONG: usize = 1 << 20;

/// Length up to which BLAKE3 has nothing to put together.
const SHORT: usize = 1024;

/// Appends the canonical JSON of a record to `buffer`, without a line feed.
pub(crate) fn write_canonical(buffer: &mut Vec<u8>, record: &Record) -> Result<()> {
    let text = length_of_text(record);
    if text > LONG {
        // At once, with some room for escapes: a buffer that grows is copied, and is there twice.
        buffer.reserve_exact(text + text / 8);
    }
    serde_json::to_writer(&mut *buffer, record).map_err(|source| StoreError::Json {
        run: record.run_id.clone(),
        source,
    })
}

/// Returns how much was said in a message, about.
fn length_of_text(record: &Record) -> usize {
    let RecordKind::Message(message) = &record.kind else {
        return 0;
    };
    match &message.message {
        Message::ExpertMessage(expert) => expert.texts().map(str::len).sum(),
        Message::ToolMessage(tool) => {
            let contents = tool.results().flat_map(|result| &result.contents);
            let texts = contents.map(|content| match content {
                ToolResultContent::TextPart(part) => part.text.len(),
                _ => 0,
            });
            texts.sum()
        }
        Message::UserMessage(_) | Message::InstructionMessage(_) => 0,
    }
}

/// Returns the hash that a run's chain of records begins with.
pub(crate) fn first_record(run: &RunId) -> Hash {
    keyed("runtape record chain", &[run.as_str().as_bytes()])
}

/// Returns the hash of a record from its canonical JSON and the hash before it.
pub(crate) fn next_record(before: &Hash, canonical: &[u8]) -> Hash {
    // Most records are short, and in one piece they take half the time.
    let mut piece = [0; SHORT];
    let length = before.len() + canonical.len();
    if let Some(whole) = piece.get_mut(..length) {
        let (start, rest) = whole.split_at_mut(before.len());
        start.copy_from_slice(before);
        rest.copy_from_slice(canonical);
        return *blake3::hash(whole).as_bytes();
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(before).update(canonical);
    *hasher.finalize().as_bytes()
}

/// Returns the first bytes of a record's hash.
pub(crate) fn mark(hash: &Hash) -> [u8; MARK] {
    let [a, b, c, d, ..] = *hash;
    [a, b, c, d]
}

/// What the hash of a tape block covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TapeRule {
    /// Of the receive times only how far they are apart: schemas 1 and 2.
    Distances,
    /// The receive times, too.
    Times,
}

impl TapeRule {
    /// Returns the hash that a run's chain of tape blocks begins with.
    pub(crate) fn first(self, run: &RunId) -> Hash {
        let name = match self {
            Self::Distances => "runtape tape chain",
            Self::Times => "runtape tape chain with times",
        };
        keyed(name, &[run.as_str().as_bytes()])
    }

    /// Returns the hash of a tape block from where it begins, when its first and last bytes were
    /// received, what it holds and the hash before it.
    ///
    /// Where the streams that were added later begin follows from the blocks before.
    pub(crate) fn next(
        self,
        before: &Hash,
        starts: &StreamLengths,
        times: [i64; 2],
        raw: &[u8],
    ) -> Hash {
        let [stdout, stderr] =
            [Stream::Stdout, Stream::Stderr].map(|stream| starts.of(stream).to_le_bytes());
        let mut hasher = blake3::Hasher::new();
        hasher.update(before).update(&stdout).update(&stderr);
        if self == Self::Times {
            let [first, last] = times.map(i64::to_le_bytes);
            hasher.update(&first).update(&last);
        }
        hasher.update(raw);
        *hasher.finalize().as_bytes()
    }
}

/// Hashes pieces that cannot run into each other, under a name of their own.
pub(crate) fn keyed(name: &str, pieces: &[&[u8]]) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key(name);
    for piece in pieces {
        hasher.update(&u64::try_from(piece.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(piece);
    }
    *hasher.finalize().as_bytes()
}

/// Returns the hash as hexadecimal digits.
pub(crate) fn hex(hash: &Hash) -> String {
    blake3::Hash::from_bytes(*hash).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_in_one_piece_has_the_hash_of_one_in_two() {
        let before = first_record(&RunId::parse("r").unwrap());
        for length in [0, 1, 991, 992, 993, 5000] {
            let canonical = vec![b'x'; length];
            let mut hasher = blake3::Hasher::new();
            hasher.update(&before).update(&canonical);
            let expected = *hasher.finalize().as_bytes();
            assert_eq!(next_record(&before, &canonical), expected, "{length}");
        }
    }
}
