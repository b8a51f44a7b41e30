//! `record`: scripts stand in for agent CLIs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness::{Runtape, capture, fixtures, stderr, stdout};

/// Time in which everything here is over, unless something hangs.
const SOON: Duration = Duration::from_secs(30);

fn report(runtape: &Runtape) -> Value {
    serde_json::from_slice(&fs::read(runtape.path("report.json")).unwrap()).unwrap()
}

/// Starts recording a script, and waits until it has printed its first line.
fn start(runtape: &Runtape, arguments: &[&str], script: &str) -> (Child, String) {
    let mut child = runtape
        .command(&[&["record", "--show", "raw"], arguments, &["--", script]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
    (child, line)
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

#[test]
fn a_capture_replayed_at_its_pace_is_kept_byte_for_byte() {
    let runtape = Runtape::new();
    let capture = fixtures().join("gemini/files.stream-json.stdout");
    let said = fs::read(capture.with_extension("stderr")).unwrap();
    assert!(!said.is_empty());
    let script = runtape.replayer("gemini", &capture, 5);
    let output = runtape.run(&["record", "--run-id", "both", "--", &script]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let printed = fs::read(&capture).unwrap();
    assert_eq!(runtape.run(&["raw", "both"]).stdout, printed);
    let kept = runtape.run(&["raw", "both", "--stream", "stderr"]).stdout;
    assert_eq!(kept, said);
    let shown = runtape.json(&["show", "both"]);
    assert_eq!(shown[0]["exit"]["code"], 5);
    assert!(runtape.run(&["verify"]).status.success());
}

#[test]
fn exit_codes_are_the_commands_or_the_runs() {
    let runtape = Runtape::new();
    let fails = runtape.script("claude", "echo no >&2; exit 7");
    let code = |arguments: &[&str]| runtape.run(arguments).status.code();
    assert_eq!(code(&["record", "--", &fails]), Some(7));
    let by_run = ["record", "--exit-status", "run", "--"];
    assert_eq!(code(&[&by_run[..], &[&fails]].concat()), Some(1));
    for (signal, expected) in [("KILL", 137), ("TERM", 143), ("SEGV", 139)] {
        let killed = runtape.script("gemini", &format!("kill -{signal} $$"));
        assert_eq!(code(&["record", "--", &killed]), Some(expected), "{signal}");
        let run = &runtape.json(&["runs", "--limit", "1"])[0];
        assert_eq!(run["error"]["name"], "KilledBySignal", "{run}");
    }
    // Some CLIs exit 0 though they failed, and some fail after they succeeded.
    let capture = fixtures().join("claude-code/max-turns.stream-json.stdout");
    let lies = runtape.replayer("claude", &capture, 0);
    assert_eq!(code(&["record", "--", &lies]), Some(0));
    assert_eq!(code(&[&by_run[..], &[&lies]].concat()), Some(1));
    let honest = runtape.replayer("claude", &self::capture(), 3);
    assert_eq!(code(&[&by_run[..], &[&honest]].concat()), Some(0));
}

#[test]
fn a_command_that_cannot_be_started_is_a_clear_error_and_no_run() {
    let runtape = Runtape::new();
    let output = runtape.run(&["record", "--runtime", "hermes", "--", "/no/such/program"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("cannot start \"/no/such/program\""), "{said}");
    assert!(said.contains("hint: is it installed"), "{said}");
    let file = runtape.path("claude");
    fs::write(&file, "not executable").unwrap();
    let output = runtape.run(&["record", "--", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("ermission denied"),
        "{}",
        stderr(&output)
    );
    assert!(runtape.json(&["runs"]).is_empty());
}

#[test]
fn a_time_out_ends_even_what_does_not_listen() {
    let runtape = Runtape::new();
    let deaf = "trap '' TERM; echo started; while :; do sleep 1; done";
    let obedient = "trap 'echo bye; exit 9' TERM; echo started; while :; do sleep 0.1; done";
    for (body, code, grace) in [(deaf, 137, "500ms"), (obedient, 9, "30s")] {
        let script = runtape.script("claude", body);
        let path = runtape.path("report.json");
        let begin = Instant::now();
        let options = ["record", "--timeout", "500ms", "--grace", grace, "--report"];
        let output =
            runtape.run(&[&options[..], &[path.to_str().unwrap(), "--", &script]].concat());
        assert!(begin.elapsed() < SOON);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let report = report(&runtape);
        assert_eq!(report["error"]["name"], "TimedOut");
        assert_eq!(report["outcome"], "failed");
        assert_eq!(report["error"]["family"], "process");
        assert_eq!(report["exit"]["timedOut"], true);
        assert_eq!(
            (&report["isStored"], &report["lostBytes"]),
            (&true.into(), &0.into())
        );
    }
    // What it still said when it was asked to end is kept.
    assert_eq!(stdout(&runtape.run(&["raw", "last"])), "started\nbye\n");
}

#[test]
fn a_time_out_ends_what_the_command_started_too() {
    let runtape = Runtape::new();
    let marker = runtape.path("still-alive");
    let body = format!(
        "(sleep 3; touch '{}') & echo started; wait",
        marker.display()
    );
    let script = runtape.script("claude", &body);
    runtape.run(&[
        "record",
        "--timeout",
        "300ms",
        "--grace",
        "300ms",
        "--",
        &script,
    ]);
    std::thread::sleep(Duration::from_secs(4));
    assert!(!marker.exists());
}

#[test]
fn grandchildren_that_keep_the_pipe_open_are_waited_for_as_long_as_the_grace_period() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "echo done; sleep 60 & exit 0");
    let begin = Instant::now();
    let output = runtape.run(&["record", "--grace", "300ms", "--", &script]);
    assert!(output.status.success());
    assert!(begin.elapsed() < SOON);
    // One that is done in time is heard to its end, and not waited for any longer.
    let script = runtape.script("claude", "echo first; (sleep 0.5; echo second) & exit 0");
    let begin = Instant::now();
    let output = runtape.run(&["record", "--grace", "60s", "--", &script]);
    assert!(output.status.success());
    assert!(begin.elapsed() < SOON);
    assert_eq!(stdout(&runtape.run(&["raw", "last"])), "first\nsecond\n");
}

#[test]
fn an_interrupt_is_passed_on_and_the_run_closed_truthfully() {
    for (sent, name, code) in [
        (Signal::SIGINT, "SIGINT", 130),
        (Signal::SIGTERM, "SIGTERM", 143),
        (Signal::SIGHUP, "SIGHUP", 129),
    ] {
        let runtape = Runtape::new();
        let script = runtape.script("claude", "echo started; exec sleep 60");
        let (child, line) = start(&runtape, &[], &script);
        assert_eq!(line, "started\n");
        signal(&child, sent);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let shown = &runtape.json(&["show", "last"])[0];
        assert_eq!(shown["status"], "stoppedByError");
        assert_eq!(shown["error"]["name"], "KilledBySignal");
        assert_eq!(shown["exit"]["signal"], name);
        assert!(shown["seal"].is_u64());
    }
}

#[test]
fn a_command_that_ends_well_after_an_interrupt_is_believed() {
    let runtape = Runtape::new();
    let body = format!(
        "trap 'cat {}; exit 0' INT; echo; while :; do sleep 0.1; done",
        capture().display()
    );
    let script = runtape.script("claude", &body);
    let (child, _) = start(&runtape, &[], &script);
    signal(&child, Signal::SIGINT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(runtape.json(&["runs"])[0]["status"], "completed");
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
    let bytes = b"hello\x1b[0m\0\xff\xfe no line break at the end";
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, bytes);
    assert!(output.stderr.starts_with(b"\x1b[31mred"));
    assert_eq!(runtape.run(&["raw", "last"]).stdout, bytes);
}

#[test]
fn what_is_shown_is_readable_harmless_or_nothing() {
    let runtape = Runtape::new();
    let script = runtape.replayer("claude", &capture(), 0);
    let output = runtape.run(&["record", "--run-id", "shown", "--", &script]);
    assert!(stdout(&output).contains("┌ Bash"), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(said.contains("run shown: completed, 2 steps"), "{said}");
    let said = said
        .lines()
        .filter(|line| !line.starts_with("new database"));
    assert_eq!(said.count(), 1);
    let output = runtape.run(&["record", "--show", "none", "--", &script]);
    assert!(output.stdout.is_empty());
    let script = runtape.script("claude", "printf 'a\\033[2Jb\\n'");
    let output = runtape.run(&["record", "--", &script]);
    assert!(stdout(&output).contains("a␛[2Jb"), "{}", stdout(&output));
}

#[test]
fn the_report_tells_what_an_orchestrator_needs() {
    let runtape = Runtape::new();
    let path = runtape.path("report.json");
    let script = runtape.replayer("claude", &capture(), 0);
    let options = [
        "record",
        "--run-id",
        "r1",
        "--job",
        "j1",
        "--expert",
        "coder@1.2.3",
    ];
    let report_to = ["--report", path.to_str().unwrap(), "--", &script];
    assert!(
        runtape
            .run(&[&options[..], &report_to].concat())
            .status
            .success()
    );
    let report = report(&runtape);
    assert_eq!(
        (&report["runId"], &report["jobId"]),
        (&"r1".into(), &"j1".into())
    );
    assert_eq!(report["runtime"], "claude-code");
    assert_eq!(report["status"], "completed");
    assert_eq!(report["finalText"], "It printed two lines.");
    assert!(report["sessionId"].is_string() && report["usage"]["inputTokens"].is_u64());
    assert!(report["costUsd"].is_f64() && report["error"].is_null());
    assert_eq!(runtape.json(&["runs"])[0]["expertKey"], "coder@1.2.3");
    // A second run of the same id is refused before anything is started.
    let output = runtape.run(&["record", "--run-id", "r1", "--", &script]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is a run r1 already"));
}

/// Returns the most memory that a process ever had, in MiB.
#[cfg(target_os = "linux")]
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_message_of_any_length_takes_bounded_memory_and_is_kept_whole() {
    use runtape_store::{Options, Store};
    const LENGTH: usize = 72 << 20;
    let runtape = Runtape::new();
    // No two lines alike, so that compressing does not hide what is held.
    let line = |number: usize| format!("{:x} words of a long answer\n", number * 2_654_435_761);
    let mut text: String = (0..).map(line).take(LENGTH / 35).collect();
    text.push_str("The end.\n");
    let long = runtape.path("long.txt");
    fs::write(&long, &text).unwrap();
    let script = runtape.waiting(&format!("cat '{}'", long.display()), "exit 0");
    let child = runtape
        .command(&[
            "record", "--show", "none", "--run-id", "long", "--", &script,
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let kept = || {
        let store = Store::open(runtape.path("runtape.db"), &Options::read_only()).ok()?;
        let lengths = store.tape_lengths(&"long".parse().unwrap()).ok()?;
        Some(lengths.total())
    };
    while kept() != Some(text.len() as u64) {
        assert!(begin.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(50));
    }
    let peak = peak_memory(child.id());
    fs::write(runtape.path("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    println!(
        "peak memory for one message of {} MiB: {peak} MiB",
        text.len() >> 20
    );
    // What one record may hold (32 MiB) a few times: as text, as JSON, compressed, and the next.
    assert!(peak < 280, "{peak} MiB");
    let printed = runtape.run(&["raw", "long"]).stdout;
    assert!(
        printed == text.as_bytes(),
        "the tape is not what was printed"
    );
    let said = &runtape.json(&["checkpoint", "long"])[0]["messages"];
    let parts = said.as_array().unwrap().iter();
    let parts = parts.flat_map(|message| message["contents"].as_array().unwrap());
    let said: String = parts.map(|part| part["text"].as_str().unwrap()).collect();
    assert!(
        said == text.trim_end(),
        "the message is not what was printed"
    );
}
