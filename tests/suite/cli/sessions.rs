//! Sessions, runs in one object each, and the history that CLIs keep.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use runtape_normalizer::runtimes::RUNTIMES;
use serde_json::{Value, json};

use crate::harness::{Runtape, capture, fixtures, stderr, stdout, without_times};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Copies a capture under a name, as if it had been printed some days ago, and takes it in.
fn take_in(runtape: &Runtape, capture: &str, name: &str, days: u32) -> String {
    for ending in ["stdout", "stderr", "meta.json"] {
        let from = fixtures().join(format!("{capture}.{ending}"));
        if from.is_file() {
            let to = runtape.path(&format!("{name}.{ending}"));
            fs::write(&to, without_times(&fs::read_to_string(from).unwrap())).unwrap();
            let file = File::options().write(true).open(to).unwrap();
            file.set_modified(SystemTime::now() - DAY * days).unwrap();
        }
    }
    let path = runtape.path(&format!("{name}.stdout"));
    let stored = runtape.json(&["ingest", path.to_str().unwrap()]);
    stored[0]["runId"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_is_one_line_and_counts_once() {
    let runtape = Runtape::new();
    let claude = "claude-code/bash-ok.stream-json";
    let codex = "codex/resume.json";
    take_in(&runtape, claude, "claude-once", 9);
    take_in(&runtape, codex, "codex-once", 8);
    let alone = runtape.json(&["sessions"]);
    assert!(alone.iter().all(|session| session["runs"] == 1));
    // The same responses again, and the same total of the thread: as a run prints them that resumes
    // the session.
    let latest = take_in(&runtape, claude, "claude-again", 2);
    take_in(&runtape, codex, "codex-again", 1);
    take_in(&runtape, "cursor/cut.json", "none", 1);
    let sessions = runtape.json(&["sessions"]);
    assert_eq!(sessions.len(), 2, "{sessions:#?}");
    assert_eq!(sessions[0]["runtime"], "codex");
    assert_eq!(sessions[0]["runs"], 2);
    assert_eq!(sessions[0]["usage"], alone[0]["usage"]);
    assert!(sessions[0]["usage"]["outputTokens"].as_i64().unwrap() > 0);
    let session = &sessions[1];
    assert_eq!(session["runtime"], "claude-code");
    assert_eq!(session["runs"], 2);
    let input = |session: &Value| session["usage"]["inputTokens"].as_i64().unwrap();
    assert_eq!(input(session), input(&alone[1]));
    // No other way to add up comes to anything else.
    for group in runtape.json(&["usage", "--by", "runtime"]) {
        let session = sessions.iter().find(|one| one["runtime"] == group["name"]);
        let session = session.unwrap_or(&Value::Null);
        assert_eq!(session["usage"], group["usage"], "{group}");
    }
    assert_eq!(session["latestRunId"], latest);
    assert_eq!(session["cwd"], "/home/dev/proj");
    assert_eq!(session["prompt"], "Print the kernel greeting.");
    let id = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
    assert_eq!(session["sessionId"], id);
    assert_eq!(session["resume"], format!("claude --resume {id}"));

    // For people, in any width: the command, and what it is about.
    for columns in ["100", "200"] {
        let mut command = runtape.command(&["sessions"]);
        let output = command.env("COLUMNS", columns).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let text = stdout(&output);
        let rows = text.lines().filter(|line| line.contains("resume "));
        assert_eq!(rows.count(), 2, "{text}");
        assert!(text.contains(&format!("claude --resume {id}")), "{text}");
        assert!(text.contains("Print"), "{text}");
        let said = stderr(&output);
        let without = "1 run without a session: `runtape runs` has them";
        assert_eq!(said.matches(without).count(), 1, "{said}");
    }
    // Filters, pages, and nothing.
    assert_eq!(
        runtape.json(&["sessions", "--runtime", "codex"]),
        sessions[..1]
    );
    let output = runtape.run(&["sessions", "--limit", "1"]);
    assert!(stderr(&output).contains("there are more"), "{output:?}");
    assert_eq!(runtape.json(&["sessions", "--limit", "1"]), sessions[..1]);
    let output = runtape.run(&["sessions", "--runtime", "cursor"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("1 run without a session"), "{said}");
    assert!(said.contains("runtape: no sessions found"), "{said}");
}

#[test]
fn a_session_that_is_not_known_any_more_is_not_resumed() {
    let runtape = Runtape::new();
    take_in(&runtape, "gemini/files.stream-json", "known", 2);
    let known = &runtape.json(&["sessions"])[0];
    let id = known["sessionId"].as_str().unwrap();
    assert_eq!(known["resume"], format!("gemini --resume {id}"));
    // Every session of every capture: what may be handed to a shell is a word of the runtime's form.
    let runtape = Runtape::with_fixtures();
    let sessions = runtape.json(&["sessions", "--limit", "0"]);
    assert!(sessions.len() > 100, "{}", sessions.len());
    let mut resumable = 0;
    for session in &sessions {
        let is_unknown = session["error"]["family"] == "unknownSession";
        if let Some(command) = session["resume"].as_str() {
            resumable += 1;
            assert!(!is_unknown, "{session}");
            let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_.:@+".contains(c);
            assert!(command.chars().all(is_plain), "{command}");
            assert!(command.ends_with(session["sessionId"].as_str().unwrap()));
        }
    }
    assert!(resumable > 100, "{resumable}");
    // All of it is there: the roots with a session, and those without.
    let runs = runtape.json(&["runs", "--limit", "0"]);
    let listed: u64 = sessions.iter().filter_map(|one| one["runs"].as_u64()).sum();
    let with = runs
        .iter()
        .filter(|run| !run["sessionId"].is_null())
        .count();
    assert_eq!(listed, u64::try_from(with).unwrap());
    // What sessions and the other runs used is what was used.
    let used = |values: &[Value]| -> i64 {
        let counts = values.iter();
        counts
            .filter_map(|one| one["usage"]["outputTokens"].as_i64())
            .sum()
    };
    let tree = runtape.json(&["runs", "--children", "--limit", "0"]);
    let sessionless: Vec<&Value> = runs
        .iter()
        .filter(|run| run["sessionId"].is_null())
        .collect();
    let is_sessionless = |run: &&Value| {
        let root = run["rootRunId"].as_str().or(run["runId"].as_str());
        sessionless.iter().any(|one| one["runId"].as_str() == root)
    };
    let others: Vec<Value> = tree.iter().filter(is_sessionless).cloned().collect();
    assert_eq!(used(&sessions) + used(&others), used(&tree));
    assert_eq!(used(&tree), used(&runtape.json(&["usage"])));
}

/// Normalizes the capture of a stored run in the way that it was taken in.
fn normalized(runtape: &Runtape, stdout: &Path, run: &str) -> Option<Value> {
    let meta = fs::read(stdout.with_extension("meta.json")).ok()?;
    let meta: Value = serde_json::from_slice(&meta).unwrap();
    let argv = meta["argv"].is_array().then(|| meta["argv"].to_string())?;
    let mut command = runtape.command(&["normalize", "--as", "summary", "--run-id", run]);
    command.args(["--runtime", meta["runtime"].as_str()?, "--argv", &argv]);
    let code = meta["exit_code"].as_i64().map(|code| code.to_string())?;
    command.args(["--exit-code", &code]);
    let stderr = stdout.with_extension("stderr");
    if stderr.is_file() {
        command.arg("--stderr").arg(stderr);
    }
    let output = command.arg(stdout).output().unwrap();
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_stored_run_has_the_summary_of_its_output() {
    let runtape = Runtape::new();
    let directory = fixtures();
    let names = [
        "claude-code/subagent.stream-json",
        "claude-code/parallel-tools.stream-json-partial",
        "claude-code/error-401.json",
        "claude-code/hooks.stream-json",
        "codex/resume.json",
        "codex/resume_tools.text",
        "cursor/shell_outcomes.stream-json",
        "gemini/files.stream-json",
        "hermes/terminal_ok.chat",
        "hermes/resume.quiet",
        "openclaw/err500_then_ok.frames",
    ];
    let mut runs: HashMap<String, &str> = HashMap::new();
    for (number, name) in names.iter().enumerate() {
        let days = u32::try_from(names.len() - number).unwrap();
        let run = take_in(&runtape, name, &name.replace('/', "-"), days);
        runs.insert(run, name);
    }
    let shown = runtape.json(&["show", "--as", "summary", "--all"]);
    assert_eq!(shown.len(), names.len());
    let order: Vec<&str> = shown
        .iter()
        .map(|summary| runs[summary["runs"][0]["runId"].as_str().unwrap()])
        .collect();
    let mut expected = runtape.json(&["runs", "--limit", "0"]);
    expected.reverse();
    let expected: Vec<&str> = expected
        .iter()
        .map(|run| runs[run["runId"].as_str().unwrap()])
        .collect();
    assert_eq!(order, expected);
    let mut compared = 0;
    for mut summary in shown {
        let run = summary["runs"][0]["runId"].as_str().unwrap().to_owned();
        let name = runs[&run];
        let path = directory.join(format!("{name}.stdout"));
        let Some(mut expected) = normalized(&runtape, &path, &run) else {
            continue;
        };
        // Where it ran is told by the meta file, which nobody gave to `normalize`.
        for value in [&mut summary, &mut expected] {
            value["cwd"] = Value::Null;
        }
        assert_eq!(summary, expected, "{name}");
        compared += 1;
    }
    assert!(compared > 8, "{compared}");
}

#[test]
fn runs_are_shown_in_one_object_each_as_they_are_asked_for() {
    let runtape = Runtape::new();
    let capture = "claude-code/bash-ok.stream-json";
    let second = take_in(&runtape, capture, "second", 2);
    let first = take_in(&runtape, capture, "first", 5);
    let other = take_in(&runtape, "claude-code/subagent.stream-json", "other", 1);
    let ids = |arguments: &[&str]| -> Vec<String> {
        let words = [&["show", "--as", "summary"], arguments].concat();
        let plain = runtape.run(&words);
        assert!(plain.status.success(), "{}", stderr(&plain));
        // It is JSON, with and without --json.
        let lines = stdout(&plain);
        let values = runtape.json(&words);
        assert_eq!(lines.lines().count(), values.len());
        let ids = values
            .iter()
            .map(|value| value["runs"][0]["runId"].as_str().unwrap());
        ids.map(str::to_owned).collect()
    };
    assert_eq!(ids(&["--all"]), [&*first, &second, &other]);
    let session = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
    assert_eq!(ids(&["--session", session]), [&*first, &second]);
    assert_eq!(ids(&["--since", "3d"]), [&*second, &other]);
    assert_eq!(ids(&["last", &first, "last"]), [&*first, &other]);
    // A child belongs to its root, which has it in its summary.
    let tree = runtape.json(&["runs", "--children", "--limit", "0"]);
    let child = tree.iter().find(|run| !run["rootRunId"].is_null()).unwrap();
    let child = child["runId"].as_str().unwrap();
    assert_eq!(ids(&[child]), [&*other]);
    let whole = runtape.json(&["show", "--as", "summary", child]).remove(0);
    assert_eq!(whole["runs"][1]["runId"], child);

    // The responses that the session's first run reported are not counted again.
    let both = runtape.json(&["show", "--as", "summary", "--session", session]);
    assert!(both[0]["usage"]["inputTokens"].as_i64().unwrap() > 0);
    assert_eq!(both[1]["usage"]["inputTokens"], 0);

    for (arguments, reason) in [
        (&["show", &first, &second][..], "without --as summary"),
        (&["show", "--all"], "without --as summary"),
        (
            &["show", "last", "--session", session],
            "without --as summary",
        ),
        (&["show", "--as", "summary"], "name runs, or filters"),
        (
            &["show", "--as", "summary", "last", "--all"],
            "name either runs",
        ),
    ] {
        let output = runtape.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains(reason),
            "{arguments:?}: {output:?}"
        );
    }
    let output = runtape.run(&["show", "--as", "summary", "--session", "nosuch"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no runs found"));
}

#[cfg(unix)]
#[test]
fn a_run_that_goes_on_is_shown_as_far_as_it_went() {
    let runtape = Runtape::new();
    let capture = capture();
    let head = format!("head -n 3 {}", capture.display());
    let tail = format!("tail -n +4 {}", capture.display());
    let script = runtape.waiting(&head, &tail);
    let arguments = [
        "record", "--show", "none", "--run-id", "open", "--", &script,
    ];
    let mut recorder = runtape.command(&arguments).spawn().unwrap();
    let begin = std::time::Instant::now();
    let open = loop {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
        let shown = runtape.json(&["show", "--as", "summary", "open"]);
        if let Some(summary) = shown.into_iter().next() {
            break summary;
        }
    };
    assert_eq!(open["status"], "proceeding");
    assert_eq!(open["runs"][0]["runId"], "open");
    assert_eq!(open["error"], Value::Null);
    fs::write(runtape.path("go"), "").unwrap();
    assert!(recorder.wait().unwrap().success());
    let ended = runtape.json(&["show", "--as", "summary", "open"]).remove(0);
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["finalText"], "It printed two lines.");
}

#[test]
fn doctor_tells_of_the_history_that_clis_keep() {
    let runtape = Runtape::new();
    let diagnosis = runtape.json(&["doctor"]).remove(0);
    assert_eq!(diagnosis.get("history"), None, "{diagnosis}");
    let names = [
        "-home-dev-proj/6baba7bc-061b-4fc8-9fe0-a222e7fee90d.jsonl",
        "2026/11/15/rollout-2026-11-15T23-47-44-01a1e40f-3839-7462-8ba4-4636a26c3aa5.jsonl",
        "proj/chats/session-2026-11-15T23-47-6baba7bc.jsonl",
    ];
    let mut expected = Vec::new();
    for entry in RUNTIMES {
        let Some(history) = entry.history else {
            continue;
        };
        let is_candidate = |name: &&&str| (history.is_candidate)(name);
        let (Some(name), [place, ..]) = (names.iter().find(is_candidate), history.places) else {
            continue;
        };
        let directory = runtape.path(place.home).join(place.below);
        let file = directory.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{}\n").unwrap();
        let is_deleted = history.kept_days.is_some_and(|days| days > 1);
        if let Some(days) = history.kept_days.filter(|_| is_deleted) {
            let file = File::options().write(true).open(&file).unwrap();
            file.set_modified(SystemTime::now() - DAY * (days - 1))
                .unwrap();
        }
        expected.push(json!({
            "runtime": entry.runtime.as_str(),
            "path": directory.to_str().unwrap(),
            "files": 1,
            "bytes": 3,
            "keptDays": history.kept_days,
            "due": u64::from(is_deleted),
        }));
    }
    let diagnosis = runtape.json(&["doctor"]).remove(0);
    let found = diagnosis
        .get("history")
        .cloned()
        .unwrap_or_else(|| json!([]));
    assert_eq!(found, Value::Array(expected.clone()));
    let said = stdout(&runtape.run(&["doctor"]));
    for place in expected {
        let runtime = place["runtime"].as_str().unwrap();
        let line = format!("{runtime} history: 1 session file, 3 B");
        assert!(said.contains(&line), "{said}");
        if place["due"] == 1 {
            let days = &place["keptDays"];
            let line =
                format!("{runtime} deletes sessions after {days} days: 1 session file is due");
            assert!(said.contains(&line), "{said}");
        }
    }
}
