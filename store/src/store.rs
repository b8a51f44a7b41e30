//! The store: opening, transactions, and the runs that are being written.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use runtape_core::RunId;

use crate::backend::{Backend, RunLock, Tables};
use crate::error::{Result, StoreError};
use crate::options::Options;
#[cfg(feature = "postgres")]
use crate::postgres::Postgres;
use crate::sqlite::{self, Sqlite};
use crate::write::append::OpenTree;
use crate::write::kept_usage::UnwrittenUsage;

/// A database of runs.
///
/// Several processes may have the same one open, reading and writing. One `Store` serves one
/// thread at a time; threads that work at once open one each.
#[derive(Debug)]
pub struct Store {
    pub(crate) backend: Backend,
    pub(crate) read_only: bool,
    /// A transaction is open that holds several writes.
    pub(crate) in_batch: bool,
    /// A write in that transaction failed half-way, so it must not be committed.
    is_spoiled: Cell<bool>,
    /// What runs used that were put there in that transaction.
    usage: RefCell<UnwrittenUsage>,
    /// Root runs that this store writes.
    pub(crate) open: BTreeMap<RunId, OpenTree>,
}

/// Returns the address of a server, if it is one: everything else is the path of a file.
#[must_use]
pub fn server_address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_one = text.starts_with("postgres://") || text.starts_with("postgresql://");
    is_one.then_some(text)
}

/// Ends a transaction that is given up, however that came about.
struct Undo<'a> {
    tables: &'a dyn Tables,
    end: fn(&dyn Tables),
    is_over: bool,
}

impl<'a> Undo<'a> {
    fn new(tables: &'a dyn Tables, end: fn(&dyn Tables)) -> Self {
        Self {
            tables,
            end,
            is_over: false,
        }
    }

    fn disarm(mut self) {
        self.is_over = true;
    }
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            (self.end)(self.tables);
        }
    }
}

