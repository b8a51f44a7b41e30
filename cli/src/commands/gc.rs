//! `runtape gc`: giving things up.

use runtape_core::report::GcReport;
use runtape_core::{JobId, RunId};
use runtape_store::RunFilter;

use crate::commands::Session;
use crate::database::resolve_run;
use crate::error::CliError;
use crate::table::{bytes, plural};
use crate::times;

/// Delete runs, drop old tapes, and give the space back
///
/// What is removed leaves its seal as a tombstone, so that verify still passes and says so.
/// Without any option, only unused space is given back.
#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Delete this run with its children and its tape (can be repeated)
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Delete all runs of this job
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
    /// Delete finished runs that began before this time: an age (90d), a date, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    runs_before: Option<i64>,
    /// Drop the tapes of runs that ended before this time; their records stay
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    tapes_before: Option<i64>,
    /// Say which runs would be deleted, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &GcArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let mut store = session.database.open_existing()?;
    let now = times::now();
    let mut runs: Vec<RunId> = Vec::new();
    for run in &args.run {
        runs.push(resolve_run(&store, run)?);
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
    for mut filter in filters {
        filter.roots_only = true;
        let found = store.runs(&filter, None, u32::MAX as usize)?.items;
        let sealed = found.into_iter().filter(|run| run.seal.is_some());
        for run in sealed {
            if !runs.contains(&run.run_id) {
                runs.push(run.run_id);
            }
        }
    }
    let before = store.stats()?.database_bytes;
    let (mut tapes, mut tape_bytes) = (0, 0);
    if !args.dry_run {
        for run in &runs {
            store.delete_run(run, now)?;
        }
        if let Some(time) = args.tapes_before {
            (tapes, tape_bytes) = store.drop_tapes_before(time, now)?;
        }
        store.compact()?;
    }
    let after = store.stats()?.database_bytes;
    let console = &mut session.console;
    if console.json {
        return console.object(&GcReport {
            is_dry_run: args.dry_run,
            deleted_runs: runs,
            dropped_tapes: tapes as u64,
            dropped_tape_bytes: tape_bytes,
            bytes_before: before,
            bytes_after: after,
        });
    }
    if args.dry_run {
        runs.iter().try_for_each(|run| console.line(run.as_str()))?;
        session.note(&format!("{} would be deleted", plural(runs.len(), "run")));
        return Ok(());
    }
    console.line(&format!(
        "{} deleted, {} dropped ({}), database {} -> {}",
        plural(runs.len(), "run"),
        plural(tapes, "tape"),
        bytes(tape_bytes),
        bytes(before),
        bytes(after)
    ))
}
