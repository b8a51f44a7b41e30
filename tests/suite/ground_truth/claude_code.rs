//! claude-code against what plainly stands in its output, with the command line known and without.
//!
//! Wanted values are read from the lines of the output, without any of our code. What a format does
//! not carry is left out by rule, not by capture.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary, Stream, summarize};
use runtape_normalizer::{Kept, Normalizer};
use serde_json::Value;

use crate::captures::{self, Capture};

/// A call as it was printed.
struct PrintedCall {
    id: String,
    name: String,
    input: Value,
    is_error: Option<bool>,
    output: Option<String>,
    parent: Option<String>,
    step: usize,
}

/// What stands in the output.
#[derive(Default)]
struct Facts {
    objects: Vec<Value>,
    /// The last line, or the document, does not parse.
    is_cut: bool,
    texts: Vec<String>,
    thinking: Vec<String>,
    calls: Vec<PrintedCall>,
    parents: BTreeSet<String>,
    /// Messages of the main run, by id.
    messages: Vec<String>,
    /// The usage that each message began with.
    seen: BTreeMap<String, Value>,
    denied: BTreeSet<String>,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Facts {
    fn of(capture: &Capture) -> Self {
        let mut facts = Self::default();
        match capture.format.as_str() {
            "text" => {}
            "json" | "json-verbose" => match serde_json::from_slice(&capture.stdout) {
                Ok(Value::Array(objects)) => facts.objects = objects,
                Ok(object) => facts.objects = vec![object],
                Err(_) => facts.is_cut = !capture.stdout.is_empty(),
            },
            _ => {
                for line in capture.stdout.split(|byte| *byte == b'\n') {
                    match serde_json::from_slice(line) {
                        Ok(object) => facts.objects.push(object),
                        Err(_) => facts.is_cut |= !line.trim_ascii().is_empty(),
                    }
                }
            }
        }
        facts.read();
        facts
    }

    fn read(&mut self) {
        // Written in pieces, and not printed whole so far.
        let (mut text, mut thought) = (None::<String>, None::<String>);
        for object in std::mem::take(&mut self.objects) {
            let parent = object["parent_tool_use_id"].as_str().map(str::to_owned);
            self.parents.extend(parent.clone());
            let message = &object["message"];
            if object["type"] == "assistant" && message["model"] != "<synthetic>" {
                let id = message["id"].as_str().unwrap().to_owned();
                if parent.is_none() && !self.messages.contains(&id) {
                    self.messages.push(id.clone());
                }
                let usage = message["usage"].clone();
                self.seen.entry(id.clone()).or_insert(usage);
                for block in list(&message["content"]) {
                    match block["type"].as_str().unwrap() {
                        "text" => {
                            self.texts.push(block["text"].as_str().unwrap().to_owned());
                            text = None;
                        }
                        "thinking" => {
                            let thinking = block["thinking"].as_str().unwrap().to_owned();
                            self.thinking.push(thinking);
                            (text, thought) = (None, None);
                        }
                        "tool_use" | "server_tool_use" => self.calls.push(PrintedCall {
                            id: block["id"].as_str().unwrap().to_owned(),
                            name: block["name"].as_str().unwrap().to_owned(),
                            input: block["input"].clone(),
                            is_error: None,
                            output: None,
                            parent: parent.clone(),
                            step: self.messages.len(),
                        }),
                        _ => {}
                    }
                }
            }
            if object["type"] == "user" {
                for block in list(&message["content"]) {
                    self.read_result(block);
                }
            }
            let event = &object["event"];
            match event["type"].as_str() {
                Some("message_start") if parent.is_none() => {
                    let id = event["message"]["id"].as_str().unwrap().to_owned();
                    if !self.messages.contains(&id) {
                        self.messages.push(id.clone());
                    }
                    let usage = event["message"]["usage"].clone();
                    self.seen.entry(id).or_insert(usage);
                }
                Some("content_block_start") => match event["content_block"]["type"].as_str() {
                    Some("text") => text = Some(String::new()),
                    Some("thinking") => thought = Some(String::new()),
                    _ => {}
                },
                Some("content_block_delta") => {
                    let delta = &event["delta"];
                    if let (Some(text), Some(piece)) = (&mut text, delta["text"].as_str()) {
                        text.push_str(piece);
                    }
                    if let (Some(thought), Some(piece)) = (&mut thought, delta["thinking"].as_str())
                    {
                        thought.push_str(piece);
                    }
                }
                _ => {}
            }
            if object["subtype"] == "permission_denied" {
                self.denied
                    .extend(object["tool_use_id"].as_str().map(str::to_owned));
            }
            for denial in list(&object["permission_denials"]) {
                self.denied
                    .extend(denial["tool_use_id"].as_str().map(str::to_owned));
            }
            self.objects.push(object);
        }
        self.texts.extend(text.filter(|text| !text.is_empty()));
        self.thinking
            .extend(thought.filter(|text| !text.is_empty()));
    }

    fn read_result(&mut self, block: &Value) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let Some(call) = self.calls.iter_mut().find(|call| call.id == id) else {
            return;
        };
        call.is_error = Some(block["is_error"] == true);
        let texts: Vec<&str> = match &block["content"] {
            Value::String(text) => vec![text],
            content => list(content)
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect(),
        };
        call.output = (!texts.is_empty()).then(|| texts.join("\n"));
    }

