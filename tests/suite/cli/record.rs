//! `record`: scripts stand in for agent CLIs.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

fn without_ids(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            // `results` holds how long calls took, which a file does not tell.
            let dropped = ["id", "runId", "at", "seq", "timestamp", "results"];
            fields.retain(|key, _| !dropped.contains(&key.as_str()));
            fields
                .values_mut()
                .for_each(|value| *value = without_ids(value.take()));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = without_ids(item.take())),
        _ => {}
    }
    value
}

#[test]
fn live_from_a_file_and_normalized_give_the_same_records() {
    let runtape = Runtape::new();
    let capture = capture();
    let capture = capture.to_str().unwrap();
    let body = format!(
        "while IFS= read -r line; do printf '%s\\n' \"$line\"; sleep 0.01; done < {capture}"
    );
    let script = runtape.script("claude", &body);
    let output = runtape.run(&["record", "--run-id", "live", "--", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("┌ Bash"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("run live: completed, 2 steps"),
        "{}",
        stderr(&output)
    );
    let file = runtape.path("copy");
    fs::copy(capture, &file).unwrap();
    let stored = runtape.json(&["ingest", "--exit-code", "0", file.to_str().unwrap()]);
    let id = stored[0]["run"]["runId"].as_str().unwrap();
    let piped = runtape.json(&["normalize", "--as", "records", "--exit-code", "0", capture]);
    // Ids and times differ, and only the live run knows what it was asked for.
    let plain = |records: Vec<Value>| -> Vec<Value> {
        let messages = records
            .into_iter()
            .filter(|record| record["type"] == "message");
        let is_user = |message: &Value| message["message"]["type"] == "userMessage";
        let spoken = messages.filter(|message| !is_user(message));
        spoken.map(without_ids).collect()
    };
    let live = plain(runtape.json(&["events", "live", "--as", "records"]));
    assert!(!live.is_empty());
    assert_eq!(
        live,
        plain(runtape.json(&["events", id, "--as", "records"]))
    );
    assert_eq!(live, plain(piped));
}

#[test]
fn exit_codes_are_the_commands_or_the_runs() {
    let runtape = Runtape::new();
    let fails = runtape.script("claude", "echo no >&2; exit 7");
    assert_eq!(
        runtape.run(&["record", "--", &fails]).status.code(),
        Some(7)
    );
    let output = runtape.run(&["record", "--exit-status", "run", "--", &fails]);
    assert_eq!(output.status.code(), Some(1));
    let killed = runtape.script("gemini", "kill -9 $$");
    assert_eq!(
        runtape.run(&["record", "--", &killed]).status.code(),
        Some(137)
    );
    let output = runtape.run(&["record", "--runtime", "hermes", "--", "/no/such/program"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("cannot start"),
        "{}",
        stderr(&output)
    );
    assert_eq!(runtape.json(&["runs"]).len(), 3);
}

#[test]
fn a_time_out_ends_even_what_does_not_listen() {
    let runtape = Runtape::new();
    let script = runtape.script(
        "claude",
        "trap '' TERM; echo started; while :; do sleep 1; done",
    );
    let report = runtape.path("report.json");
    let report_path = report.to_str().unwrap();
    let begin = Instant::now();
    let output = runtape.run(&[
        "record",
        "--timeout",
        "500ms",
        "--grace",
        "500ms",
        "--report",
        report_path,
        "--",
        &script,
    ]);
    assert!(begin.elapsed() < Duration::from_secs(15));
    assert_eq!(output.status.code(), Some(137));
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!(report["error"]["name"], "TimedOut");
    assert_eq!(
        (&report["exit"]["timedOut"], &report["isStored"]),
        (&true.into(), &true.into())
    );
}

#[test]
fn grandchildren_that_keep_the_pipe_open_are_not_waited_for_without_end() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "echo done; sleep 60 & exit 0");
    let begin = Instant::now();
    let output = runtape.run(&["record", "--grace", "300ms", "--", &script]);
    assert!(output.status.success());
    assert!(begin.elapsed() < Duration::from_secs(15));
}

#[test]
fn standard_input_is_passed_through_and_raw_output_untouched() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "cat; printf '\\033[31mred' >&2");
    let mut child = runtape
        .command(&["record", "--show", "raw", "--", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"hello\x1b[0m")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"hello\x1b[0m");
    assert!(output.stderr.starts_with(b"\x1b[31mred"));
}

#[test]
fn what_cannot_be_stored_is_spooled_and_recovered() {
    let runtape = Runtape::new();
    let broken = runtape.path("broken.db");
    fs::write(
        &broken,
        "this is no database, but long enough to be taken for one",
    )
    .unwrap();
    let script = runtape.script("claude", &format!("cat {}", capture().display()));
    let output = runtape.run(&["record", "--db", broken.to_str().unwrap(), "--", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("┌ Bash") && stderr(&output).contains("`runtape recover`"));
    assert!(runtape.run(&["recover"]).status.success());
    let runs = runtape.json(&["runs"]);
    assert_eq!((runs.len(), &runs[0]["status"]), (1, &"completed".into()));
    assert!(runtape.run(&["verify"]).status.success());
}
