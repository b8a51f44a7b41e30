//! What an ingest did: a line for each file, a table at the end.

use std::collections::BTreeMap;

use runtape_core::{RunId, TokenCounts};
use runtape_store::{RunInfo, Store};
use serde::Serialize;

use crate::commands::Session;
use crate::console::Tone;
use crate::error::CliError;
use crate::table::{Cell, Table, plural, thousands};

/// What became of one file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "outcome")]
pub(super) enum Outcome {
    /// It is a run now.
    #[serde(rename_all = "camelCase")]
    Stored { path: String, run: Box<RunInfo> },
    /// It was one already.
    #[serde(rename_all = "camelCase")]
    Skipped { path: String, run_id: RunId },
    /// It holds nothing usable.
    #[serde(rename_all = "camelCase")]
    Unusable { path: String, reason: String },
}

/// Runs of one runtime that ended alike.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    runs: u64,
    steps: u64,
    records: u64,
    unparsed: u64,
    #[serde(flatten)]
    usage: TokenCounts,
    cost_usd: Option<f64>,
}

/// What an ingest did.
#[derive(Debug, Default)]
pub(super) struct Report {
    groups: BTreeMap<(String, String), Group>,
    skipped: usize,
    unusable: usize,
    ignored: usize,
}

impl Report {
    pub(super) fn new(ignored: usize) -> Self {
        Self {
            ignored,
            ..Self::default()
        }
    }

    /// Adds what became of a file, and prints it for programs.
    pub(super) fn add(
        &mut self,
        session: &mut Session<'_>,
        store: &Store,
        outcome: &Outcome,
    ) -> Result<(), CliError> {
        match outcome {
            Outcome::Stored { run, .. } => {
                let key = (run.runtime.to_string(), run.status.as_str().to_owned());
                let group = self.groups.entry(key).or_default();
                group.runs += 1;
                for run in store.tree(&run.run_id)? {
                    group.steps += run.steps;
                    group.records += run.records;
                    group.unparsed += run.unparsed;
                    group.usage = group.usage.plus(run.usage);
                    if let Some(cost) = run.cost_usd {
                        *group.cost_usd.get_or_insert(0.0) += cost;
                    }
                }
            }
            Outcome::Skipped { .. } => self.skipped += 1,
            Outcome::Unusable { path, reason } => {
                self.unusable += 1;
                session.warn(&format!("{path}: {reason}"));
            }
        }
        if session.console.json {
            session.console.view(outcome)?;
        }
        Ok(())
    }

    /// Prints the table; files that hold nothing usable make it a failure.
    pub(super) fn finish(self, session: &mut Session<'_>) -> Result<(), CliError> {
        let stored: u64 = self.groups.values().map(|group| group.runs).sum();
        if !session.console.json && !self.groups.is_empty() {
            self.table().print(&mut session.console)?;
        }
        let mut parts = vec![format!("{} stored", plural(stored, "run"))];
        let more = [
            (self.skipped, "known already"),
            (self.unusable, "unusable"),
            (self.ignored, "other files ignored"),
        ];
        for (count, what) in more {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        session.note(&parts.join(", "));
        if self.unusable > 0 {
            let all = usize::try_from(stored).unwrap_or(usize::MAX);
            return Err(CliError::Unusable {
                count: self.unusable,
                of: all.saturating_add(self.skipped + self.unusable),
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
        for ((runtime, status), group) in &self.groups {
            table.row(vec![
                Cell::text(runtime),
                Cell::text(status).toned(Tone::of_status(status)),
                number(group.runs),
                number(group.steps),
                number(group.records),
                Cell::count(group.usage.input_tokens),
                Cell::count(group.usage.cached_input_tokens),
                Cell::count(group.usage.output_tokens),
                Cell::cost(group.cost_usd),
                number(group.unparsed),
            ]);
        }
        table
    }
}
