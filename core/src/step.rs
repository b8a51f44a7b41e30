//! One turn of the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{InputMessage, Message, ToolCall, ToolResult, Usage};

/// One turn of the model: what it said, the calls it made, what they gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Counts the steps of a run from 1.
    pub step_number: u64,
    /// What the step began with: instruction, user or tool messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_messages: Option<Vec<InputMessage>>,
    /// The messages the step added.
    pub new_messages: Vec<Message>,
    /// The calls the model made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// What the calls gave back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<Vec<ToolResult>>,
    /// Calls that had no result when the step ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_tool_calls: Option<Vec<ToolCall>>,
    /// Results of some of the calls, while others are pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_tool_results: Option<Vec<ToolResult>>,
    /// What this step used.
    pub usage: Usage,
    /// When it began, in milliseconds since 1970.
    pub started_at: i64,
    /// When it ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<i64>,
}
