//! A CLI's directory as it was found, and the runs that are read from it.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use runtape_core::{JobId, Record, RunId, RunSummary, Runtime, Stream, summarize};
use runtape_normalizer::history::{
    Framing, History, Segment, Session, SessionSource, read_session, segment_bytes,
};
use runtape_normalizer::runtimes::entry_for;
use runtape_normalizer::{Context, Exit, Kept, Normalizer, RunSource};

/// The files below one of the places in which a CLI keeps its sessions.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) runtime: Runtime,
    /// Path below the place, and contents.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

/// A session with the sources it was read from.
pub(crate) struct FoundSession {
    pub(crate) sources: Vec<SessionSource>,
    pub(crate) session: Session,
}

/// A run that was read from a history.
pub(crate) struct FoundRun {
    /// The session's id.
    pub(crate) session: String,
    pub(crate) segment: Segment,
    /// Its lines, as they stand on the tape.
    pub(crate) tape: Vec<u8>,
    pub(crate) records: Vec<Record>,
    pub(crate) summary: RunSummary,
}

impl Home {
    /// Reads all files of a directory.
    pub(crate) fn read(runtime: Runtime, directory: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut waiting = vec![directory.to_owned()];
        while let Some(next) = waiting.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    let below = path.strip_prefix(directory).unwrap();
                    let name = below.to_str().unwrap().to_owned();
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        Self { runtime, files }
    }

    /// Returns what the runtime says of its history.
    pub(crate) fn history(&self) -> &'static History {
        let entry = entry_for(&self.runtime).unwrap();
        entry.history.expect("the runtime's history can be read")
    }

    /// Returns the sessions, by the names under which their sources are read together.
    pub(crate) fn sessions(&self) -> BTreeMap<String, FoundSession> {
        let history = self.history();
        let mut found: BTreeMap<String, Vec<SessionSource>> = BTreeMap::new();
        for (name, bytes) in &self.files {
            if !(history.is_candidate)(name) {
                continue;
            }
            let first = bytes.split(|byte| *byte == b'\n').next();
            let head = first.unwrap_or_default();
            let head = &head[..head.len().min(4096)];
            let Some(source) = (history.source)(name, head) else {
                continue;
            };
            assert_ne!(source.framing, Framing::Database, "{name} is a file");
            found
                .entry(source.session)
                .or_default()
                .push(SessionSource {
                    name: name.clone(),
                    framing: source.framing,
                    bytes: bytes.clone(),
                });
        }
        let read = |(name, sources): (String, Vec<SessionSource>)| {
            let session = read_session(history, &sources);
            (name, FoundSession { sources, session })
        };
        found.into_iter().map(read).collect()
    }

    /// Returns all runs. A copied segment is one only where nobody has its responses as own.
    pub(crate) fn runs(&self) -> Vec<FoundRun> {
        let sessions = self.sessions();
        let segments = || {
            sessions.values().flat_map(|found| {
                let segments = found.session.segments.iter();
                segments.map(move |segment| (found, segment))
            })
        };
        let mut known: HashSet<&str> = HashSet::new();
        for (_, segment) in segments().filter(|(_, segment)| !segment.is_copy) {
            known.extend(segment.responses.iter().map(String::as_str));
        }
        let mut runs = Vec::new();
        for (found, segment) in segments() {
            let mut responses = segment.responses.iter();
            if segment.is_copy
                && (segment.responses.is_empty()
                    || responses.any(|key| known.contains(key.as_str())))
            {
                continue;
            }
            known.extend(segment.responses.iter().map(String::as_str));
            runs.push(self.run(found, segment));
        }
        runs
    }

    fn run(&self, found: &FoundSession, segment: &Segment) -> FoundRun {
        let bytes = segment_bytes(segment, &found.sources);
        let records = normalize(&self.runtime, &bytes);
        FoundRun {
            session: found.session.id.clone(),
            segment: segment.clone(),
            summary: summarize(&records).expect("a finished run has a summary"),
            tape: bytes,
            records,
        }
    }
}

/// Makes the records of one segment.
pub(crate) fn normalize(runtime: &Runtime, bytes: &[u8]) -> Vec<Record> {
    let parts = [(Stream::History, bytes)];
    records_of(runtime, RunSource::History, &parts, None, &Exit::unknown())
}

/// Makes the records of a run from what there is of it.
pub(crate) fn records_of(
    runtime: &Runtime,
    source: RunSource,
    streams: &[(Stream, &[u8])],
    argv: Option<Vec<String>>,
    exit: &Exit,
) -> Vec<Record> {
    let id = "history";
    let mut context = Context::new(JobId::parse(id).unwrap(), RunId::parse(id).unwrap());
    (context.source, context.argv) = (source, argv);
    let mut normalizer = Normalizer::new(runtime.clone(), context).unwrap();
    let mut records = Vec::new();
    for (stream, bytes) in streams {
        records.extend(normalizer.push(*stream, Kept::as_given(bytes), 1).records);
    }
    records.extend(normalizer.finish(exit).records);
    records
}
