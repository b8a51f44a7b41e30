//! Histories that were recorded with their runs, and what the model sent: `run.meta.json` in each.
//!
//! The truth is of the last run of the session; what was before it is in `usage_before`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it saw"
)]

use std::collections::HashSet;
use std::env;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::{CheckpointStatus, RunSummary};
use serde_json::Value;

/// In what a runtime's history differs from what its model said.
#[derive(Clone, Copy, Debug)]
pub struct PairRules {
    /// Returns the name and the input of a call as the history has them.
    pub call: fn(&Value) -> (String, Option<Value>),
    /// Returns a piece of the result of a call, if it is known.
    pub result: fn(&Value) -> Option<String>,
    /// Usage is known run by run, also of one that was resumed.
    pub knows_runs: bool,
}

/// A run as it was read.
#[derive(Clone, Debug)]
pub struct ReadRun {
    /// What was asked first.
    pub prompt: Option<String>,
    /// The ids of its calls.
    pub calls: Vec<String>,
    /// The last whole text of the model.
    pub last_text: Option<String>,
    /// The session was resumed by this run, rather than begun.
    pub is_resumed: bool,
    /// When its first line was written.
    pub started_at: Option<i64>,
    /// When its last line was written.
    pub last_at: Option<i64>,
    /// What became of it.
    pub summary: RunSummary,
}

/// Returns the directories of all histories of a runtime, our own first.
#[must_use]
pub fn histories(runtime: &str) -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders = vec![fixtures.join(runtime)];
    if let Some(corpus) = env::var_os("RUNTAPE_CORPUS") {
        // Cargo runs tests in the package's directory; the variable is relative to the workspace.
        folders.push(fixtures.join("../..").join(corpus).join(runtime));
    }
    let mut names = HashSet::new();
    let mut histories = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.to_string_lossy().ends_with(".history"));
        paths.sort();
        for path in paths {
            if names.insert(path.file_name().unwrap().to_owned()) {
                histories.push(path);
            }
        }
    }
    histories
}

/// Prints how many histories are right, and fails if one is not.
pub fn report(runtime: &str, compared: &[(String, Vec<String>)]) {
    assert!(!compared.is_empty(), "no history of {runtime} was found");
    let (right, wrong): (Vec<_>, Vec<_>) =
        compared.iter().partition(|(_, faults)| faults.is_empty());
    println!(
        "{runtime}: {} histories, {} all right",
        compared.len(),
        right.len()
    );
    for (name, faults) in &wrong {
        for fault in faults {
            println!("  {name}: {fault}");
        }
    }
    let wrong: Vec<&str> = wrong.iter().map(|(name, _)| name.as_str()).collect();
    assert!(wrong.is_empty(), "{runtime}: {wrong:?}");
}

/// Reads the truth of a history.
#[must_use]
pub fn truth_of(history: &Path) -> Value {
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

/// What differs.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn differ(&mut self, what: &str, expected: &dyn Debug, got: &dyn Debug) {
        self.0
            .push(format!("{what}: expected {expected:?}, got {got:?}"));
    }
}

/// Compares the runs of a session with the truth of the last one, and says in what they differ.
#[must_use]
pub fn compare(rules: &PairRules, meta: &Value, runs: &[ReadRun]) -> Vec<String> {
    let mut faults = Faults::default();
    let count = 1 + usize::from(!meta["resumed_session_id"].is_null());
    if runs.len() != count {
        faults.differ("runs", &count, &runs.len());
    }
    if let Some(run) = runs.last() {
        compare_conversation(rules, meta, run, &mut faults);
        if runs.len() == 1 || rules.knows_runs {
            compare_usage(
                &meta["ground_truth"]["usage_total"],
                &run.summary,
                &mut faults,
            );
        }
        compare_end(meta, run, &mut faults);
        compare_segment(meta, run, &mut faults);
    }
    faults.0
}

