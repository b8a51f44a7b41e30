//! In which ways runs failed, and how often.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::RunId;
use runtape_core::report::{Failure, FailureSum, RunInfo};

use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

/// What failed runs are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureBy {
    /// The family: `auth`, `rateLimit`, `process` …
    Family,
    /// The error's name: `ApiError`, `TimedOut` …
    Name,
    /// The runtime.
    Runtime,
}

/// What is known so far of the runs that failed in one way.
struct FailureCount {
    runs: u64,
    retryable: u64,
    names: BTreeSet<String>,
    runtimes: BTreeMap<String, runtape_core::Runtime>,
    last: (i64, RunId),
}

impl Store {
    /// Returns in which ways the runs failed that a filter lets through, the most frequent first.
    pub fn failures(&self, filter: &RunFilter, by: FailureBy) -> Result<Vec<FailureSum>> {
        let runs = self.errors(filter, usize::MAX)?;
        let mut sums: BTreeMap<Option<String>, FailureCount> = BTreeMap::new();
        for run in &runs {
            let Some(error) = &run.error else { continue };
            let at = run.finished_at.unwrap_or(run.started_at);
            let counted = sums
                .entry(key(by, run, error))
                .or_insert_with(|| FailureCount {
                    runs: 0,
                    retryable: 0,
                    names: BTreeSet::new(),
                    runtimes: BTreeMap::new(),
                    last: (at, run.run_id.clone()),
                });
            counted.runs += 1;
            counted.retryable += u64::from(error.is_retryable);
            counted.names.insert(error.name.clone());
            let name = run.runtime.as_str().to_owned();
            counted.runtimes.insert(name, run.runtime.clone());
            if at > counted.last.0 {
                counted.last = (at, run.run_id.clone());
            }
        }
        let mut sums: Vec<FailureSum> = sums
            .into_iter()
            .map(|(key, counted)| FailureSum {
                key,
                runs: counted.runs,
                retryable: counted.retryable,
                names: counted.names.into_iter().collect(),
                runtimes: counted.runtimes.into_values().collect(),
                run_id: counted.last.1,
                last_at: counted.last.0,
            })
            .collect();
        // Those that are as frequent stay in the order of their names.
        sums.sort_by_key(|sum| std::cmp::Reverse(sum.runs));
        Ok(sums)
    }
}

fn key(by: FailureBy, run: &RunInfo, error: &Failure) -> Option<String> {
    match by {
        FailureBy::Family => error.family.map(|family| family.as_str().to_owned()),
        FailureBy::Name => Some(error.name.clone()),
        FailureBy::Runtime => Some(run.runtime.as_str().to_owned()),
    }
}
