//! Some runs of a database as a database of their own: a bundle.
//!
//! It is written anew, from the runs and nothing else, so what it holds, its size and the time it
//! takes depend on them and not on what else there is. Its chain has the entries that are about
//! its runs, and for each neighbour that was left out a hash.

use std::collections::BTreeMap;
use std::path::Path;

use runtape_core::RunId;
use runtape_core::report::{RunSeal, VerifyFault};
use rusqlite::{Connection, OpenFlags};

use crate::chain;
use crate::error::{Result, StoreError};
use crate::links;
use crate::migrate;
use crate::place::unsigned;
use crate::read::root_of;
use crate::runs::{self, RunRow};
use crate::seals::{self, SealRow};
use crate::store::{Store, create_private};
use crate::transfer;
use crate::verify;
use crate::words::Words;

impl Store {
    /// Writes some root runs, with their children and tapes, as a bundle: a database that holds
    /// nothing else, and the proof of their place in the chain of seals. Returns their seals.
    ///
    /// `path` must not be there, or be empty. What was written is verified, so a run that is
    /// damaged gives no bundle; after a failure what is at `path` is of no use. The caller syncs
    /// the file and gives it its name.
    pub fn write_bundle(&self, roots: &[RunId], path: &Path) -> Result<Vec<RunSeal>> {
        let failed = |source| StoreError::File {
            path: path.into(),
            doing: "make the bundle",
            source,
        };
        create_private(path).map_err(failed)?;
        if path.metadata().map_err(failed)?.len() > 0 {
            return Err(failed(std::io::ErrorKind::AlreadyExists.into()));
        }
        let mut bundle = open_new(path).map_err(|error| error.in_file(path))?;
        let written = self.read(|source| {
            let transaction = bundle.transaction()?;
            let seals = write(source, roots, &transaction)?;
            transaction.commit()?;
            Ok(seals)
        })?;
        let report = verify::bundle(&bundle, None).map_err(|error| error.in_file(path))?;
        match report.faults.as_slice() {
            [] => Ok(written),
            [first, ..] => Err(damaged(first)),
        }
    }
}

/// Refuses to write what is not as it was sealed.
fn damaged(fault: &VerifyFault) -> StoreError {
    StoreError::damaged(fault.place.to_string(), fault.fault.clone())
}

/// Opens a file that nobody else knows of yet.
fn open_new(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Whoever dies half-way leaves a file that nobody takes for a bundle: nothing to undo.
    connection.query_row("PRAGMA journal_mode = OFF", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "off")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    migrate::migrate(&mut connection, path)?;
    Ok(connection)
}

/// Writes the runs in the order they were sealed, and what the chain says of them.
fn write(source: &Connection, roots: &[RunId], target: &Connection) -> Result<Vec<RunSeal>> {
    let mut wanted: BTreeMap<u64, RunRow> = BTreeMap::new();
    for run in roots {
        let root = root_of(source, runs::get(source, run)?)?;
        let Some(seal) = root.seal else {
            return Err(StoreError::Unsealed { run: root.id });
        };
        wanted.insert(unsigned(seal), root);
    }
    let mut words = Words::default();
    let mut entries: BTreeMap<u64, SealRow> = BTreeMap::new();
    let mut written = Vec::new();
    for (number, root) in wanted {
        let Some(seal) = seals::one(source, number)? else {
            let fault = format!("its seal {number} is missing");
            return Err(StoreError::damaged(format!("run {}", root.id), fault));
        };
        let tree = runs::tree(source, root.key)?;
        let key = transfer::copy_tree(source, &tree, target, &mut words)?;
        transfer::set_end(target, key, root.exit.as_deref(), Some(number))?;
        written.push(run_seal(&root.id, &seal));
        let others = seals::of_run(source, &root.id)?;
        entries.extend(others.into_iter().map(|entry| (entry.number, entry)));
        entries.insert(number, seal);
    }
    links::write(source, target, &entries)?;
    Ok(written)
}

/// Tells a seal as it is compared elsewhere.
pub(crate) fn run_seal(run: &RunId, seal: &SealRow) -> RunSeal {
    RunSeal {
        run_id: run.clone(),
        number: seal.number,
        hash: chain::hex(&seal.hash),
        at: seal.at,
    }
}

/// Returns the seals of the runs of a bundle in order.
pub(crate) fn seals_of_runs(connection: &Connection) -> Result<Vec<RunSeal>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, seal FROM run WHERE root IS NULL AND seal IS NOT NULL ORDER BY seal",
    )?;
    let rows = statement.query_map([], |row| {
        Ok((
            runs::run_id(row.get_ref(0)?.as_str()?)?,
            row.get::<_, i64>(1)?,
        ))
    })?;
    let rows: Vec<(RunId, i64)> = rows.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for (run, number) in rows {
        let seal = seals::one(connection, unsigned(number))?;
        found.extend(seal.map(|seal| run_seal(&run, &seal)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use runtape_core::record::{CheckpointHead, RunOpened};
    use runtape_core::{CheckpointStatus, JobId, Record, RecordKind, Runtime};

    use super::*;
    use crate::BeginRun;

    fn store_run(store: &mut Store, name: &str) {
        let (job_id, run_id) = (
            JobId::parse(format!("job-{name}")).unwrap(),
            RunId::parse(name).unwrap(),
        );
        let runtime = Runtime::Gemini;
        let begin = BeginRun {
            job_id: job_id.clone(),
            run_id: run_id.clone(),
            runtime: runtime.clone(),
            started_at: 0,
            context: serde_json::json!({}),
        };
        let opened = RunOpened {
            job_id,
            runtime,
            delegated_by: None,
        };
        let head: CheckpointHead = serde_json::from_value(serde_json::json!({
            "step": 1, "status": CheckpointStatus::Completed, "startedAt": 0, "messages": 0,
            "usage": {}, "stepUsage": {}, "pending": []
        }))
        .unwrap();
        let record = |seq, kind: RecordKind| Record {
            run_id: run_id.clone(),
            seq,
            at: 0,
            span: None,
            kind,
        };
        let records = [record(0, opened.into()), record(1, Box::new(head).into())];
        store.begin_run(&begin).unwrap();
        store.append(&run_id, &records, &[]).unwrap();
        let exit = serde_json::json!({});
        store.finish_run(&run_id, &exit, 1).unwrap();
    }

    /// Returns how many steps of `SQLite`'s machine it takes to read a run for a bundle.
    fn work(runs: usize) -> u64 {
        let mut store = Store::open_in_memory().unwrap();
        for number in 0..runs {
            store_run(&mut store, &format!("run-{number}"));
        }
        let steps = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&steps);
        let count = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        store.connection.progress_handler(1, Some(count)).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let run = RunId::parse(format!("run-{}", runs / 2)).unwrap();
        let path = directory.path().join("bundle");
        store.write_bundle(&[run], &path).unwrap();
        steps.load(Ordering::Relaxed)
    }

    #[test]
    fn the_work_of_a_bundle_does_not_grow_with_the_database() {
        let (few, many) = (work(10), work(200));
        assert!(many <= few + few / 10, "{few} steps grew to {many}");
    }
}
