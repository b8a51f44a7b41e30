//! Answers to an auditor: what was searched for, called, touched, and not understood.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iso::{self, Time};
use crate::{JobId, RunId, Runtime};

/// A record in which a search found something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The runtime.
    pub runtime: Runtime,
    /// The record.
    pub seq: u64,
    /// The step it belongs to.
    pub step: u64,
    /// When it happened.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
    /// How good it is: the lower the better.
    pub rank: f64,
    /// The text around what was found, in pieces.
    pub snippet: Vec<SnippetPart>,
}

/// A piece of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnippetPart {
    /// The text.
    pub text: String,
    /// Whether the search was for this.
    pub is_match: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallInfo {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The runtime.
    pub runtime: Runtime,
    /// The step.
    pub step: u64,
    /// The record of the message that made the call.
    pub seq: u64,
    /// When.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
    /// The tool's name.
    pub tool: String,
    /// The shell command it ran; null for other tools.
    pub command: Option<String>,
    /// The first file it read or wrote; null if it names none.
    pub path: Option<String>,
    /// The URL it fetched; null if it names none.
    pub url: Option<String>,
    /// Whether it failed; null if there is no result or it did not tell.
    pub is_error: Option<bool>,
    /// How long it took in milliseconds, where known.
    pub duration_ms: Option<i64>,
    /// The record of the result; null if there is none.
    pub result_seq: Option<u64>,
}

/// How a tool was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// The runtime.
    pub runtime: Runtime,
    /// The tool's name.
    pub tool: String,
    /// How often it was called.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Runs that called it.
    pub runs: u64,
    /// Mean duration in milliseconds of the calls whose duration is known; null if none is.
    pub mean_ms: Option<f64>,
    /// The last call.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub last_at: i64,
}

/// How a file was used by a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUse {
    /// The file, as the calls named it.
    pub path: String,
    /// The tool's name.
    pub tool: String,
    /// How often.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Runs that did.
    pub runs: u64,
    /// The last run that did.
    pub run_id: RunId,
    /// The last time, as ISO 8601 in UTC.
    #[schemars(with = "Time")]
    pub last_at: String,
}

/// What was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftKind {
    /// A line that no parser understood, or one of an unknown type.
    Line,
    /// A key that this version does not know, in a message that it knows.
    Key,
}

/// Output of one kind that no parser understood: how a change in a CLI's format is seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// What was not understood.
    pub kind: DriftKind,
    /// The runtime.
    pub runtime: Runtime,
    /// The agent CLI's version; null where it is not known.
    pub cli_version: Option<String>,
    /// The type that the lines name, or the message's type and the key, joined by a dot; null for
    /// lines that name no type.
    pub tag: Option<String>,
    /// Why it was not understood.
    pub reason: String,
    /// How many lines, or how often the key was seen.
    pub lines: u64,
    /// Runs that have it.
    pub runs: u64,
    /// A run that has it.
    pub run_id: RunId,
    /// The record of such a line, or the one that counts the key.
    pub seq: u64,
    /// The first characters of that line; null for a key.
    pub excerpt: Option<String>,
}
