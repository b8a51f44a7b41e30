//! One line of hashes for every fixture, history and synthetic run: records, ids, tape, chain and summary.
//!
//! A line may change only in a commit whose message names it and says why.
//! `RUNTAPE_GOLDEN=write cargo test -p runtape-recorder --test history golden` writes `tests/fixtures/golden.tsv` anew.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use runtape_core::{JobId, RunId, Runtime, Stream, summarize};
use runtape_normalizer::redact::{RedactionKey, RuleSet, Tier};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_normalizer::{Context, Exit};
use runtape_recorder::history::Joiner;
use runtape_recorder::{Capture, RecordError, store_captures};
use runtape_store::Store;
use runtape_tests::synthetic::LongRun;
use serde_json::Value;

use crate::executions::{Execution, NOW, fixtures, in_fixtures, roots};

/// When every capture began.
const BEGAN_AT: i64 = 1_800_000_000_000;

/// How many steps a synthetic run has.
const SYNTHETIC_STEPS: usize = 20;

/// Hashes pieces of bytes; each piece's length is part of the hash.
#[derive(Default)]
struct Digest(blake3::Hasher);

impl Digest {
    fn add(&mut self, piece: &[u8]) {
        self.0.update(&(piece.len() as u64).to_le_bytes());
        self.0.update(piece);
    }

    fn finish(&self) -> String {
        self.0.finalize().to_hex().chars().take(16).collect()
    }
}

/// Returns the hashes of everything in a store, in the order of the file's columns.
fn hashes(store: &Store) -> String {
    let [mut records, mut ids, mut tape, mut chain, mut summaries] =
        std::array::from_fn(|_| Digest::default());
    for checkpoint in store.checkpoints_by_prefix("", usize::MAX).unwrap() {
        ids.add(checkpoint.as_str().as_bytes());
    }
    for root in roots(store) {
        let tree = store.tree_records(&root).unwrap();
        for record in &tree {
            records.add(&serde_json::to_vec(record).unwrap());
            ids.add(record.run_id.as_str().as_bytes());
        }
        let run = store.run(&root).unwrap();
        ids.add(run.job_id.as_str().as_bytes());
        for chunk in store.tape(&root).unwrap() {
            tape.add(chunk.stream.as_str().as_bytes());
            tape.add(&chunk.received_at.to_le_bytes());
            tape.add(&chunk.bytes);
        }
        if let Some(summary) = summarize(&tree) {
            summaries.add(&serde_json::to_vec(&summary).unwrap());
        }
    }
    let head = store.head().unwrap().expect("something is sealed");
    chain.add(head.hash.as_bytes());
    [records, ids, tape, chain, summaries]
        .map(|digest| digest.finish())
        .join("\t")
}

/// Returns the hashes of one finished output.
fn hashes_of_output(
    runtime: &Runtime,
    argv: Option<Vec<String>>,
    output: [&[u8]; 2],
    exit: Exit,
) -> String {
    let mut store = Store::open_in_memory().unwrap();
    let job = JobId::parse("golden-job").unwrap();
    let mut context = Context::new(job, RunId::parse("golden-run").unwrap());
    context.argv = argv;
    let [stdout, stderr] = output;
    let capture = Capture {
        runtime: runtime.clone(),
        context,
        started_at: BEGAN_AT,
        output: vec![
            (Stream::Stdout, BEGAN_AT + 1, stdout.to_vec()),
            (Stream::Stderr, BEGAN_AT + 2, stderr.to_vec()),
        ],
        exit,
    };
    // A key of its own, so that the commitments in markers are part of what is compared.
    let rules = RuleSet::new(Tier::Definite).with_key(RedactionKey::new([7; 32]));
    store_captures::<(), RecordError>(
        &mut store,
        [((), Some(capture))].into_iter(),
        &Arc::new(rules),
        || NOW,
        |_, (), stored| {
            stored.unwrap().unwrap();
            Ok(())
        },
    )
    .unwrap();
    hashes(&store)
}

fn hashes_of_capture(runtime: &Runtime, meta_path: &Path) -> String {
    let meta: Value = serde_json::from_slice(&fs::read(meta_path).unwrap()).unwrap();
    let stem = meta_path.to_str().unwrap().replace(".meta.json", "");
    let output = |ending: &str| fs::read(format!("{stem}.{ending}")).unwrap_or_default();
    let code = meta["exit_code"].as_i64();
    let exit = code.map_or_else(Exit::unknown, |code| {
        Exit::with_code(i32::try_from(code).unwrap())
    });
    let argv = serde_json::from_value(meta["argv"].clone()).ok();
    hashes_of_output(runtime, argv, [&output("stdout"), &output("stderr")], exit)
}

/// Returns the hashes of a history alone, and where its output was kept, joined with it in either order.
fn lines_of_history(execution: &Execution, lines: &mut BTreeMap<String, String>) {
    let name = format!("{}/{}", execution.runtime, execution.name);
    let mut store = Store::open_in_memory().unwrap();
    execution.sync(&mut store);
    lines.insert(format!("{name} history"), hashes(&store));
    if execution.printed.is_empty() {
        return;
    }
    let recorded = execution.ingest(&mut store);
    let mut joiner = Joiner::default();
    for run in &recorded {
        joiner.join(&mut store, run, NOW).unwrap();
    }
    lines.insert(format!("{name} history, output"), hashes(&store));
    let mut store = Store::open_in_memory().unwrap();
    execution.ingest(&mut store);
    execution.sync(&mut store);
    lines.insert(format!("{name} output, history"), hashes(&store));
}

fn lines() -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    for entry in RUNTIMES {
        let name = entry.runtime.as_str();
        let files = fs::read_dir(fixtures().join(name)).into_iter().flatten();
        for file in files.map(|file| file.unwrap().path()) {
            let file_name = file.file_name().unwrap().to_str().unwrap();
            if let Some(stem) = file_name.strip_suffix(".meta.json") {
                let hashes = hashes_of_capture(&entry.runtime, &file);
                lines.insert(format!("{name}/{stem}"), hashes);
            }
        }
        if let Some(run) = LongRun::new(name, 7) {
            let stdout = run.write(SYNTHETIC_STEPS);
            let output: [&[u8]; 2] = [&stdout, b""];
            let hashes = hashes_of_output(&entry.runtime, None, output, Exit::with_code(0));
            lines.insert(format!("{name} synthetic"), hashes);
        }
    }
    for execution in in_fixtures() {
        lines_of_history(&execution, &mut lines);
    }
    lines
}

#[test]
fn golden_hashes_are_as_they_were() {
    let path = fixtures().join("golden.tsv");
    let mut now = "name\trecords\tids\ttape\tchain\tsummary\n".to_owned();
    for (name, hashes) in lines() {
        writeln!(now, "{name}\t{hashes}").unwrap();
    }
    if env::var_os("RUNTAPE_GOLDEN").is_some_and(|value| value == "write") {
        fs::write(path, now).unwrap();
        return;
    }
    let before = fs::read_to_string(path).unwrap();
    let before: Vec<&str> = before.lines().collect();
    let changed: Vec<&str> = now.lines().filter(|line| !before.contains(line)).collect();
    let lost = before.len() + changed.len() - now.lines().count();
    assert!(
        changed.is_empty() && lost == 0,
        "{} lines are new or changed, {lost} of the file are no longer made:\n{}",
        changed.len(),
        changed.join("\n")
    );
}
