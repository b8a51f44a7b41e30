//! The `record_block` table.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns as place;
use crate::error::Result;
use crate::format::records::RecordBlock;

/// Adds a block.
pub(crate) fn insert(connection: &Connection, run: i64, block: &RecordBlock) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO record_block (place, count, length, hash, marks, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            place::place(run, block.first_seq)?,
            place::signed(block.count),
            i64::try_from(block.length).unwrap_or(i64::MAX),
            block.hash,
            block.marks,
            block.body
        ])?;
    Ok(())
}

const COLUMNS: &str = "place, count, length, hash, marks, body";

fn from_row(row: &Row<'_>) -> rusqlite::Result<RecordBlock> {
    let length: i64 = row.get(2)?;
    Ok(RecordBlock {
        first_seq: place::split(row.get(0)?).1,
        count: place::unsigned(row.get(1)?),
        length: usize::try_from(length).unwrap_or(usize::MAX),
        hash: place::hash(row, 3)?,
        marks: row.get(4)?,
        body: row.get(5)?,
    })
}

/// Returns the last block that begins at or before a record.
pub(crate) fn block_of(connection: &Connection, run: i64, seq: u64) -> Result<Option<RecordBlock>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM record_block WHERE place BETWEEN ?1 AND ?2
         ORDER BY place DESC LIMIT 1"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(
            params![
                place::range(run).0,
                place::place(run, seq.min(u64::from(u32::MAX)))?
            ],
            from_row,
        )
        .optional()?)
}

/// Returns the first block after a place in a run.
pub(crate) fn block_from(
    connection: &Connection,
    run: i64,
    seq: u64,
) -> Result<Option<RecordBlock>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM record_block WHERE place BETWEEN ?1 AND ?2
         ORDER BY place LIMIT 1"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(
            params![place::place(run, seq)?, place::range(run).1],
            from_row,
        )
        .optional()?)
}

/// Returns first record and length of each block.
pub(crate) fn lengths(connection: &Connection, run: i64) -> Result<Vec<(u64, usize)>> {
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(
        "SELECT place, length FROM record_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place",
    )?;
    let rows = statement.query_map([first, last], |row| {
        let length: i64 = row.get(1)?;
        Ok((
            place::split(row.get(0)?).1,
            usize::try_from(length).unwrap_or(usize::MAX),
        ))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the block at a place.
pub(crate) fn at(connection: &Connection, place: i64) -> Result<RecordBlock> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM record_block WHERE place = ?1"
        ))?
        .query_row([place], from_row)?)
}

/// Deletes the block that begins at a record.
pub(crate) fn delete_one(connection: &Connection, run: i64, first_seq: u64) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM record_block WHERE place = ?1")?
        .execute([place::place(run, first_seq)?])?;
    Ok(())
}

/// Deletes all records of a run.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<()> {
    let (first, last) = place::range(run);
    connection
        .prepare_cached("DELETE FROM record_block WHERE place BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    Ok(())
}
