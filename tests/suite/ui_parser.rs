//! What `record --emit transcript` prints, through the UI parser, as Paperclip's host runs it.
//!
//! Needs node: the parser is JavaScript, and nothing else tells whether it works.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use runtape_schemas::{SchemaKind, Validator, Verdict};
use serde_json::Value;
use tempfile::TempDir;

/// Captures larger than this are left out: they are slow and say no more.
const LARGEST: u64 = 60_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn node() -> Command {
    let found = Command::new("node").arg("--version").output();
    assert!(
        found.is_ok_and(|output| output.status.success()),
        "\n\nnode is not installed: the UI parser cannot be tested without it. Install node 20 or later.\n"
    );
    Command::new("node")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A capture that a script can print again.
struct Capture {
    name: String,
    runtime: String,
    stdout: PathBuf,
    stderr: PathBuf,
    exit_code: i64,
}

/// Returns one of `every` so many captures of each runtime.
fn captures(every: usize) -> Vec<Capture> {
    let fixtures = root().join("tests/fixtures").canonicalize().unwrap();
    let mut captures = Vec::new();
    for folder in fs::read_dir(fixtures).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let mut metas: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_string_lossy().ends_with(".meta.json"))
            .collect();
        metas.sort();
        for path in metas.iter().step_by(every) {
            let stem = path.to_string_lossy().replace(".meta.json", "");
            let meta: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let stdout = PathBuf::from(format!("{stem}.stdout"));
            if fs::metadata(&stdout).unwrap().len() <= LARGEST {
                captures.push(Capture {
                    name: Path::new(&stem)
                        .file_name()
                        .unwrap()
                        .to_string_lossy()
                        .into_owned(),
                    runtime: meta["runtime"].as_str().unwrap().to_owned(),
                    stdout,
                    stderr: PathBuf::from(format!("{stem}.stderr")),
                    exit_code: meta["exit_code"].as_i64().unwrap_or(0).max(0),
                });
            }
        }
    }
    captures.sort_by(|a, b| (&a.runtime, &a.name).cmp(&(&b.runtime, &b.name)));
    captures
}