    fn of_kind<'f>(&'f self, kind: &'f str, subtype: &'f str) -> impl Iterator<Item = &'f Value> {
        self.objects.iter().filter(move |object| {
            object["type"] == kind && (subtype.is_empty() || object["subtype"] == subtype)
        })
    }

    fn results(&self) -> Vec<&Value> {
        self.of_kind("result", "").collect()
    }
}

/// The wanted status; `None` where nothing printed tells it.
fn status(capture: &Capture, facts: &Facts) -> CheckpointStatus {
    let code = capture.meta["exit_code"].as_i64();
    match facts.results().last() {
        Some(result) if result["subtype"] == "error_max_turns" => {
            CheckpointStatus::StoppedByExceededMaxSteps
        }
        Some(result) if result["subtype"] == "success" && result["is_error"] == false => {
            CheckpointStatus::Completed
        }
        None if capture.format == "text" && code == Some(0) && !capture.stdout.is_empty() => {
            CheckpointStatus::Completed
        }
        _ => CheckpointStatus::StoppedByError,
    }
}

fn cost(facts: &Facts) -> Option<f64> {
    let results = facts.results();
    let last = results.last()?;
    if last.get("model_usage_since_last_result").is_none() {
        return last["total_cost_usd"].as_f64();
    }
    let models = results
        .iter()
        .filter_map(|result| result["model_usage_since_last_result"].as_object())
        .flat_map(|models| models.values());
    let costs = models.filter_map(|model| model["costUSD"].as_f64());
    Some(costs.fold(0.0, |sum, cost| sum + cost))
}

/// What kind of failure was made happen.
fn family(capture: &Capture, facts: &Facts) -> Option<ErrorFamily> {
    let truth = capture.truth();
    let results = facts.results();
    let result = results.last().copied().unwrap_or(&Value::Null);
    let sent = list(&truth["errors"]).last().unwrap_or(&Value::Null);
    let words = sent["message"].as_str().unwrap_or_default();
    let stderr = String::from_utf8_lossy(&capture.stderr);
    Some(
        match (result["subtype"].as_str(), sent["status"].as_i64()) {
            (Some("error_max_turns"), _) => ErrorFamily::TurnLimit,
            (Some("error_max_budget_usd"), _) => ErrorFamily::Budget,
            _ if words.contains("too long") => ErrorFamily::ContextOverflow,
            _ if words.contains("credit balance") => ErrorFamily::Billing,
            (_, Some(404)) => ErrorFamily::ModelNotFound,
            (_, Some(401 | 403)) => ErrorFamily::Auth,
            (_, Some(429)) => ErrorFamily::RateLimit,
            (_, Some(503 | 529)) => ErrorFamily::Overload,
            _ if result["stop_reason"] == "refusal" => ErrorFamily::Refusal,
            _ if stderr.contains("No conversation found with session ID") => {
                ErrorFamily::UnknownSession
            }
            _ => return None,
        },
    )
}

/// Gathers what differs.
struct Faults<'c>(&'c mut Vec<String>, String);

impl Faults<'_> {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is compared is made for it"
    )]
    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, expected: T, got: T) {
        if expected != got {
            let expected: String = format!("{expected:?}").chars().take(300).collect();
            let got: String = format!("{got:?}").chars().take(300).collect();
            self.0
                .push(format!("{} {what}: expected {expected}, got {got}", self.1));
        }
    }
}

