//! Bundles: some runs and nothing else, provable elsewhere, and taken in only if they are.

mod changed;
mod content;
mod importing;
mod proof;

use std::fmt::Write as _;
use std::path::Path;
use std::path::PathBuf;

use runtape_core::RunId;
use runtape_store::{Options, RunFilter, Store, VerifyReport};
use runtape_tests::runs::{Made, Plan, child, run_id};
use serde_json::json;
use tempfile::TempDir;

/// A database in a directory of its own.
fn database() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("db"), &Options::default()).unwrap();
    (directory, store)
}

/// Stores a run with a child.
fn store_with_child(store: &mut Store, made: &Made, name: &str) {
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    store.append(made.id(), &child(made, name), &[]).unwrap();
    store.finish_run(made.id(), &json!({"code": 0}), 1).unwrap();
}

/// Stores runs around one in the middle, which has a child.
fn filled(others: usize) -> (TempDir, Store) {
    let (directory, mut store) = database();
    let other = |number: usize| {
        let mut plan = Plan::new(&format!("other{number}"), 2);
        plan.session = Some(format!("secret-session-{number}"));
        plan.make()
    };
    let middle = others / 2;
    store
        .batch(|store| {
            for number in 0..middle {
                other(number).store(store);
            }
            Ok(())
        })
        .unwrap();
    store_with_child(&mut store, &Plan::new("chosen", 3).make(), "chosen-child");
    store
        .batch(|store| {
            for number in middle..others {
                other(number).store(store);
            }
            Ok(())
        })
        .unwrap();
    (directory, store)
}

/// Writes a bundle of some runs beside the database.
fn bundled(directory: &TempDir, store: &Store, runs: &[&str]) -> PathBuf {
    let path = directory.path().join(format!("{}.bundle", runs.join("-")));
    let runs: Vec<RunId> = runs.iter().map(|run| run_id(run)).collect();
    let seals = store.write_bundle(&runs, &path).unwrap();
    assert_eq!(seals.len(), runs.len());
    path
}

fn verified(path: &Path) -> VerifyReport {
    Store::open_bundle(path)
        .unwrap()
        .verify_bundle(None)
        .unwrap()
}

/// All that a run answers: itself, its records, its output.
fn answers(store: &Store, root: &str) -> String {
    let root = run_id(root);
    let mut answers = String::new();
    for mut run in store.tree(&root).unwrap() {
        run.seal = None;
        let mut events = Vec::new();
        store
            .each_event(&run.run_id, |event| {
                events.push(event);
                true
            })
            .unwrap();
        let steps = store.steps(&run.run_id, 0, usize::MAX).unwrap();
        write!(answers, "{run:?}{steps:?}{events:?}").unwrap();
    }
    let mut filter = RunFilter::default();
    filter.job = Some(store.run(&root).unwrap().job_id);
    let calls = store.tool_calls(&filter.into(), 1000).unwrap();
    let records = store.tree_records(&root).unwrap();
    let tape = store.tape(&root).unwrap();
    let exit = store.exit(&root).unwrap();
    answers + &format!("{calls:?}{records:?}{tape:?}{exit:?}")
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}
