//! Which runs a query is about.

use runtape_core::{CheckpointStatus, ErrorFamily, JobId, Runtime};

/// Which runs a query is about; what is not set does not matter.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunFilter {
    /// Runs of this runtime.
    pub runtime: Option<Runtime>,
    /// Runs that ended this way; `proceeding` for those that are open.
    pub status: Option<CheckpointStatus>,
    /// Runs of this job.
    pub job: Option<JobId>,
    /// Runs given to this expert.
    pub expert: Option<String>,
    /// Runs with this model.
    pub model: Option<String>,
    /// Runs of this session.
    pub session: Option<String>,
    /// Runs that worked in this directory or below.
    pub cwd: Option<String>,
    /// Runs that began at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Runs that began before this time, in milliseconds since 1970.
    pub until: Option<i64>,
    /// Runs that called this tool.
    pub tool: Option<String>,
    /// Runs that failed this way.
    pub error_family: Option<ErrorFamily>,
    /// Runs in which a search finds something.
    pub text: Option<String>,
    /// Only runs that no other run started.
    pub roots_only: bool,
}
