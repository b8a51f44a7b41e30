//! How recording, recovering and normalizing again went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, Failure};
use crate::{CheckpointStatus, JobId, Outcome, RunId, Runtime, SummaryUsage};

/// How a process ended, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExitInfo {
    /// Its exit code; null if it was killed, or nobody saw it end.
    pub code: Option<i32>,
    /// The signal that killed it, by name; null if none did.
    pub signal: Option<String>,
    /// The recorder ended it because it took too long.
    pub timed_out: bool,
    /// The recorder died before the process ended.
    pub recorder_lost: bool,
}

/// What `record --report` writes about a run at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordReport {
    /// The run.
    pub run_id: RunId,
    /// The job.
    pub job_id: JobId,
    /// The runtime.
    pub runtime: Runtime,
    /// The session to resume; null if the runtime printed none.
    pub session_id: Option<String>,
    /// The model's name as the runtime gave it.
    pub model: Option<String>,
    /// How the run ended, which may differ from how the process did.
    pub status: CheckpointStatus,
    /// How it went.
    #[serde(default, skip_serializing_if = "crate::omission::never")]
    pub outcome: Outcome,
    /// Why it failed; null if it did not.
    pub error: Option<Failure>,
    /// Steps.
    pub steps: u64,
    /// Tokens of the run and its children together; null if none are known.
    pub usage: Option<SummaryUsage>,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// How long it took in milliseconds, as the runtime reported it.
    pub duration_ms: Option<i64>,
    /// The text of the last model message; null if there is none, or if it is longer than 16 MiB.
    pub final_text: Option<String>,
    /// How the process ended.
    pub exit: ExitInfo,
    /// Whether the database has all of it.
    pub is_stored: bool,
    /// The file that holds what could not be stored, for `runtape recover`; null if there is none.
    pub spool: Option<String>,
    /// Bytes of output that are kept nowhere.
    pub lost_bytes: u64,
}

/// Where a recovered run came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RecoverySource {
    /// Its tape: the recorder died.
    Tape,
    /// A spool file: the database could not take it at the time.
    Spool,
}

/// A run that `recover` closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveredRun {
    /// The run.
    pub run_id: RunId,
    /// Where it came from.
    pub source: RecoverySource,
    /// How it ended.
    pub status: CheckpointStatus,
    /// How it went.
    #[serde(default, skip_serializing_if = "crate::omission::never")]
    pub outcome: Outcome,
    /// Why it failed; null if it did not.
    pub error: Option<Failure>,
}

/// What normalizing a run again changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenormalizedRun {
    /// The run.
    pub run_id: RunId,
    /// The runtime that it was read as.
    pub runtime: Runtime,
    /// Records that are the same as before.
    pub same: u64,
    /// Records under the same number that differ.
    pub changed: u64,
    /// Records that were not there before.
    pub added: u64,
    /// Records that are not there any more.
    pub removed: u64,
}

impl RenormalizedRun {
    /// Tells whether the records are now others than before.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.changed + self.added + self.removed > 0
    }
}
