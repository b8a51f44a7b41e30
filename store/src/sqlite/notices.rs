//! The `notice` and `unparsed` tables: what runtimes reported besides, and what no parser
//! understood.

use rusqlite::{Connection, params};

use super::columns::signed;
use super::words::WordKeys;
use crate::derive::facts::{NoticeFact, UnparsedFact};
use crate::error::Result;
use crate::format::streams;

/// Adds a notice.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut WordKeys,
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

/// Adds output that no parser understood.
pub(crate) fn insert_unparsed(
    connection: &Connection,
    words: &mut WordKeys,
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
            streams::number(output.stream),
            signed(output.line),
            tag,
            output.reason,
            output.excerpt
        ])?;
    Ok(())
}
