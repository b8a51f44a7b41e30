//! The sessions of a database, and the runs that are read from them.

use std::fs;
use std::path::{Path, PathBuf};

use runtape_recorder::core::{JobId, Record, RunId, Runtime, Stream, summarize};
use runtape_recorder::history::database::{DatabaseSession, read_database};
use runtape_recorder::normalizer::history::{
    Framing, History, Session, SessionSource, read_session, segment_bytes,
};
use runtape_recorder::normalizer::runtimes::entry_for;
use runtape_recorder::normalizer::{Context, Exit, Kept, Normalizer, RunSource};
use runtape_tests::recorded_histories::ReadRun;

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
            let segment = segment.clone();
            ReadRun {
                prompt: segment.prompt,
                calls: segment.calls,
                last_text: segment.last_text,
                is_resumed: segment.is_resumed,
                started_at: segment.started_at,
                last_at: segment.last_at,
                summary: summarize(&records).unwrap(),
            }
        })
        .collect()
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
