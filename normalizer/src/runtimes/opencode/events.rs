//! json: steps and their parts, one event a line.

use std::borrow::Cow;

use runtape_core::RunError;
use runtape_core::runtime_event::Warning;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::calls::{self, ToolPartCall};
use super::spending::Spending;
use super::wire::{
    ErrorLine, FinishLine, FinishPart, Head, SpokenPart, TextLine, ToolLine, ToolPart, leading_head,
};
use super::{SESSION, failure, is_session_id};
use crate::bounds;
use crate::exit::Exit;
use crate::framing::events_or_text::{EventReader, leading_text};
use crate::json::{DecodeError, Fault, Str, decode, decode_rest};
use crate::parser::SignalSink;
use crate::signal::{CallRef, Outcome, Scope, Signal, TapePlace, Verdict, compaction};
use crate::unnamed_calls::UnnamedCalls;
use crate::verdict::{UnclearResult, VerdictWord};

/// Reads the events of one run.
#[derive(Debug, Default)]
pub(super) struct Events {
    session: Option<Box<str>>,
    /// The message of the last step, which ties parts to it.
    message: Option<Box<str>>,
    /// How the last step was finished, in the CLI's word.
    finish: Finish,
    /// A step was printed whose finish was not.
    is_in_step: bool,
    /// A call was printed whose message has no step: a command that is a subtask calls the tool itself.
    /// The step that follows is the first one of the model.
    called_ahead: bool,
    /// What the model said in the last step; none if that is too much to be held.
    answer: Option<String>,
    limit: usize,
    unnamed: UnnamedCalls,
    /// What all steps used and cost.
    spending: Spending,
    /// The last error line.
    error: Option<(RunError, TapePlace)>,
}

/// How far the last step is.
#[derive(Debug, Default)]
enum Finish {
    /// There is none, or it goes on, or what followed it was cut.
    #[default]
    Open,
    /// It is over, for this reason.
    Reason(VerdictWord<'static>),
}

/// Tells whether an object is an event.
pub(super) fn is_event(object: &[u8]) -> bool {
    let is_session = |id: &Str<'_>| id.starts_with(SESSION);
    decode::<Head<'_>>(object).is_ok_and(|head| {
        let Head { time, session, .. } = head.value;
        time.is_some() && session.as_ref().is_some_and(is_session)
    })
}

impl EventReader for Events {
    fn begins_events(object: &[u8]) -> bool {
        is_event(object)
    }

    fn on_object(&mut self, object: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let (text, is_whole) = leading_text(object);
        let (head, faults, rest) = if let Some((head, at)) = leading_head(text) {
            (head, Vec::new(), is_whole.then_some((text, at)))
        } else {
            let head = decode::<Head<'_>>(object)?;
            (head.value, head.faults, None)
        };
        let tag = head.tag.as_deref().unwrap_or_default();
        match tag {
            "step_start" | "text" | "reasoning" => {
                let line: TextLine<'_> = read_rest(tag, object, rest, out)?;
                self.on_head(&head, faults, out);
                out.unknown_keys(tag, &line.unknown);
                out.unknown_keys(tag, &line.part.unknown);
                match tag {
                    "step_start" => self.on_step_start(&line.part, out),
                    "text" => self.on_text(line.part, out),
                    _ => on_reasoning(line.part, out),
                }
            }
            "tool_use" => {
                let mut line: ToolLine<'_> = read_rest(tag, object, rest, out)?;
                self.on_head(&head, faults, out);
                out.unknown_keys(tag, &line.unknown);
                out.unknown_keys(tag, &line.part.unknown);
                self.on_tool(&mut line.part, out);
            }
            "step_finish" => {
                let line: FinishLine<'_> = read_rest(tag, object, rest, out)?;
                self.on_head(&head, faults, out);
                out.unknown_keys(tag, &line.unknown);
                out.unknown_keys(tag, &line.part.unknown);
                self.on_step_finish(line.part, out);
            }
            "error" => {
                let line: ErrorLine = out.read(tag, object)?;
                self.on_head(&head, faults, out);
                out.unknown_keys(tag, &line.unknown);
                self.on_error(&line.error, out);
            }
            _ => {
                // A line that was cut is none of unknown type.
                decode::<IgnoredAny>(object)?;
                self.on_head(&head, faults, out);
                let tag = Some(tag).filter(|tag| !tag.is_empty());
                out.unparsed(tag, "of unknown type");
            }
        }
        Ok(())
    }

    fn on_cut(&mut self, _: &mut SignalSink<'_>) {
        self.finish = Finish::Open;
    }
}

