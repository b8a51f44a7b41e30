//! `runtape wait`: until a run or a job is over.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use runtape_core::{JobId, Outcome, RunId};
use runtape_recorder::following::has_lost_its_recorder;
use runtape_store::{RunFilter, Store};

use crate::commands::Invocation;
use crate::commands::follow::{INTERVAL, Target, resolve_target};
use crate::error::CliError;
use crate::exit_codes;
use crate::terminal::console::Tone;
use crate::terminal::table::plural;
use crate::terminal::{plain, times};

/// Wait until a run, or all runs of a job, have ended
///
/// Exits with 0 if the run completed, and with 1 if it did not; a job went as its latest run did. With 124 if it
/// goes on after --timeout.
#[derive(Debug, clap::Args)]
pub(crate) struct WaitArgs {
    /// The run or the job: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN|JOB")]
    target: String,
    /// Wait for this long at most: 90s, 5m, 2h
    #[arg(long, value_name = "DURATION", value_parser = times::parse_duration)]
    timeout: Option<Duration>,
}

pub(crate) fn run(args: &WaitArgs, invocation: &mut Invocation<'_>) -> Result<ExitCode, CliError> {
    let store = invocation.database.read()?;
    let target = resolve_target(&store, &args.target)?;
    let begin = Instant::now();
    loop {
        let is_completed = match &target {
            Target::Run(run) => ended_run(&store, run, invocation)?,
            Target::Job(job) => ended_job(&store, job, invocation)?,
            Target::All => None,
        };
        match is_completed {
            Some(true) => return Ok(ExitCode::SUCCESS),
            Some(false) => return Ok(ExitCode::from(exit_codes::FAILED)),
            None => {}
        }
        let left = args
            .timeout
            .map(|timeout| timeout.saturating_sub(begin.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            let waited = i64::try_from(begin.elapsed().as_millis()).unwrap_or(i64::MAX);
            return Err(CliError::StillRunning {
                what: args.target.clone(),
                waited: times::duration(waited),
            });
        }
        std::thread::sleep(left.map_or(INTERVAL, |left| left.min(INTERVAL)));
    }
}

/// Returns whether a run completed and says so, once it has ended.
fn ended_run(
    store: &Store,
    run: &RunId,
    invocation: &mut Invocation<'_>,
) -> Result<Option<bool>, CliError> {
    let info = store.run(run)?;
    if !info.status.is_terminal() {
        if has_lost_its_recorder(store, run)? {
            return Err(CliError::RecorderDied { run: run.clone() });
        }
        return Ok(None);
    }
    let console = &mut invocation.console;
    if console.json {
        console.object(&info)?;
    } else {
        let error = info.error.as_ref();
        let error = error.map(|error| format!(": {}", error.message));
        let error = error.unwrap_or_default();
        let label = info.outcome_label();
        let label = console.paint(Tone::of_outcome(info.outcome), &plain::one_line(&label));
        console.line(&format!("run {run}: {label}{}", plain::one_line(&error)))?;
    }
    Ok(Some(info.outcome == Outcome::Completed))
}

/// Returns whether a job completed and says so, once all of its runs have ended.
fn ended_job(
    store: &Store,
    job: &JobId,
    invocation: &mut Invocation<'_>,
) -> Result<Option<bool>, CliError> {
    let unknown = || CliError::NotFound {
        what: format!("job {job}"),
    };
    let info = store.job(job)?.ok_or_else(unknown)?;
    if info.outcome == Outcome::Running {
        let mut filter = RunFilter::default();
        filter.job = Some(job.clone());
        filter.outcome = Some(Outcome::Running);
        filter.roots_only = true;
        for open in store.runs(&filter, None, u32::MAX as usize)?.items {
            if has_lost_its_recorder(store, &open.run_id)? {
                return Err(CliError::RecorderDied { run: open.run_id });
            }
        }
        return Ok(None);
    }
    let console = &mut invocation.console;
    if console.json {
        console.object(&info)?;
    } else {
        let word = info.outcome.as_str();
        let runs = plural(info.runs, "run");
        console.line(&format!("job {job}: {word}, {runs}"))?;
    }
    Ok(Some(info.outcome == Outcome::Completed))
}
