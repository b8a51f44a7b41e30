//! Appending against raw lines, and queries on a small and a large database.
//!
//! `cargo bench -p runtape-store` prints ratios of wall times taken in one process, so that they
//! hold on any machine. Normalizing is not part of it: this crate does not know how.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "a bench prints, and may fail in any way"
)]

#[path = "../../tests/suite/contract/synthetic.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod synthetic;

use std::path::Path;
use std::time::{Duration, Instant};

use runtape_core::CheckpointId;
use runtape_store::{Options, RunFilter, Store};
use rusqlite::Connection;
use synthetic::{Made, Plan, run_id};

/// Records appended in one transaction.
const BATCH: usize = 100;

fn time(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

/// Takes the shortest of several times: others use the machine, too.
fn best(times: usize, mut work: impl FnMut()) -> Duration {
    (0..times)
        .map(|_| time(&mut work))
        .min()
        .unwrap_or_default()
}

fn ratio(what: &str, measured: Duration, base: Duration) {
    let ratio = measured.as_secs_f64() / base.as_secs_f64().max(1e-9);
    println!("{what}: ratio {ratio:.2} ({measured:.2?} against {base:.2?})");
}

fn fresh(directory: &Path, name: &str) -> std::path::PathBuf {
    let path = directory.join(name);
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        let _ = std::fs::remove_file(file);
    }
    path
}

/// Inserts the lines one row a line, in as many transactions as the store makes.
fn raw(path: &Path, runs: &[Made]) {
    let mut connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = normal;
             CREATE TABLE line (run INTEGER NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL)",
        )
        .unwrap();
    for (run, made) in runs.iter().enumerate() {
        let batches = made.records.len().div_ceil(BATCH);
        for chunks in made
            .chunks
            .chunks(made.chunks.len().div_ceil(batches).max(1))
        {
            let transaction = connection
                .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
                .unwrap();
            for (number, chunk) in chunks.iter().enumerate() {
                transaction
                    .prepare_cached("INSERT INTO line VALUES (?1, ?2, ?3)")
                    .unwrap()
                    .execute(rusqlite::params![run as i64, number as i64, chunk.bytes])
                    .unwrap();
            }
            transaction.commit().unwrap();
        }
    }
}

fn append(path: &Path, runs: &[Made]) -> Store {
    let mut store = Store::open(path, &Options::default()).unwrap();
    for made in runs {
        made.store_live(&mut store, BATCH);
    }
    store
}

fn appending(directory: &Path) {
    let runs: Vec<Made> = (0..40)
        .map(|number| Plan::new(&format!("r{number}"), 500).make())
        .collect();
    let lines = best(3, || raw(&fresh(directory, "raw"), &runs));
    let store = best(3, || drop(append(&fresh(directory, "store"), &runs)));
    // More is better here: how much of the speed of raw lines is left.
    ratio(
        "append, tape, chain and seal, speed of raw lines",
        lines,
        store,
    );
    let store = append(&fresh(directory, "store"), &runs);
    let index = time(|| store.complete_search().unwrap());
    println!("search index for the same runs: {index:.2?}");
    let stats = store.stats().unwrap();
    let bytes = stats.database_bytes - stats.search_bytes;
    println!(
        "size without search index: ratio {:.2} of the {} bytes of very short lines",
        bytes as f64 / stats.tape_bytes as f64,
        stats.tape_bytes
    );
    let open = best(5, || {
        drop(Store::open(fresh(directory, "empty"), &Options::default()).unwrap());
    });
    println!("open and migrate: {open:.2?}");
}

struct Times {
    runs: Duration,
    filtered: Duration,
    head: Duration,
    checkpoint: Duration,
    usage: Duration,
    search: Duration,
}

/// Times queries on a database of about so many records.
fn queries(directory: &Path, records: usize) -> Times {
    let path = fresh(directory, "queries");
    let mut store = Store::open(path, &Options::default()).unwrap();
    let count = records / 110;
    for number in 0..count {
        let mut plan = Plan::new(&format!("r{number}"), 20);
        plan.at += i64::try_from(number).unwrap() * 60_000;
        plan.make().store(&mut store);
    }
    store.complete_search().unwrap();
    let last = run_id(&format!("r{}", count / 2));
    let id = CheckpointId::derive(&last, 10);
    let filter = RunFilter::default();
    let mut session = RunFilter::default();
    session.session = Some(format!("session-of-{last}"));
    Times {
        runs: best(20, || drop(store.runs(&filter, None, 50).unwrap())),
        filtered: best(20, || drop(store.runs(&session, None, 50).unwrap())),
        head: best(20, || drop(store.checkpoint_head(&last, None).unwrap())),
        checkpoint: best(20, || drop(store.checkpoint(&id).unwrap())),
        usage: best(3, || drop(store.usage_daily().unwrap())),
        search: best(3, || {
            drop(
                store
                    .search("file42", &RunFilter::default(), None, 20)
                    .unwrap(),
            );
        }),
    }
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    appending(directory.path());
    let small = queries(directory.path(), 10_000);
    let large = queries(directory.path(), 1_000_000);
    println!("at 1 million records against 10 thousand:");
    ratio("list 50 runs", large.runs, small.runs);
    ratio("runs of a session", large.filtered, small.filtered);
    ratio("head of the last checkpoint", large.head, small.head);
    ratio("checkpoint by id", large.checkpoint, small.checkpoint);
    ratio("usage by day", large.usage, small.usage);
    ratio("search", large.search, small.search);
}
