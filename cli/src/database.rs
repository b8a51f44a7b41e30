//! Which database, and how it is opened.

use std::path::{Path, PathBuf};

use runtape_core::{JobId, RunId};
use runtape_store::{Options, Patience, RunFilter, Store};

use crate::error::CliError;

/// How many candidates an ambiguous id names.
const CANDIDATES: usize = 5;

/// The database that commands work on.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    path: PathBuf,
}

/// Returns the directory where programs keep their data on this platform.
fn data_directory() -> Option<PathBuf> {
    let variable = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    if cfg!(target_os = "windows") {
        return variable("LOCALAPPDATA");
    }
    let home = || variable("HOME");
    if cfg!(target_os = "macos") {
        return Some(home()?.join("Library").join("Application Support"));
    }
    variable("XDG_DATA_HOME").or_else(|| Some(home()?.join(".local").join("share")))
}

impl Database {
    /// Finds the database: the one that was named, else the one in the platform's data directory.
    pub(crate) fn find(named: Option<PathBuf>) -> Result<Self, CliError> {
        let default = || Some(data_directory()?.join("runtape").join("runtape.db"));
        let path = named.or_else(default).ok_or(CliError::NoDatabase)?;
        Ok(Self { path })
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
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

    fn open_with(&self, options: &Options) -> Result<Store, CliError> {
        if let Some(directory) = self
            .path
            .parent()
            .filter(|path| !path.as_os_str().is_empty())
        {
            std::fs::create_dir_all(directory).map_err(|error| CliError::Directory {
                path: directory.into(),
                error,
            })?;
        }
        Ok(Store::open(&self.path, options)?)
    }

    /// Opens it for writing only if it is there.
    pub(crate) fn open_existing(&self) -> Result<Store, CliError> {
        self.must_exist()?;
        let mut options = Options::default();
        options.create = false;
        Ok(Store::open(&self.path, &options)?)
    }

    /// Opens it for reading.
    pub(crate) fn read(&self) -> Result<Store, CliError> {
        self.must_exist()?;
        Ok(Store::open(&self.path, &Options::read_only())?)
    }

    fn must_exist(&self) -> Result<(), CliError> {
        if self.path.exists() {
            return Ok(());
        }
        Err(CliError::Empty {
            path: self.path.clone(),
        })
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
        many => Err(CliError::Ambiguous {
            text: text.to_owned(),
            what: "jobs",
            candidates: many
                .iter()
                .take(CANDIDATES)
                .map(ToString::to_string)
                .collect(),
        }),
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
            .ok_or_else(unknown);
    }
    let found = store.runs_by_prefix(text, CANDIDATES + 1)?;
    if let Some(exact) = found.iter().find(|run| run.as_str() == text) {
        return Ok(exact.clone());
    }
    match found.as_slice() {
        [] => Err(unknown()),
        [run] => Ok(run.clone()),
        many => Err(CliError::Ambiguous {
            text: text.to_owned(),
            what: "runs",
            candidates: many
                .iter()
                .take(CANDIDATES)
                .map(ToString::to_string)
                .collect(),
        }),
    }
}
