//! How quickly what agents left on a machine is taken in.
//!
//!     cargo bench -p runtape-recorder --bench history
//!
//! Prints each number beside what it is held against, and fails if one is not met.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a measurement fails by panicking, and prints what it measured"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use runtape_recorder::core::Runtime;
use runtape_recorder::history::{HistoryDirectory, SyncOptions, sync};
use runtape_recorder::store::{Options, Store};
use runtape_tests::synthetic::Sessions;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Long after the last line was written.
const NOW: i64 = 1_900_000_000_000;
const SESSIONS: usize = 400;
const TURNS: usize = 60;
/// Bytes of the one large session.
const LARGE: usize = 200_000_000;
const TIMES: usize = 5;

struct SyncedHome {
    options: SyncOptions,
    database: PathBuf,
}

impl SyncedHome {
    fn new(home: &Path, name: &str) -> Self {
        let database = home.join(format!("{name}.db"));
        let options = SyncOptions {
            directories: vec![HistoryDirectory {
                runtime: Runtime::ClaudeCode,
                path: home.join(name),
            }],
            memory: Some(home.join(format!("{name}.db.history"))),
            ..SyncOptions::default()
        };
        Self { options, database }
    }

    fn open(&self) -> Store {
        Store::open(&self.database, &Options::default()).unwrap()
    }

    /// Syncs, and returns how many runs were new, how many had grown, and how long it took.
    fn sync(&self, store: &mut Store) -> (u64, u64, Duration) {
        let begin = Instant::now();
        let summary = sync(store, &self.options, || NOW, &mut |_| {}).unwrap();
        let took = begin.elapsed();
        let count = |of: fn(&runtape_recorder::core::report::SyncGroup) -> u64| {
            summary.groups.iter().map(of).sum()
        };
        (count(|group| group.new), count(|group| group.grown), took)
    }

    fn forget(&self) {
        for ending in ["", "-wal", "-shm", ".history"] {
            let mut path = self.database.as_os_str().to_owned();
            path.push(ending);
            let _ = fs::remove_file(path);
        }
    }
}

/// Reads the files with `serde_json::Value`, and drops what was read.
fn values(files: &[PathBuf]) -> Duration {
    let begin = Instant::now();
    for file in files {
        let bytes = fs::read(file).unwrap();
        for line in bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let value: serde_json::Value = serde_json::from_slice(line).unwrap();
            drop(value);
        }
    }
    begin.elapsed()
}

fn stat(files: &[PathBuf]) -> Duration {
    let begin = Instant::now();
    for file in files {
        assert!(fs::metadata(file).unwrap().len() > 0);
    }
    begin.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap()
}

fn ratio(what: &str, value: f64, least: Option<f64>, most: Option<f64>) -> bool {
    let promise = match (least, most) {
        (Some(least), _) => format!("at least {least}"),
        (_, Some(most)) => format!("at most {most}"),
        _ => String::new(),
    };
    println!("ratio {what:<44} {value:>8.2}  {promise}");
    least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most)
}

/// A cold sync against reading the same bytes as values.
fn cold(place: &SyncedHome, files: &[PathBuf]) -> bool {
    let bytes: u64 = files
        .iter()
        .map(|file| fs::metadata(file).unwrap().len())
        .sum();
    println!("{} sessions, {} MB", files.len(), bytes / 1_000_000);
    let (mut read, mut synced) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        read.push(values(files));
        place.forget();
        let (new, _, took) = place.sync(&mut place.open());
        assert_eq!(new, files.len() as u64);
        synced.push(took);
    }
    let (read, synced) = (median(read), median(synced));
    println!("  values {read:.1?}, sync {synced:.1?}");
    ratio(
        "cold sync / serde_json::Value",
        read.as_secs_f64() / synced.as_secs_f64(),
        Some(0.4),
        None,
    )
}

/// A sync where nothing has changed against a stat of the same files.
fn unchanged(place: &SyncedHome, files: &[PathBuf]) -> bool {
    let mut store = place.open();
    let (mut stats, mut syncs) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        stats.push(stat(files));
        let (new, grown, took) = place.sync(&mut store);
        assert_eq!((new, grown), (0, 0));
        syncs.push(took);
    }
    let (stats, syncs) = (median(stats), median(syncs));
    println!("  stat {stats:.1?}, sync {syncs:.1?}");
    ratio(
        "nothing changed / stat",
        syncs.as_secs_f64() / stats.as_secs_f64(),
        None,
        Some(3.0),
    )
}

/// Returns what one more line in one session costs beyond a sync without a change.
fn grown(place: &SyncedHome, file: &Path, seed: u64) -> Duration {
    let mut store = place.open();
    let mut times = Vec::new();
    for round in 0..9 {
        let session = file.file_stem().unwrap().to_str().unwrap();
        let mut line = Vec::new();
        Sessions::new(seed + round).turn(session, &mut line);
        fs::OpenOptions::new()
            .append(true)
            .open(file)
            .unwrap()
            .write_all(&line)
            .unwrap();
        let (_, _, took) = place.sync(&mut store);
        let (_, _, nothing) = place.sync(&mut store);
        times.push(took.saturating_sub(nothing));
    }
    median(times)
}

/// One large session: memory stays bounded.
fn large(home: &Path) -> bool {
    let place = SyncedHome::new(home, "large");
    let directory = home.join("large");
    let turns = LARGE / 5_200;
    let files = Sessions::new(99).write(&directory, 1, turns).unwrap();
    let bytes = fs::metadata(&files[0]).unwrap().len();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage_as_mb();
    let (new, _, took) = place.sync(&mut place.open());
    assert_eq!(new, 1);
    let peak = f64::from(MEMORY.peak_usage_as_mb() - before);
    println!("one session of {} MB in {took:.1?}", bytes / 1_000_000);
    ratio("large session, MiB held", peak, None, Some(100.0))
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let (many, few) = (SyncedHome::new(home, "many"), SyncedHome::new(home, "few"));
    let files = Sessions::new(1)
        .write(&home.join("many"), SESSIONS, TURNS)
        .unwrap();
    let fewer = Sessions::new(2)
        .write(&home.join("few"), SESSIONS / 10, TURNS)
        .unwrap();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage_as_mb();
    let mut is_met = cold(&many, &files);
    let peak = f64::from(MEMORY.peak_usage_as_mb() - before);
    is_met &= ratio("cold sync, MiB held", peak, None, Some(100.0));
    is_met &= unchanged(&many, &files);
    few.sync(&mut few.open());
    let (one, other) = (grown(&many, &files[0], 7), grown(&few, &fewer[0], 7));
    println!(
        "  one line more: {one:.1?} of {SESSIONS} sessions, {other:.1?} of {}",
        SESSIONS / 10
    );
    is_met &= ratio(
        "one session grown, ten times the sessions",
        one.as_secs_f64() / other.as_secs_f64(),
        None,
        Some(2.0),
    );
    is_met &= large(home);
    assert!(is_met, "a promise is not kept, see above");
}
