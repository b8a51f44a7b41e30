//! Answers to an auditor: what was reported besides, and not understood.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iso::{self, Time};
use crate::{JobId, RunId, Runtime};

/// Something that a runtime reported besides: a retry, a rate limit, a denial, a line on stderr.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticeInfo {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The runtime.
    pub runtime: Runtime,
    /// The step during which it came, 0 before the first.
    pub step: u64,
    /// Its record.
    pub seq: u64,
    /// When.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
    /// What kind of notice: `retry`, `rateLimit`, `permissionDenied`, `compaction`, `hook`,
    /// `modelFallback`, `task`, `connection`, `interaction`, `warning`, `result`, `exitMismatch`,
    /// `historyMismatch`, `stderr`, `stdout` or `info`.
    pub kind: String,
    /// What a person should read: the first 80 characters; the record has all of it.
    pub text: String,
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
