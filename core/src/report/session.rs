//! Sessions in lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, Failure, counts};
use crate::iso::{self, Time};
use crate::{CheckpointStatus, Outcome, RunId, Runtime, SummaryUsage, TokenCounts};

/// What is known of a session of an agent CLI, made from its runs. Unknown is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// The runtime.
    pub runtime: Runtime,
    /// The session's id, as the runtime gave it.
    pub session_id: String,
    /// The directory its latest run worked in.
    pub cwd: Option<String>,
    /// What the runtime calls it.
    pub title: Option<String>,
    /// The first words of what was asked for first.
    pub prompt: Option<String>,
    /// The model of its latest run.
    pub model: Option<String>,
    /// Root runs.
    pub runs: u64,
    /// What all its runs and their children used, each response counted once; null if nothing is known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// How its latest run ended; `proceeding` while that is open.
    pub status: CheckpointStatus,
    /// How its latest run went.
    #[serde(default, skip_serializing_if = "crate::omission::never")]
    pub outcome: Outcome,
    /// Why its latest run failed; null if it did not.
    pub error: Option<Failure>,
    /// When its first run began.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub started_at: i64,
    /// When something happened in it last: a run or a step ended, or a run began.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub last_active_at: i64,
    /// Its latest root run.
    pub latest_run_id: RunId,
    /// The command that goes on with it, in its directory; null if there is none.
    pub resume: Option<String>,
}
