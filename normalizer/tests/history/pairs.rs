//! Runs that were read from a history, against what the model sent: `run.meta.json` beside it.
//!
//! The truth is of the last run of the session; what was before it is in `usage_before`.

use std::fs;
use std::path::Path;

use runtape_core::{CheckpointStatus, RunSummary};
use runtape_normalizer::history::Segment;
use serde_json::Value;

/// In what a runtime's history differs from what its model said.
pub(crate) struct PairRules {
    /// Returns the name and the input of a call as the history has them.
    pub(crate) call: fn(&Value) -> (String, Option<Value>),
    /// Returns a piece of the result of a call, if it is known.
    pub(crate) result: fn(&Value) -> Option<String>,
    /// Usage is known run by run, also of one that was resumed.
    pub(crate) knows_runs: bool,
}

/// A run as it was read.
pub(crate) struct ReadRun {
    pub(crate) segment: Segment,
    pub(crate) summary: RunSummary,
}

/// Reads the truth of a history.
pub(crate) fn meta(history: &Path) -> Value {
    serde_json::from_slice(&fs::read(history.join("run.meta.json")).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn texts(turns: &[Value], key: &str) -> Vec<String> {
    let texts = turns.iter().filter_map(|turn| turn[key].as_str());
    texts
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Compares the runs of a session with the truth of the last one.
pub(crate) fn compare(rules: &PairRules, meta: &Value, runs: &[ReadRun]) -> Vec<String> {
    let truth = &meta["ground_truth"];
    let mut faults = Vec::new();
    let count = 1 + usize::from(!meta["resumed_session_id"].is_null());
    if runs.len() != count {
        faults.push(format!("expected {count} runs, got {}", runs.len()));
    }
    let Some(run) = runs.last() else {
        return faults;
    };
    let mut differ = |what: &str, expected: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug| {
        faults.push(format!("{what}: expected {expected:?}, got {got:?}"));
    };
    let (summary, segment) = (&run.summary, &run.segment);
    let turns = list(&truth["turns"]);
    let answered: Vec<Value> = turns
        .iter()
        .filter(|turn| turn["status"] == 200)
        .cloned()
        .collect();
    let children = list(&truth["subagent_turns"]);
    let all: Vec<Value> = answered.iter().chain(children).cloned().collect();
    for (what, key, ours) in [
        ("texts", "text", &summary.texts),
        ("thinking", "reasoning", &summary.thinking),
    ] {
        let mut expected = texts(&all, key);
        let mut ours: Vec<String> = ours
            .iter()
            .filter(|text| !text.is_empty() && *text != "Operation interrupted.")
            .cloned()
            .collect();
        if !children.is_empty() {
            expected.sort();
            ours.sort();
        }
        if expected != ours {
            differ(what, &expected, &ours);
        }
    }
    let expected: Vec<&Value> = all
        .iter()
        .flat_map(|turn| list(&turn["tool_calls"]))
        .collect();
    let calls = &summary.tool_calls;
    if expected.len() != calls.len() {
        differ("calls", &expected, calls);
    }
    for truth in expected {
        let id = truth["id"].as_str().unwrap();
        let Some(call) = calls.iter().find(|call| call.id == id) else {
            differ("call", truth, calls);
            continue;
        };
        let (name, input) = (rules.call)(truth);
        if call.name != name || input.as_ref().is_some_and(|input| *input != call.input) {
            differ("call", &(&name, &input), call);
        }
        let output = call.output.as_deref().unwrap_or_default();
        if (rules.result)(truth).is_some_and(|text| !output.contains(&text)) {
            differ("result", truth, call);
        }
        let is_error = truth["is_error"].as_bool();
        if !truth["result"].is_null() && call.is_error != is_error {
            differ("isError", truth, call);
        }
        if !segment.calls.iter().any(|call| call == id) {
            differ("calls of the segment", &id, &segment.calls);
        }
    }
    if summary.steps as usize != answered.len() + children.len()
        && children.is_empty()
        && meta["exit_code"] == 0
        && !answered.is_empty()
    {
        differ("steps", &answered.len(), &summary.steps);
    }
    let usage = &truth["usage_total"];
    let number = |key: &str| usage[key].as_i64();
    let expected = [
        number("input_tokens").map(|input| input - number("cached_tokens").unwrap()),
        number("cached_tokens"),
        number("output_tokens"),
        number("reasoning_tokens"),
    ];
    let used = summary.usage.as_ref();
    let ours = used.map_or([None; 4], |used| {
        [
            used.input_tokens,
            used.cached_input_tokens,
            used.output_tokens,
            used.reasoning_tokens,
        ]
    });
    if (runs.len() == 1 || rules.knows_runs) && expected != ours {
        differ("usage", &expected, &ours);
    }
    let is_success = meta["exit_code"] == 0 && !truth["final_text"].is_null();
    let is_completed = summary.status == CheckpointStatus::Completed;
    if is_success != is_completed {
        differ("status", &meta["exit_code"], &summary.status);
    }
    if is_success && summary.final_text.as_deref() != truth["final_text"].as_str() {
        differ("final text", &truth["final_text"], &summary.final_text);
    }
    if is_success && segment.last_text.as_deref() != truth["final_text"].as_str() {
        differ("last text", &truth["final_text"], &segment.last_text);
    }
    let argv = list(&meta["argv"]);
    let prompt = segment.prompt.as_deref().unwrap_or_default();
    if prompt.is_empty() || (meta["format"] != "acp" && !argv.iter().any(|word| word == prompt)) {
        differ("prompt", &argv, &segment.prompt);
    }
    if segment.is_resumed == meta["resumed_session_id"].is_null() {
        differ("resumed", &meta["resumed_session_id"], &segment.is_resumed);
    }
    if summary.output_format.as_deref() != Some("history") {
        differ("format", &"history", &summary.output_format);
    }
    if segment.started_at.is_none() || segment.last_at < segment.started_at {
        differ("times", &"two", &(segment.started_at, segment.last_at));
    }
    if !summary.unparsed.is_empty() {
        differ("unparsed", &(), &summary.unparsed);
    }
    faults
}
