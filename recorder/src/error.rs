//! What can go wrong while a run is recorded.

use runtape_core::{CoreError, RunId};
use runtape_normalizer::NormalizeError;
use runtape_store::StoreError;

/// Why a run could not be recorded, recovered or normalized again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The runtime's output cannot be read.
    #[error(transparent)]
    Normalize(#[from] NormalizeError),
    /// An id is not one.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// A command cannot be started.
    #[error("cannot start {program:?}")]
    Spawn {
        /// The command.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// A spool file cannot be read or removed.
    #[error("{}: {source}", path.display())]
    Spool {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What looks like a spool file is none of this database's or of this user's.
    #[error("{}: left alone: {reason}", path.display())]
    Misfit {
        /// The file.
        path: std::path::PathBuf,
        /// Why it was left alone.
        reason: String,
    },
    /// A session file cannot be read.
    #[error("cannot read the session's history")]
    History {
        /// Why.
        source: std::io::Error,
    },
    /// A run ended by itself without what is in its spool file.
    #[error("run {run} has ended, and this is more than it printed")]
    Closed {
        /// The run.
        run: RunId,
    },
    /// The normalizer ended a run without a terminal record.
    #[error("run {run} was ended without a terminal record, please report this")]
    Unfinished {
        /// The run.
        run: RunId,
    },
}

impl RecordError {
    /// Tells whether a living process still writes what was asked for: nothing is wrong then.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        match self {
            Self::Spool { source, .. } => source.kind() == std::io::ErrorKind::WouldBlock,
            Self::Store(error) => matches!(error, StoreError::Locked { .. }),
            _ => false,
        }
    }

    /// Tells whether the database was deleted or replaced: what was stored in it is gone with it.
    #[must_use]
    pub fn is_database_gone(&self) -> bool {
        matches!(self, Self::Store(StoreError::Gone { .. }))
    }
}
