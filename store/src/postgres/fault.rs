//! What a server's errors mean to us.

use std::io;
use std::path::PathBuf;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use crate::error::{DatabaseFault, StoreError};

/// Tells what kind of failure it was.
pub(super) fn fault_of(error: &Error) -> DatabaseFault {
    let Some(state) = error.code() else {
        // The driver has no kind for it that could be asked for: there is no password, and the server wants one.
        if error.to_string().starts_with("invalid configuration") {
            return DatabaseFault::NotAllowed;
        }
        // No answer of the server: the connection broke, could not be made, or gave nonsense.
        return DatabaseFault::Away;
    };
    match state.code().get(..2) {
        Some("08") => DatabaseFault::Away,
        Some("53") if *state == SqlState::DISK_FULL => DatabaseFault::Full,
        Some("53") if *state == SqlState::TOO_MANY_CONNECTIONS => DatabaseFault::Away,
        Some("57") if *state != SqlState::QUERY_CANCELED => DatabaseFault::Away,
        Some("28") => DatabaseFault::NotAllowed,
        Some("40") => DatabaseFault::Busy,
        // Another writer was quicker: who looks again finds what it wrote.
        _ if *state == SqlState::UNIQUE_VIOLATION => DatabaseFault::Busy,
        _ if *state == SqlState::LOCK_NOT_AVAILABLE => DatabaseFault::Busy,
        _ if *state == SqlState::QUERY_CANCELED => DatabaseFault::Busy,
        // A server that was the first one and is a standby now: another one is about to take its place.
        _ if *state == SqlState::READ_ONLY_SQL_TRANSACTION => DatabaseFault::Away,
        // The same, where a transaction says from the beginning that it will write: no other feature is ever missing there.
        _ if *state == SqlState::FEATURE_NOT_SUPPORTED
            && error
                .as_db_error()
                .and_then(DbError::routine)
                .is_some_and(|routine| {
                    routine.contains("XactReadOnly") || routine == "call_bool_check_hook"
                }) =>
        {
            DatabaseFault::Away
        }
        _ if *state == SqlState::INSUFFICIENT_PRIVILEGE => DatabaseFault::NotAllowed,
        _ if *state == SqlState::INVALID_CATALOG_NAME => DatabaseFault::NoDatabase,
        _ if *state == SqlState::DATA_CORRUPTED || *state == SqlState::INDEX_CORRUPTED => {
            DatabaseFault::Damaged
        }
        _ => DatabaseFault::Other,
    }
}

/// What a server said, in one line: the driver's own text of it is only "db error".
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Said {
    text: String,
    #[source]
    source: Error,
}

impl From<Error> for StoreError {
    fn from(source: Error) -> Self {
        let fault = fault_of(&source);
        let text = if let Some(said) = source.as_db_error() {
            let detail = said.detail().map(|detail| format!(" ({detail})"));
            let code = said.code().code();
            format!("{} [{code}]{}", said.message(), detail.unwrap_or_default())
        } else {
            let mut text = source.to_string();
            let mut cause = std::error::Error::source(&source);
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            text
        };
        Self::Database {
            path: PathBuf::new(),
            fault,
            source: Box::new(Said { text, source }),
        }
    }
}

/// The error of a server that did not answer in time, or of a connection that is gone.
pub(super) fn away(kind: io::ErrorKind, text: &'static str) -> StoreError {
    StoreError::Database {
        path: PathBuf::new(),
        fault: DatabaseFault::Away,
        source: Box::new(io::Error::new(kind, text)),
    }
}

/// The error of something that may be tried again at once.
pub(super) fn busy(text: &'static str) -> StoreError {
    StoreError::Database {
        path: PathBuf::new(),
        fault: DatabaseFault::Busy,
        source: Box::new(io::Error::other(text)),
    }
}

/// Says of a connection that is only for reading that this is why something was refused: the server is where it was.
pub(super) fn of_reader(mut error: StoreError) -> StoreError {
    if let StoreError::Database { fault, source, .. } = &mut error
        && source
            .downcast_ref::<Said>()
            .is_some_and(|said| said.source.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION))
    {
        *fault = DatabaseFault::ReadOnly;
    }
    error
}

/// Tells whether an error means that the connection cannot be used any more, or that the server is not there.
pub(crate) fn is_away(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Database {
            fault: DatabaseFault::Away,
            ..
        }
    )
}
