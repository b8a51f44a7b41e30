//! One capture against its truth: a list of what differs.

use std::fmt::Write as _;

use runtape_core::{RunSummary, SummaryToolCall};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::formats::{self, Calls, Carried, Texts, Thinking, Usage};
use super::plain;
use super::truth::{Call, Truth};
use crate::captures::Capture;

/// Returns what differs between what we read and what happened, with the command line known and
/// with the output alone.
pub(super) fn compare(capture: &Capture) -> Vec<String> {
    let mut faults = compare_one(capture, &capture.summary(), true);
    let alone = compare_one(capture, &capture.summary_without_argv(), false);
    faults.extend(
        alone
            .into_iter()
            .map(|fault| format!("without argv: {fault}")),
    );
    faults
}

fn compare_one(capture: &Capture, summary: &RunSummary, knows_argv: bool) -> Vec<String> {
    if plain::is_of_session(capture) {
        let faults = plain::compare(capture, summary);
        return faults
            .into_iter()
            .map(|(what, fault)| format!("{what}: {fault}"))
            .collect();
    }
    let truth = Truth::of(capture);
    let carried = formats::of(capture);
    let mut faults = Vec::new();
    let mut check = |what: &str, fault: Option<String>| {
        if let Some(fault) = fault
            && !formats::is_exempt(capture, what)
        {
            faults.push(format!("{what}: {fault}"));
        }
    };
    let is_cut = formats::is_cut(capture);
    // Their truth is what was served turn by turn: all of it is compared in files of their own.
    if matches!(capture.runtime.as_str(), "codex" | "opencode") {
        for (what, fault) in plain::compare(capture, summary) {
            check(what, Some(fault));
        }
        return faults;
    }
    check("status", status(&truth, summary));
    check("session", session(&truth, summary, carried));
    check("texts", texts(&truth, summary, carried, is_cut));
    check("final", final_text(&truth, summary, carried, is_cut));
    check("thinking", thinking(&truth, summary, carried));
    check("calls", calls(&truth, summary, carried));
    // That a session was resumed stands in the command line alone, and its totals with it.
    let is_resumed = !capture.meta["resumed_session_id"].is_null();
    if !is_cut && (knows_argv || !is_resumed) {
        check("usage", usage(&truth, summary, carried));
    }
    for (what, fault) in plain::compare(capture, summary) {
        check(what, Some(fault));
    }
    if capture.runtime == "hermes" {
        faults.extend(super::hermes::faults(capture, summary));
        let alone = capture.summary_without_argv();
        let without = super::hermes::faults(capture, &alone);
        faults.extend(
            without
                .into_iter()
                .map(|fault| format!("without argv: {fault}")),
        );
    }
    faults
}

/// Compares a text with the truth, which gives long ones as length and hash.
pub(super) fn same(ours: &str, truth: &Value) -> bool {
    match truth {
        Value::String(text) => ours == text,
        Value::Object(digest) => {
            let mut hash = String::new();
            for byte in Sha256::digest(ours.as_bytes()) {
                let _ = write!(hash, "{byte:02x}");
            }
            digest["sha256"].as_str() == Some(&hash)
        }
        _ => false,
    }
}

/// What survives the loss of markdown marks, wrapping and indentation.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn same_bare(ours: &str, truth: &Value) -> bool {
    match truth {
        Value::String(text) => bare(ours) == bare(text),
        other => same(ours, other),
    }
}

pub(super) fn short(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    if text.chars().count() <= 300 {
        text
    } else {
        text.chars().take(300).chain("…".chars()).collect()
    }
}

fn status(truth: &Truth, summary: &RunSummary) -> Option<String> {
    let expected = truth.status.as_deref()?;
    let got = summary.status.as_str();
    (got != expected).then(|| format!("expected {expected}, got {got} ({})", short(&summary.error)))
}

fn session(truth: &Truth, summary: &RunSummary, carried: Carried) -> Option<String> {
    let expected = if carried.session {
        truth.session_id.as_deref()
    } else {
        None
    };
    let got = summary.session_id.as_deref();
    (got != expected).then(|| format!("expected {expected:?}, got {got:?}"))
}