impl Events {
    /// Creates a reader that holds so many bytes at the most.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    fn on_head(&mut self, head: &Head<'_>, faults: Vec<Fault>, out: &mut SignalSink<'_>) {
        for fault in faults {
            let reason = format!("{}: {}", fault.path, fault.reason);
            out.unparsed(head.tag.as_deref(), &reason);
        }
        if let Some(time) = head.time {
            out.set_time(bounds::count(time));
        }
        let session = head.session.as_deref();
        let Some(session) = session.filter(|id| self.session.as_deref() != Some(*id)) else {
            return;
        };
        self.session = Some(session.into());
        if is_session_id(session) {
            out.emit(Signal::Session(session));
        } else {
            out.unparsed(head.tag.as_deref(), "sessionID: no id of a session");
        }
    }

    fn on_step_start(&mut self, part: &SpokenPart<'_>, out: &mut SignalSink<'_>) {
        if self.is_in_step && self.message.is_some() && self.is_of_step(part) {
            out.emit(Signal::MessageGivenUp(calls::repeated_request()));
        }
        self.message = part.message.as_deref().map(Into::into);
        self.finish = Finish::Open;
        self.is_in_step = true;
        self.answer = Some(String::new());
        if !std::mem::take(&mut self.called_ahead) {
            out.emit(Signal::Step(part.id.as_deref()));
        }
        out.emit(Signal::MessagePrinted);
    }

    /// Tells whether a part belongs to the last step.
    fn is_of_step(&self, part: &SpokenPart<'_>) -> bool {
        part.message.as_deref() == self.message.as_deref()
    }

    fn on_text(&mut self, part: SpokenPart<'_>, out: &mut SignalSink<'_>) {
        if part.metadata.is_compaction == Some(true) {
            out.event(compaction(None));
        }
        let is_of_step = self.is_of_step(&part);
        let Some(text) = part.text else {
            return out.unparsed(Some("text"), "text: missing");
        };
        if text.trim().is_empty() {
            return;
        }
        if is_of_step && let Some(answer) = &mut self.answer {
            answer.push_str(&text);
            if answer.len() > self.limit {
                self.answer = None;
            }
        }
        out.emit(Signal::Text(text.into_cow()));
    }

    fn on_tool(&mut self, part: &mut ToolPart<'_>, out: &mut SignalSink<'_>) {
        let is_of_step =
            part.message.is_none() || part.message.as_deref() == self.message.as_deref();
        if !is_of_step && !self.is_in_step && !self.called_ahead {
            self.called_ahead = true;
            out.emit(Signal::Step(None));
        }
        let call = ToolPartCall::of(part);
        let id = part.call.as_deref().filter(|id| !id.is_empty());
        let id = id.map(str::to_owned);
        let named = match &id {
            Some(id) => CallRef::Printed(id),
            None => self.unnamed_call(&call.name, call.has_result),
        };
        call.emit(named, part, Scope::Main, out);
    }

    /// Names a call without an id; a result is that of the oldest call of its tool that is open.
    fn unnamed_call(&mut self, name: &str, has_result: bool) -> CallRef<'static> {
        if has_result && self.unnamed.is_open(Scope::Main, Some(name)) {
            return self.unnamed.end(Scope::Main, Some(name));
        }
        let call = self.unnamed.begin(Scope::Main, name);
        if has_result {
            self.unnamed.end(Scope::Main, Some(name));
        }
        call
    }

    fn on_step_finish(&mut self, mut part: FinishPart<'_>, out: &mut SignalSink<'_>) {
        let key = part.id.as_deref().or(part.message.as_deref());
        let key: Cow<'_, str> = match key {
            Some(key) => key.to_owned().into(),
            None => format!("step {}", self.spending.count()).into(),
        };
        self.spending.add(&key, None, &mut part, Scope::Main, out);
        self.finish = Finish::Reason(part.reason.into_owned());
        self.is_in_step = false;
    }

    fn on_error(&mut self, line: &Value, out: &mut SignalSink<'_>) {
        let (error, is_sound) = failure::of_line(line, out.place().at);
        if !is_sound {
            out.unparsed(Some("error"), "error: without a name or a message");
        }
        if let Some((earlier, place)) = self.error.replace((error, out.place())) {
            let message = earlier.message;
            out.emit_at(
                place,
                Scope::Main,
                Signal::Event(Warning { message }.into()),
            );
        }
    }

    /// Judges the end. Returns whether it is one.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) -> bool {
        if let Some((error, place)) = self.error.take() {
            let outcome = Outcome::of(if failure::is_abort(&error) {
                Verdict::Interrupted(error)
            } else {
                Verdict::Error(error)
            });
            out.emit_at(place, Scope::Main, Signal::Result(outcome));
            return true;
        }
        let Finish::Reason(reason) = &self.finish else {
            return false;
        };
        let is_success = match (exit.is_success(), exit.is_unknown(), reason.word()) {
            // The process says that it went well, whatever the last step was finished for: a
            // permission that was refused ends a run after the call.
            (true, _, Some(word)) => word != "error",
            (_, true, Some("stop" | "length")) => true,
            // The model was to go on.
            (_, true, Some("tool-calls")) => return false,
            (true, _, None) | (_, true, _) => false,
            _ => return false,
        };
        if exit.is_unknown() {
            out.emit(Signal::Metadata("exitUnknown", Value::Bool(true)));
        }
        let verdict = if is_success {
            Verdict::Success
        } else {
            let doubt = UnclearResult::default().with("part.reason", reason);
            Verdict::Error(doubt.report("step_finish", None, |signal| out.emit(signal)))
        };
        out.emit(Signal::Result(Outcome {
            answer: self.answer.take().map(Into::into),
            ..Outcome::of(verdict)
        }));
        true
    }
}

/// Reads an event whose head was read, from where that ended if it is known.
fn read_rest<'a, T: Deserialize<'a>>(
    tag: &str,
    object: &'a [u8],
    rest: Option<(&'a str, usize)>,
    out: &mut SignalSink<'_>,
) -> Result<T, DecodeError> {
    match rest.and_then(|(text, at)| decode_rest(text, at, 1)) {
        Some(line) => Ok(line),
        None => out.read(tag, object),
    }
}

fn on_reasoning(part: SpokenPart<'_>, out: &mut SignalSink<'_>) {
    let Some(text) = part.text else {
        return out.unparsed(Some("reasoning"), "text: missing");
    };
    out.emit(Signal::Thinking {
        text: text.into_cow(),
        signature: None,
    });
}