fn compare(capture: &Capture, facts: &Facts, summary: &RunSummary, faults: &mut Faults<'_>) {
    let results = facts.results();
    let is_streamed = !matches!(capture.format.as_str(), "text" | "json");
    faults.compare("status", status(capture, facts), summary.status);
    let is_single = is_streamed && facts.objects.len() == 1;
    let is_undecided = capture.stdout.is_empty() || facts.is_cut || is_single;
    if !is_undecided {
        let streams = facts.of_kind("stream_event", "").next().is_some()
            || facts
                .of_kind("system", "status")
                .any(|line| line["status"] == "requesting");
        let format = match capture.format.as_str() {
            "stream-json-partial" if !streams => "stream-json",
            format => format,
        };
        faults.compare(
            "outputFormat",
            Some(format),
            summary.output_format.as_deref(),
        );
    }
    if let Some(init) = facts.of_kind("system", "init").next() {
        let told = |key: &str| init[key].as_str().map(str::to_owned);
        faults.compare(
            "cliVersion",
            told("claude_code_version"),
            summary.cli_version.clone(),
        );
        faults.compare("cwd", told("cwd"), summary.cwd.clone());
        if facts.of_kind("system", "model_fallback").next().is_none() {
            faults.compare("model", told("model"), summary.model.clone());
        }
    }
    let is_resumed = !capture.meta["resumed_session_id"].is_null();
    if !(is_resumed && capture.format == "json") {
        let round = |cost: Option<f64>| cost.map(|cost| format!("{cost:.9}"));
        faults.compare("costUsd", round(cost(facts)), round(summary.cost_usd));
    }
    if let ([result], CheckpointStatus::Completed) = (results.as_slice(), summary.status) {
        faults.compare(
            "durationMs",
            result["duration_ms"].as_i64(),
            summary.duration_ms,
        );
    }
    faults.compare(
        "unparsed",
        usize::from(facts.is_cut),
        summary.unparsed.len(),
    );
    if is_streamed {
        faults.compare("texts", &facts.texts, &summary.texts);
        let thinking = facts.thinking.iter().filter(|text| !text.is_empty());
        faults.compare(
            "thinking",
            thinking.collect::<Vec<_>>(),
            summary.thinking.iter().collect(),
        );
        compare_calls(facts, summary, faults);
        compare_messages(capture, facts, summary, faults);
    }
    compare_failure(capture, facts, summary, faults);
    compare_notices(capture, facts, summary, faults);
}

fn compare_calls(facts: &Facts, summary: &RunSummary, faults: &mut Faults<'_>) {
    let ids = |calls: Vec<&str>| calls.iter().map(ToString::to_string).collect::<Vec<_>>();
    let printed = ids(facts.calls.iter().map(|call| call.id.as_str()).collect());
    let ours = ids(summary
        .tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect());
    faults.compare("calls", printed, ours);
    let parent_of = |run: &runtape_core::RunId| {
        let run = summary.runs.iter().find(|known| known.run_id == *run);
        let parent = run.and_then(|run| run.parent_tool_call_id.as_ref());
        parent.map(|call| call.as_str().to_owned())
    };
    for (call, ours) in facts.calls.iter().zip(&summary.tool_calls) {
        faults.compare("name", &call.name, &ours.name);
        faults.compare("input", &call.input, &ours.input);
        faults.compare("isError", call.is_error, ours.is_error);
        let output = ours.output.clone().filter(|_| call.is_error.is_some());
        let printed = call.output.clone().filter(|text| !text.is_empty());
        faults.compare("output", printed, output.filter(|text| !text.is_empty()));
        faults.compare("run", call.parent.clone(), parent_of(&ours.run_id));
        if facts.parents.is_empty() {
            faults.compare("step", call.step as u64, ours.step);
        }
    }
    let runs = summary
        .runs
        .iter()
        .filter_map(|run| run.parent_tool_call_id.as_ref());
    let runs = runs.map(|call| call.as_str().to_owned()).collect();
    faults.compare("child runs", facts.parents.clone(), runs);
}

fn compare_messages(
    capture: &Capture,
    facts: &Facts,
    summary: &RunSummary,
    faults: &mut Faults<'_>,
) {
    let truth = capture.truth();
    let requests = list(&truth["usage_per_request"]).iter();
    let main = requests
        .filter(|request| request["queue"] == "main")
        .count();
    if facts.messages.is_empty() {
        faults.compare("final", None, summary.final_text.as_deref());
    } else if facts.messages.len() == main {
        // Long texts are given by their hash, which the general comparison looks at.
        if !truth["final_text"].is_object() {
            faults.compare(
                "final",
                truth["final_text"].as_str(),
                summary.final_text.as_deref(),
            );
        }
        if summary.status == CheckpointStatus::Completed && facts.parents.is_empty() {
            faults.compare("steps", main as u64, summary.steps);
        }
    }
    if facts.results().is_empty() && !facts.seen.is_empty() {
        let sum = |keys: &[&str]| -> i64 {
            let counts = facts
                .seen
                .values()
                .flat_map(|usage| keys.iter().map(move |key| &usage[*key]));
            counts.filter_map(Value::as_i64).sum()
        };
        let usage = summary.usage.as_ref();
        let input = sum(&["input_tokens", "cache_creation_input_tokens"]);
        faults.compare(
            "input seen",
            Some(input),
            usage.and_then(|usage| usage.input_tokens),
        );
        let cached = sum(&["cache_read_input_tokens"]);
        faults.compare(
            "cached seen",
            Some(cached),
            usage.and_then(|u| u.cached_input_tokens),
        );
    }
}

