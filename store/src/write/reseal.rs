//! Hashes of tapes that cover receive times, for databases from before they did.
//!
//! A run that is as it was written gets new hashes and a new seal, and the old seal stays in the
//! chain as a tombstone that says so: a head that was kept elsewhere is still found. A run that is
//! not keeps what it has, so that it does not look as if it had been right, and `verify` names it.

use runtape_core::report::RemovalReason;

use super::sealing;
use crate::backend::{RunRow, Tables};
use crate::error::Result;
use crate::format::chain::TapeRule;
use crate::read::{tape, verify};

/// Puts new hashes on all tapes, and new seals on their runs.
pub(crate) fn reseal(tables: &dyn Tables, at: i64) -> Result<()> {
    for root in tables.sealed_roots()? {
        if tape::end(tables, &root.key, &root.id)?.blocks == 0 {
            continue;
        }
        let tree = tables.tree(&root.key)?;
        if verify::is_intact(tables, &tree, TapeRule::Distances)? {
            reseal_tree(tables, &root, at)?;
        }
    }
    Ok(())
}

fn reseal_tree(tables: &dyn Tables, root: &RunRow, at: i64) -> Result<()> {
    let mut hash = TapeRule::Times.first(&root.id);
    for number in 0..tape::end(tables, &root.key, &root.id)?.blocks {
        let block = tape::block(tables, root, number)?;
        let raw = block.raw(&root.id)?;
        hash = TapeRule::Times.next(&hash, &block.starts, block.times, &raw);
        tables.set_tape_hash(&root.key, number, &hash)?;
    }
    if root.seal.is_some() {
        sealing::remove(tables, root, RemovalReason::Resealed, at)?;
        sealing::seal(tables, &root.key, at)?;
    }
    Ok(())
}
