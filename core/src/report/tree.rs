//! Job trees: what was written, and what was read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AppliedRules;
use crate::{JobId, RunId};

/// A job tree that `export` wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedTree {
    /// The job.
    pub job_id: JobId,
    /// Its directory.
    pub path: String,
    /// How many runs it has, children included.
    pub runs: u64,
    /// How many checkpoint files it has.
    pub checkpoints: u64,
    /// How many event files it has.
    pub events: u64,
    /// How many bytes all its files have.
    pub bytes: u64,
    /// By which rules secrets were taken out of its runs, each set once. Empty if all of them are from before
    /// that was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redaction: Vec<AppliedRules>,
}

/// A line of what `import` prints of job trees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum TreeLine {
    /// What became of a root run.
    Run(TreeRun),
    /// A file that is not as it should be.
    Fault(TreeFault),
}

/// A root run of a job tree, its children included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeRun {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// What became of it.
    pub outcome: TreeOutcome,
    /// Which version of Perstack wrote the job, as far as its files tell.
    pub vintage: TreeVintage,
    /// How many runs it called, and they in turn.
    pub children: u64,
}

/// A file of a job tree that is not as it should be. What it says is missing in the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeFault {
    /// The file.
    pub path: String,
    /// What is wrong with it, with the place in it where there is one.
    pub reason: String,
}

/// What became of a run of a job tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TreeOutcome {
    /// It is stored now.
    Stored,
    /// It was there with the same content.
    Skipped,
    /// It was there with other content, and was left as it is.
    Differs,
}

/// Which version of Perstack wrote a job tree, as far as its files tell.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum TreeVintage {
    /// Before runtimes had names: until 2025-12-10.
    Seed,
    /// When Perstack's own runtime was called `perstack`: from 2025-12-11 on.
    Epic,
    /// The model of 2025-12-28, which exports are written in.
    Head,
}
