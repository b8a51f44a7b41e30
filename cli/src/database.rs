//! Which database, and how it is opened.

use std::path::{Path, PathBuf};

use runtape_core::{CheckpointId, JobId, RunId};
use runtape_recorder::Destination;
use runtape_store::{Options, Patience, RunFilter, Store, StoreError, server_address};

use crate::error::CliError;
use crate::platform::data_directory;
use crate::server::Server;

/// How many candidates an ambiguous id names.
const CANDIDATES: usize = 5;

/// The database that commands work on: a file, or one on a server.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// A file.
    File(PathBuf),
    /// A database on a server.
    Server(Box<Server>),
}

impl Database {
    /// Finds the database: the one that was named, else the one in the platform's data directory.
    pub(crate) fn find(named: Option<PathBuf>) -> Result<Self, CliError> {
        let default = || Some(data_directory()?.join("runtape").join("runtape.db"));
        let path = named.or_else(default).ok_or(CliError::NoDatabase)?;
        match server_address(&path) {
            Some(address) => Ok(Self::Server(Box::new(Server::new(address)?))),
            None => Ok(Self::File(path)),
        }
    }

    /// Tells whether opening it for writing would make it. One on a server is made by `db migrate` and nothing else.
    pub(crate) fn is_new(&self) -> bool {
        match self {
            Self::File(path) => !path.exists(),
            Self::Server(_) => false,
        }
    }

    /// Returns what to print: where it is, without a password.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Server(server) => server.name().to_owned(),
        }
    }

    /// Returns what opens it: a path, or an address, which may have a password in it and is not to be printed.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Server(server) => Path::new(server.address()),
        }
    }

    /// Returns the server, if it is on one.
    pub(crate) fn server(&self) -> Option<&Server> {
        match self {
            Self::File(_) => None,
            Self::Server(server) => Some(server),
        }
    }

    /// Returns the path of something that lies beside it, such as the key: `runs.db.NAME`, or `NAME` in a directory of
    /// this user's for a server.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        match self {
            Self::File(path) => {
                let mut path = path.as_os_str().to_owned();
                path.push(".");
                path.push(name);
                path.into()
            }
            Self::Server(server) => server.directory().join(name),
        }
    }

    /// Makes the directory of what lies beside a database on a server, and returns it. Beside a file nothing is missing.
    pub(crate) fn own_directory(&self) -> Option<PathBuf> {
        let directory = self.server()?.directory();
        // Whoever writes there says what is wrong.
        let _ = runtape_recorder::create_private_directory(directory, true);
        Some(directory.to_owned())
    }

    /// Tells whether both are the same, as far as their names tell.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => {
                let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
                real(one) == real(other)
            }
            (Self::Server(one), Self::Server(other)) => one.place() == other.place(),
            _ => false,
        }
    }

    /// Opens it for writing, making it and its directory if need be.
    pub(crate) fn open(&self) -> Result<Store, CliError> {
        self.open_with(&Options::default())
    }

    /// The same for a run that goes on meanwhile, and has a spool file to go to.
    pub(crate) fn open_for_recording(&self) -> Result<Store, CliError> {
        let mut options = Options::default();
        options.patience = Patience::Seconds;
        self.open_with(&options)
    }

    /// Returns where a recorder keeps what comes only once: it opens the database on a thread of its own, and goes to a
    /// spool file where that fails.
    pub(crate) fn destination(&self) -> Destination {
        let database = self.clone();
        Destination::opening(self.path(), move || database.open_for_recording())
    }

    fn open_with(&self, options: &Options) -> Result<Store, CliError> {
        self.check()?;
        if let Self::File(path) = self
            && let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty())
        {
            runtape_recorder::create_private_directory(directory, true).map_err(|error| {
                CliError::Directory {
                    path: directory.into(),
                    error,
                }
            })?;
        }
        Ok(Store::open(self.path(), options)?)
    }

    /// Refuses what can be no database.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        Store::check_path(self.path()).map_err(|error| CliError::Usage {
            message: format!("--db: {error}"),
        })
    }

    /// Opens it for writing only if it is there.
    pub(crate) fn open_existing(&self) -> Result<Store, CliError> {
        self.must_exist()?;
        let mut options = Options::default();
        options.create = false;
        Ok(Store::open(self.path(), &options)?)
    }

    /// Opens it for a search, which completes its index first if it may.
    pub(crate) fn open_for_search(&self) -> Result<Store, CliError> {
        match self.open_existing() {
            Err(CliError::Store(
                StoreError::NotWritable { .. } | StoreError::SeveralNames { .. },
            )) => self.read(),
            opened => opened,
        }
    }

    /// Opens it for reading.
    pub(crate) fn read(&self) -> Result<Store, CliError> {
        self.must_exist()?;
        Ok(Store::open(self.path(), &Options::read_only())?)
    }

    fn must_exist(&self) -> Result<(), CliError> {
        self.check()?;
        match self {
            Self::File(path) if !path.exists() => Err(CliError::Empty { path: path.clone() }),
            _ => Ok(()),
        }
    }
}

