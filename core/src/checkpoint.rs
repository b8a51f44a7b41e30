//! The state of a run at the end of a step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CheckpointId, JobId, Message, Metadata, RunId, ToolCall, ToolCallId, ToolName, ToolResult,
    Usage,
};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckpointStatus {
    /// Not begun.
    Init,
    /// A step ended, another follows.
    Proceeding,
    /// The run ended with an answer.
    Completed,
    /// The run waits for an interactive tool.
    StoppedByInteractiveTool,
    /// The run waits for another expert.
    StoppedByDelegate,
    /// The run reached its turn limit.
    StoppedByExceededMaxSteps,
    /// The run failed.
    StoppedByError,
}

impl CheckpointStatus {
    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Proceeding => "proceeding",
            Self::Completed => "completed",
            Self::StoppedByInteractiveTool => "stoppedByInteractiveTool",
            Self::StoppedByDelegate => "stoppedByDelegate",
            Self::StoppedByExceededMaxSteps => "stoppedByExceededMaxSteps",
            Self::StoppedByError => "stoppedByError",
        }
    }

    /// Tells whether a run with this status is over.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Init | Self::Proceeding)
    }
}

/// The expert that a run was given to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Expert {
    /// Names the expert.
    pub key: String,
    /// The name for people.
    pub name: String,
    /// The expert's version; for an agent CLI without an expert the CLI's.
    pub version: String,
}

/// A piece of work handed to another expert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DelegationTarget {
    /// The expert that is to do it.
    pub expert: Expert,
    /// The call that hands it over.
    pub tool_call_id: ToolCallId,
    /// The tool's name.
    pub tool_name: ToolName,
    /// What is asked for.
    pub query: String,
}

/// Where a child run came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DelegatedBy {
    /// The expert of the parent run.
    pub expert: Expert,
    /// The parent's call that started the child.
    pub tool_call_id: ToolCallId,
    /// The tool's name.
    pub tool_name: ToolName,
    /// The parent's checkpoint of the step that made the call.
    pub checkpoint_id: CheckpointId,
    /// The parent run.
    pub run_id: RunId,
}

/// What kind of failure it was, so that a program can decide what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ErrorFamily {
    /// No login, or one that was refused.
    Auth,
    /// Too many requests, or a quota is used up for a while.
    RateLimit,
    /// Not paid for.
    Billing,
    /// The model's service is overloaded or failing.
    Overload,
    /// The conversation does not fit the model.
    ContextOverflow,
    /// The model refused.
    Refusal,
    /// The session to resume does not exist: forget it.
    UnknownSession,
    /// The model does not exist or may not be used.
    ModelNotFound,
    /// The network failed.
    Network,
    /// The turn limit was reached.
    TurnLimit,
    /// The spending limit was reached.
    Budget,
    /// The process died, was killed, or its output was cut.
    Process,
    /// Anything else.
    #[serde(other)]
    Other,
}

impl ErrorFamily {
    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimit => "rateLimit",
            Self::Billing => "billing",
            Self::Overload => "overload",
            Self::ContextOverflow => "contextOverflow",
            Self::Refusal => "refusal",
            Self::UnknownSession => "unknownSession",
            Self::ModelNotFound => "modelNotFound",
            Self::Network => "network",
            Self::TurnLimit => "turnLimit",
            Self::Budget => "budget",
            Self::Process => "process",
            Self::Other => "other",
        }
    }
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunError {
    /// `ApiError` for what the model's API refused; `TruncatedOutput`, `NonZeroExit`,
    /// `KilledBySignal`, `TimedOut`, `RecorderLost`, `ParentEnded`; `Unfinished` where history stops
    /// without proof of an end; `UnclearResult` where a result does not say in the runtime's documented way how the run went; else the runtime's own name.
    pub name: String,
    /// What went wrong, for people.
    pub message: String,
    /// The HTTP status of the model's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// Whether the same run may succeed later.
    pub is_retryable: bool,
    /// What kind of failure it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<ErrorFamily>,
    /// Not before this time, in milliseconds since 1970, where the runtime gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<i64>,
}

/// The state of a run at the end of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// Names the checkpoint; each step has its own.
    pub id: CheckpointId,
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// Where the run stands.
    pub status: CheckpointStatus,
    /// The step that ended here.
    pub step_number: u64,
    /// All messages of the run so far.
    pub messages: Vec<Message>,
    /// The expert that the run was given to.
    pub expert: Expert,
    /// Work handed to other experts that the run waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegate_to: Option<Vec<DelegationTarget>>,
    /// Where a child run came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegated_by: Option<DelegatedBy>,
    /// What the run used so far.
    pub usage: Usage,
    /// The model's context window in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// How much of the context window is used, from 0 to 1.
    #[serde(skip_serializing_if = "crate::omission::unless_finite")]
    pub context_window_usage: Option<f64>,
    /// Calls without a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_tool_calls: Option<Vec<ToolCall>>,
    /// Results of some of the calls, while others are pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_tool_results: Option<Vec<ToolResult>>,
    /// What is known beyond Perstack's fields; open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Why the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// How often the step was tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u64>,
}
