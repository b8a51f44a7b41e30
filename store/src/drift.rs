//! What was not understood: how a change in a CLI's format is seen.

use std::collections::BTreeMap;

use runtape_core::report::{Drift, DriftKind};
use runtape_core::{RecordKind, RunId};
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Value};

use crate::audit::{condition, run_id, runtime};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::list::sql_limit;
use crate::place::unsigned;
use crate::records;
use crate::store::Store;

impl Store {
    /// Returns what was not understood in the runs that a filter lets through, by kind, lines
    /// before keys and the most frequent first.
    ///
    /// Keys are counted in a run's metadata, which is looked for in the records of its last step.
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
        let mut condition = condition(filter);
        condition.terms.push("run.root IS NULL".to_owned());
        // Counts are complete, and written, when the run ends.
        condition.terms.push("run.status IS NOT NULL".to_owned());
        let sql = format!(
            "SELECT run.key, run.id, runtime.text, cli_version.text, coalesce((
                SELECT step.seq FROM step WHERE step.run = run.key
                ORDER BY step.step DESC LIMIT 1 OFFSET 1
             ), 0)
             FROM run JOIN word AS runtime ON runtime.key = run.runtime
             LEFT JOIN word AS cli_version ON cli_version.key = run.cli_version
             WHERE {} ORDER BY run.started_at DESC, run.key DESC",
            condition.sql(),
        );
        let mut found: BTreeMap<(String, Option<String>, String), Drift> = BTreeMap::new();
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(&condition.values))?;
            while let Some(row) = rows.next()? {
                let (run, version): (RunId, Option<String>) = (run_id(row, 1)?, row.get(3)?);
                let from = row.get(4).map(unsigned)?;
                let Some((seq, counts)) = keys_of(connection, row.get(0)?, &run, from)? else {
                    continue;
                };
                let runtime = runtime(row, 2)?;
                for (key, count) in counts {
                    let place = (runtime.as_str().to_owned(), version.clone(), key.clone());
                    let drift = found.entry(place).or_insert_with(|| Drift {
                        kind: DriftKind::Key,
                        runtime: runtime.clone(),
                        cli_version: version.clone(),
                        tag: Some(key),
                        reason: "unknown key".to_owned(),
                        lines: 0,
                        runs: 0,
                        run_id: run.clone(),
                        seq,
                        excerpt: None,
                    });
                    drift.lines += count.as_u64().unwrap_or(0);
                    drift.runs += 1;
                }
            }
            Ok(())
        })?;
        let mut found: Vec<Drift> = found.into_values().collect();
        found.sort_by_key(|drift| std::cmp::Reverse(drift.lines));
        Ok(found)
    }
}

/// Returns the keys of a run that were not known, how often each was seen, and the record that says
/// so. It is one of the last step's, which begins after `from`.
fn keys_of(
    connection: &Connection,
    key: i64,
    run: &RunId,
    from: u64,
) -> Result<Option<(u64, Map<String, Value>)>> {
    let mut found = None;
    records::each_with(connection, key, run, from, br#""unknownKeys":"#, |record| {
        if let RecordKind::Metadata(patch) = &record.kind
            && let Some(Value::Object(keys)) = patch.set.get("unknownKeys")
        {
            found = Some((record.seq, keys.clone()));
        }
        found.is_none()
    })?;
    Ok(found)
}
