//! How a stream ends: error lines, results, and what they count.

use std::borrow::Cow;

use runtape_core::runtime_event::Warning;
use serde_json::Value;

use super::failure::Stated;
use super::stream::{OpenPart, StreamJson};
use super::usage;
use super::wire::{Content, ErrorLine, ResultLine};
use crate::exit::Exit;
use crate::json::Raw;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, TapePlace, Verdict};
use crate::verdict::{Reading, UnclearResult, VerdictWord, report_wrong_types};

/// A result that failed.
#[derive(Debug)]
pub(super) struct Failure {
    place: TapePlace,
    error: Stated,
    status: Option<String>,
    duration: Option<u64>,
}

impl StreamJson {
    /// Judges the end. Returns whether the runtime told how it ended.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) -> bool {
        if self.failure.is_none() && !self.has_ended && self.error_is_last {
            // Older versions end with an error line. Since 0.37 a result follows it.
            let error = self.error.take().filter(|error| error.kind.is_some());
            let place = out.place();
            self.failure = error.map(|error| Failure {
                place,
                error,
                status: None,
                duration: None,
            });
        }
        self.emit_failure(exit.code, out);
        self.has_ended
    }

    pub(super) fn on_error(&mut self, line: &ErrorLine<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(line.timestamp.as_deref());
        out.unknown_keys("error", &line.unknown);
        let said = [&line.message, &line.error, &line.detail];
        let message = said
            .iter()
            .find_map(|value| message_in(value))
            .unwrap_or_default();
        match line.severity.as_deref() {
            Some("error") => self.keep_error(None, message.clone(), out),
            Some(_) => self.end_message(out),
            None => self.keep_error(Some("Error"), message.clone(), out),
        }
        out.event(Warning { message });
    }

    /// Keeps an error for a result that does not say what went wrong. With a kind it ends the run
    /// if nothing follows it.
    pub(super) fn keep_error(&mut self, kind: Option<&str>, message: String, out: &SignalSink<'_>) {
        let kind = kind.map(str::to_owned);
        self.error = Some(Stated {
            kind,
            message,
            code: None,
            at: out.place().at,
        });
        self.error_is_last = true;
    }

    pub(super) fn on_result(&mut self, mut result: ResultLine<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(result.timestamp.as_deref());
        out.unknown_keys("result", &result.unknown);
        self.emit_failure(None, out);
        if !self.has_session {
            self.on_session(result.session.as_deref(), out);
        }
        let error = match result.reading() {
            Reading::Success => None,
            Reading::Failure => Some(self.error_of(&result, out)),
            Reading::Unclear => return self.on_unclear(result, out),
        };
        let words = [("status", &result.status), ("subtype", &result.subtype)];
        let flags = [("is_error", &result.is_error)];
        report_wrong_types("result", &words, &flags, |signal| out.emit(signal));
        // An error breaks off the text that it comes in, but not one that a call followed.
        let breaks_off = error.as_ref().is_some_and(|error| !error.is_turn_limit());
        if breaks_off && self.open != OpenPart::None {
            self.open = OpenPart::None;
            out.emit(Signal::MessageCut);
        }
        self.end_message(out);
        if error.is_none() {
            self.say_answer(&mut result, out);
        }
        // 0 in a result that failed (0.61.0).
        let duration = result
            .emit_usage(out)
            .filter(|ms| error.is_none() || *ms > 0);
        let status = result.into_word();
        self.end_turn();
        if let Some(error) = error {
            let place = out.place();
            self.failure = Some(Failure {
                place,
                error,
                status,
                duration,
            });
        } else {
            let outcome = Outcome {
                subtype: status.map(Cow::Owned),
                duration_ms: duration,
                ..Outcome::of(Verdict::Success)
            };
            out.emit(Signal::Result(outcome));
            self.has_ended = true;
        }
    }

    /// A result that does not say how the run went is a failure; what was said stays as it is.
    fn on_unclear(&mut self, mut result: ResultLine<'_>, out: &mut SignalSink<'_>) {
        self.end_message(out);
        self.say_answer(&mut result, out);
        let duration = result.emit_usage(out);
        let said = message_in(&result.error).or_else(|| message_in(&result.message));
        let error = result
            .doubts()
            .report("result", said.as_deref(), |signal| out.emit(signal));
        self.end_turn();
        let outcome = Outcome {
            subtype: result.into_word().map(Cow::Owned),
            text: said.map(Cow::Owned),
            duration_ms: duration,
            ..Outcome::of(Verdict::Error(error))
        };
        out.emit(Signal::Result(outcome));
        self.has_ended = true;
    }

    /// Older versions may print the answer in the result and nowhere else.
    fn say_answer(&mut self, result: &mut ResultLine<'_>, out: &mut SignalSink<'_>) {
        let answer = std::mem::take(&mut result.answer);
        if !self.has_answered && !answer.is_absent() {
            self.say(answer, false, out);
            self.end_message(out);
        }
    }

    /// What came before a result explains no later one.
    fn end_turn(&mut self) {
        self.has_answered = false;
        self.error = None;
        self.error_is_last = false;
    }

    /// Returns what a result says went wrong.
    fn error_of(&mut self, result: &ResultLine<'_>, out: &SignalSink<'_>) -> Stated {
        let at = out.place().at;
        let (kind, message, code) = read_error(&result.error);
        let turn_limit = result.words().find(|word| Stated::is_turn_limit_word(word));
        let kind = kind.or_else(|| turn_limit.map(str::to_owned));
        let answer = || match &result.answer {
            Content::Text(text) if !text.is_empty() => Some(text.as_str().to_owned()),
            _ => None,
        };
        if let Some(message) = message
            .or_else(|| message_in(&result.message))
            .or_else(answer)
        {
            return Stated {
                kind,
                message,
                code,
                at,
            };
        }
        // An answer that is empty or no sound stream has its message on the error line before the
        // result, which then has none. The json format calls it so.
        let kind = kind.or_else(|| Some("INVALID_STREAM".to_owned()));
        let message = self.error.take().map(|error| error.message);
        let message = message.unwrap_or_else(|| "the runtime reported an error".to_owned());
        Stated {
            kind,
            message,
            code,
            at,
        }
    }

    /// Emits a result that was held back.
    pub(super) fn emit_failure(&mut self, exit_code: Option<i32>, out: &mut SignalSink<'_>) {
        let Some(failure) = self.failure.take() else {
            return;
        };
        let outcome = Outcome {
            subtype: failure.status.map(Cow::Owned),
            text: Some(Cow::Borrowed(failure.error.message.as_str())),
            duration_ms: failure.duration,
            ..Outcome::of(failure.error.verdict(exit_code))
        };
        out.at(failure.place).emit(Signal::Result(outcome));
        self.has_ended = true;
    }
}

