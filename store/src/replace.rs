//! New records in the place of a finished run's, piece by piece and all or nothing.

use runtape_core::report::RemovalReason;
use runtape_core::{Record, RunId};
use serde_json::Value;

use crate::codec;
use crate::error::{Result, StoreError};
use crate::place::unsigned;
use crate::runs;
use crate::seals;
use crate::store::Store;
use crate::tree::OpenTree;
use crate::write::{delete_records, json, seal};

/// What replacing a run's records did to its seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The seal that is now a tombstone.
    pub old_seal: Option<u64>,
    /// The seal over the new records.
    pub new_seal: u64,
}

impl Store {
    /// Puts new records in the place of a finished root run's and its children's, in one
    /// transaction. Job and run ids stay; the old seal stays as a tombstone.
    pub fn replace_records(
        &mut self,
        root: &RunId,
        records: &[Record],
        at: i64,
    ) -> Result<Replaced> {
        self.replace_run(root, at, |store| {
            store.append(root, records, &[])?;
            Ok(None)
        })
    }

    /// The same for records that need not be in memory at once: `write` appends them to the run,
    /// which has none when it is called. Its tape can be read meanwhile, and can go on. If it is
    /// known better now how the process ended, that is what `write` returns.
    pub fn replace_run(
        &mut self,
        root: &RunId,
        at: i64,
        write: impl FnOnce(&mut Self) -> Result<Option<Value>>,
    ) -> Result<Replaced> {
        let lock = self.lock(root)?;
        let tree = OpenTree { lock, state: None };
        let replaced = self.batch(|store| {
            let old_seal = store.empty(root, at)?;
            store.open.insert(root.clone(), tree);
            let exit = write(store)?;
            let exit = exit.map(|exit| json(root, &exit)).transpose()?;
            let exit = exit.map(|exit| codec::pack(&exit));
            let new_seal = store.with_tree(root, |connection, _, state| {
                seal(connection, state, exit.as_deref(), at)
            })?;
            Ok(Replaced { old_seal, new_seal })
        });
        let lock = self.open.remove(root).and_then(|tree| tree.lock);
        if let (Ok(_), Some(lock)) = (&replaced, lock) {
            lock.retire();
        }
        replaced
    }

    /// Takes the records and the seal from a finished root run; returns what seal it was.
    fn empty(&mut self, root: &RunId, at: i64) -> Result<Option<u64>> {
        self.write(|connection, _| {
            let row = runs::get(connection, root)?;
            if row.root.is_some() || row.seal.is_none() {
                return Err(StoreError::NotEnded { run: root.clone() });
            }
            seals::remove(connection, &row, RemovalReason::Replaced, at)?;
            delete_records(connection, row.key)?;
            runs::forget(connection, row.key)?;
            Ok(row.seal.map(unsigned))
        })
    }
}
