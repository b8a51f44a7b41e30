//! `runtape gc`: giving things up.

use std::collections::HashSet;
use std::time::Duration;

use indicatif::ProgressBar;
use runtape_core::report::GcReport;
use runtape_core::{JobId, RunId};
use runtape_recorder::SpoolOwner;
use runtape_store::{DroppedTapes, RunFilter, Store, StoreError};

use crate::commands::Invocation;
use crate::database::resolve_run;
use crate::error::{CliError, with_causes};
use crate::spool_directory;
use crate::terminal::table::{bytes, plural};
use crate::terminal::times;

/// Delete runs, drop old tapes, erase their bytes, and give the space back
///
/// What is removed leaves its seal as a tombstone with the run's id, so that verify still passes and
/// says so. Nothing else of it stays: search terms, names that only it used, its spool file, free
/// pages and the log are erased. For that the whole file is written anew, each time: delete many
/// runs at once rather than one by one. It takes the time and space of a copy, and other writers
/// wait meanwhile. If somebody reads for so long that the log must be kept, this is said, and the
/// exit code is 1: run gc again. Backups, exports and bundles are files of their own. Without any
/// option, only what was deleted before is erased and unused space given back.
#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Delete this run with its children and its tape (can be repeated)
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Delete all finished runs of this job
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
    /// Delete finished runs that began before this time: an age (90d), a date, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    runs_before: Option<i64>,
    /// Drop the tapes of runs that ended before this time; their records stay, and cannot be made
    /// again
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    tapes_before: Option<i64>,
    /// Say which runs would be deleted, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &GcArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut store = invocation.database.open_existing()?;
    let wanted = wanted(args, &store)?;
    let before = store.size()?;
    if args.dry_run {
        return would_delete(wanted, before, invocation);
    }
    let now = times::now();
    let of = wanted.len();
    let deleted = delete(&mut store, wanted, now, invocation);
    let mut tapes = DroppedTapes::default();
    if let Some(time) = args.tapes_before {
        tapes = store.drop_tapes_before(time, now)?;
        for run in &tapes.held {
            invocation.warn(&format!(
                "run {run}: its tape stays: another process has it"
            ));
        }
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

/// Returns the runs that are to be deleted.
fn wanted(args: &GcArgs, store: &Store) -> Result<Vec<RunId>, CliError> {
    let mut runs: Vec<RunId> = Vec::new();
    for run in &args.run {
        let run = resolve_run(store, run)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    let mut filters = Vec::new();
    if let Some(job) = &args.job {
        let mut filter = RunFilter::default();
        filter.job = Some(job.clone());
        filters.push(filter);
    }
    if let Some(before) = args.runs_before {
        let mut filter = RunFilter::default();
        filter.until = Some(before);
        filters.push(filter);
    }
    let mut known: HashSet<RunId> = runs.iter().cloned().collect();
    for mut filter in filters {
        filter.roots_only = true;
        let found = store.runs(&filter, None, u32::MAX as usize)?.items;
        let sealed = found.into_iter().filter(|run| run.seal.is_some());
        runs.extend(
            sealed
                .map(|run| run.run_id)
                .filter(|run| known.insert(run.clone())),
        );
    }
    Ok(runs)
}

fn would_delete(
    runs: Vec<RunId>,
    size: u64,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let console = &mut invocation.console;
    if console.json {
        return console.object(&GcReport {
            is_dry_run: true,
            deleted_runs: runs,
            dropped_tapes: 0,
            dropped_tape_bytes: 0,
            bytes_before: size,
            bytes_after: size,
            is_erased: None,
        });
    }
    runs.iter().try_for_each(|run| console.line(run.as_str()))?;
    invocation.note(&format!("{} would be deleted", plural(runs.len(), "run")));
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
    let bar = ProgressBar::new(runs.len() as u64);
    let mut deleted = Vec::new();
    for run in runs {
        bar.inc(1);
        let outcome = match store.delete_run(&run, now) {
            // Somebody else deleted it meanwhile.
            Ok(()) | Err(StoreError::UnknownRun { .. }) => owner
                .as_ref()
                .map_or(Ok(()), |owner| {
                    spool_directory::directories().remove_of(owner, &run)
                })
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