/// Says what an id may mean that is the beginning of several.
fn ambiguous<T: ToString>(text: &str, what: &'static str, found: &[T]) -> CliError {
    let candidates = found.iter().take(CANDIDATES).map(ToString::to_string);
    CliError::Ambiguous {
        text: text.to_owned(),
        what,
        candidates: candidates.collect(),
    }
}

/// Returns the job of an id, or of a prefix that only one id has. An id that nobody has is taken as
/// it is: there is nothing to find then.
pub(crate) fn resolve_job(store: &Store, text: &str) -> Result<JobId, CliError> {
    let found = store.jobs_by_prefix(text, CANDIDATES + 1)?;
    match found.as_slice() {
        [job] => Ok(job.clone()),
        many if many.iter().any(|job| job.as_str() == text) || many.is_empty() => {
            Ok(JobId::parse(text)?)
        }
        many => Err(ambiguous(text, "jobs", many)),
    }
}

/// Returns the run of an id, of a prefix that only one id has, or the one that began `last`.
pub(crate) fn resolve_run(store: &Store, text: &str) -> Result<RunId, CliError> {
    let unknown = || CliError::UnknownRun {
        text: text.to_owned(),
    };
    if text == "last" {
        let mut filter = RunFilter::default();
        filter.roots_only = true;
        let page = store.runs(&filter, None, 1)?;
        return page
            .items
            .into_iter()
            .next()
            .map(|run| run.run_id)
            .ok_or(CliError::NoRuns);
    }
    let found = store.runs_by_prefix(text, CANDIDATES + 1)?;
    if let Some(exact) = found.iter().find(|run| run.as_str() == text) {
        return Ok(exact.clone());
    }
    match found.as_slice() {
        [] => Err(unknown()),
        [run] => Ok(run.clone()),
        many => Err(ambiguous(text, "runs", many)),
    }
}

/// What a checkpoint can be named by besides `RUN:STEP`.
pub(crate) enum CheckpointName {
    /// Its own id.
    Id(CheckpointId),
    /// Its run, of which it is the last one.
    LastOf(RunId),
}

/// Returns the checkpoint of an id or of a prefix that only one id has, or the run whose last one
/// is meant.
///
/// A whole id is that id, a checkpoint's before a run's. A prefix that runs and checkpoints have in
/// common means neither.
pub(crate) fn resolve_checkpoint(store: &Store, text: &str) -> Result<CheckpointName, CliError> {
    if text == "last" {
        return resolve_run(store, text).map(CheckpointName::LastOf);
    }
    let checkpoints = store.checkpoints_by_prefix(text, CANDIDATES + 1)?;
    if let Some(exact) = checkpoints.iter().find(|id| id.as_str() == text) {
        return Ok(CheckpointName::Id(exact.clone()));
    }
    let runs = store.runs_by_prefix(text, CANDIDATES + 1)?;
    if let Some(exact) = runs.iter().find(|run| run.as_str() == text) {
        return Ok(CheckpointName::LastOf(exact.clone()));
    }
    match (runs.as_slice(), checkpoints.as_slice()) {
        ([], []) => Err(CliError::UnknownCheckpoint {
            text: text.to_owned(),
        }),
        ([run], []) => Ok(CheckpointName::LastOf(run.clone())),
        ([], [checkpoint]) => Ok(CheckpointName::Id(checkpoint.clone())),
        (many, []) => Err(ambiguous(text, "runs", many)),
        ([], many) => Err(ambiguous(text, "checkpoints", many)),
        (runs, checkpoints) => {
            // Some of each: a list of runs only would not say why the id is not clear.
            let runs = runs.iter().map(|run| format!("run {run}"));
            let checkpoints = checkpoints.iter().map(|id| format!("checkpoint {id}"));
            let mut both: Vec<String> = runs.take(CANDIDATES / 2).collect();
            both.extend(checkpoints.take(CANDIDATES - both.len()));
            Err(ambiguous(text, "runs and checkpoints", &both))
        }
    }
}
