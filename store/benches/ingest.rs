//! Ingest against raw lines: `cargo bench -p runtape-store --bench ingest`.
//!
//! What is measured is all that storing takes: normalizing, records, tape, chain and seals, into a file
//! with a write-ahead log and `synchronous = normal`. The baseline inserts the same lines one row a
//! line, in transactions of the same size under the same settings. Both in one process, in turn;
//! ratios of medians, so that they hold on any machine. Ends with failure if a requirement is missed.
//!
//! The filter of secrets is measured against none, by the CPU that all threads take: what it costs who keeps what agents print.
//!
//! `-- --only WORD` measures what has the word in its name; `--bytes N --rounds N` say how much.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "a bench prints, and may fail in any way"
)]

mod mix;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtape_normalizer::redact::{RedactionKey, RuleSet, Tier};
use runtape_recorder::Capture;
use runtape_store::{Options, RunFilter, Search, SearchMode, Store};
use runtape_tests::synthetic::{LongRun, Replica, Replicator};
use rusqlite::{Connection, TransactionBehavior, params};

use self::mix::{BATCH, Run, SEED, argument, lines, number, some_runs, store_all};

/// The one the binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How much is ingested at a time, unless `--bytes` says otherwise.
const BYTES: usize = 8_000_000;
/// The same for the mixes that something is required of: the log is checkpointed several times, so
/// that it does not matter much where the last one falls.
const MIX_BYTES: usize = 16_000_000;
/// How often each side is measured, unless `--rounds` says otherwise; the median counts.
const ROUNDS: usize = 5;
/// The same for the mixes: a disk that is slow for a moment must not decide.
const MIX_ROUNDS: usize = 11;
/// How often indexing is measured: it takes several times as long as all the rest.
const INDEX_ROUNDS: usize = 3;
/// How much CPU completing the search index may take, against the ingest.
const MOST_FOR_INDEX: f64 = 1.3;

fn long_runs(runtime: &str) -> Vec<Run> {
    let most = number("--bytes", BYTES);
    let mut runs: Vec<Run> = Vec::new();
    while runs.iter().map(Run::len).sum::<usize>() < most {
        let seed = SEED + runs.len() as u64;
        let replica = Replica {
            runtime: runtime.to_owned(),
            format: "stream-json".to_owned(),
            scenario: "long".to_owned(),
            argv: None,
            stdout: LongRun::new(runtime, seed).unwrap().write(1_000),
            stderr: Vec::new(),
            exit_code: Some(0),
        };
        runs.push(Run::new(runs.len(), replica));
    }
    runs
}

/// Returns runs of a runtime, as many bytes of each of its formats.
fn runs_of(all: &Replicator, runtime: &str) -> Vec<Run> {
    let formats = all.formats().into_iter();
    let formats = formats.filter(|(name, _)| *name == runtime);
    let replicas = formats.flat_map(|(name, format)| {
        let mut size = 0;
        all.replicas(name, format).take_while(move |replica| {
            size += replica.stdout.len();
            size < BYTES / 2
        })
    });
    some_runs(replicas, usize::MAX)
}

fn fresh(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        let _ = std::fs::remove_file(file);
    }
    path
}

/// Inserts the lines one row a line.
#[inline(never)]
fn raw(path: &Path, runs: &[Run]) -> Duration {
    let mut connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA cache_size = -8192;
             PRAGMA temp_store = memory;
             CREATE TABLE line (run INTEGER NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL)",
        )
        .unwrap();
    let begin = Instant::now();
    let mut lines = lines(runs);
    let mut is_more = true;
    while is_more {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .unwrap();
        let mut statement = transaction
            .prepare_cached("INSERT INTO line VALUES (?1, ?2, ?3)")
            .unwrap();
        let mut size = 0;
        while size < BATCH {
            let Some((run, number, line)) = lines.next() else {
                is_more = false;
                break;
            };
            size += line.len();
            statement
                .execute(params![run as i64, number as i64, line])
                .unwrap();
        }
        drop(statement);
        transaction.commit().unwrap();
    }
    begin.elapsed()
}

