//! cursor's output against its summary.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::{CheckpointStatus, RunSummary};
use serde_json::Value;

use super::plain::Faults;
use super::printed::Printed;
use crate::captures::Capture;

/// Tells whether an event is a piece of a text that is being written.
fn is_delta(event: &Value) -> bool {
    event.get("timestamp_ms").is_some() && event.get("model_call_id").is_none()
}

pub(super) fn compare(
    capture: &Capture,
    printed: &Printed,
    summary: &RunSummary,
    faults: &mut Faults,
) {
    faults.compare("costUsd", &None, &summary.cost_usd);
    let said: Vec<&Value> = printed.of_type("assistant").collect();
    let has_deltas = said.iter().any(|event| is_delta(event));
    if !capture.stdout.is_empty() {
        let expected = match capture.format.as_str() {
            "partial" | "stream-json" if has_deltas => "stream-json-partial",
            "partial" => "stream-json",
            format => format,
        };
        let got = summary.output_format.as_deref();
        faults.compare("outputFormat", &Some(expected), &got);
    }
    // What is glued, pretty-printed or named is not read line by line here.
    if printed.is_cut || capture.format == "text" {
        return;
    }
    let init = printed
        .of_type("system")
        .find(|event| event["subtype"] == "init");
    let stated = |key: &str| init.and_then(|event| event[key].as_str());
    faults.compare("model", &stated("model"), &summary.model.as_deref());
    faults.compare("cwd", &stated("cwd"), &summary.cwd.as_deref());
    let durations = printed
        .of_type("result")
        .map(|event| event["duration_ms"].as_i64());
    let duration: Option<i64> = durations.flatten().reduce(|sum, ms| sum + ms);
    faults.compare("durationMs", &duration, &summary.duration_ms);
    answer(capture, printed, &said, summary, faults);
    steps(printed, &said, summary, faults);
}

/// The last message's text: none if it was still being written, empty if it was nothing but calls.
fn answer(
    capture: &Capture,
    printed: &Printed,
    said: &[&Value],
    summary: &RunSummary,
    faults: &mut Faults,
) {
    let got = summary.final_text.as_deref();
    let last = said.last().copied().unwrap_or(&Value::Null);
    let is_last = |event: &&Value| event["type"] == "assistant";
    let events = printed.objects.iter().collect::<Vec<_>>();
    let after = events.iter().rposition(is_last).map_or(0, |at| at + 1);
    let calls_after = events[after..].iter().any(|event| {
        event["type"] == "tool_call" && event["model_call_id"] != last["model_call_id"]
    });
    let has_result = printed.result().is_some();
    let expected = if !last.is_null() && is_delta(last) && !has_result {
        None
    } else if calls_after {
        Some("")
    } else {
        capture.truth()["final_text"].as_str()
    };
    faults.compare("answer", &expected, &got);
}

/// One model call is one step, and what was said last has none.
fn steps(printed: &Printed, said: &[&Value], summary: &RunSummary, faults: &mut Faults) {
    let mut by_call: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for event in printed.of_type("tool_call") {
        let (Some(key), Some(id)) = (event["model_call_id"].as_str(), event["call_id"].as_str())
        else {
            continue;
        };
        let ours = summary.tool_calls.iter().filter(|call| call.id == id);
        by_call
            .entry(key)
            .or_default()
            .extend(ours.map(|call| call.step));
    }
    for steps in by_call.values() {
        faults.compare("steps of a model call", &1, &steps.len());
    }
    let is_completed = summary.status == CheckpointStatus::Completed;
    let is_plain = said.iter().all(|event| {
        let blocks = event["message"]["content"].as_array();
        blocks.is_some_and(|blocks| blocks.iter().all(|block| block["type"] == "text"))
    });
    let is_named = printed
        .of_type("tool_call")
        .all(|event| event["model_call_id"].is_string());
    let is_single = printed.of_type("result").count() == 1;
    if is_completed && is_plain && is_named && is_single && !said.is_empty() {
        let has_last = said
            .last()
            .is_some_and(|event| event.get("model_call_id").is_none());
        let expected = by_call.len() as u64 + u64::from(has_last);
        faults.compare("steps", &expected, &summary.steps);
    }
}
