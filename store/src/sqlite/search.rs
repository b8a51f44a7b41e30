//! The `search` table: which words are in which stretch of records.

use rusqlite::{Connection, Row, params};

use super::columns::{self as place, job_id, run_id, runtime, signed};
use super::condition::{Condition, select};
use super::{fts, runs};
use crate::backend::{PartlySearched, Selection, Stretch};
use crate::derive::words::Words;
use crate::error::Result;
use crate::read::search::WordQuery;

/// Adds the words of a stretch.
pub(crate) fn insert(connection: &Connection, place: i64, words: &Words) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO search (rowid, words) VALUES (?1, ?2)")?
        .execute(params![place, words.text()])?;
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

/// Returns runs that the index does not know in full.
pub(crate) fn partly_searched(connection: &Connection, most: usize) -> Result<Vec<PartlySearched>> {
    let mut statement = connection.prepare_cached(
        "SELECT run.key, run.id, root.id, run.searched, run.records FROM run
         LEFT JOIN run AS root ON root.key = run.root
         WHERE run.searched < run.records ORDER BY run.key LIMIT ?1",
    )?;
    let rows = statement.query_map([place::limit(most)], |row| {
        Ok(PartlySearched {
            key: runs::key(row, 0, 1, 2)?,
            id: run_id(row, 1)?,
            searched: row.get(3).map(place::unsigned)?,
            records: row.get(4).map(place::unsigned)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Counts the records that the index does not know.
pub(crate) fn unsearched_records(connection: &Connection) -> Result<u64> {
    let sql = "SELECT coalesce(sum(records - searched), 0) FROM run WHERE searched < records";
    let count = connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0));
    Ok(place::unsigned(count?))
}

/// What a stretch says of its run.
const RUN: &str = "run.key, run.id, root.id, job.id, word.text, run.started_at";

/// Where that is from.
const JOINS: &str = "JOIN job ON job.key = run.job JOIN word ON word.key = run.runtime
     LEFT JOIN run AS root ON root.key = run.root";

fn stretch(row: &Row<'_>, from: u64, to: u64) -> rusqlite::Result<Stretch> {
    Ok(Stretch {
        run: runs::key(row, 0, 1, 2)?,
        id: run_id(row, 1)?,
        job: job_id(row, 3)?,
        runtime: runtime(row, 4)?,
        started_at: row.get(5)?,
        from,
        to,
    })
}

/// Returns the stretches that have words, the latest first.
pub(crate) fn find(
    connection: &Connection,
    words: &WordQuery,
    selection: Selection<'_>,
    most: usize,
) -> Result<Vec<Stretch>> {
    let mut condition = Condition::selecting(selection);
    condition.add("search MATCH ?", fts::compile(words));
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT {RUN}, search.rowid, run.searched,
            (SELECT min(id) FROM search_docsize WHERE id > search.rowid) AS next
         FROM search JOIN run ON run.key = search.rowid >> 32 {JOINS}
         WHERE {} ORDER BY run.started_at DESC, run.key DESC, search.rowid DESC LIMIT {most}",
        condition.sql(),
    );
    select(connection, &sql, &condition, |row| {
        let (run, from) = place::split(row.get(6)?);
        let next = row.get::<_, Option<i64>>(8)?.map(place::split);
        let to = match next {
            Some((key, next)) if key == run => next,
            _ => row.get(7).map(place::unsigned)?,
        };
        stretch(row, from, to)
    })
}

/// Returns all records of runs, or those that the index does not know, the latest first.
pub(crate) fn stretches(
    connection: &Connection,
    selection: Selection<'_>,
    is_unknown: bool,
) -> Result<Vec<Stretch>> {
    let mut condition = Condition::selecting(selection);
    if is_unknown {
        condition
            .terms
            .push("run.searched < run.records".to_owned());
    }
    let sql = format!(
        "SELECT {RUN}, run.searched, run.records FROM run {JOINS}
         WHERE {} ORDER BY run.started_at DESC, run.key DESC",
        condition.sql(),
    );
    select(connection, &sql, &condition, |row| {
        let searched = row.get(6).map(place::unsigned)?;
        let from = if is_unknown { searched } else { 0 };
        stretch(row, from, row.get(7).map(place::unsigned)?)
    })
}
