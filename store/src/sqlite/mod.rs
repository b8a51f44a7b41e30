//! The database as a `SQLite` file: SQL, migrations, locks, and nothing else.
//!
//! `tables.rs` implements the seam with the functions of the other files, one per table. A run's key is
//! the number of its row; texts that many rows share are kept once, in the `word` table. There is one
//! chain of seals.

mod audit;
mod calls;
mod check;
mod columns;
mod condition;
mod erase;
mod facts;
mod file;
mod fts;
mod keys;
mod ledger;
mod list;
mod lock;
mod migrate;
mod notices;
mod records;
mod runs;
mod schema;
mod seals;
mod search;
mod sessions;
mod stats;
mod steps;
mod sums;
mod tables;
mod tape;
mod texts;
mod tool_calls;
mod untrusted;
mod usage_sums;
mod weigh;
mod words;

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{DatabaseFault, Result, StoreError};
use crate::options::{Options, Patience};

use self::file::{DatabaseFile, FileIdentity, Snapshot};
use self::words::WordKeys;

pub use self::erase::Erased;
pub(crate) use self::file::check_path;

/// A database in a file, or in memory.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    /// The file's own path, without links, which locks lie beside; absent in memory.
    path: Option<PathBuf>,
    /// Which file it is; absent in memory, and where files cannot be told apart.
    identity: Option<FileIdentity>,
    /// What the file was like when it was opened as one that nobody writes.
    snapshot: Option<Snapshot>,
    words: RefCell<WordKeys>,
    patience: Patience,
}

/// How much of the database is held in memory, in KiB.
const CACHE_KIB: i64 = 8 * 1024;

/// Waits for another writer: briefly and often, for a batch takes about a millisecond. `SQLite`'s
/// own handler sleeps up to a tenth of a second, which under many writers makes some of them wait
/// for very long.
fn wait<const LONGEST_MS: u32>(times: i32) -> bool {
    let times = u32::try_from(times).unwrap_or(0);
    // Spread over a few values, so that waiting writers do not wake together.
    let pause = 300 + 700 * (times % 4) + std::process::id() % 500;
    sleep(Duration::from_micros(pause.into()));
    times < LONGEST_MS * 2 / 3
}

/// Waits for other writers as long as the options say.
fn be_patient(connection: &mut Connection, patience: Patience) -> rusqlite::Result<()> {
    connection.busy_handler(Some(match patience {
        Patience::Minute => wait::<60_000>,
        Patience::Seconds => wait::<10_000>,
    }))
}

impl Sqlite {
    /// Opens a database file, making and migrating it as the options say.
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Self> {
        Self::open_file(path, options).map_err(|error| error.in_file(path))
    }

    fn open_file(path: &Path, options: &Options) -> Result<Self> {
        let file_error = |doing| {
            move |source| StoreError::File {
                path: path.into(),
                doing,
                source,
            }
        };
        check_path(path)?;
        let is_missing = !path.try_exists().map_err(file_error("find the database"))?;
        if is_missing {
            if !options.create || options.read_only {
                let source = io::Error::from(io::ErrorKind::NotFound);
                return Err(file_error("open the database")(source));
            }
            file::create_private(path).map_err(file_error("make the database"))?;
        }
        let file = DatabaseFile::find(path)?;
        let (connection, snapshot) = if options.read_only {
            file.connect_to_read()?
        } else {
            file.check_writable()?;
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            (Connection::open_with_flags(&file.path, flags)?, None)
        };
        let prepared = Self::prepare(connection, Some(&file.path), options);
        let mut sqlite = prepared.map_err(|error| match error {
            // The log is there, and what is needed to read it cannot be made.
            StoreError::Database {
                fault: DatabaseFault::ReadOnly,
                ..
            } if options.read_only && file::beside(&file.path, "-wal").exists() => file.hot_log(),
            other => other,
        })?;
        sqlite.identity = file.identity;
        sqlite.snapshot = snapshot;
        // Somebody may have put another file there while this one was opened.
        sqlite.check_in_place()?;
        Ok(sqlite)
    }

    /// Opens a database that lives in memory and ends with it.
    pub(crate) fn open_in_memory() -> Result<Self> {
        Self::prepare(Connection::open_in_memory()?, None, &Options::default())
    }

    /// Opens a bundle for reading: a file that may have been made to do harm.
    pub(crate) fn open_bundle(path: &Path) -> Result<Self> {
        untrusted::open(path)
    }

