//! The `tool_call` table: what tools were asked to do, and how it went.

use rusqlite::{Connection, params};

use super::columns::signed;
use super::words::WordKeys;
use crate::derive::facts::{CallFact, ResultFact};
use crate::error::Result;

/// Adds a call.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut WordKeys,
    run: i64,
    call: &CallFact,
) -> Result<()> {
    let tool = words.key(connection, &call.tool)?;
    let class = words.maybe(connection, call.class.as_deref())?;
    let result = call.result.as_ref();
    connection
        .prepare_cached(
            "INSERT INTO tool_call (run, seq, part, step, at, tool, command, paths, url,
                result_seq, is_error, duration_ms, class)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            run,
            signed(call.seq),
            signed(call.part),
            signed(call.step),
            call.at,
            tool,
            call.command,
            call.paths,
            call.url,
            result.map(|result| signed(result.seq)),
            result.and_then(|result| result.is_error),
            result.and_then(|result| result.duration_ms.map(signed)),
            class,
        ])?;
    Ok(())
}

/// Notes what came of a call.
pub(crate) fn answer(connection: &Connection, run: i64, result: &ResultFact) -> Result<()> {
    let (seq, part) = result.call;
    connection
        .prepare_cached(
            "UPDATE tool_call SET result_seq = ?4, is_error = ?5, duration_ms = ?6
             WHERE run = ?1 AND seq = ?2 AND part = ?3",
        )?
        .execute(params![
            run,
            signed(seq),
            signed(part),
            signed(result.seq),
            result.is_error,
            result.duration_ms.map(signed)
        ])?;
    Ok(())
}
