//! What a run was about: who ran what, where, at which commit, under which labels, and how it went.

use std::fs;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn a_recorded_run_tells_who_ran_what_and_where() {
    let runtape = Runtape::new();
    let git = runtape.path(".git");
    fs::create_dir_all(git.join("refs/heads")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/topic\n").unwrap();
    fs::write(git.join("refs/heads/topic"), COMMIT).unwrap();
    let script = runtape.script("claude", "echo Done.; exit 3");
    let output = runtape
        .command(&["record", "--label", "team=blue", "--label", "try=2", "--"])
        .args([&*script, "-p", "Tidy up", "--permission-mode", "plan"])
        .current_dir(runtape.directory.path())
        .env("USER", "ada")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let run = &runtape.json(&["runs"])[0];
    assert_eq!(run["prompt"], "Tidy up");
    assert_eq!(run["argv"][1], "-p");
    assert_eq!(run["permissionMode"], "plan");
    assert_eq!(run["user"], "ada");
    assert!(run["host"].is_string());
    assert_eq!(run["exitCode"], 3);
    assert_eq!(run["gitCommit"], COMMIT);
    assert_eq!(run["gitBranch"], "topic");
    assert_eq!(run["labels"]["team"], "blue");
    let shown = stdout(&runtape.run(&["show"]));
    for text in [
        "Tidy up",
        "plan",
        "ada on",
        COMMIT,
        "topic",
        "team=blue try=2",
        "code 3",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let sql = "SELECT prompt, permission_mode, user, exit_code, git_branch, value FROM v_runs
               JOIN v_labels USING (run_id) WHERE label = 'try'";
    let row = stdout(&runtape.run(&["sql", sql]));
    for text in ["Tidy up", "plan", "ada", "3", "topic", "2"] {
        assert!(row.contains(text), "{text}: {row}");
    }
    let found = |filter: &[&str]| runtape.json(&[&["runs"], filter].concat()).len();
    assert_eq!(found(&["--label", "team=blue"]), 1);
    assert_eq!(found(&["--label", "team=blue", "--label", "try"]), 1);
    assert_eq!(found(&["--label", "team=red"]), 0);
    assert!(runtape.run(&["verify"]).status.success());
}

/// Cron and containers set no variable that says who it is.
#[test]
fn who_ran_it_is_known_without_the_environment() {
    let runtape = Runtape::new();
    let script = runtape.script("agent", "echo Done.");
    let mut command = runtape.command(&["record", "--", &script]);
    let output = command.env_remove("USER").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let user = nix::unistd::User::from_uid(nix::unistd::getuid());
    let name = user.unwrap().map(|user| user.name);
    assert_eq!(runtape.json(&["runs"])[0]["user"], serde_json::json!(name));
}

#[test]
fn labels_are_given_to_what_is_ingested_too() {
    let runtape = Runtape::new();
    let capture = capture();
    runtape.run(&["ingest", "--label", "from=ci", capture.to_str().unwrap()]);
    assert_eq!(runtape.json(&["runs", "--label", "from=ci"]).len(), 1);
    let output = runtape.run(&["ingest", "--label", "wrong", capture.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_the_table_prints_for_a_status_is_what_the_filter_takes() {
    let runtape = Runtape::new();
    for (name, body) in [
        ("claude", "echo Done."),
        ("gemini", "kill -INT $$"),
        ("hermes", "kill -KILL $$"),
        ("codex", "echo no >&2; exit 7"),
    ] {
        let script = runtape.script(name, body);
        runtape.run(&["record", "--", &script]);
    }
    let table = stdout(&runtape.run(&["runs"]));
    let words: Vec<&str> = table
        .lines()
        .filter_map(|line| {
            let known = ["claude-code", "gemini", "hermes", "codex"];
            let (_, after) = known.iter().find_map(|name| line.split_once(name))?;
            let after = after.trim_start();
            let end = after.find("  ").unwrap_or(after.len());
            after.get(..end)
        })
        .collect();
    assert_eq!(
        words,
        [
            "failed: NonZeroExit",
            "failed: KilledBySignal",
            "interrupted",
            "completed"
        ],
        "{table}"
    );
    for word in words {
        let cut = format!("{}…", word.get(..word.len() - 1).unwrap());
        let is_error = word.starts_with("failed");
        let cut = is_error.then_some(cut);
        for typed in [word.to_owned(), word.to_uppercase()]
            .into_iter()
            .chain(cut)
        {
            let found = runtape.json(&["runs", "--outcome", &typed]);
            assert!(!found.is_empty(), "{typed}");
        }
    }
    assert_eq!(runtape.json(&["runs", "--status", "interrupted"]).len(), 1);
    assert_eq!(runtape.json(&["runs", "--outcome", "Failed"]).len(), 2);
    assert_eq!(runtape.json(&["runs", "--family", "PROCESS"]).len(), 3);
    let output = runtape.run(&["runs", "--outcome", "complete"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn runs_are_ordered_by_what_they_have_most_of_and_added_up() {
    let runtape = Runtape::with_fixtures();
    for (sort, key) in [
        ("cost", "/costUsd"),
        ("duration", "/durationMs"),
        ("steps", "/steps"),
    ] {
        let runs = runtape.json(&["runs", "--sort", sort, "--limit", "5"]);
        let values: Vec<f64> = runs
            .iter()
            .map(|run| run.pointer(key).and_then(Value::as_f64).unwrap_or(-1.0))
            .collect();
        assert!(
            values.is_sorted_by(|one, other| one >= other),
            "{sort}: {values:?}"
        );
        let all = runtape.json(&["runs", "--limit", "0"]);
        let most = all.iter().filter_map(|run| run.pointer(key)?.as_f64());
        assert_eq!(values.first().copied(), most.reduce(f64::max), "{sort}");
    }
    let table = stdout(&runtape.run(&["runs", "--limit", "3"]));
    assert!(table.contains("3 runs"), "{table}");
}

#[test]
fn what_matters_of_a_run_has_room_in_a_narrow_terminal() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", &format!("cat '{}'", capture().display()));
    let format = ["--output-format", "stream-json"];
    let prompt = "Explain why the build of the second stage fails";
    runtape.run(
        &[
            &["record", "--job", "nightly", "--", &script, "-p", prompt],
            &format[..],
        ]
        .concat(),
    );
    let output = runtape
        .command(&["runs"])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let table = stdout(&output);
    for text in [
        "started",
        "outcome",
        "title",
        "took",
        "cost $",
        "Explain why",
        "s ago",
    ] {
        assert!(table.contains(text), "{text}: {table}");
    }
    let exact = stdout(&runtape.run(&["runs", "--exact"]));
    assert!(!exact.contains(" ago"), "{exact}");
}

#[test]
fn a_job_is_shown_with_its_runs_and_the_session_to_resume() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", &format!("cat '{}'", capture().display()));
    for prompt in ["First", "Second"] {
        let command = [&*script, "-p", prompt, "--output-format", "stream-json"];
        runtape.run(&[&["record", "--job", "nightly", "--"], &command[..]].concat());
    }
    let shown = stdout(&runtape.run(&["show", "night"]));
    for text in ["First", "Second", "2 runs", "session to resume: "] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let job = &runtape.json(&["show", "nightly"])[0];
    assert_eq!(job["jobId"], "nightly");
    assert_eq!(job["rootRuns"].as_array().unwrap().len(), 2);
    assert!(job["sessionId"].is_string());
    let output = runtape.run(&["show", "nobody"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn a_run_whose_recorder_died_is_marked() {
    let runtape = Runtape::new();
    let script = runtape.waiting("echo begun", "echo never");
    let mut child = runtape
        .command(&["record", "--quiet", "--", &script, "-p", "Hi"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = std::time::Instant::now();
    while runtape.json(&["runs"]).is_empty() {
        assert!(begun.elapsed().as_secs() < 30);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let open = stdout(&runtape.run(&["runs"]));
    assert!(open.contains("running") && !open.contains("lost"), "{open}");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(pid, Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    let output = runtape.run(&["runs"]);
    assert!(
        stdout(&output).contains("running, lost"),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains("runtape recover"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&runtape.run(&["show"])).contains("the recorder died"));
    fs::write(runtape.path("go"), "").unwrap();
}

#[test]
fn the_last_run_is_meant_where_none_is_named() {
    let runtape = Runtape::with_a_last_run();
    for command in ["show", "transcript", "events"] {
        let named = stdout(&runtape.run(&[command, "last"]));
        assert!(!named.is_empty());
        assert_eq!(stdout(&runtape.run(&[command])), named, "{command}");
    }
}

#[test]
fn texts_can_be_asked_for_in_sql() {
    let runtape = Runtape::with_a_last_run();
    let rows = |sql: &str| runtape.json(&["sql", sql]);
    let calls =
        rows("SELECT run_id, tool, input, result FROM v_tool_calls WHERE result IS NOT NULL");
    assert!(!calls.is_empty());
    for call in &calls {
        let input = call["input"].as_str().unwrap_or_else(|| panic!("{call}"));
        assert!(serde_json::from_str::<Value>(input).is_ok(), "{call}");
    }
    let run = &runtape.json(&["show"])[0];
    let said = rows(&format!(
        "SELECT role, text FROM v_messages WHERE run_id = '{}' ORDER BY seq",
        run["runId"].as_str().unwrap()
    ));
    assert_eq!(said.len() as u64, run["messages"].as_u64().unwrap());
    assert_eq!(said.last().unwrap()["role"], "expert");
    assert_eq!(said.last().unwrap()["text"], run["finalText"]);
    // Nothing of it is in the file.
    let output = runtape.run(&["verify"]);
    assert!(output.status.success(), "{}", stderr(&output));
}
