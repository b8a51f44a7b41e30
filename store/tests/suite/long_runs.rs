//! A run of any length is verified in the same memory.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::path::Path;

use runtape_store::{Options, Store};

use crate::writers::{start, work};
use runtape_tests::runs::Plan;

/// How much more memory four times the steps may take, in KiB: caches fill up, and a few bytes are
/// kept for each step.
const MORE: u64 = 11 << 10;

/// Does nothing unless it is started by the test below.
#[test]
fn process() {
    if let Some((_, path)) = work() {
        let store = Store::open(&path, &Options::read_only()).unwrap();
        let report = store.verify().unwrap();
        assert_eq!(report.faults, []);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        println!("peak {}", peak.unwrap().trim());
    }
}

/// Verifies a database in a process of its own, and returns the most memory it took, in KiB.
fn peak(path: &Path) -> u64 {
    let mut child = start("long_runs::process", "verify", path);
    let mut said = String::new();
    let mut out = child.stdout.take().unwrap();
    out.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    let peak = said.lines().find_map(|line| line.split("peak ").nth(1));
    let peak = peak.unwrap().trim_end_matches(" kB");
    peak.parse().unwrap()
}

#[test]
fn verifying_four_times_the_steps_takes_about_the_same_memory() {
    let directory = tempfile::tempdir().unwrap();
    let [few, many] = [4_000, 16_000].map(|steps| {
        let path = directory.path().join(format!("{steps}.db"));
        let mut store = Store::open(&path, &Options::default()).unwrap();
        let made = Plan::new("long", steps).make();
        made.store(&mut store);
        drop(store);
        let lines = made
            .records
            .iter()
            .map(|record| serde_json::to_vec(record).unwrap().len());
        (peak(&path), lines.sum::<usize>() as u64 >> 10)
    });
    println!("memory and records, in KiB: {few:?} for 4,000 steps, {many:?} for 16,000");
    // Whoever held the records would be found.
    assert!(many.1 - few.1 > 2 * MORE, "{few:?} {many:?}");
    assert!(many.0 < few.0 + MORE, "{few:?} {many:?}");
}
