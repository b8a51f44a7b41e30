//! Adding to the chains of seals.

use runtape_core::RunId;
use runtape_core::report::{RemovalReason, SealName};

use crate::backend::{RunKey, RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::chain::Hash;
use crate::format::seals::SealEntry;
use crate::read::sealed;

fn append(tables: &dyn Tables, mut entry: SealEntry, run: &RunId) -> Result<SealName> {
    let (chain, end) = tables.end_of_chain(run)?;
    entry.follow(chain, end, run);
    tables.insert_seal(&entry)?;
    Ok(entry.name)
}

/// Adds a seal over a root run to its chain.
pub(crate) fn append_seal(
    tables: &dyn Tables,
    digest: Hash,
    run: &RunId,
    at: i64,
) -> Result<SealName> {
    append(tables, SealEntry::seal(digest, at), run)
}

/// Seals a tree of runs.
pub(crate) fn seal(tables: &dyn Tables, root: &RunKey, at: i64) -> Result<SealName> {
    seal_runs(tables, &tables.tree(root)?, at)
}

/// Seals a tree by its runs, the root first.
pub(crate) fn seal_runs(tables: &dyn Tables, runs: &[RunRow], at: i64) -> Result<SealName> {
    let Some(root) = runs.first() else {
        return Err(StoreError::damaged("a seal", "it covers no run"));
    };
    let name = append_seal(tables, sealed::digest(tables, runs)?, &root.id, at)?;
    tables.set_seal(&root.key, Some(name))?;
    Ok(name)
}

/// Makes a tombstone of the seal of a root run, and says in the chain that it was removed.
pub(crate) fn remove(
    tables: &dyn Tables,
    root: &RunRow,
    reason: RemovalReason,
    at: i64,
) -> Result<Option<SealName>> {
    let Some(seal) = root.seal else {
        return Ok(None);
    };
    tables.make_tombstone(seal, &root.id)?;
    tables.set_seal(&root.key, None)?;
    let entry = SealEntry::removal_of(&root.id, &root.job, seal, reason, at);
    append(tables, entry, &root.id).map(Some)
}