/// Stores the runs.
// A function of its own, so that a profiler can tell it from what is around it.
#[inline(never)]
fn ingest(path: &Path, runs: &[Run]) -> Duration {
    ingest_by(path, runs, &Arc::default())
}

fn ingest_by(path: &Path, runs: &[Run], rules: &Arc<RuleSet>) -> Duration {
    let mut store = Store::open(path, &Options::default()).unwrap();
    // A reader of files hands its buffers over.
    let captures: Vec<Capture> = runs.iter().map(Run::capture).collect();
    let begin = Instant::now();
    store_all(&mut store, captures, rules);
    begin.elapsed()
}

/// Stores the runs and brings the search index up to date.
fn ingest_and_index(path: &Path, runs: &[Run]) -> Duration {
    let time = ingest(path, runs);
    let store = Store::open(path, &Options::default()).unwrap();
    let begin = Instant::now();
    store.complete_search().unwrap();
    time + begin.elapsed()
}

/// Returns the CPU time that the process has used, threads included; nothing where nobody tells.
fn cpu() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may have spaces in it. Times are in hundredths of a second, after eleven other numbers.
    let (_, numbers) = stat.rsplit_once(')')?;
    let times = numbers.split_whitespace().skip(11).take(2);
    let ticks: Option<u64> = times.map(|time| time.parse::<u64>().ok()).sum();
    ticks.map(|ticks| Duration::from_millis(ticks * 10))
}

/// Returns how much CPU some work takes, or how long where nobody tells.
fn cost(work: impl FnOnce()) -> Duration {
    let (begin, before) = (Instant::now(), cpu());
    work();
    match (before, cpu()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => begin.elapsed(),
    }
}

/// Compares what completing the search index takes with what the ingest before it took, and prints how
/// quickly all is read by a search that no index helps.
fn index(directory: &Path, what: &str, runs: &[Run]) -> f64 {
    let [mut ingested, mut indexed, mut read] = [Duration::ZERO; 3];
    for _ in 0..number("--rounds", ROUNDS) {
        let path = fresh(directory, "store");
        ingested += cost(|| {
            ingest(&path, runs);
        });
        let store = Store::open(&path, &Options::default()).unwrap();
        indexed += cost(|| store.complete_search().unwrap());
        let search = Search::new("no such t?ext", SearchMode::Pattern).unwrap();
        let filter = RunFilter::default();
        read += cost(|| {
            store.each_hit(&search, &filter, |_| true).unwrap();
        });
    }
    let store = Store::open(directory.join("store"), &Options::default()).unwrap();
    let stats = store.stats().unwrap();
    let bytes: usize = runs.iter().map(Run::len).sum();
    let size = stats.search_bytes as f64 / bytes as f64;
    let ratio = |part: Duration| part.as_secs_f64() / ingested.as_secs_f64();
    println!(
        "search index, {what:28} CPU ratio {:.2} ({indexed:.2?} against {ingested:.2?} for the ingest); size ratio {size:.3}; reading all CPU ratio {:.2}",
        ratio(indexed),
        ratio(read),
    );
    ratio(indexed)
}

