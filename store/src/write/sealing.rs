//! Adding to the chains of seals.

use runtape_core::RunId;
use runtape_core::report::{RemovalReason, SealName};

use crate::backend::{RunKey, RunRow, Tables, UnsealedTree};
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
    let runs = tables.tree(root)?;
    set(tables, runs.first(), sealed::digest(tables, &runs)?, at)
}

/// Adds a seal over a tree to its chain, and notes it in the tree.
fn set(tables: &dyn Tables, root: Option<&RunRow>, digest: Hash, at: i64) -> Result<SealName> {
    let Some(root) = root else {
        return Err(StoreError::damaged("a seal", "it covers no run"));
    };
    let name = append_seal(tables, digest, &root.id, at)?;
    tables.set_seal(&root.key, Some(name))?;
    Ok(name)
}

/// Seals a tree that was read to be sealed.
pub(crate) fn seal_tree(tables: &dyn Tables, tree: UnsealedTree, at: i64) -> Result<SealName> {
    let runs = tree.runs.iter().map(|run| (&run.row, run.last_hash));
    let digest = sealed::digest_of(&runs.collect::<Vec<_>>(), tree.tape)?;
    set(tables, tree.runs.first().map(|run| &run.row), digest, at)
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
