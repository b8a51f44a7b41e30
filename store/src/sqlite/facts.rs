//! Derived rows: writing them, and reading them back as they stand there.

use runtape_core::TokenCounts;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::columns::{counts, not_negative};
use super::words::WordKeys;
use super::{ledger, migrate, notices, search, steps, tool_calls};
use crate::backend::{FactPlace, FactTable};
use crate::derive::facts::{CallFact, Fact, NoticeFact, ResultFact, UnparsedFact, UsageFact};
use crate::error::Result;
use crate::format::streams;

/// Adds rows.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut WordKeys,
    run: i64,
    facts: &[Fact],
) -> Result<()> {
    for fact in facts {
        match fact {
            Fact::Step(step) => steps::insert(connection, words, run, step)?,
            Fact::Call(call) => tool_calls::insert(connection, words, run, call)?,
            Fact::Result(result) => tool_calls::answer(connection, run, result)?,
            Fact::Notice(notice) => notices::insert(connection, words, run, notice)?,
            Fact::Unparsed(output) => notices::insert_unparsed(connection, words, run, output)?,
            Fact::Usage(usage) => ledger::insert(connection, words, run, usage)?,
        }
    }
    Ok(())
}

/// Deletes all rows of a run, also from the search index.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<()> {
    search::forget(connection, run)?;
    for table in TABLES {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?
            .execute([run])?;
    }
    Ok(())
}

/// The tables of derived rows.
pub(crate) const TABLES: [&str; 5] = ["step", "tool_call", "notice", "unparsed", "usage"];

/// Writes a word as it stands in a row: a reference to one that is not there is no text, and not
/// nothing either.
fn word(column: &str) -> String {
    format!("coalesce((SELECT text FROM word WHERE word.key = {column}), {column})")
}

/// Returns the key of a table beside the run, and a query for its rows.
fn query(connection: &Connection, table: FactTable) -> Result<(&'static [&'static str], String)> {
    Ok(match table {
        FactTable::Calls => {
            let class = if migrate::version(connection)? < migrate::CALLS_HAVE_CLASSES {
                "NULL".to_owned()
            } else {
                word("class")
            };
            (
                &["seq", "part"],
                format!(
                    "seq, part, step, at, {}, command, paths, url, result_seq, is_error,
                        duration_ms, {class} FROM tool_call",
                    word("tool")
                ),
            )
        }
        FactTable::Notices => (
            &["seq"],
            format!("seq, step, at, {}, text FROM notice", word("kind")),
        ),
        FactTable::Unparsed => (
            &["seq"],
            format!(
                "seq, at, stream, line, {}, reason, excerpt FROM unparsed",
                word("tag")
            ),
        ),
        FactTable::Usage => {
            let version = migrate::version(connection)?;
            let of_session = if version < migrate::LEDGER_KNOWS_TOTALS {
                "0"
            } else {
                "of_session"
            };
            let writes = if version < migrate::LEDGER_KNOWS_WRITES {
                "NULL, NULL"
            } else {
                "cache_write_tokens, cache_write_1h_tokens"
            };
            (
                &["seq"],
                format!(
                    "seq, at, key, {}, step, {}, input_tokens, output_tokens, reasoning_tokens,
                        cached_input_tokens, session_key, {of_session}, {writes} FROM usage",
                    word("source"),
                    word("model")
                ),
            )
        }
    })
}

