//! Some runs of a database as a database of their own: a bundle.
//!
//! A bundle is written anew, from the runs and nothing else. So what it holds, how large it is and how
//! long writing takes depend on its runs, and not on what else is in the database. Its chains have the
//! entries that are about its runs, and for each neighbour that was left out a hash.

use std::collections::BTreeMap;
use std::path::Path;

use runtape_core::RunId;
use runtape_core::report::{RunSeal, SealName, VerifyFault};

use super::{kept_usage, transfer};
use crate::backend::{RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::chain::Hash;
use crate::format::seals::{BEFORE_ALL, SealEntry};
use crate::read::runs::get_root;
use crate::read::verify;
use crate::sqlite::Sqlite;
use crate::store::Store;

impl Store {
    /// Writes some root runs, with their children and tapes, as a bundle: a database that holds
    /// nothing else, and the proof of their place in the chain of seals. Returns their seals.
    ///
    /// `path` must not be there, or be empty. What was written is verified, so a run that is
    /// damaged gives no bundle; after a failure what is at `path` is of no use. The caller syncs
    /// the file and gives it its name.
    pub fn write_bundle(&self, roots: &[RunId], path: &Path) -> Result<Vec<RunSeal>> {
        let bundle = Sqlite::create_bundle(path)?;
        let written = self.read(|source| {
            bundle.begin_writing()?;
            let seals = write(source, roots, &bundle)?;
            bundle.commit()?;
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

/// Writes the runs in the order they were sealed, and what the chain says of them.
fn write(source: &dyn Tables, roots: &[RunId], target: &dyn Tables) -> Result<Vec<RunSeal>> {
    let mut wanted: BTreeMap<SealName, RunRow> = BTreeMap::new();
    for run in roots {
        let root = get_root(source, run)?;
        let Some(seal) = root.seal else {
            return Err(StoreError::Unsealed { run: root.id });
        };
        wanted.insert(seal, root);
    }
    let mut entries: BTreeMap<SealName, SealEntry> = BTreeMap::new();
    let mut written = Vec::new();
    for (name, root) in wanted {
        let Some(seal) = source.seal(name)? else {
            let fault = format!("its seal {name} is missing");
            return Err(StoreError::damaged(format!("run {}", root.id), fault));
        };
        let key = transfer::copy_tree(source, &source.tree(&root.key)?, target)?;
        target.set_seal(&key, Some(name))?;
        written.push(seal.of_run(&root.id));
        let others = source.seals_of_run(&root.id)?;
        entries.extend(others.into_iter().map(|entry| (entry.name, entry)));
        entries.insert(name, seal);
    }
    kept_usage::settle(target)?;
    write_chain(source, target, &entries)?;
    Ok(written)
}

/// Writes some entries of a chain, in order, with the hashes that stand for those left out.
fn write_chain(
    source: &dyn Tables,
    target: &dyn Tables,
    entries: &BTreeMap<SealName, SealEntry>,
) -> Result<()> {
    let mut last = None;
    for (name, entry) in entries {
        let before = name.before();
        if last.is_none() || last != before {
            let hash = hash_before(source, *name)?;
            target.insert_left_out(*name, &hash)?;
        }
        target.insert_seal(entry)?;
        last = Some(*name);
    }
    Ok(())
}

/// Returns the hash of the entry before another, which itself may have been left out.
pub(super) fn hash_before(source: &dyn Tables, name: SealName) -> Result<Hash> {
    let Some(before) = name.before() else {
        return Ok(BEFORE_ALL);
    };
    if let Some(entry) = source.seal(before)? {
        return Ok(entry.hash);
    }
    let left_out = source.left_out()?;
    let found = left_out.into_iter().find(|(after, _)| *after == name);
    found
        .map(|(_, hash)| hash)
        .ok_or_else(|| StoreError::damaged(format!("seal {before}"), "it is missing"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::several_chains::open_run;

    fn store_run(store: &mut Store, name: &str) {
        let run_id = open_run(store, name);
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
        store.count_steps(count);
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
