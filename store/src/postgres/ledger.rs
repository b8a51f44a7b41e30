//! The `usage` table: the ledger of tokens. Which of its numbers count is said by the view `counted_usage`.

use runtape_core::record::UsageSource;
use runtape_core::report::{DailyUsage, LedgerEntry};

use super::Postgres;
use super::columns::{count, counts, get, maybe_text, runtime, text, unsigned};
use crate::backend::RunRow;
use crate::error::Result;

/// Returns the ledger of a run.
pub(super) fn of_run(pg: &Postgres, run: &RunRow) -> Result<Vec<LedgerEntry>> {
    let sql = "SELECT seq, at, key, source, step, entry_model, input_tokens, output_tokens,
                   reasoning_tokens, cached_input_tokens, is_repeated, of_session,
                   cache_write_tokens, cache_write_1h_tokens
               FROM counted_usage WHERE root_id = $1 AND run_no = $2 ORDER BY seq";
    let rows = pg.rows(sql, &[&run.key.root.as_str(), &run.key.number])?;
    let rows = rows.iter().map(|row| {
        Ok(LedgerEntry {
            run_id: run.id.clone(),
            seq: count(row, 0)?,
            at: get(row, 1)?,
            key: text(row, 2)?,
            source: match get::<&str>(row, 3)? {
                "response" => UsageSource::Response,
                "total" => UsageSource::Total,
                _ => UsageSource::Remainder,
            },
            step: get::<Option<i64>>(row, 4)?.map(unsigned),
            model: maybe_text(row, 5)?,
            usage: counts(row, 6)?,
            is_repeated: get(row, 10)?,
            of_session: get(row, 11)?,
            cache_write_tokens: get(row, 12)?,
            cache_write_1h_tokens: get(row, 13)?,
            price_model: None,
            estimated_cost_usd: None,
            price_table: None,
        })
    });
    rows.collect()
}

/// Returns what was used by day, runtime and model.
pub(super) fn daily(pg: &Postgres) -> Result<Vec<DailyUsage>> {
    let sql = "SELECT day, runtime, model, runs, input_tokens, output_tokens, reasoning_tokens,
                   cached_input_tokens
               FROM v_usage_daily ORDER BY day NULLS FIRST, runtime, model NULLS FIRST";
    let rows = pg.rows(sql, &[])?;
    let rows = rows.iter().map(|row| {
        Ok(DailyUsage {
            day: text(row, 0)?,
            runtime: runtime(row, 1)?,
            model: maybe_text(row, 2)?,
            runs: count(row, 3)?,
            usage: counts(row, 4)?,
        })
    });
    rows.collect()
}
