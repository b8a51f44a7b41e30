//! What commands do, asked as a person would.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Runtape, capture, fixtures, stderr, stdout};

#[test]
fn every_command_answers_people_and_programs() {
    let runtape = Runtape::with_a_last_run();
    let commands: &[&[&str]] = &[
        &["runs"],
        &["runs", "--children", "--limit", "0"],
        &["runs", "--outcome", "failed", "--runtime", "gemini"],
        &["runs", "--text", "session"],
        &["jobs"],
        &["sessions"],
        &["show", "last"],
        &["show", "--as", "summary", "last"],
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
        &["rebuild", "last"],
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

#[cfg(unix)]
#[test]
fn checkpoints_are_found_by_the_beginning_of_their_ids() {
    let runtape = Runtape::with_fixtures();
    let column = |sql: &str| -> Vec<String> {
        let rows = runtape.json(&["sql", sql]);
        let id = |row: &serde_json::Value| row["id"].as_str().unwrap().to_owned();
        rows.iter().map(id).collect()
    };
    let checkpoints = column("SELECT checkpoint_id AS id FROM v_checkpoints ORDER BY 1");
    let runs = column("SELECT run_id AS id FROM v_runs ORDER BY 1");
    let beginning = |prefix: &str| {
        let all = runs.iter().chain(&checkpoints);
        all.filter(|id| id.starts_with(prefix)).count()
    };
    let first = |id: &str, length: usize| id.get(..length).unwrap().to_owned();
    // Shorter than what the index holds, as long, and longer; each the only one with its beginning.
    for length in [4, 7, 12] {
        let unique = |id: &&String| beginning(&first(id, length)) == 1;
        let id = checkpoints.iter().find(unique).unwrap();
        let found = runtape.json(&["checkpoint", &first(id, length)]);
        assert_eq!(found[0]["id"], id.as_str());
        let same = &runtape.json(&["diff", &first(id, length), id])[0];
        assert_eq!([&same["from"], &same["to"]], [id.as_str(); 2]);
    }
    let refused = |text: &str| {
        let output = runtape.run(&["checkpoint", text]);
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    assert!(refused("nosuchcheckpoint").contains("no run or checkpoint \"nosuchcheckpoint\""));
    assert!(refused("").contains("is the beginning of several runs and checkpoints: run "));

    // A run whose id is the beginning of a checkpoint's: whole ids come first.
    let unique = |id: &&String| beginning(&first(id, 9)) == 1;
    let id = checkpoints.iter().find(unique).unwrap();
    let script = runtape.script("claude", "echo hello");
    let run = &first(id, 10);
    let output = runtape.run(&["record", "--run-id", run, "--", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(runtape.json(&["checkpoint", run])[0]["runId"], run.as_str());
    let longer = runtape.json(&["checkpoint", &first(id, 11)]);
    assert_eq!(longer[0]["id"], id.as_str());
    let said = refused(&first(id, 9));
    let both = format!("several runs and checkpoints: run {run}, checkpoint {id}");
    assert!(
        said.contains(&both) && said.contains("hint: type more"),
        "{said}"
    );
}

#[test]
fn nothing_found_is_no_success_and_bad_usage_is_told_apart() {
    let runtape = Runtape::new();
    let output = runtape.run(&["runs"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no database"));
    // One without runs is told from one without the run that was asked for.
    assert!(runtape.run(&["recover"]).status.success());
    for (arguments, expected) in [
        (&["runs"][..], "no runs found"),
        (&["tools"], "no tool calls found"),
        (&["usage"], "no reported tokens found"),
        (
            &["show", "last"],
            "there are no runs yet\nhint: record something first",
        ),
        (
            &["show", "las"],
            "no run \"las\"\nhint: the run that began last is `last`",
        ),
        (&["show", "other"], "no run \"other\"\nhint: `runtape runs`"),
        (
            &["ingest", "no-file"],
            "runtape: no-file: cannot be read: No such file",
        ),
    ] {
        let output = runtape.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = stderr(&output);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let other = runtape.path("other.txt");
    fs::write(
        &other,
        "something that is long enough to be a database, and none\n",
    )
    .unwrap();
    let output = runtape.run(&["--db", other.to_str().unwrap(), "runs"]);
    let said = stderr(&output);
    assert!(
        said.contains("this is no database: name another file"),
        "{said}"
    );
    assert_eq!(said.matches("file is not a database").count(), 1, "{said}");
    assert_eq!(
        runtape.run(&["runs", "--outcome", "fine"]).status.code(),
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

#[test]
fn schemas_are_printed_one_by_one_all_together_or_as_a_bundle_and_written_to_a_directory() {
    let runtape = Runtape::new();
    let all = runtape.json(&["schema", "--all"]);
    let listed = runtape.json(&["schema"]);
    assert_eq!(all.len(), listed.len());
    for (schema, info) in all.iter().zip(&listed) {
        assert_eq!(schema["$id"], info["id"]);
    }
    let bundle = runtape.json(&["schema", "bundle"]);
    assert_eq!(bundle[0]["title"], "Runtape");

    let directory = runtape.path("schemas");
    let name = directory.to_str().unwrap();
    let written = runtape.json(&["schema", "-o", name]);
    assert_eq!(
        written.len(),
        listed.len() + 1,
        "every kind, and the bundle"
    );
    for file in &written {
        let text = fs::read_to_string(file["path"].as_str().unwrap()).unwrap();
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/v1");
        let committed = committed.join(
            Path::new(file["path"].as_str().unwrap())
                .file_name()
                .unwrap(),
        );
        assert_eq!(text, fs::read_to_string(committed).unwrap());
    }
    let one = runtape.path("one");
    let output = runtape.run(&["schema", "event", "--output", one.to_str().unwrap()]);
    assert!(output.status.success());
    assert_eq!(fs::read_dir(&one).unwrap().count(), 1);
    let output = runtape.run(&["schema", "event", "--all"]);
    assert_eq!(output.status.code(), Some(2));
    // A file where the directory should be is named.
    fs::write(runtape.path("file"), "").unwrap();
    let output = runtape.run(&["schema", "-o", runtape.path("file").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("file"), "{}", stderr(&output));
}

#[test]
fn validation_refuses_unknown_types_when_strict_repeats_little_and_suggests_the_kind() {
    let runtape = Runtape::new();
    let file = runtape.path("lines.jsonl");
    let name = file.to_str().unwrap();
    let base = r#""id":"e","timestamp":1,"jobId":"j","runId":"r""#;
    let warning = format!(r#"{{{base},"type":"warning","message":"m"}}"#);
    let newer = format!(r#"{{{base},"type":"newcomer"}}"#);
    fs::write(&file, format!("{warning}\n{newer}\n")).unwrap();
    assert!(runtape.run(&["validate", name]).status.success());
    let output = runtape.run(&["validate", "--strict", name]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("line 2: unknown type newcomer"));
    assert!(
        stderr(&output).contains("1 lines of unknown types"),
        "{}",
        stderr(&output)
    );

    let broken = format!(r#"{{{base},"type":"warning"}}"#);
    fs::write(&file, format!("{broken}\n").repeat(50)).unwrap();
    let output = runtape.run(&["validate", name]);
    let text = stdout(&output);
    assert_eq!(text.matches("missing field `message`").count(), 4, "{text}");
    assert!(
        text.contains("47 more like: warning: missing field `message`"),
        "{text}"
    );
    let output = runtape.run(&["validate", "--full", name]);
    assert_eq!(stdout(&output).lines().count(), 50);
    // JSON is never cut.
    let output = runtape.run(&["validate", "--json", name]);
    assert_eq!(stdout(&output).lines().count(), 51, "and the sum");

    let entry = r#"{"ts":"2026-01-01T00:00:00.000Z","kind":"user","text":"hello"}"#;
    fs::write(&file, format!("{entry}\n{entry}\n")).unwrap();
    let output = runtape.run(&["validate", name]);
    assert!(
        stderr(&output).contains("they look like transcript-entry: try --kind transcript-entry"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_runtime_is_recognised_in_a_first_line_of_any_length() {
    let runtape = Runtape::new();
    for capture in ["claude-code/long-line.json", "gemini/long-line.json"] {
        let path = fixtures().join(format!("{capture}.stdout"));
        assert!(fs::metadata(&path).unwrap().len() > 100_000);
        let runtime = capture.split('/').next().unwrap();
        let summary = runtape.json(&["normalize", "--as", "summary", path.to_str().unwrap()]);
        assert_eq!(summary[0]["runtime"], runtime);
        let mut command = runtape.command(&["--json", "ingest", "-"]);
        let output = command
            .stdin(fs::File::open(&path).unwrap())
            .output()
            .unwrap();
        let line = stdout(&output);
        let line: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        assert_eq!(line["run"]["runtime"], runtime, "{}", stderr(&output));
    }
}

#[test]
fn what_is_printed_fits_the_width_that_was_asked_for() {
    use unicode_width::UnicodeWidthStr;
    let runtape = Runtape::with_a_last_run();
    for arguments in [
        &["runs"][..],
        &["jobs"],
        &["tools"],
        &["tools", "--calls"],
        &["files"],
        &["usage"],
        &["usage", "--by", "model"],
        &["usage", "--explain"],
        &["drift"],
        &["runtimes"],
        &["search", "exit code"],
        &["events", "last"],
    ] {
        for columns in [60, 80, 200] {
            let mut command = runtape.command(arguments);
            let output = command
                .env("COLUMNS", columns.to_string())
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
            for line in stdout(&output).lines() {
                let is_note = line.starts_with("no room for: ");
                assert!(line.width() <= columns || is_note, "{arguments:?}: {line}");
            }
        }
    }
    // In a pipe that nobody gave a width, nothing is left out.
    let mut command = runtape.command(&["runs"]);
    let output = command.env_remove("COLUMNS").output().unwrap();
    assert!(stdout(&output).contains("cost $"), "{}", stdout(&output));
}
