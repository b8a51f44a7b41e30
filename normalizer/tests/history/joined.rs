//! Runs whose output is at hand beside their history: one run from two sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use runtape_core::{CheckpointStatus, RunSummary, Runtime, Stream, summarize};
use runtape_normalizer::{Exit, RunSource};
use runtape_tests::recorded_histories::histories;
use serde_json::Value;

use crate::home::{FoundRun, Home, records_of};
use crate::truth::{self, list};

/// A run that was watched and is in a history.
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) live: RunSummary,
    pub(crate) history: RunSummary,
    pub(crate) both: RunSummary,
}

/// Returns all pairs of a runtime.
pub(crate) fn all(runtime: &Runtime) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for path in histories(runtime.as_str()) {
        let Some(truth) = truth::beside(&path) else {
            continue;
        };
        let runs = Home::read(runtime.clone(), &path).runs();
        let expected = list(&truth["runs"]);
        for (index, expected) in expected.iter().enumerate() {
            let is_last = index + 1 == list(&truth["runs"]).len();
            let mut mine = runs.iter().filter(|run| truth::belongs(run, expected));
            if let Some(run) = mine.next()
                && let Some(stdout) = stdout_of(&path, expected, is_last)
            {
                pairs.push(pair(runtime, &path, expected, run, &stdout));
            }
        }
    }
    pairs
}

/// Reads what a run printed: of several in one home, or of the last one.
fn stdout_of(history: &Path, expected: &Value, is_last: bool) -> Option<Vec<u8>> {
    let runs = history.with_extension("runs");
    if runs.is_dir() {
        return fs::read(runs.join(format!("{}.stdout", expected["run"]))).ok();
    }
    fs::read(history.with_extension("stdout"))
        .ok()
        .filter(|_| is_last)
}

fn pair(runtime: &Runtime, path: &Path, expected: &Value, run: &FoundRun, stdout: &[u8]) -> Pair {
    let argv: Option<Vec<String>> = serde_json::from_value(expected["argv"].clone()).ok();
    let code = expected["exit_code"].as_i64().unwrap();
    let exit = Exit::with_code(i32::try_from(code).unwrap());
    let summary = |source, streams: &[(Stream, &[u8])]| {
        let records = records_of(runtime, source, streams, argv.clone(), &exit);
        summarize(&records).unwrap()
    };
    let (history, stdout) = ((Stream::History, &*run.tape), (Stream::Stdout, stdout));
    Pair {
        name: format!(
            "{} run {}",
            path.file_name().unwrap().to_string_lossy(),
            expected["run"]
        ),
        live: summary(RunSource::Live, &[stdout]),
        history: run.summary.clone(),
        both: summary(RunSource::Both, &[history, stdout]),
    }
}

/// Returns how often each text is there.
fn counted(texts: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        *counts.entry(text.as_str()).or_default() += 1;
    }
    counts
}

/// Returns what a run of both sources lacks of one of them, or has twice.
#[expect(clippy::too_many_lines, reason = "each field has its comparison")]
pub(crate) fn faults(pair: &Pair) -> Vec<String> {
    let Pair {
        live,
        history,
        both,
        ..
    } = pair;
    let mut faults = Vec::new();
    let mut check = |what: &str, is_right: bool, seen: &dyn std::fmt::Debug| {
        if !is_right {
            let seen: String = format!("{seen:?}").chars().take(500).collect();
            faults.push(format!("{what}: {seen}"));
        }
    };
    // From stdout and the process: how it ended, and what it cost.
    check(
        "status",
        both.status == live.status,
        &(both.status, live.status, &both.error),
    );
    check(
        "error",
        both.error == live.error,
        &(&both.error, &live.error),
    );
    check(
        "cost",
        live.cost_usd.is_none() || both.cost_usd == live.cost_usd,
        &(both.cost_usd, live.cost_usd),
    );
    check(
        "duration",
        both.duration_ms == live.duration_ms,
        &both.duration_ms,
    );
    // Of a last message with several texts, some formats print the last one.
    let is_final = live.final_text.as_deref().is_none_or(|text| {
        let whole = both.final_text.as_deref();
        whole.is_some_and(|whole| whole.ends_with(text))
    });
    check(
        "final text",
        is_final,
        &(&both.final_text, &live.final_text),
    );
    // From both: no text, thought or call is lost, and none is there twice.
    for (what, both, halves) in [
        ("texts", &both.texts, [&live.texts, &history.texts]),
        (
            "thinking",
            &both.thinking,
            [&live.thinking, &history.thinking],
        ),
    ] {
        let counts = counted(both);
        for half in halves {
            for (text, count) in counted(half) {
                let is_there = counts.get(text).is_some_and(|there| *there >= count);
                check(what, is_there, &(text, &counts));
            }
        }
        let most: usize = halves.iter().map(|half| half.len()).max().unwrap();
        // A message that was cut off stands in the output alone.
        check(what, both.len() <= most + 1, &both);
    }
    let mut ids: Vec<&str> = both
        .tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    check("calls twice", ids.len() == all, &ids);
    for call in live.tool_calls.iter().chain(&history.tool_calls) {
        let mut same = both.tool_calls.iter().filter(|other| other.id == call.id);
        let is_there = same.next().is_some_and(|other| {
            other.name == call.name && (call.is_error.is_none() || other.is_error == call.is_error)
        });
        check("call", is_there, call);
    }
    let (steps, most) = (both.steps, live.steps.max(history.steps));
    check(
        "steps",
        steps >= most && steps <= most + 1,
        &(steps, live.steps, history.steps),
    );
    let used = |summary: &RunSummary| summary.usage.and_then(|usage| usage.total_tokens);
    let most = used(live).max(used(history));
    let is_cut = live.status != CheckpointStatus::Completed;
    check(
        "usage",
        used(both) >= most || is_cut,
        &(both.usage, live.usage, history.usage),
    );
    let unparsed = live.unparsed.len() + history.unparsed.len();
    check("unparsed", both.unparsed.len() == unparsed, &both.unparsed);
    let denials = |summary: &RunSummary| {
        let notices = summary.notices.iter();
        notices
            .filter(|notice| notice.kind == "permissionDenied")
            .count()
    };
    let most = denials(live).max(denials(history));
    check("denials", denials(both) == most, &both.notices);
    faults
}