fn compare_conversation(rules: &PairRules, meta: &Value, run: &ReadRun, faults: &mut Faults) {
    let truth = &meta["ground_truth"];
    let turns = list(&truth["turns"]).iter();
    let answered: Vec<Value> = turns
        .filter(|turn| turn["status"] == 200)
        .cloned()
        .collect();
    let children = list(&truth["subagent_turns"]);
    let all: Vec<Value> = answered.iter().chain(children).cloned().collect();
    for (what, key, ours) in [
        ("texts", "text", &run.summary.texts),
        ("thinking", "reasoning", &run.summary.thinking),
    ] {
        let mut expected = texts(&all, key);
        let mut ours: Vec<String> = ours
            .iter()
            .filter(|text| !text.is_empty())
            .cloned()
            .collect();
        if !children.is_empty() {
            // Sub-agents work at the same time.
            expected.sort();
            ours.sort();
        }
        if expected != ours {
            faults.differ(what, &expected, &ours);
        }
    }
    let expected: Vec<&Value> = all
        .iter()
        .flat_map(|turn| list(&turn["tool_calls"]))
        .collect();
    if expected.len() != run.summary.tool_calls.len() {
        faults.differ("calls", &expected, &run.summary.tool_calls);
    }
    for truth in expected {
        compare_call(rules, truth, run, faults);
    }
    let steps = u64::try_from(answered.len()).unwrap();
    let is_whole = children.is_empty() && meta["exit_code"] == 0 && steps > 0;
    if is_whole && run.summary.steps != steps {
        faults.differ("steps", &steps, &run.summary.steps);
    }
}

fn compare_call(rules: &PairRules, truth: &Value, run: &ReadRun, faults: &mut Faults) {
    let id = truth["id"].as_str().unwrap();
    let calls = &run.summary.tool_calls;
    let Some(call) = calls.iter().find(|call| call.id == id) else {
        return faults.differ("call", truth, calls);
    };
    let (name, input) = (rules.call)(truth);
    if call.name != name || input.as_ref().is_some_and(|input| *input != call.input) {
        faults.differ("call", &(&name, &input), call);
    }
    let output = call.output.as_deref().unwrap_or_default();
    if (rules.result)(truth).is_some_and(|text| !output.contains(&text)) {
        faults.differ("result", truth, call);
    }
    if !truth["result"].is_null() && call.is_error != truth["is_error"].as_bool() {
        faults.differ("isError", truth, call);
    }
    if !run.calls.iter().any(|call| call == id) {
        faults.differ("calls of the segment", &id, &run.calls);
    }
}

fn compare_usage(usage: &Value, summary: &RunSummary, faults: &mut Faults) {
    let number = |key: &str| usage[key].as_i64();
    let expected = [
        number("input_tokens").map(|input| input - number("cached_tokens").unwrap()),
        number("cached_tokens"),
        number("output_tokens"),
        number("reasoning_tokens"),
    ];
    let ours = summary.usage.as_ref().map_or([None; 4], |used| {
        [
            used.input_tokens,
            used.cached_input_tokens,
            used.output_tokens,
            used.reasoning_tokens,
        ]
    });
    if expected != ours {
        faults.differ("usage", &expected, &ours);
    }
}

fn compare_end(meta: &Value, run: &ReadRun, faults: &mut Faults) {
    let (summary, answer) = (&run.summary, &meta["ground_truth"]["final_text"]);
    let is_success = meta["exit_code"] == 0 && !answer.is_null();
    if is_success != (summary.status == CheckpointStatus::Completed) {
        faults.differ("status", &meta["exit_code"], &summary.status);
    }
    if is_success && summary.final_text.as_deref() != answer.as_str() {
        faults.differ("final text", answer, &summary.final_text);
    }
    if is_success && run.last_text.as_deref() != answer.as_str() {
        faults.differ("last text", answer, &run.last_text);
    }
    if summary.output_format.as_deref() != Some("history") {
        faults.differ("format", &"history", &summary.output_format);
    }
    if !summary.unparsed.is_empty() {
        faults.differ("unparsed", &(), &summary.unparsed);
    }
}

fn compare_segment(meta: &Value, run: &ReadRun, faults: &mut Faults) {
    let argv = list(&meta["argv"]);
    let prompt = run.prompt.as_deref().unwrap_or_default();
    if prompt.is_empty() || (meta["format"] != "acp" && !argv.iter().any(|word| word == prompt)) {
        faults.differ("prompt", &argv, &run.prompt);
    }
    if run.is_resumed == meta["resumed_session_id"].is_null() {
        faults.differ("resumed", &meta["resumed_session_id"], &run.is_resumed);
    }
    if run.started_at.is_none() || run.last_at < run.started_at {
        faults.differ("times", &"two", &(run.started_at, run.last_at));
    }
}
