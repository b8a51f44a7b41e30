//! `--json`: every line of every command fits its published schema.

use std::collections::BTreeSet;
use std::fs;

use runtape_schemas::{SchemaKind, Validator};
use serde_json::Value;

use crate::harness::{Runtape, capture, fixtures, stderr};

/// Checks every line that a command prints, and that it prints any. Returns the lines.
fn fits(runtape: &Runtape, arguments: &[&str], kind: SchemaKind, code: i32) -> Vec<Value> {
    let output = runtape.run(&[&["--json"], arguments].concat());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let values: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!values.is_empty(), "{arguments:?} says nothing: {said}");
    for value in &values {
        let verdict = Validator::for_kind(kind).validate(value);
        assert!(
            verdict.is_valid(),
            "{arguments:?} is no {kind}: {:#?}\n{value}",
            verdict.faults()
        );
    }
    values
}

/// Returns the names of all commands, as the binary itself tells them.
fn commands(runtape: &Runtape) -> BTreeSet<String> {
    let directory = runtape.path("man");
    let pages = fits(
        runtape,
        &["man", "--output", directory.to_str().unwrap()],
        SchemaKind::Document,
        0,
    );
    let names = pages.iter().filter_map(|page| {
        let file = page["file"].as_str().unwrap();
        assert!(fs::metadata(file).unwrap().len() > 0, "{file}");
        let name = page["name"].as_str()?.strip_prefix("runtape-")?;
        Some(name.strip_suffix(".1")?.to_owned())
    });
    names.filter(|name| name != "help").collect()
}

