//! What is followed.

use runtape_core::{JobId, RunId};
use runtape_store::Store;

use crate::database::{resolve_job, resolve_run};
use crate::error::CliError;

/// What is followed.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// One run.
    Run(RunId),
    /// The runs of a job.
    Job(JobId),
    /// All runs.
    All,
}

/// Whether and what to follow.
#[derive(Debug, clap::Args)]
pub(crate) struct FollowArgs {
    /// Go on while the run goes on, and show a step while it is made
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// All runs of this job, one after the other: its id, or the beginning of it
    #[arg(long, value_name = "JOB", conflicts_with = "run")]
    job: Option<String>,
    /// With --follow, what happens in any run from now on
    #[arg(long, requires = "follow", conflicts_with_all = ["job", "run"])]
    all: bool,
}

impl FollowArgs {
    /// Returns what is meant by these and by the run or job that was named.
    pub(crate) fn target(&self, store: &Store, run: &str) -> Result<Target, CliError> {
        match &self.job {
            _ if self.all => Ok(Target::All),
            Some(job) => Ok(Target::Job(existing_job(store, job)?)),
            None => resolve_target(store, run),
        }
    }
}

fn existing_job(store: &Store, text: &str) -> Result<JobId, CliError> {
    let job = resolve_job(store, text)?;
    if store.job(&job)?.is_none() {
        let what = format!("job {text:?}");
        return Err(CliError::NotFound { what });
    }
    Ok(job)
}

/// Returns the run of an id or the beginning of one, or else the job.
pub(crate) fn resolve_target(store: &Store, text: &str) -> Result<Target, CliError> {
    match resolve_run(store, text) {
        Err(CliError::UnknownRun { text }) => match existing_job(store, &text) {
            Ok(job) => Ok(Target::Job(job)),
            Err(CliError::NotFound { .. }) => Err(CliError::UnknownTarget { text }),
            Err(error) => Err(error),
        },
        run => run.map(Target::Run),
    }
}
