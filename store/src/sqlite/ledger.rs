//! The `usage` table: the ledger of tokens. Which of its numbers count is said by the view `v_usage`.

use runtape_core::record::UsageSource;
use runtape_core::report::{DailyUsage, LedgerEntry};
use rusqlite::{Connection, params};

use super::columns::{counts, runtime, signed, unsigned};
use super::migrate;
use super::words::WordKeys;
use crate::backend::RunRow;
use crate::derive::facts::UsageFact;
use crate::error::Result;

/// Adds an entry.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut WordKeys,
    run: i64,
    usage: &UsageFact,
) -> Result<()> {
    let source = words.key(connection, &usage.source)?;
    let model = words.maybe(connection, usage.model.as_deref())?;
    connection
        .prepare_cached(
            "INSERT INTO usage (run, seq, at, key, source, step, model, input_tokens,
                output_tokens, reasoning_tokens, cached_input_tokens, session_key, of_session,
                cache_write_tokens, cache_write_1h_tokens)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
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
            usage.counts.cache_write_tokens,
            usage.counts.cache_write_1h_tokens,
        ])?;
    Ok(())
}

/// Returns the ledger of a run.
pub(crate) fn of_run(connection: &Connection, run: &RunRow) -> Result<Vec<LedgerEntry>> {
    let writes = if migrate::version(connection)? < migrate::LEDGER_KNOWS_WRITES {
        "NULL, NULL"
    } else {
        "cache_write_tokens, cache_write_1h_tokens"
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT seq, at_ms, key, source, step, entry_model, input_tokens, output_tokens,
                reasoning_tokens, cached_input_tokens, is_repeated, of_session, {writes}
         FROM v_usage WHERE run_id = ?1 ORDER BY seq"
    ))?;
    let rows = statement.query_map([run.id.as_str()], |row| {
        let source = match row.get_ref(3)?.as_str()? {
            "response" => UsageSource::Response,
            "total" => UsageSource::Total,
            _ => UsageSource::Remainder,
        };
        Ok(LedgerEntry {
            run_id: run.id.clone(),
            seq: row.get(0).map(unsigned)?,
            at: row.get(1)?,
            key: row.get(2)?,
            source,
            step: row.get::<_, Option<i64>>(4)?.map(unsigned),
            model: row.get(5)?,
            usage: counts(row, 6)?,
            is_repeated: row.get(10)?,
            of_session: row.get(11)?,
            cache_write_tokens: row.get(12)?,
            cache_write_1h_tokens: row.get(13)?,
            price_model: None,
            estimated_cost_usd: None,
            price_table: None,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns what was used by day, runtime and model.
pub(crate) fn daily(connection: &Connection) -> Result<Vec<DailyUsage>> {
    let mut statement = connection.prepare_cached(
        "SELECT day, runtime, model, runs, input_tokens, output_tokens, reasoning_tokens,
                cached_input_tokens
         FROM v_usage_daily ORDER BY day, runtime, model",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(DailyUsage {
            day: row.get(0)?,
            runtime: runtime(row, 1)?,
            model: row.get(2)?,
            runs: row.get(3).map(unsigned)?,
            usage: counts(row, 4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
