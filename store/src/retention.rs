//! Giving things up: runs, jobs, tapes. What is given up can no longer be found;
//! [`Store::compact`] erases its bytes.

use runtape_core::report::RemovalReason;
use runtape_core::{JobId, RunId};
use rusqlite::Connection;

use crate::error::{Result, StoreError};
use crate::lock::RunLock;
use crate::runs::{self, RunRow};
use crate::seals;
use crate::store::Store;
use crate::{ledger, records, search, tape};

/// Deletes the rows that follow from a run's records, besides its own.
pub(crate) fn delete_derived(connection: &Connection, run: i64) -> Result<()> {
    search::forget(connection, run)?;
    for table in ["step", "tool_call", "notice", "unparsed"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?
            .execute([run])?;
    }
    ledger::delete(connection, run)
}

/// Deletes what belongs to a run, besides its own row and its tape.
pub(crate) fn delete_rows(connection: &Connection, run: i64) -> Result<()> {
    records::delete(connection, run)?;
    delete_derived(connection, run)
}

fn delete_tree(connection: &Connection, root: &RunRow, at: i64) -> Result<()> {
    seals::remove(connection, root, RemovalReason::Deleted, at)?;
    let mut tree = runs::tree(connection, root.key)?;
    tape::delete(connection, root.key)?;
    // Children refer to the root, so it goes last.
    tree.reverse();
    for run in tree {
        delete_rows(connection, run.key)?;
        runs::delete(connection, run.key)?;
    }
    Ok(())
}

/// What became of the tapes that were to be dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DroppedTapes {
    /// How many were dropped.
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
        let row = self.read(|connection| runs::get(connection, run))?;
        if row.root.is_some() {
            return Err(StoreError::invalid(
                run,
                "it is a child: delete its root run",
            ));
        }
        self.with_lock(run, |store| {
            store.write(|connection, _| {
                let row = runs::get(connection, run)?;
                delete_tree(connection, &row, at)
            })
        })
    }

    /// Deletes the runs that a job has when this is called, each in a transaction of its own;
    /// returns how many root runs there were. If another process writes one of them, none is
    /// deleted.
    pub fn delete_job(&mut self, job: &JobId, at: i64) -> Result<usize> {
        let roots = self.read(|connection| roots_of(connection, job))?;
        for root in &roots {
            let is_free = match &self.path {
                Some(path) => RunLock::is_free(path, root)?,
                None => true,
            };
            if self.open.contains_key(root) || !is_free {
                return Err(StoreError::Locked { run: root.clone() });
            }
        }
        let mut deleted = 0;
        for root in &roots {
            match self.delete_run(root, at) {
                // Somebody else deleted it meanwhile.
                Err(StoreError::UnknownRun { .. }) => {}
                done => {
                    done?;
                    deleted += 1;
                }
            }
        }
        Ok(deleted)
    }

    /// Drops the tapes of root runs that ended before a time; their records stay. A run that
    /// another process works on is left as it is, and named.
    pub fn drop_tapes_before(&mut self, time: i64, at: i64) -> Result<DroppedTapes> {
        let roots = self.read(|connection| with_tapes(connection, time))?;
        let mut dropped = DroppedTapes::default();
        for root in roots {
            // One transaction a run, so that writers need not wait for all of them.
            match self.with_lock(&root, |store| store.drop_tape(&root, at)) {
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
        self.write(|connection, _| {
            let Some(row) = runs::find(connection, root)? else {
                return Ok(None);
            };
            if row.seal.is_none() || tape::end(connection, row.key, root)?.blocks == 0 {
                return Ok(None);
            }
            seals::remove(connection, &row, RemovalReason::TapeDropped, at)?;
            let bytes = tape::delete(connection, row.key)?;
            seals::seal(connection, row.key, at)?;
            Ok(Some(bytes))
        })
    }
}

fn ids(connection: &Connection, sql: &str, value: impl rusqlite::ToSql) -> Result<Vec<RunId>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([value], |row| runs::run_id(row.get_ref(0)?.as_str()?))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn roots_of(connection: &Connection, job: &JobId) -> Result<Vec<RunId>> {
    let sql = "SELECT run.id FROM run JOIN job ON job.key = run.job
               WHERE job.id = ?1 AND run.root IS NULL ORDER BY run.key";
    ids(connection, sql, job.as_str())
}

/// Returns the root runs that ended before a time and have a tape.
fn with_tapes(connection: &Connection, time: i64) -> Result<Vec<RunId>> {
    let sql = "SELECT id FROM run
               WHERE root IS NULL AND seal IS NOT NULL AND finished_at < ?1
                   AND EXISTS (SELECT 1 FROM tape_block
                       WHERE place BETWEEN run.key << 32 AND (run.key << 32) | 4294967295)
               ORDER BY key";
    ids(connection, sql, time)
}
