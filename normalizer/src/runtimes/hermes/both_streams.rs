//! Lines of both streams, held until it is known what prints them.
//!
//! An answer of `hermes chat -Q` may look like any other output of hermes. Only the command line
//! tells, or the session on standard error, which is printed last. Without a known command line
//! both streams are held until the end, as far as they may be.

use runtape_core::Stream;

use super::stderr::{is_logged, session_in};
use crate::framing::held_lines::HeldLines;
use crate::lines::Line;
use crate::signal::TapePlace;

/// Lines of both streams, in the order in which they came.
#[derive(Debug)]
pub(super) struct BothStreams {
    pub(super) lines: HeldLines,
    names_session: bool,
    is_log: bool,
}

impl BothStreams {
    /// Creates a holder of at most `limit` bytes of a stream.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            lines: HeldLines::new(limit),
            names_session: false,
            is_log: false,
        }
    }

    /// Takes a line; `false` if that was one too many.
    pub(super) fn push(&mut self, stream: Stream, line: &Line<'_>, place: TapePlace) -> bool {
        if stream == Stream::Stderr {
            let text = line.text();
            self.names_session |= session_in(&text).is_some();
            self.is_log |= is_logged(&text);
        }
        self.lines.push(line.bytes, line.ending, place);
        !self.lines.is_full()
    }

    /// Tells whether standard error proves that standard output is the answer alone.
    ///
    /// The log of `-v` and of acp may quote anything, also such a line.
    pub(super) fn is_quiet(&self) -> bool {
        self.names_session && !self.is_log
    }
}
