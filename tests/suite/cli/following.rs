//! Runs that go on, seen from another process.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

/// How long a busy machine may take for what takes no time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A script that prints a capture: some lines at once, others when files named `1`, `2`, … appear.
fn gated(runtape: &Runtape, name: &str, lines: &[&str]) -> String {
    let capture = capture();
    let parts = lines.iter().enumerate().map(|(gate, range)| {
        let file = runtape.path(&format!("{name}-{gate}"));
        let wait = format!("while [ ! -e '{}' ]; do sleep 0.02; done; ", file.display());
        let wait = if gate > 0 { wait } else { String::new() };
        format!("{wait}sed -n '{range}' '{}'\n", capture.display())
    });
    runtape.script(name, &parts.collect::<String>())
}

fn open_gate(runtape: &Runtape, name: &str, gate: usize) -> Instant {
    fs::write(runtape.path(&format!("{name}-{gate}")), "").unwrap();
    Instant::now()
}

fn record(runtape: &Runtape, arguments: &[&str], script: &str) -> Child {
    let begin = ["record", "--runtime", "claude-code", "--show", "none"];
    runtape
        .command(&[&begin, arguments, &["--", script]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// Waits until so many bytes of a run are on its tape.
fn until_printed(runtape: &Runtape, run: &str, bytes: usize) {
    until(|| {
        let shown = runtape.json(&["show", run]);
        let printed = shown.first()?["stdoutBytes"].as_u64()?;
        (printed >= bytes as u64).then_some(())
    });
}

fn length_of(lines: usize) -> usize {
    let text = fs::read_to_string(capture()).unwrap();
    let lines = text.split_inclusive('\n').take(lines);
    lines.map(str::len).sum()
}

fn follow(runtape: &Runtape, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut child = runtape
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn is_live(event: &Value) -> bool {
    let tag = event["type"].as_str().unwrap();
    tag.starts_with("stream") || tag.ends_with("StreamingReasoning")
}

/// The call is on the third line of the capture, its result on the fourth, the next step on the fifth.
#[test]
fn a_call_that_has_begun_is_seen_within_a_second() {
    let mut fastest = Duration::MAX;
    // A machine may have other things to do for a second: what it can do, it does in one of these.
    for round in 0..4 {
        let runtape = Runtape::new();
        let script = gated(&runtape, "claude", &["1,2p", "3p", "4,$p"]);
        let mut recorder = record(&runtape, &["--run-id", "seen"], &script);
        until_printed(&runtape, "seen", length_of(2));
        let (mut events, lines) = follow(&runtape, &["--json", "events", "seen", "--follow"]);
        let mut lines = lines.lines().map(|line| -> Value {
            let line = line.unwrap();
            serde_json::from_str(&line).unwrap()
        });
        let text = lines.find(|event| event["type"] == "startRun");
        assert!(text.is_some(), "what is there comes at once");
        let begun = open_gate(&runtape, "claude", 1);
        let call = lines.find(|event| event["type"] == "streamToolCall");
        let took = begun.elapsed();
        let call = call.unwrap();
        assert_eq!(call["toolName"], "Bash");
        assert_eq!(call["toolCallId"], "toolu_bash01");
        assert!(call["args"]["command"].is_string(), "{call}");
        open_gate(&runtape, "claude", 2);
        assert!(lines.any(|event| event["type"] == "completeRun"));
        assert!(events.wait().unwrap().success());
        assert!(recorder.wait().unwrap().success());
        fastest = fastest.min(took);
        if fastest < Duration::from_secs(1) {
            return;
        }
        eprintln!("round {round}: {took:?}");
    }
    panic!("it took {fastest:?}");
}

#[test]
fn what_goes_on_is_asked_for_like_what_is_over_and_counts_once() {
    let runtape = Runtape::new();
    let script = gated(&runtape, "claude", &["1,3p", "4p", "5,$p"]);
    let mut recorder = record(&runtape, &["--run-id", "open"], &script);
    until_printed(&runtape, "open", length_of(3));
    let calls = runtape.json(&["tools", "--calls"]);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0]["tool"], "Bash");
    assert_eq!(calls[0]["class"], "shell");
    assert_eq!(calls[0]["isRunning"], true);
    let table = stdout(&runtape.run(&["tools", "--calls"]));
    assert!(table.contains("running"), "{table}");
    let other = runtape.run(&["tools", "--calls", "--class", "read"]);
    assert_eq!(
        other.status.code(),
        Some(1),
        "a filter lets through what it names"
    );
    assert_eq!(runtape.json(&["commands"])[0]["isRunning"], true);
    let shown = &runtape.json(&["show", "open"])[0];
    assert_eq!(shown["openStep"]["step"], 1);
    assert_eq!(shown["openStep"]["text"], "Running it.");
    assert_eq!(shown["openStep"]["calls"][0]["isRunning"], true);
    let text = stdout(&runtape.run(&["show", "open"]));
    assert!(text.contains("running  for "), "{text}");
    assert!(text.contains("step 1, running for "), "{text}");
    assert!(text.contains("Running it."), "{text}");
    let transcript = stdout(&runtape.run(&["transcript", "open"]));
    assert!(
        transcript.contains("Running it.") && transcript.contains("Bash"),
        "{transcript}"
    );
    assert!(transcript.contains("… running for "), "{transcript}");
    open_gate(&runtape, "claude", 1);
    until_printed(&runtape, "open", length_of(4));
    let calls = runtape.json(&["tools", "--calls"]);
    assert_eq!(
        (calls.len(), &calls[0]["isError"]),
        (1, &Value::Bool(false))
    );
    assert_eq!(calls[0].get("isRunning"), None);
    open_gate(&runtape, "claude", 2);
    assert!(recorder.wait().unwrap().success());
    let calls = runtape.json(&["tools", "--calls"]);
    assert_eq!(calls.len(), 1, "stored, it is still one: {calls:?}");
    assert_eq!(runtape.json(&["show", "open"])[0].get("openStep"), None);
    assert!(runtape.run(&["verify"]).status.success());
}

#[test]
fn what_is_followed_says_what_the_record_says_and_nothing_twice() {
    let runtape = Runtape::new();
    let script = gated(&runtape, "claude", &["1,3p", "4,5p", "6,$p"]);
    let mut recorder = record(&runtape, &["--run-id", "twice"], &script);
    until_printed(&runtape, "twice", length_of(3));
    let (mut events, event_lines) = follow(&runtape, &["--json", "events", "twice", "--follow"]);
    let (mut records, record_lines) = follow(
        &runtape,
        &["--json", "events", "twice", "--follow", "--as", "records"],
    );
    let (mut transcript, transcript_lines) = follow(&runtape, &["transcript", "twice", "-f"]);
    // Some of it is read before the rest is there.
    std::thread::sleep(Duration::from_millis(400));
    open_gate(&runtape, "claude", 1);
    std::thread::sleep(Duration::from_millis(400));
    open_gate(&runtape, "claude", 2);
    assert!(recorder.wait().unwrap().success());
    let read = |lines: BufReader<ChildStdout>| -> Vec<Value> {
        let lines = lines.lines().map(Result::unwrap);
        lines
            .map(|line| serde_json::from_str(&line).unwrap())
            .collect()
    };
    let followed = read(event_lines);
    assert!(events.wait().unwrap().success());
    let ids: BTreeSet<&str> = followed.iter().map(|e| e["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), followed.len(), "no event comes twice");
    let place = |tag: &str| {
        followed
            .iter()
            .position(|event| event["type"] == tag)
            .unwrap()
    };
    assert!(place("streamToolCall") < place("callTools"));
    assert!(place("streamToolResult") < place("resolveToolResults"));
    let kept: Vec<Value> = followed
        .into_iter()
        .filter(|event| !is_live(event))
        .collect();
    assert_eq!(kept, runtape.json(&["events", "twice"]));
    let kept = runtape.json(&["events", "twice", "--as", "records"]);
    assert_eq!(read(record_lines), kept);
    assert!(records.wait().unwrap().success());
    let lines: Vec<String> = transcript_lines.lines().map(Result::unwrap).collect();
    assert!(transcript.wait().unwrap().success());
    let whole = stdout(&runtape.run(&["transcript", "twice"]));
    // How long a call took that does not say so follows from the times of two records.
    let is_end = |line: &str| line.trim_start().starts_with("└ done");
    let whole = whole.lines().map(|line| match line.split_once(", ") {
        Some((end, _)) if is_end(line) => end,
        _ => line,
    });
    assert_eq!(lines, whole.collect::<Vec<_>>());
}

#[test]
fn a_job_is_followed_until_its_last_run_has_ended() {
    let runtape = Runtape::new();
    let first = gated(&runtape, "claude", &["1,$p"]);
    let mut done = record(&runtape, &["--run-id", "first", "--job", "work"], &first);
    assert!(done.wait().unwrap().success());
    let second = gated(&runtape, "second", &["1,3p", "4,$p"]);
    let mut going = record(&runtape, &["--run-id", "second", "--job", "work"], &second);
    until_printed(&runtape, "second", length_of(3));
    let (mut transcript, lines) = follow(&runtape, &["transcript", "work", "--follow"]);
    let (mut entries, entry_lines) =
        follow(&runtape, &["--json", "transcript", "--job", "work", "-f"]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(
        transcript.try_wait().unwrap().is_none(),
        "a run of it goes on"
    );
    open_gate(&runtape, "second", 1);
    assert!(going.wait().unwrap().success());
    let text: Vec<String> = lines.lines().map(Result::unwrap).collect();
    assert!(transcript.wait().unwrap().success());
    let heads = text.iter().filter(|line| line.starts_with("run "));
    assert_eq!(heads.collect::<Vec<_>>(), ["run first", "run second"]);
    assert_eq!(text.iter().filter(|line| line.starts_with("✓ ")).count(), 2);
    let runs: BTreeSet<String> = entry_lines
        .lines()
        .map(|line| -> Value { serde_json::from_str(&line.unwrap()).unwrap() })
        .map(|entry| entry["runId"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        runs,
        BTreeSet::from(["first".to_owned(), "second".to_owned()])
    );
    assert!(entries.wait().unwrap().success());
}

#[test]
fn everything_is_followed_from_now_on() {
    let runtape = Runtape::new();
    let script = gated(&runtape, "claude", &["1,$p"]);
    let mut before = record(&runtape, &["--run-id", "before"], &script);
    assert!(before.wait().unwrap().success());
    let (mut events, lines) = follow(&runtape, &["--json", "events", "--all", "--follow"]);
    std::thread::sleep(Duration::from_millis(500));
    // It has to go on for long enough to be found while it does.
    let later = gated(&runtape, "later", &["1,3p", "4,$p"]);
    let mut later_recorder = record(&runtape, &["--run-id", "later"], &later);
    let mut lines = lines.lines().map(|line| -> Value {
        let line = line.unwrap();
        serde_json::from_str(&line).unwrap()
    });
    let call = lines
        .find(|event| event["type"] == "streamToolCall")
        .unwrap();
    assert_eq!(call["runId"], "later");
    open_gate(&runtape, "later", 1);
    assert!(later_recorder.wait().unwrap().success());
    let end = lines.find(|event| event["type"] == "completeRun").unwrap();
    assert_eq!(end["runId"], "later");
    // It would go on for ever.
    events.kill().unwrap();
    events.wait().unwrap();
}

#[test]
fn waiting_ends_with_the_verdict() {
    let runtape = Runtape::new();
    let script = gated(&runtape, "claude", &["1,3p", "4,$p"]);
    let arguments = ["--run-id", "awaited", "--job", "task"];
    let mut recorder = record(&runtape, &arguments, &script);
    until_printed(&runtape, "awaited", length_of(3));
    let output = runtape.run(&["wait", "awaited", "--timeout", "300ms"]);
    assert_eq!(output.status.code(), Some(124), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("awaited goes on"),
        "{}",
        stderr(&output)
    );
    let waiting = |name: &str| {
        runtape
            .command(&["wait", name])
            .stdout(Stdio::piped())
            .spawn()
    };
    let (run, job) = (waiting("awaited").unwrap(), waiting("task").unwrap());
    open_gate(&runtape, "claude", 1);
    assert!(recorder.wait().unwrap().success());
    for (waiting, line) in [
        (run, "run awaited: completed"),
        (job, "job task: completed, 1 run"),
    ] {
        let output = waiting.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(stdout(&output).trim_end(), line);
    }
    let failing = runtape.script("failing", "exit 3");
    record(&runtape, &["--run-id", "failed"], &failing)
        .wait()
        .unwrap();
    let output = runtape.run(&["wait", "failed"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("failed: NonZeroExit"),
        "{}",
        stdout(&output)
    );
    assert_eq!(runtape.json(&["wait", "failed"])[0]["runId"], "failed");
    let output = runtape.run(&["wait", "nothing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no run or job \"nothing\""),
        "{}",
        stderr(&output)
    );
}

#[test]
fn nobody_waits_for_a_run_whose_recorder_died() {
    let runtape = Runtape::new();
    let script = gated(&runtape, "claude", &["1,3p", "4,$p"]);
    let mut recorder = record(&runtape, &["--run-id", "lost"], &script);
    until_printed(&runtape, "lost", length_of(3));
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    for arguments in [
        &["wait", "lost"][..],
        &["transcript", "lost", "--follow"],
        &["events", "lost", "--follow"],
    ] {
        let output = runtape.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = stderr(&output);
        assert!(said.contains("the recorder of run lost died"), "{said}");
        assert!(said.contains("runtape recover"), "{said}");
    }
    let shown = stdout(&runtape.run(&["show", "lost"]));
    assert!(shown.contains("its recorder died"), "{shown}");
    assert!(shown.contains("step 1, not over"), "{shown}");
    let calls = runtape.json(&["tools", "--calls"]);
    assert_eq!((calls.len(), calls[0].get("isRunning")), (1, None));
    assert!(runtape.run(&["recover"]).status.success());
    assert_eq!(runtape.run(&["wait", "lost"]).status.code(), Some(1));
}
