//! Runs on their way from one database to another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::RunId;

/// A line of what `push` and `pull` print: one for each run, and a summary at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum CopyLine {
    /// What became of a root run.
    Run(CopiedRun),
    /// What all runs came to.
    Summary(CopySummary),
}

/// A root run that was to be copied, its children included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CopiedRun {
    /// The run.
    pub run_id: RunId,
    /// What became of it.
    pub outcome: CopyOutcome,
    /// Why it was not copied; null if it was, or was there as it is here.
    pub reason: Option<String>,
}

/// What became of a run that was to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CopyOutcome {
    /// It is in the other database now.
    Stored,
    /// It was there already.
    Skipped,
    /// It has not ended: it is copied when it has.
    Open,
    /// Another run is there under the same id. Both were left as they are.
    Differs,
    /// It could not be copied.
    Failed,
}

/// What all runs came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CopySummary {
    /// The database that they are in, without a password.
    pub from: String,
    /// The database that they went to, without a password.
    pub to: String,
    /// Runs that were copied.
    pub stored: u64,
    /// Runs that were there already.
    pub skipped: u64,
    /// Those of them that were recorded under another redaction key, by other rules or on another machine; not there if
    /// none was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub recorded_differently: u64,
    /// Runs that have not ended.
    pub open: u64,
    /// Runs under whose ids there are others.
    pub differs: u64,
    /// Runs that could not be copied.
    pub failed: u64,
}
