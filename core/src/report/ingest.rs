//! What became of files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, RunInfo, counts};
use crate::{CheckpointStatus, Outcome, RunId, Runtime, SummaryUsage, TokenCounts};

/// What became of one file or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum IngestOutcome {
    /// It is a run in the database now.
    Stored,
    /// It was one already.
    Skipped,
    /// It holds nothing usable.
    Unusable,
}

/// A line of what `ingest` prints: one for each file, and a summary at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum IngestLine {
    /// What became of one file.
    File(Box<IngestedFile>),
    /// What all files came to.
    Summary(IngestSummary),
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestedFile {
    /// The file; `-` for standard input.
    pub path: String,
    /// What became of it.
    pub outcome: IngestOutcome,
    /// The run that it is; null if it is unusable.
    pub run_id: Option<RunId>,
    /// What is known of the run; null unless it was stored just now.
    pub run: Option<RunInfo>,
    /// Why it is unusable; null if it is not.
    pub reason: Option<String>,
}

/// What all files came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestSummary {
    /// Runs that were stored.
    pub stored: u64,
    /// Files whose runs were there already.
    pub skipped: u64,
    /// Files that hold nothing usable.
    pub unusable: u64,
    /// Files in directories that belong to no run.
    pub ignored: u64,
    /// The runs that were stored, by runtime and how they went.
    pub groups: Vec<IngestGroup>,
}

/// Runs of one runtime that ended alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestGroup {
    /// The runtime.
    pub runtime: Runtime,
    /// How they ended.
    pub status: CheckpointStatus,
    /// How they went.
    #[serde(default, skip_serializing_if = "crate::omission::never")]
    pub outcome: Outcome,
    /// Root runs.
    pub runs: u64,
    /// Steps, those of child runs included, as in all that follows.
    pub steps: u64,
    /// Kept records.
    pub records: u64,
    /// Lines that no parser understood.
    pub unparsed: u64,
    /// What they used; null if nothing is known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
}

/// A run that `import` met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedRun {
    /// The file.
    pub path: String,
    /// The run.
    pub run_id: RunId,
    /// Whether it was stored, or there already.
    pub outcome: IngestOutcome,
}
