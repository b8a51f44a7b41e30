//! Why a run failed, for programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iso::{self, Time};
use crate::{ErrorFamily, RunError, RunId, Runtime, SummaryError};

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// `ApiError` for what the model's API refused; `TruncatedOutput`, `NonZeroExit`,
    /// `KilledBySignal`, `TimedOut`, `RecorderLost`, `ParentEnded`, `Unfinished`; else the runtime's own name.
    pub name: String,
    /// What went wrong, for people.
    pub message: String,
    /// The HTTP status of the model's API; null if there was none.
    pub status_code: Option<u16>,
    /// Whether the same run may succeed later.
    pub is_retryable: bool,
    /// What kind of failure it was; null if nothing tells.
    pub family: Option<ErrorFamily>,
    /// Not before this time; null if the runtime gave none.
    #[serde(with = "crate::iso::maybe")]
    #[schemars(with = "Option<Time>")]
    pub retry_at: Option<i64>,
}

/// How often runs failed in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureSum {
    /// What the runs have in common: a family, a name or a runtime; null for failures whose family nothing tells.
    pub key: Option<String>,
    /// Runs that failed so.
    pub runs: u64,
    /// Runs of these that may succeed later.
    pub retryable: u64,
    /// The names of the errors, in order.
    pub names: Vec<String>,
    /// Their runtimes, in order.
    pub runtimes: Vec<Runtime>,
    /// The last run that failed so.
    pub run_id: RunId,
    /// When that run ended, or began where its end is not known.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub last_at: i64,
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self {
            name: error.name,
            message: error.message,
            status_code: error.status_code,
            is_retryable: error.is_retryable,
            family: error.family,
            retry_at: error.retry_at,
        }
    }
}

impl From<SummaryError> for Failure {
    fn from(error: SummaryError) -> Self {
        Self {
            name: error.name,
            message: error.message,
            status_code: error.status_code,
            is_retryable: error.is_retryable,
            family: error.family,
            retry_at: error.retry_at,
        }
    }
}
