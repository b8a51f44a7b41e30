//! Session files whose clocks are wrong: what happened and how it ended stays right, and no duration is made up.

use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::summarize;
use runtape_normalizer::times::iso_millis;
use runtape_recorder::history::{SyncOptions, named_directories, sync};
use runtape_store::Store;

use crate::executions::{Execution, NOW, in_fixtures, roots};
use crate::times::out_of_order;

/// What a clock tells for the nth time of a file.
type Clock = fn(usize) -> String;

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// Clocks, and whether a run may have a duration by them.
const CLOCKS: [(&str, Clock, bool); 8] = [
    (
        "1970",
        |n| quoted(&format!("1970-01-01T00:00:{:02}.000Z", n % 60)),
        false,
    ),
    (
        "9999",
        |n| quoted(&format!("9999-12-31T23:{:02}:00.000Z", n % 60)),
        false,
    ),
    (
        "backwards",
        |n| {
            quoted(&format!(
                "2026-03-01T{:02}:{:02}:00.000Z",
                23 - n / 60 % 24,
                59 - n % 60
            ))
        },
        true,
    ),
    (
        "set later",
        |n| {
            let year = if n < 3 { 1970 } else { 2026 };
            quoted(&format!("{year}-03-01T00:{:02}:00.000Z", n % 60))
        },
        true,
    ),
    (
        "a jump to 9999",
        |n| {
            let year = if n < 3 { 2026 } else { 9999 };
            quoted(&format!("{year}-03-01T00:{:02}:00.000Z", n % 60))
        },
        true,
    ),
    (
        "four formats",
        |n| match n % 4 {
            0 => quoted("2026-03-01T10:00:00.000Z"),
            1 => quoted("2026-03-01T11:00:00+01:00"),
            2 => "1772359200".to_owned(),
            _ => quoted("Sun, 1 Mar 2026 10:00:00 GMT"),
        },
        true,
    ),
    ("none", |_| "null".to_owned(), false),
    ("no time", |_| quoted("yesterday"), false),
];

/// The keys that have times in files of lines and in documents.
const KEYS: [&str; 3] = ["\"timestamp\":", "\"startTime\":", "\"lastUpdated\":"];

/// These tell by times what was copied from another session, and in which order rows were written.
const GO_BY_TIME: [&str; 2] = ["claude-code", "opencode"];

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Puts other times in the place of those in a file of lines or a document.
fn with_clock(text: &str, clock: Clock) -> String {
    let mut rest = text;
    let mut changed = String::new();
    let mut number = 0;
    let next = |rest: &str| {
        let places = KEYS
            .iter()
            .filter_map(|key| Some(rest.find(key)? + key.len()));
        places.min()
    };
    while let Some(at) = next(rest) {
        let (before, after) = rest.split_at(at);
        changed.push_str(before);
        let after = after.trim_start_matches(' ');
        let Some(end) = after.strip_prefix('"').and_then(|value| value.find('"')) else {
            rest = after;
            continue;
        };
        changed.push_str(&clock(number));
        number += 1;
        rest = after.get(end + 2..).unwrap_or_default();
    }
    changed.push_str(rest);
    changed
}

/// The tables and columns that have times in databases.
const TABLES: [&str; 5] = ["sessions", "messages", "session", "message", "part"];
const COLUMNS: [&str; 5] = [
    "started_at",
    "ended_at",
    "timestamp",
    "time_created",
    "time_updated",
];

/// Puts other times in the place of those in a database: milliseconds, or seconds where it has such.
fn set_clock(path: &Path, clock: Clock) {
    let database = rusqlite::Connection::open(path).unwrap();
    for table in TABLES {
        for column in COLUMNS {
            let Ok(mut rows) = database.prepare(&format!(
                "SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY rowid"
            )) else {
                continue;
            };
            let rows: Vec<(i64, f64)> = rows
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            for (number, (row, known)) in rows.into_iter().enumerate() {
                let text = clock(number);
                let millis = iso_millis(text.trim_matches('"'));
                let scale = if known < 1e11 { 1000.0 } else { 1.0 };
                let change = format!("UPDATE OR IGNORE {table} SET {column} = ?1 WHERE rowid = ?2");
                let changed = match millis {
                    Some(millis) => database.execute(&change, (millis as f64 / scale, row)),
                    None if text == "null" => database.execute(&change, (None::<f64>, row)),
                    None => database.execute(&change, (&text, row)),
                };
                changed.unwrap();
            }
        }
    }
}

