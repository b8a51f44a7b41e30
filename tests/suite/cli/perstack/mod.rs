//! Perstack's job trees, end to end: the whole corpus written, checked on the raw files, and read
//! back.

mod checker;
mod mutations;
mod shape;
mod timeline;
mod trees;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use checker::Checker;
use runtape_core::record::{CheckpointHead, MessageRecord};
use runtape_core::{Message, Metadata, Record, RecordKind, RunId};
use runtape_schemas::{SchemaKind, Validator, Verdict};
use runtape_store::{BeginRun, Options, RunFilter, Store};
use serde_json::{Value, json};

use crate::harness::{Runtape, capture, fixtures, stderr};

impl Runtape {
    fn ok(&self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        output
    }

    /// Writes every job as a tree, and returns where.
    fn export_all(&self, name: &str) -> PathBuf {
        let jobs = self.json(&["jobs", "--limit", "0"]);
        let base = self.path(name);
        let mut arguments = vec!["export", "--format", "perstack", base.to_str().unwrap()];
        for job in &jobs {
            arguments.extend(["--job", job["jobId"].as_str().unwrap()]);
        }
        self.ok(&arguments);
        base
    }

    fn import(&self, tree: &Path) -> Output {
        self.run(&["import", "--format", "perstack", tree.to_str().unwrap()])
    }

    fn store(&self) -> Store {
        Store::open(self.path("runtape.db"), &Options::read_only()).unwrap()
    }
}

/// The whole corpus in a database, and its trees: made once, since all tests only read them.
fn corpus() -> &'static (Runtape, PathBuf) {
    static CORPUS: OnceLock<(Runtape, PathBuf)> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let runtape = Runtape::with_fixtures();
        if let Some(corpus) = std::env::var_os("RUNTAPE_CORPUS") {
            // Cargo runs tests in the package's directory; the variable is relative to the workspace.
            let corpus = fixtures().join("../..").join(corpus);
            for runtime in ["claude-code", "cursor", "gemini", "hermes"] {
                let captures = corpus.join(runtime);
                runtape.run(&["ingest", captures.to_str().unwrap()]);
            }
        }
        let tree = runtape.export_all("corpus");
        (runtape, tree)
    })
}

/// Returns all files of a tree with their contents, by path, but for what an export says of it.
fn contents(base: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![base.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if !path.ends_with(".runtape-export.json") {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path.strip_prefix(base).unwrap().to_owned(), text);
            }
        }
    }
    found
}

#[test]
fn every_file_of_the_corpus_holds_to_perstacks_rules() {
    let (runtape, tree) = corpus();
    let checker = Checker::check(tree);
    assert!(
        checker.found.is_empty(),
        "{:#?}",
        &checker.found[..checker.found.len().min(20)]
    );
    let runs = runtape.json(&["runs", "--children", "--limit", "0"]);
    let count = |status: &str| runs.iter().filter(|run| run["status"] == status).count();
    let lines = |kind: &str| checker.lines.get(kind).copied().unwrap_or(0);
    // Every run ends in a line of its own, and none is missing.
    assert_eq!(lines("complete"), count("completed"));
    assert_eq!(lines("error"), count("stoppedByError"));
    assert_eq!(lines("limit"), count("stoppedByExceededMaxSteps"));
    // So does every query that somebody knows, and every result of a call.
    let asked = runs
        .iter()
        .filter(|run| is_asked(&runtape.store(), run))
        .count();
    assert_eq!(lines("query"), asked);
    let answered = "SELECT count(*) AS answered FROM v_tool_calls WHERE result_seq IS NOT NULL";
    assert_eq!(
        runtape.json(&["sql", answered])[0]["answered"],
        lines("tool")
    );
    assert!(lines("tool") > 100 && asked > 200, "{:?}", checker.lines);
    assert!(checker.files > 3_000, "{}", checker.files);
}

