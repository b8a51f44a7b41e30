//! openclaw's frames against what the model was really asked and said.
//!
//! The model's turns are the truth. What frames cannot carry is left out by rule: protocol 3 sends no
//! reasoning and no tokens, and 2026.3.28 leaves results out; attempts that failed are no answers.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::{CheckpointStatus, RunSummary};
use serde_json::Value;

use super::plain::Faults;
use crate::captures::Capture;

/// What plainly stands in the frames of the asked session.
#[derive(Default)]
struct Frames {
    protocol: i64,
    /// Answers of the gateway itself: to a command, or because the model gave none.
    own_answers: Vec<String>,
    foreign: BTreeSet<String>,
    /// Calls with a tool frame, and those with a result in it.
    calls: BTreeSet<String>,
    results: BTreeSet<String>,
    status_notices: usize,
    errors: Vec<String>,
    refusal: Option<(String, String)>,
    duration: Option<i64>,
    has_rows: bool,
    children: BTreeMap<String, String>,
}

fn text_of(message: &Value) -> String {
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

impl Frames {
    fn read(capture: &Capture, asked: &str) -> Self {
        let mut frames = Self {
            protocol: capture.meta["protocol"].as_i64().unwrap_or_default(),
            ..Self::default()
        };
        let text = String::from_utf8_lossy(&capture.stdout);
        let lines = text.split('\n').filter(|line| !line.trim().is_empty());
        let lines: Vec<Value> = lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let at_work: BTreeSet<&str> = lines
            .iter()
            .filter(|line| line["event"] == "agent" && line["payload"]["sessionKey"] == asked)
            .filter_map(|line| line["payload"]["runId"].as_str())
            .collect();
        let mut times: BTreeMap<String, (Option<i64>, Option<i64>)> = BTreeMap::new();
        for line in &lines {
            let payload = &line["payload"];
            if let Some(error) = line.get("error") {
                let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
                frames.refusal = Some((text("code"), text("message")));
            }
            frames.has_rows |=
                payload["messages"].is_array() || !payload["result"]["meta"].is_null();
            let event = line["event"].as_str().unwrap_or_default();
            if !matches!(event, "chat" | "agent" | "session.tool" | "session.message") {
                continue;
            }
            let session = payload["sessionKey"].as_str().unwrap_or_default();
            if session != asked {
                if !session.contains(":subagent:") {
                    frames.foreign.insert(session.to_owned());
                }
                if event == "session.tool" {
                    frames.on_tool(&payload["data"]);
                }
                continue;
            }
            let run = payload["runId"].as_str().unwrap_or_default();
            let data = &payload["data"];
            match (event, payload["stream"].as_str()) {
                ("session.message", _) => frames.has_rows = true,
                ("chat", _) => frames.on_chat(payload, at_work.contains(run)),
                (_, Some("tool")) => frames.on_tool(data),
                (_, Some("lifecycle")) => {
                    let times = times.entry(run.to_owned()).or_default();
                    match data["phase"].as_str() {
                        Some("start") => times.0 = times.0.or(data["startedAt"].as_i64()),
                        Some("end" | "error") => times.1 = times.1.or(data["endedAt"].as_i64()),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let durations = times.values().map(|(start, end)| Some((*end)? - (*start)?));
        let durations: Option<Vec<i64>> = durations.collect();
        frames.duration = durations
            .filter(|all| !all.is_empty())
            .map(|all| all.iter().sum());
        frames
    }

    fn on_chat(&mut self, payload: &Value, has_agent: bool) {
        let message = &payload["message"];
        let blocks = message["content"].as_array().into_iter().flatten();
        let is_notice = blocks
            .into_iter()
            .any(|block| block["openclawStatusNotice"] == true);
        self.status_notices += usize::from(is_notice);
        if payload["state"] == "final"
            && !message.is_null()
            && !is_notice
            && (!has_agent || message["text"].is_string())
        {
            self.own_answers.push(text_of(message));
        }
        let error = payload["errorMessage"].as_str();
        self.errors.extend(error.map(str::to_owned));
    }

    fn on_tool(&mut self, data: &Value) {
        let Some(id) = data["toolCallId"].as_str() else {
            return;
        };
        self.calls.insert(id.to_owned());
        if data["phase"] == "result" && data["result"].is_object() {
            self.results.insert(id.to_owned());
            if let Some(child) = data["result"]["details"]["childSessionKey"].as_str() {
                self.children.insert(child.to_owned(), id.to_owned());
            }
        }
    }
}

fn list<'v>(truth: &'v Value, key: &str) -> Vec<&'v Value> {
    truth[key].as_array().into_iter().flatten().collect()
}

/// Tells whether anything of a turn was printed.
fn is_printed(turn: &Value, protocol: i64) -> bool {
    let has = |key: &str| turn[key].as_str().is_some_and(|text| !text.is_empty());
    let has_calls = !list(turn, "tool_calls").is_empty();
    turn["status"] == 200 && (has("text") || has_calls || (has("reasoning") && protocol > 3))
}

/// Returns the texts of turns; a turn that was cut and tried again said nothing.
fn texts(turns: &[&Value]) -> Vec<String> {
    let count = turns.len();
    let whole = |(n, turn): (usize, &&Value)| {
        let text = turn["text"].as_str().unwrap_or_default();
        let counts = turn["status"] == 200 && (turn["whole"] == true || n + 1 == count);
        (counts && !text.is_empty()).then(|| text.to_owned())
    };
    turns.iter().enumerate().filter_map(whole).collect()
}

/// Tells whether a text is what was said: the gateway takes white space off its end, and a turn
/// that was cut off is there as far as it came.
fn is_said(ours: &str, truth: &str, is_cut: bool) -> bool {
    let is_whole = ours.trim_end() == truth.trim_end();
    is_whole || (is_cut && !ours.is_empty() && truth.starts_with(ours))
}

pub(super) fn compare(capture: &Capture, summary: &RunSummary, faults: &mut Faults) {
    let truth = capture.truth();
    let asked = truth["session_key"].as_str().unwrap();
    let frames = Frames::read(capture, asked);
    let turns = list(truth, "turns");
    let child_turns = list(truth, "subagent_turns");
    let children = list(truth, "child_sessions");
    faults.compare("session", &Some(asked), &summary.session_id.as_deref());
    faults.compare(
        "outputFormat",
        &Some("frames"),
        &summary.output_format.as_deref(),
    );
    let version = capture.meta["cli_version"].as_str();
    faults.compare("version", &version, &summary.cli_version.as_deref());
    if frames.protocol > 3 && !turns.is_empty() {
        let model = turns[0]["model"].as_str();
        faults.compare("model", &model, &summary.model.as_deref());
    }
    faults.compare("runs", &(1 + children.len()), &summary.runs.len());
    for call in frames.children.values() {
        let parent = |run: &runtape_core::SummaryRun| {
            run.parent_tool_call_id
                .as_ref()
                .is_some_and(|id| id.as_str() == call)
        };
        faults.want("parent", summary.runs.iter().any(parent), &summary.runs);
    }
    ending(truth, &frames, summary, faults);
    said(truth, &frames, &turns, &child_turns, summary, faults);
    calls(&frames, &turns, &child_turns, summary, faults);
    usage(truth, &frames, &turns, &children, summary, faults);
    if truth["status"] != "cut" {
        faults.compare(
            "durationMs",
            &frames.duration,
            &summary.duration_ms.filter(|_| frames.duration.is_some()),
        );
    }
    notices(truth, &frames, &turns, summary, faults);
}

fn ending(truth: &Value, frames: &Frames, summary: &RunSummary, faults: &mut Faults) {
    let status = truth["status"].as_str().unwrap();
    let is_completed = summary.status == CheckpointStatus::Completed;
    faults.compare("status", &(status == "completed"), &is_completed);
    let (name, message) = match &summary.error {
        Some(error) => (error.name.as_str(), error.message.as_str()),
        None => ("", ""),
    };
    match status {
        "cut" => faults.compare("error name", &"TruncatedOutput", &name),
        "aborted" => faults.compare("error name", &"Aborted", &name),
        "refused" => {
            let (code, said) = frames.refusal.as_ref().unwrap();
            faults.compare("error name", &code.as_str(), &name);
            faults.compare("error message", &said.as_str(), &message);
        }
        "error" => {
            let is_told = frames.errors.iter().any(|error| error == message);
            faults.want("error message", is_told, &summary.error);
            faults.want(
                "error name",
                name == "ApiError" || name == "AgentError",
                &name,
            );
        }
        _ => faults.compare("error name", &"", &name),
    }
}

fn said(
    truth: &Value,
    frames: &Frames,
    turns: &[&Value],
    child_turns: &[&Value],
    summary: &RunSummary,
    faults: &mut Faults,
) {
    let is_cut = matches!(truth["status"].as_str(), Some("cut" | "aborted"));
    let mut own = texts(turns);
    own.extend(frames.own_answers.iter().cloned());
    let mut rest = texts(child_turns);
    let mut wanted = own.iter();
    let mut next = wanted.next();
    // The asked session's texts in order, and its sub-agents' among them.
    let mut others = Vec::new();
    for text in &summary.texts {
        if next.is_some_and(|want| is_said(text, want, is_cut)) {
            next = wanted.next();
        } else if let Some(at) = rest.iter().position(|child| is_said(text, child, is_cut)) {
            rest.remove(at);
        } else {
            others.push(text);
        }
    }
    faults.want("texts that nobody said", others.is_empty(), &others);
    // What a sub-agent said may be what the asked session says later, word by word.
    let missing = next.into_iter().chain(wanted).count() + rest.len();
    faults.compare("texts that are missing", &0, &missing);
    let expected = if frames.protocol > 3 {
        let thoughts = turns.iter().chain(child_turns);
        let thoughts = thoughts.filter_map(|turn| turn["reasoning"].as_str());
        thoughts
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect()
    } else {
        Vec::new()
    };
    faults.compare("thinking", &expected, &summary.thinking);
    if truth["status"] == "completed" {
        let last = own.last().map_or("", |text| text.trim_end());
        let got = summary.final_text.as_deref().unwrap_or_default();
        faults.compare("final", &last, &got);
        if let Some(last) = truth["final_text"].as_str() {
            faults.compare("final by the truth", &last.trim_end(), &got.trim_end());
        }
    } else {
        faults.compare(
            "final",
            &None,
            &summary.final_text.as_ref().filter(|_| is_cut),
        );
    }
    let printed = turns
        .iter()
        .filter(|turn| is_printed(turn, frames.protocol));
    let steps = (printed.count() + frames.own_answers.len()) as u64;
    faults.compare("steps", &steps, &summary.steps);
}

fn calls(
    frames: &Frames,
    turns: &[&Value],
    child_turns: &[&Value],
    summary: &RunSummary,
    faults: &mut Faults,
) {
    let mut wanted = BTreeMap::new();
    let printed = turns
        .iter()
        .filter(|turn| is_printed(turn, frames.protocol));
    for (step, turn) in printed.enumerate() {
        for call in list(turn, "tool_calls") {
            wanted.insert(call["id"].as_str().unwrap(), (call, Some(step as u64 + 1)));
        }
    }
    for turn in child_turns {
        for call in list(turn, "tool_calls") {
            wanted.insert(call["id"].as_str().unwrap(), (call, None));
        }
    }
    let ours: BTreeSet<&str> = summary
        .tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    let ids: BTreeSet<&str> = wanted.keys().copied().collect();
    faults.compare("call ids", &ids, &ours);
    for got in &summary.tool_calls {
        let Some((call, step)) = wanted.get(got.id.as_str()) else {
            continue;
        };
        faults.compare(
            "call name",
            &call["name"].as_str(),
            &Some(got.name.as_str()),
        );
        if frames.calls.contains(&got.id) || frames.calls.is_empty() && frames.has_rows {
            faults.compare("call input", &call["arguments"], &got.input);
        } else {
            let is_summary = got.input.is_null() || got.input["summary"].is_string();
            faults.want("call input", is_summary, &got.input);
        }
        if let Some(step) = step {
            faults.compare("call step", step, &got.step);
        }
        let is_error = call["is_error"].as_bool();
        if frames.results.contains(&got.id) {
            faults.compare("call isError", &is_error, &got.is_error);
            let output = got.output.as_deref().unwrap_or_default();
            if let Some(result) = call["result"].as_str().filter(|text| text.len() < 5000) {
                let contains = output.contains(result.trim());
                faults.want("call output", contains, &got.output);
            }
        } else if is_error == Some(true) {
            // Where the result is left out, nobody knows; but it did not go well.
            faults.want("call isError", got.is_error != Some(false), &got.is_error);
        }
    }
}

fn usage(
    truth: &Value,
    frames: &Frames,
    turns: &[&Value],
    children: &[&Value],
    summary: &RunSummary,
    faults: &mut Faults,
) {
    let number = |of: &str, key: &str| truth[of][key].as_i64().unwrap_or_default();
    let is_complete = turns
        .iter()
        .any(|turn| turn["usage"]["out"].as_i64() > Some(0));
    if !is_complete || (frames.protocol == 3 && !frames.has_rows) {
        faults.want("usage", summary.usage.is_none(), &summary.usage);
        return;
    }
    let Some(usage) = &summary.usage else {
        return faults.want("usage", false, &"none");
    };
    let total = number("usage_total", "output_tokens");
    faults.compare("outputTokens", &Some(total), &usage.output_tokens);
    let input = if frames.has_rows {
        let cached = number("usage_total", "cached_tokens");
        Some(number("usage_total", "input_tokens") - cached)
    } else {
        None
    };
    // Nobody sees a sub-agent's rows who did not ask for every session's.
    if children.is_empty() || usage.input_tokens.is_some() {
        faults.compare("inputTokens", &input, &usage.input_tokens);
    }
}

fn notices(
    truth: &Value,
    frames: &Frames,
    turns: &[&Value],
    summary: &RunSummary,
    faults: &mut Faults,
) {
    let count = |kind: &str| {
        summary
            .notices
            .iter()
            .filter(|notice| notice.kind == kind)
            .count()
    };
    let models: BTreeSet<&str> = turns
        .iter()
        .filter_map(|turn| turn["model"].as_str())
        .collect();
    let has_fallback = models.len() > 1;
    faults.compare(
        "modelFallback",
        &usize::from(has_fallback),
        &count("modelFallback"),
    );
    let failed = |turn: &&&Value| turn["status"] != 200 || turn["whole"] == false;
    let before_last = turns.len().saturating_sub(1);
    let retries = turns.iter().take(before_last).filter(failed).count();
    let retries = if has_fallback || frames.protocol == 3 {
        0
    } else {
        retries
    };
    faults.compare("retry", &retries, &count("retry"));
    let has_approval = truth
        .get("approval")
        .is_some_and(|approval| !approval.is_null());
    faults.compare("interaction", &has_approval, &(count("interaction") > 0));
    let commands = if has_fallback {
        0
    } else {
        frames.status_notices
    };
    faults.compare("info", &(frames.foreign.len() + commands), &count("info"));
    faults.compare("warning", &0, &count("warning"));
    faults.want("unparsed", summary.unparsed.is_empty(), &summary.unparsed);
}
