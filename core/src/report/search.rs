//! What a search found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iso::{self, Time};
use crate::{JobId, RunId, Runtime};

/// A record in which a search found something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// The step it belongs to, 0 before the first.
    pub step: u64,
    /// When it happened.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
    /// Who it comes from.
    pub role: SearchRole,
    /// The record by run and number, such as `RUN#17`: `show` and `transcript` take it.
    pub reference: String,
    /// The text around what was found, in pieces.
    pub snippet: Vec<SnippetPart>,
}

/// Who a record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SearchRole {
    /// What the model was asked.
    User,
    /// What it was told to be.
    Instruction,
    /// What the model said, thought and called.
    Expert,
    /// What a tool gave back.
    Tool,
    /// Why a run failed.
    Error,
    /// What the runtime reported besides, its error output included.
    Notice,
}

impl SearchRole {
    /// Returns the role in one word, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Instruction => "instruction",
            Self::Expert => "expert",
            Self::Tool => "tool",
            Self::Error => "error",
            Self::Notice => "notice",
        }
    }
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

/// A run in which a search found something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchedRun {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The runtime.
    pub runtime: Runtime,
    /// In how many records.
    pub hits: u64,
    /// The last one of them.
    pub latest: SearchHit,
}
