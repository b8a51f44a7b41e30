//! The json format: one pretty-printed object at the end, and nothing before it.

use std::borrow::Cow;

use runtape_core::Stream;
use runtape_core::runtime_event::Warning;
use serde::Deserialize;
use serde_json::Value;

use super::failure::Stated;
use super::result::{code_of, message_in};
use super::wire::{ErrorObject, Report};
use super::{session_id, usage};
use crate::bounds::Numbers;
use crate::exit::Exit;
use crate::framing::Document;
use crate::framing::cut_json::supply_end;
use crate::json::{Str, decode};
use crate::lines::Line;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, TapePlace, Verdict};
use crate::verdict::{UnclearResult, VerdictWord};

/// Reads the json format.
#[derive(Debug)]
pub(super) struct JsonReport {
    document: Document,
    /// An error that was reported; the exit code may say more about it.
    failure: Option<(TapePlace, Stated)>,
    has_ended: bool,
}

impl JsonReport {
    /// Creates a reader that holds at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            document: Document::new(limit),
            failure: None,
            has_ended: false,
        }
    }

    /// Tells whether the object has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.document.has_begun() || self.has_ended || self.failure.is_some()
    }

    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        let outside = self.document.push_line(line);
        out.stdout_text(outside.before);
        if self.document.is_complete() {
            self.on_document(out);
            self.document.clear();
        }
        out.stdout_text(outside.after);
    }

    /// Judges the end. Returns whether the runtime told how it ended.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) -> bool {
        if let Some(place) = self.document.place(Stream::Stdout) {
            self.emit_failure(None, out);
            self.on_cut_document(&mut out.at(place));
        }
        self.emit_failure(exit.code, out);
        self.has_ended
    }

    fn on_document(&mut self, out: &mut SignalSink<'_>) {
        self.emit_failure(None, out);
        let place = self.document.place(Stream::Stdout).unwrap_or(out.place());
        let out = &mut out.at(place);
        if self.document.is_over_limit() {
            return out.unparsed(None, "longer than the limit");
        }
        let report = match decode::<Report<'_>>(self.document.bytes()) {
            Ok(report) => report,
            Err(error) => return out.unparsed(None, error.to_string()),
        };
        out.faulty_fields(None, &report.faults);
        let report = report.value;
        if let Some(session) = report.session.as_deref().and_then(session_id) {
            out.emit(Signal::Session(session));
        }
        if let Some(model) = usage::main_model(&report.stats) {
            out.emit(Signal::Model(model));
        }
        for warning in &report.warnings {
            let message = warning.as_str().to_owned();
            out.event(Warning { message });
        }
        let has_answer = report.response.is_some();
        if let Some(answer) = report.response {
            out.emit(Signal::Step(None));
            out.emit(Signal::Text(answer.into_cow()));
        }
        if report.stats.is_object() {
            let mut numbers = Numbers::default();
            let counts = usage::of_stats(&report.stats, &mut numbers);
            out.faulty_numbers(None, numbers.faults);
            if !counts.is_unknown() {
                out.emit(Signal::Total(counts));
            }
            out.emit(Signal::RawUsage(report.stats.into()));
        }
        out.unknown_keys("json", &report.unknown);
        self.failure = None;
        self.has_ended = true;
        match (&report.error, has_answer) {
            // A response and no error is how the format reports success.
            (Value::Null, true) => out.emit(Signal::Result(Outcome::of(Verdict::Success))),
            (error, _) if says_something(error) => {
                let (error, unknown) = stated(error, place.at);
                out.unknown_keys("error", &unknown);
                self.failure = Some((place, error));
                self.has_ended = false;
            }
            (error, has_answer) => {
                let mut doubts = UnclearResult::default();
                if !has_answer {
                    doubts = doubts.with("response", &VerdictWord::Missing);
                }
                if !error.is_null() {
                    doubts = doubts.with("error", &VerdictWord::from(error));
                }
                let error = doubts.report("json", None, |signal| out.emit(signal));
                out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
            }
        }
    }

    /// To a pipe, a long answer ends in mid-string at a multiple of 64 KiB, with exit 0 (0.61.0).
    fn on_cut_document(&mut self, out: &mut SignalSink<'_>) {
        out.unparsed(None, "the output ends within the object");
        if self.has_ended {
            out.emit(Signal::TurnOpened);
            self.has_ended = false;
        }
        let bytes = self.document.bytes();
        let Some(sound) = supply_end(bytes, false) else {
            return;
        };
        let Ok(report) = decode::<Report<'_>>(&sound) else {
            return;
        };
        let report = report.value;
        if let Some(session) = report.session.as_deref().and_then(session_id) {
            out.emit(Signal::Session(session));
        }
        if let Some(answer) = report.response {
            out.emit(Signal::Step(None));
            out.emit(Signal::Text(answer.into_cow()));
            return;
        }
        if self.document.is_over_limit() {
            return;
        }
        let Some(longer) = supply_end(bytes, true) else {
            return;
        };
        let Ok(report) = decode::<Report<'_>>(&longer) else {
            return;
        };
        if let Some(answer) = report.value.response {
            out.emit(Signal::Step(None));
            out.emit(Signal::TextDelta(answer.into_cow()));
        }
    }

    fn emit_failure(&mut self, exit_code: Option<i32>, out: &mut SignalSink<'_>) {
        let Some((place, error)) = self.failure.take() else {
            return;
        };
        emit_failure(place, &error, exit_code, out);
        self.has_ended = true;
    }
}

/// Emits the result of a run that failed.
pub(super) fn emit_failure(
    place: TapePlace,
    error: &Stated,
    exit_code: Option<i32>,
    out: &mut SignalSink<'_>,
) {
    let outcome = Outcome {
        subtype: error.kind.as_deref().map(Cow::Borrowed),
        text: Some(Cow::Borrowed(error.message.as_str())),
        ..Outcome::of(error.verdict(exit_code))
    };
    out.at(place).emit(Signal::Result(outcome));
}

/// Tells whether an error says what went wrong: an object with its type or message, or a sentence.
fn says_something(error: &Value) -> bool {
    let has_text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    has_text(error)
        || ["type", "message"]
            .iter()
            .any(|key| error.get(*key).is_some_and(has_text))
}

/// Returns the error that an error object states, and the keys of it that are not known.
pub(super) fn stated(error: &Value, at: i64) -> (Stated, Vec<Box<str>>) {
    let object = ErrorObject::deserialize(error).unwrap_or_default();
    let message = object.message.map(Str::into_owned);
    let stated = Stated {
        kind: object.kind.map(Str::into_owned),
        message: message
            .or_else(|| message_in(error))
            .unwrap_or_else(|| "the runtime reported an error".to_owned()),
        code: code_of(&object.code),
        at,
    };
    (stated, object.unknown)
}
