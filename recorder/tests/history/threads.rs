//! codex's threads that belong together: forks, reviews, sub-agents, and calls that were refused before they ran.
//!
//! A fixture `<scenario>.sessions.history` has beside it what the scripted model served in each process, and what each
//! process printed.

use std::fs;

use runtape_core::{RunId, RunSummary, summarize};
use runtape_recorder::history::Joiner;
use runtape_store::Store;
use serde_json::Value;

use crate::executions::{Execution, NOW, in_fixtures, roots};

/// What one process did, by what the model was asked and served.
struct Truth {
    tokens: [i64; 4],
    texts: Vec<String>,
    calls: usize,
    refused: usize,
    is_completed: bool,
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

impl Truth {
    fn of(run: &Value) -> Self {
        let truth = &run["ground_truth"];
        let total = |key: &str| truth["usage_total"][key].as_i64().unwrap();
        let turns = || {
            let turns = list(&truth["turns"]).chain(list(&truth["subagent_turns"]));
            turns.filter(|turn| turn["status"] == 200)
        };
        let calls = || turns().flat_map(|turn| list(&turn["tool_calls"]));
        let texts = turns().filter_map(|turn| turn["text"].as_str());
        Self {
            tokens: [
                total("input_tokens") - total("cached_tokens"),
                total("cached_tokens"),
                total("output_tokens"),
                total("reasoning_tokens"),
            ],
            texts: texts
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
                .collect(),
            calls: calls().count(),
            refused: calls().filter(|call| call["is_error"] == true).count(),
            is_completed: run["exit_code"] == 0,
        }
    }

    /// Lists in what a tree of runs differs.
    fn faults(&self, run: &RunSummary) -> Vec<String> {
        let mut faults = Vec::new();
        let used = run.usage.expect("the tokens are known");
        let used = [
            used.input_tokens,
            used.cached_input_tokens,
            used.output_tokens,
            used.reasoning_tokens,
        ];
        if used != self.tokens.map(Some) {
            faults.push(format!("tokens {used:?}, served {:?}", self.tokens));
        }
        for text in &self.texts {
            let count = |texts: &[String]| texts.iter().filter(|it| *it == text).count();
            if count(&run.texts) != count(&self.texts) {
                faults.push(format!("{text:?} is {} times there", count(&run.texts)));
            }
        }
        if run.tool_calls.len() != self.calls {
            faults.push(format!("{} calls of {}", run.tool_calls.len(), self.calls));
        }
        let failed = run.tool_calls.iter();
        let failed = failed.filter(|call| call.is_error == Some(true)).count();
        let denied = run.notices.iter();
        let denied = denied.filter(|it| it.kind == "permissionDenied").count();
        if (failed, denied) != (self.refused, self.refused) {
            faults.push(format!(
                "{failed} calls failed and {denied} were denied, of {}",
                self.refused
            ));
        }
        if self.is_completed != (run.status.as_str() == "completed") {
            faults.push(format!("status {:?}", run.status));
        }
        faults
    }
}

fn truth_of(execution: &Execution) -> Option<Vec<Truth>> {
    let beside = execution.history.with_extension("history-truth.json");
    let truth: Value = serde_json::from_slice(&fs::read(beside).ok()?).unwrap();
    Some(list(&truth["runs"]).map(Truth::of).collect())
}

fn summary(store: &Store, run: &RunId) -> RunSummary {
    summarize(&store.tree_records(run).unwrap()).unwrap()
}

#[test]
fn threads_that_belong_together_are_as_many_runs_as_there_were_processes() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for execution in in_fixtures() {
        if execution.runtime.as_str() != "codex" {
            continue;
        }
        let Some(truth) = truth_of(&execution) else {
            continue;
        };
        compared += 1;
        let fresh = || Store::open_in_memory().unwrap();
        let (mut history, mut forward, mut reverse) = (fresh(), fresh(), fresh());
        execution.sync(&mut history);
        let recorded = execution.ingest(&mut forward);
        execution.sync(&mut forward);
        execution.sync(&mut reverse);
        let mut joiner = Joiner::default();
        for run in execution.ingest(&mut reverse) {
            assert!(joiner.join(&mut reverse, &run, NOW).unwrap());
        }
        let in_order = roots(&history);
        for (what, store, runs) in [
            ("history", &history, &in_order),
            ("printed, history", &forward, &recorded),
            ("history, printed", &reverse, &recorded),
        ] {
            let name = format!("{} {what}", execution.name);
            assert!(store.verify().unwrap().is_intact(), "{name}");
            if roots(store).len() != truth.len() || runs.len() != truth.len() {
                let found = roots(store).len();
                wrong.push(format!("{name}: {found} runs of {}", truth.len()));
                continue;
            }
            for (number, (run, truth)) in runs.iter().zip(&truth).enumerate() {
                let faults = truth.faults(&summary(store, run)).into_iter();
                wrong.extend(faults.map(|fault| format!("{name} run {number}: {fault}")));
            }
        }
    }
    assert!(compared >= 19, "{compared} histories");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
