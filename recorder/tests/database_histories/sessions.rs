//! The sessions of a database, and the runs that are read from them.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_recorder::core::{JobId, Record, RunId, Runtime, Stream, summarize};
use runtape_recorder::history::database::{DatabaseSession, read_database};
use runtape_recorder::normalizer::history::{
    Framing, History, Session, SessionSource, read_session, segment_bytes,
};
use runtape_recorder::normalizer::runtimes::entry_for;
use runtape_recorder::normalizer::{Context, Exit, Kept, Normalizer, RunSource};

use crate::pairs::ReadRun;

/// Returns what a runtime says of its history.
pub(crate) fn history(runtime: &Runtime) -> &'static History {
    let history = entry_for(runtime).unwrap().history;
    history.expect("the runtime's history can be read")
}

/// A session with the sources it was read from.
pub(crate) struct FoundSession {
    pub(crate) sources: Vec<SessionSource>,
    pub(crate) session: Session,
}

/// Reads the sessions of a database.
pub(crate) fn sessions(runtime: &Runtime, path: &Path) -> Vec<FoundSession> {
    let history = history(runtime);
    let scratch = tempfile::tempdir().unwrap();
    let before = state(path);
    let mut found = Vec::new();
    let mut take = |session: DatabaseSession| {
        assert!(session.left_out.is_empty(), "{:?}", session.left_out);
        let sources = session.sources.into_iter().map(|source| SessionSource {
            name: source.name,
            framing: Framing::Database,
            bytes: source.lines.read().unwrap(),
        });
        let sources: Vec<SessionSource> = sources.collect();
        let session = read_session(history, &sources);
        found.push(FoundSession { sources, session });
    };
    read_database(path, history.database.unwrap(), scratch.path(), &mut take).unwrap();
    assert_eq!(before, state(path), "the source was touched");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    found
}

/// What is in the directory of a database: names, bytes and times.
fn state(path: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.is_file())
        .map(|path| {
            let modified = path.metadata().unwrap().modified().unwrap();
            (path.clone(), fs::read(path).unwrap(), modified)
        })
        .collect();
    files.sort();
    files
}

/// Makes the records of one run.
pub(crate) fn normalize(runtime: &Runtime, bytes: &[u8]) -> Vec<Record> {
    let id = "history";
    let mut context = Context::new(JobId::parse(id).unwrap(), RunId::parse(id).unwrap());
    context.source = RunSource::History;
    let mut normalizer = Normalizer::new(runtime.clone(), context).unwrap();
    let mut records = normalizer
        .push(Stream::History, Kept::as_given(bytes), 1)
        .records;
    records.extend(normalizer.finish(&Exit::unknown()).records);
    records
}

/// Returns the runs of a session.
pub(crate) fn runs(runtime: &Runtime, found: &FoundSession) -> Vec<ReadRun> {
    let segments = found.session.segments.iter();
    segments
        .map(|segment| {
            let records = normalize(runtime, &segment_bytes(segment, &found.sources));
            ReadRun {
                segment: segment.clone(),
                summary: summarize(&records).unwrap(),
            }
        })
        .collect()
}

/// Returns the directories of all histories of a runtime, our own first.
pub(crate) fn histories(runtime: &str) -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let mut folders = vec![fixtures.join(runtime)];
    if let Some(corpus) = env::var_os("RUNTAPE_CORPUS") {
        folders.push(fixtures.join("../..").join(corpus).join(runtime));
    }
    let mut names = HashSet::new();
    let mut histories = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.to_string_lossy().ends_with(".history"));
        paths.sort();
        for path in paths {
            if names.insert(path.file_name().unwrap().to_owned()) {
                histories.push(path);
            }
        }
    }
    histories
}

/// Prints how many histories are right, and fails if one is not.
pub(crate) fn report(runtime: &str, compared: &[(String, Vec<String>)]) {
    assert!(!compared.is_empty(), "no history of {runtime} was found");
    let right = compared.iter().filter(|(_, faults)| faults.is_empty());
    println!(
        "{runtime}: {} histories, {} all right",
        compared.len(),
        right.count()
    );
    let mut wrong = Vec::new();
    for (name, faults) in compared.iter().filter(|(_, faults)| !faults.is_empty()) {
        for fault in faults {
            println!("  {name}: {fault}");
        }
        wrong.push(name);
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Fails if there is a row or a key that nobody knows.
pub(crate) fn nothing_is_unknown(runtime: &Runtime, path: &Path) {
    for found in sessions(runtime, path) {
        for segment in &found.session.segments {
            assert_eq!(segment.unreadable, 0, "{}", path.display());
            let records = normalize(runtime, &segment_bytes(segment, &found.sources));
            let records = serde_json::to_string(&records).unwrap();
            let is_known = !records.contains("unknownKeys");
            assert!(is_known, "{}: {records}", path.display());
        }
    }
}
