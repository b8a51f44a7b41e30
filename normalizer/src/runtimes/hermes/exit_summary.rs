//! The last lines of `hermes chat`: how to go on with the session, and how long it took.

use super::session::{self, is_session_id, leading_session_id};
use crate::parser::SignalSink;
use crate::signal::Signal;

/// What the exit summary says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// It was not printed.
    #[default]
    None,
    /// How to go on with the session.
    Summary,
    /// There is no session to go on with.
    Goodbye,
}

/// The exit summary, as far as it was printed.
#[derive(Debug, Default)]
pub(super) struct ExitSummary {
    end: End,
    duration_ms: Option<u64>,
}

impl ExitSummary {
    /// Tells whether a line is the first one of a summary.
    pub(super) fn begins_with(line: &str) -> bool {
        line == "Resume this session with:" || line.starts_with("Goodbye! ⚕")
    }

    /// Begins with a first line.
    pub(super) fn begin(&mut self, line: &str) {
        self.end = if line.starts_with('G') {
            End::Goodbye
        } else {
            End::Summary
        };
    }

    /// Tells whether it was printed.
    pub(super) fn is_there(&self) -> bool {
        self.end != End::None
    }

    /// Tells whether it has no session to go on with.
    pub(super) fn is_goodbye(&self) -> bool {
        self.end == End::Goodbye
    }

    /// Forgets it because the run went on.
    pub(super) fn forget(&mut self) {
        self.end = End::None;
    }

    /// Returns how long the run took.
    pub(super) fn duration_ms(&self) -> Option<u64> {
        self.duration_ms
    }

    /// Takes a line at column 2, without its indentation.
    pub(super) fn take_indented(&self, rest: &str, out: &mut SignalSink<'_>) -> bool {
        if !self.is_there() {
            return false;
        }
        if let Some(rest) = rest.strip_prefix("hermes --resume ") {
            if let Some(id) = leading_session_id(rest) {
                out.emit(Signal::Session(id));
            }
            return true;
        }
        rest.starts_with("hermes -c ")
    }

    /// Takes a line at column 0.
    pub(super) fn take(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        let Some((label, value)) = line.split_once(':').filter(|_| self.is_there()) else {
            return false;
        };
        let value = value.trim_start();
        match label {
            "Session" if is_session_id(value) => out.emit(Signal::Session(value)),
            "Session" | "Messages" => {}
            "Title" => out.emit(Signal::Metadata("title", value.into())),
            "Duration" => self.duration_ms = session::clock(value),
            _ => return false,
        }
        true
    }
}
