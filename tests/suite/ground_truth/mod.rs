//! Every capture against what really happened.
//!
//! `cargo test -p runtape-tests ground_truth -- --nocapture` prints the table;
//! `RUNTAPE_ONLY=hermes` (any part of a capture's name) looks at some of them only;
//! `RUNTAPE_CORPUS=../shared/corpus` adds recorded captures that are not part of this repository.

mod claude_code;
mod codex;
mod compare;
mod cursor;
mod formats;
mod gemini;
mod hermes;
mod openclaw;
mod opencode;
mod plain;
mod printed;
mod served;
mod truth;
mod variants;

use std::collections::BTreeMap;

use runtape_normalizer::detect;

use crate::captures;

#[test]
fn ground_truth_holds_for_every_capture() {
    let mut table: BTreeMap<(String, String), (usize, Vec<String>)> = BTreeMap::new();
    for capture in captures::all() {
        let faults = compare::compare(&capture);
        let row = table
            .entry((capture.runtime.clone(), capture.format.clone()))
            .or_default();
        row.0 += 1;
        if !faults.is_empty() {
            let faults = faults.join("\n      ");
            row.1.push(format!("{}\n      {faults}", capture.name()));
        }
    }
    println!(
        "{:<12} {:<20} {:>8} {:>9}  differ",
        "runtime", "format", "captures", "all right"
    );
    for ((runtime, format), (count, faults)) in &table {
        let right = count - faults.len();
        println!(
            "{runtime:<12} {format:<20} {count:>8} {right:>9}  {}",
            faults.len()
        );
        for fault in faults {
            println!("    {fault}");
        }
    }
    let wrong: usize = table.values().map(|(_, faults)| faults.len()).sum();
    assert_eq!(
        wrong, 0,
        "captures that differ from their ground truth, see the table above"
    );
}

#[test]
fn no_capture_is_taken_for_another_runtimes() {
    for capture in captures::all() {
        let head = &capture.stdout[..capture.stdout.len().min(8192)];
        match detect(head) {
            Some(runtime) => assert_eq!(runtime, capture.runtime(), "{}", capture.name()),
            // Text says little of who printed it, frames say all.
            None => assert_ne!(capture.format, "frames", "{}", capture.name()),
        }
    }
}

#[test]
fn nothing_is_left_unparsed_in_a_capture_that_ended_by_itself() {
    for capture in captures::all() {
        if formats::is_cut(&capture) {
            continue;
        }
        let unparsed = capture.summary().unparsed;
        assert!(unparsed.is_empty(), "{}: {unparsed:?}", capture.name());
    }
}
