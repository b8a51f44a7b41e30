//! Hashes of tapes that cover receive times, for databases from before they did.
//!
//! A run that is as it was written gets new hashes and a new seal, and the old seal stays in the
//! chain as a tombstone that says so: a head that was kept elsewhere is still found. A run that is
//! not keeps what it has, so that it does not look as if it had been right, and `verify` names it.

use runtape_core::report::RemovalReason;
use rusqlite::Connection;

use crate::chain::TapeRule;
use crate::error::Result;
use crate::runs::{self, RunRow};
use crate::seals;
use crate::tape;
use crate::verify;

/// Puts new hashes on all tapes, and new seals on their runs.
pub(crate) fn reseal(connection: &Connection) -> Result<()> {
    // The clock belongs to those who open the database, but they need not know of migrations.
    let sql = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";
    let at: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    let mut statement = connection.prepare(
        "SELECT key FROM run WHERE root IS NULL AND EXISTS (SELECT 1 FROM tape_block
            WHERE place BETWEEN run.key << 32 AND (run.key << 32) + 4294967295)
         ORDER BY seal IS NULL, seal, key",
    )?;
    let roots: Vec<i64> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for root in roots {
        let tree = runs::tree(connection, root)?;
        if verify::is_intact(connection, &tree, TapeRule::Distances)? {
            reseal_tree(connection, &tree, at)?;
        }
    }
    Ok(())
}

fn reseal_tree(connection: &Connection, tree: &[RunRow], at: i64) -> Result<()> {
    let Some(root) = tree.first() else {
        return Ok(());
    };
    let mut hash = TapeRule::Times.first(&root.id);
    for number in 0..tape::end(connection, root.key, &root.id)?.blocks {
        let block = tape::one(connection, root.key, number)?;
        let raw = block.raw(&root.id)?;
        hash = TapeRule::Times.next(&hash, &block.starts, block.times, &raw);
        tape::set_hash(connection, root.key, number, &hash)?;
    }
    if root.seal.is_some() {
        seals::remove(connection, root, RemovalReason::Resealed, at)?;
        seals::seal(connection, root.key, at)?;
    }
    Ok(())
}
