//! Whatever a history has many of: four times as much takes about four times as long, and what the
//! reader holds of a line is small.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use peak_alloc::PeakAlloc;
use runtape_core::Runtime;
use runtape_tests::stopwatch::Stopwatch;

use crate::home::Home;

/// How many there are of a thing: enough for what grows with the square to stand out.
const MANY: usize = 1_000;

/// Four times as much may take this much longer; what grows with the square takes up to 16 times.
const MOST: f64 = 6.5;

/// How often a measurement is repeated before it counts: a busy machine slows down one or the
/// other, never all of them.
const ROUNDS: usize = 6;

/// What the reader may hold of a line, in bytes: places, ids and hashes. A session of 200 MB has some
/// 200 000 lines.
const HELD: usize = 450;

/// Names the case that a process of its own measures.
const CASE: &str = "RUNTAPE_HISTORY_CASE";

/// Counts what is held.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Makes a history with so many of a thing.
pub(crate) type Make = fn(usize) -> BTreeMap<String, Vec<u8>>;

fn measure(home: &Home) -> Duration {
    let stopwatch = Stopwatch::start();
    assert!(!home.runs().is_empty());
    stopwatch.elapsed()
}

/// Checks that four times as much takes about four times as long.
pub(crate) fn check_time(runtime: &Runtime, name: &str, make: Make) {
    let home = |count| Home {
        runtime: runtime.clone(),
        files: make(count),
    };
    let (some, more) = (home(MANY), home(4 * MANY));
    let (mut least, mut least_of_more) = (Duration::MAX, Duration::MAX);
    let mut ratio = f64::MAX;
    for _ in 0..ROUNDS {
        least = least.min(measure(&some));
        least_of_more = least_of_more.min(measure(&more));
        ratio = least_of_more.as_secs_f64() / least.as_secs_f64();
        if ratio < MOST {
            println!("{name}: {least:?}, {ratio:.2}");
            return;
        }
    }
    panic!("{name}: {least:?} and then {ratio:.2} times that");
}

/// Checks, in a process of its own, that little is held of each line. `test` is the ignored test
/// that calls [`hold`].
pub(crate) fn check_memory(test: &str, name: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(CASE, name)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let held = printed.lines().find_map(|line| line.split_once("held "));
    let held = held.and_then(|(_, held)| held.trim().parse::<usize>().ok());
    let held = held.unwrap_or_else(|| panic!("{name}: {printed}"));
    println!("{name}: {held} bytes a line");
    assert!(held <= HELD, "{name}: {held} bytes a line");
}

/// Reads a history, and prints how much was held of each line at most.
pub(crate) fn hold(runtime: &Runtime, cases: &[(&str, Make)]) {
    let Ok(name) = std::env::var(CASE) else {
        return;
    };
    let (_, make) = cases.iter().find(|(case, _)| *case == name).unwrap();
    let home = Home {
        runtime: runtime.clone(),
        files: make(16 * MANY),
    };
    let lines = home
        .files
        .values()
        .flat_map(|bytes| bytes.split_inclusive(|byte| *byte == b'\n'));
    let lines = lines.count();
    let history = home.history();
    let mut reader = (history.reader)();
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    for (name, bytes) in &home.files {
        reader.begin_source(name);
        let mut start = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let end = start + line.len() as u64;
            reader.line(
                start..end - 1,
                runtape_normalizer::Kept::as_given(line.trim_ascii_end()),
            );
            start = end;
        }
    }
    let session = reader.finish();
    let held = HEAP.peak_usage().saturating_sub(before);
    assert!(!session.segments.is_empty());
    println!("held {}", held / lines);
}
