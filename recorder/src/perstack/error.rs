//! What can go wrong with a job tree as a whole.

use std::io;
use std::path::{Path, PathBuf};

use runtape_core::{CoreError, JobId};
use runtape_store::StoreError;

/// Why a job tree could not be written or read.
///
/// A single file that is not as it should be is no such error: an import
/// [reports it](crate::perstack::Imported::faults) and goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerstackError {
    /// The database has no such job.
    #[error("no job {job}")]
    UnknownJob {
        /// The job.
        job: JobId,
    },
    /// Something is there already that an export would overwrite.
    #[error("{} is there already", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// A link is where a directory of the tree would be: it was not followed.
    #[error("{} is a link or no directory, and was not followed", path.display())]
    Link {
        /// Where.
        path: PathBuf,
    },
    /// What is there was not written by an export, or was changed since.
    #[error("{} was not replaced: {reason}", path.display())]
    NotOurs {
        /// Where.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No job tree is where one was to be read.
    #[error("{} holds no perstack/jobs directory and no job tree", path.display())]
    NoTree {
        /// Where.
        path: PathBuf,
    },
    /// A file or directory cannot be written.
    #[error("failed to write {}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A directory cannot be listed.
    #[error("failed to read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Stored records do not fit together.
    #[error(transparent)]
    Core(#[from] CoreError),
}

impl PerstackError {
    /// Makes an error of a failure to write a path.
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    /// Makes an error of a failure to read a path.
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }
}
