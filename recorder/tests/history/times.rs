//! The times of runs that are known from session files: in order, and as the files have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::report::RunInfo;
use runtape_core::{Record, RecordKind, RunId};
use runtape_normalizer::times::iso_millis;
use runtape_recorder::history::Joiner;
use runtape_store::Store;

use crate::executions::{Execution, NOW, all, roots};

fn fresh() -> Store {
    Store::open_in_memory().unwrap()
}

/// Returns what is wrong with the times of all runs of a store.
pub(crate) fn out_of_order(store: &Store) -> Vec<String> {
    let mut faults = Vec::new();
    for root in roots(store) {
        let mut by_run: BTreeMap<RunId, Vec<Record>> = BTreeMap::new();
        for record in store.tree_records(&root).unwrap() {
            by_run
                .entry(record.run_id.clone())
                .or_default()
                .push(record);
        }
        let root_end = store.run(&root).unwrap().finished_at;
        for (run, records) in by_run {
            let info = store.run(&run).unwrap();
            let last = records.last().unwrap();
            let is_over = info.status.is_terminal();
            if is_over && (info.finished_at != Some(last.at) || last.terminal().is_none()) {
                faults.push(format!(
                    "{run}: ended {:?}, last {}",
                    info.finished_at, last.at
                ));
            }
            let end = info.finished_at.unwrap_or(i64::MAX);
            let is_inside = |record: &Record| (info.started_at..=end).contains(&record.at);
            if let Some(record) = records.iter().find(|record| !is_inside(record)) {
                let (begin, seq, at) = (info.started_at, record.seq, record.at);
                faults.push(format!("{run}: {seq} at {at} is not in {begin}..={end}"));
            }
            if root_end.is_some_and(|root_end| end > root_end) {
                faults.push(format!("{run}: ended at {end}, its parent at {root_end:?}"));
            }
        }
    }
    let report = store.verify().unwrap();
    faults.extend(report.faults.iter().map(|fault| format!("{fault:?}")));
    faults
}

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

/// Returns the latest `timestamp` in files of lines; none for databases.
fn last_line_at(execution: &Execution) -> Option<i64> {
    let mut paths = Vec::new();
    files(&execution.history, &mut paths);
    let mut latest = None;
    for path in paths {
        let is_of_lines = path.extension().is_some_and(|ending| ending == "jsonl");
        if !is_of_lines || path.to_str().unwrap().contains("run.") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<serde_json::Value>(line) else {
                continue;
            };
            latest = latest.max(line["timestamp"].as_str().and_then(iso_millis));
        }
    }
    latest
}

fn all_runs(store: &Store) -> Vec<RunInfo> {
    let roots = roots(store);
    roots.iter().map(|run| store.run(run).unwrap()).collect()
}

#[test]
fn times_are_in_order_alone_and_joined_in_either_order() {
    let mut wrong = Vec::new();
    let (mut counted, mut measured) = (0, 0);
    for execution in &all() {
        let name = format!("{}/{}", execution.runtime, execution.name);
        let mut faults = Vec::new();
        let mut history = fresh();
        execution.sync(&mut history);
        faults.extend(out_of_order(&history));
        for run in all_runs(&history) {
            counted += 1;
            let records = history.tree_records(&run.run_id).unwrap();
            let has_two = records.iter().any(|record| record.at != run.started_at);
            if has_two && run.duration_ms.is_none() {
                faults.push(format!("{} has no duration", run.run_id));
            }
            measured += u64::from(run.duration_ms.is_some());
            let end = run.finished_at.unwrap();
            if run
                .duration_ms
                .is_some_and(|took| took != end - run.started_at)
            {
                let (took, begin) = (run.duration_ms, run.started_at);
                faults.push(format!("{begin} to {end} took {took:?}"));
            }
            let mut patches = records.iter().filter_map(|record| match &record.kind {
                RecordKind::Metadata(patch) => patch.set.time_source(),
                _ => None,
            });
            if !patches.any(|source| source == "history") {
                faults.push(format!("{}: no source of its times", run.run_id));
            }
        }
        let ends = all_runs(&history)
            .iter()
            .filter_map(|run| run.finished_at)
            .max();
        let last = last_line_at(execution);
        // Lines of the CLI's own state, which belong to no run, may come a moment before or after.
        let is_near = |(last, end): (i64, i64)| (last - end).abs() < 1000;
        if last.is_some() && !last.zip(ends).is_some_and(is_near) {
            faults.push(format!(
                "the last line is of {last:?}, the last end {ends:?}"
            ));
        }
        if !execution.printed.is_empty() {
            let mut printed_first = fresh();
            let recorded = execution.ingest(&mut printed_first);
            faults.extend(out_of_order(&printed_first));
            execution.sync(&mut printed_first);
            let mut history_first = history;
            execution.ingest(&mut history_first);
            let mut joiner = Joiner::default();
            for run in &recorded {
                joiner.join(&mut history_first, run, NOW).unwrap();
            }
            for store in [&printed_first, &history_first] {
                faults.extend(out_of_order(store));
                for run in recorded.iter().map(|run| store.run(run).unwrap()) {
                    let context = store.begin_of(&run.run_id).unwrap().context;
                    // The time of the ingest is long after the last line.
                    if context["source"] == "both" && ends.is_some() && run.finished_at > ends {
                        let at = run.finished_at;
                        faults.push(format!("{} ended at {at:?}, not {ends:?}", run.run_id));
                    }
                }
            }
        }
        if !faults.is_empty() {
            wrong.push(format!("{name}\n      {}", faults.join("\n      ")));
        }
    }
    println!("{counted} runs from history, {measured} with a duration");
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(
        wrong.len(),
        0,
        "histories with times out of order, see above"
    );
}