impl Store {
    /// Opens a database file, making and migrating it as the options say; or, given `postgres://…`, the database on a
    /// server (feature `postgres`), which [`migrate`](Self::migrate) has made.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        if let Some(address) = server_address(path.as_ref()) {
            return Self::open_server(address, options);
        }
        let sqlite = Sqlite::open(path.as_ref(), options)?;
        Ok(Self::over(
            Backend::Sqlite(Box::new(sqlite)),
            options.read_only,
        ))
    }

    #[cfg(feature = "postgres")]
    fn open_server(address: &str, options: &Options) -> Result<Self> {
        let postgres = Postgres::open(address, options)?;
        Ok(Self::over(
            Backend::Postgres(Box::new(postgres)),
            options.read_only,
        ))
    }

    #[cfg(not(feature = "postgres"))]
    fn open_server(_: &str, _: &Options) -> Result<Self> {
        Err(StoreError::NoServers)
    }

    /// Makes the tables of a database on a server, or brings them up to date. Nothing else does, so that no recorder that
    /// was updated holds up those who read. Returns the versions of the schema before and after; 0 is none.
    #[cfg(feature = "postgres")]
    pub fn migrate(address: &str) -> Result<(i64, i64)> {
        Postgres::migrate(address)
    }

    /// Refuses to: there are no servers in this build.
    #[cfg(not(feature = "postgres"))]
    pub fn migrate(_: &str) -> Result<(i64, i64)> {
        Err(StoreError::NoServers)
    }

    /// Makes the tables in parts, by a hash of the root run's id: what a server that shards refuses is refused there, too.
    #[doc(hidden)]
    #[cfg(feature = "postgres")]
    pub fn migrate_partitioned(address: &str, parts: u32) -> Result<(i64, i64)> {
        Postgres::migrate_partitioned(address, parts)
    }

    /// Makes the tables with another number of chains of seals: to measure what many are good for.
    #[doc(hidden)]
    #[cfg(feature = "postgres")]
    pub fn migrate_with_chains(address: &str, chains: u32) -> Result<(i64, i64)> {
        Postgres::migrate_with_chains(address, chains)
    }

    /// Refuses what can be no database, whatever may be there later: a name that means something
    /// else to `SQLite`, a directory, a device. Opening it would be refused for the same reason.
    pub fn check_path(path: impl AsRef<Path>) -> Result<()> {
        if server_address(path.as_ref()).is_some() {
            return Ok(());
        }
        sqlite::check_path(path.as_ref())
    }

    /// Opens a database that lives in memory and ends with the store.
    pub fn open_in_memory() -> Result<Self> {
        let sqlite = Sqlite::open_in_memory()?;
        Ok(Self::over(Backend::Sqlite(Box::new(sqlite)), false))
    }

    /// Makes a store of a database that is open.
    pub(crate) fn over(backend: Backend, read_only: bool) -> Self {
        Self {
            backend,
            read_only,
            in_batch: false,
            is_spoiled: Cell::default(),
            usage: RefCell::default(),
            open: BTreeMap::new(),
        }
    }

    pub(crate) fn tables(&self) -> &dyn Tables {
        self.backend.tables()
    }

    /// Adds the database's name to an error.
    pub(crate) fn named(&self, error: StoreError) -> StoreError {
        error.in_file(self.name().as_ref())
    }

    /// Takes the lock of a run.
    pub(crate) fn lock(&self, run: &RunId) -> Result<Option<Box<dyn RunLock>>> {
        self.tables().lock(run).map_err(|error| self.named(error))
    }

    /// Reads from one state of the database, however others write meanwhile.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&dyn Tables) -> Result<T>) -> Result<T> {
        let tables = self.tables();
        let inner = || {
            if self.in_batch {
                self.write_usage()?;
                return work(tables);
            }
            tables.begin_reading()?;
            let undo = Undo::new(tables, |tables| drop(tables.end_reading()));
            let value = work(tables);
            undo.disarm();
            tables.end_reading()?;
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
        let begun = self.tables().begin_batch();
        begun.map_err(|error| self.named(error))?;
        self.in_batch = true;
        let before: Vec<RunId> = self.open.keys().cloned().collect();
        self.is_spoiled.set(false);
        self.usage.take();
        let worked = work(self);
        self.in_batch = false;
        let result = worked.and_then(|value| {
            if self.is_spoiled.get() {
                return Err(StoreError::Spoiled);
            }
            self.usage.borrow_mut().finish(self.tables())?;
            self.tables().commit()?;
            self.tables().check_in_place()?;
            Ok(value)
        });
        if result.is_err() {
            self.tables().roll_back();
            // What was begun in the batch was not; what is known of the others is not true.
            self.open.retain(|run, _| before.contains(run));
            for tree in self.open.values_mut() {
                tree.state = None;
            }
        }
        result.map_err(|error| self.named(error))
    }

    /// Does something that may be done again: where the server was away for a moment, or two writers were in each
    /// other's way, it is. What is in a batch is not, for the batch is lost as a whole.
    #[cfg(feature = "postgres")]
    pub(crate) fn patiently<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let patience = match &self.backend {
            Backend::Postgres(postgres) if !self.in_batch => postgres.patience(),
            _ => return work(self),
        };
        let begin = std::time::Instant::now();
        loop {
            match work(self) {
                Err(error) if error.may_pass() && begin.elapsed() < patience => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                result => return result,
            }
        }
    }

    /// Does something: a file is not away.
    #[cfg(not(feature = "postgres"))]
    pub(crate) fn patiently<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        work(self)
    }

    /// Writes what cannot be refused any more: all of it or nothing. In a batch a failure spoils
    /// the whole of it, which spares a copy of every page that is changed.
    pub(crate) fn write_surely<T>(
        &mut self,
        work: impl FnOnce(&dyn Tables) -> Result<T>,
    ) -> Result<T> {
        if !self.in_batch {
            return self.write(work);
        }
        let result = self
            .write_usage()
            .and_then(|()| self.or_spoil(|tables, _| work(tables)));
        result.map_err(|error| self.named(error))
    }

    /// Writes in a batch; a failure spoils the whole of it. What runs used may stay unwritten until the batch ends.
    pub(crate) fn or_spoil<T>(
        &self,
        work: impl FnOnce(&dyn Tables, &mut UnwrittenUsage) -> Result<T>,
    ) -> Result<T> {
        let result = work(self.tables(), &mut self.usage.borrow_mut());
        if result.is_err() {
            self.is_spoiled.set(true);
        }
        result
    }

    /// Writes what runs used that were put there in this batch: whatever comes now may ask for it, or change what
    /// counts.
    fn write_usage(&self) -> Result<()> {
        self.or_spoil(|tables, usage| usage.write(tables))
    }

    /// Writes all of it or nothing.
    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&dyn Tables) -> Result<T>) -> Result<T> {
        self.transact(|backend| work(backend.tables()))
    }

    /// Does what [`write`](Self::write) does, beside what this store has in hand: for what is kept for
    /// the sake of reading.
    pub(crate) fn write_beside<T>(&self, work: impl FnOnce(&dyn Tables) -> Result<T>) -> Result<T> {
        self.transact(|backend| work(backend.tables()))
    }

    /// Does some work in a transaction, or in a part of the one that is open.
    pub(crate) fn transact<T>(&self, work: impl FnOnce(&Backend) -> Result<T>) -> Result<T> {
        let tables = self.tables();
        let inner = || {
            if self.in_batch {
                self.write_usage()?;
                tables.set_savepoint()?;
                let undo = Undo::new(tables, |tables| tables.roll_back_to_savepoint());
                let value = work(&self.backend)?;
                tables.release_savepoint()?;
                undo.disarm();
                return Ok(value);
            }
            tables.begin_writing()?;
            let undo = Undo::new(tables, |tables| tables.roll_back());
            let value = work(&self.backend)?;
            tables.commit()?;
            undo.disarm();
            Ok(value)
        };
        let mut result = inner();
        if !self.in_batch
            && let Err(error) = tables.check_in_place()
        {
            result = Err(error);
        }
        result.map_err(|error| self.named(error))
    }

    /// Calls `each` at each step of the database's machine, so that work can be counted.
    #[cfg(test)]
    pub(crate) fn count_steps(&mut self, each: impl FnMut() -> bool + Send + 'static) {
        match &mut self.backend {
            Backend::Sqlite(sqlite) => sqlite.count_steps(each),
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => drop(each),
        }
    }
}
