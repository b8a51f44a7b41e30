//! The recorder's clock decides when a run began, when it ended and how long it took.

use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use runtape_core::report::RunInfo;
use serde_json::Value;

use crate::harness::{Runtape, fixtures, stderr};

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// What a run says of its times, and what the clock said around it.
struct Recorded {
    run: Value,
    before: i64,
    after: i64,
}

fn record(runtape: &Runtape, options: &[&str], command: &[&str]) -> Recorded {
    let before = now();
    let output = runtape.run(&[&["record"], options, &["--"], command].concat());
    let after = now();
    let runs = runtape.json(&["runs", "--limit", "1"]);
    assert!(!runs.is_empty(), "{}", stderr(&output));
    Recorded {
        run: runs[0].clone(),
        before,
        after,
    }
}

impl Recorded {
    /// The run took about as long as its process slept, and its times are the clock's.
    fn took_at_least(&self, ms: i64, name: &str) {
        let Self { run, before, after } = self;
        let info: RunInfo = serde_json::from_value(run.clone()).unwrap();
        let (started, finished) = (info.started_at, info.finished_at.unwrap());
        assert!(started >= *before, "{name}: {run}");
        assert!(finished <= *after, "{name}: {run}");
        let took = run["durationMs"].as_i64().unwrap();
        assert_eq!(took, finished - started, "{name}: {run}");
        assert!(took >= ms, "{name}: {run}");
    }
}

#[test]
fn a_run_takes_as_long_as_its_process_whatever_it_prints_and_when() {
    let runtape = Runtape::new();
    let table = [
        ("text", "bash-ok.text.stdout", None),
        ("json", "bash-ok.json.stdout", Some("duration_ms")),
        (
            "stream-json",
            "bash-ok.stream-json.stdout",
            Some("duration_ms"),
        ),
    ];
    for (format, capture, reported) in table {
        let capture = fixtures().join("claude-code").join(capture);
        let body = format!("sleep 0.6; cat '{}'; sleep 0.3", capture.display());
        let script = runtape.script("claude", &body);
        let command = [&*script, "-p", "Hi", "--output-format", format];
        let recorded = record(&runtape, &[], &command);
        recorded.took_at_least(900, format);
        let run = &recorded.run;
        assert_eq!(run["status"], "completed", "{run}");
        // What the agent says of it is kept beside it.
        assert_eq!(
            run["reportedDurationMs"].is_number(),
            reported.is_some(),
            "{run}"
        );
        assert_ne!(run["reportedDurationMs"], run["durationMs"], "{run}");
    }
    let report = runtape.run(&["renormalize", "--all"]);
    assert!(report.status.success(), "{}", stderr(&report));
    let verified = runtape.run(&["verify"]);
    assert!(verified.status.success(), "{}", stderr(&verified));
}

#[test]
fn a_run_that_was_killed_or_timed_out_has_a_duration() {
    let runtape = Runtape::new();
    let silent = runtape.script("claude", "sleep 0.4; kill -9 $$");
    let killed = record(&runtape, &[], &[&silent]);
    killed.took_at_least(400, "killed");
    assert_eq!(killed.run["error"]["name"], "KilledBySignal");
    let endless = runtape.script("gemini", "echo begun; while :; do sleep 0.1; done");
    let late = record(&runtape, &["--timeout", "500ms"], &[&endless]);
    late.took_at_least(500, "timed out");
    assert_eq!(late.run["error"]["name"], "TimedOut");
}

#[test]
fn the_start_that_an_open_run_shows_is_the_one_it_keeps() {
    let runtape = Runtape::new();
    let script = runtape.waiting("echo 'not yet' >&2; sleep 0.2", "echo Done.");
    let mut child = runtape
        .command(&["record", "--run-id", "one", "--", &script, "-p", "Hi"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let open = loop {
        let runs = runtape.json(&["runs"]);
        if let Some(run) = runs.first().filter(|run| run["records"] != 0) {
            break run.clone();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "it is not there");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(open["finishedAt"], Value::Null);
    std::thread::sleep(Duration::from_millis(100));
    std::fs::write(runtape.path("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    let ended = &runtape.json(&["runs"])[0];
    assert_eq!(ended["startedAt"], open["startedAt"]);
    assert!(ended["durationMs"].as_i64().unwrap() >= 100, "{ended}");
}

#[test]
fn what_is_ingested_claims_no_clock() {
    let runtape = Runtape::new();
    let capture = fixtures().join("claude-code/bash-ok.json.stdout");
    runtape.run(&["ingest", capture.to_str().unwrap()]);
    let run = &runtape.json(&["runs"])[0];
    assert!(run["reportedDurationMs"].is_number(), "{run}");
    assert_eq!(run["durationMs"], run["reportedDurationMs"]);
}
