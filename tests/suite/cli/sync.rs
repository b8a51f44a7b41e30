//! `sync` as people run it: first, again, twice at once, killed, and beside what was recorded.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use runtape_tests::synthetic::Sessions;
use serde_json::Value;

use crate::harness::{Runtape, fixtures, stderr};

/// Writes a home directory with sessions of claude-code.
fn home(runtape: &Runtape, sessions: usize, turns: usize) -> String {
    let home = runtape.path("home");
    let projects = home.join(".claude").join("projects");
    Sessions::new(11).write(&projects, sessions, turns).unwrap();
    home.to_str().unwrap().to_owned()
}

fn roots(runtape: &Runtape) -> usize {
    runtape.json(&["runs", "--limit", "0"]).len()
}

fn intact(runtape: &Runtape) {
    let output = runtape.run(&["verify"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

fn summary(lines: &[Value]) -> &Value {
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "summary");
    &last["groups"][0]
}

#[test]
fn what_is_there_is_taken_in_once() {
    let runtape = Runtape::new();
    let home = home(&runtape, 6, 3);
    let dry = runtape.json(&["sync", "--from", &home, "--dry-run"]);
    assert_eq!(summary(&dry)["new"], 6);
    assert_eq!(runtape.json(&["runs"]).len(), 0);
    let first = runtape.json(&["sync", "--from", &home]);
    assert_eq!(
        first.iter().filter(|line| line["type"] == "source").count(),
        6
    );
    assert_eq!(
        (&summary(&first)["sessions"], &summary(&first)["new"]),
        (&6.into(), &6.into())
    );
    let again = runtape.json(&["sync", "--from", &home]);
    assert_eq!(again.len(), 1, "nothing is read again");
    assert_eq!(
        (&summary(&again)["new"], &summary(&again)["unchanged"]),
        (&0.into(), &6.into())
    );
    // The memory is no truth: without it everything is read, and found to be there.
    fs::remove_file(runtape.path("runtape.db.history")).unwrap();
    let without = runtape.json(&["sync", "--from", &home]);
    assert_eq!(
        (&summary(&without)["new"], &summary(&without)["unchanged"]),
        (&0.into(), &6.into())
    );
    assert_eq!(roots(&runtape), 6);
    intact(&runtape);
}

#[test]
fn the_usual_places_are_those_of_the_home_directory_and_of_the_variables() {
    let runtape = Runtape::new();
    let home = home(&runtape, 1, 1);
    let output = runtape
        .command(&["sync"])
        .env("HOME", &home)
        .output()
        .unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("claude-code"), "{table}");
    assert_eq!(roots(&runtape), 1);
    let moved = runtape.path("moved");
    fs::rename(Path::new(&home).join(".claude"), &moved).unwrap();
    let output = runtape
        .command(&["sync"])
        .env("HOME", &home)
        .env("CLAUDE_CONFIG_DIR", &moved)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(roots(&runtape), 1, "the same sessions in another place");
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let runtape = Runtape::new();
    let empty = runtape.path("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.to_str().unwrap();
    for (arguments, word) in [
        (&["sync", "--runtime", "generic"][..], "cannot be read"),
        (&["sync", "--from", "/no/such/directory"], "directory"),
        (&["sync", "--from", empty], "--runtime"),
    ] {
        let output = runtape.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
    let output = runtape
        .command(&["sync"])
        .env("HOME", empty)
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("no history found"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_sync_that_is_killed_leaves_nothing_half() {
    let rounds = std::env::var("RUNTAPE_CRASH_ROUNDS").ok();
    let rounds: u64 = rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    let runtape = Runtape::new();
    let home = home(&runtape, 60, 40);
    // The database is there from the beginning: what is killed is the sync.
    runtape.run(&["sync", "--from", &home, "--dry-run"]);
    let mut killed = 0;
    for round in 0..rounds {
        let mut child = runtape
            .command(&["sync", "--from", &home])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(5 + round * 13 % 120));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
        // What is there is whole: every run has ended and is sealed.
        intact(&runtape);
    }
    println!("{killed} of {rounds} syncs were killed while they worked");
    let output = runtape.run(&["sync", "--from", &home]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(roots(&runtape), 60);
    for run in runtape.json(&["runs", "--limit", "0"]) {
        assert_eq!(run["status"], "completed", "{run}");
        assert_eq!(run["steps"], 41, "{run}");
    }
    intact(&runtape);
}

#[test]
fn two_syncs_at_once_take_everything_in_once() {
    let runtape = Runtape::new();
    let home = home(&runtape, 40, 20);
    let start = || {
        runtape
            .command(&["sync", "--from", &home])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [start(), start()];
    for child in both {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(roots(&runtape), 40);
    intact(&runtape);
}

#[test]
fn a_session_that_is_written_while_it_is_read_arrives_whole() {
    let runtape = Runtape::new();
    let home = home(&runtape, 1, 200);
    let projects = Path::new(&home).join(".claude").join("projects");
    let file = fs::read_dir(projects.join("-home-dev-proj-0"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, b"").unwrap();
    let writer = {
        let (file, whole) = (file.clone(), whole.clone());
        std::thread::spawn(move || {
            let mut out = fs::OpenOptions::new().append(true).open(file).unwrap();
            for piece in whole.chunks(40_000) {
                std::io::Write::write_all(&mut out, piece).unwrap();
                std::thread::sleep(Duration::from_millis(10));
            }
        })
    };
    while !writer.is_finished() {
        let output = runtape.run(&["sync", "--from", &home]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    writer.join().unwrap();
    runtape.run(&["sync", "--from", &home]);
    let runs = runtape.json(&["runs", "--limit", "0"]);
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (&runs[0]["status"], &runs[0]["steps"]),
        (&"completed".into(), &201.into())
    );
    intact(&runtape);
}

#[test]
fn watching_takes_in_what_a_session_writes_without_waiting_for_the_next_look() {
    let runtape = Runtape::new();
    let home = home(&runtape, 2, 3);
    let projects = Path::new(&home).join(".claude").join("projects");
    let mut child = runtape
        .command(&[
            "sync",
            "--watch",
            "--runtime",
            "claude-code",
            "--from",
            &home,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (sender, lines) = std::sync::mpsc::channel();
    let stdout = child.stdout.take().unwrap();
    std::thread::spawn(move || {
        for line in std::io::BufRead::lines(std::io::BufReader::new(stdout)) {
            let _ = sender.send((Instant::now(), line.unwrap()));
        }
    });
    let patience = Duration::from_secs(30);
    loop {
        let (_, line) = lines.recv_timeout(patience).unwrap();
        if line.starts_with("claude-code") {
            break;
        }
    }
    // The next look would come after some seconds. A busy machine may be as slow as that, so more sessions follow until one
    // arrives sooner: the system told of it.
    let (mut quickest, mut written) = (patience, 0);
    while quickest >= Duration::from_secs(2) && written < 20 || written < 4 {
        let seed = 20 + written;
        written += 1;
        let begin = Instant::now();
        Sessions::new(seed).write(&projects, 1, 2).unwrap();
        // A file that is seen before it is whole is new, and grows.
        let at = loop {
            let (at, line) = lines.recv_timeout(patience).unwrap();
            if line.contains(" new ") {
                break at;
            }
        };
        quickest = quickest.min(at.duration_since(begin));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    println!("the quickest was taken in after {quickest:.1?}");
    #[cfg(target_os = "linux")]
    assert!(quickest < Duration::from_secs(2), "{quickest:.1?}");
    assert_eq!(roots(&runtape), 2 + usize::try_from(written).unwrap());
    intact(&runtape);
}

#[test]
fn ingest_of_a_history_says_what_it_is_and_takes_it_in() {
    let runtape = Runtape::new();
    let home = home(&runtape, 3, 2);
    let output = runtape.run(&["ingest", &home]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("the history of claude-code"),
        "{}",
        stderr(&output)
    );
    assert_eq!(roots(&runtape), 3);
    let other = Runtape::new();
    let projects = Path::new(&home).join(".claude").join("projects");
    let file = fs::read_dir(projects.join("-home-dev-proj-1"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let output = other.run(&["ingest", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(roots(&other), 1);
}

#[test]
fn a_recorded_command_is_joined_with_what_it_leaves() {
    let capture = fixtures().join("claude-code");
    let history = fs::read_dir(&capture)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".text.history"))
        .min();
    let Some(history) = history else {
        panic!("no history of a run in the text format among the fixtures");
    };
    let stem = history
        .to_str()
        .unwrap()
        .strip_suffix(".history")
        .unwrap()
        .to_owned();
    let meta: Value =
        serde_json::from_slice(&fs::read(format!("{stem}.meta.json")).unwrap()).unwrap();
    let argv: Vec<String> = serde_json::from_value(meta["argv"].clone()).unwrap();
    for (arguments, source) in [(&["--no-history"][..], "live"), (&[], "both")] {
        let id = source;
        let runtape = Runtape::new();
        let home = runtape.path("home");
        let projects = home.join(".claude").join("projects");
        fs::create_dir_all(projects.parent().unwrap()).unwrap();
        // Stands in for the CLI: leaves its session, in which times and directory are those of this run, and prints.
        let script = runtape.path("claude");
        let body = format!(
            r#"#!/bin/sh
cp -r '{}' '{1}'
now=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
find '{1}' -name '*.jsonl' -exec sed -i -e "s#2026-[0-9-]*T[0-9:.]*Z#$now#g" -e "s#/home/dev/proj#$PWD#g" {{}} +
cat '{stem}.stdout'
"#,
            history.display(),
            projects.display(),
        );
        fs::write(&script, body).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&script, mode).unwrap();
        let _ = fs::remove_dir_all(&projects);
        let mut command = vec!["record", "--show", "none", "--run-id", id];
        command.extend_from_slice(arguments);
        command.extend(["--", script.to_str().unwrap()]);
        command.extend(argv.iter().skip(1).map(String::as_str));
        let output = runtape
            .command(&command)
            .env("HOME", &home)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let run = runtape.json(&["show", "--as", "summary", id]);
        let checkpoint = runtape.json(&["checkpoint", id]).remove(0);
        let seen = checkpoint["metadata"]["source"].as_str().unwrap_or("live");
        assert_eq!(seen, source, "{checkpoint}");
        let calls = run[0]["toolCalls"].as_array().unwrap();
        println!("{id}: {} calls, usage {}", calls.len(), run[0]["usage"]);
        assert_eq!(run[0]["usage"].is_null(), source == "live", "{run:?}");
        intact(&runtape);
    }
}
