//! A run recorded live, the same capture ingested from a file, and the same piped into
//! `normalize` give the same records.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Map, Value};

use crate::harness::{Runtape, fixtures, stderr};

/// What differs by nature: times and durations derived from them, the id of the run and all that
/// derive from it, and where it ran.
const DROPPED: &[&str] = &[
    "at",
    "startedAt",
    "finishedAt",
    "retryAt",
    "runId",
    "jobId",
    "id",
    "seq",
    "checkpointId",
    "timeSource",
    "host",
    "user",
    "cwd",
    "gitBranch",
    "gitCommit",
    "timestamp",
];

fn captures() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for runtime in fs::read_dir(fixtures()).unwrap() {
        let runtime = runtime.unwrap().path();
        if runtime.is_dir() {
            let files = fs::read_dir(runtime).unwrap();
            found.extend(files.map(|file| file.unwrap().path()));
        }
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "stdout"));
    found.sort();
    found
}

/// What is known of a capture. One tells no command line; any will do.
fn meta(stdout: &Path) -> Value {
    let text = fs::read(stdout.with_extension("meta.json")).unwrap();
    let mut meta: Value = serde_json::from_slice(&text).unwrap();
    if meta["argv"].is_null() {
        meta["argv"] = serde_json::json!(["agent"]);
    }
    meta
}

/// Numbers ids that derive from the run's, in the order of their first appearance.
fn renumber(text: &mut String, ids: &mut Vec<String>) {
    let is_digit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if text.len() == 24 && text.bytes().all(is_digit) {
        if !ids.contains(text) {
            ids.push(text.clone());
        }
        let number = ids.iter().position(|id| id == text).unwrap();
        *text = format!("id {number}");
    }
}

/// Drops what differs by nature.
fn plain(value: &mut Value, ids: &mut Vec<String>) {
    match value {
        Value::String(text) => renumber(text, ids),
        Value::Object(fields) => {
            fields.retain(|key, _| !DROPPED.contains(&key.as_str()));
            if let Some(Value::Array(notes)) = fields.get_mut("results") {
                // How long a call took is told by the times of two records, where nobody said it.
                for note in notes.iter_mut().filter_map(Value::as_object_mut) {
                    note.shift_remove("durationMs");
                }
                notes.retain(|note| note.as_object().is_some_and(|note| note.len() > 1));
                if notes.is_empty() {
                    fields.shift_remove("results");
                }
            }
            fields.values_mut().for_each(|value| plain(value, ids));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| plain(item, ids)),
        _ => {}
    }
}

/// Puts the records of each run and stream apart, in order, without what differs by nature.
/// Runs are numbered in the order of their first record on standard output.
pub(crate) fn streams(records: Vec<Value>) -> Streams {
    let mut runs: Vec<String> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let mut streams = Streams::new();
    for mut record in records {
        let run = record["runId"].as_str().unwrap().to_owned();
        if !runs.contains(&run) {
            runs.push(run.clone());
        }
        let number = runs.iter().position(|known| *known == run).unwrap();
        let stream = record["span"]["stream"]
            .as_str()
            .unwrap_or("none")
            .to_owned();
        if stream == "stderr" {
            // Which step of standard output it fell into is a matter of the order between streams.
            record.as_object_mut().unwrap().shift_remove("step");
        }
        plain(&mut record, &mut ids);
        if record["type"] == "metadata" {
            // Both streams tell; which of them does so first is a matter of the order between them.
            let known = streams.entry((number, "metadata".to_owned())).or_default();
            if known.is_empty() {
                known.push(Value::Object(Map::new()));
            }
            let set = record["set"].as_object().unwrap().clone();
            known[0].as_object_mut().unwrap().extend(set);
        } else {
            streams.entry((number, stream)).or_default().push(record);
        }
    }
    for metadata in streams
        .values_mut()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        metadata.sort_keys();
    }
    streams
}