/// Compares two lists pair by pair.
fn lists(ours: &[String], truth: &[Value], same: impl Fn(&str, &Value) -> bool) -> Option<String> {
    let right = ours.len() == truth.len() && ours.iter().zip(truth).all(|(a, b)| same(a, b));
    (!right).then(|| format!("expected {}, got {}", short(&truth), short(&ours)))
}

/// Tells whether `ours` is the truth with some entries left out.
fn is_subsequence(ours: &[String], truth: &[Value], same: impl Fn(&str, &Value) -> bool) -> bool {
    let mut rest = truth.iter();
    ours.iter().all(|text| rest.any(|value| same(text, value)))
}

fn texts(truth: &Truth, summary: &RunSummary, carried: Carried, is_cut: bool) -> Option<String> {
    let mut ours = summary.texts.clone();
    // What was cut off stands last, as far as it was printed.
    if let (true, Some(cut), Some(last)) = (is_cut, truth.cut_texts.first(), ours.last())
        && cut
            .as_str()
            .is_some_and(|cut| cut.starts_with(last.as_str()))
    {
        ours.pop();
    }
    match carried.texts {
        // A sub-agent's texts are printed only where the CLI was asked to.
        Texts::All if truth.has_subagents => {
            (!is_subsequence(&ours, &truth.texts, same)).then(|| {
                format!(
                    "expected some of {}, got {}",
                    short(&truth.texts),
                    short(&ours)
                )
            })
        }
        Texts::All => lists(&ours, &truth.texts, same),
        Texts::AllUnmarked if truth.has_subagents => None,
        Texts::AllUnmarked => lists(&ours, &truth.texts, same_bare),
        Texts::Last | Texts::LastUnmarked | Texts::Joined => {
            (ours.len() > 1).then(|| format!("expected at most one text, got {}", short(&ours)))
        }
    }
}

fn final_text(
    truth: &Truth,
    summary: &RunSummary,
    carried: Carried,
    is_cut: bool,
) -> Option<String> {
    let expected = &truth.final_text;
    let got = summary.final_text.as_deref();
    let differs = || Some(format!("expected {}, got {}", short(expected), short(&got)));
    let completed = truth.status.as_deref() == Some("completed");
    match (carried.texts, expected, got) {
        // A kill before the next message was printed leaves the last whole one.
        (Texts::All | Texts::AllUnmarked, Value::Null, Some(got)) if is_cut => {
            let last = truth.texts.last();
            let whole = last.is_some_and(|last| same_bare(got, last));
            (!whole).then(differs).flatten()
        }
        (Texts::All | Texts::AllUnmarked, Value::Null, None) => None,
        // A message of nothing but calls: `cursor.rs` tells it from none.
        (Texts::All, Value::Null, Some("")) if carried.is_of("cursor") => None,
        (Texts::All | Texts::AllUnmarked, Value::Null, Some(_)) => differs(),
        (Texts::All, expected, Some(got)) if same(got, expected) => None,
        (Texts::AllUnmarked | Texts::LastUnmarked, expected, Some(got))
            if same_bare(got, expected) =>
        {
            None
        }
        (Texts::All | Texts::AllUnmarked, _, _) => differs(),
        // The formats that print nothing but the answer print none when there was none to give.
        (_, Value::Null, _) => None,
        _ if !completed => None,
        (Texts::Last | Texts::Joined, Value::String(expected), Some(got)) => {
            // Of a message with several blocks only the last one is printed; of several messages
            // that are joined the last one stands at the end.
            // A line feed at the very end is not told from the one that ends the output.
            let bare = expected.trim_end_matches('\n');
            let right = expected.ends_with(got) || bare.ends_with(got) || got.ends_with(bare);
            (!right).then(differs).flatten()
        }
        (_, expected, Some(got)) if same(got, expected) => None,
        _ => differs(),
    }
}

