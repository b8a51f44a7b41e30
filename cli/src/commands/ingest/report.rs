//! What an ingest did: a line for each file, a table at the end.

use std::collections::BTreeMap;

use runtape_core::report::{
    CostEstimate, IngestGroup, IngestLine, IngestOutcome, IngestSummary, IngestedFile, RunInfo,
};
use runtape_core::{CheckpointStatus, RunId, Runtime, TokenCounts};
use runtape_store::Store;

use crate::commands::Invocation;
use crate::commands::estimates::{Estimates, cost_text};
use crate::error::CliError;
use crate::terminal::table::{Cell, Table, plural, thousands};

/// What became of one file.
pub(super) enum Outcome {
    /// It is a run now.
    Stored { path: String, run: Box<RunInfo> },
    /// It was one already.
    Skipped { path: String, run_id: RunId },
    /// It holds nothing usable.
    Unusable { path: String, reason: String },
}

impl Outcome {
    fn into_line(self) -> IngestLine {
        let file = |path, outcome| IngestedFile {
            path,
            outcome,
            run_id: None,
            run: None,
            reason: None,
        };
        IngestLine::File(Box::new(match self {
            Self::Stored { path, run } => IngestedFile {
                run_id: Some(run.run_id.clone()),
                run: Some(*run),
                ..file(path, IngestOutcome::Stored)
            },
            Self::Skipped { path, run_id } => IngestedFile {
                run_id: Some(run_id),
                ..file(path, IngestOutcome::Skipped)
            },
            Self::Unusable { path, reason } => IngestedFile {
                reason: Some(reason),
                ..file(path, IngestOutcome::Unusable)
            },
        }))
    }
}

/// What an ingest did.
#[derive(Debug, Default)]
pub(super) struct Report {
    summary: IngestSummary,
    /// The root runs of each group, for an estimate of what no runtime reported.
    roots: BTreeMap<GroupKey, Vec<RunId>>,
}

/// What the runs of a group have in common: runtime and status.
type GroupKey = (String, &'static str);

fn key(runtime: &Runtime, status: CheckpointStatus) -> GroupKey {
    (runtime.as_str().to_owned(), status.as_str())
}

impl Report {
    pub(super) fn new(ignored: usize) -> Self {
        let mut report = Self::default();
        report.summary.ignored = ignored as u64;
        report
    }

    /// Adds what became of a file, and prints it for programs.
    pub(super) fn add(
        &mut self,
        invocation: &mut Invocation<'_>,
        store: &Store,
        outcome: Outcome,
    ) -> Result<(), CliError> {
        match &outcome {
            Outcome::Stored { run, .. } => self.add_run(store, run)?,
            Outcome::Skipped { .. } => self.summary.skipped += 1,
            Outcome::Unusable { path, reason } => {
                self.summary.unusable += 1;
                invocation.warn(&format!("{path}: {reason}"));
            }
        }
        if invocation.console.json {
            invocation.console.object(&outcome.into_line())?;
        }
        Ok(())
    }

    fn add_run(&mut self, store: &Store, run: &RunInfo) -> Result<(), CliError> {
        self.summary.stored += 1;
        let wanted = key(&run.runtime, run.status);
        let groups = &mut self.summary.groups;
        let place = groups.binary_search_by_key(&wanted, |group| key(&group.runtime, group.status));
        let place = place.unwrap_or_else(|place| {
            groups.insert(
                place,
                IngestGroup {
                    runtime: run.runtime.clone(),
                    status: run.status,
                    runs: 0,
                    steps: 0,
                    records: 0,
                    unparsed: 0,
                    usage: TokenCounts::default(),
                    cost_usd: None,
                    estimate: CostEstimate::default(),
                },
            );
            place
        });
        let Some(group) = groups.get_mut(place) else {
            return Ok(());
        };
        group.runs += 1;
        let roots = self.roots.entry(wanted).or_default();
        roots.push(run.run_id.clone());
        for run in store.tree(&run.run_id)? {
            group.steps += run.steps;
            group.records += run.records;
            group.unparsed += run.unparsed;
            group.usage = group.usage.plus(run.usage);
            if let Some(cost) = run.cost_usd {
                *group.cost_usd.get_or_insert(0.0) += cost;
            }
        }
        Ok(())
    }

    /// Prints the table; files that hold nothing usable make it a failure.
    pub(super) fn finish(
        mut self,
        store: &Store,
        invocation: &mut Invocation<'_>,
    ) -> Result<(), CliError> {
        let estimates = Estimates::find(invocation);
        if let Some(estimates) = &estimates {
            for group in &mut self.summary.groups {
                let roots = self.roots.get(&key(&group.runtime, group.status));
                let roots = roots.map_or(&[][..], Vec::as_slice);
                group.estimate = estimates.of_trees(store, roots)?;
            }
        }
        if !invocation.console.json && !self.summary.groups.is_empty() {
            self.table().print(&mut invocation.console)?;
            if let Some(estimates) = &estimates {
                estimates.tell(&self.summary.groups, invocation);
            }
        }
        let summary = self.summary;
        let mut parts = vec![format!("{} stored", plural(summary.stored, "run"))];
        let generic = summary.groups.iter();
        let generic = generic.filter(|group| group.runtime == Runtime::Generic);
        let generic: u64 = generic.map(|group| group.runs).sum();
        let more = [
            (generic, "of no runtime that is known (generic)"),
            (summary.skipped, "known already"),
            (summary.unusable, "unusable"),
            (summary.ignored, "other files ignored"),
        ];
        for (count, what) in more {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        invocation.note(&parts.join(", "));
        let (unusable, all) = (
            summary.unusable,
            summary.stored + summary.skipped + summary.unusable,
        );
        if invocation.console.json {
            invocation.console.object(&IngestLine::Summary(summary))?;
        }
        if unusable > 0 {
            let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            return Err(CliError::Unusable {
                count: number(unusable),
                of: number(all),
            });
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[
            "runtime", "status", "runs", "steps", "events", "input", "cached", "output", "cost $",
            "unparsed",
        ]);
        let number =
            |number: u64| Cell::number(thousands(i64::try_from(number).unwrap_or(i64::MAX)));
        for group in &self.summary.groups {
            table.row(vec![
                Cell::word(group.runtime.as_str()),
                Cell::status(group.status),
                number(group.runs),
                number(group.steps),
                number(group.records),
                Cell::count(group.usage.input_tokens),
                Cell::count(group.usage.cached_input_tokens),
                Cell::count(group.usage.output_tokens),
                Cell::number(cost_text(group.cost_usd, &group.estimate)),
                number(group.unparsed),
            ]);
        }
        table
    }
}