/// Records a capture that is replayed.
fn record(runtape: &Runtape, id: &str, stdout: &Path, meta: &Value) -> Result<(), String> {
    let argv: Vec<String> = serde_json::from_value(meta["argv"].clone()).unwrap();
    let code = i32::try_from(meta["exit_code"].as_i64().unwrap_or(0)).unwrap();
    let command = Path::new(&argv[0]).file_name().unwrap().to_str().unwrap();
    // A capture that ended by a signal has a negative code.
    let script = runtape.replayer(command, stdout, code.max(0));
    if code < 0 {
        let text = fs::read_to_string(&script).unwrap();
        let end = format!("exit {}", code.max(0));
        fs::write(&script, text.replace(&end, &format!("kill -{} $$", -code))).unwrap();
    }
    let arguments: Vec<&str> = argv.iter().map(String::as_str).collect();
    let options = ["record", "--show", "none", "--run-id", id, "--runtime"];
    let runtime = meta["runtime"].as_str().unwrap();
    let path = format!(
        "{}:{}",
        runtape.path("").display(),
        std::env::var("PATH").unwrap()
    );
    let output = runtape
        .command(&[&options[..], &[runtime, "--"], &arguments].concat())
        .env("PATH", path)
        .output()
        .unwrap();
    let expected = if code < 0 { 128 - code } else { code };
    if output.status.code() != Some(expected) {
        return Err(format!("{:?}: {}", output.status, stderr(&output)));
    }
    Ok(())
}

/// Compares the records of a capture in a database that others were compared in: a fresh one for each takes longer to
/// make than all the rest.
fn compare(runtape: &Runtape, live: &str, stdout: &Path) -> Result<(), String> {
    let meta = meta(stdout);
    record(runtape, live, stdout, &meta)?;

    let path = stdout.to_str().unwrap();
    // A name of its own: captures of the same bytes would be the same file again.
    let copy = runtape.path(&format!("{live}.stdout"));
    for ending in ["stdout", "stderr"] {
        let from = stdout.with_extension(ending);
        if from.is_file() {
            fs::copy(from, copy.with_extension(ending)).unwrap();
        }
    }
    fs::write(copy.with_extension("meta.json"), meta.to_string()).unwrap();
    let stored = runtape.json(&["ingest", copy.to_str().unwrap()]);
    let id = stored[0]["runId"].as_str().ok_or("not ingested")?;
    let mut exported = runtape.json(&["export", live, id]);
    let first = exported.iter().position(|record| record["runId"] == id);
    let ingested = streams(exported.split_off(first.ok_or("not exported")?));
    let live = streams(exported);
    assert!(!live.is_empty() && !ingested.is_empty(), "{path}");

    let stderr = stdout.with_extension("stderr");
    let (argv, code) = (meta["argv"].to_string(), meta["exit_code"].to_string());
    let mut arguments = vec!["normalize", "--as", "records", "--argv", &argv, "--runtime"];
    arguments.extend([meta["runtime"].as_str().unwrap(), path]);
    if meta["exit_code"].is_i64() {
        arguments.extend(["--exit-code", &code]);
    }
    if stderr.is_file() {
        arguments.extend(["--stderr", stderr.to_str().unwrap()]);
    }
    let normalized = streams(runtape.json(&arguments));
    same("live and ingested", &live, &ingested)?;
    same("ingested and normalized", &ingested, &normalized)
}

pub(crate) type Streams = BTreeMap<(usize, String), Vec<Value>>;

pub(crate) fn same(what: &str, one: &Streams, other: &Streams) -> Result<(), String> {
    if one == other {
        return Ok(());
    }
    for ((key, one), (other_key, other)) in one.iter().zip(other) {
        for (one, other) in one.iter().zip(other) {
            if one != other {
                return Err(format!("{what} differ in {key:?}:\n  {one}\n  {other}"));
            }
        }
        if key != other_key || one.len() != other.len() {
            return Err(format!(
                "{what}: {key:?} has {}, {other_key:?} {}",
                one.len(),
                other.len()
            ));
        }
    }
    Err(format!("{what} have other streams"))
}

#[test]
fn live_ingested_and_normalized_give_the_same_records() {
    let captures = captures();
    assert!(captures.len() > 300, "{}", captures.len());
    let (queue, failed) = (Mutex::new(captures), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtape = Runtape::new();
                for number in 0.. {
                    let Some(capture) = queue.lock().unwrap().pop() else {
                        return;
                    };
                    if let Err(fault) = compare(&runtape, &format!("live{number}"), &capture) {
                        let fault: String = fault.chars().take(2000).collect();
                        let line = format!("{}: {fault}", capture.display());
                        failed.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "{} captures\n{}",
        failed.len(),
        failed.join("\n")
    );
}
