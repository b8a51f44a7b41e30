//! What was not understood: how a change in a CLI's format is seen.

use std::collections::BTreeMap;

use runtape_core::RecordKind;
use runtape_core::report::{Drift, DriftKind};
use serde_json::{Map, Value};

use super::records;
use crate::backend::{EndedRoot, Tables};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

impl Store {
    /// Returns what was not understood in the runs that a filter lets through, by kind, lines
    /// before keys and the most frequent first.
    ///
    /// Keys are counted in a run's metadata, which is looked for in the records of its last step.
    pub fn drift(&self, filter: &RunFilter, limit: usize) -> Result<Vec<Drift>> {
        self.read(|tables| {
            let mut found = tables.unparsed_lines(filter, limit)?;
            if found.len() < limit {
                let mut keys = unknown_keys(tables, filter)?;
                keys.truncate(limit - found.len());
                found.append(&mut keys);
            }
            Ok(found)
        })
    }
}

fn unknown_keys(tables: &dyn Tables, filter: &RunFilter) -> Result<Vec<Drift>> {
    let mut found: BTreeMap<(String, Option<String>, String), Drift> = BTreeMap::new();
    // Counts are complete, and written, when the run ends.
    for run in tables.ended_roots(filter)? {
        let Some((seq, counts)) = keys_of(tables, &run)? else {
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
                run_id: run.id.clone(),
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

/// Returns the keys of a run that were not known, how often each was seen, and the record that says
/// so: one of the last step's.
fn keys_of(tables: &dyn Tables, run: &EndedRoot) -> Result<Option<(u64, Map<String, Value>)>> {
    let mut found = None;
    let (from, keys) = (run.last_step_after, br#""unknownKeys":"#);
    records::each_with(tables, &run.key, &run.id, from, keys, |record| {
        if let RecordKind::Metadata(patch) = &record.kind
            && let Some(Value::Object(keys)) = patch.set.get("unknownKeys")
        {
            found = Some((record.seq, keys.clone()));
        }
        found.is_none()
    })?;
    Ok(found)
}
