//! `runtape push` and `runtape pull`: runs from one database to another.

use std::path::PathBuf;

use runtape_core::RunId;
use runtape_core::report::{CopiedRun, CopyLine, CopyOutcome, CopySummary};
use runtape_recorder::Transferred;
use runtape_store::Store;

use crate::arguments::filter::FilterWords;
use crate::arguments::redaction::{NewKey, RedactionArgs};
use crate::commands::{Invocation, search_index};
use crate::database::{Database, resolve_run};
use crate::error::{CliError, with_causes};
use crate::terminal::progress::count_bar;
use crate::terminal::table::plural;
use crate::terminal::times;

/// Copy finished runs to another database: a file, or postgres://… for one on a server
///
/// A run goes with its children, its tape and what proves it, and is sealed anew where it arrives; `runtape show` tells there
/// which seal covered it here. What is there already is not copied again, so whoever is interrupted begins again. A run
/// that has not ended is left for the next time. Another run under the same id is named and left as it is, and
/// makes the exit code 3; the same run recorded under another redaction key or on another machine is no
/// other run. Secrets are taken out on the way, whatever was done here.
#[derive(Debug, clap::Args)]
pub(crate) struct PushArgs {
    /// The other database, which is made if it is a file that is not there
    #[arg(value_name = "FILE|URL")]
    to: PathBuf,
    #[command(flatten)]
    chosen: ChosenRuns,
    #[command(flatten)]
    redaction: RedactionArgs,
}

/// Copy finished runs from another database: a file, or postgres://… for one on a server
///
/// The other way round than `push`, and as that in everything else. For a file that somebody else made there is `import`.
#[derive(Debug, clap::Args)]
pub(crate) struct PullArgs {
    /// The other database
    #[arg(value_name = "FILE|URL")]
    from: PathBuf,
    #[command(flatten)]
    chosen: ChosenRuns,
    #[command(flatten)]
    redaction: RedactionArgs,
}

/// Which runs are copied; without any words, all.
#[derive(Debug, clap::Args)]
struct ChosenRuns {
    /// Copy this run: its id, the beginning of it, or `last` (can be repeated)
    #[arg(long = "run", value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    filter: FilterWords,
}

impl ChosenRuns {
    /// Returns the root runs, those that began first first: so they were recorded, too.
    fn find(&self, store: &Store) -> Result<Vec<RunId>, CliError> {
        if !self.runs.is_empty() {
            if !self.filter.is_empty() {
                let message = "name either runs, or filters".to_owned();
                return Err(CliError::Usage { message });
            }
            let mut roots = Vec::new();
            for run in &self.runs {
                let run = store.run(&resolve_run(store, run)?)?;
                let root = run.root_run_id.unwrap_or(run.run_id);
                if !roots.contains(&root) {
                    roots.push(root);
                }
            }
            return Ok(roots);
        }
        let mut filter = self.filter.to_filter(store)?;
        filter.roots_only = true;
        let found = store.runs(&filter, None, u32::MAX as usize)?.items;
        Ok(found.into_iter().rev().map(|run| run.run_id).collect())
    }
}

pub(crate) fn push(args: &PushArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let here = invocation.database.clone();
    let there = Database::find(Some(args.to.clone()))?;
    invocation.warn_of_password(&there);
    copy(&here, &there, &args.chosen, &args.redaction, invocation)
}

pub(crate) fn pull(args: &PullArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let here = invocation.database.clone();
    let there = Database::find(Some(args.from.clone()))?;
    invocation.warn_of_password(&there);
    copy(&there, &here, &args.chosen, &args.redaction, invocation)
}

fn copy(
    from: &Database,
    to: &Database,
    chosen: &ChosenRuns,
    redaction: &RedactionArgs,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    if from.is_same(to) {
        let message = "this is the same database: name another one".to_owned();
        return Err(CliError::Usage { message });
    }
    let source = from.read()?;
    let roots = chosen.find(&source)?;
    if roots.is_empty() {
        return Err(CliError::NothingFound { what: "runs" });
    }
    let rules = redaction.rules_for(to, invocation, NewKey::Make)?;
    if to.is_new() {
        invocation.note(&format!("new database: {}", to.name()));
    }
    let mut target = to.open()?;
    let mut summary = CopySummary {
        from: from.name(),
        to: to.name(),
        ..CopySummary::default()
    };
    let bar = count_bar(roots.len() as u64, "runs copied");
    let mut unsaid = Ok(());
    let copied = runtape_recorder::transfer(
        &source,
        &mut target,
        &roots,
        &rules,
        times::now,
        |root, outcome| {
            bar.inc(1);
            let run = line(root, outcome, &mut summary);
            let said = bar.suspend(|| say(run, invocation));
            if unsaid.is_ok() {
                unsaid = said;
            }
        },
    );
    bar.finish_and_clear();
    // What is copied is copied, whatever came then.
    if copied.is_ok() {
        search_index::complete(&target, invocation);
    }
    let finished = finish(summary, invocation);
    if let Err(error) = copied {
        invocation.note("hint: the same command goes on with what is left");
        return Err(error.into());
    }
    unsaid.and(finished)
}

/// Counts what became of a run.
fn line(root: &RunId, outcome: Transferred, summary: &mut CopySummary) -> CopiedRun {
    let (outcome, count, reason) = match outcome {
        Transferred::Stored => (CopyOutcome::Stored, &mut summary.stored, None),
        Transferred::Known => (CopyOutcome::Skipped, &mut summary.skipped, None),
        Transferred::RecordedDifferently => {
            summary.recorded_differently += 1;
            let reason = "recorded differently there: under another key, by other rules or on another machine";
            (
                CopyOutcome::Skipped,
                &mut summary.skipped,
                Some(reason.to_owned()),
            )
        }
        Transferred::Open => (CopyOutcome::Open, &mut summary.open, None),
        Transferred::Conflict => {
            let reason = "another run is there under its id, or that of a child of it";
            (
                CopyOutcome::Differs,
                &mut summary.differs,
                Some(reason.to_owned()),
            )
        }
        Transferred::Failed(error) => (
            CopyOutcome::Failed,
            &mut summary.failed,
            Some(with_causes(&error)),
        ),
    };
    *count += 1;
    CopiedRun {
        run_id: root.clone(),
        outcome,
        reason,
    }
}

/// Says what became of a run: a person is told only of those that could not be copied.
fn say(run: CopiedRun, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    if let Some(reason) = &run.reason
        && run.outcome != CopyOutcome::Skipped
    {
        invocation.warn(&format!("run {}: {reason}", run.run_id));
    }
    if invocation.console.json {
        return invocation.console.object(&CopyLine::Run(run));
    }
    Ok(())
}

/// Says what all came to.
fn finish(summary: CopySummary, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut text = format!(
        "{} copied to {}, {} there already",
        plural(summary.stored, "run"),
        summary.to,
        summary.skipped
    );
    if summary.recorded_differently > 0 {
        text = format!(
            "{text} ({} recorded differently)",
            summary.recorded_differently
        );
    }
    for (count, what) in [
        (summary.open, "not ended yet"),
        (summary.differs, "different there"),
        (summary.failed, "not copied"),
    ] {
        if count > 0 {
            text = format!("{text}, {count} {what}");
        }
    }
    invocation.note(&text);
    let faults = summary.differs + summary.failed;
    if invocation.console.json {
        invocation.console.object(&CopyLine::Summary(summary))?;
    }
    if faults > 0 {
        return Err(CliError::Faults {
            count: usize::try_from(faults).unwrap_or(usize::MAX),
            what: "runs could not be copied",
        });
    }
    Ok(())
}
