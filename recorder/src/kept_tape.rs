//! What may go on a tape: nothing but bytes that a filter let through, or that somebody says are kept as given.

use runtape_core::Stream;
use runtape_normalizer::Kept;
use runtape_store::{StreamLengths, TapeChunk};

/// Gives what is kept its places on a tape.
#[derive(Debug, Default)]
pub(crate) struct KeptTape {
    /// Bytes kept of each stream.
    lengths: StreamLengths,
    chunks: Vec<TapeChunk>,
    bytes: usize,
}

impl KeptTape {
    /// Takes the next bytes of a stream. What comes from one stream at one time is one piece.
    pub(crate) fn push(&mut self, stream: Stream, kept: Kept<'_>, received_at: i64) {
        let bytes = kept.bytes();
        self.bytes += bytes.len();
        match self.chunks.last_mut() {
            Some(last) if last.stream == stream && last.received_at == received_at => {
                last.bytes.extend_from_slice(bytes);
                self.lengths.advance(stream, last.end());
            }
            _ => {
                let chunk = TapeChunk {
                    stream,
                    start: self.lengths.of(stream),
                    received_at,
                    bytes: bytes.to_vec(),
                };
                self.lengths.advance(stream, chunk.end());
                self.chunks.push(chunk);
            }
        }
    }

    /// Returns how many bytes wait to be taken.
    pub(crate) fn waiting(&self) -> usize {
        self.bytes
    }

    /// Takes what has come since the last time.
    pub(crate) fn take(&mut self) -> Vec<TapeChunk> {
        self.bytes = 0;
        std::mem::take(&mut self.chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other_on_their_stream_and_what_came_at_once_is_one() {
        let mut tape = KeptTape::default();
        tape.push(Stream::Stdout, Kept::as_given("ab"), 1);
        tape.push(Stream::Stdout, Kept::as_given("c"), 1);
        tape.push(Stream::Stderr, Kept::as_given("x"), 1);
        assert_eq!(tape.waiting(), 4);
        let chunk = |stream, start, received_at, bytes: &str| TapeChunk {
            stream,
            start,
            received_at,
            bytes: bytes.into(),
        };
        let first = [
            chunk(Stream::Stdout, 0, 1, "abc"),
            chunk(Stream::Stderr, 0, 1, "x"),
        ];
        assert_eq!(tape.take(), first);
        tape.push(Stream::Stdout, Kept::as_given("d"), 1);
        tape.push(Stream::Stdout, Kept::as_given("e"), 2);
        let second = [
            chunk(Stream::Stdout, 3, 1, "d"),
            chunk(Stream::Stdout, 4, 2, "e"),
        ];
        assert_eq!((tape.waiting(), tape.take()), (2, second.to_vec()));
        assert_eq!(tape.waiting(), 0);
    }
}