/// Compares an ingest with the filter of secrets to one without, in turn, by the CPU that both take. It is told, and nothing
/// required: what is required of the filter is in the bench of the normalizer.
fn redaction(directory: &Path, what: &str, runs: &[Run]) {
    let rules = RuleSet::new(Tier::Definite).with_key(RedactionKey::new([7; 32]));
    let (definite, off) = (Arc::new(rules), Arc::new(RuleSet::new(Tier::Off)));
    let [mut with, mut without] = [Duration::ZERO; 2];
    for round in 0..=number("--rounds", ROUNDS) {
        let measure = |rules: &Arc<RuleSet>, sum: &mut Duration| {
            let path = fresh(directory, "store");
            let time = cost(|| {
                ingest_by(&path, runs, rules);
            });
            // The first round pays for what is made once.
            *sum += if round == 0 { Duration::ZERO } else { time };
        };
        measure(&off, &mut without);
        measure(&definite, &mut with);
    }
    let ratio = without.as_secs_f64() / with.as_secs_f64();
    println!(
        "redaction, {what:28} {:5} runs, CPU ratio {ratio:.2} ({with:.2?} with definite rules, {without:.2?} with none)",
        runs.len(),
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Measures both sides in turn and prints the ratios; returns that of speed and that of size.
fn compare(directory: &Path, what: &str, runs: &[Run], rounds: usize) -> (f64, f64) {
    let bytes: usize = runs.iter().map(Run::len).sum();
    let (mut ours, mut indexed, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..number("--rounds", rounds) {
        theirs.push(raw(&fresh(directory, "raw"), runs));
        if round < INDEX_ROUNDS {
            indexed.push(ingest_and_index(&fresh(directory, "store"), runs));
        }
        ours.push(ingest(&fresh(directory, "store"), runs));
    }
    let store = Store::open(directory.join("store"), &Options::default()).unwrap();
    let stats = store.stats().unwrap();
    let size = (stats.database_bytes - stats.search_bytes) as f64 / bytes as f64;
    let (ours, indexed, theirs) = (median(ours), median(indexed), median(theirs));
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let ratio = |time: Duration| theirs.as_secs_f64() / time.as_secs_f64();
    println!(
        "{what:28} {:5} runs {:6.1} MB/s, raw lines {:6.1} MB/s, ratio {:.2}; with search index ratio {:.2}; size ratio {size:.2}",
        runs.len(),
        speed(ours),
        speed(theirs),
        ratio(ours),
        ratio(indexed),
    );
    (ratio(ours), size)
}

fn main() -> ExitCode {
    let only = argument("--only").unwrap_or_default();
    let directory = tempfile::tempdir().unwrap();
    let all = Replicator::with_long_lines(SEED);
    let usual = Replicator::new(SEED);
    let mut missed = false;
    let mut measure = |what: &str, rounds: usize, runs: &dyn Fn() -> Vec<Run>| {
        if format!("search index, {what}").contains(&only) && what.starts_with("the ") {
            missed |= index(directory.path(), what, &runs()) > MOST_FOR_INDEX;
        }
        if !what.contains(&only) {
            return;
        }
        let (speed, size) = compare(directory.path(), what, &runs(), rounds);
        // Speed is required on all captures, size on those without long lines.
        missed |= what == "the whole mix" && speed < 0.5;
        missed |= what == "the mix, no long lines" && size > 1.0;
    };
    measure("the whole mix", MIX_ROUNDS, &|| {
        some_runs(all.mix(), MIX_BYTES)
    });
    measure("the mix, no long lines", MIX_ROUNDS, &|| {
        some_runs(usual.mix(), MIX_BYTES)
    });
    for (runtime, format) in usual.formats() {
        measure(&format!("{runtime} {format}"), ROUNDS, &|| {
            some_runs(usual.replicas(runtime, format), BYTES)
        });
    }
    let mut runtimes: Vec<&str> = all.formats().iter().map(|(runtime, _)| *runtime).collect();
    runtimes.dedup();
    for runtime in runtimes {
        let what = format!("redaction, {runtime}");
        if what.contains(&only) {
            let runs = runs_of(&all, runtime);
            redaction(directory.path(), runtime, &runs);
        }
    }
    for runtime in ["claude-code", "cursor", "gemini", "hermes"] {
        measure(&format!("{runtime}, 1,000 steps"), ROUNDS, &|| {
            long_runs(runtime)
        });
    }
    ExitCode::from(u8::from(missed))
}