/// Reads an execution's history with another clock; none where its files have no such times.
fn read(execution: &Execution, clock: Option<Clock>) -> Option<Store> {
    let directory = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    files(&execution.history, &mut all);
    let mut has_times = false;
    let mut databases = Vec::new();
    for path in all {
        let target = directory
            .path()
            .join(path.strip_prefix(&execution.history).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let bytes = fs::read(&path).unwrap();
        let is_database = target.extension().is_some_and(|ending| ending == "db");
        let text = String::from_utf8(bytes.clone()).ok();
        let Some(text) = text.filter(|_| !is_database) else {
            fs::write(&target, bytes).unwrap();
            databases.extend(is_database.then_some(target));
            continue;
        };
        has_times |= text.contains("\"timestamp\":");
        let text = clock.map_or(text.clone(), |clock| with_clock(&text, clock));
        fs::write(target, text).unwrap();
    }
    if let Some(clock) = clock {
        // Their logs are copied by now.
        for database in &databases {
            set_clock(database, clock);
        }
    }
    if !has_times && databases.is_empty() {
        return None;
    }
    let mut store = Store::open_in_memory().unwrap();
    let options = SyncOptions {
        directories: named_directories(directory.path(), std::slice::from_ref(&execution.runtime)),
        ..SyncOptions::default()
    };
    sync(&mut store, &options, || NOW, &mut |_| {}).unwrap();
    Some(store)
}

fn is_of_lines(execution: &Execution) -> bool {
    !["hermes", "opencode", "openclaw"].contains(&execution.runtime.as_str())
}

/// Returns how the runs of a store ended, with what was said in each. Which run a line of several sessions is of may
/// follow from its time alone, and so may the names of the runs.
fn outcomes(store: &Store) -> Vec<String> {
    let mut runs: Vec<String> = roots(store)
        .into_iter()
        .map(|run| {
            let info = store.run(&run).unwrap();
            let summary = summarize(&store.tree_records(&run).unwrap()).unwrap();
            let error = info.error.map(|error| error.name);
            format!("{:?} {error:?} {:?}", info.status, summary.final_text)
        })
        .collect();
    runs.sort();
    runs
}

#[test]
fn a_wrong_clock_changes_no_outcome_and_makes_no_duration() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for execution in &in_fixtures() {
        let Some(right) = read(execution, None) else {
            continue;
        };
        let right = outcomes(&right);
        for (name, clock, may_last) in CLOCKS {
            let store = read(execution, Some(clock)).unwrap();
            count += 1;
            let ours = outcomes(&store);
            let mut faults = out_of_order(&store);
            let is_by_time = GO_BY_TIME.contains(&execution.runtime.as_str())
                && ["backwards", "four formats"].contains(&name);
            if ours != right && !is_by_time {
                faults.push(format!("{ours:?}\n   for {right:?}"));
            }
            for run in roots(&store) {
                let run = store.run(&run).unwrap();
                // A runtime that states how long it took has measured it.
                if run.duration_ms.is_some() && run.duration_ms == run.reported_duration_ms {
                    continue;
                }
                // Columns that cannot be empty keep the times that they have.
                let is_packed = execution.runtime.as_str() == "openclaw";
                let may_last = may_last || is_packed || (name == "none" && !is_of_lines(execution));
                if run
                    .duration_ms
                    .is_some_and(|took| !may_last || !(0..86_400_000).contains(&took))
                {
                    faults.push(format!("took {:?}", run.duration_ms));
                }
            }
            if !faults.is_empty() {
                let execution = format!("{}/{}", execution.runtime, execution.name);
                wrong.push(format!("{execution}, {name}\n   {}", faults.join("\n   ")));
            }
        }
    }
    println!("{count} histories with wrong clocks");
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(wrong.len(), 0, "histories with wrong clocks, see above");
}