/// The words that say how it went: of 0.37 and later `status`, of the older shape `subtype`.
const FAILED: &[&str] = &["error", "failed"];
const SUCCEEDED: &str = "success";

impl ResultLine<'_> {
    fn words(&self) -> impl Iterator<Item = &str> {
        let words = [
            self.status.word(),
            self.subtype.word(),
            self.reason.as_deref(),
        ];
        words.into_iter().flatten()
    }

    /// Reads how the run went.
    ///
    /// It went well if the status is `success` and there is no error; in the older shape, which has
    /// no status, if the subtype says so. It failed if a word or the flag says so and none says that
    /// it went well.
    fn reading(&self) -> Reading {
        let [status, subtype] = [&self.status, &self.subtype];
        if self.words().any(Stated::is_turn_limit_word) {
            return Reading::Failure;
        }
        let has_failed = [status, subtype]
            .iter()
            .any(|word| word.word().is_some_and(|word| FAILED.contains(&word)))
            || self.is_error.flag() == Some(true);
        let has_succeeded = [status, subtype].iter().any(|word| word.is(SUCCEEDED))
            || self.is_error.flag() == Some(false);
        match (has_failed, has_succeeded) {
            (true, false) => Reading::Failure,
            (false, true) if self.is_plain_success() => Reading::Success,
            _ => Reading::Unclear,
        }
    }

    fn is_plain_success(&self) -> bool {
        let agrees = |word: &VerdictWord<'_>| word.is_missing() || word.is(SUCCEEDED);
        let is_named = self.status.is(SUCCEEDED) || self.subtype.is(SUCCEEDED);
        let is_flagged = self.is_error.is_missing() || self.is_error.flag() == Some(false);
        is_named
            && agrees(&self.status)
            && agrees(&self.subtype)
            && is_flagged
            && self.error.is_null()
    }

    /// Reports what was counted. Returns how long it took, if that is told.
    fn emit_usage(&mut self, out: &mut SignalSink<'_>) -> Option<u64> {
        let mut duration = None;
        let has_stats = self.stats.is_object();
        let found = [&mut self.usage, &mut self.usage_metadata];
        let found = found.into_iter().find(|usage| usage.is_object());
        let mut stats = match found {
            Some(usage) if !has_stats => Raw::Value(std::mem::take(usage)),
            _ => std::mem::take(&mut self.stats),
        };
        if stats.is_object() {
            let mut summed = usage::sum(&mut stats);
            out.faulty_numbers(Some("result"), std::mem::take(&mut summed.faults));
            if !summed.counts.is_unknown() {
                out.emit(Signal::Total(summed.counts));
            }
            out.emit(Signal::RawUsage(stats.into()));
            duration = summed.duration_ms.filter(|_| has_stats);
        }
        if let Some(cost) = self.cost {
            out.emit(Signal::Cost(cost));
        }
        duration.or(self.duration)
    }

    /// Returns the fields that leave open how the run went.
    fn doubts(&self) -> UnclearResult {
        let mut doubts = UnclearResult::default().with("status", &self.status);
        for (field, word) in [("subtype", &self.subtype), ("is_error", &self.is_error)] {
            if !word.is_missing() {
                doubts = doubts.with(field, word);
            }
        }
        if !self.error.is_null() {
            doubts = doubts.with("error", &VerdictWord::from(&self.error));
        }
        doubts
    }

    /// Returns the runtime's word for how it went.
    fn into_word(self) -> Option<String> {
        [self.subtype, self.status]
            .into_iter()
            .find_map(|word| match word {
                VerdictWord::Word(word) => Some(word.into_owned()),
                _ => None,
            })
    }
}

/// Returns the message in a string, or in an object that has one under some name.
pub(super) fn message_in(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Object(object) => {
            let keys = ["message", "error", "detail", "text", "code"];
            let inner = keys.iter().find_map(|key| message_in(object.get(*key)?));
            inner.or_else(|| Some(value.to_string()))
        }
        other => Some(other.to_string()),
    }
}

/// Returns the type, message and code of an error, which older versions gave as a string.
fn read_error(value: &Value) -> (Option<String>, Option<String>, Option<u16>) {
    let kind = value.get("type").and_then(Value::as_str).map(str::to_owned);
    (kind, message_in(value), value.get("code").and_then(code_of))
}

/// Returns a code that is a number, or a string of digits.
pub(super) fn code_of(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok()
}
