//! The `tape_block` table.

use runtape_core::Stream;
use tokio_postgres::Row;

use super::Postgres;
use super::columns::{count, get, hash, length, number, signed, size, unsigned};
use super::pending::Into;
use super::rows::Cell;
use crate::backend::RunKey;
use crate::error::Result;
use crate::format::chain::Hash;
use crate::format::streams::StreamLengths;
use crate::format::tape::TapeBlock;

const COLUMNS: &str = "number, first_at, last_at, length, hash, body, stdout_start, stdout_length,
     stderr_start, stderr_length, stdin_start, stdin_length, history_start, history_length";

fn from_row(row: &Row) -> Result<TapeBlock> {
    let each = |first: usize| -> Result<StreamLengths> {
        Ok(StreamLengths::from_numbers([
            number(row, first)?,
            number(row, first + 2)?,
            number(row, first + 4)?,
            number(row, first + 6)?,
        ]))
    };
    Ok(TapeBlock {
        number: count(row, 0)?,
        starts: each(6)?,
        lengths: each(7)?,
        times: [get(row, 1)?, get(row, 2)?],
        length: length(row, 3)?,
        hash: hash(row, 4)?,
        body: get(row, 5)?,
    })
}

/// Adds a block.
pub(super) fn insert(pg: &Postgres, root: &RunKey, block: &TapeBlock) -> Result<()> {
    let start = |stream| Cell::Integer(signed(block.starts.of(stream)));
    let length = |stream| Cell::Integer(signed(block.lengths.of(stream)));
    let [first_at, last_at] = block.times;
    let cells = [
        Cell::Integer(signed(block.number)),
        Cell::Integer(first_at),
        Cell::Integer(last_at),
        Cell::Integer(size(block.length)),
        Cell::bytes(&block.hash),
        Cell::bytes(&block.body),
        start(Stream::Stdout),
        length(Stream::Stdout),
        start(Stream::Stderr),
        length(Stream::Stderr),
        start(Stream::Stdin),
        length(Stream::Stdin),
        start(Stream::History),
        length(Stream::History),
    ];
    pg.add(Into::TapeBlock, &root.root, cells, block.body.len())
}

fn blocks(pg: &Postgres, which: &str, values: &[super::Value<'_>]) -> Result<Vec<TapeBlock>> {
    let sql = format!("SELECT {COLUMNS} FROM tape_block WHERE root_id = $1 {which}");
    pg.rows(&sql, values)?.iter().map(from_row).collect()
}

/// Returns a block.
pub(super) fn one(pg: &Postgres, root: &RunKey, number: u64) -> Result<Option<TapeBlock>> {
    let values: [super::Value<'_>; 2] = [&root.root.as_str(), &signed(number)];
    Ok(blocks(pg, "AND number = $2", &values)?.pop())
}

/// Returns the last block.
pub(super) fn last(pg: &Postgres, root: &RunKey) -> Result<Option<TapeBlock>> {
    let which = "ORDER BY number DESC LIMIT 1";
    Ok(blocks(pg, which, &[&root.root.as_str()])?.pop())
}

/// Returns the number of the first block from a number on.
pub(super) fn next_number(pg: &Postgres, root: &RunKey, number: u64) -> Result<Option<u64>> {
    let sql = "SELECT min(number) FROM tape_block WHERE root_id = $1 AND number >= $2";
    let row = pg.row(sql, &[&root.root.as_str(), &signed(number)])?;
    let next: Option<i64> = row.as_ref().map(|row| get(row, 0)).transpose()?.flatten();
    Ok(next.map(unsigned))
}

/// Returns how many blocks there are, and how long they are before compressing.
pub(super) fn weight(pg: &Postgres, root: &RunKey) -> Result<(u64, u64)> {
    let sql =
        "SELECT count(*), coalesce(sum(length), 0)::bigint FROM tape_block WHERE root_id = $1";
    let row = pg.row(sql, &[&root.root.as_str()])?;
    row.map_or(Ok((0, 0)), |row| Ok((count(&row, 0)?, count(&row, 1)?)))
}

/// Returns the hashes of a run's blocks in order.
pub(super) fn hashes(pg: &Postgres, root: &RunKey) -> Result<Vec<Hash>> {
    let sql = "SELECT hash FROM tape_block WHERE root_id = $1 ORDER BY number";
    let rows = pg.rows(sql, &[&root.root.as_str()])?;
    rows.iter().map(|row| hash(row, 0)).collect()
}

/// Returns the blocks that hold a range of a stream.
pub(super) fn blocks_of(
    pg: &Postgres,
    root: &RunKey,
    stream: Stream,
    start: u64,
    end: u64,
) -> Result<Vec<TapeBlock>> {
    let name = stream.as_str();
    let which =
        format!("AND {name}_start < $3 AND {name}_start + {name}_length > $2 ORDER BY number");
    blocks(
        pg,
        &which,
        &[&root.root.as_str(), &signed(start), &signed(end)],
    )
}

/// Puts another hash on a block.
pub(super) fn set_hash(pg: &Postgres, root: &RunKey, number: u64, hash: &Hash) -> Result<()> {
    let sql = "UPDATE tape_block SET hash = $3 WHERE root_id = $1 AND number = $2";
    pg.change_tree(
        &root.root,
        sql,
        &[&root.root.as_str(), &signed(number), &hash.as_slice()],
    )
}

/// Deletes a block.
pub(super) fn delete_one(pg: &Postgres, root: &RunKey, number: u64) -> Result<()> {
    let sql = "DELETE FROM tape_block WHERE root_id = $1 AND number = $2";
    pg.change_tree(&root.root, sql, &[&root.root.as_str(), &signed(number)])
}

/// Deletes the tape of a run; returns how many bytes the streams had.
pub(super) fn delete(pg: &Postgres, root: &RunKey) -> Result<u64> {
    let sql = "SELECT coalesce(sum(stdout_length + stderr_length + stdin_length + history_length), 0)::bigint
               FROM tape_block WHERE root_id = $1";
    let row = pg.row(sql, &[&root.root.as_str()])?;
    let bytes = row.map_or(Ok(0), |row| count(&row, 0))?;
    let sql = "DELETE FROM tape_block WHERE root_id = $1";
    pg.change_tree(&root.root, sql, &[&root.root.as_str()])?;
    Ok(bytes)
}
