//! Queries on a small and a large database: `cargo bench -p runtape-store --bench store`.
//!
//! Ratios of wall times taken in one process, so that they hold on any machine. Ends with failure
//! if a requirement is missed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "a bench prints, and may fail in any way"
)]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use runtape_core::CheckpointId;
use runtape_store::{Calendar, Options, RunFilter, Store, UsageBy};
use runtape_tests::runs::{Plan, run_id};

/// How much longer what is asked first may take on the large database.
const MOST: f64 = 3.0;

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

/// Returns the day of a time an hour east of UTC.
fn east(at: i64) -> i64 {
    (at + 3_600_000).div_euclid(24 * 3_600_000)
}

fn ratio(what: &str, measured: Duration, base: Duration) -> f64 {
    let ratio = measured.as_secs_f64() / base.as_secs_f64().max(1e-9);
    println!("{what}: ratio {ratio:.2} ({measured:.2?} against {base:.2?})");
    ratio
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

struct Times {
    runs: Duration,
    filtered: Duration,
    head: Duration,
    checkpoint: Duration,
    daily: Duration,
    local: Duration,
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
        daily: best(20, || {
            let calendar = Calendar::Utc;
            drop(store.usage_by(&filter, &[UsageBy::Day], calendar).unwrap());
        }),
        local: best(20, || {
            let calendar = Calendar::Local(&east);
            drop(store.usage_by(&filter, &[UsageBy::Day], calendar).unwrap());
        }),
        search: best(3, || {
            drop(
                store
                    .search("file42", &RunFilter::default(), None, 20)
                    .unwrap(),
            );
        }),
    }
}

fn main() -> ExitCode {
    let directory = tempfile::tempdir().unwrap();
    let open = best(5, || {
        let path = fresh(directory.path(), "empty");
        drop(Store::open(path, &Options::default()).unwrap());
    });
    println!("open and migrate: {open:.2?}");
    let small = queries(directory.path(), 10_000);
    let large = queries(directory.path(), 1_000_000);
    println!("at 1 million records against 10 thousand:");
    let runs = ratio("list 50 runs", large.runs, small.runs);
    ratio("runs of a session", large.filtered, small.filtered);
    let head = ratio("head of the last checkpoint", large.head, small.head);
    ratio("checkpoint by id", large.checkpoint, small.checkpoint);
    let usage = ratio("usage by day", large.daily, small.daily);
    ratio("usage by local day", large.local, small.local);
    ratio("search", large.search, small.search);
    ExitCode::from(u8::from(runs > MOST || head > MOST || usage > MOST))
}
