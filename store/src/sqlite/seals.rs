//! The `seal` table: the one chain of this database, or some entries of those of another one in a
//! bundle.

use runtape_core::RunId;
use runtape_core::report::{Removal, SealName};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{self, place_of_seal, run_id, seal_name, signed, unsigned};
use crate::error::Result;
use crate::format::chain::Hash;
use crate::format::seals::SealEntry;

fn select(which: &str) -> String {
    format!("SELECT number, at, digest, hash, run_id, removes, reason FROM seal {which}")
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SealEntry> {
    Ok(SealEntry {
        name: row.get(0).map(seal_name)?,
        at: row.get(1)?,
        digest: columns::hash(row, 2)?,
        hash: columns::hash(row, 3)?,
        run_id: row.get(4)?,
        removes: row.get::<_, Option<i64>>(5)?.map(unsigned),
        reason: row.get(6)?,
    })
}

/// Returns an entry.
pub(crate) fn one(connection: &Connection, seal: SealName) -> Result<Option<SealEntry>> {
    // Whatever is asked for: a name that no row can have is not there.
    let Ok(place) = place_of_seal(seal) else {
        return Ok(None);
    };
    Ok(connection
        .prepare_cached(&select("WHERE number = ?1"))?
        .query_row([place], from_row)
        .optional()?)
}

/// Calls `each` with all entries in order until it returns `false`.
pub(crate) fn each(
    connection: &Connection,
    each: &mut dyn FnMut(SealEntry) -> Result<bool>,
) -> Result<()> {
    let mut statement = connection.prepare(&select("ORDER BY number"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !each(from_row(row)?)? {
            break;
        }
    }
    Ok(())
}

/// Returns the entries that name a run.
pub(crate) fn of_run(connection: &Connection, run: &RunId) -> Result<Vec<SealEntry>> {
    let mut statement = connection.prepare_cached(&select("WHERE run_id = ?1 ORDER BY number"))?;
    let rows = statement.query_map([run.as_str()], from_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the last entry.
pub(crate) fn last(connection: &Connection) -> Result<Option<SealEntry>> {
    Ok(connection
        .prepare_cached(&select("ORDER BY number DESC LIMIT 1"))?
        .query_row([], from_row)
        .optional()?)
}

/// Returns number and hash of the last entry of this database's own chain.
pub(crate) fn end(connection: &Connection) -> Result<Option<(u64, Hash)>> {
    Ok(connection
        .prepare_cached(
            "SELECT number, hash FROM seal WHERE number <= ?1 ORDER BY number DESC LIMIT 1",
        )?
        .query_row([signed(columns::MOST_SEALS)], |row| {
            Ok((row.get(0).map(unsigned)?, columns::hash(row, 1)?))
        })
        .optional()?)
}

/// Returns the last entry with a hash.
pub(crate) fn with_hash(connection: &Connection, hash: &Hash) -> Result<Option<SealName>> {
    let number: Option<i64> = connection
        .prepare_cached("SELECT max(number) FROM seal WHERE hash = ?1")?
        .query_row([hash], |row| row.get(0))?;
    Ok(number.map(seal_name))
}

/// Adds an entry as it is.
pub(crate) fn insert(connection: &Connection, entry: &SealEntry) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO seal (number, at, digest, hash, run_id, removes, reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            place_of_seal(entry.name)?,
            entry.at,
            entry.digest,
            entry.hash,
            entry.run_id,
            entry.removes.map(signed),
            entry.reason
        ])?;
    Ok(())
}

/// Writes the id of a run beside its seal.
pub(crate) fn make_tombstone(connection: &Connection, seal: SealName, run: &RunId) -> Result<()> {
    connection
        .prepare_cached("UPDATE seal SET run_id = ?2 WHERE number = ?1")?
        .execute(params![place_of_seal(seal)?, run.as_str()])?;
    Ok(())
}

/// Tells whether a later entry says that a seal was removed.
pub(crate) fn is_removed(connection: &Connection, seal: SealName) -> Result<bool> {
    // The seal that is removed is one of the same chain.
    let last = SealName {
        number: columns::MOST_SEALS,
        ..seal
    };
    Ok(connection
        .prepare_cached("SELECT 1 FROM seal WHERE removes = ?1 AND number > ?2 AND number <= ?3")?
        .exists([
            signed(seal.number),
            place_of_seal(seal)?,
            place_of_seal(last)?,
        ])?)
}

/// Returns what was removed, in order.
pub(crate) fn removals(connection: &Connection) -> Result<Vec<Removal>> {
    let mut statement =
        connection.prepare_cached(&select("WHERE removes IS NOT NULL ORDER BY number"))?;
    let mut rows = statement.query([])?;
    let mut removals = Vec::new();
    while let Some(row) = rows.next()? {
        removals.extend(from_row(row)?.removal());
    }
    Ok(removals)
}

/// Returns the hashes that stand for entries that were left out, by the entry that comes after.
pub(crate) fn left_out(connection: &Connection) -> Result<Vec<(SealName, Hash)>> {
    // A database of an older schema has no place for it.
    let sql = "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = 'seal_before'";
    if !connection.prepare_cached(sql)?.exists([])? {
        return Ok(Vec::new());
    }
    let mut statement =
        connection.prepare("SELECT number, hash FROM seal_before ORDER BY number")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0).map(seal_name)?, columns::hash(row, 1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds a hash that stands for an entry that is left out.
pub(crate) fn insert_left_out(connection: &Connection, after: SealName, hash: &Hash) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO seal_before (number, hash) VALUES (?1, ?2)")?
        .execute(params![place_of_seal(after)?, hash])?;
    Ok(())
}

/// Returns children that claim a seal of their own.
pub(crate) fn of_children(connection: &Connection) -> Result<Vec<(RunId, SealName)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, seal FROM run WHERE root IS NOT NULL AND seal IS NOT NULL ORDER BY key",
    )?;
    let rows = statement.query_map([], |row| Ok((run_id(row, 0)?, row.get(1).map(seal_name)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
