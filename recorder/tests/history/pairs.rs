//! One execution is one run, whatever it was seen through and in whatever order.

use runtape_core::RunId;
use runtape_recorder::history::Joiner;
use runtape_store::Store;

use crate::executions::{Execution, NOW, all, roots};
use crate::halves::{Knowledge, missing};

fn fresh() -> Store {
    Store::open_in_memory().unwrap()
}

/// Stores what was printed first, then the history.
fn printed_first(execution: &Execution) -> (Store, Vec<RunId>) {
    let mut store = fresh();
    let recorded = execution.ingest(&mut store);
    execution.sync(&mut store);
    (store, recorded)
}

/// Stores the history first, then what was printed.
fn history_first(execution: &Execution) -> Store {
    let mut store = fresh();
    execution.sync(&mut store);
    let recorded = execution.ingest(&mut store);
    let mut joiner = Joiner::default();
    joiner.join_all(&mut store, &recorded, || NOW).unwrap();
    store
}

/// Lists what a joined run knows less than one of its halves.
fn losses(joined: &Knowledge, half: &Knowledge, what: &str, faults: &mut Vec<String>) {
    for (field, have, want) in [
        ("text", &joined.summary.texts, &half.summary.texts),
        ("thinking", &joined.summary.thinking, &half.summary.thinking),
        ("prompt", &joined.prompts, &half.prompts),
    ] {
        for text in missing(have, want) {
            let text: String = text.chars().take(80).collect();
            faults.push(format!("{field} of {what} is lost: {text:?}"));
        }
    }
    let (have, want) = (&joined.summary.tool_calls, &half.summary.tool_calls);
    if have.len() < want.len() {
        faults.push(format!(
            "{} calls of {what}, {} joined",
            want.len(),
            have.len()
        ));
    }
    let answered = |calls: &[runtape_core::SummaryToolCall]| {
        calls.iter().filter(|call| call.output.is_some()).count()
    };
    if answered(have) < answered(want) {
        faults.push(format!(
            "{} results of {what}, {} joined",
            answered(want),
            answered(have)
        ));
    }
}

/// Compares a joined run with what was printed and what is in the history.
fn compare(joined: &Knowledge, printed: &Knowledge, history: Option<&Knowledge>) -> Vec<String> {
    let mut faults = Vec::new();
    losses(joined, printed, "the output", &mut faults);
    let (one, other) = (&joined.summary, &printed.summary);
    if one.status != other.status || one.error != other.error {
        faults.push(format!(
            "verdict: {:?} {:?}, printed {:?} {:?}",
            one.status, one.error, other.status, other.error
        ));
    }
    let is_kept = |one: Option<f64>, other: Option<f64>| other.is_none() || one == other;
    let millis = |ms: Option<i64>| ms.map(|ms| ms as f64);
    if !is_kept(one.cost_usd, other.cost_usd)
        || !is_kept(millis(one.duration_ms), millis(other.duration_ms))
    {
        faults.push("cost or duration differ from what was printed".to_owned());
    }
    let Some(history) = history else {
        return faults;
    };
    losses(joined, history, "the history", &mut faults);
    for response in &history.responses {
        if !joined.responses.contains(response) {
            faults.push(format!("response {response} is lost"));
        }
    }
    let calls = history.summary.tool_calls.len().max(other.tool_calls.len());
    if one.tool_calls.len() > calls {
        faults.push(format!(
            "{} calls, at most {calls} in a half",
            one.tool_calls.len()
        ));
    }
    faults
}

#[test]
fn a_recorded_run_and_its_history_are_one_run_in_either_order() {
    let mut table = Vec::new();
    let mut wrong = Vec::new();
    for execution in all().iter().filter(|it| !it.printed.is_empty()) {
        let name = format!("{}/{}", execution.runtime, execution.name);
        let (mut alone, mut printed_only) = (fresh(), fresh());
        execution.sync(&mut alone);
        let recorded = execution.ingest(&mut printed_only);
        let (store, _) = printed_first(execution);
        let other = history_first(execution);
        let mut faults = Vec::new();
        let runs = roots(&store);
        // Each process is one run, and so is what others left in the same files.
        let histories = roots(&alone).len();
        let joined: Vec<&RunId> = recorded
            .iter()
            .filter(|run| store.begin_of(run).unwrap().context["source"] == "both")
            .collect();
        if runs.len() + joined.len() != histories + recorded.len() {
            faults.push(format!(
                "{} runs of {histories} histories and {} outputs, {} joined",
                runs.len(),
                recorded.len(),
                joined.len()
            ));
        }
        if joined.len() < histories.min(recorded.len()) {
            faults.push(format!(
                "{} of {} outputs joined with {histories} histories",
                joined.len(),
                recorded.len()
            ));
        }
        for run in &recorded {
            let one = store.tree_records(run).unwrap();
            let two = other.tree_records(run).unwrap();
            if one != two {
                faults.push(format!("{run}: the order makes a difference"));
            }
        }
        if runs.len() != roots(&other).len() {
            faults.push(format!(
                "{} runs, {} in the other order",
                runs.len(),
                roots(&other).len()
            ));
        }
        for store in [&store, &other] {
            assert!(store.verify().unwrap().is_intact(), "{name}");
        }
        for run in joined {
            let key = store.begin_of(run).unwrap().context["historyKey"].clone();
            let half = roots(&alone)
                .into_iter()
                .find(|run| alone.begin_of(run).unwrap().context["historyKey"] == key)
                .map(|run| Knowledge::of(&alone, &run));
            let printed = Knowledge::of(&printed_only, run);
            let joined = Knowledge::of(&store, run);
            faults.extend(compare(&joined, &printed, half.as_ref()));
            table.push(format!("{name} {run}"));
            table.push(format!("    printed {}", printed.row()));
            if let Some(half) = half {
                table.push(format!("    history {}", half.row()));
            }
            table.push(format!("    joined  {}", joined.row()));
        }
        if !faults.is_empty() {
            wrong.push(format!("{name}\n      {}", faults.join("\n      ")));
        }
    }
    println!("            prompts texts thinking calls results responses   tokens cost");
    for line in &table {
        println!("{line}");
    }
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(wrong.len(), 0, "pairs that differ, see above");
}