    /// Makes a file that nobody else knows of yet. It must not be there, or be empty.
    pub(crate) fn create_bundle(path: &Path) -> Result<Self> {
        let failed = |source| StoreError::File {
            path: path.into(),
            doing: "make the bundle",
            source,
        };
        file::create_private(path).map_err(failed)?;
        if path.metadata().map_err(failed)?.len() > 0 {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let make = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags)?;
            // Whoever dies half-way leaves a file that nobody takes for a bundle: nothing to undo.
            connection.query_row("PRAGMA journal_mode = OFF", [], |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "off")?;
            connection.pragma_update(None, "foreign_keys", false)?;
            connection.pragma_update(None, "temp_store", "memory")?;
            let sqlite = Self::reading(connection, path);
            migrate::migrate(&sqlite, path)?;
            Ok(sqlite)
        };
        make().map_err(|error: StoreError| error.in_file(path))
    }

    fn prepare(mut connection: Connection, path: Option<&Path>, options: &Options) -> Result<Self> {
        be_patient(&mut connection, options.patience)?;
        connection.set_prepared_statement_cache_capacity(128);
        // Else each new value that is bound to a cached statement has it planned again.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // Every key that is written comes from a row that was written or read right before it, so
        // there is nothing to find, and looking takes longer than writing. `verify` looks.
        connection.pragma_update(None, "foreign_keys", false)?;
        // What a statement may have to undo is small: it need not go to a file.
        connection.pragma_update(None, "temp_store", "memory")?;
        // In KiB. Indexes of ids are written all over the place.
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // Derived tables of a damaged database must not run SQL of an attacker.
        connection.pragma_update(None, "trusted_schema", false)?;
        let name = path.unwrap_or_else(|| Path::new(":memory:"));
        if options.read_only {
            connection.pragma_update(None, "query_only", true)?;
            let found = migrate::check(&connection, name)?;
            if found < migrate::newest() {
                return Err(StoreError::TooOld {
                    path: name.into(),
                    found,
                    needed: migrate::newest(),
                });
            }
        } else {
            // Before anything is written: a database of something else stays as it is.
            migrate::check(&connection, name)?;
            if path.is_some() {
                connection.pragma_update(None, "journal_mode", "wal")?;
            }
            let level = if options.sync_each_commit {
                "full"
            } else {
                "normal"
            };
            connection.pragma_update(None, "synchronous", level)?;
            if let Some(bytes) = options.max_bytes {
                let size: i64 = connection.pragma_query_value(None, "page_size", |r| r.get(0))?;
                let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / size.max(1);
                // The pragma answers with a row, which `pragma_update` takes for a failure.
                connection.query_row(
                    &format!("PRAGMA max_page_count = {pages}"),
                    [],
                    |_| Ok(()),
                )?;
            }
        }
        let sqlite = Self {
            connection,
            path: path.map(Into::into),
            identity: None,
            snapshot: None,
            words: RefCell::default(),
            patience: options.patience,
        };
        if !options.read_only {
            migrate::migrate(&sqlite, name)?;
        }
        Ok(sqlite)
    }

    /// Wraps a connection as it is.
    fn reading(connection: Connection, path: &Path) -> Self {
        connection.set_prepared_statement_cache_capacity(128);
        Self {
            connection,
            path: Some(path.into()),
            identity: None,
            snapshot: None,
            words: RefCell::default(),
            patience: Patience::default(),
        }
    }

    /// Returns where the file is, by its own path without links; `None` in memory.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Refuses to go on where the file was deleted or replaced: what is written then is in a file
    /// that nobody will find.
    fn check_in_place(&self) -> Result<()> {
        match (&self.path, self.identity) {
            (Some(path), Some(identity)) => DatabaseFile::check_in_place(path, identity),
            _ => Ok(()),
        }
    }

    /// Calls `each` at each step of the database's machine.
    #[cfg(test)]
    pub(crate) fn count_steps(&mut self, each: impl FnMut() -> bool + Send + 'static) {
        self.connection.progress_handler(1, Some(each)).unwrap();
    }

    /// Does something that others may hold up for long, and gives up after two seconds.
    fn with_little_patience<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.connection.busy_handler(Some(wait::<2_000>))?;
        let done = work(&self.connection);
        be_patient(&mut self.connection, self.patience)?;
        done
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let fault = match source.sqlite_error_code() {
            Some(Code::DiskFull) => DatabaseFault::Full,
            Some(Code::ReadOnly | Code::PermissionDenied | Code::CannotOpen) => {
                DatabaseFault::ReadOnly
            }
            Some(Code::DatabaseCorrupt) => DatabaseFault::Damaged,
            Some(Code::NotADatabase) => DatabaseFault::NoDatabase,
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => DatabaseFault::Busy,
            Some(Code::OperationInterrupted) => DatabaseFault::Endless,
            _ => DatabaseFault::Other,
        };
        Self::Database {
            path: PathBuf::new(),
            fault,
            source: Box::new(source),
        }
    }
}
