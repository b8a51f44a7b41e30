//! How a run, or one turn of it, ended.

use std::borrow::Cow;

use runtape_core::runtime_event::{Info, PermissionDenied};
use runtape_core::{ErrorFamily, ToolCallId};
use serde_json::{Map, Value};

use super::content::TextOrOther;
use super::conversation::{Conversation, whole_millis};
use super::failure::{ApiFailure, is_unknown_session, retry_time, unknown_session};
use super::usage::Stated;
use super::verdict::{ResultWords, unclear_result};
use super::wire::{RawUsage, RunResult};
use crate::failure::error;
use crate::json::{DecodeError, decode};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

impl Conversation {
    pub(super) fn on_result(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let mut line: RunResult<'_> = out.read("result", json)?;
        out.unknown_keys("result", &line.unknown);
        let said = errors_text(&line.errors);
        let unknown_session = line.is_error == Value::Bool(true) && is_unknown_session(&said);
        if unknown_session {
            // The id is the one that was asked for: there is nothing to resume. The json format
            // prints nothing at all in this case.
            self.shapes.stream = true;
        } else {
            self.on_session(line.session.as_ref(), out);
        }
        self.on_usage_stated(&mut line, json, out);
        for denial in &line.denials {
            let denied = PermissionDenied {
                tool_name: denial.tool_name.as_str().to_owned(),
                tool_call_id: denial
                    .tool_use_id
                    .as_ref()
                    .and_then(|id| ToolCallId::from_printed(id)),
                message: None,
            };
            out.event(denied);
        }
        let is_command = !matches!(&line.local_command, TextOrOther::Other(Value::Null));
        let is_structured = !line.structured_output.is_null();
        let text = std::mem::take(&mut line.result)
            .into_text()
            .or_else(|| std::mem::take(&mut line.content).into_text());
        let words = ResultWords::of(&line);
        // A result that does not say whether it is one of an error keeps its text as an answer.
        let is_unclear = matches!(words, ResultWords::Unclear(_));
        let has_answer =
            words == ResultWords::Success || is_unclear && line.is_error != Value::Bool(true);
        let verdict = self.verdict(&line, words, text.as_deref(), said, out);
        self.open_messages.settle(out);
        let mut outcome = Outcome {
            subtype: line.subtype.into_text(),
            duration_ms: line.duration_ms.and_then(whole_millis),
            ..Outcome::of(verdict)
        };
        if has_answer {
            let has_messages = self.spoken || self.shapes.init && !is_unclear;
            match &text {
                Some(text) if is_command && !has_messages => {
                    let topic = Some("command".to_owned());
                    let info = Info {
                        topic,
                        message: text.as_ref().to_owned(),
                    };
                    out.event(info);
                }
                // The answer is all that this format prints of what the model said.
                Some(text) if !has_messages && is_structured => {
                    outcome.answer = Some(Cow::Owned(text.as_ref().to_owned()));
                }
                Some(text) if !has_messages => {
                    out.emit(Signal::Text(Cow::Borrowed(text)));
                }
                // The last message was empty and not printed, so that the one before it would
                // pass for the answer.
                Some(text) if text.is_empty() && self.nudged && !is_unclear => {
                    outcome.answer = Some(Cow::Borrowed(""));
                }
                _ => {}
            }
        }
        outcome.text = text;
        out.emit(Signal::Result(outcome));
        self.nudged = false;
        self.unfinished = false;
        self.interrupted = false;
        self.api_failure = None;
        Ok(())
    }

    fn on_usage_stated(&mut self, line: &mut RunResult<'_>, json: &[u8], out: &mut SignalSink<'_>) {
        let stated = Stated {
            usage: line.usage.take(),
            models: line.model_usage.take(),
            since_last: line.since_last.take(),
            total_cost: line.total_cost_usd,
        };
        if let Some(usage) = &stated.usage {
            out.unknown_keys("result.usage", &usage.unknown);
        }
        // Only the stream formats of 2.1 have it.
        self.shapes.stream |= stated.since_last.is_some();
        if !self.model_known
            && let Some(model) = stated.main_model(self.argv.model.as_deref())
        {
            self.model_known = true;
            out.emit(Signal::Model(model));
        }
        self.totals.add(&stated);
        self.raw_usage.push(json, out);
        let restored = self.holds_earlier_runs();
        if let Some(total) = self.totals.counts(restored, self.thought) {
            out.emit(Signal::Total(total));
        }
    }

