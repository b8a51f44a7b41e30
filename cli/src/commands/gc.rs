//! `runtape gc`: giving things up.

use std::collections::HashSet;
use std::time::Duration;

use indicatif::ProgressBar;
use runtape_core::RunId;
use runtape_core::report::GcReport;
use runtape_recorder::SpoolOwner;
use runtape_store::{RunFilter, Store, StoreError};

use crate::arguments::filter::FilterWords;
use crate::commands::Invocation;
use crate::database::resolve_run;
use crate::error::{CliError, with_causes};
use crate::spool_directory;
use crate::terminal::table::{bytes, plural};
use crate::terminal::{question, times};

/// Delete runs, drop old tapes, erase their bytes, and give the space back
///
/// What is removed leaves its seal as a tombstone with the run's id, so that verify still passes and
/// says so. Nothing else of it stays: search terms, names that only it used, its spool file, free
/// pages and the log are erased. For that the whole file is written anew, each time: delete many
/// runs at once rather than one by one. It takes the time and space of a copy, and other writers
/// wait meanwhile. If somebody reads for so long that the log must be kept, this is said, and the
/// exit code is 1: run gc again. Backups, exports and bundles are files of their own. Without any
/// option, only what was deleted before is erased and unused space given back.
///
/// Filters name finished runs to delete. Beside --tapes-before or --runs-before they name those of which tapes
/// are dropped or runs deleted.
#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Delete this run with its children and its tape (can be repeated)
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Delete finished runs that began before this time: an age (90d), a date, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    runs_before: Option<i64>,
    /// Drop the tapes of runs that ended before this time; their records stay, and cannot be made
    /// again
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    tapes_before: Option<i64>,
    /// Say what would be deleted and dropped, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask, at a terminal, before something is deleted or dropped
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    filter: FilterWords,
}

/// What is to be given up.
struct Plan {
    /// Runs to delete.
    runs: Vec<RunId>,
    /// Runs whose tapes are dropped, and how many bytes of output these hold.
    tapes: Vec<(RunId, u64)>,
}

impl Plan {
    fn tape_bytes(&self) -> u64 {
        self.tapes.iter().map(|(_, bytes)| bytes).sum()
    }

    fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.tapes.is_empty()
    }
}

pub(crate) fn run(args: &GcArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut store = if args.dry_run {
        invocation.database.read()?
    } else {
        invocation.database.open_existing()?
    };
    let plan = plan(args, &store)?;
    let before = store.size()?;
    if args.dry_run {
        return would_delete(plan, &store, before, invocation);
    }
    if !args.yes && !plan.is_empty() && question::can_be_asked() {
        let runs = plural(plan.runs.len(), "run");
        let tapes = plural(plan.tapes.len(), "tape");
        let asked = format!("delete {runs} and drop {tapes}, which cannot be undone?");
        if !question::is_yes(&asked)? {
            invocation.note("nothing was changed");
            return Ok(());
        }
    }
    let now = times::now();
    let of = plan.runs.len();
    let deleted = delete(&mut store, plan.runs, now, invocation);
    let roots: Vec<RunId> = plan.tapes.into_iter().map(|(run, _)| run).collect();
    let tapes = store.drop_tapes(&roots, now)?;
    for run in &tapes.held {
        invocation.warn(&format!(
            "run {run}: its tape stays: another process has it"
        ));
    }
    let bar = spinner("erasing: the file is written anew");
    let erased = store.compact()?;
    bar.finish_and_clear();
    let after = store.size()?;
    let kept = of - deleted.len() + tapes.held.len();
    let console = &mut invocation.console;
    if console.json {
        console.object(&GcReport {
            is_dry_run: false,
            deleted_runs: deleted,
            dropped_tapes: tapes.tapes,
            dropped_tape_bytes: tapes.bytes,
            bytes_before: before,
            bytes_after: after,
            is_erased: Some(erased.is_complete),
        })?;
    } else {
        console.line(&format!(
            "{} deleted, {} dropped ({}), database {} -> {}",
            plural(deleted.len(), "run"),
            plural(tapes.tapes, "tape"),
            bytes(tapes.bytes),
            bytes(before),
            bytes(after)
        ))?;
    }
    if !erased.is_complete {
        return Err(CliError::NotErased);
    }
    if kept > 0 {
        let of = of + tapes.held.len();
        return Err(CliError::Kept { count: kept, of });
    }
    Ok(())
}

