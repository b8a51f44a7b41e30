//! What a seal covers, as it stands in the database.

use runtape_core::RunId;
use runtape_core::report::{RemovalReason, SealName};

use super::records;
use crate::backend::{RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::chain::{self, Hash};
use crate::format::seals::Sealed;

/// Returns the hash over all that a seal of these runs covers: those of a tree, the root first.
pub(crate) fn digest(tables: &dyn Tables, runs: &[RunRow]) -> Result<Hash> {
    let tape = match runs.first() {
        Some(root) => tables.tape_hashes(&root.key)?,
        None => Vec::new(),
    };
    let runs = runs.iter().map(|run| {
        let hash = records::last_hash(tables, &run.key, &run.id)?;
        Ok((run, Some(hash)))
    });
    digest_of(&runs.collect::<Result<Vec<_>>>()?, tape)
}

/// Returns the same hash, over runs whose last hashes are known, and the hashes of a tape. A run without a hash has no
/// records.
pub(crate) fn digest_of(runs: &[(&RunRow, Option<Hash>)], tape: Vec<Hash>) -> Result<Hash> {
    let Some((root, _)) = runs.first() else {
        return Err(StoreError::damaged("a seal", "it covers no run"));
    };
    let sealed = Sealed {
        job: &root.job,
        runtime: &root.runtime,
        context: root.context.as_deref().unwrap_or_default(),
        exit: root.exit.as_deref().unwrap_or_default(),
        runs: runs
            .iter()
            .map(|(run, hash)| {
                let hash = hash.unwrap_or_else(|| chain::first_record(&run.id));
                (&run.id, run.records, hash)
            })
            .collect(),
        tape,
    };
    Ok(sealed.digest())
}

/// Tells whether a seal covers what a hash was made of.
pub(crate) fn has_digest(tables: &dyn Tables, seal: SealName, digest: &Hash) -> Result<bool> {
    let entry = tables.seal(seal)?;
    Ok(entry.is_some_and(|entry| entry.digest == *digest))
}

/// Tells whether a run that is there had a tape that was dropped.
pub(crate) fn was_tape_dropped(tables: &dyn Tables, run: &RunId) -> Result<bool> {
    let entries = tables.seals_of_run(run)?;
    let removals = entries.iter().rev().filter(|entry| entry.removes.is_some());
    for entry in removals {
        let reason = entry.reason.as_deref().unwrap_or_default();
        if reason == RemovalReason::TapeDropped.as_str() {
            return Ok(true);
        }
        // What comes before was said of an earlier run with the same id.
        if reason == RemovalReason::Deleted.as_str() {
            return Ok(false);
        }
    }
    Ok(false)
}
