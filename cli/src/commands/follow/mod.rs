//! Reading runs that may still go on: those of one run, of a job, or all there are.

mod followed_run;
mod status_line;
mod target;

use std::time::{Duration, Instant};

use runtape_core::RunId;
use runtape_core::report::RunInfo;
use runtape_recorder::following::has_lost_its_recorder;
use runtape_store::{RunFilter, Store};

use self::followed_run::FollowedRun;
pub(crate) use self::followed_run::{Early, SeenOfRun};
use self::status_line::StatusLine;
pub(crate) use self::target::{FollowArgs, Target, resolve_target};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Console;

/// How often runs that go on are looked at.
pub(crate) const INTERVAL: Duration = Duration::from_millis(150);

/// How often it is looked whether somebody still records them, and whether there are new ones.
const SELDOM: Duration = Duration::from_millis(600);

/// Calls `each` with what is seen of the runs of a target, and the run that it is of; if they are to be followed, until
/// all of them have ended. All runs there are never end: of them, only what happens from now on is seen.
pub(crate) fn each_seen(
    store: &Store,
    target: &Target,
    (follow, early): (bool, Early),
    invocation: &mut Invocation<'_>,
    mut each: impl FnMut(&mut Console<'_>, &RunId, SeenOfRun) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut status = StatusLine::new(&invocation.console);
    let mut runs: Vec<FollowedRun> = Vec::new();
    let mut looked_at: Option<Instant> = None;
    loop {
        if looked_at.is_none_or(|at| at.elapsed() >= SELDOM) {
            let is_first = looked_at.is_none();
            look(store, target, (follow, early), is_first, &mut runs)?;
            looked_at = Some(Instant::now());
        }
        let console = &mut invocation.console;
        for run in &mut runs {
            run.poll(store, &mut |run, seen| {
                status.clear();
                each(console, run, seen)
            })?;
        }
        console.out.flush()?;
        let goes_on = runs.iter().any(|run| !run.has_ended());
        if !follow || (!goes_on && !matches!(target, Target::All)) {
            status.clear();
            return Ok(());
        }
        status.show(&runs);
        std::thread::sleep(INTERVAL);
    }
}

/// Finds runs of a target that were not seen before. A run whose recorder died is an error, since nobody will ever
/// end it; of many runs it is left out.
fn look(
    store: &Store,
    target: &Target,
    (follow, early): (bool, Early),
    is_first: bool,
    runs: &mut Vec<FollowedRun>,
) -> Result<(), CliError> {
    for info in found(store, target, is_first)? {
        if runs.iter().any(|run| run.is(&info.run_id)) {
            continue;
        }
        let mut run = FollowedRun::new(store, &info, early)?;
        if matches!(target, Target::All) {
            if info.status.is_terminal() && is_first {
                continue;
            }
            if is_first {
                run.skip(store)?;
            }
        }
        runs.push(run);
    }
    if !follow {
        return Ok(());
    }
    for run in runs.iter_mut().filter(|run| !run.has_ended()) {
        if has_lost_its_recorder(store, run.id())? {
            match target {
                Target::Run(_) => {
                    let run = run.id().clone();
                    return Err(CliError::RecorderDied { run });
                }
                Target::Job(_) | Target::All => run.give_up(),
            }
        }
    }
    runs.retain(|run| !run.has_ended() || !matches!(target, Target::All) || !run.is_shown());
    Ok(())
}

/// Returns the runs of a target, those that began first first.
fn found(store: &Store, target: &Target, is_first: bool) -> Result<Vec<RunInfo>, CliError> {
    let mut filter = RunFilter::default();
    match target {
        Target::Run(run) if is_first => return Ok(vec![store.run(run)?]),
        Target::Run(_) => return Ok(Vec::new()),
        Target::Job(job) => filter.job = Some(job.clone()),
        Target::All => filter.outcome = Some(runtape_core::Outcome::Running),
    }
    filter.roots_only = true;
    let mut found = store.runs(&filter, None, u32::MAX as usize)?.items;
    found.reverse();
    Ok(found)
}
