//! Reading the ledger: what was used, and where each number comes from.

use runtape_core::record::UsageSource;
use runtape_core::report::{DailyUsage, LedgerEntry};
use runtape_core::{RunId, Runtime};

use crate::error::Result;
use crate::place::unsigned;
use crate::runs;
use crate::steps::counts;
use crate::store::Store;

impl Store {
    /// Returns what a run used by itself, entry by entry.
    pub fn usage_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>> {
        self.read(|connection| {
            let row = runs::get(connection, run)?;
            let mut statement = connection.prepare_cached(
                "SELECT seq, at_ms, key, source, step, entry_model, input_tokens,
                        output_tokens, reasoning_tokens, cached_input_tokens, is_repeated, of_session
                 FROM v_usage WHERE run_id = ?1 ORDER BY seq",
            )?;
            let rows = statement.query_map([row.id.as_str()], |row| {
                let source = match row.get_ref(3)?.as_str()? {
                    "response" => UsageSource::Response,
                    "total" => UsageSource::Total,
                    _ => UsageSource::Remainder,
                };
                Ok(LedgerEntry {
                    run_id: run.clone(),
                    seq: row.get(0).map(unsigned)?,
                    at: row.get(1)?,
                    key: row.get(2)?,
                    source,
                    step: row.get::<_, Option<i64>>(4)?.map(unsigned),
                    model: row.get(5)?,
                    usage: counts(row, 6)?,
                    is_repeated: row.get(10)?,
                    of_session: row.get(11)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns what was used by day, runtime and model, each response once.
    pub fn usage_daily(&self) -> Result<Vec<DailyUsage>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT day, runtime, model, runs, input_tokens, output_tokens, reasoning_tokens,
                        cached_input_tokens
                 FROM v_usage_daily ORDER BY day, runtime, model",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(DailyUsage {
                    day: row.get(0)?,
                    runtime: Runtime::from_name(row.get_ref(1)?.as_str()?),
                    model: row.get(2)?,
                    runs: row.get(3).map(unsigned)?,
                    usage: counts(row, 4)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}
