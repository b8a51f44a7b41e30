//! No total takes a response away: in no record, in no entry of the ledger, whatever was stored first.

use std::fs;

use runtape_core::{JobId, Record, RecordKind, RunId, Stream, TokenCounts};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use runtape_recorder::history::Joiner;
use runtape_store::{RunFilter, Store};
use serde_json::Value;

use crate::executions::{Execution, NOW, all, fixtures, roots};
use crate::halves::Knowledge;

fn numbers(counts: TokenCounts) -> [Option<i64>; 6] {
    [
        counts.input_tokens,
        counts.output_tokens,
        counts.reasoning_tokens,
        counts.cached_input_tokens,
        counts.cache_write_tokens,
        counts.cache_write_1h_tokens,
    ]
}

fn is_negative(counts: TokenCounts) -> bool {
    numbers(counts).into_iter().flatten().any(|count| count < 0)
}

/// Lists the entries of records that are less than nothing.
fn negative_records(records: &[Record]) -> Vec<String> {
    let entries = records.iter().filter_map(|record| match &record.kind {
        RecordKind::Usage(entry) if is_negative(entry.counts) => Some(format!("{entry:?}")),
        _ => None,
    });
    entries.collect()
}

/// Lists what is wrong with what a store says of tokens.
fn faults(store: &Store) -> Vec<String> {
    let mut faults = Vec::new();
    for run in store
        .runs(&RunFilter::default(), None, 10_000)
        .unwrap()
        .items
    {
        for entry in store.usage_of(&run.run_id).unwrap() {
            if is_negative(entry.usage) {
                faults.push(format!("ledger: {entry:?}"));
            }
        }
        if is_negative(run.usage) {
            faults.push(format!("{}: {:?}", run.run_id, run.usage));
        }
    }
    for root in roots(store) {
        let records = store.tree_records(&root).unwrap();
        faults.extend(negative_records(&records));
        let mut seen = TokenCounts::default();
        let mut counted = TokenCounts::default();
        for record in &records {
            if let RecordKind::Usage(entry) = &record.kind {
                counted = counted.plus(entry.counts);
                if !matches!(entry.key.as_str(), "total" | "remainder") {
                    seen = seen.plus(entry.counts);
                }
            }
        }
        let counters = numbers(seen).into_iter().zip(numbers(counted));
        for (seen, counted) in counters {
            if seen > counted {
                faults.push(format!("{root}: {seen:?} were seen, {counted:?} count"));
            }
        }
    }
    faults
}

/// Lists the responses that a store has under a run of its own or under a recorded one.
fn responses(store: &Store) -> Vec<String> {
    let mut keys: Vec<String> = roots(store)
        .iter()
        .flat_map(|run| Knowledge::of(store, run).responses)
        .collect();
    keys.sort();
    keys
}

fn fresh() -> Store {
    Store::open_in_memory().unwrap()
}

fn history_first(execution: &Execution) -> Store {
    let mut store = fresh();
    execution.sync(&mut store);
    let recorded = execution.ingest(&mut store);
    let mut joiner = Joiner::default();
    for run in &recorded {
        joiner.join(&mut store, run, NOW).unwrap();
    }
    store
}

#[test]
fn no_history_and_no_join_counts_less_than_the_responses_that_were_seen() {
    let mut wrong = Vec::new();
    for execution in all() {
        let name = format!("{}/{}", execution.runtime, execution.name);
        let mut history = fresh();
        execution.sync(&mut history);
        let known = responses(&history);
        let mut printed = fresh();
        execution.ingest(&mut printed);
        let mut printed_first = fresh();
        execution.ingest(&mut printed_first);
        execution.sync(&mut printed_first);
        let stores = [
            ("history", history),
            ("printed", printed),
            ("printed, history", printed_first),
            ("history, printed", history_first(&execution)),
        ];
        for (order, store) in &stores {
            let faults = faults(store);
            wrong.extend(faults.into_iter().map(|it| format!("{name} {order}: {it}")));
            if order.contains("history") {
                let mut left = responses(store);
                for key in &known {
                    match left.iter().position(|it| it == key) {
                        Some(at) => drop(left.swap_remove(at)),
                        None => wrong.push(format!("{name} {order}: {key} is lost")),
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_output_has_an_entry_that_is_less_than_nothing() {
    let mut wrong = Vec::new();
    let mut outputs = 0;
    for entry in RUNTIMES {
        let directory = fixtures().join(entry.runtime.as_str());
        for file in fs::read_dir(directory).into_iter().flatten() {
            let path = file.unwrap().path();
            let path = path.to_str().unwrap();
            let Some(stem) = path.strip_suffix(".meta.json") else {
                continue;
            };
            let meta: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let read = |ending: &str| fs::read(format!("{stem}.{ending}")).unwrap_or_default();
            let argv: Option<Vec<String>> = serde_json::from_value(meta["argv"].clone()).ok();
            for argv in [None, argv] {
                let id = "remainders";
                let mut context =
                    Context::new(JobId::parse(id).unwrap(), RunId::parse(id).unwrap());
                context.argv = argv;
                let mut normalizer = Normalizer::new(entry.runtime.clone(), context).unwrap();
                let mut records = Vec::new();
                for (stream, bytes) in [
                    (Stream::Stdout, read("stdout")),
                    (Stream::Stderr, read("stderr")),
                ] {
                    let output = normalizer.push(stream, Kept::as_given(&bytes), 1);
                    records.extend(output.records);
                }
                records.extend(normalizer.finish(&Exit::unknown()).records);
                let negative = negative_records(&records).into_iter();
                wrong.extend(negative.map(|it| format!("{stem}: {it}")));
                outputs += 1;
            }
        }
    }
    assert!(outputs > 100, "{outputs} outputs");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
