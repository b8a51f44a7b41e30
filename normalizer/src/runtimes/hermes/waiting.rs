//! Lines that wait until it is known what prints them.
//!
//! An answer of `hermes chat -Q` may look like any other output of hermes. Only the command line
//! tells, or the session on standard error, which is printed last. Without a known command line
//! both streams are held until the end, up to a limit.

use runtape_core::Stream;

use super::stderr::{is_logged, session_in};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::Place;

/// The most bytes of one stream that wait. An answer is far shorter.
const MOST: usize = 8 * 1024 * 1024;

/// A line, without its bytes.
#[derive(Debug)]
struct WaitingLine {
    stream: Stream,
    ending: Ending,
    place: Place,
    /// Where its bytes end among those of all lines.
    end: usize,
}

/// Lines of both streams, in the order in which they came.
#[derive(Debug)]
pub(super) struct Waiting {
    lines: Vec<WaitingLine>,
    bytes: Vec<u8>,
    stdout: usize,
    stderr: usize,
    most: usize,
    names_session: bool,
    is_log: bool,
}

impl Waiting {
    /// Creates a reader that holds at most `limit` bytes of a stream.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            lines: Vec::new(),
            bytes: Vec::new(),
            stdout: 0,
            stderr: 0,
            most: limit.min(MOST),
            names_session: false,
            is_log: false,
        }
    }

    /// Takes a line; `false` if that was one too many.
    pub(super) fn push(&mut self, stream: Stream, line: &Line<'_>, place: Place) -> bool {
        let size = line.bytes.len() + size_of::<WaitingLine>();
        match stream {
            Stream::Stdout => self.stdout += size,
            Stream::Stderr => {
                self.stderr += size;
                let text = line.text();
                self.names_session |= session_in(&text).is_some();
                self.is_log |= is_logged(&text);
            }
            Stream::Stdin | Stream::History => {}
        }
        self.bytes.extend_from_slice(line.bytes);
        self.lines.push(WaitingLine {
            stream,
            ending: line.ending,
            place,
            end: self.bytes.len(),
        });
        self.stdout.max(self.stderr) <= self.most
    }

    /// Tells whether standard error proves that standard output is the answer alone.
    ///
    /// The log of `-v` and of acp may quote anything, also such a line.
    pub(super) fn is_quiet(&self) -> bool {
        self.names_session && !self.is_log
    }

    /// Hands out all lines, each with a sink for its place.
    pub(super) fn replay(
        self,
        out: &mut SignalSink<'_>,
        mut each: impl FnMut(Stream, &[u8], Ending, &mut SignalSink<'_>),
    ) {
        let mut start = 0;
        for line in self.lines {
            let bytes = self.bytes.get(start..line.end).unwrap_or_default();
            start = line.end;
            each(line.stream, bytes, line.ending, &mut out.at(line.place));
        }
    }
}
