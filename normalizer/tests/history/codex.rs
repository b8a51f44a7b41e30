//! codex's histories.

use std::path::PathBuf;

use runtape_core::Runtime;
use runtape_tests::recorded_histories::{PairRules, ReadRun, compare, histories, report, truth_of};
use serde_json::{Value, json};

use crate::home::{FoundRun, Home};

/// Calls have the names that the output has for them, where it shows them at all.
fn call(truth: &Value) -> (String, Option<Value>) {
    let name = truth["name"].as_str().unwrap();
    let arguments = truth["arguments"].clone();
    match (name, truth["namespace"].as_str()) {
        (name, Some(namespace)) => (format!("{namespace}__{name}"), Some(arguments)),
        ("exec_command", _) => {
            let command = arguments["cmd"].as_str().unwrap();
            let quote = if command.contains(' ') { "'" } else { "" };
            let command = format!("/bin/bash -lc {quote}{command}{quote}");
            (
                "command_execution".to_owned(),
                Some(json!({ "command": command })),
            )
        }
        ("apply_patch", _) if truth["is_error"] == false => ("file_change".to_owned(), None),
        ("apply_patch", _) => (name.to_owned(), Some(json!({ "input": arguments }))),
        _ => (name.to_owned(), Some(arguments)),
    }
}

/// The model is told the same as the output shows, after a few lines of the CLI's own.
fn result(truth: &Value) -> Option<String> {
    let result = truth["result"].as_str()?;
    if let Ok(Value::Array(blocks)) = serde_json::from_str(result) {
        return Some(blocks.last()?["text"].as_str()?.to_owned());
    }
    let output = result.split_once("\nOutput:\n");
    Some(output.map_or(result, |(_, output)| output).to_owned())
}

const RULES: PairRules = PairRules {
    call,
    result,
    knows_runs: true,
};

fn read(run: FoundRun) -> ReadRun {
    let segment = run.segment;
    ReadRun {
        prompt: segment.prompt,
        calls: segment.calls,
        last_text: segment.last_text,
        is_resumed: segment.is_resumed,
        started_at: segment.started_at,
        last_at: segment.last_at,
        summary: run.summary,
    }
}

/// Returns the histories of one process, with what it printed beside its rollout.
fn single() -> impl Iterator<Item = PathBuf> {
    let paths = histories("codex").into_iter();
    paths.filter(|path| path.join("run.meta.json").exists())
}

#[test]
fn every_history_has_what_really_happened() {
    let mut compared = Vec::new();
    for path in single() {
        let meta = truth_of(&path);
        let home = Home::read(Runtime::Codex, &path.join("home/.codex"));
        let found = home.runs();
        let are_over = found.iter().all(|run| run.segment.is_over);
        let runs: Vec<ReadRun> = found.into_iter().map(read).collect();
        let mut faults = compare(&RULES, &meta, &runs);
        if !are_over {
            faults.push("a segment is not over".to_owned());
        }
        for run in &runs {
            let version = run.summary.cli_version.as_deref();
            let is_known = version == meta["cli_version"].as_str()
                && run.summary.model.is_some()
                && run.summary.cwd.as_deref() == Some("/mnt/ws");
            if !is_known {
                faults.push(format!("version, model, cwd: {:?}", run.summary));
            }
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    report("codex", &compared);
}

#[test]
fn nothing_in_a_history_is_unknown() {
    for path in histories("codex") {
        for run in Home::read(Runtime::Codex, &path.join("home/.codex")).runs() {
            assert_eq!(run.segment.unreadable, 0, "{path:?}");
            let records = serde_json::to_string(&run.records).unwrap();
            assert!(!records.contains("unknownKeys"), "{path:?}: {records}");
        }
    }
}

#[test]
fn a_copy_of_the_directory_gives_the_same_runs() {
    for path in histories("codex") {
        let home = Home::read(Runtime::Codex, &path.join("home/.codex"));
        let mut doubled = home.clone();
        for (name, bytes) in &home.files {
            let copy = name.replace("sessions/", "copies/sessions/");
            doubled.files.insert(copy, bytes.clone());
        }
        let (once, twice) = (home.runs(), doubled.runs());
        assert_eq!(once.len(), twice.len());
        for (one, other) in once.iter().zip(&twice) {
            assert_eq!(one.records, other.records);
            assert_eq!(one.segment.responses, other.segment.responses);
        }
    }
}

#[test]
fn a_rollout_that_was_cut_gives_the_beginning_of_what_the_whole_gives() {
    for path in single() {
        let home = Home::read(Runtime::Codex, &path.join("home/.codex"));
        let whole = home.runs();
        let lines = |home: &Home| {
            let bytes = home.files.values().next().unwrap();
            bytes
                .split_inclusive(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        let all = lines(&home);
        for count in 0..all.len() {
            let mut cut = home.clone();
            for bytes in cut.files.values_mut() {
                *bytes = all[..count].concat();
            }
            for (run, whole) in cut.runs().iter().zip(&whole) {
                assert_eq!(run.segment.key, whole.segment.key);
                assert!(whole.segment.responses.starts_with(&run.segment.responses));
                assert!(whole.segment.lines.starts_with(&run.segment.lines));
                assert!(run.summary.texts.len() <= whole.summary.texts.len());
            }
        }
    }
}
