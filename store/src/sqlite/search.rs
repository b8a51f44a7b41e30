//! The `search` table: full text over messages, tool inputs and outputs.

use rusqlite::{Connection, params, params_from_iter};

use super::columns::{self as place, run_id, signed};
use super::condition::{Condition, select};
use super::{fts, runs};
use crate::backend::{Found, PartlySearched, RunKey, Selection};
use crate::derive::text::Text;
use crate::error::Result;
use crate::search_query::SearchQuery;

/// What makes terms of texts.
pub(crate) const TOKENIZER: &str = "unicode61 remove_diacritics 2";

pub(crate) const INSERT: &str =
    "INSERT INTO search (rowid, said, input, output) VALUES (?1, ?2, ?3, ?4)";

/// Adds a text.
pub(crate) fn insert(connection: &Connection, place: i64, text: &Text) -> Result<()> {
    connection.prepare_cached(INSERT)?.execute(params![
        place,
        text.said,
        text.input,
        text.output
    ])?;
    Ok(())
}

/// Takes a run out of the index.
pub(crate) fn forget(connection: &Connection, run: i64) -> Result<()> {
    let (first, last) = place::range(run);
    connection
        .prepare_cached("DELETE FROM search WHERE rowid BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    set_searched(connection, run, 0)
}

/// Where the index keeps which records were deleted: pages of FTS5's own, numbered from here on.
const FIRST_PAGE_OF_DELETED: i64 = 1 << 53;

/// Takes the words of deleted records out of the index: until then they are only marked as
/// deleted. Writes the whole index anew, so it is done only where there are any.
pub(crate) fn erase_deleted(connection: &Connection) -> Result<()> {
    let has_deleted: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM search_data WHERE id >= ?1)")?
        .query_row([FIRST_PAGE_OF_DELETED], |row| row.get(0))?;
    if has_deleted {
        connection.execute("INSERT INTO search (search) VALUES ('optimize')", [])?;
    }
    Ok(())
}

/// Empties the index, whatever it holds.
pub(crate) fn clear(connection: &Connection) -> Result<()> {
    connection.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
    connection.execute("UPDATE run SET searched = 0 WHERE searched <> 0", [])?;
    Ok(())
}

/// Notes how many records of a run the index has seen.
pub(crate) fn set_searched(connection: &Connection, run: i64, records: u64) -> Result<()> {
    connection
        .prepare_cached("UPDATE run SET searched = ?2 WHERE key = ?1")?
        .execute(params![run, signed(records)])?;
    Ok(())
}

/// Returns the runs that the index does not know in full.
pub(crate) fn partly_searched(connection: &Connection) -> Result<Vec<PartlySearched>> {
    let mut statement = connection.prepare_cached(
        "SELECT run.key, run.id, root.id, run.searched FROM run
         LEFT JOIN run AS root ON root.key = run.root
         WHERE run.searched < run.records ORDER BY run.key",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(PartlySearched {
            key: runs::key(row, 0, 1, 2)?,
            id: run_id(row, 1)?,
            searched: row.get(3).map(place::unsigned)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns records that the index finds, the best first.
pub(crate) fn find(
    connection: &Connection,
    query: &SearchQuery,
    selection: Selection<'_>,
    offset: usize,
    limit: usize,
) -> Result<Vec<Found>> {
    let mut condition = Condition::selecting(selection);
    condition.add("search MATCH ?", fts::compile(query));
    let sql = format!(
        "SELECT search.rowid, search.rank, coalesce(root.id, run.id) FROM search
         JOIN run ON run.key = search.rowid >> 32
         LEFT JOIN run AS root ON root.key = run.root
         WHERE {} ORDER BY search.rank, search.rowid LIMIT {} OFFSET {}",
        condition.sql(),
        place::limit(limit),
        place::limit(offset),
    );
    select(connection, &sql, &condition, |row| {
        let (number, seq) = place::split(row.get(0)?);
        Ok(Found {
            run: RunKey {
                root: run_id(row, 2)?,
                number,
            },
            seq,
            rank: row.get(1)?,
        })
    })
}

/// Tells whether a run is among those selected.
pub(crate) fn is_selected(
    connection: &Connection,
    run: i64,
    selection: Selection<'_>,
) -> Result<bool> {
    let mut condition = Condition::selecting(selection);
    condition.add("run.key = ?", run);
    let sql = format!("SELECT 1 FROM run WHERE {}", condition.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.exists(params_from_iter(&condition.values))?)
}
