//! Standard error: the header of text mode, and what went wrong.

use super::failure;
use crate::escapes::strip_escapes;
use crate::lines::Line;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// What standard error told.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    model: Option<String>,
    /// The last line that says what went wrong. Tools that failed have such lines too, so that it
    /// counts only for a process that failed.
    error: Option<String>,
}

impl Stderr {
    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        let text = line.text();
        let plain = strip_escapes(&text);
        if plain.trim().is_empty() {
            return;
        }
        // `> build · model`
        let header = plain
            .strip_prefix("> ")
            .and_then(|rest| rest.split_once(" · "));
        if let (None, Some((_, model))) = (&self.model, header) {
            self.model = Some(model.to_owned());
        }
        if let Some(error) = plain.strip_prefix("Error: ") {
            self.error = Some(error.trim().to_owned());
        }
        out.stderr_text(text);
    }

    /// Emits what the header says. It has no place in the order of the other stream.
    pub(super) fn emit_model(&mut self, out: &mut SignalSink<'_>) {
        if let Some(model) = self.model.take() {
            out.emit(Signal::Model(&model));
        }
    }

    /// Judges a process that failed by itself, and whose standard output does not tell why: the last
    /// line that does is the message.
    pub(super) fn judge(&mut self, out: &mut SignalSink<'_>) {
        let Some(message) = self.error.take().filter(|message| !message.is_empty()) else {
            return;
        };
        let verdict = Verdict::Error(failure::of_process(&message));
        out.emit(Signal::Result(Outcome::of(verdict)));
    }
}
