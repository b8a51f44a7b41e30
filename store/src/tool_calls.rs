//! The `tool_call` table: what tools were asked to do, and how it went.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::{CallFact, ResultFact};
use crate::place::{signed, unsigned};
use crate::words::Words;

/// Adds a call.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    call: &CallFact,
) -> Result<()> {
    let tool = words.key(connection, &call.tool)?;
    let result = call.result.as_ref();
    connection
        .prepare_cached(
            "INSERT INTO tool_call (run, seq, part, step, at, tool, command, paths, url,
                result_seq, is_error, duration_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
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

/// Returns the calls of a run in order.
pub(crate) fn all(connection: &Connection, run: i64) -> Result<Vec<CallFact>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, part, step, at, coalesce(word.text, ''), command, paths, url,
                result_seq, is_error, duration_ms
         FROM tool_call LEFT JOIN word ON word.key = tool_call.tool
         WHERE run = ?1 ORDER BY seq, part",
    )?;
    let rows = statement.query_map([run], |row| {
        let number = |column| row.get::<_, i64>(column).map(unsigned);
        let call = (number(0)?, number(1)?);
        let (is_error, duration): (Option<bool>, Option<i64>) = (row.get(9)?, row.get(10)?);
        let result_seq: Option<i64> = row.get(8)?;
        let answered = result_seq.is_some() || is_error.is_some() || duration.is_some();
        Ok(CallFact {
            seq: call.0,
            part: call.1,
            step: number(2)?,
            at: row.get(3)?,
            tool: row.get(4)?,
            command: row.get(5)?,
            paths: row.get(6)?,
            url: row.get(7)?,
            result: answered.then(|| ResultFact {
                call,
                seq: result_seq.map_or(u64::MAX, unsigned),
                is_error,
                duration_ms: duration.map(unsigned),
            }),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
