//! Why a database of a CLI's could not be read.

use std::io;
use std::path::PathBuf;

/// Why a database of a CLI's could not be read. The file is named, and nothing of it was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// There is something else in its place: a link, a pipe, a directory.
    #[error("{}: {reason}", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
        /// What is there.
        reason: &'static str,
    },
    /// The file, or its private copy, cannot be read or written.
    #[error("{}: failed to {doing}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// It changed each time it was copied.
    #[error("{}: it changes too fast to be copied", path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// Its schema is not one that is read.
    #[error("{}: {fault}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// `SQLite` refuses it.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}