/// Returns rows after a place, at most `limit`.
pub(crate) fn stored(
    connection: &Connection,
    run: i64,
    table: FactTable,
    after: Option<FactPlace>,
    limit: usize,
) -> Result<Vec<(FactPlace, Fact)>> {
    let (key, rows) = query(connection, table)?;
    let (names, marks) = match key {
        [name] => ((*name).to_owned(), "?2"),
        names => (names.join(", "), "?2, ?3"),
    };
    let sql = format!(
        "SELECT {rows} WHERE run = ?1 AND ({names}) > ({marks}) ORDER BY {names} LIMIT {limit}"
    );
    // Whatever number somebody put there, it comes after this one.
    let before_all = (Value::Real(f64::NEG_INFINITY), Value::Null);
    let after = after.map(|FactPlace(seq, part)| (seq.into(), part.into()));
    let (seq, part) = after.unwrap_or(before_all);
    let mut values = vec![Value::from(run), seq, part];
    values.truncate(1 + key.len());
    let mut statement = connection.prepare_cached(&sql)?;
    let read = match table {
        FactTable::Calls => call,
        FactTable::Notices => notice,
        FactTable::Unparsed => unparsed,
        FactTable::Usage => usage,
    };
    let rows = statement.query_map(params_from_iter(values), |row| {
        let part = if key.len() > 1 { row.get(1)? } else { 0 };
        Ok((FactPlace(row.get(0)?, part), read(row)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Reads a number that may be absent and is never negative.
fn maybe(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    number
        .map(|number| not_negative(column, number))
        .transpose()
}

/// Reads a truth that may be absent: nothing but 0 and 1 is one.
fn truth(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<bool>> {
    match row.get::<_, Option<i64>>(column)? {
        None => Ok(None),
        Some(0) => Ok(Some(false)),
        Some(1) => Ok(Some(true)),
        Some(other) => Err(rusqlite::Error::IntegralValueOutOfRange(column, other)),
    }
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    not_negative(column, row.get(column)?)
}

fn call(row: &Row<'_>) -> rusqlite::Result<Fact> {
    let place = (number(row, 0)?, number(row, 1)?);
    let (is_error, duration_ms) = (truth(row, 9)?, maybe(row, 10)?);
    let result = match maybe(row, 8)? {
        None if is_error.is_some() || duration_ms.is_some() => {
            return Err(rusqlite::Error::InvalidColumnName("result_seq".to_owned()));
        }
        seq => seq.map(|seq| ResultFact {
            call: place,
            seq,
            is_error,
            duration_ms,
        }),
    };
    Ok(Fact::Call(CallFact {
        seq: place.0,
        part: place.1,
        step: number(row, 2)?,
        at: row.get(3)?,
        tool: row.get(4)?,
        command: row.get(5)?,
        paths: row.get(6)?,
        url: row.get(7)?,
        class: row.get(11)?,
        result,
    }))
}

fn notice(row: &Row<'_>) -> rusqlite::Result<Fact> {
    Ok(Fact::Notice(NoticeFact {
        seq: number(row, 0)?,
        step: number(row, 1)?,
        at: row.get(2)?,
        kind: row.get(3)?,
        text: row.get(4)?,
    }))
}

fn unparsed(row: &Row<'_>) -> rusqlite::Result<Fact> {
    let stream: i64 = row.get(2)?;
    let known = u8::try_from(stream).ok().and_then(streams::named);
    Ok(Fact::Unparsed(UnparsedFact {
        seq: number(row, 0)?,
        at: row.get(1)?,
        stream: known.ok_or(rusqlite::Error::IntegralValueOutOfRange(2, stream))?,
        line: number(row, 3)?,
        tag: row.get(4)?,
        reason: row.get(5)?,
        excerpt: row.get(6)?,
    }))
}

fn usage(row: &Row<'_>) -> rusqlite::Result<Fact> {
    Ok(Fact::Usage(UsageFact {
        seq: number(row, 0)?,
        at: row.get(1)?,
        key: row.get(2)?,
        source: row.get(3)?,
        step: maybe(row, 4)?,
        model: row.get(5)?,
        counts: TokenCounts {
            cache_write_tokens: row.get(12)?,
            cache_write_1h_tokens: row.get(13)?,
            ..counts(row, 6)?
        },
        session_key: row.get(10)?,
        of_session: truth(row, 11)?.unwrap_or(false),
    }))
}