fn compare_failure(
    capture: &Capture,
    facts: &Facts,
    summary: &RunSummary,
    faults: &mut Faults<'_>,
) {
    let Some(error) = &summary.error else {
        faults.compare("error", CheckpointStatus::Completed, summary.status);
        return;
    };
    faults.compare(
        "error said",
        false,
        error.name.is_empty() || error.message.is_empty(),
    );
    let results = facts.results();
    let result = results.last().copied().unwrap_or(&Value::Null);
    let family = family(capture, facts);
    let is_streamed = !matches!(capture.format.as_str(), "text" | "json");
    // The json format of 2.0 has nothing but prose, the text format never has more.
    let is_told = is_streamed
        || family == Some(ErrorFamily::UnknownSession)
        || result.get("terminal_reason").is_some();
    if family.is_some() && is_told {
        faults.compare("family", family, error.family);
    }
    if let Some(status) = result["api_error_status"].as_u64() {
        faults.compare("statusCode", Some(status), error.status_code.map(u64::from));
        if matches!(status, 401 | 503 | 529) {
            faults.compare("isRetryable", status != 401, error.is_retryable);
        }
    }
    let rejected = facts
        .of_kind("rate_limit_event", "")
        .map(|line| &line["rate_limit_info"])
        .filter(|info| info["status"] == "rejected");
    if let Some(info) = rejected.last() {
        let at = info["resetsAt"].as_i64().map(|at| at * 1000);
        faults.compare("retryAt", at, error.retry_at);
    }
    if let ([], Some(code)) = (results.as_slice(), capture.meta["exit_code"].as_i64()) {
        let name = match code {
            0 => Some("TruncatedOutput"),
            code if code < 0 || code == 143 => Some("KilledBySignal"),
            _ => None,
        };
        faults.compare("error name", name.or(Some(&error.name)), Some(&error.name));
    }
}

fn compare_notices(
    capture: &Capture,
    facts: &Facts,
    summary: &RunSummary,
    faults: &mut Faults<'_>,
) {
    let noted = |kind: &str| {
        summary
            .notices
            .iter()
            .filter(|notice| notice.kind == kind)
            .count()
    };
    let retries = facts.of_kind("system", "api_retry").count();
    if retries > 0 {
        faults.compare("retries", retries, noted("retry"));
    }
    faults.compare("denials", facts.denied.len(), noted("permissionDenied"));
    let limits = facts.of_kind("rate_limit_event", "").count();
    faults.compare("rate limits", limits, noted("rateLimit"));
    for (subtype, kind) in [
        ("compact_boundary", "compaction"),
        ("hook_response", "hook"),
        ("model_fallback", "modelFallback"),
    ] {
        let is_printed = facts.of_kind("system", subtype).next().is_some();
        faults.compare(kind, is_printed, is_printed && noted(kind) > 0);
    }
    let failed = capture.meta["exit_code"].as_i64() != Some(0);
    if !facts.results().is_empty() {
        let disagrees = failed == (summary.status == CheckpointStatus::Completed);
        faults.compare("exit code noted", disagrees, noted("exitMismatch") > 0);
    }
}

#[test]
fn claude_code_s_output_is_read_to_the_letter_with_and_without_its_command_line() {
    let mut all = Vec::new();
    let mut count = 0;
    for capture in captures::all() {
        if capture.runtime != "claude-code" {
            continue;
        }
        count += 1;
        let facts = Facts::of(&capture);
        for knows_argv in [true, false] {
            let mut context = capture.context();
            if !knows_argv {
                context.argv = None;
            }
            let mut normalizer = Normalizer::new(capture.runtime(), context).unwrap();
            let mut records = normalizer
                .push(Stream::Stdout, Kept::as_given(&capture.stdout), 1)
                .records;
            records.extend(
                normalizer
                    .push(Stream::Stderr, Kept::as_given(&capture.stderr), 2)
                    .records,
            );
            records.extend(normalizer.finish(&capture.exit()).records);
            let summary = summarize(&records).unwrap();
            let argv = if knows_argv { "" } else { " without argv" };
            let name = format!("{}{argv}", capture.name());
            compare(&capture, &facts, &summary, &mut Faults(&mut all, name));
        }
    }
    assert!(
        all.is_empty(),
        "{} faults in {count} captures:\n{}",
        all.len(),
        all.join("\n")
    );
}
