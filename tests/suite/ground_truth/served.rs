//! What a scripted model served, turn by turn, and what must follow from it.

use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary};
use serde_json::Value;

use super::plain::Faults;
use crate::captures::Capture;

/// The families of failures that the same run would meet again.
const FINAL: &[&str] = &[
    "auth",
    "billing",
    "contextOverflow",
    "modelNotFound",
    "unknownSession",
];

/// What was served in one run.
pub(super) struct Served<'a> {
    capture: &'a Capture,
    pub(super) turns: &'a [Value],
    pub(super) is_killed: bool,
}

impl<'a> Served<'a> {
    pub(super) fn of(capture: &'a Capture) -> Self {
        Self {
            capture,
            turns: capture.truth()["turns"].as_array().unwrap(),
            is_killed: !capture.meta["kill"].is_null(),
        }
    }

    /// Tells whether the run went well: the last request decides, and no request at all is a start
    /// that failed. Zero bytes are no answer.
    pub(super) fn is_completed(&self) -> bool {
        let Some(last) = self.turns.last() else {
            return false;
        };
        let is_whole = last["status"] == 200
            && !is_set(&last["fail"])
            && !is_set(&last["incomplete"])
            && last["finish"] != "content_filter";
        is_whole && !self.is_killed && !self.capture.stdout.is_empty()
    }

    fn family(&self) -> Option<&'static str> {
        let Some(last) = self.turns.last() else {
            return (self.capture.scenario == "resume_unknown").then_some("unknownSession");
        };
        if last["finish"] == "content_filter" {
            return Some("refusal");
        }
        let words = [&last["error"], &last["fail"]];
        let words = words.map(Value::to_string).join(" ");
        let by_word = [
            ("insufficient_quota", "billing"),
            ("context_length", "contextOverflow"),
            ("model_not_found", "modelNotFound"),
            ("rate_limit", "rateLimit"),
            ("usage_limit", "rateLimit"),
        ];
        let known = by_word.iter().find(|(word, _)| words.contains(word));
        let by_status = match last["status"].as_u64() {
            Some(401 | 403) => Some("auth"),
            Some(429) => Some("rateLimit"),
            Some(500 | 503) => Some("overload"),
            _ => None,
        };
        known.map(|(_, family)| *family).or(by_status)
    }

    /// Compares how the run ended.
    pub(super) fn compare_end(&self, summary: &RunSummary, faults: &mut Faults) {
        let is_completed = summary.status == CheckpointStatus::Completed;
        faults.compare("status", &self.is_completed(), &is_completed);
        faults.compare("durationMs", &None, &summary.duration_ms);
        faults.compare("runs", &1, &summary.runs.len());
        let Some(error) = &summary.error else {
            return;
        };
        if self.is_killed {
            let names: &[&str] = match self.capture.meta["exit_code"].as_i64() {
                Some(code) if code != 0 => &["KilledBySignal", "NonZeroExit"],
                _ => &["TruncatedOutput"],
            };
            faults.want("error name", names.contains(&error.name.as_str()), error);
            return;
        }
        let is_prose = self.capture.runtime == "opencode" && self.capture.format == "text";
        let family = self.family();
        let family = family.filter(|family| !is_prose || *family == "unknownSession");
        if let Some(family) = family {
            let got = error.family.map(ErrorFamily::as_str);
            faults.compare("family", &Some(family), &got);
            if FINAL.contains(&family) && self.capture.runtime == "codex" {
                faults.compare("isRetryable", &false, &error.is_retryable);
            }
        }
    }

    /// Returns texts or thoughts that were served whole: dropped streams, and messages that a kill
    /// cut off, are not.
    pub(super) fn said(&self, key: &str) -> Vec<String> {
        let is_whole = |turn: &&Value| turn["status"] == 200 && !is_set(&turn["drop_after"]);
        let mut turns: Vec<&Value> = self.turns.iter().filter(is_whole).collect();
        let is_cut = |turn: &&Value| {
            is_set(&turn["chunk_delay"]) || turn["tool_calls"].as_array().is_none_or(Vec::is_empty)
        };
        if self.is_killed && turns.last().is_some_and(is_cut) {
            turns.pop();
        }
        let texts = turns.iter().filter_map(|turn| turn[key].as_str());
        let texts = texts.filter(|text| !text.is_empty());
        texts.map(str::to_owned).collect()
    }

    /// Tells whether a text is of a response whose stream broke: the request was made again.
    pub(super) fn was_given_up(&self, text: &str) -> bool {
        let mut broken = self.turns.iter().filter(|turn| is_set(&turn["drop_after"]));
        broken.any(|turn| turn["text"] == text)
    }

    /// Returns one of the totals of all requests of the main run, in the API's words.
    pub(super) fn used(&self, totals: &str, counter: &str) -> i64 {
        self.capture.truth()[totals][counter].as_i64().unwrap_or(0)
    }
}

/// Tells whether something is there that is not empty, zero or false.
pub(super) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// The counters of a summary: input, cached, output, reasoning.
pub(super) fn counters(summary: &RunSummary) -> Option<[Option<i64>; 4]> {
    let usage = summary.usage.as_ref()?;
    Some([
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    ])
}

/// Returns a text without terminal escapes.
pub(super) fn without_escapes(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        kept.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic());
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    kept + rest
}
