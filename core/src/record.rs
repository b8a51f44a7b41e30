//! What the reducer yields and the store keeps.
//!
//! A record says each thing once: a message is one record, a checkpoint is a head that counts
//! messages instead of holding them, and what follows from other records by rule is no record at
//! all. [`materialize`](crate::materialize) makes full events and checkpoints from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tagged::{tagged_enum, tagged_struct};
use crate::{
    CheckpointStatus, DelegatedBy, Expert, JobId, Message, Metadata, RunError, RunId, Runtime,
    RuntimeEventKind, Span, TokenCounts, ToolCallId, ToolClass,
};

/// One kept record of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The run.
    pub run_id: RunId,
    /// The record's place in its run, counted from 0 without gaps. Order is this, never a time.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970: the runtime's own time where it gave one,
    /// else when the output was received.
    pub at: i64,
    /// The raw output it was made from; absent for what came from the process's exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// What it says.
    #[serde(flatten)]
    pub kind: RecordKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Base {
    run_id: RunId,
    seq: u64,
    at: i64,
    span: Option<Span>,
}

tagged_struct!(
    Record,
    RecordKind,
    Base {
        run_id: "runId",
        seq: "seq",
        at: "at",
        span: "span"
    }
);

tagged_enum! {
    /// What a record says.
    pub enum RecordKind by "type" {
        /// The run was opened. Always the first record.
        "run" => Run(RunOpened),
        /// More became known about the run.
        "metadata" => Metadata(MetadataPatch),
        /// The runtime is ready: stands for `initializeRuntime`.
        "initialize" => Initialize(Initialize),
        /// The work begins: stands for `startRun`.
        "start" => Start(Start),
        /// A message: stands for `startGeneration`, reasoning, `callTools` or
        /// `resolveToolResults` and `finishToolCall`.
        "message" => Message(MessageRecord),
        /// Tokens that count.
        "usage" => Usage(UsageEntry),
        /// A step ended: stands for `continueToNextStep` or, as the last one, for the run's
        /// terminal event.
        "checkpoint" => Checkpoint(Box<CheckpointHead>),
        /// An event around the run.
        "event" => Event(EventRecord),
    }
}

/// The run was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunOpened {
    /// The job.
    pub job_id: JobId,
    /// The runtime.
    pub runtime: Runtime,
    /// Where a child run came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegated_by: Option<Box<DelegatedBy>>,
}

/// More became known about the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataPatch {
    /// Keys to set; a null removes its key.
    #[schemars(schema_with = "Metadata::patch_schema")]
    pub set: Metadata,
}

/// The runtime is ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Initialize {
    /// The expert that the run was given to.
    pub expert: Expert,
    /// The model, where the runtime named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// The work begins; the messages before this record are what the run was given: a query, or what
/// was said in a run that this one continues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Start {}

/// A message, and what the runtime said about it that has no place inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageRecord {
    /// The step it belongs to, counted from 1.
    pub step: u64,
    /// The message.
    pub message: Message,
    /// Where in the raw output each part begins, in bytes, in the order of the message's contents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<u64>,
    /// What is known of tool calls beyond their arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallNote>,
    /// What is known of tool results beyond their contents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultNote>,
    /// The message goes on where the one before broke off because it grew too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
    /// The message was cut off: by a kill, an error, or the end of the output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl MessageRecord {
    /// Creates a record of a message of which nothing more is known.
    #[must_use]
    pub fn new(step: u64, message: Message) -> Self {
        Self {
            step,
            message,
            offsets: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            continued: false,
            cut: false,
        }
    }
}

/// What is known of a tool call beyond its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallNote {
    /// The call.
    pub tool_call_id: ToolCallId,
    /// The id as the runtime printed it, where it was too long to be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed_id: Option<String>,
    /// What the tool is for; absent in records from before classes were known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ToolClass>,
    /// The shell command it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The files it reads or writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The URL it fetches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What is known of a tool result beyond its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultNote {
    /// The call it answers.
    pub tool_call_id: ToolCallId,
    /// How long the call took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The step of the call, where the result came in a later one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_step: Option<u64>,
    /// No call with this id was seen before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmatched: bool,
}

/// Where a number of tokens comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UsageSource {
    /// One response of the model.
    Response,
    /// A total that the runtime stated, where no response was reported by itself.
    Total,
    /// What a stated total holds beyond the responses that were seen.
    Remainder,
}

/// Tokens that count, exactly once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageEntry {
    /// Names what was counted: the same key is never counted again.
    pub key: String,
    /// Where the numbers come from.
    pub source: UsageSource,
    /// The step that used them; absent for what belongs to no single step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The numbers are the total of the whole session so far: what earlier runs of it used is in
    /// them again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_session: bool,
    /// The numbers.
    #[serde(flatten)]
    pub counts: TokenCounts,
}

/// The state at the end of a step, without what other records hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointHead {
    /// The step that ended.
    pub step: u64,
    /// Where the run stands; a terminal status ends it.
    pub status: CheckpointStatus,
    /// How many messages the run has so far.
    pub messages: u64,
    /// What the run used so far.
    pub usage: TokenCounts,
    /// What the step used.
    pub step_usage: TokenCounts,
    /// When the step began, in milliseconds since 1970.
    pub started_at: i64,
    /// Calls without a result, of this step or an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<ToolCallId>,
    /// The answer, where it is not the text of the last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

/// An event around the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    /// The step during which it happened, 0 before the first.
    pub step: u64,
    /// What happened.
    pub event: RuntimeEventKind,
}

impl RuntimeEventKind {
    /// Reads an event without the fields that every event has.
    fn from_value(value: &serde_json::Value) -> Result<Self, String> {
        Self::from_object(value, &[])
    }
}

impl<'de> Deserialize<'de> for RuntimeEventKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Self::from_value(&value).map_err(serde::de::Error::custom)
    }
}

impl Record {
    /// Returns the head if this record ends its run.
    #[must_use]
    pub fn terminal(&self) -> Option<&CheckpointHead> {
        match &self.kind {
            RecordKind::Checkpoint(head) if head.status.is_terminal() => Some(head),
            _ => None,
        }
    }
}
