//! Asking in ways that people and scripts do.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

/// Runs a line of shell in which `$RUNTAPE` is the binary.
#[cfg(unix)]
fn shell(runtape: &Runtape, line: &str) -> std::process::Output {
    let inner = runtape.command(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .env("RUNTAPE", inner.get_program());
    for (key, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.stdin(Stdio::null()).output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_live_run_can_be_followed_from_elsewhere() {
    let runtape = Runtape::new();
    let go = runtape.path("go");
    let capture = capture();
    let (head, tail) = (
        format!("head -n 3 {}", capture.display()),
        format!("tail -n +4 {}", capture.display()),
    );
    let script = runtape.waiting(&head, &tail);
    let recorder = runtape
        .command(&[
            "record", "--show", "none", "--run-id", "followed", "--", &script,
        ])
        .stderr(Stdio::null())
        .spawn();
    let mut recorder = recorder.unwrap();
    let begin = std::time::Instant::now();
    while runtape.json(&["events", "followed"]).is_empty() {
        assert!(begin.elapsed() < std::time::Duration::from_secs(30));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let follow = |arguments: &[&str]| {
        let mut child = runtape
            .command(&[arguments, &["followed", "--follow"]].concat())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        (child, output.lines().map(Result::unwrap))
    };
    let (mut events, mut event_lines) = follow(&["--json", "events"]);
    let (mut transcript, mut transcript_lines) = follow(&["transcript"]);
    // What is there comes at once, while the run goes on.
    let mut first = vec![event_lines.next().unwrap()];
    assert!(!transcript_lines.next().unwrap().is_empty());
    assert!(recorder.try_wait().unwrap().is_none());
    assert_eq!(runtape.json(&["runs"])[0]["status"], "proceeding");
    fs::write(&go, "").unwrap();
    first.extend(event_lines);
    let last_line = transcript_lines.last().unwrap();
    assert!(last_line.starts_with("✓ "), "{last_line}");
    assert!(events.wait().unwrap().success() && transcript.wait().unwrap().success());
    assert!(recorder.wait().unwrap().success());
    let followed: Vec<Value> = first
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        // What is seen of a step before it is over is in no record.
        .filter(|event: &Value| !event["type"].as_str().unwrap().starts_with("stream"))
        .collect();
    assert_eq!(followed, runtape.json(&["events", "followed"]));
}

#[test]
fn an_event_leads_back_to_what_was_printed() {
    let runtape = Runtape::with_a_last_run();
    let events = runtape.json(&["events", "last", "--kind", "callTools"]);
    let id = events[0]["id"].as_str().unwrap();
    let printed = stdout(&runtape.run(&["raw", id]));
    assert!(printed.contains("\"tool_use\""), "{printed}");
    let whole = fs::read_to_string(runtape.path("last.stdout")).unwrap();
    assert!(whole.contains(printed.trim_end()), "{printed}");
    let raw = &runtape.json(&["raw", id])[0];
    let (start, end) = (&raw["start"], &raw["end"]);
    let range = usize::try_from(start.as_u64().unwrap()).unwrap()
        ..usize::try_from(end.as_u64().unwrap()).unwrap();
    assert_eq!(raw["text"], whole.get(range).unwrap());
    let output = runtape.run(&["raw", "last:0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no output stands behind"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn verify_says_what_it_cannot_see_and_refuses_what_is_no_head() {
    let runtape = Runtape::with_a_last_run();
    let report = &runtape.json(&["verify"])[0];
    let unseen = serde_json::json!(["cutOffTail", "newHashes"]);
    assert_eq!(report["unseen"], unseen);
    let head = report["head"]["hash"].as_str().unwrap();
    let output = stdout(&runtape.run(&["verify"]));
    assert!(output.contains("not seen without --head"), "{output}");
    assert!(output.contains("cut off"), "{output}");
    for head in [head.to_owned(), head.to_ascii_uppercase()] {
        let output = runtape.run(&["verify", "--head", &head]);
        assert_eq!(output.status.code(), Some(0));
        assert!(!stdout(&output).contains("not seen"));
        assert!(runtape.json(&["verify", "--head", &head])[0]["unseen"].is_null());
    }
    // The right form, but nobody sealed it.
    let output = runtape.run(&["verify", "--head", &"0".repeat(64)]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let wrong = [
        String::new(),
        "abc".to_owned(),
        "0".repeat(63),
        format!("{head}0"),
        format!("g{}", "0".repeat(63)),
        format!(" {}", "0".repeat(63)),
        format!("0x{}", "0".repeat(62)),
    ];
    for head in wrong {
        let output = runtape.run(&["verify", "--head", &head]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{head:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn what_is_given_up_is_gone_and_verify_says_so() {
    let runtape = Runtape::with_a_last_run();
    let before = runtape.json(&["runs", "--limit", "0"]).len();
    let last = runtape.json(&["runs", "--limit", "1"])[0]["runId"].clone();
    let told = &runtape.json(&["gc", "--run", "last", "--dry-run"])[0];
    assert_eq!(told["deletedRuns"][0], last);
    assert_eq!(runtape.json(&["runs", "--limit", "0"]).len(), before);
    let done = &runtape.json(&["gc", "--run", "last"])[0];
    assert_eq!(
        (&done["deletedRuns"][0], &done["isDryRun"]),
        (&last, &false.into())
    );
    assert_eq!(runtape.json(&["runs", "--limit", "0"]).len(), before - 1);
    let report = &runtape.json(&["verify"])[0];
    assert_eq!(report["removals"][0]["runId"], last);
    assert_eq!(report["removals"][0]["reason"], "deleted");
    assert_eq!(report["faults"], serde_json::json!([]));

    let done = &runtape.json(&["gc", "--tapes-before", "2100-01-01"])[0];
    assert!(done["droppedTapes"].as_u64().unwrap() > 300, "{done}");
    assert!(
        done["bytesAfter"].as_u64() < done["bytesBefore"].as_u64(),
        "{done}"
    );
    assert!(stdout(&runtape.run(&["raw", "last"])).is_empty());
    assert!(!stdout(&runtape.run(&["transcript", "last"])).is_empty());
    assert!(runtape.run(&["verify"]).status.success());
    // Records cannot be made again without a tape, and are not thrown away for it.
    let output = runtape.run(&["renormalize", "--all"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("its tape was dropped"),
        "{}",
        stderr(&output)
    );
    assert!(
        runtape
            .run(&["gc", "--runs-before", "2100-01-01"])
            .status
            .success()
    );
    assert_eq!(runtape.run(&["runs"]).status.code(), Some(1));
}

#[test]
fn a_backup_is_the_same_database() {
    let runtape = Runtape::with_fixtures();
    let copy = runtape.path("copy.db");
    let copy = copy.to_str().unwrap();
    assert!(runtape.run(&["backup", copy]).status.success());
    let ask = |database: &str| runtape.json(&["--db", database, "runs", "--limit", "0"]);
    let original = runtape.path("runtape.db");
    assert_eq!(ask(copy), ask(original.to_str().unwrap()));
    assert!(runtape.run(&["--db", copy, "verify"]).status.success());
    let output = runtape.run(&["backup", copy]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("exists"), "{}", stderr(&output));
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let runtape = Runtape::with_a_last_run();
    let is_coloured = |variables: &[(&str, &str)]| {
        let mut command = runtape.command(&["runs"]);
        command.env_remove("NO_COLOR");
        command.envs(variables.iter().copied());
        command.output().unwrap().stdout.contains(&0x1b)
    };
    assert!(!is_coloured(&[]));
    assert!(is_coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[cfg(unix)]
#[test]
fn a_pipe_that_closes_early_is_quiet() {
    let runtape = Runtape::with_a_last_run();
    for line in [
        "$RUNTAPE --json events last | head -n 1",
        "$RUNTAPE transcript last | head -n 1",
        "$RUNTAPE sql 'SELECT * FROM v_notices' | head -n 1",
        "$RUNTAPE export last | head -c 10",
    ] {
        let output = shell(&runtape, line);
        assert!(!output.stdout.is_empty(), "{line}");
        assert_eq!(stderr(&output), "", "{line}");
    }
}

#[test]
fn the_same_filters_mean_the_same_everywhere() {
    let runtape = Runtape::with_fixtures();
    let all = runtape.json(&["runs", "--limit", "0"]);
    for (words, field, expected) in [
        (["--runtime", "gemini"], "runtime", "gemini"),
        (["--outcome", "failed"], "outcome", "failed"),
        (["--status", "completed"], "outcome", "completed"),
    ] {
        let expected_runs = all.iter().filter(|run| run[field] == expected).count();
        let found = runtape.json(&[&["runs", "--limit", "0"], &words[..]].concat());
        assert_eq!(found.len(), expected_runs, "{words:?}");
        assert!(expected_runs > 10 && expected_runs < all.len());
        let jobs = runtape.json(&[&["jobs", "--limit", "0"], &words[..]].concat());
        assert_eq!(jobs.len(), expected_runs, "{words:?}");
    }
    assert_eq!(runtape.json(&["runs", "--limit", "7"]).len(), 7);
    assert!(runtape.json(&["runs", "--until", "2000-01-01"]).is_empty());
    let session = all
        .iter()
        .find_map(|run| run["sessionId"].as_str())
        .unwrap();
    for run in runtape.json(&["runs", "--session", session]) {
        assert_eq!(run["sessionId"], session);
    }
    for call in runtape.json(&["tools", "--calls", "--tool", "Bash", "--limit", "0"]) {
        assert_eq!(call["tool"], "Bash");
    }
}

#[test]
fn keys_that_nobody_knows_are_drift() {
    let runtape = Runtape::new();
    let text = fs::read_to_string(capture()).unwrap();
    let newer = text.replace(
        "{\"type\":\"assistant\",",
        "{\"type\":\"assistant\",\"mood\":\"glad\",",
    );
    let newer = format!("{newer}{{\"type\":\"hologram\",\"session_id\":\"x\"}}\n");
    let file = runtape.path("newer.stdout");
    fs::write(&file, newer).unwrap();
    let output = runtape.run(&["ingest", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    // Words are no keys.
    let words = runtape.path("words.stdout");
    fs::write(&words, "{\"unknownKeys\":{\"fake\":3}} is what I said\n").unwrap();
    let words = words.to_str().unwrap();
    let output = runtape.run(&["ingest", "--runtime", "hermes", "--exit-code", "0", words]);
    assert!(output.status.success(), "{}", stderr(&output));
    let drift = runtape.json(&["drift"]);
    let keys = drift.iter().filter(|drift| drift["kind"] == "key");
    assert_eq!(keys.count(), 1, "{drift:?}");
    let line = drift.iter().find(|drift| drift["kind"] == "line").unwrap();
    assert_eq!(
        (&line["tag"], &line["lines"]),
        (&"hologram".into(), &1.into())
    );
    let key = drift.iter().find(|drift| drift["kind"] == "key").unwrap();
    assert_eq!(key["tag"], "assistant.mood");
    assert_eq!(
        key["lines"],
        text.matches("{\"type\":\"assistant\",").count()
    );
    let shown = stdout(&runtape.run(&["drift"]));
    assert!(shown.contains("assistant.mood"), "{shown}");
}

#[test]
fn every_run_comes_back_from_its_events_and_from_its_records() {
    let runtape = Runtape::with_fixtures();
    let runs = runtape.json(&["runs", "--limit", "0"]);
    let ids: Vec<&str> = runs
        .iter()
        .map(|run| run["runId"].as_str().unwrap())
        .collect();
    for shape in ["records", "events"] {
        let file = runtape.path(&format!("{shape}.jsonl"));
        let file = file.to_str().unwrap();
        let options = [&["export", "--as", shape, "--output", file][..], &ids].concat();
        let output = runtape.run(&options);
        assert!(output.status.success(), "{}", stderr(&output));
        let other = Runtape::new();
        let output = other.run(&["import", file]);
        assert!(output.status.success(), "{shape}: {}", stderr(&output));
        assert!(other.run(&["verify"]).status.success());
        let again = other.json(&["runs", "--children", "--limit", "0"]);
        let all = runtape.json(&["runs", "--children", "--limit", "0"]);
        assert_eq!(again.len(), all.len(), "{shape}");
        for run in &all {
            let id = &run["runId"];
            let there = again.iter().find(|run| run["runId"] == *id).unwrap();
            let told = [
                "status",
                "outcome",
                "title",
                "error",
                "model",
                "sessionId",
                "steps",
                "messages",
                "costUsd",
            ];
            let more = [
                "runtime",
                "jobId",
                "parentRunId",
                "cwd",
                "cliVersion",
                "unparsed",
            ];
            for key in told.iter().chain(&more) {
                assert_eq!(there[key], run[key], "{shape}: {key} of {id}");
            }
            if run["parentRunId"].is_null() {
                assert_eq!(there["usage"], run["usage"], "{shape}: usage of {id}");
            }
        }
        // The last checkpoint of some runs, in full.
        for id in ids.iter().step_by(40) {
            let (mut here, mut there) = (
                runtape.json(&["checkpoint", id]),
                other.json(&["checkpoint", id]),
            );
            for checkpoint in [&mut here[0], &mut there[0]] {
                // The order in which keys became known.
                checkpoint["metadata"].as_object_mut().unwrap().sort_keys();
            }
            assert_eq!(there, here, "{shape}");
        }
    }
}

#[test]
fn doctor_ticks_only_what_is_in_order() {
    let runtape = Runtape::new();
    let doctor = |arguments: &[&str]| {
        let mut command = runtape.command(&[&["doctor"], arguments].concat());
        let output = command.env("PATH", "/no/programs").output().unwrap();
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    let (code, said) = doctor(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("· no database yet at "), "{said}");
    assert!(said.contains("· gemini is not installed"), "{said}");
    assert!(!said.contains('✓'), "{said}");
    let (code, said) = doctor(&["--runtime", "gemini"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("✗ gemini is not installed"), "{said}");
    let (code, said) = doctor(&["--runtime", "docker"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("what docker prints cannot be read yet"),
        "{said}"
    );
}
