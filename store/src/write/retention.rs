//! Giving things up: runs, jobs, tapes. What is given up can no longer be found;
//! [`Store::compact`] erases its bytes.

use runtape_core::report::RemovalReason;
use runtape_core::{JobId, RunId};

use super::{kept_usage, sealing};
use crate::backend::{Backend, RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::read::runs::get;
use crate::read::tape;
use crate::sqlite::{Erased, Sqlite};
use crate::store::Store;

fn delete_tree(tables: &dyn Tables, root: &RunRow, reason: RemovalReason, at: i64) -> Result<()> {
    kept_usage::forget(tables, &root.key)?;
    sealing::remove(tables, root, reason, at)?;
    let mut tree = tables.tree(&root.key)?;
    tables.delete_tape(&root.key)?;
    // Children refer to the root, so the root goes last.
    tree.reverse();
    for run in tree {
        tables.delete_record_blocks(&run.key)?;
        tables.delete_facts(&run.key)?;
        tables.delete_run(&run.key)?;
    }
    kept_usage::settle_many(tables)
}

/// What became of the tapes that were to be dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DroppedTapes {
    /// How many tapes were dropped.
    pub tapes: u64,
    /// How many bytes of output they held.
    pub bytes: u64,
    /// Runs that another process is working on: their tapes are still there.
    pub held: Vec<RunId>,
}

impl Store {
    /// Does something to a root run that nobody else may work on meanwhile: neither a writer that
    /// opens it at this moment, nor one that makes its records again.
    pub(crate) fn with_lock<T>(
        &mut self,
        root: &RunId,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.open.contains_key(root) {
            return Err(StoreError::Locked { run: root.clone() });
        }
        let lock = self.lock(root)?;
        let done = work(self);
        // A lock that is not there is free: nothing of the run's name stays behind.
        if let Some(lock) = lock {
            lock.retire();
        }
        done
    }

    /// Deletes a root run with its children and its tape. Its seal stays as a tombstone, which has
    /// the run's id. The bytes of the rest are overwritten by [`compact`](Self::compact).
    pub fn delete_run(&mut self, run: &RunId, at: i64) -> Result<()> {
        self.delete_as(run, RemovalReason::Deleted, at)
    }

    /// The same for another reason than that nobody wants it: what it told is told by another run, or comes
    /// again in another form.
    pub fn delete_as(&mut self, run: &RunId, reason: RemovalReason, at: i64) -> Result<()> {
        let row = self.read(|tables| get(tables, run))?;
        if row.root.is_some() {
            return Err(StoreError::invalid(
                run,
                "it is a child: delete its root run",
            ));
        }
        self.with_lock(run, |store| {
            store.write(|tables| delete_tree(tables, &get(tables, run)?, reason, at))
        })
    }

    /// Deletes the runs that a job has when this is called, each in a transaction of its own;
    /// returns how many root runs there were. If another process writes one of them, none is
    /// deleted.
    pub fn delete_job(&mut self, job: &JobId, at: i64) -> Result<usize> {
        let roots = self.read(|tables| tables.roots_of_job(job))?;
        for root in &roots {
            if self.open.contains_key(root) || !self.tables().is_unlocked(root)? {
                return Err(StoreError::Locked { run: root.clone() });
            }
        }
        let mut deleted = 0;
        for root in &roots {
            match self.delete_run(root, at) {
                // Somebody else deleted the run meanwhile.
                Err(StoreError::UnknownRun { .. }) => {}
                done => {
                    done?;
                    deleted += 1;
                }
            }
        }
        Ok(deleted)
    }

    /// Returns the root runs that ended before a time and have a tape, and how many bytes of output it holds.
    pub fn tapes_before(&self, time: i64) -> Result<Vec<(RunId, u64)>> {
        let roots = self.read(|tables| tables.roots_with_tapes(time))?;
        let mut found = Vec::new();
        for root in roots {
            let bytes = self.read(|tables| {
                let Some(row) = tables.find_run(&root)? else {
                    return Ok(None);
                };
                let end = tape::end(tables, &row.key, &root)?;
                let is_kept = row.seal.is_none() || end.blocks == 0;
                Ok((!is_kept).then(|| end.lengths.total()))
            })?;
            found.extend(bytes.map(|bytes| (root, bytes)));
        }
        Ok(found)
    }

    /// Drops the tapes of root runs that ended before a time; their records stay. A run that
    /// another process works on is left as it is, and named.
    pub fn drop_tapes_before(&mut self, time: i64, at: i64) -> Result<DroppedTapes> {
        let roots = self.read(|tables| tables.roots_with_tapes(time))?;
        self.drop_tapes(&roots, at)
    }

    /// Drops the tapes of these root runs, as [`drop_tapes_before`](Self::drop_tapes_before) does.
    pub fn drop_tapes(&mut self, roots: &[RunId], at: i64) -> Result<DroppedTapes> {
        let mut dropped = DroppedTapes::default();
        for root in roots {
            // One transaction a run, so that writers need not wait for all of them.
            match self.with_lock(root, |store| store.drop_tape(root, at)) {
                Ok(Some(bytes)) => {
                    dropped.tapes += 1;
                    dropped.bytes += bytes;
                }
                Ok(None) => {}
                Err(StoreError::Locked { run }) => dropped.held.push(run),
                Err(error) => return Err(error),
            }
        }
        Ok(dropped)
    }

    /// Drops the tape of a root run whose lock is held; returns how many bytes of output it had.
    fn drop_tape(&mut self, root: &RunId, at: i64) -> Result<Option<u64>> {
        self.write(|tables| {
            let Some(row) = tables.find_run(root)? else {
                return Ok(None);
            };
            if row.seal.is_none() || tape::end(tables, &row.key, root)?.blocks == 0 {
                return Ok(None);
            }
            sealing::remove(tables, &row, RemovalReason::TapeDropped, at)?;
            let bytes = tables.delete_tape(&row.key)?;
            sealing::seal(tables, &row.key, at)?;
            Ok(Some(bytes))
        })
    }

    /// Erases what was deleted from a database file, and gives its space back to the file system: words
    /// that nothing refers to, what the search index keeps of deleted records, free pages, the log.
    ///
    /// The whole file is written anew, which takes time and, for a while, twice the space; other
    /// writers wait. Deleting many runs and erasing once is quicker than erasing after each. What
    /// stays of a deleted run is its id in a tombstone, and hashes.
    pub fn compact(&mut self) -> Result<Erased> {
        self.write_in_file(Sqlite::drop_unused)?;
        let erased = match &mut self.backend {
            Backend::Sqlite(sqlite) => sqlite.erase(),
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => postgres.erase(),
        };
        erased.map_err(|error| self.named(error))
    }

    /// Writes what only a database file has: all of it or nothing.
    fn write_in_file(&mut self, work: fn(&Sqlite) -> Result<()>) -> Result<()> {
        self.transact(|backend| match backend {
            Backend::Sqlite(sqlite) => work(sqlite),
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => Ok(()),
        })
    }
}
