//! `runtape show JOB`: the runs of a job, what they come to, and the session to go on with.

use runtape_core::JobId;
use runtape_core::report::JobDetail;
use runtape_store::{RunFilter, Store};

use super::estimates::ListEstimates;
use super::{runs, session};
use crate::commands::Invocation;
use crate::database::resolve_job;
use crate::error::CliError;
use crate::terminal::plain;

/// Returns the job that a text names and no run does; `None` if there is none.
pub(super) fn find(store: &Store, text: &str) -> Result<Option<JobId>, CliError> {
    let Ok(job) = resolve_job(store, text) else {
        return Ok(None);
    };
    Ok(store.job(&job)?.map(|found| found.job_id))
}

/// Shows a job.
pub(super) fn show(
    store: &Store,
    job: &JobId,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let unknown = || CliError::NotFound {
        what: format!("job {job}"),
    };
    let mut filter = RunFilter::default();
    filter.job = Some(job.clone());
    filter.roots_only = true;
    let mut root_runs = store.runs(&filter, None, u32::MAX as usize)?.items;
    let mut found_job = store.job(job)?.ok_or_else(unknown)?;
    let estimates = ListEstimates::find(invocation);
    if let Some(estimates) = &estimates {
        estimates.of_runs(store, &mut root_runs)?;
        estimates.of_jobs(store, std::slice::from_mut(&mut found_job))?;
    }
    let found = session::find(&root_runs).ok();
    let detail = JobDetail {
        job: found_job,
        session_id: found.map(|(_, id)| id.to_owned()),
        session_run_id: found.map(|(run, _)| run.run_id.clone()),
        root_runs,
    };
    let console = &mut invocation.console;
    if console.json {
        return console.object(&detail);
    }
    let lost = runs::lost(store, &detail.root_runs)?;
    runs::print(console, &detail.root_runs, &lost, true)?;
    if let Some(session) = &detail.session_id {
        console.line("")?;
        console.line(&format!("session to resume: {}", plain::one_line(session)))?;
    }
    if let Some(estimates) = &estimates {
        estimates.tell(&detail.root_runs, invocation);
    }
    Ok(())
}