/// What to ask, what every line of the answer is, and the exit code. Words in braces are files.
const CASES: &[(&str, SchemaKind, i32)] = &[
    ("ingest {capture} --again", SchemaKind::IngestLine, 0),
    ("ingest {empty}", SchemaKind::IngestLine, 1),
    (
        "sync --runtime claude-code --from {history}",
        SchemaKind::SyncLine,
        0,
    ),
    ("wait last", SchemaKind::RunInfo, 0),
    ("normalize {capture}", SchemaKind::Event, 0),
    ("normalize --as records {capture}", SchemaKind::Record, 0),
    ("normalize --as summary {capture}", SchemaKind::Summary, 0),
    (
        "normalize --as transcript {capture}",
        SchemaKind::TranscriptEntry,
        0,
    ),
    ("runs --children --limit 0", SchemaKind::RunInfo, 0),
    ("runs --text session", SchemaKind::RunInfo, 0),
    ("jobs --limit 0", SchemaKind::JobInfo, 0),
    ("sessions --limit 0", SchemaKind::SessionInfo, 0),
    ("show last", SchemaKind::RunDetail, 0),
    ("show", SchemaKind::RunDetail, 0),
    ("show --as summary last", SchemaKind::Summary, 0),
    ("show --as summary --all", SchemaKind::Summary, 0),
    ("transcript last", SchemaKind::TranscriptEntry, 0),
    ("events last", SchemaKind::Event, 0),
    ("events last --as records", SchemaKind::Record, 0),
    ("checkpoint last", SchemaKind::Checkpoint, 0),
    ("search file", SchemaKind::SearchHit, 0),
    ("search --regex f[io]le", SchemaKind::SearchHit, 0),
    ("search --runs file", SchemaKind::SearchedRun, 0),
    ("usage", SchemaKind::UsageGroup, 0),
    ("usage --by day", SchemaKind::UsageGroup, 0),
    ("usage --by model", SchemaKind::UsageGroup, 0),
    ("usage --by job", SchemaKind::UsageGroup, 0),
    ("usage --by day,model --utc", SchemaKind::UsageGroup, 0),
    ("prices", SchemaKind::ModelPrice, 0),
    ("prices gpt-5 nosuchmodel", SchemaKind::ModelPrice, 0),
    ("usage --explain --limit 0", SchemaKind::LedgerEntry, 0),
    ("tools --limit 0", SchemaKind::ToolUse, 0),
    ("tools --calls --limit 0", SchemaKind::ToolCallInfo, 0),
    ("files --limit 0", SchemaKind::FileUse, 0),
    ("commands --limit 0", SchemaKind::ToolCallInfo, 0),
    ("errors --limit 0", SchemaKind::RunInfo, 0),
    ("drift --limit 0", SchemaKind::Drift, 0),
    ("diff last:1 last", SchemaKind::CheckpointDiff, 0),
    ("raw last", SchemaKind::RawOutput, 0),
    ("raw {place}", SchemaKind::RawOutput, 0),
    (
        "session --runtime claude-code",
        SchemaKind::SessionAnswer,
        0,
    ),
    ("session --job nosuchjob", SchemaKind::SessionAnswer, 1),
    ("sql {query}", SchemaKind::SqlRow, 0),
    ("verify", SchemaKind::VerifyReport, 0),
    ("renormalize --all", SchemaKind::RenormalizedRun, 0),
    ("scan", SchemaKind::ScanLine, 0),
    ("redact --all --dry-run", SchemaKind::RedactLine, 0),
    ("config path", SchemaKind::ConfigInfo, 0),
    ("config show", SchemaKind::ConfigInfo, 0),
    ("rebuild last", SchemaKind::RebuiltRun, 0),
    ("rebuild --all", SchemaKind::RebuiltRun, 0),
    ("stats", SchemaKind::StoreStats, 0),
    ("doctor", SchemaKind::DoctorReport, 0),
    ("doctor --db {broken}", SchemaKind::DoctorReport, 3),
    ("paperclip session {request}", SchemaKind::AdapterSession, 0),
    (
        "paperclip environment {request}",
        SchemaKind::AdapterEnvironment,
        0,
    ),
    ("paperclip argv {request}", SchemaKind::AdapterCommand, 0),
    ("paperclip check {request}", SchemaKind::DoctorReport, 0),
    ("runtimes", SchemaKind::RuntimeInfo, 0),
    ("schema", SchemaKind::SchemaInfo, 0),
    ("schema -o {schemas}", SchemaKind::SchemaInfo, 0),
    ("completions bash", SchemaKind::Document, 0),
    ("man", SchemaKind::Document, 0),
    ("export last", SchemaKind::Record, 0),
    ("export last --as events", SchemaKind::Event, 0),
    ("export last -o {lines}", SchemaKind::ExportedFile, 0),
    (
        "export last --format bundle -o {bundle}",
        SchemaKind::ExportedFile,
        0,
    ),
    ("verify --bundle {bundle}", SchemaKind::VerifyReport, 0),
    ("import {lines}", SchemaKind::ImportedRun, 0),
    ("import {bundle}", SchemaKind::ImportedRun, 0),
    (
        "export --format perstack --job {job} {trees}",
        SchemaKind::ExportedTree,
        0,
    ),
    ("import {trees}", SchemaKind::TreeLine, 0),
    ("import {damaged}", SchemaKind::TreeLine, 3),
    (
        "validate --kind record {lines}",
        SchemaKind::ValidationLine,
        0,
    ),
    (
        "validate --kind record {bad}",
        SchemaKind::ValidationLine,
        3,
    ),
    ("ingest {web}", SchemaKind::IngestLine, 0),
    ("network --limit 0", SchemaKind::HostUse, 0),
    ("network --calls", SchemaKind::NetworkCall, 0),
    ("ingest {denied}", SchemaKind::IngestLine, 0),
    ("notices --kind permissionDenied", SchemaKind::NoticeInfo, 0),
    ("errors --by family", SchemaKind::FailureSum, 0),
    ("tools --class write --calls", SchemaKind::ToolCallInfo, 0),
    ("files --written", SchemaKind::FileUse, 0),
    ("files --calls", SchemaKind::FileCall, 0),
    ("backup {copy}", SchemaKind::BackupReport, 0),
    ("push {pushed}", SchemaKind::CopyLine, 0),
    ("pull {pushed}", SchemaKind::CopyLine, 0),
    ("db status", SchemaKind::DatabaseStatus, 0),
    ("db migrate", SchemaKind::MigrationReport, 0),
    #[cfg(feature = "postgres")]
    ("db shard-sql", SchemaKind::Document, 0),
    ("db roles-sql", SchemaKind::Document, 0),
    ("gc --run last --dry-run", SchemaKind::GcReport, 0),
    ("gc --run last", SchemaKind::GcReport, 0),
    #[cfg(unix)]
    (
        "record --report {report} -- {claude}",
        SchemaKind::TranscriptEntry,
        3,
    ),
    // What the broken database could not take.
    #[cfg(unix)]
    (
        "record --run-id spooled --db {broken} -- {claude}",
        SchemaKind::TranscriptEntry,
        3,
    ),
    #[cfg(unix)]
    ("recover --spool {spool}", SchemaKind::RecoveredRun, 0),
];

