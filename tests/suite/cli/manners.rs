//! Leaving nothing unsaid: what is cut says so, what is made or given up is named, and a typing error is called one.

use std::fs;
use std::io::Write;
use std::process::Stdio;
#[cfg(unix)]
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

/// A database with more runs than a person is shown.
fn many(runs: usize) -> Runtape {
    let runtape = Runtape::new();
    let directory = runtape.path("many");
    fs::create_dir(&directory).unwrap();
    let capture = fs::read_to_string(capture()).unwrap();
    for number in 0..runs {
        // Each is a run of its own: a session of its own, and a file of its own.
        let text = capture.replace("6baba7bc", &format!("{number:08x}"));
        fs::write(directory.join(format!("{number}.stdout")), text).unwrap();
    }
    let output = runtape.run(&["ingest", directory.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    runtape
}

#[test]
fn json_has_every_row_and_tables_say_that_they_are_cut() {
    let runtape = many(53);
    for arguments in [
        &["runs"][..],
        &["jobs"],
        &["sessions"],
        &["tools", "--calls"],
        &["commands"],
    ] {
        assert_eq!(runtape.json(arguments).len(), 53, "{arguments:?}");
        let limited = [arguments, &["--limit", "7"]].concat();
        assert_eq!(runtape.json(&limited).len(), 7, "{limited:?}");
        let output = runtape.run(arguments);
        let text = stdout(&output);
        // The last row of runs adds them up.
        let is_row = |line: &&str| !line.starts_with("no room for") && !line.starts_with("50 runs");
        let rows = text.lines().filter(is_row);
        assert_eq!(rows.count(), 51, "{arguments:?}: {text}");
        assert!(stderr(&output).contains("there are more"), "{arguments:?}");
        let all = [arguments, &["--limit", "0"]].concat();
        assert!(!stderr(&runtape.run(&all)).contains("there are more"));
    }
    let one = [&["tools"][..], &["files"], &["drift"], &["notices"]];
    for arguments in one {
        let limited = [arguments, &["--limit", "50"]].concat();
        assert!(!stderr(&runtape.run(&limited)).contains("there are more"));
    }
}

#[test]
fn sql_shows_every_column_and_whole_values_in_a_pipe() {
    let runtape = Runtape::with_a_last_run();
    let long = "x".repeat(300);
    let query = format!("SELECT '{long}' AS long, NULL AS empty, 1 AS n, 2 AS n, 'a,\"b' AS odd");
    let text = stdout(&runtape.run(&["sql", &query]));
    let head: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["long", "empty", "n", "n:2", "odd"]);
    assert!(text.contains(&long), "{text}");
    let row = &runtape.json(&["sql", &query])[0];
    assert_eq!((&row["n"], &row["n:2"]), (&Value::from(1), &Value::from(2)));
    let csv = stdout(&runtape.run(&["sql", "--csv", &query]));
    assert_eq!(
        csv,
        format!("long,empty,n,n:2,odd\r\n{long},,1,2,\"a,\"\"b\"\r\n")
    );
    let tsv = stdout(&runtape.run(&["sql", "--tsv", "SELECT 'a' || char(9, 10) AS t, 1 AS u"]));
    assert_eq!(tsv, "t\tu\na\\t\\n\t1\n");
    for arguments in [&["sql"][..], &["sql", "-"]] {
        let mut asking = runtape
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = asking.stdin.take().unwrap();
        stdin.write_all(b"SELECT 40 + 2 AS answer").unwrap();
        drop(stdin);
        let output = asking.wait_with_output().unwrap();
        assert!(stdout(&output).contains("42"), "{}", stdout(&output));
    }
    let output = runtape.run(&["sql"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn the_raw_output_of_a_dropped_tape_is_said_to_be_gone() {
    let runtape = Runtape::with_a_last_run();
    assert!(runtape.run(&["raw", "last"]).status.success());
    let run = runtape.json(&["runs", "--limit", "1"])[0]["runId"].clone();
    let run = run.as_str().unwrap();
    let message = runtape.json(&["events", run, "--as", "records"]);
    let printed = message.iter().find(|record| record.get("span").is_some());
    let place = format!("{run}:{}", printed.unwrap()["seq"]);
    assert!(runtape.run(&["raw", &place]).status.success());
    let output = runtape.run(&["gc", "--tapes-before", "2999-01-01"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for what in [run, &place] {
        let output = runtape.run(&["raw", what]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stdout(&output), "");
        assert!(
            stderr(&output).contains("was dropped"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_dry_run_of_gc_says_what_gc_then_does() {
    for arguments in [
        &["gc", "--tapes-before", "2999-01-01"][..],
        &["gc", "--runtime", "hermes"],
        &["gc", "--runs-before", "2999-01-01", "--runtime", "gemini"],
        &["gc", "--tapes-before", "2999-01-01", "--runtime", "cursor"],
        &["gc"],
    ] {
        let runtape = Runtape::with_fixtures();
        let before = runtape.json(&["runs"]).len();
        let dry = &runtape.json(&[arguments, &["--dry-run"]].concat())[0];
        assert_eq!(runtape.json(&["runs"]).len(), before, "it only looks");
        let done = &runtape.json(arguments)[0];
        for key in ["deletedRuns", "droppedTapes", "droppedTapeBytes"] {
            assert_eq!(dry[key], done[key], "{arguments:?}: {key}");
        }
        let deleted = done["deletedRuns"].as_array().unwrap().len();
        assert_eq!(runtape.json(&["runs"]).len(), before - deleted);
        let gives_up = deleted > 0 || done["droppedTapes"].as_u64() > Some(0);
        assert_eq!(gives_up, arguments.len() > 1, "{arguments:?}: {done}");
        // With the filter, nothing of other runtimes is touched.
        let verified = runtape.run(&["verify"]);
        assert!(verified.status.success(), "{}", stderr(&verified));
    }
}

#[test]
fn what_was_removed_is_counted_and_listed_when_asked_for() {
    let runtape = Runtape::with_fixtures();
    assert!(runtape.run(&["gc", "--runtime", "hermes"]).status.success());
    let counted = stdout(&runtape.run(&["verify"]));
    let lines: Vec<&str> = counted
        .lines()
        .filter(|line| line.starts_with("removed: "))
        .collect();
    assert_eq!(lines.len(), 1, "{counted}");
    assert!(
        lines[0].contains("deleted; --verbose lists them"),
        "{counted}"
    );
    let listed = stdout(&runtape.run(&["verify", "--verbose"]));
    let removed = listed
        .lines()
        .filter(|line| line.starts_with("removed: run "));
    let removals = runtape.json(&["verify"])[0]["removals"].clone();
    assert_eq!(removed.count(), removals.as_array().unwrap().len());
}

#[test]
fn runs_are_verified_exported_and_read_again_by_the_same_filters() {
    let runtape = Runtape::with_fixtures();
    let count = |runtime: &str| runtape.json(&["runs", "--runtime", runtime]).len() as u64;
    let (gemini, all) = (count("gemini"), runtape.json(&["runs"]).len() as u64);
    assert!(gemini > 1 && gemini < all);
    let report = &runtape.json(&["verify", "--runtime", "gemini"])[0];
    assert_eq!(report["faults"], serde_json::json!([]));
    assert!(report["runs"].as_u64() >= Some(gemini) && report["runs"].as_u64() < Some(all));
    let bundle = runtape.path("gemini.bundle");
    let bundle = bundle.to_str().unwrap();
    let arguments = [
        "export",
        "--runtime",
        "gemini",
        "--format",
        "bundle",
        "-o",
        bundle,
    ];
    let exported = &runtape.json(&arguments)[0];
    assert_eq!(exported["runs"].as_array().unwrap().len() as u64, gemini);
    assert!(exported["digest"].is_string());
    assert!(
        runtape
            .run(&["verify", "--bundle", bundle])
            .status
            .success()
    );
    let lines = runtape.json(&["export", "--runtime", "gemini"]);
    let runs: std::collections::BTreeSet<&str> = lines
        .iter()
        .map(|line| line["runId"].as_str().unwrap())
        .collect();
    assert!(runs.len() as u64 >= gemini);
    // There it is what runs are read as: these have to be named.
    let output = runtape.run(&["renormalize", "--runtime", "gemini"]);
    assert!(
        stderr(&output).contains("name the runs"),
        "{}",
        stderr(&output)
    );
    for arguments in [
        &["export"][..],
        &["renormalize"],
        &["renormalize", "--runtime", "gemini"],
        &["export", "last", "--runtime", "gemini"],
        &["verify", "--runtime", "gemini", "--bundle", bundle],
    ] {
        assert_eq!(
            runtape.run(arguments).status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
    let output = runtape.run(&["export", "--since", "2999-01-01"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_database_that_is_made_is_named() {
    let runtape = Runtape::new();
    let file = capture();
    let file = file.to_str().unwrap();
    let said = |arguments: &[&str]| stderr(&runtape.run(arguments));
    let first = said(&["ingest", file]);
    assert!(first.contains("new database: "), "{first}");
    assert!(first.contains("runtape.db"), "{first}");
    assert!(!said(&["ingest", file]).contains("new database"));
    let recorded = runtape.path("recorded.db");
    let arguments = ["record", "--db", recorded.to_str().unwrap(), "--", "true"];
    let said = said(&arguments);
    assert_eq!(
        said.matches("new database: ").count(),
        usize::from(cfg!(unix)),
        "{said}"
    );
    let other = runtape.path("typo.db");
    let asked = runtape.run(&["runs", "--db", other.to_str().unwrap()]);
    assert_eq!(asked.status.code(), Some(1));
    assert!(stderr(&asked).contains("typo.db"), "{}", stderr(&asked));
    assert!(!other.exists(), "asking makes nothing");
}

#[cfg(unix)]
#[test]
fn a_mistyped_option_of_record_is_called_that() {
    let runtape = Runtape::new();
    for arguments in [
        &["record", "--tiemout", "5s", "--", "true"][..],
        &["record", "--show", "none", "--tiemout=5s", "true"],
        &["record", "-x", "true"],
    ] {
        let output = runtape.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = stderr(&output);
        assert!(said.contains("record has no option -"), "{said}");
        assert!(!runtape.path("runtape.db").exists());
    }
}

#[cfg(unix)]
#[test]
fn record_sums_a_run_up_once_and_works_without_a_runtime() {
    let runtape = Runtape::new();
    let agent = runtape.script("my-agent", "echo 'Forty-two.'; echo careful >&2");
    let output = runtape.run(&["record", "--run-id", "once", "--", &agent]);
    assert!(output.status.success());
    let (out, err) = (stdout(&output), stderr(&output));
    let said = format!("{out}{err}");
    assert_eq!(said.matches("completed").count(), 1, "{said}");
    assert_eq!(said.matches("careful").count(), 1, "{said}");
    assert!(err.contains("recorded as generic"), "{err}");
    assert_eq!(runtape.json(&["show", "once"])[0]["runtime"], "generic");
    let claude = runtape.script("claude", "echo 'Forty-two.'");
    let said = stderr(&runtape.run(&["record", "--", &claude, "-p", "Hi"]));
    assert_eq!(
        said.matches("--output-format stream-json").count(),
        1,
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn interrupting_twice_asks_and_thrice_kills() {
    for (times, traps, signal) in [
        (1, "", "SIGINT"),
        (2, "trap '' INT;", "SIGTERM"),
        (3, "trap '' INT TERM;", "SIGKILL"),
        // Some agents exit with a code of their own.
        (1, "trap 'exit 1' INT;", ""),
    ] {
        let runtape = Runtape::new();
        let ready = runtape.path("ready");
        let body = format!(
            "{traps} touch '{}'; while :; do sleep 0.05; done",
            ready.display()
        );
        let script = runtape.script("stubborn", &body);
        let mut command = runtape.command(&["record", "--run-id", "stopped", "--", &script]);
        let recorder = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while !ready.exists() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(20));
        }
        let pid = nix::unistd::Pid::from_raw(i32::try_from(recorder.id()).unwrap());
        for _ in 0..times {
            std::thread::sleep(Duration::from_millis(300));
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        }
        let output = recorder.wait_with_output().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(60));
        let said = stderr(&output);
        assert_eq!(
            said.matches("runtape: interrupted").count(),
            times,
            "{said}"
        );
        let shown = &runtape.json(&["show", "stopped"])[0];
        let ended = shown["exit"]["signal"].as_str().unwrap_or_default();
        assert_eq!(ended, signal, "{said}");
        assert_eq!(shown["outcome"], "interrupted", "{shown}");
    }
}

#[test]
fn tables_have_the_columns_that_were_asked_for() {
    let runtape = Runtape::with_a_last_run();
    let text = stdout(&runtape.run(&["runs", "--limit", "1", "--fields", "outcome,runtime,cost"]));
    let head: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["outcome", "runtime", "cost", "$"]);
    let text = stdout(&runtape.run(&[
        "runs",
        "--limit",
        "1",
        "--template",
        "{runtime}={outcome}\\t!",
    ]));
    assert_eq!(text, "claude-code=completed\t!\n");
    for wrong in [
        &["--fields", "colour"][..],
        &["--template", "{colour}"],
        &["--template", "{run"],
    ] {
        let output = runtape.run(&[&["runs"][..], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
    let output = runtape.run(&["runs", "--fields", "colour"]);
    assert!(
        stderr(&output).contains("there are run, cost $, started"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn colour_is_used_when_it_is_asked_for() {
    let runtape = Runtape::with_a_last_run();
    let is_painted = |arguments: &[&str]| stdout(&runtape.run(arguments)).contains('\u{1b}');
    assert!(!is_painted(&["runs"]));
    assert!(is_painted(&["runs", "--color", "always"]));
    let config = runtape.path("config.toml");
    fs::write(&config, "[show]\ncolor = \"always\"\n").unwrap();
    let painted = |arguments: &[&str]| {
        let mut command = runtape.command(arguments);
        let output = command.env("RUNTAPE_CONFIG", &config).output().unwrap();
        stdout(&output).contains('\u{1b}')
    };
    assert!(painted(&["runs"]));
    assert!(!painted(&["runs", "--color", "never"]));
    let mut shown = runtape.command(&["config", "show"]);
    let shown = stdout(&shown.env("RUNTAPE_CONFIG", &config).output().unwrap());
    assert!(shown.contains("color = \"always\""), "{shown}");
}

#[test]
fn the_name_alone_shows_what_happened_and_what_to_type() {
    let runtape = Runtape::new();
    let output = runtape.run(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output).contains("runtape record"),
        "{}",
        stdout(&output)
    );
    let runtape = Runtape::with_a_last_run();
    let text = stdout(&runtape.run(&[]));
    let last = &runtape.json(&["runs", "--limit", "1"])[0];
    let id = last["runId"].as_str().unwrap().get(..10).unwrap();
    assert!(text.contains(&format!("runtape transcript {id}")), "{text}");
    assert!(text.contains("in the last seven days"), "{text}");
    assert!(text.contains("completed"), "{text}");
}

#[test]
fn an_error_names_what_was_asked_for() {
    let runtape = Runtape::with_a_last_run();
    let missing = runtape.path("missing.bundle");
    let missing = missing.to_str().unwrap();
    let file = runtape.path("a-file");
    fs::write(&file, "no bundle").unwrap();
    let file = file.to_str().unwrap();
    let head = "0".repeat(64);
    let nowhere = runtape.path("nowhere/out.jsonl");
    let nowhere = nowhere.to_str().unwrap();
    for (arguments, named) in [
        (&["verify", "--bundle", missing][..], "missing.bundle"),
        (&["verify", "--bundle", file], "a-file"),
        (&["import", missing], "missing.bundle"),
        (&["import", file], "a-file"),
        (&["verify", "--head", &head], head.as_str()),
        (&["export", "last", "-o", file], "a-file"),
        (&["export", "last", "-o", nowhere], "nowhere"),
        (
            &["export", "last", "--format", "bundle", "-o", nowhere],
            "nowhere",
        ),
        (&["ingest", missing], "missing.bundle"),
        (&["normalize", missing], "missing.bundle"),
        (&["validate", "--kind", "event", missing], "missing.bundle"),
        (&["backup", nowhere], "nowhere"),
    ] {
        let output = runtape.run(arguments);
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        let said = format!("{}{}", stdout(&output), stderr(&output));
        assert!(said.contains(named), "{arguments:?}: {said}");
    }
}

#[test]
fn an_outcome_is_taken_as_it_is_shown_and_what_is_none_is_told() {
    let runtape = Runtape::with_a_last_run();
    assert!(
        runtape
            .run(&["runs", "--outcome", "failed: ApiError"])
            .status
            .success()
    );
    let output = runtape.run(&["runs", "--outcome", "happy"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("expected running, completed"),
        "{}",
        stderr(&output)
    );
}
