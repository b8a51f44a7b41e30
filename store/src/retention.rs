//! Giving things up: runs, jobs, tapes, and the space they took.

use runtape_core::report::RemovalReason;
use runtape_core::{JobId, RunId};
use rusqlite::Connection;

use crate::error::{Result, StoreError};
use crate::lock::RunLock;
use crate::runs::{self, RunRow};
use crate::seals;
use crate::store::Store;
use crate::{ledger, records, search, tape};

/// Deletes what belongs to a run, besides its own row and its tape.
pub(crate) fn delete_rows(connection: &Connection, run: i64) -> Result<()> {
    search::forget(connection, run)?;
    records::delete(connection, run)?;
    for table in ["step", "tool_call", "notice", "unparsed"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?
            .execute([run])?;
    }
    ledger::delete(connection, run)
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

impl Store {
    /// Refuses to remove what a living writer still writes.
    fn not_written(&self, run: &RunRow) -> Result<()> {
        let is_free = match &self.path {
            Some(path) => RunLock::is_free(path, &run.id)?,
            None => true,
        };
        if run.seal.is_none() && (self.open.contains_key(&run.id) || !is_free) {
            return Err(StoreError::Locked {
                run: run.id.clone(),
            });
        }
        Ok(())
    }

    /// Deletes a root run with its children and its tape. Its seal stays as a tombstone.
    pub fn delete_run(&mut self, run: &RunId, at: i64) -> Result<()> {
        let row = self.read(|connection| runs::get(connection, run))?;
        if row.root.is_some() {
            return Err(StoreError::invalid(
                run,
                "it is a child: delete its root run",
            ));
        }
        self.not_written(&row)?;
        self.write(|connection, _| {
            let row = runs::get(connection, run)?;
            delete_tree(connection, &row, at)
        })
    }

    /// Deletes all runs of a job; returns how many root runs there were.
    pub fn delete_job(&mut self, job: &JobId, at: i64) -> Result<usize> {
        let roots = self.read(|connection| roots_of(connection, job))?;
        for root in &roots {
            self.not_written(root)?;
        }
        self.write(|connection, _| {
            let roots = roots_of(connection, job)?;
            for root in &roots {
                delete_tree(connection, root, at)?;
            }
            Ok(roots.len())
        })
    }

    /// Drops the tapes of root runs that ended before a time; their records stay. Returns how
    /// many tapes, and how many bytes of output they held.
    pub fn drop_tapes_before(&mut self, time: i64, at: i64) -> Result<(usize, u64)> {
        let keys: Vec<i64> = self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT key FROM run WHERE root IS NULL AND seal IS NOT NULL AND finished_at < ?1
                 ORDER BY key",
            )?;
            let rows = statement.query_map([time], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })?;
        let (mut count, mut bytes) = (0, 0);
        for key in keys {
            // One transaction a run, so that writers need not wait for all of them.
            let dropped = self.write(|connection, _| {
                let Some(row) = runs::by_key(connection, key)? else {
                    return Ok(None);
                };
                if tape::end(connection, key, &row.id)?.blocks == 0 {
                    return Ok(None);
                }
                seals::remove(connection, &row, RemovalReason::TapeDropped, at)?;
                let bytes = tape::delete(connection, key)?;
                seals::seal(connection, key, at)?;
                Ok(Some(bytes))
            })?;
            if let Some(dropped) = dropped {
                count += 1;
                bytes += dropped;
            }
        }
        Ok((count, bytes))
    }

    /// Gives space that deleted rows took back to the file system.
    pub fn compact(&mut self) -> Result<()> {
        let inner = || -> Result<()> {
            self.connection.execute_batch("VACUUM")?;
            // The log may be as long as the database; it is empty after this.
            self.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        };
        inner().map_err(|error| self.named(error))
    }
}

fn roots_of(connection: &Connection, job: &JobId) -> Result<Vec<RunRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT run.key FROM run JOIN job ON job.key = run.job
         WHERE job.id = ?1 AND run.root IS NULL ORDER BY run.key",
    )?;
    let keys: Vec<i64> = statement
        .query_map([job.as_str()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut roots = Vec::new();
    for key in keys {
        roots.extend(runs::by_key(connection, key)?);
    }
    Ok(roots)
}
