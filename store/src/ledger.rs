//! The `usage` table: the ledger of tokens.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::UsageFact;
use crate::place::signed;
use crate::words::Words;

/// Adds an entry.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    usage: &UsageFact,
) -> Result<()> {
    let source = words.key(connection, &usage.source)?;
    let model = words.maybe(connection, usage.model.as_deref())?;
    connection
        .prepare_cached(
            "INSERT INTO usage (run, seq, at, key, source, step, model, input_tokens,
                output_tokens, reasoning_tokens, cached_input_tokens, session_key, of_session)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            run,
            signed(usage.seq),
            usage.at,
            usage.key,
            source,
            usage.step.map(signed),
            model,
            usage.counts.input_tokens,
            usage.counts.output_tokens,
            usage.counts.reasoning_tokens,
            usage.counts.cached_input_tokens,
            usage.session_key,
            usage.of_session,
        ])?;
    Ok(())
}

/// Deletes the entries of a run.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM usage WHERE run = ?1")?
        .execute([run])?;
    Ok(())
}
