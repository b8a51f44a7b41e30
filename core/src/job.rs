//! A set of runs that belong together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CheckpointStatus, JobId, Usage};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobStatus {
    /// A run of the job is open.
    Running,
    /// The latest root run completed.
    Completed,
    /// The latest root run reached its turn limit.
    StoppedByMaxSteps,
    /// The latest root run waits for an interactive tool.
    StoppedByInteractiveTool,
    /// The latest root run failed.
    StoppedByError,
}

impl From<CheckpointStatus> for JobStatus {
    fn from(status: CheckpointStatus) -> Self {
        match status {
            CheckpointStatus::Completed => Self::Completed,
            CheckpointStatus::StoppedByExceededMaxSteps => Self::StoppedByMaxSteps,
            CheckpointStatus::StoppedByInteractiveTool => Self::StoppedByInteractiveTool,
            CheckpointStatus::StoppedByError => Self::StoppedByError,
            // A job has no word for waiting on a delegate: its own run goes on.
            CheckpointStatus::Init
            | CheckpointStatus::Proceeding
            | CheckpointStatus::StoppedByDelegate => Self::Running,
        }
    }
}

/// A set of runs that belong together, seen as one piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Names the job.
    pub id: JobId,
    /// Where it stands.
    pub status: JobStatus,
    /// The expert that the root run was given to.
    pub coordinator_expert_key: String,
    /// Steps of all its runs.
    pub total_steps: u64,
    /// The most steps it was allowed, if limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// What all its runs used.
    pub usage: Usage,
    /// When it began, in milliseconds since 1970.
    pub started_at: i64,
    /// When its last run ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<i64>,
}
