//! What a tree of runs used, from its own facts and nothing else.
//!
//! What counts of a run is said by the view `v_usage`, and follows from the other runs of its session, too. Where there are
//! none, all of it counts, and no database needs to be asked: this is for the many runs that are alone in
//! their session.

use std::collections::BTreeMap;

use runtape_core::TokenCounts;
use runtape_core::prices::{CacheWrite, LONG_PROMPT};

use super::facts::{Fact, RunFacts, UsageFact};
use super::usage_cell::{UsageAmounts, UsageCell, UsageKind, quarter_of};

/// A runtime and a model.
type Names<'a> = (&'a str, Option<&'a str>);

/// A run of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsedRun<'a> {
    pub(crate) runtime: &'a str,
    pub(crate) run: &'a RunFacts,
    /// When it began, if its records do not say.
    pub(crate) started_at: i64,
    pub(crate) facts: &'a [Fact],
}

impl<'a> UsedRun<'a> {
    fn entries(self) -> impl Iterator<Item = &'a UsageFact> {
        self.facts.iter().filter_map(|fact| match fact {
            Fact::Usage(entry) => Some(entry),
            _ => None,
        })
    }

    /// Returns its cost in thousand millionths of a dollar.
    fn cost(self) -> Option<i64> {
        let cost = self.run.cost_usd.filter(|cost| !cost.is_nan());
        cost.map(nanodollars)
    }

    /// Returns its runtime and its model.
    fn names(self) -> Names<'a> {
        (self.runtime, self.run.model.as_deref())
    }

    fn started_at(self) -> i64 {
        self.run.started_at.unwrap_or(self.started_at)
    }
}

/// Returns what a tree used by quarter of an hour, runtime and model, its root run first among the runs. None if that does
/// not follow from the tree alone, whatever its sessions, or if some number is absurd.
pub(crate) fn cells_of_tree(runs: &[UsedRun<'_>]) -> Option<Vec<UsageCell>> {
    let root = *runs.first()?;
    if has_several_totals(runs) {
        return None;
    }
    let mut cells = CellSums::default();
    for run in runs {
        let is_reported = run.cost().or(root.cost()).is_some();
        for entry in run.entries() {
            let counts = counts(entry);
            let [input, _, _, cached] = counts.map(Option::unwrap_or_default);
            let kind = UsageKind {
                is_reported,
                is_long: entry.source == "response" && input.saturating_add(cached) > LONG_PROMPT,
                ..UsageKind::default()
            };
            let model = entry.model.as_deref().or(run.run.model.as_deref());
            let names = (run.runtime, model);
            let writes = writes(entry);
            let mut tokens = counts.map(Option::unwrap_or_default);
            if let Some(input) = tokens.first_mut() {
                for (_, written) in writes {
                    *input = input.checked_sub(written)?;
                }
            }
            let amounts = UsageAmounts {
                tokens,
                known: counts.map(|count| count.is_some().into()),
                ..UsageAmounts::default()
            };
            cells.add(entry.at, names, kind, amounts)?;
            for (write, written) in writes.into_iter().filter(|(_, written)| *written != 0) {
                let amounts = UsageAmounts {
                    tokens: [written, 0, 0, 0],
                    known: [1, 0, 0, 0],
                    ..UsageAmounts::default()
                };
                cells.add(entry.at, names, UsageKind { write, ..kind }, amounts)?;
            }
        }
        if let Some(cost) = run.cost() {
            let amounts = UsageAmounts {
                costs: 1,
                cost,
                ..UsageAmounts::default()
            };
            let ended_at = run.run.finished_at.unwrap_or(run.started_at());
            let kind = UsageKind {
                is_reported: true,
                ..UsageKind::default()
            };
            cells.add(ended_at, run.names(), kind, amounts)?;
        }
    }
    if root.cost().is_some() || runs.iter().any(|run| run.entries().next().is_some()) {
        let amounts = UsageAmounts {
            runs: 1,
            ..UsageAmounts::default()
        };
        let kind = UsageKind {
            is_reported: root.cost().is_some(),
            ..UsageKind::default()
        };
        cells.add(root.started_at(), root.names(), kind, amounts)?;
    }
    Some(cells.finish())
}

/// Tells whether there are totals of a session of which a later one holds an earlier one.
fn has_several_totals(runs: &[UsedRun<'_>]) -> bool {
    let entries = || runs.iter().flat_map(|run| run.entries());
    let totals = entries().filter(|entry| entry.of_session || entry.key == "total");
    entries().any(|entry| entry.of_session) && totals.count() > 1
}

/// Returns input, output, reasoning and cached input tokens. A total of a session is never less than nothing.
fn counts(entry: &UsageFact) -> [Option<i64>; 4] {
    let TokenCounts {
        input_tokens,
        output_tokens,
        reasoning_tokens,
        cached_input_tokens,
        ..
    } = entry.counts;
    let counts = [
        input_tokens,
        output_tokens,
        reasoning_tokens,
        cached_input_tokens,
    ];
    if entry.of_session {
        return counts.map(|count| count.map(|count| count.max(0)));
    }
    counts
}

/// Returns which input tokens were written to a cache: for minutes, and for an hour. Of a total of a session it is not
/// known which of them are this run's.
fn writes(entry: &UsageFact) -> [(CacheWrite, i64); 2] {
    let counts = entry.counts;
    let is_known = !entry.of_session && counts.input_tokens.is_some();
    let (minutes, hour) = match counts.cache_write_tokens.filter(|_| is_known) {
        Some(written) => {
            let hour = counts.cache_write_1h_tokens.unwrap_or(0);
            (written.saturating_sub(hour), hour)
        }
        None => (0, 0),
    };
    [(CacheWrite::Minutes, minutes), (CacheWrite::Hour, hour)]
}

/// Returns thousand millionths of a dollar, as SQL rounds them.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is cut off is what is rounded, and the rest has room"
)]
fn nanodollars(cost: f64) -> i64 {
    /// From here on there is nothing after the point.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let cost = cost.clamp(-1e9, 1e9) * 1e9;
    if cost.abs() > WHOLE {
        return cost as i64;
    }
    (cost + 0.5_f64.copysign(cost)) as i64
}

/// Cells while they are added up.
#[derive(Default)]
struct CellSums<'a> {
    sums: BTreeMap<(i64, Names<'a>, UsageKind), UsageAmounts>,
}

impl<'a> CellSums<'a> {
    /// Adds to a cell of a runtime and a model. None if the numbers are absurd.
    fn add(
        &mut self,
        at: i64,
        names: Names<'a>,
        kind: UsageKind,
        amounts: UsageAmounts,
    ) -> Option<()> {
        let sum = self.sums.entry((quarter_of(at), names, kind)).or_default();
        sum.add(&amounts);
        (amounts.can_be_kept() && sum.can_be_kept()).then_some(())
    }

    fn finish(self) -> Vec<UsageCell> {
        let sums = self.sums.into_iter();
        let cells = sums.map(|((quarter, (runtime, model), kind), amounts)| UsageCell {
            quarter,
            names: vec![Some(runtime.to_owned()), model.map(str::to_owned)],
            kind,
            amounts,
        });
        cells.filter(|cell| !cell.amounts.is_empty()).collect()
    }
}
