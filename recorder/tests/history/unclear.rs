//! Where more than one thing fits, nothing is joined, and the run says why.

use runtape_core::{RecordKind, RunId, RuntimeEventKind};
use runtape_recorder::history::Joiner;
use runtape_recorder::renormalize;
use runtape_store::Store;

use crate::executions::{Execution, NOW, all, roots};

/// An output without a session id, printed by two processes alike, of which one left a history.
fn printed_twice() -> Execution {
    let mut executions = all();
    let at = executions
        .iter()
        .position(|it| it.name == "pair-subagent.text.history")
        .unwrap();
    let mut execution = executions.swap_remove(at);
    let printed = execution.printed[0].clone();
    execution.printed.push(printed);
    execution
}

fn warnings(store: &Store, run: &RunId) -> Vec<String> {
    let records = store.tree_records(run).unwrap().into_iter();
    records
        .filter_map(|record| match record.kind {
            RecordKind::Event(record) => match record.event {
                RuntimeEventKind::Warning(warning) => Some(warning.message),
                _ => None,
            },
            _ => None,
        })
        .filter(|message| message.starts_with("not joined"))
        .collect()
}

fn check(store: &mut Store) {
    let runs = roots(store);
    assert_eq!(runs.len(), 3);
    let history = runs
        .iter()
        .find(|run| !run.as_str().starts_with("recorded"))
        .unwrap();
    let told = warnings(store, history);
    assert_eq!(told.len(), 1, "{told:?}");
    for recorded in ["recorded-0", "recorded-1"] {
        assert!(told[0].contains(recorded), "{told:?}");
        let recorded = RunId::parse(recorded).unwrap();
        assert!(warnings(store, &recorded).is_empty());
    }
    assert!(store.verify().unwrap().is_intact());
    let before = store.tree_records(history).unwrap();
    renormalize(store, history, NOW).unwrap();
    assert_eq!(store.tree_records(history).unwrap(), before);
}

#[test]
fn a_history_that_two_recorded_runs_fit_says_so() {
    let execution = printed_twice();
    let mut store = Store::open_in_memory().unwrap();
    execution.ingest(&mut store);
    execution.sync(&mut store);
    check(&mut store);
    // Once is enough, however often it is looked at.
    execution.sync(&mut store);
    check(&mut store);
}

#[test]
fn it_says_so_as_well_when_the_history_came_first() {
    let execution = printed_twice();
    let mut store = Store::open_in_memory().unwrap();
    execution.sync(&mut store);
    let recorded = execution.ingest(&mut store);
    let mut joiner = Joiner::default();
    for run in &recorded {
        assert!(!joiner.join(&mut store, run, NOW).unwrap());
    }
    check(&mut store);
}