fn fixture(name: &str) -> String {
    fixtures().join(name).to_str().unwrap().to_owned()
}

/// Makes the file, or finds the text, that a word in braces stands for.
fn stand_in(runtape: &Runtape, name: &str) -> String {
    let text = match name {
        "{history}" => {
            let history = fixtures().join("claude-code/fork-tree.sessions.history");
            return history.to_str().unwrap().to_owned();
        }
        "{web}" => return fixture("cursor/web.stream-json.stdout"),
        "{denied}" => return fixture("claude-code/permission-denied.stream-json.stdout"),
        "{capture}" => return capture().to_str().unwrap().to_owned(),
        "{query}" => return "SELECT *, x'00' AS blob FROM v_runs".to_owned(),
        "{place}" => {
            let records = runtape.json(&["events", "last", "--as", "records"]);
            let printed = records.iter().find(|record| record["span"].is_object());
            return format!("last:{}", printed.unwrap()["seq"]);
        }
        "{job}" => {
            let run = runtape.json(&["show", "last"]).remove(0);
            let job = run.get("jobId").and_then(Value::as_str);
            return job.unwrap().to_owned();
        }
        "{damaged}" => {
            let job = runtape.path("damaged/perstack/jobs/job-1");
            fs::create_dir_all(&job).unwrap();
            fs::write(job.join("job.json"), "{}").unwrap();
            None
        }
        #[cfg(unix)]
        "{claude}" => {
            return runtape.script("claude", &format!("cat {}; exit 3", capture().display()));
        }
        "{spool}" => {
            let spool = runtape.path("broken.spool/spooled.runtape-spool");
            return spool.to_str().unwrap().to_owned();
        }
        "{bad}" => Some("{\"type\": \"later\"}\n{\"runId\": 5}\nno json\n"),
        "{request}" => Some(
            r#"{"runtime": "cursor", "cwd": "/w", "config": {"runtime": "cursor"}, "server": {"GH_TOKEN": "x"}}"#,
        ),
        "{broken}" => Some("no database, though long enough to be taken for one"),
        "{empty}" => Some(""),
        _ => None,
    };
    let path = runtape.path(name.trim_matches(['{', '}']));
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_line_of_every_command_fits_its_schema() {
    let runtape = Runtape::with_a_last_run();
    let mut covered = BTreeSet::new();
    for (case, kind, code) in CASES {
        let words: Vec<String> = case
            .split(' ')
            .map(|word| match word.strip_prefix('{') {
                Some(_) => stand_in(&runtape, word),
                None => word.to_owned(),
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        fits(&runtape, &words, *kind, *code);
        covered.insert(words[0].to_owned());
    }
    // It does not end by itself; the suite `serve` checks the line that it begins with.
    covered.insert("serve".to_owned());
    #[cfg(unix)]
    {
        let report = fs::read(runtape.path("report")).unwrap();
        let report = serde_json::from_slice(&report).unwrap();
        let verdict = Validator::for_kind(SchemaKind::RecordReport).validate(&report);
        assert!(verdict.is_valid(), "{:#?}", verdict.faults());
    }
    let schema = runtape.json(&["schema", "run-info"]);
    assert_eq!(schema[0], *SchemaKind::RunInfo.schema());

    let all = commands(&runtape);
    assert!(all.len() > 30, "{all:?}");
    let left_out: Vec<&String> = all.difference(&covered).collect();
    assert!(
        left_out.is_empty(),
        "commands without a schema: {left_out:?}"
    );
}

#[test]
fn what_nobody_reported_is_null_and_never_zero() {
    let runtape = Runtape::new();
    let text = runtape.path("quiet.stdout");
    fs::write(&text, "All done.\n").unwrap();
    let arguments = ["ingest", "--runtime", "hermes", "--exit-code", "0"];
    let output = runtape.run(&[&arguments[..], &[text.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for command in ["runs", "jobs"] {
        let value = &runtape.json(&[command])[0];
        assert_eq!(value["usage"], Value::Null, "{command}: {value}");
        assert_eq!(value["costUsd"], Value::Null, "{command}: {value}");
    }
    let output = runtape.run(&["jobs"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(!shown.contains("input"), "{shown}");
}
