//! The database: opening, transactions, and the runs that are being written.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use runtape_core::RunId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{DatabaseFault, Result, StoreError};
use crate::file::{self, DatabaseFile, FileIdentity, Snapshot};
use crate::migrate;
use crate::options::{Options, Patience};
use crate::tree::OpenTree;
use crate::words::Words;

/// A database of runs.
///
/// Several processes may have the same one open, reading and writing. One `Store` serves one
/// thread at a time; threads that work at once open one each.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    /// The file's own path, without links, which locks lie beside; absent in memory.
    pub(crate) path: Option<PathBuf>,
    /// Which file it is; absent in memory, and where files cannot be told apart.
    identity: Option<FileIdentity>,
    /// What the file was like when it was opened as one that nobody writes.
    snapshot: Option<Snapshot>,
    pub(crate) read_only: bool,
    /// A transaction is open that holds several writes.
    pub(crate) in_batch: bool,
    /// A write in that transaction failed half-way, so it must not be committed.
    is_spoiled: bool,
    pub(crate) words: Words,
    patience: Patience,
    /// Root runs that this store writes.
    pub(crate) open: BTreeMap<RunId, OpenTree>,
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

/// Makes the file readable by its owner only; agents print what others need not read.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map(|_| ())
}

impl Store {
    /// Opens a database file, making and migrating it as the options say.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        Self::open_file(path, options).map_err(|error| error.in_file(path))
    }

    /// Refuses what can be no database, whatever may be there later: a name that means something
    /// else to `SQLite`, a directory, a device. Opening it would be refused for the same reason.
    pub fn check_path(path: impl AsRef<Path>) -> Result<()> {
        file::check_path(path.as_ref())
    }

    fn open_file(path: &Path, options: &Options) -> Result<Self> {
        let file_error = |doing| {
            move |source| StoreError::File {
                path: path.into(),
                doing,
                source,
            }
        };
        file::check_path(path)?;
        let is_missing = !path.try_exists().map_err(file_error("find the database"))?;
        if is_missing {
            if !options.create || options.read_only {
                let source = io::Error::from(io::ErrorKind::NotFound);
                return Err(file_error("open the database")(source));
            }
            create_private(path).map_err(file_error("make the database"))?;
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
        let mut store = prepared.map_err(|error| match error {
            // The log is there, and what is needed to read it cannot be made.
            StoreError::Database {
                fault: DatabaseFault::ReadOnly,
                ..
            } if options.read_only && file::beside(&file.path, "-wal").exists() => file.hot_log(),
            other => other,
        })?;
        store.identity = file.identity;
        store.snapshot = snapshot;
        // Somebody may have put another file there while this one was opened.
        store.check_in_place()?;
        Ok(store)
    }

    /// Opens a database that lives in memory and ends with the store.
    pub fn open_in_memory() -> Result<Self> {
        Self::prepare(Connection::open_in_memory()?, None, &Options::default())
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
            migrate::migrate(&mut connection, name)?;
        }
        Ok(Self {
            connection,
            path: path.map(Into::into),
            identity: None,
            snapshot: None,
            read_only: options.read_only,
            in_batch: false,
            is_spoiled: false,
            words: Words::default(),
            patience: options.patience,
            open: BTreeMap::new(),
        })
    }

    /// Refuses to go on where the file was deleted or replaced: what is written then is in a file
    /// that nobody will find.
    fn check_in_place(&self) -> Result<()> {
        match (&self.path, self.identity) {
            (Some(path), Some(identity)) => DatabaseFile::check_in_place(path, identity),
            _ => Ok(()),
        }
    }

    /// Wraps a connection that can only read.
    pub(crate) fn reading(connection: Connection, path: &Path) -> Self {
        connection.set_prepared_statement_cache_capacity(128);
        Self {
            connection,
            path: Some(path.into()),
            identity: None,
            snapshot: None,
            read_only: true,
            patience: Patience::default(),
            in_batch: false,
            is_spoiled: false,
            words: Words::default(),
            open: BTreeMap::new(),
        }
    }

    /// Returns where the database is, by its own path without links; `None` in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Adds the file's name to an error.
    pub(crate) fn named(&self, error: StoreError) -> StoreError {
        match &self.path {
            Some(path) => error.in_file(path),
            None => error.in_file(Path::new(":memory:")),
        }
    }

    /// Does something that others may hold up for long, and gives up after two seconds.
    pub(crate) fn with_little_patience<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.connection.busy_handler(Some(wait::<2_000>))?;
        let done = work(&self.connection);
        be_patient(&mut self.connection, self.patience)?;
        done
    }

    /// Reads from one state of the database, however others write meanwhile.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let inner = || {
            if self.in_batch {
                return work(&self.connection);
            }
            let transaction = self.connection.unchecked_transaction()?;
            let value = work(&transaction);
            if let (Some(path), Some(snapshot)) = (&self.path, &self.snapshot) {
                snapshot.check(path)?;
            }
            value
        };
        inner().map_err(|error| self.named(error))
    }

    /// Does several things in one transaction: all of them or none.
    ///
    /// For the import of many short runs: one commit for several runs is much quicker than three
    /// for each. What is done inside is acknowledged only when this returns, and other writers
    /// wait meanwhile, so keep it short.
    pub fn batch<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.in_batch {
            return work(self);
        }
        let begin = self.connection.execute_batch("BEGIN IMMEDIATE");
        begin.map_err(|error| self.named(error.into()))?;
        self.in_batch = true;
        let before: Vec<RunId> = self.open.keys().cloned().collect();
        self.is_spoiled = false;
        let refreshed = self.words.refresh(&self.connection);
        let worked = refreshed.and_then(|()| work(self));
        self.in_batch = false;
        let result = worked.and_then(|value| {
            if self.is_spoiled {
                return Err(StoreError::Spoiled);
            }
            self.connection.execute_batch("COMMIT")?;
            self.check_in_place()?;
            Ok(value)
        });
        if result.is_err() {
            // The failure may have ended the transaction by itself.
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            self.words.forget();
            // What was begun in the batch was not; what is known of the others is not true.
            self.open.retain(|run, _| before.contains(run));
            for tree in self.open.values_mut() {
                tree.state = None;
            }
        }
        result.map_err(|error| self.named(error))
    }

    /// Writes what cannot be refused any more: all of it or nothing. In a batch a failure spoils
    /// the whole of it, which spares a copy of every page that is changed.
    pub(crate) fn write_surely<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Words) -> Result<T>,
    ) -> Result<T> {
        if !self.in_batch {
            return self.write(work);
        }
        let result = work(&self.connection, &mut self.words);
        self.is_spoiled |= result.is_err();
        result.map_err(|error| self.named(error))
    }

    /// Writes all of it or nothing.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Words) -> Result<T>,
    ) -> Result<T> {
        let words = &mut self.words;
        let connection = &mut self.connection;
        let in_batch = self.in_batch;
        let inner = || {
            if in_batch {
                let savepoint = connection.savepoint()?;
                let value = work(&savepoint, words)?;
                savepoint.commit()?;
                return Ok(value);
            }
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            words.refresh(&transaction)?;
            let value = work(&transaction, words)?;
            transaction.commit()?;
            Ok(value)
        };
        let mut result = inner();
        if !in_batch && let Err(error) = self.check_in_place() {
            result = Err(error);
        }
        if result.is_err() {
            self.words.forget();
        }
        result.map_err(|error| self.named(error))
    }
}
