//! The `record_block` table.

use tokio_postgres::Row;

use super::columns::{count, get, hash, key, length, signed, size};
use super::pending::Into;
use super::rows::Cell;
use super::{Postgres, Value};
use crate::backend::RunKey;
use crate::error::Result;
use crate::format::records::RecordBlock;

const COLUMNS: &str = "first_seq, count, length, hash, marks, body";

fn from_row(row: &Row) -> Result<RecordBlock> {
    Ok(RecordBlock {
        first_seq: count(row, 0)?,
        count: count(row, 1)?,
        length: length(row, 2)?,
        hash: hash(row, 3)?,
        marks: get(row, 4)?,
        body: get(row, 5)?,
    })
}

/// Adds a block.
pub(super) fn insert(pg: &Postgres, run: &RunKey, block: &RecordBlock) -> Result<()> {
    let cells = [
        Cell::Integer(run.number),
        Cell::Integer(signed(block.first_seq)),
        Cell::Integer(signed(block.count)),
        Cell::Integer(size(block.length)),
        Cell::bytes(&block.hash),
        Cell::bytes(&block.marks),
        Cell::bytes(&block.body),
    ];
    pg.add(Into::RecordBlock, &run.root, cells, block.body.len())
}

fn one(pg: &Postgres, run: &RunKey, seq: u64, which: &str) -> Result<Option<RecordBlock>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM record_block WHERE root_id = $1 AND run_no = $2 AND {which} LIMIT 1"
    );
    let values: [Value<'_>; 3] = [&run.root.as_str(), &run.number, &signed(seq)];
    let rows = if pg.is_pending_tree(&run.root) {
        pg.rows(&sql, &values)?
    } else {
        pg.rows_beside(&sql, &values)?
    };
    rows.first().map(from_row).transpose()
}

/// Returns the first blocks of runs. Each is as large as any block, so ask for a few runs only.
pub(super) fn first_blocks(pg: &Postgres, runs: &[&RunKey]) -> Result<Vec<(RunKey, RecordBlock)>> {
    let roots: Vec<&str> = runs.iter().map(|run| run.root.as_str()).collect();
    let numbers: Vec<i64> = runs.iter().map(|run| run.number).collect();
    let sql = format!(
        "SELECT {COLUMNS}, x.root_id, x.run_no
         FROM unnest($1::text[], $2::bigint[]) AS x (root_id, run_no) JOIN record_block AS block
            ON block.root_id = x.root_id AND block.run_no = x.run_no
         WHERE block.first_seq = 0"
    );
    let values: [Value<'_>; 2] = [&roots, &numbers];
    let rows = if runs.iter().any(|run| pg.is_pending_tree(&run.root)) {
        pg.rows(&sql, &values)?
    } else {
        pg.rows_beside(&sql, &values)?
    };
    let rows = rows.iter().map(|row| Ok((key(row, 6)?, from_row(row)?)));
    rows.collect()
}

/// Returns the last block that begins at or before a record.
pub(super) fn block_of(pg: &Postgres, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>> {
    one(pg, run, seq, "first_seq <= $3 ORDER BY first_seq DESC")
}

/// Returns the first block that begins at or after a record.
pub(super) fn block_from(pg: &Postgres, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>> {
    one(pg, run, seq, "first_seq >= $3 ORDER BY first_seq")
}

/// Returns first record and length of each block.
pub(super) fn lengths(pg: &Postgres, run: &RunKey) -> Result<Vec<(u64, usize)>> {
    let sql = "SELECT first_seq, length FROM record_block WHERE root_id = $1 AND run_no = $2
               ORDER BY first_seq";
    let rows = pg.rows(sql, &[&run.root.as_str(), &run.number])?;
    let lengths = rows.iter().map(|row| Ok((count(row, 0)?, length(row, 1)?)));
    lengths.collect()
}

/// Deletes the block that begins at a record.
pub(super) fn delete_one(pg: &Postgres, run: &RunKey, first_seq: u64) -> Result<()> {
    let sql = "DELETE FROM record_block WHERE root_id = $1 AND run_no = $2 AND first_seq = $3";
    pg.change_tree(
        &run.root,
        sql,
        &[&run.root.as_str(), &run.number, &signed(first_seq)],
    )
}

/// Deletes all records of a run.
pub(super) fn delete(pg: &Postgres, run: &RunKey) -> Result<()> {
    let sql = "DELETE FROM record_block WHERE root_id = $1 AND run_no = $2";
    pg.change_tree(&run.root, sql, &[&run.root.as_str(), &run.number])
}