/// Tells whether a run's records say what it was asked.
fn is_asked(store: &Store, run: &Value) -> bool {
    let id = RunId::parse(run["runId"].as_str().unwrap()).unwrap();
    let records = store.records(&id, 0, usize::MAX).unwrap();
    let before = records
        .iter()
        .take_while(|record| record.kind.tag() != "start");
    let mut said = before.filter_map(|record| match &record.kind {
        RecordKind::Message(message) => Some(&message.message),
        _ => None,
    });
    said.any(|message| matches!(message, Message::UserMessage(user) if !user.text().is_empty()))
}

#[test]
fn every_file_of_the_corpus_fits_our_own_schemas() {
    let (_, tree) = corpus();
    let mut validated = 0;
    for (path, text) in contents(tree) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let kind = match name {
            "job.json" => SchemaKind::Job,
            // Perstack's own affair: it has no schema here, and its rules are the checker's.
            "run-setting.json" => continue,
            _ if name.starts_with("event-") => SchemaKind::RunEvent,
            _ => SchemaKind::Checkpoint,
        };
        let value = serde_json::from_str(&text).unwrap();
        let verdict = Validator::for_kind(kind).validate(&value);
        assert_eq!(verdict, Verdict::Valid, "{}", path.display());
        validated += 1;
    }
    assert!(validated > 3_000, "{validated}");
}

/// What a tree holds of a run: everything but notices and places on the tape.
fn held(records: &[Record]) -> Vec<Value> {
    let mut metadata = Metadata::default();
    let mut kept = Vec::new();
    let mut ledger = Vec::new();
    let mut last = String::new();
    for record in records {
        match &record.kind {
            RecordKind::Run(opened) => kept.push(json!([record.run_id, record.at, opened])),
            RecordKind::Metadata(patch) => metadata.merge(&patch.set),
            RecordKind::Initialize(initialize) => kept.push(json!([record.run_id, initialize])),
            RecordKind::Start(_) => kept.push(json!([record.run_id, record.at, "start"])),
            RecordKind::Message(message) => {
                if let Some(spoken) = message.message.as_expert() {
                    last = spoken.text();
                }
                let offsets = Vec::new();
                let message = MessageRecord {
                    offsets,
                    ..message.clone()
                };
                kept.push(json!([record.run_id, record.at, message]));
            }
            RecordKind::Usage(entry) => ledger.push(entry.clone()),
            RecordKind::Checkpoint(head) => {
                // An answer that is the text of the last message need not be said again.
                let text = head.text.clone().filter(|text| *text != last);
                let head = CheckpointHead {
                    text,
                    ..head.as_ref().clone()
                };
                kept.push(json!([
                    record.run_id,
                    record.at,
                    head,
                    ledger,
                    sorted(&metadata)
                ]));
                ledger.clear();
            }
            _ => {}
        }
    }
    kept
}

fn sorted(metadata: &Metadata) -> BTreeMap<&str, &Value> {
    metadata.iter().collect()
}

#[test]
fn what_is_exported_comes_back() {
    let (runtape, tree) = corpus();
    let other = Runtape::new();
    let output = other.import(tree);
    assert!(output.status.success(), "{}", stderr(&output));
    let again = other.export_all("again");
    let (before, after) = (contents(tree), contents(&again));
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    for (path, text) in &before {
        assert_eq!(text, &after[path], "{}", path.display());
    }

    let (here, there) = (runtape.store(), other.store());
    let mut filter = RunFilter::default();
    filter.roots_only = true;
    let runs = here.runs(&filter, None, u32::MAX as usize).unwrap().items;
    assert!(runs.len() > 300, "{}", runs.len());
    for run in runs {
        let (here, there) = (
            records_of(&here, &run.run_id),
            records_of(&there, &run.run_id),
        );
        assert_eq!(held(&here), held(&there), "{}", run.run_id);
    }
    other.ok(&["verify"]);

    // Again, nothing changes; neither where the runs were recorded.
    for known in [&other, runtape] {
        let output = known.import(tree);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("0 runs stored"),
            "{}",
            stderr(&output)
        );
    }
    assert_eq!(records_of_all(&other.store()), records_of_all(&there));
}

