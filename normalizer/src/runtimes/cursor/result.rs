//! `result` and `error` events: how it ended, and what was used.

use std::borrow::Cow;

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use super::events::Events;
use super::failure::classify;
use super::{usage, wire};
use crate::bounds::Numbers;
use crate::failure::error;
use crate::json::{DecodeError, Str};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};
use crate::verdict::{Reading, UnclearResult, VerdictWord, report_wrong_types};

impl Events {
    pub(super) fn on_result(
        &mut self,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let mut finished: wire::FinalResult<'_> = out.read("result", event)?;
        out.set_millis(finished.at);
        self.note("result", finished.session.as_ref(), &finished.unknown, out);
        if let Some(request) = finished
            .request
            .as_deref()
            .filter(|request| !request.is_empty())
        {
            out.emit(Signal::Metadata("requestId", request.into()));
        }
        if let Some(ms) = finished.duration_api_ms {
            out.emit(Signal::Metadata("durationApiMs", ms.into()));
        }
        let usage = std::mem::take(&mut finished.usage);
        if usage.is_object() {
            let mut numbers = Numbers::default();
            out.emit(Signal::Total(usage::counts(&usage, &mut numbers)));
            out.faulty_numbers(Some("result"), numbers.faults);
            out.emit(Signal::RawUsage(usage.into()));
        }
        if let Some(cost) = finished.cost {
            out.emit(Signal::Cost(cost));
        }
        self.has_result = true;
        let verdict = match reading(&finished) {
            Reading::Success => {
                self.segments.end_turn(out);
                self.say_result(&finished, out);
                Verdict::Success
            }
            Reading::Failure => {
                let (words, flags) = (
                    [("subtype", &finished.subtype)],
                    [("is_error", &finished.is_error)],
                );
                report_wrong_types("result", &words, &flags, |signal| out.emit(signal));
                self.segments.break_off(out);
                Verdict::Error(run_error(&finished))
            }
            Reading::Unclear => {
                self.segments.end_turn(out);
                self.say_result(&finished, out);
                let said = said_error(&finished);
                let doubts = doubts(&finished);
                Verdict::Error(doubts.report("result", said.as_deref(), |signal| out.emit(signal)))
            }
        };
        let subtype = into_word(finished.subtype);
        let text = finished.result.map(Str::into_cow);
        let duration_ms = finished.duration_ms;
        out.emit(Signal::Result(Outcome {
            subtype,
            text,
            duration_ms,
            ..Outcome::of(verdict)
        }));
        Ok(())
    }

    /// In json mode, and in logs without their messages, the text is only in the result.
    fn say_result(&mut self, finished: &wire::FinalResult<'_>, out: &mut SignalSink<'_>) {
        if let (Some(text), false) = (&finished.result, self.has_text)
            && (!text.is_empty() || self.format == Some("json"))
        {
            self.has_text = true;
            out.emit(Signal::Text(text.as_str().into()));
        }
    }

    /// An event that reports a failure, as stubs of the CLI and older builds have it.
    pub(super) fn on_error(
        &mut self,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let finished: wire::FinalResult<'_> = out.read("error", event)?;
        out.set_millis(finished.at);
        self.note("error", finished.session.as_ref(), &finished.unknown, out);
        self.segments.break_off(out);
        self.has_result = true;
        let error = run_error(&finished);
        let text = Some(error.message.clone().into());
        let subtype = Some("error".into());
        let verdict = Verdict::Error(error);
        let duration_ms = finished.duration_ms;
        out.emit(Signal::Result(Outcome {
            subtype,
            text,
            duration_ms,
            ..Outcome::of(verdict)
        }));
        Ok(())
    }
}

/// No failed result of the CLI was ever published: a failure is what stubs of it call so.
fn is_failure(word: &str) -> bool {
    matches!(word, "error" | "failed") || word.starts_with("error_")
}

/// Reads how the run went.
fn reading(finished: &wire::FinalResult<'_>) -> Reading {
    let read = Reading::of_flag_and_word(&finished.is_error, &finished.subtype, is_failure);
    match read {
        Reading::Success if !finished.error.is_null() || said_error(finished).is_some() => {
            Reading::Unclear
        }
        read => read,
    }
}