/// Returns what was said in a run and its children, and all that counts.
fn told(store: &Store, run: &RunInfo) -> String {
    let mut told = format!("{} {:?}", run.started_at, run.cost.reported());
    for run in store.tree(&run.run_id).unwrap() {
        write!(told, "\n   {} {:?}", run.run_id, run.usage).unwrap();
        // A total is booked when a run ends, and so may stand before or after what was said last.
        let mut lines = Vec::new();
        for record in store.records(&run.run_id, 0, usize::MAX >> 1).unwrap() {
            match record.kind {
                RecordKind::Message(message) => {
                    let mut message = message.message;
                    // When a prompt was asked that is known before its line depends on what comes next.
                    message.set_timestamp(0);
                    let message = serde_json::to_string(&message).unwrap();
                    lines.push(message);
                }
                RecordKind::Usage(entry) => lines.push(format!("{entry:?}")),
                _ => {}
            }
        }
        lines.sort_unstable();
        write!(told, "\n   {}", lines.join("\n   ")).unwrap();
    }
    told
}

#[test]
fn what_a_file_holds_counts_at_once() {
    let mut wrong = Vec::new();
    let mut open = BTreeMap::new();
    for execution in &all() {
        let mut later = fresh();
        execution.sync(&mut later);
        let Some(last) = all_runs(&later)
            .iter()
            .filter_map(|run| run.finished_at)
            .max()
        else {
            continue;
        };
        let mut store = fresh();
        execution.sync_at(&mut store, last + 60_000);
        let (now, then) = (all_runs(&store), all_runs(&later));
        assert_eq!(now.len(), then.len(), "{}", execution.name);
        for (now, then) in now.iter().zip(&then) {
            *open.entry(execution.runtime.to_string()).or_insert(0) +=
                u64::from(!now.status.is_terminal());
            let (one, other) = (told(&store, now), told(&later, then));
            if one != other {
                let name = &execution.name;
                wrong.push(format!(
                    "{}/{name}\n   {one}\n   {other}",
                    execution.runtime
                ));
            }
        }
        assert!(store.verify().unwrap().is_intact());
        execution.sync_at(&mut store, NOW);
        for run in &then {
            let one = store.tree_records(&run.run_id).unwrap();
            let other = later.tree_records(&run.run_id).unwrap();
            assert_eq!(one, other, "{}", execution.name);
        }
    }
    println!("open runs: {open:?}");
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(
        wrong.len(),
        0,
        "sessions of which not all counts, see above"
    );
    assert!(open.values().sum::<u64>() > 0, "none was open");
}

/// Copies a history with only a part of the lines of each file of lines.
fn cut_to(execution: &Execution, quarters: usize) -> Option<(tempfile::TempDir, Execution)> {
    let directory = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    files(&execution.history, &mut all);
    let mut is_cut = false;
    for path in all {
        let target = directory
            .path()
            .join(path.strip_prefix(&execution.history).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            fs::write(target, lines[..lines.len() * quarters / 4].concat()).unwrap();
            is_cut = true;
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
    let execution = Execution {
        runtime: execution.runtime.clone(),
        name: format!("{} {quarters}/4", execution.name),
        history: directory.path().to_path_buf(),
        printed: Vec::new(),
    };
    is_cut.then_some((directory, execution))
}

#[test]
fn what_half_a_file_holds_counts_at_once() {
    let mut open = BTreeMap::new();
    for execution in &all() {
        for quarters in 1..4 {
            let Some((_directory, execution)) = cut_to(execution, quarters) else {
                continue;
            };
            let mut later = fresh();
            execution.sync(&mut later);
            let then = all_runs(&later);
            let Some(last) = then.iter().filter_map(|run| run.finished_at).max() else {
                continue;
            };
            let mut store = fresh();
            execution.sync_at(&mut store, last + 60_000);
            for (now, then) in all_runs(&store).iter().zip(&then) {
                *open.entry(execution.runtime.to_string()).or_insert(0) +=
                    u64::from(!now.status.is_terminal());
                let (one, other) = (told(&store, now), told(&later, then));
                assert!(
                    one == other,
                    "{}: {}\n{one}\n{other}",
                    execution.runtime,
                    execution.name
                );
            }
            assert!(store.verify().unwrap().is_intact(), "{}", execution.name);
        }
    }
    println!("open runs: {open:?}");
    for runtime in ["claude-code", "codex", "gemini"] {
        assert!(open[runtime] > 0, "none of {runtime} was open");
    }
}
