//! The text format: what the model said in all its turns, and nothing else.

use std::borrow::Cow;

use serde_json::Value;

use crate::exit::Exit;
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Place, Scope, Signal, Verdict};

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

/// Reads the text format.
#[derive(Debug, Default)]
pub(super) struct Text {
    has_begun: bool,
    /// How the last line ended, which is part of the text only if another line follows: the CLI
    /// puts a newline at the end.
    ending: Option<Ending>,
}

impl Text {
    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        self.push(line, out.place(), out);
    }

    /// Reads one line that was held back.
    pub(super) fn push(&mut self, line: &Line<'_>, place: Place, out: &mut SignalSink<'_>) {
        let mut bytes = line.bytes;
        if !self.has_begun {
            if let Some((banner, rest)) = split_banner(bytes) {
                out.at(place).stdout_text(banner.as_bytes());
                bytes = rest;
                if rest.trim_ascii().is_empty() {
                    return;
                }
            }
            self.has_begun = true;
            out.emit_at(place, Scope::Main, Signal::Step(None));
        }
        if let Some(ending) = self.ending {
            let ending = Cow::Borrowed(ending.as_str());
            out.emit_at(place, Scope::Main, Signal::TextDelta(ending));
        }
        let text = String::from_utf8_lossy(bytes);
        out.emit_at(place, Scope::Main, Signal::TextDelta(text));
        self.ending = Some(line.ending);
    }

    /// Judges the end. Returns whether it is one.
    ///
    /// Nothing at all is no answer, whatever the exit. What was said before a failure stays, and is
    /// whole if its newline was printed.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) -> bool {
        if !self.has_begun {
            return false;
        }
        let is_whole = self.ending.is_some_and(|ending| ending != Ending::None);
        if !exit.is_failure() || is_whole {
            out.emit(Signal::TextEnd);
        }
        if exit.is_failure() {
            return false;
        }
        if exit.is_unknown() {
            out.emit(Signal::Metadata("exitUnknown", Value::Bool(true)));
        }
        out.emit(Signal::Result(Outcome::of(Verdict::Success)));
        true
    }
}
