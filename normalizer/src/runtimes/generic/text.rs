//! Text that may be the answer.
//!
//! A program may print what it does before its first line in a published shape, and until that line
//! comes nobody knows whether there will be one. So text is held: if such a line comes, it was output;
//! if none does, it is the answer.

use runtape_core::RuntimeEventKind;
use runtape_core::runtime_event::StdoutText;

use super::wire;
use crate::escapes::strip_escapes;
use crate::exit::Exit;
use crate::framing::answer::{AnswerLines, answer_stands};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Scope, Signal, TapePlace, Verdict};

/// How many bytes of text are held: fewer than of a runtime whose answers nobody waits for. What is
/// printed before a program's first message is shorter; more is an answer, to be shown while it comes.
pub(super) const MOST_HELD: usize = 64 * 1024;

/// Text until the first line of a published shape. Once it is streamed, it is a message of the model.
#[derive(Debug)]
pub(super) struct PlainText {
    lines: AnswerLines,
}

impl Default for PlainText {
    fn default() -> Self {
        Self {
            lines: AnswerLines::new(MOST_HELD),
        }
    }
}

impl PlainText {
    /// Takes one line.
    pub(super) fn push(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if self.lines.is_streamed() {
            return self.lines.push(line.bytes, line.ending, out);
        }
        self.lines.held.push(line.bytes, line.ending, out.place());
        if self.lines.held.is_full() {
            self.stream(out);
        }
    }

    /// Gives out what is held as text of the model.
    fn stream(&mut self, out: &mut SignalSink<'_>) {
        out.emit(Signal::Format("text"));
        if let Some(first) = self.lines.held.get(0) {
            out.at(first.place).emit(Signal::Step(None));
        }
        self.lines.stream(out);
    }

    /// A line of a published shape came: what is held was output, and no answer.
    pub(super) fn into_notices(self, out: &mut SignalSink<'_>) {
        if self.lines.is_streamed() {
            out.emit(Signal::TextEnd);
        }
        for line in self.lines.held.iter() {
            emit_output(&String::from_utf8_lossy(line.bytes), line.place, out);
        }
    }

    /// No line of a published shape came: what was printed is the answer, if the exit says so.
    ///
    /// Nothing at all is no answer, whatever the exit. What was printed before a failure stays, and is
    /// whole if its newline was printed.
    pub(super) fn finish(mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        if self.lines.is_empty() {
            return;
        }
        if let Some(error) = self.lines.cut_json() {
            let reason = wire::cut_reason(&error).into();
            let place = self.lines.place(out);
            return out.at(place).emit(Signal::Unparsed { tag: None, reason });
        }
        if !self.lines.is_streamed() {
            self.stream(out);
        }
        let is_whole = self.lines.last_ending() != Some(Ending::None);
        if !exit.is_failure() || is_whole {
            out.emit(Signal::TextEnd);
        }
        if !exit.is_failure() {
            answer_stands(exit, Outcome::of(Verdict::Success), out);
        }
    }
}

/// Reports output that is no answer; a line with nothing on it says nothing.
pub(super) fn emit_output(text: &str, place: TapePlace, out: &mut SignalSink<'_>) {
    if !strip_escapes(text).trim().is_empty() {
        let text = text.to_owned();
        let event = RuntimeEventKind::StdoutText(StdoutText { text });
        out.emit_at(place, Scope::Main, Signal::Event(event));
    }
}
