//! The `notice` and `unparsed` tables: what runtimes reported besides, and what no parser
//! understood.

use runtape_core::Stream;
use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::{NoticeFact, UnparsedFact};
use crate::place::{signed, unsigned};
use crate::words::Words;

/// Adds a notice.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    notice: &NoticeFact,
) -> Result<()> {
    let kind = words.key(connection, &notice.kind)?;
    connection
        .prepare_cached(
            "INSERT INTO notice (run, seq, step, at, kind, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            run,
            signed(notice.seq),
            signed(notice.step),
            notice.at,
            kind,
            notice.text
        ])?;
    Ok(())
}

/// Returns the notices of a run in order.
pub(crate) fn all(connection: &Connection, run: i64) -> Result<Vec<NoticeFact>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, step, at, coalesce(word.text, ''), notice.text
         FROM notice LEFT JOIN word ON word.key = notice.kind WHERE run = ?1 ORDER BY seq",
    )?;
    let rows = statement.query_map([run], |row| {
        Ok(NoticeFact {
            seq: row.get(0).map(unsigned)?,
            step: row.get(1).map(unsigned)?,
            at: row.get(2)?,
            kind: row.get(3)?,
            text: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds output that no parser understood.
pub(crate) fn insert_unparsed(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    output: &UnparsedFact,
) -> Result<()> {
    let tag = words.maybe(connection, output.tag.as_deref())?;
    connection
        .prepare_cached(
            "INSERT INTO unparsed (run, seq, at, stream, line, tag, reason, excerpt)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            run,
            signed(output.seq),
            output.at,
            output.stream == Stream::Stderr,
            signed(output.line),
            tag,
            output.reason,
            output.excerpt
        ])?;
    Ok(())
}

/// Returns what no parser understood of a run, in order.
pub(crate) fn all_unparsed(connection: &Connection, run: i64) -> Result<Vec<UnparsedFact>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, stream, line, word.text, reason, excerpt
         FROM unparsed LEFT JOIN word ON word.key = unparsed.tag WHERE run = ?1 ORDER BY seq",
    )?;
    let rows = statement.query_map([run], |row| {
        let is_stderr: bool = row.get(2)?;
        Ok(UnparsedFact {
            seq: row.get(0).map(unsigned)?,
            at: row.get(1)?,
            stream: if is_stderr {
                Stream::Stderr
            } else {
                Stream::Stdout
            },
            line: row.get(3).map(unsigned)?,
            tag: row.get(4)?,
            reason: row.get(5)?,
            excerpt: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
