//! What an ingest did: a line for each file, a table at the end.

use std::collections::BTreeMap;

use runtape_core::report::{
    Cost, IngestGroup, IngestLine, IngestOutcome, IngestSummary, IngestedFile, RunInfo,
};
use runtape_core::{CheckpointStatus, Outcome, RunId, Runtime, TokenCounts};
use runtape_store::Store;

use crate::commands::Invocation;
use crate::commands::estimates::ListEstimates;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table, plural};

/// What became of one file.
pub(super) enum FileOutcome {
    /// It is a run now, with its children; the run comes first.
    Stored { path: String, tree: Vec<RunInfo> },
    /// It was one already.
    Skipped { path: String, run_id: RunId },
    /// It holds nothing usable.
    Unusable { path: String, reason: String },
}

impl FileOutcome {
    fn into_line(self) -> IngestLine {
        let file = |path, outcome| IngestedFile {
            path,
            outcome,
            run_id: None,
            run: None,
            reason: None,
        };
        IngestLine::File(Box::new(match self {
            Self::Stored { path, tree } => {
                let run = tree.into_iter().next();
                IngestedFile {
                    run_id: run.as_ref().map(|run| run.run_id.clone()),
                    run,
                    ..file(path, IngestOutcome::Stored)
                }
            }
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
    /// How the estimates were made, if any was.
    about_estimates: Option<String>,
    /// Pipes that the database did not take.
    unstored: u64,
}

/// What the runs of a group have in common: runtime, outcome and status.
type GroupKey = (String, &'static str, &'static str);

fn key(runtime: &Runtime, status: CheckpointStatus, outcome: Outcome) -> GroupKey {
    (
        runtime.as_str().to_owned(),
        outcome.as_str(),
        status.as_str(),
    )
}

fn key_of(group: &IngestGroup) -> GroupKey {
    key(&group.runtime, group.status, group.outcome)
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
        outcome: FileOutcome,
    ) -> Result<(), CliError> {
        match &outcome {
            FileOutcome::Stored { tree, .. } => self.add_tree(tree),
            FileOutcome::Skipped { .. } => self.summary.skipped += 1,
            FileOutcome::Unusable { path, reason } => {
                self.summary.unusable += 1;
                invocation.warn(&format!("{path}: {reason}"));
            }
        }
        if invocation.console.json {
            invocation.console.object(&outcome.into_line())?;
        }
        Ok(())
    }

    /// Adds a pipe that the database did not take, which was said.
    pub(super) fn add_unstored(&mut self) {
        self.unstored += 1;
    }

    fn add_tree(&mut self, tree: &[RunInfo]) {
        let Some(run) = tree.first() else {
            return;
        };
        self.summary.stored += 1;
        let wanted = key(&run.runtime, run.status, run.outcome);
        let groups = &mut self.summary.groups;
        let place = groups.binary_search_by_key(&wanted, key_of);
        let place = place.unwrap_or_else(|place| {
            groups.insert(
                place,
                IngestGroup {
                    runtime: run.runtime.clone(),
                    status: run.status,
                    outcome: run.outcome,
                    runs: 0,
                    steps: 0,
                    records: 0,
                    unparsed: 0,
                    usage: TokenCounts::default(),
                    cost: Cost::default(),
                },
            );
            place
        });
        let Some(group) = groups.get_mut(place) else {
            return;
        };
        group.runs += 1;
        let roots = self.roots.entry(wanted).or_default();
        roots.push(run.run_id.clone());
        for run in tree {
            group.steps += run.steps;
            group.records += run.records;
            group.unparsed += run.unparsed;
            group.usage = group.usage.plus(run.usage);
            group.cost = group.cost.plus(&run.cost);
        }
    }

    /// Estimates what no runtime reported.
    pub(super) fn estimate(
        &mut self,
        store: &Store,
        invocation: &mut Invocation<'_>,
    ) -> Result<(), CliError> {
        let Some(estimates) = ListEstimates::find(invocation) else {
            return Ok(());
        };
        for group in &mut self.summary.groups {
            let roots = self.roots.get(&key_of(group));
            let roots = roots.map_or(&[][..], Vec::as_slice);
            group.cost = estimates.of_trees(store, roots, group.cost.reported())?;
        }
        self.about_estimates = estimates.about_any(&self.summary.groups);
        Ok(())
    }

    /// Prints the table; what holds nothing usable or is not stored makes it a failure.
    pub(super) fn finish(self, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
        if !invocation.console.json && !self.summary.groups.is_empty() {
            self.table().print(&mut invocation.console)?;
            if let Some(about) = &self.about_estimates {
                invocation.note(about);
            }
        }
        let Self {
            summary, unstored, ..
        } = self;
        let mut parts = vec![format!("{} stored", plural(summary.stored, "run"))];
        let generic = summary.groups.iter();
        let generic = generic.filter(|group| group.runtime == Runtime::Generic);
        let generic: u64 = generic.map(|group| group.runs).sum();
        let more = [
            (generic, "of no runtime that is known (generic)"),
            (summary.skipped, "known already"),
            (summary.unusable, "unusable"),
            (unstored, "not stored"),
            (summary.ignored, "other files ignored"),
        ];
        for (count, what) in more {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        invocation.note(&parts.join(", "));
        let unusable = summary.unusable;
        let all = summary.stored + summary.skipped + unusable + unstored;
        if invocation.console.json {
            invocation.console.object(&IngestLine::Summary(summary))?;
        }
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let of = number(all);
        if unstored > 0 {
            let count = number(unstored);
            return Err(CliError::NotStored { count, of });
        }
        if unusable > 0 {
            let count = number(unusable);
            return Err(CliError::Unusable { count, of });
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let facts = [
            "outcome",
            "runs",
            "steps",
            "events",
            "input",
            "cache writes",
            "cached",
            "output",
            "unparsed",
        ];
        let mut table = Table::of_costs(&["runtime"], &facts);
        let number = |number: u64| Cell::count(i64::try_from(number).ok());
        for group in &self.summary.groups {
            let facts = vec![
                Cell::outcome(group.outcome),
                number(group.runs),
                number(group.steps),
                number(group.records),
                Cell::count(group.cost.input_without_writes(&group.usage)),
                Cell::count(group.cost.cache_write_tokens()),
                Cell::count(group.usage.cached_input_tokens),
                Cell::count(group.usage.output_tokens),
                number(group.unparsed),
            ];
            let key = Cell::word(group.runtime.as_str());
            table.cost_row(vec![key], &group.cost, facts);
        }
        table
    }
}