impl Capture {
    /// Makes a script that prints the capture and exits as the CLI did.
    fn script(&self, directory: &Path) -> PathBuf {
        let path = directory.join("agent.sh");
        let (stdout, stderr) = (self.stdout.display(), self.stderr.display());
        let body = format!(
            "#!/bin/sh\ncat '{stdout}'\ncat '{stderr}' >&2\nexit {}\n",
            self.exit_code
        );
        fs::write(&path, body).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn record(&self, directory: &Path, more: &[&str]) -> Output {
        let script = self.script(directory);
        Command::new(env!("CARGO_BIN_EXE_runtape"))
            .args(["record", "--emit", "transcript", "--runtime", &self.runtime])
            .args(more)
            .arg("--")
            .arg(script)
            .env("RUNTAPE_DB", directory.join("runtape.db"))
            .env("RUNTAPE_SPOOL", directory)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn entries(output: &Output) -> Vec<Value> {
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn recorded_runs_of_every_runtime_pass_the_contract() {
    let directory = TempDir::new().unwrap();
    let transcripts = directory.path().join("transcripts");
    fs::create_dir(&transcripts).unwrap();
    let validator = Validator::for_kind(SchemaKind::TranscriptEntry);
    let captures = captures(1);
    assert!(captures.len() > 100, "{} captures", captures.len());
    for capture in &captures {
        let output = capture.record(directory.path(), &[]);
        for entry in entries(&output) {
            let verdict = validator.validate(&entry);
            assert!(
                matches!(verdict, Verdict::Valid),
                "{}: {verdict:?} in {entry}",
                capture.name
            );
        }
        let name = format!("{}-{}.jsonl", capture.runtime, capture.name);
        fs::write(transcripts.join(name), output.stdout).unwrap();
    }
    let output = node()
        .arg("--test")
        .arg(root().join("contrib/paperclip/test"))
        .env("RUNTAPE_TRANSCRIPTS", &transcripts)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    assert!(
        text(&output.stdout).contains("# skipped 0"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn the_same_run_gives_the_same_entries_and_ids_every_time() {
    for capture in captures(10) {
        let mut seen: Vec<Vec<Value>> = Vec::new();
        for _ in 0..2 {
            let directory = TempDir::new().unwrap();
            let output = capture.record(directory.path(), &["--run-id", "again"]);
            let mut entries = entries(&output);
            for entry in &mut entries {
                // The one thing that depends on when it ran.
                entry["ts"] = Value::Null;
            }
            // The two streams of a process have no order between them.
            entries.sort_by_key(|entry| entry["kind"] == "stderr");
            seen.push(entries);
        }
        assert_eq!(seen[0], seen[1], "{}", capture.name);
    }
}

#[test]
fn the_transcript_of_the_stored_run_says_the_same() {
    for capture in captures(10) {
        let directory = TempDir::new().unwrap();
        let live = entries(&capture.record(directory.path(), &["--run-id", "stored"]));
        let output = Command::new(env!("CARGO_BIN_EXE_runtape"))
            .args(["--json", "transcript", "stored"])
            .env("RUNTAPE_DB", directory.path().join("runtape.db"))
            .output()
            .unwrap();
        let stored = entries(&output);
        let words = |entries: &[Value], kind: &str| -> String {
            let texts = entries.iter().filter(|entry| entry["kind"] == kind);
            texts.filter_map(|entry| entry["text"].as_str()).collect()
        };
        // What hermes marks as said beside its work is shown as thinking, and kept as text.
        let has_remarks = text(&fs::read(&capture.stdout).unwrap()).contains("┊ 💬");
        let has_children = capture.name.contains("subagent")
            || capture.name.contains("delegate")
            || capture.name.contains("spawn");
        for kind in ["assistant", "thinking", "user", "stderr"] {
            if has_remarks && ["assistant", "thinking"].contains(&kind) {
                let spoken = |entries: &[Value]| -> String {
                    let is_spoken = |entry: &&Value| {
                        entry["kind"] == "assistant" || entry["kind"] == "thinking"
                    };
                    let texts = entries.iter().filter(is_spoken);
                    texts.filter_map(|entry| entry["text"].as_str()).collect()
                };
                assert_eq!(spoken(&live), spoken(&stored), "{}", capture.name);
            } else if !has_children {
                assert_eq!(
                    words(&live, kind),
                    words(&stored, kind),
                    "{} {kind}",
                    capture.name
                );
            }
        }
        assert_eq!(live.last().unwrap()["kind"], "result");
        assert_eq!(
            stored.last().unwrap()["subtype"],
            live.last().unwrap()["subtype"]
        );
    }
}

/// The sample of the document on UI parsers, recorded: what its host is shown.
#[test]
fn the_documents_sample_is_emitted_as_thinking_calls_and_results_with_their_time() {
    let directory = TempDir::new().unwrap();
    let capture = captures(1)
        .into_iter()
        .find(|capture| capture.name == "seed_sample.sample")
        .unwrap();
    let entries = entries(&capture.record(directory.path(), &[]));
    let of = |kind: &str, field: &str| -> Vec<String> {
        let entries = entries.iter().filter(|entry| entry["kind"] == kind);
        let texts = entries.map(|entry| entry[field].as_str().unwrap_or_default().to_owned());
        texts.collect()
    };
    assert_eq!(
        of("thinking", "text").concat(),
        "Thinking about how to approach this...I see the project structure. Let me read the README."
    );
    assert_eq!(of("tool_call", "name"), ["terminal", "read_file"]);
    assert_eq!(
        of("tool_result", "content"),
        [
            "/src /README.md  0.3s",
            "Project Overview: A CLI tool for...  1.2s"
        ]
    );
    assert_eq!(
        of("assistant", "text").concat(),
        "The project is a CLI tool. Here's what I found:\n- It uses TypeScript\n- Tests are in /tests"
    );
    assert!(entries.iter().all(|entry| entry.get("channel").is_none()));
    // What is kept is what hermes printed: the model's words.
    let output = Command::new(env!("CARGO_BIN_EXE_runtape"))
        .args(["--json", "transcript", "last"])
        .env("RUNTAPE_DB", directory.path().join("runtape.db"))
        .output()
        .unwrap();
    let kept = text(&output.stdout);
    assert!(!kept.contains("\"thinking\""), "{kept}");
}
