//! What was read of which file, so that what is as it was is not read again.
//!
//! Kept in a file beside the database rather than in it: paths, times and inodes are of this machine, while a
//! database may be moved, or be shared by many. It is a memory, no truth: without it everything is read once
//! more, and found to be stored already.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::discover::FileStamp;
use super::settled::Settled;
use crate::private_file;

/// What is remembered of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownFile {
    /// The session that it belongs to; none for what is no source.
    pub(super) session: Option<String>,
    pub(super) stamp: FileStamp,
}

/// Paths and stamps of the files of one session.
pub(super) type KnownFiles<'a> = Vec<(&'a str, &'a FileStamp)>;

/// What is remembered of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownSession {
    /// How many runs it has.
    pub(super) runs: u64,
    /// It may go on, so it is looked at again though nothing has changed: it may be over by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_open: bool,
    /// How many sessions it is: a database is remembered like one, and holds any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sessions: Option<u64>,
    /// The first response of each run that is its own: forks copy these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) firsts: Vec<String>,
    /// A digest of its rows, where it is in a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
}

/// What is remembered, for one database of ours.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct HistoryState {
    /// The database that holds what was read: a memory of another one is none.
    database: Option<String>,
    /// Files by runtime and path, as far as a path is text: of two that differ in other bytes one is read again.
    files: BTreeMap<String, HashMap<String, KnownFile>>,
    /// Sessions by runtime and id.
    sessions: BTreeMap<String, BTreeMap<String, KnownSession>>,
    /// The sessions of first responses, by runtime: made when the first copy is met.
    #[serde(skip)]
    owners: OnceCell<HashMap<String, HashMap<String, String>>>,
    /// Something is remembered that is not on disk.
    #[serde(skip)]
    is_changed: bool,
    /// What is on disk of the last sync that left nothing to do.
    #[serde(skip)]
    settled: Option<Settled>,
}

/// What was read, in a file: a line for syncs that find nothing to do, then all of it, which they need not read.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What is left to do nothing about.
    pub(super) settled: Option<Settled>,
    /// The rest of the file, which is read only if it is needed.
    rest: Option<BufReader<File>>,
}

impl Memory {
    /// Reads what is remembered; what cannot be read is as if it were not there.
    pub(super) fn open(path: Option<&Path>) -> Self {
        let Some(mut file) = path
            .and_then(|path| File::open(path).ok())
            .map(BufReader::new)
        else {
            return Self::default();
        };
        let mut first = Vec::new();
        if file.read_until(b'\n', &mut first).is_err() {
            return Self::default();
        }
        Self {
            settled: serde_json::from_slice(&first).ok().flatten(),
            rest: Some(file),
        }
    }

    /// Reads the rest.
    pub(super) fn into_state(self, database: Option<&str>) -> HistoryState {
        let mut bytes = Vec::new();
        let read = self.rest.map(|mut rest| rest.read_to_end(&mut bytes));
        let mut state = read
            .and_then(Result::ok)
            .and_then(|_| serde_json::from_slice::<HistoryState>(&bytes).ok())
            // A database without a run has no name yet: whatever was read is not in it.
            .filter(|state| database.is_some() && state.database.as_deref() == database)
            .unwrap_or_else(|| HistoryState {
                database: database.map(str::to_owned),
                ..HistoryState::default()
            });
        state.settled = self.settled;
        state
    }
}

impl HistoryState {
    /// Writes what is remembered, whole or not at all; `settled` if nothing is left to do.
    pub(super) fn save(
        &mut self,
        path: Option<&Path>,
        database: Option<String>,
        settled: Option<Settled>,
    ) -> std::io::Result<()> {
        let is_same = !self.is_changed && self.settled == settled;
        let Some(path) = path.filter(|_| !is_same) else {
            return Ok(());
        };
        self.is_changed = false;
        self.database = database;
        self.settled = settled;
        let mut bytes = serde_json::to_vec(&self.settled)?;
        bytes.push(b'\n');
        serde_json::to_writer(&mut bytes, self)?;
        private_file::write(path, &bytes)
    }

    /// Tells whether a session may go on.
    pub(super) fn has_open(&self) -> bool {
        let mut sessions = self.sessions.values().flat_map(BTreeMap::values);
        sessions.any(|known| known.is_open)
    }

    /// Returns what is remembered of a file.
    pub(super) fn file(&self, runtime: &str, path: &Path) -> Option<&KnownFile> {
        self.files.get(runtime)?.get(&*path.to_string_lossy())
    }

    /// Remembers a file.
    pub(super) fn set_file(&mut self, runtime: &str, path: &Path, known: KnownFile) {
        self.is_changed = true;
        let files = self.files.entry(runtime.to_owned()).or_default();
        files.insert(path.to_string_lossy().into_owned(), known);
    }

    /// Returns the files of each session that were read before.
    pub(super) fn files_by_session(&self, runtime: &str) -> HashMap<&str, KnownFiles<'_>> {
        let mut sessions: HashMap<&str, KnownFiles<'_>> = HashMap::new();
        for (path, known) in self.files.get(runtime).into_iter().flatten() {
            if let Some(session) = &known.session {
                let files = sessions.entry(session).or_default();
                files.push((path, &known.stamp));
            }
        }
        sessions
    }

    /// Returns what is remembered of a session.
    pub(super) fn session(&self, runtime: &str, session: &str) -> Option<&KnownSession> {
        self.sessions.get(runtime)?.get(session)
    }

    /// Remembers a session.
    pub(super) fn set_session(&mut self, runtime: &str, session: &str, known: KnownSession) {
        self.is_changed = true;
        if let Some(owners) = self.owners.get_mut() {
            let owners = owners.entry(runtime.to_owned()).or_default();
            for first in &known.firsts {
                owners.insert(first.clone(), session.to_owned());
            }
        }
        let sessions = self.sessions.entry(runtime.to_owned()).or_default();
        sessions.insert(session.to_owned(), known);
    }

    /// Returns the session that has a run of its own which begins with a response.
    pub(super) fn owner_of(&self, runtime: &str, response: &str) -> Option<&str> {
        let owners = self.owners.get_or_init(|| owners_of(&self.sessions));
        owners.get(runtime)?.get(response).map(String::as_str)
    }
}

/// Finds the session of each first response, by runtime.
fn owners_of(
    sessions: &BTreeMap<String, BTreeMap<String, KnownSession>>,
) -> HashMap<String, HashMap<String, String>> {
    let mut owners: HashMap<String, HashMap<String, String>> = HashMap::new();
    for (runtime, sessions) in sessions {
        let owners = owners.entry(runtime.clone()).or_default();
        for (session, known) in sessions {
            let firsts = known.firsts.iter();
            owners.extend(firsts.map(|first| (first.clone(), session.clone())));
        }
    }
    owners
}
