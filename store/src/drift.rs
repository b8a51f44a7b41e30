//! What was not understood: how a change in a CLI's format is seen.

use std::collections::BTreeMap;

use runtape_core::RecordKind;
use runtape_core::report::{Drift, DriftKind, RunInfo};
use serde_json::{Map, Value};

use crate::audit::{condition, run_id, runtime};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::list::sql_limit;
use crate::place::unsigned;
use crate::store::Store;

impl Store {
    /// Returns what was not understood in the runs that a filter lets through, by kind, lines
    /// before keys and the most frequent first.
    ///
    /// Keys are counted in a run's metadata, which is read from its last step.
    pub fn drift(&self, filter: &RunFilter, limit: usize) -> Result<Vec<Drift>> {
        let mut found = self.unparsed_lines(filter, limit)?;
        if found.len() < limit {
            let mut keys = self.unknown_keys(filter)?;
            keys.truncate(limit - found.len());
            found.append(&mut keys);
        }
        Ok(found)
    }

    fn unparsed_lines(&self, filter: &RunFilter, limit: usize) -> Result<Vec<Drift>> {
        let condition = condition(filter);
        let sql = format!(
            "SELECT output.runtime, output.cli_version, output.tag, output.reason, count(*),
                    count(DISTINCT output.run_id), output.run_id, output.seq, output.excerpt
             FROM v_unparsed AS output JOIN run ON run.id = output.run_id
             WHERE {} GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT {}",
            condition.sql(),
            sql_limit(limit) - 1,
        );
        self.select(&sql, &condition, |row| {
            Ok(Drift {
                kind: DriftKind::Line,
                runtime: runtime(row, 0)?,
                cli_version: row.get(1)?,
                tag: row.get(2)?,
                reason: row.get(3)?,
                lines: row.get(4).map(unsigned)?,
                runs: row.get(5).map(unsigned)?,
                run_id: run_id(row, 6)?,
                seq: row.get(7).map(unsigned)?,
                excerpt: row.get(8)?,
            })
        })
    }

    fn unknown_keys(&self, filter: &RunFilter) -> Result<Vec<Drift>> {
        let mut filter = filter.clone();
        filter.roots_only = true;
        let mut found: BTreeMap<(String, Option<String>, String), Drift> = BTreeMap::new();
        for run in self.runs(&filter, None, u32::MAX as usize)?.items {
            let Some((seq, counts)) = self.keys_of(&run)? else {
                continue;
            };
            for (key, count) in counts {
                let place = (
                    run.runtime.as_str().to_owned(),
                    run.cli_version.clone(),
                    key.clone(),
                );
                let drift = found.entry(place).or_insert_with(|| Drift {
                    kind: DriftKind::Key,
                    runtime: run.runtime.clone(),
                    cli_version: run.cli_version.clone(),
                    tag: Some(key),
                    reason: "unknown key".to_owned(),
                    lines: 0,
                    runs: 0,
                    run_id: run.run_id.clone(),
                    seq,
                    excerpt: None,
                });
                drift.lines += count.as_u64().unwrap_or(0);
                drift.runs += 1;
            }
        }
        let mut found: Vec<Drift> = found.into_values().collect();
        found.sort_by_key(|drift| std::cmp::Reverse(drift.lines));
        Ok(found)
    }

    /// Returns the keys of a run that were not known, how often each was seen, and the record that
    /// says so.
    fn keys_of(&self, run: &RunInfo) -> Result<Option<(u64, Map<String, Value>)>> {
        let last_but_one = run.steps.saturating_sub(2);
        let before = self.steps(&run.run_id, last_but_one, 1)?;
        let from = match before.first() {
            Some(step) if step.step < run.steps => step.seq,
            _ => 0,
        };
        let mut found = None;
        self.each_record(&run.run_id, from, |record| {
            if let RecordKind::Metadata(patch) = &record.kind
                && let Some(Value::Object(keys)) = patch.set.get("unknownKeys")
            {
                found = Some((record.seq, keys.clone()));
            }
            found.is_none()
        })?;
        Ok(found)
    }
}
