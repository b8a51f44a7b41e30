//! Text that may be the answer.
//!
//! A program may print what it does before its first line in a published shape, and until that line
//! comes nobody knows whether there will be one. So text is held: if such a line comes, it was output;
//! if none does, it is the answer.

use std::borrow::Cow;

use runtape_core::RuntimeEventKind;
use runtape_core::runtime_event::StdoutText;
use serde_json::Value;

use super::wire;
use crate::escapes::strip_escapes;
use crate::exit::Exit;
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Scope, Signal, TapePlace, Verdict};

/// How many bytes of text are held. What is printed before a program's first message is shorter; more
/// is an answer, and people who wait for it want to see it.
pub(super) const MOST_HELD: usize = 64 * 1024;

/// What a held line costs beside its text.
const LINE: usize = 64;

/// Text until the first line of a published shape.
#[derive(Debug, Default)]
pub(super) struct PlainText {
    held: Vec<HeldLine>,
    /// What the held lines cost.
    weight: usize,
    /// Text was more than is held, and is a message of the model by now.
    is_told: bool,
    /// Lines that are not blank.
    lines: u64,
    /// How the last line of the message ended: part of the text only if another line follows.
    ending: Option<Ending>,
}

#[derive(Debug)]
struct HeldLine {
    place: TapePlace,
    text: String,
    ending: Ending,
}

impl PlainText {
    /// Takes one line.
    pub(super) fn push(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        self.lines += u64::from(!line.bytes.trim_ascii().is_empty());
        if self.is_told {
            return self.tell(&line.text(), line.ending, out.place(), out);
        }
        self.weight += line.bytes.len() + LINE;
        self.held.push(HeldLine {
            place: out.place(),
            text: line.text().into_owned(),
            ending: line.ending,
        });
        if self.weight > MOST_HELD {
            self.tell_held(out);
        }
    }

    /// Gives out what is held as text of the model.
    fn tell_held(&mut self, out: &mut SignalSink<'_>) {
        let held = std::mem::take(&mut self.held);
        if let Some(first) = held.first().filter(|_| !self.is_told) {
            self.is_told = true;
            out.emit(Signal::Format("text"));
            out.emit_at(first.place, Scope::Main, Signal::Step(None));
        }
        for line in held {
            self.tell(&line.text, line.ending, line.place, out);
        }
    }

    fn tell(&mut self, text: &str, ending: Ending, place: TapePlace, out: &mut SignalSink<'_>) {
        if let Some(before) = self.ending.replace(ending) {
            let newline = Cow::Borrowed(before.as_str());
            out.emit_at(place, Scope::Main, Signal::TextDelta(newline));
        }
        out.emit_at(place, Scope::Main, Signal::TextDelta(Cow::Borrowed(text)));
    }

    /// A line of a published shape came: what is held was output, and no answer.
    pub(super) fn into_notices(self, out: &mut SignalSink<'_>) {
        if self.is_told {
            out.emit(Signal::TextEnd);
        }
        for line in self.held {
            emit_output(&line.text, line.place, out);
        }
    }

    /// No line of a published shape came: what was printed is the answer, if the exit says so.
    ///
    /// Nothing at all is no answer, whatever the exit. What was printed before a failure stays, and is
    /// whole if its newline was printed.
    pub(super) fn finish(mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        if let ([line], 1) = (self.held.as_slice(), self.lines)
            && let Some(reason) = wire::cut_json(line.text.as_bytes())
        {
            let reason = reason.into();
            return out.emit_at(
                line.place,
                Scope::Main,
                Signal::Unparsed { tag: None, reason },
            );
        }
        self.tell_held(out);
        if !self.is_told {
            return;
        }
        let is_whole = self.ending.is_some_and(|ending| ending != Ending::None);
        if !exit.is_failure() || is_whole {
            out.emit(Signal::TextEnd);
        }
        if exit.is_failure() {
            return;
        }
        if exit.is_unknown() {
            out.emit(Signal::Metadata("exitUnknown", Value::Bool(true)));
        }
        out.emit(Signal::Result(Outcome::of(Verdict::Success)));
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