    fn verdict(
        &mut self,
        line: &RunResult<'_>,
        words: ResultWords<'_>,
        text: Option<&str>,
        said: String,
        out: &mut SignalSink<'_>,
    ) -> Verdict {
        let subtype = match words {
            ResultWords::Success => return Verdict::Success,
            ResultWords::Unclear(faults) => {
                let is_failure = line.is_error == Value::Bool(true);
                let said = match text.filter(|text| is_failure && !text.is_empty()) {
                    Some(text) => text,
                    None => &said,
                };
                let error = unclear_result(&faults, said);
                for fault in faults {
                    out.unparsed(Some("result"), fault);
                }
                return Verdict::Error(error);
            }
            ResultWords::ApiError => "success",
            ResultWords::Failure(subtype) => subtype,
        };
        let message = match text {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ if !said.is_empty() => said,
            _ => line
                .terminal_reason
                .as_deref()
                .unwrap_or(subtype)
                .to_owned(),
        };
        match subtype {
            "success" => {
                let loose = |word: &TextOrOther<'_>| word.clone().into_text().map(Cow::into_owned);
                let failure = ApiFailure {
                    kind: None,
                    api_type: loose(&line.api_error_type),
                    api_error: loose(&line.api_error),
                    status: line
                        .api_error_status
                        .and_then(|status| u16::try_from(status).ok()),
                    retry_at: retry_time(&line.api_error_params),
                    stop_reason: line.stop_reason.as_deref().map(str::to_owned),
                    terminal_reason: line.terminal_reason.as_deref().map(str::to_owned),
                };
                let failure = failure.or(self.api_failure.take());
                Verdict::Error(failure.into_error(message, self.limit_resets_at))
            }
            "error_max_turns" => {
                Verdict::TurnLimit(error(subtype, message, ErrorFamily::TurnLimit))
            }
            "error_max_budget_usd" => Verdict::Error(error(subtype, message, ErrorFamily::Budget)),
            _ if is_unknown_session(&message) => Verdict::Error(unknown_session(message)),
            "error_during_execution" => {
                // Versions that do not mark the message they cut off say no more than this.
                self.cut_off(out);
                let reason = line.terminal_reason.as_deref();
                let aborted = reason.is_some_and(|reason| reason.starts_with("aborted"));
                if aborted || self.interrupted {
                    Verdict::Interrupted(error(subtype, message, ErrorFamily::Process))
                } else {
                    Verdict::Error(error(subtype, message, ErrorFamily::Other))
                }
            }
            _ => Verdict::Error(error(subtype, message, ErrorFamily::Other)),
        }
    }
}

/// The usage of result lines as it was printed: of the first few, and of the last.
///
/// A session may have any number of results, and what is kept must not grow with them.
#[derive(Debug, Default)]
pub(super) struct RawUsages {
    count: usize,
    /// The last result line, unless its usage was reported.
    last: Vec<u8>,
}

impl RawUsages {
    const REPORTED: usize = 8;

    fn push(&mut self, json: &[u8], out: &mut SignalSink<'_>) {
        self.count += 1;
        if self.count <= Self::REPORTED {
            report_usage(json, out);
        } else {
            self.last.clear();
            self.last.extend_from_slice(json);
        }
    }

    /// Reports the last one.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        if !self.last.is_empty() {
            report_usage(&self.last, out);
        }
    }
}

fn report_usage(json: &[u8], out: &mut SignalSink<'_>) {
    let Ok(raw) = decode::<RawUsage>(json) else {
        return;
    };
    let raw = raw.value;
    let raw: Map<String, Value> = [
        ("usage", raw.usage),
        ("modelUsage", raw.model_usage),
        ("model_usage_since_last_result", raw.since_last),
        ("total_cost_usd", raw.total_cost_usd),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_null())
    .map(|(key, value)| (key.to_owned(), value))
    .collect();
    if !raw.is_empty() {
        out.emit(Signal::RawUsage(Value::Object(raw).into()));
    }
}

/// Joins what went wrong: strings, or objects that hold one.
fn errors_text(errors: &[Value]) -> String {
    let texts = errors.iter().filter_map(|item| match item {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        item => {
            let keys = ["message", "error", "code"];
            let text = keys.iter().find_map(|key| item.get(key)?.as_str());
            Some(text.map_or_else(|| item.to_string(), str::to_owned))
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}