/// Returns the fields that leave open how the run went.
fn doubts(finished: &wire::FinalResult<'_>) -> UnclearResult {
    let is_error = ("is_error", &finished.is_error);
    let subtype = ("subtype", &finished.subtype);
    let doubts = UnclearResult::of_flag_and_word(is_error, subtype, is_failure);
    match &finished.error {
        Value::Null => doubts,
        error => doubts.with("error", &VerdictWord::from(error)),
    }
}

fn into_word(word: VerdictWord<'_>) -> Option<Cow<'_, str>> {
    match word {
        VerdictWord::Word(word) => Some(word.into_cow()),
        _ => None,
    }
}

/// Returns what a result or an error event says in the fields for errors.
fn said_error(finished: &wire::FinalResult<'_>) -> Option<String> {
    let fields = [
        &finished.error,
        &finished.message,
        &finished.detail,
        &finished.errors,
    ];
    fields.into_iter().find_map(words)
}

/// Returns the error that a result or an error event reports.
fn run_error(finished: &wire::FinalResult<'_>) -> RunError {
    let result = finished
        .result
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let is_name = |word: &&str| !matches!(*word, "" | "success");
    let subtype = finished.subtype.word().filter(is_name);
    let message = said_error(finished).or(result.map(str::to_owned));
    let message = message.unwrap_or_else(|| "the run failed without saying why".to_owned());
    classify(&message).unwrap_or_else(|| {
        let own = finished
            .error
            .get("name")
            .or(finished.error.get("code"))
            .and_then(Value::as_str)
            .filter(is_name);
        error(
            own.or(subtype).unwrap_or("error"),
            message,
            ErrorFamily::Other,
        )
    })
}

/// Returns what an error says, whatever its form.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => {
            let said: Vec<String> = items.iter().filter_map(words).collect();
            (!said.is_empty()).then(|| said.join("\n"))
        }
        Value::Object(fields) => {
            let said = ["message", "error", "detail", "code"]
                .iter()
                .find_map(|key| words(fields.get(*key)?));
            said.or_else(|| (!fields.is_empty()).then(|| value.to_string()))
        }
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::TokenCounts;
    use serde_json::json;

    use super::super::tests::line::{SESSION, delta, init, last, other, result, started, user};
    use super::super::tests::{Told, parse, parse_as};
    use super::*;
    use crate::exit::Exit;

    fn run(lines: &[String]) -> Told {
        parse(&lines.concat(), "", &Exit::with_code(0))
    }

    #[test]
    fn a_single_result_is_json_mode_and_its_text_the_answer() {
        let told = run(&[result("The answer.")]);
        assert_eq!(
            (told.texts.as_slice(), told.format),
            (["The answer.".to_owned()].as_slice(), Some("json"))
        );
        assert_eq!(
            (told.verdict(), told.session.as_deref()),
            ("success", Some(SESSION))
        );
        assert_eq!(told.results[0].duration_ms, Some(1200));
        assert_eq!(told.metadata["requestId"], "r-1");
        assert_eq!(run(&[result("")]).texts, [""]);
    }

    #[test]
    fn a_pretty_printed_result_is_one_too() {
        let printed = format!(
            "{:#}\n",
            serde_json::from_str::<Value>(&result("The answer.")).unwrap()
        );
        let told = run(&[printed]);
        assert_eq!(
            (told.texts.as_slice(), told.format),
            (["The answer.".to_owned()].as_slice(), Some("json"))
        );
        let span = told.places.last().unwrap().span.unwrap();
        assert_eq!(span.start, 0);
        assert!(told.unparsed.is_empty());
    }

    #[test]
    fn the_glued_text_of_a_stream_s_result_is_no_text_of_its_own() {
        let told = run(&[init(), last("The answer."), result("Something.The answer.")]);
        assert_eq!(
            (told.texts.as_slice(), told.format),
            (["The answer.".to_owned()].as_slice(), Some("stream-json"))
        );
        assert_eq!(
            told.results[0].text.as_deref(),
            Some("Something.The answer.")
        );
        assert_eq!(told.results[0].answer, None);
    }

    #[test]
    fn a_result_whose_messages_were_left_out_is_all_there_is() {
        let told = run(&[init(), user("go"), result("The answer.")]);
        assert_eq!(told.texts, ["The answer."]);
        assert!(
            run(&[init(), user("go"), started("c1", "k"), result("")])
                .texts
                .is_empty()
        );
    }

    #[test]
    fn cache_writes_are_input_and_reads_are_not() {
        let told = run(&[result("x")]);
        let total = TokenCounts {
            input_tokens: Some(10),
            output_tokens: Some(5),
            reasoning_tokens: None,
            cached_input_tokens: Some(90),
            cache_write_tokens: Some(3),
            ..TokenCounts::default()
        };
        assert_eq!(told.total, Some(total));
        let bare =
            json!({"type": "result", "subtype": "success", "is_error": false, "result": "x"});
        assert_eq!(run(&[other(bare)]).total, None);
    }

    #[test]
    fn an_error_s_text_is_no_answer() {
        let table = [
            (
                json!({"subtype": "error", "is_error": true, "result": "boom"}),
                "error: boom",
            ),
            (
                json!({"subtype": "success", "is_error": true, "result": "boom"}),
                "error: boom",
            ),
            (
                json!({"subtype": "error", "error": {"message": "boom", "code": "E42"}}),
                "E42: boom",
            ),
            (
                json!({"subtype": "error", "errors": ["a", {"message": "b"}]}),
                "error: a\nb",
            ),
            (
                json!({"subtype": "failed"}),
                "failed: the run failed without saying why",
            ),
            (
                json!({"subtype": "error", "is_error": true, "result": "ConnectError: [resource_exhausted] Error"}),
                "ApiError: ConnectError: [resource_exhausted] Error",
            ),
        ];
        for (mut fields, verdict) in table {
            fields["type"] = "result".into();
            let told = run(&[init(), other(fields)]);
            assert_eq!((told.verdict(), told.texts.len()), (verdict, 0));
            assert!(told.unparsed.is_empty());
        }
    }

    #[test]
    fn an_error_event_ends_the_run_and_a_later_result_decides() {
        let failed = other(json!({"type": "error", "message": "model access denied"}));
        let told = run(&[init(), last("hello"), result("hello"), failed.clone()]);
        assert_eq!(told.verdict(), "error: model access denied");
        assert_eq!(
            run(&[init(), failed, last("hello"), result("hello")]).verdict(),
            "success"
        );
        let failed =
            other(json!({"type": "system", "subtype": "error", "error": {"message": "boom"}}));
        assert_eq!(run(&[init(), failed]).verdict(), "error: boom");
    }

    #[test]
    fn prose_about_limits_and_sessions_changes_nothing() {
        let text = "Error: Authentication required. [resource_exhausted] session not found";
        let told = run(&[init(), last(text), result(text)]);
        assert_eq!(
            (told.verdict(), told.session.as_deref()),
            ("success", Some(SESSION))
        );
    }

    #[test]
    fn an_event_that_was_cut_after_the_result_takes_the_word_from_it() {
        let told = run(&[
            init(),
            result("x"),
            "{\"type\":\"assistant\",\"mess".to_owned(),
        ]);
        assert_eq!((told.verdict(), told.unparsed.len()), ("none", 1));
        assert_eq!(told.unparsed[0].0.as_deref(), Some("assistant"));
    }

    #[test]
    fn a_stream_without_a_result_has_no_verdict() {
        let told = run(&[init(), user("go"), delta("x"), last("x")]);
        assert_eq!((told.verdict(), told.cut), ("none", false));
        let argv = "cursor-agent -p --output-format stream-json --stream-partial-output";
        let told = parse_as(argv, "", "", &Exit::with_code(1));
        assert_eq!((told.format, told.verdict()), (Some("stream-json"), "none"));
    }
}