fn thinking(truth: &Truth, summary: &RunSummary, carried: Carried) -> Option<String> {
    let ours = &summary.thinking;
    match carried.thinking {
        Thinking::All if truth.has_subagents => (!is_subsequence(ours, &truth.thinking, same))
            .then(|| {
                format!(
                    "expected some of {}, got {}",
                    short(&truth.thinking),
                    short(ours)
                )
            }),
        Thinking::All => lists(ours, &truth.thinking, same),
        Thinking::Wrapped => lists(ours, &truth.thinking, same_bare),
        Thinking::Some => None,
    }
}

fn calls(truth: &Truth, summary: &RunSummary, carried: Carried) -> Option<String> {
    let ours: Vec<&SummaryToolCall> = if carried.calls == Calls::Names {
        let main = summary.runs.first().map(|run| &run.run_id);
        summary
            .tool_calls
            .iter()
            .filter(|call| Some(&call.run_id) == main)
            .collect()
    } else {
        summary.tool_calls.iter().collect()
    };
    if carried.calls == Calls::None {
        return (!ours.is_empty()).then(|| format!("expected none, got {}", short(&ours)));
    }
    let names = |calls: &[&SummaryToolCall]| -> Vec<String> {
        calls.iter().map(|call| call.name.clone()).collect()
    };
    if ours.len() != truth.calls.len() {
        let expected: Vec<&str> = truth.calls.iter().map(|call| call.name.as_str()).collect();
        return Some(format!("expected {expected:?}, got {:?}", names(&ours)));
    }
    ours.iter()
        .zip(&truth.calls)
        .find_map(|(ours, truth)| call(ours, truth, carried.calls))
}

fn call(ours: &SummaryToolCall, truth: &Call, carried: Calls) -> Option<String> {
    let differs = |what: &str, expected: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug| {
        Some(format!(
            "{} {what}: expected {}, got {}",
            truth.name,
            short(&expected),
            short(&got)
        ))
    };
    if ours.name != truth.name {
        return differs("name", &truth.name, &ours.name);
    }
    if carried == Calls::Full
        && let Some(id) = &truth.id
        && *id != ours.id
    {
        return differs("id", id, &ours.id);
    }
    if carried != Calls::Names && !covers(&ours.input, &truth.input) {
        return differs("input", &truth.input, &ours.input);
    }
    if let (Some(expected), got) = (truth.is_error, ours.is_error) {
        let told = got.is_some() || carried != Calls::Names;
        if told && got != Some(expected) {
            return differs("isError", &expected, &got);
        }
    }
    if let Some(expected) = &truth.contains
        && !ours
            .output
            .as_deref()
            .unwrap_or_default()
            .contains(expected.as_str())
    {
        return differs("output", expected, &ours.output);
    }
    None
}

/// Tells whether `ours` has all of `truth`; the CLI may have filled in defaults.
fn covers(ours: &Value, truth: &Value) -> bool {
    match (ours, truth) {
        (Value::Object(ours), Value::Object(truth)) => truth
            .iter()
            .all(|(key, value)| ours.get(key).is_some_and(|our| covers(our, value))),
        (Value::String(ours), truth) => same(ours, truth),
        (ours, truth) => ours == truth,
    }
}

fn usage(truth: &Truth, summary: &RunSummary, carried: Carried) -> Option<String> {
    let tokens = truth.tokens.as_ref();
    let Some(usage) = &summary.usage else {
        let charged = tokens.is_some_and(|tokens| tokens.input + tokens.output > 0);
        return (carried.usage != Usage::None && charged)
            .then(|| format!("expected {tokens:?}, got none"));
    };
    if carried.usage == Usage::None {
        return Some(format!("expected none, got {usage:?}"));
    }
    let Some(tokens) = tokens else {
        return Some(format!("expected none, got {usage:?}"));
    };
    let right = usage.input_tokens == Some(tokens.input)
        && usage.cached_input_tokens == Some(tokens.cached)
        && usage.output_tokens == Some(tokens.output)
        && (tokens.reasoning.is_none()
            || carried.usage == Usage::WithoutReasoning
            || usage.reasoning_tokens == tokens.reasoning);
    (!right).then(|| format!("expected {tokens:?}, got {usage:?}"))
}
