//! The text format: what the model said in all its turns, and nothing else.

use crate::exit::Exit;
use crate::framing::answer::{AnswerLines, answer_stands};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// What the CLI itself writes to stdout before the answer, the first one without a newline.
pub(super) const BANNERS: &[&str] = &[
    "MCP issues detected. Run /mcp list for status.",
    "Loaded cached credentials.",
    "Data collection is disabled.",
];

/// Returns what follows a banner at the start of a line, and the banner.
pub(super) fn split_banner(bytes: &[u8]) -> Option<(&'static str, &[u8])> {
    BANNERS
        .iter()
        .find_map(|banner| Some((*banner, bytes.strip_prefix(banner.as_bytes())?)))
}

/// Reads the text format. Nothing is held: it is shown while it comes.
#[derive(Debug)]
pub(super) struct Text {
    has_begun: bool,
    lines: AnswerLines,
}

impl Text {
    pub(super) fn new() -> Self {
        Self {
            has_begun: false,
            lines: AnswerLines::streaming(),
        }
    }

    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        let mut bytes = line.bytes;
        if !self.has_begun {
            if let Some((banner, rest)) = split_banner(bytes) {
                out.stdout_text(banner.as_bytes());
                bytes = rest;
                if rest.trim_ascii().is_empty() {
                    return;
                }
            }
            self.has_begun = true;
            out.emit(Signal::Step(None));
        }
        self.lines.push(bytes, line.ending, out);
    }

    /// Judges the end. Returns whether it is one.
    ///
    /// Nothing at all is no answer, whatever the exit. What was said before a failure stays, and is
    /// whole if its newline was printed.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) -> bool {
        if !self.has_begun {
            return false;
        }
        let is_whole = self.lines.last_ending() != Some(Ending::None);
        if !exit.is_failure() || is_whole {
            out.emit(Signal::TextEnd);
        }
        if exit.is_failure() {
            return false;
        }
        answer_stands(exit, Outcome::of(Verdict::Success), out);
        true
    }
}