/// Shows, to a person at a terminal, that something long goes on.
pub(super) fn spinner(text: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(text);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Returns what is to be given up.
fn plan(args: &GcArgs, store: &Store) -> Result<Plan, CliError> {
    let mut runs: Vec<RunId> = Vec::new();
    for run in &args.run {
        let run = resolve_run(store, run)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    let mut known: HashSet<RunId> = runs.iter().cloned().collect();
    let mut filter = args.filter.to_filter(store)?;
    filter.roots_only = true;
    let finished = |filter: &RunFilter| -> Result<Vec<RunId>, CliError> {
        let found = store.runs(filter, None, u32::MAX as usize)?.items;
        let sealed = found.into_iter().filter(|run| run.seal.is_some());
        Ok(sealed.map(|run| run.run_id).collect())
    };
    let names_runs = !args.filter.is_empty() && args.tapes_before.is_none();
    if args.runs_before.is_some() || names_runs {
        let mut filter = filter.clone();
        filter.until = filter.until.into_iter().chain(args.runs_before).min();
        let wanted = finished(&filter)?.into_iter();
        runs.extend(wanted.filter(|run| known.insert(run.clone())));
    }
    let mut tapes = Vec::new();
    if let Some(time) = args.tapes_before {
        tapes = store.tapes_before(time)?;
        // The tape of a run that is deleted goes with it.
        tapes.retain(|(run, _)| !known.contains(run));
        if !args.filter.is_empty() {
            let wanted: HashSet<RunId> = finished(&filter)?.into_iter().collect();
            tapes.retain(|(run, _)| wanted.contains(run));
        }
    }
    Ok(Plan { runs, tapes })
}

/// Says what would be given up, but for what some process works on: that stays.
fn would_delete(
    mut plan: Plan,
    store: &Store,
    size: u64,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let mut runs = Vec::new();
    for run in std::mem::take(&mut plan.runs) {
        if store.is_written(&run)? {
            invocation.warn(&format!("run {run} goes on: it would stay"));
        } else {
            runs.push(run);
        }
    }
    let mut tapes = Vec::new();
    for (run, bytes) in std::mem::take(&mut plan.tapes) {
        if store.is_written(&run)? {
            invocation.warn(&format!(
                "run {run}: its tape would stay: another process has it"
            ));
        } else {
            tapes.push((run, bytes));
        }
    }
    let plan = Plan { runs, tapes };
    let (tapes, tape_bytes) = (plan.tapes.len(), plan.tape_bytes());
    let console = &mut invocation.console;
    if console.json {
        return console.object(&GcReport {
            is_dry_run: true,
            deleted_runs: plan.runs,
            dropped_tapes: tapes as u64,
            dropped_tape_bytes: tape_bytes,
            bytes_before: size,
            bytes_after: size,
            is_erased: None,
        });
    }
    let runs = plan.runs.iter();
    runs.clone()
        .try_for_each(|run| console.line(run.as_str()))?;
    for (run, length) in &plan.tapes {
        console.line(&format!("{run}: its tape, {}", bytes(*length)))?;
    }
    let deleted = plural(plan.runs.len(), "run");
    let dropped = match tapes {
        0 => String::new(),
        _ => format!(
            ", {} dropped ({})",
            plural(tapes, "tape"),
            bytes(tape_bytes)
        ),
    };
    invocation.note(&format!("{deleted} would be deleted{dropped}"));
    Ok(())
}

/// Deletes runs with their spool files, and returns those that are gone; says why of the others.
fn delete(
    store: &mut Store,
    runs: Vec<RunId>,
    now: i64,
    invocation: &mut Invocation<'_>,
) -> Vec<RunId> {
    let owner = SpoolOwner::of(store).ok();
    let directories = spool_directory::directories(&invocation.database);
    let bar = ProgressBar::new(runs.len() as u64);
    let mut deleted = Vec::new();
    for run in runs {
        bar.inc(1);
        let outcome = match store.delete_run(&run, now) {
            // Somebody else deleted it meanwhile.
            Ok(()) | Err(StoreError::UnknownRun { .. }) => owner
                .as_ref()
                .map_or(Ok(()), |owner| directories.remove_of(owner, &run))
                .map_err(|error| format!("its spool file: {error}")),
            Err(error) => Err(with_causes(&error)),
        };
        match outcome {
            Ok(()) => deleted.push(run),
            Err(reason) => invocation.warn(&format!("run {run}: {reason}")),
        }
    }
    bar.finish_and_clear();
    deleted
}
