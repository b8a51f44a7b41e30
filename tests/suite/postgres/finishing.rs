//! Many writers end at the same moment: each is sealed once, and all chains hold.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use runtape_store::SealName;
use runtape_tests::postgres::{Care, Database, Layout, own_server};
use runtape_tests::runs::{Made, Plan};
use serde_json::json;

use crate::writers::{check_exactly, open};

const WRITERS: usize = 32;

#[test]
fn many_writers_finish_at_once() {
    for layout in [Layout::Whole, Layout::Partitioned] {
        let Some(database) = Database::fresh(layout) else {
            return;
        };
        let runs: Vec<Made> = (0..WRITERS)
            .map(|writer| Plan::new(&format!("writer{writer}"), 5).make())
            .collect();
        let barrier = Barrier::new(WRITERS);
        let ends: Vec<(SealName, Duration)> = thread::scope(|scope| {
            let writers: Vec<_> = runs
                .iter()
                .map(|made| {
                    let (barrier, address) = (&barrier, database.address());
                    scope.spawn(move || {
                        let mut store = open(address);
                        store.begin_run(&made.begin).unwrap();
                        made.append_live(&mut store, 9);
                        barrier.wait();
                        let begin = Instant::now();
                        let seal = store.finish_run(made.id(), &json!({"code": 0}), 1);
                        (seal.unwrap(), begin.elapsed())
                    })
                })
                .collect();
            let ends = writers.into_iter().map(|writer| writer.join().unwrap());
            ends.collect()
        });
        // Every chain is counted from one, without gaps: none was given twice.
        let mut chains: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (seal, _) in &ends {
            chains.entry(seal.chain).or_default().push(seal.number);
        }
        for numbers in chains.values_mut() {
            numbers.sort_unstable();
            let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
            assert_eq!(*numbers, expected);
        }
        assert!(
            chains.len() > 8,
            "{WRITERS} runs are in {} chains",
            chains.len()
        );
        check_exactly(database.address(), &runs);
        let longest = ends.iter().map(|(_, time)| *time).max().unwrap();
        println!(
            "{layout:?}: {WRITERS} writers ended in {} chains, the last after {longest:?}",
            chains.len()
        );
    }
}

/// Runs of one chain are sealed one after the other, and none waits forever for another.
#[test]
fn many_writers_of_one_chain_finish_at_once() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    // Which chain a run's seal is in follows from its id alone.
    let mut store = open(database.address());
    let mut chains: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for number in 0.. {
        let name = format!("r{number}");
        let made = Plan::new(&name, 0).make();
        made.store(&mut store);
        let chain = store.run(made.id()).unwrap().seal_chain;
        let names = chains.entry(chain).or_default();
        names.push(name);
        if names.len() == 8 {
            break;
        }
    }
    drop(store);
    drop(database);
    let names = chains.into_values().find(|names| names.len() == 8).unwrap();
    let database = Database::fresh(Layout::Whole).unwrap();
    let runs: Vec<Made> = names.iter().map(|name| Plan::new(name, 2).make()).collect();
    thread::scope(|scope| {
        for made in &runs {
            let address = database.address();
            scope.spawn(move || made.store(&mut open(address)));
        }
    });
    check_exactly(database.address(), &runs);
    let chains = database
        .sql()
        .value("SELECT count(DISTINCT chain) FROM seal");
    assert_eq!(chains, "1");
}

/// Returns what a server was asked that writes down all of it.
fn asked(log: &str) -> Vec<&str> {
    let lines = log.lines().filter_map(|line| line.split_once("LOG:  "));
    let asked = lines.filter_map(|(_, said)| {
        let is_asked = said.starts_with("execute") || said.starts_with("statement:");
        is_asked.then_some(said)
    });
    asked.collect()
}

/// What many writers can seal in a second is what the server's processors can: each statement counts. The lease ends with
/// the seal, for what comes after a commit may never come.
#[test]
fn a_run_is_sealed_with_few_statements_and_leaves_no_lease() {
    let Some(server) = own_server(Care::Quick, &["log_statement=all"]) else {
        return;
    };
    server.sql("postgres").run("CREATE DATABASE few");
    Layout::Whole.migrate(&server.address("few"));
    let mut store = open(&server.address("few"));
    let runs = ["warm", "measured"].map(|name| Plan::new(name, 1).make());
    for made in &runs {
        store.begin_run(&made.begin).unwrap();
        store
            .append(made.id(), &made.records, &made.chunks)
            .unwrap();
    }
    let [warm, measured] = &runs;
    let exit = json!({"code": 0});
    store.finish_run(warm.id(), &exit, 1).unwrap();
    let before = std::fs::read_to_string(server.log()).unwrap().len();
    let seal = store.finish_run(measured.id(), &exit, 1).unwrap();
    let log = std::fs::read_to_string(server.log()).unwrap();
    let mut asked = asked(log.get(before..).unwrap());
    // Now and then it is looked whether sums are to be made.
    asked.retain(|said| !said.contains("SELECT count(*)"));
    assert_eq!(asked.len(), 6, "seal {seal}: {asked:#?}");
    assert!(asked[0].starts_with("statement: BEGIN"), "{asked:#?}");
    assert_eq!(asked[5], "statement: COMMIT");
    let leases = server.sql("few").value("SELECT count(*) FROM lease");
    assert_eq!(leases, "0");
    drop(store);
    check_exactly(&server.address("few"), &runs);
}
