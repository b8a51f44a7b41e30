//! A whole message, parsed into text, thinking, tools and metadata.

use serde::Serialize;
use serde_json::{Map, Value};

use super::javascript::serialize_optional_number;
use super::markdown::UNNAMED_TOOL;
use super::text::extract_text;
use super::thinking::extract_thinking;
use super::tools::{extract_tool_calls, extract_tool_result};
use super::turn_meta::TurnRole;

/// A tool call, ready to use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCall {
    /// What the result will refer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Which tool is called, or `tool` where the message does not say.
    pub name: String,
    /// What the tool is called with; empty where the message gave no object.
    pub arguments: Map<String, Value>,
}

/// A tool result, ready to use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call that is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Which tool was called, or `tool` where the message does not say.
    pub name: String,
    /// What the tool printed, maybe nothing.
    pub output: String,
    /// Whether the tool failed, where the message says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// What the tool reported beside its text.
    pub details: Option<Value>,
}

/// Whose message it is, and when it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageMeta {
    /// Whose turn the message belongs to; nothing for tools and systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<TurnRole>,
    /// When it was written, in milliseconds since the epoch, as the message has it.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_optional_number"
    )]
    pub timestamp: Option<f64>,
    /// How long the agent thought first. Messages do not say, so [`parse_message`] leaves it out.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_optional_number"
    )]
    pub thinking_duration_ms: Option<f64>,
}

/// Everything a message says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParsedMessage {
    /// The text it shows, maybe empty.
    pub text: String,
    /// The reasoning it carries.
    pub thinking: Option<String>,
    /// The tools it calls.
    pub tool_calls: Vec<ToolCall>,
    /// The result it is: one or none.
    pub tool_results: Vec<ToolResult>,
    /// Whose it is, and when it was written.
    pub metadata: MessageMeta,
}

/// Parses a message of any shape; what cannot be made out is left empty.
#[must_use]
pub fn parse_message(message: &Value) -> ParsedMessage {
    let tool_calls = extract_tool_calls(message)
        .into_iter()
        .map(|call| ToolCall {
            id: call.id,
            name: call.name.unwrap_or_else(|| UNNAMED_TOOL.to_owned()),
            arguments: match call.arguments {
                Some(Value::Object(arguments)) => arguments,
                _ => Map::new(),
            },
        })
        .collect();
    let tool_results = extract_tool_result(message)
        .map(|result| ToolResult {
            tool_call_id: result.tool_call_id,
            name: result.tool_name.unwrap_or_else(|| UNNAMED_TOOL.to_owned()),
            output: result.text.unwrap_or_default(),
            is_error: result.is_error,
            details: result.details,
        })
        .into_iter()
        .collect();
    let number = |name: &str| message.get(name).and_then(Value::as_f64);
    ParsedMessage {
        text: extract_text(message).unwrap_or_default(),
        thinking: extract_thinking(message),
        tool_calls,
        tool_results,
        metadata: MessageMeta {
            role: message.get("role").and_then(TurnRole::parse),
            timestamp: number("timestamp").or_else(|| number("createdAt")),
            thinking_duration_ms: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(message: &Value) -> Value {
        serde_json::to_value(parse_message(message)).unwrap()
    }

    #[test]
    fn a_message_of_any_shape_parses() {
        let nothing = json!({"text": "", "thinking": null, "toolCalls": [], "toolResults": [],
            "metadata": {}});
        for message in [
            json!(null),
            json!([]),
            json!({}),
            json!("x"),
            json!(1),
            json!(true),
        ] {
            assert_eq!(parsed(&message), nothing, "{message}");
        }
    }

    #[test]
    fn calls_get_a_name_and_an_object() {
        let message = json!({"role": "assistant", "timestamp": 0, "createdAt": 5, "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "hi"},
            {"type": "toolCall", "id": "c", "name": "", "arguments": {"a": 1}},
            {"type": "toolCall", "name": 5, "arguments": [1]},
            {"type": "toolCall", "name": "n", "arguments": "{}"},
        ]});
        let expected = json!({"text": "hi", "thinking": "hm", "toolResults": [],
        "metadata": {"role": "assistant", "timestamp": 0},
        "toolCalls": [
            {"id": "c", "name": "", "arguments": {"a": 1}},
            {"name": "tool", "arguments": {}},
            {"name": "n", "arguments": {}},
        ]});
        assert_eq!(parsed(&message), expected);
    }

    #[test]
    fn results_get_a_name_and_an_output() {
        let message = json!({"role": "toolResult", "timestamp": null, "createdAt": -1.5});
        let expected = json!({"text": "", "thinking": null, "toolCalls": [],
            "toolResults": [{"name": "tool", "output": "", "details": null}],
            "metadata": {"timestamp": -1.5}});
        assert_eq!(parsed(&message), expected);
    }
}
