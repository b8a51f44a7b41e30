//! What became of the history that agent CLIs keep on disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, counts};
use crate::{RunId, Runtime, SummaryUsage, TokenCounts};

/// A line of what `sync` prints: one for each session that was read or could not be, and a summary at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum SyncLine {
    /// What became of one session.
    Source(Box<SyncedSource>),
    /// What all of it came to.
    Summary(SyncSummary),
}

/// What became of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncedSource {
    /// The runtime.
    pub runtime: Runtime,
    /// The session's id; null for a file that could not be read.
    pub session_id: Option<String>,
    /// The files, or the database, that hold it.
    pub paths: Vec<String>,
    /// Runs that were not known before.
    pub new: Vec<RunId>,
    /// Runs that were known, and of which there is more now.
    pub grown: Vec<RunId>,
    /// Recorded runs that were joined with their history.
    pub joined: Vec<RunId>,
    /// How many runs are as they were.
    pub unchanged: u64,
    /// Why it could not be read, or not all of it; null if all is well.
    pub reason: Option<String>,
}

/// What was found of one runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncGroup {
    /// The runtime.
    pub runtime: Runtime,
    /// Sessions that were found.
    pub sessions: u64,
    /// Runs that were not known before.
    pub new: u64,
    /// Runs of which there is more now.
    pub grown: u64,
    /// Recorded runs that were joined with their history.
    pub joined: u64,
    /// Runs, or sessions that were not even read again, that are as they were.
    pub unchanged: u64,
    /// Files that could not be read, or not all of them.
    pub unreadable: u64,
    /// What the runs that are new, grown or joined used; null if it is not known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
}

impl SyncGroup {
    /// Creates a group of which nothing is counted yet.
    #[must_use]
    pub fn new(runtime: Runtime) -> Self {
        Self {
            runtime,
            sessions: 0,
            new: 0,
            grown: 0,
            joined: 0,
            unchanged: 0,
            unreadable: 0,
            usage: TokenCounts::default(),
            cost: Cost::default(),
        }
    }
}

/// What all of it came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncSummary {
    /// Nothing was written: it was only looked.
    pub is_dry_run: bool,
    /// What was found, by runtime.
    pub groups: Vec<SyncGroup>,
}