fn records_of(store: &Store, run: &RunId) -> Vec<Record> {
    store.tree_records(run).unwrap()
}

fn records_of_all(store: &Store) -> usize {
    let filter = RunFilter::default();
    let runs = store.runs(&filter, None, u32::MAX as usize).unwrap().items;
    runs.iter()
        .map(|run| usize::try_from(run.records).unwrap())
        .sum()
}

#[test]
fn a_tree_that_is_there_is_not_overwritten_unless_told() {
    let runtape = Runtape::new();
    runtape.ok(&["ingest", "--exit-code", "0", capture().to_str().unwrap()]);
    let job = runtape.json(&["jobs"])[0]["jobId"]
        .as_str()
        .unwrap()
        .to_owned();
    let base = runtape.path("out");
    let export = [
        "export",
        "--format",
        "perstack",
        "--job",
        &job,
        base.to_str().unwrap(),
    ];
    runtape.ok(&export);
    let before = contents(&base);
    let file = base.join("perstack/jobs").join(&job).join("mine.txt");
    fs::write(&file, "mine").unwrap();
    let output = runtape.run(&export);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("is there already"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("--replace"), "{}", stderr(&output));
    assert!(file.exists());
    // What an export did not write is not removed by one.
    let replace = [&export[..], &["--replace"]].concat();
    let output = runtape.run(&replace);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("was not replaced"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    fs::remove_file(&file).unwrap();
    runtape.ok(&replace);
    assert_eq!(contents(&base), before);
    // Nothing is left over from writing.
    assert_eq!(fs::read_dir(base.join("perstack/jobs")).unwrap().count(), 1);

    for (arguments, code, said) in [
        (
            vec!["export", "--format", "perstack", "--job", "nosuch", "x"],
            1,
            "no job nosuch",
        ),
        (
            vec!["export", "--format", "perstack", "--job", "../x", "x"],
            2,
            "invalid job id",
        ),
        (
            vec!["export", "--format", "perstack", "x"],
            2,
            "--job JOB DIR",
        ),
        (
            vec!["export", "--job", &job, "last"],
            2,
            "name either runs, or filters",
        ),
    ] {
        let output = runtape.run(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(
            stderr(&output).contains(said),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_run_that_is_still_open_is_written_as_far_as_it_is() {
    let (runtape, _) = corpus();
    let store = runtape.store();
    let filter = RunFilter::default();
    let runs = store.runs(&filter, None, u32::MAX as usize).unwrap().items;
    let run = runs
        .iter()
        .find(|run| run.steps > 2 && run.root_run_id.is_none());
    let mut records = records_of(&store, &run.unwrap().run_id);
    // Stopped in the middle of the third step.
    let heads = records.iter().enumerate();
    let mut heads = heads.filter(|(_, record)| record.kind.tag() == "checkpoint");
    let (at, _) = heads.nth(1).unwrap();
    records.truncate(at + 2);
    let (first, RecordKind::Run(opened)) = (&records[0], &records[0].kind) else {
        panic!("the first record opens the run");
    };
    let other = Runtape::new();
    let mut store = Store::open(other.path("runtape.db"), &Options::default()).unwrap();
    let begin = BeginRun {
        job_id: opened.job_id.clone(),
        run_id: first.run_id.clone(),
        runtime: opened.runtime.clone(),
        started_at: first.at,
        context: Value::Null,
    };
    store.begin_run(&begin).unwrap();
    store.append(&begin.run_id, &records, &[]).unwrap();
    let tree = other.export_all("open");
    let checker = Checker::check(&tree);
    assert_eq!(checker.found, Vec::<String>::new());
    let files = contents(&tree);
    let job = files
        .iter()
        .find(|(path, _)| path.ends_with("job.json"))
        .unwrap();
    let job: Value = serde_json::from_str(job.1).unwrap();
    assert_eq!(
        (&job["status"], &job["totalSteps"]),
        (&json!("running"), &json!(2))
    );
}
