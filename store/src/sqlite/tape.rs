//! The `tape_block` table.

use runtape_core::Stream;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns as place;
use super::migrate;
use crate::error::Result;
use crate::format::chain::Hash;
use crate::format::streams::StreamLengths;
use crate::format::tape::TapeBlock;

const COLUMNS: &str = "place, first_at, last_at, length, hash, body, stdout_start, stdout_length, \
     stderr_start, stderr_length";

/// What was added when tapes got more streams.
const MORE_COLUMNS: &str = ", stdin_start, stdin_length, history_start, history_length";

/// Returns the columns that a database of a version has: one that came from elsewhere may be of an
/// earlier schema, where a tape had two streams.
fn columns(connection: &Connection) -> Result<String> {
    let version: i64 = connection
        .prepare_cached("PRAGMA user_version")?
        .query_row([], |row| row.get(0))?;
    let more = if version < migrate::TAPES_HAVE_STREAMS {
        ", 0, 0, 0, 0"
    } else {
        MORE_COLUMNS
    };
    Ok(format!("{COLUMNS}{more}"))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<TapeBlock> {
    let unsigned = |column| place::not_negative(column, row.get(column)?);
    let each = |first: usize| -> rusqlite::Result<StreamLengths> {
        Ok(StreamLengths::from_numbers([
            unsigned(first)?,
            unsigned(first + 2)?,
            unsigned(first + 4)?,
            unsigned(first + 6)?,
        ]))
    };
    let length: i64 = row.get(3)?;
    Ok(TapeBlock {
        number: place::split(row.get(0)?).1,
        starts: each(6)?,
        lengths: each(7)?,
        times: [row.get(1)?, row.get(2)?],
        length: usize::try_from(length).unwrap_or(usize::MAX),
        hash: place::hash(row, 4)?,
        body: row.get(5)?,
    })
}

const INSERT: &str = "INSERT INTO tape_block (place, first_at, last_at, length, hash, body,
     stdout_start, stdout_length, stderr_start, stderr_length, stdin_start, stdin_length,
     history_start, history_length)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// Adds a block.
pub(crate) fn insert(connection: &Connection, run: i64, block: &TapeBlock) -> Result<()> {
    let start = |stream| place::signed(block.starts.of(stream));
    let length = |stream| place::signed(block.lengths.of(stream));
    let [first_at, last_at] = block.times;
    connection.prepare_cached(INSERT)?.execute(params![
        place::place(run, block.number)?,
        first_at,
        last_at,
        i64::try_from(block.length).unwrap_or(i64::MAX),
        block.hash,
        block.body,
        start(Stream::Stdout),
        length(Stream::Stdout),
        start(Stream::Stderr),
        length(Stream::Stderr),
        start(Stream::Stdin),
        length(Stream::Stdin),
        start(Stream::History),
        length(Stream::History),
    ])?;
    Ok(())
}

/// Returns the last block.
pub(crate) fn last(connection: &Connection, run: i64) -> Result<Option<TapeBlock>> {
    let sql = format!(
        "SELECT {} FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place DESC LIMIT 1",
        columns(connection)?
    );
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([first, last], from_row).optional()?)
}

/// Returns a block.
pub(crate) fn one(connection: &Connection, run: i64, number: u64) -> Result<Option<TapeBlock>> {
    let sql = format!(
        "SELECT {} FROM tape_block WHERE place = ?1",
        columns(connection)?
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let place = place::place(run, number)?;
    Ok(statement.query_row([place], from_row).optional()?)
}

/// Returns the number of the first block from a number on.
pub(crate) fn next_number(connection: &Connection, run: i64, number: u64) -> Result<Option<u64>> {
    let next: Option<i64> = connection
        .prepare_cached("SELECT min(place) FROM tape_block WHERE place BETWEEN ?1 AND ?2")?
        .query_row([place::place(run, number)?, place::range(run).1], |row| {
            row.get(0)
        })?;
    Ok(next.map(|place| place::split(place).1))
}

/// Returns how many blocks there are, and how long they are before compressing.
pub(crate) fn weight(connection: &Connection, run: i64) -> Result<(u64, u64)> {
    let (first, last) = place::range(run);
    let (count, length): (i64, i64) = connection
        .prepare_cached(
            "SELECT count(*), coalesce(sum(length), 0) FROM tape_block WHERE place BETWEEN ?1 AND ?2",
        )?
        .query_row([first, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((place::unsigned(count), place::unsigned(length)))
}

/// Returns the hashes of a run's blocks in order.
pub(crate) fn hashes(connection: &Connection, run: i64) -> Result<Vec<Hash>> {
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(
        "SELECT hash FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place",
    )?;
    let hashes = statement.query_map([first, last], |row| place::hash(row, 0))?;
    Ok(hashes.collect::<rusqlite::Result<_>>()?)
}

/// Returns the blocks that hold a range of a stream.
pub(crate) fn blocks_of(
    connection: &Connection,
    run: i64,
    stream: Stream,
    start: u64,
    end: u64,
) -> Result<Vec<TapeBlock>> {
    let name = stream.as_str();
    let columns = columns(connection)?;
    let sql = format!(
        "SELECT {columns} FROM tape_block
         WHERE place BETWEEN ?1 AND ?2 AND {name}_start < ?4 AND {name}_start + {name}_length > ?3
         ORDER BY place"
    );
    let (first, last) = place::range(run);
    let blocks = connection
        .prepare_cached(&sql)?
        .query_map(
            [first, last, place::signed(start), place::signed(end)],
            from_row,
        )?
        .collect::<rusqlite::Result<_>>()?;
    Ok(blocks)
}

/// Puts another hash on a block.
pub(crate) fn set_hash(connection: &Connection, run: i64, number: u64, hash: &Hash) -> Result<()> {
    connection
        .prepare_cached("UPDATE tape_block SET hash = ?2 WHERE place = ?1")?
        .execute(params![place::place(run, number)?, hash])?;
    Ok(())
}

/// Deletes a block.
pub(crate) fn delete_one(connection: &Connection, run: i64, number: u64) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM tape_block WHERE place = ?1")?
        .execute([place::place(run, number)?])?;
    Ok(())
}

/// Deletes the tape of a run; returns how many bytes the streams had.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<u64> {
    let (first, last) = place::range(run);
    let bytes: i64 = connection
        .prepare_cached(
            "SELECT coalesce(sum(stdout_length + stderr_length + stdin_length + history_length), 0)
             FROM tape_block WHERE place BETWEEN ?1 AND ?2",
        )?
        .query_row([first, last], |row| row.get(0))?;
    connection
        .prepare_cached("DELETE FROM tape_block WHERE place BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    Ok(place::unsigned(bytes))
}
