//! The `usage` table: the ledger of tokens.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::UsageFact;
use crate::place::{signed, unsigned};
use crate::words::Words;

/// Adds an entry, and finds out whether an earlier run reported the same response.
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
                output_tokens, reasoning_tokens, cached_input_tokens, session_key, repeated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0)",
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
        ])?;
    if let Some(session_key) = usage.session_key {
        let others: i64 = connection
            .prepare_cached("SELECT count(*) FROM usage WHERE session_key = ?1")?
            .query_row([session_key], |row| row.get(0))?;
        if others > 1 {
            recount(connection, session_key)?;
        }
    }
    Ok(())
}

/// Says when an entry repeats one of an earlier run. The numbers must be the same, too: a
/// runtime that counts its responses from one again in each run reports different ones.
const REPEATS: &str = "EXISTS (
    SELECT 1 FROM usage AS earlier
    JOIN run AS earlier_run ON earlier_run.key = earlier.run
    JOIN run AS this_run ON this_run.key = usage.run
    WHERE earlier.session_key = usage.session_key AND earlier.run < usage.run
        AND earlier.key = usage.key
        AND earlier.input_tokens IS usage.input_tokens
        AND earlier.output_tokens IS usage.output_tokens
        AND earlier.reasoning_tokens IS usage.reasoning_tokens
        AND earlier.cached_input_tokens IS usage.cached_input_tokens
        AND coalesce(earlier_run.root, earlier_run.key) <> coalesce(this_run.root, this_run.key)
)";

/// Decides anew which entries of a response repeat an earlier one.
fn recount(connection: &Connection, session_key: i64) -> Result<()> {
    connection
        .prepare_cached(&format!(
            "UPDATE usage SET repeated = {REPEATS} WHERE session_key = ?1"
        ))?
        .execute([session_key])?;
    Ok(())
}

/// Deletes the entries of a run; what other runs repeated of it counts there from now on.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<()> {
    let keys: Vec<i64> = connection
        .prepare_cached("SELECT session_key FROM usage WHERE run = ?1 AND session_key IS NOT NULL")?
        .query_map([run], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    connection
        .prepare_cached("DELETE FROM usage WHERE run = ?1")?
        .execute([run])?;
    for key in keys {
        recount(connection, key)?;
    }
    Ok(())
}

/// Returns the first entry of a run whose mark as a repetition is wrong.
pub(crate) fn wrongly_repeated(connection: &Connection, run: i64) -> Result<Option<u64>> {
    let sql = format!(
        "SELECT min(seq) FROM usage
         WHERE run = ?1 AND repeated <> (session_key IS NOT NULL AND {REPEATS})"
    );
    let seq: Option<i64> = connection
        .prepare_cached(&sql)?
        .query_row([run], |row| row.get(0))?;
    Ok(seq.map(unsigned))
}
