//! The real binary, end to end: every command on all fixtures, for people and for programs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A database of its own, and the binary to work on it.
struct Runtape {
    directory: TempDir,
}

impl Runtape {
    fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    /// A database with every fixture.
    fn with_fixtures() -> Self {
        let runtape = Self::new();
        let output = runtape.run(&["ingest", fixtures().to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        runtape
    }

    /// The same, with a copy of one capture that is certainly the last run: its file is new.
    fn with_a_last_run() -> Self {
        let runtape = Self::with_fixtures();
        let copy = runtape.path("last.stdout");
        fs::write(&copy, fs::read(capture()).unwrap()).unwrap();
        let output = runtape.run(&["ingest", "--exit-code", "0", copy.to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        runtape
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runtape"));
        command
            .args(arguments)
            .env("RUNTAPE_DB", self.path("runtape.db"))
            .env("RUNTAPE_SPOOL", self.directory.path())
            .env("COLUMNS", "100")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(&[&["--json"], arguments].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let values = text.lines().map(|line| serde_json::from_str(line).unwrap());
        values.collect()
    }

    /// Makes a script that stands in for an agent CLI.
    #[cfg(unix)]
    fn script(&self, name: &str, body: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

fn capture() -> PathBuf {
    fixtures().join("claude-code/bash-ok.stream-json.stdout")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_command_answers_people_and_programs() {
    let runtape = Runtape::with_a_last_run();
    let commands: &[&[&str]] = &[
        &["runs"],
        &["runs", "--children", "--limit", "0"],
        &["runs", "--status", "error", "--runtime", "gemini"],
        &["runs", "--text", "session"],
        &["jobs"],
        &["show", "last"],
        &["transcript", "last"],
        &["events", "last"],
        &["checkpoint", "last"],
        &["checkpoint", "last:1"],
        &["search", "file", "--limit", "5"],
        &["usage"],
        &["usage", "--by", "day"],
        &["usage", "--by", "model"],
        &["usage", "--by", "job"],
        &["usage", "--explain", "--runtime", "claude-code"],
        &["tools"],
        &["tools", "--calls"],
        &["files"],
        &["errors"],
        &["drift"],
        &["diff", "last:1", "last"],
        &["session", "--runtime", "claude-code"],
        &[
            "sql",
            "SELECT runtime, count(*) AS runs FROM v_runs GROUP BY 1",
        ],
        &["verify"],
        &["renormalize", "last"],
        &["stats"],
        &["doctor"],
        &["runtimes"],
        &["schema"],
        &["schema", "event"],
        &["gc"],
    ];
    for arguments in commands {
        let output = runtape.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        let text = stdout(&output);
        assert!(!text.trim().is_empty(), "{arguments:?} says nothing");
        let is_harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
        assert!(
            text.chars().all(is_harmless),
            "{arguments:?} prints control characters"
        );
        let values = runtape.json(arguments);
        assert!(!values.is_empty(), "{arguments:?} --json says nothing");
        assert!(values.iter().all(Value::is_object), "{arguments:?}");
    }
    for arguments in [&["completions", "bash"][..], &["man"], &["raw", "last"]] {
        let output = runtape.run(arguments);
        assert!(
            output.status.success() && !output.stdout.is_empty(),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_same_ingest_again_is_recognised() {
    let runtape = Runtape::with_fixtures();
    let count = |runtape: &Runtape| runtape.json(&["runs", "--limit", "0"]).len();
    let before = count(&runtape);
    let captures = fixtures();
    let output = runtape.run(&["ingest", captures.to_str().unwrap()]);
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("0 runs stored"),
        "{}",
        stderr(&output)
    );
    assert_eq!(count(&runtape), before);
    runtape.run(&["ingest", "--again", capture().to_str().unwrap()]);
    assert_eq!(count(&runtape), before + 1);
}

#[test]
fn what_is_not_usable_is_reported_and_the_rest_is_stored() {
    let runtape = Runtape::new();
    let captures = runtape.path("captures");
    fs::create_dir(&captures).unwrap();
    fs::write(captures.join("empty.stdout"), "").unwrap();
    fs::write(captures.join("died.stdout"), "").unwrap();
    let meta = r#"{"runtime": "gemini", "argv": ["gemini", "-p", "x"], "exit_code": 41}"#;
    fs::write(captures.join("died.meta.json"), meta).unwrap();
    fs::write(captures.join("notes.txt"), "not ours").unwrap();
    let output = runtape.run(&["ingest", captures.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("empty.stdout: it is empty"), "{said}");
    assert!(
        said.contains("1 run stored, 1 unusable, 1 other files ignored"),
        "{said}"
    );
    let runs = runtape.json(&["runs"]);
    assert_eq!(runs[0]["runtime"], "gemini");
    assert_eq!(runs[0]["status"], "stoppedByError");
}

#[test]
fn ids_are_found_by_their_beginning() {
    let runtape = Runtape::with_fixtures();
    let runs = runtape.json(&["runs", "--limit", "1"]);
    let id = runs[0]["runId"].as_str().unwrap();
    assert_eq!(
        runtape.json(&["show", id.get(..10).unwrap()])[0]["runId"],
        id
    );
    let output = runtape.run(&["show", "nosuchrun"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("hint: `runtape runs` lists"));
    let output = runtape.run(&["show", ""]);
    assert!(stderr(&output).contains("is the beginning of several runs"));
}

#[test]
fn nothing_found_is_no_success_and_bad_usage_is_told_apart() {
    let runtape = Runtape::new();
    let output = runtape.run(&["runs"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no database"));
    assert_eq!(
        runtape.run(&["runs", "--status", "fine"]).status.code(),
        Some(2)
    );
    assert_eq!(runtape.run(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn a_closed_pipe_is_quiet() {
    let runtape = Runtape::with_fixtures();
    let mut child = runtape
        .command(&["--json", "runs", "--limit", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

#[test]
fn exports_validate_and_come_back() {
    let runtape = Runtape::with_a_last_run();
    let head = runtape.json(&["verify"])[0]["head"]["hash"].clone();
    let (lines, bundle) = (runtape.path("run.jsonl"), runtape.path("run.bundle"));
    let (lines, bundle) = (lines.to_str().unwrap(), bundle.to_str().unwrap());
    assert!(
        runtape
            .run(&["export", "last", "-o", lines])
            .status
            .success()
    );
    assert!(
        runtape
            .run(&["validate", "--kind", "record", lines])
            .status
            .success()
    );
    assert!(
        runtape
            .run(&["export", "last", "--format", "bundle", "-o", bundle])
            .status
            .success()
    );
    let output = runtape.run(&[
        "verify",
        "--bundle",
        bundle,
        "--head",
        head.as_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stdout(&output));
    for file in [lines, bundle] {
        let other = Runtape::new();
        assert!(other.run(&["import", file]).status.success());
        assert!(other.run(&["verify"]).status.success());
        let (there, here) = (
            other.json(&["transcript", "last"]),
            runtape.json(&["transcript", "last"]),
        );
        assert_eq!(there, here);
    }
    fs::write(lines, "{\"runId\": 5}\n").unwrap();
    assert_eq!(
        runtape
            .run(&["validate", "--kind", "record", lines])
            .status
            .code(),
        Some(3)
    );
}

#[cfg(unix)]
mod record {
    use std::time::{Duration, Instant};

    use super::*;

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
        assert!(
            stdout(&output).contains("┌ Bash") && stderr(&output).contains("`runtape recover`")
        );
        assert!(runtape.run(&["recover"]).status.success());
        let runs = runtape.json(&["runs"]);
        assert_eq!((runs.len(), &runs[0]["status"]), (1, &"completed".into()));
        assert!(runtape.run(&["verify"]).status.success());
    }
}
