//! Tool calls and tool results, taken from messages.

use serde::Serialize;
use serde_json::Value;

use super::markdown::{format_tool_call_markdown, format_tool_result_markdown};
use super::text::extract_text;

/// A tool call as a message states it, nothing filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolCallRecord {
    /// What the result will refer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Which tool is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the tool is called with, verbatim: null is kept apart from nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}

/// A tool result as a message states it, nothing filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultRecord {
    /// The call that is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Which tool was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What the tool reported beside its text: an object, an array or nothing.
    pub details: Option<Value>,
    /// Whether the tool failed, where the message says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// What the tool printed.
    pub text: Option<String>,
}

/// Returns the tool calls among a message's content parts.
#[must_use]
pub fn extract_tool_calls(message: &Value) -> Vec<ToolCallRecord> {
    let Some(Value::Array(parts)) = message.get("content") else {
        return Vec::new();
    };
    parts
        .iter()
        .filter(|part| text_field(part, "type").as_deref() == Some("toolCall"))
        .map(|part| ToolCallRecord {
            id: text_field(part, "id"),
            name: text_field(part, "name"),
            arguments: part.get("arguments").cloned(),
        })
        .collect()
}

/// Returns the tool result that a message is, if its role says it is one.
#[must_use]
pub fn extract_tool_result(message: &Value) -> Option<ToolResultRecord> {
    let role = text_field(message, "role")?;
    if role != "toolResult" && role != "tool" {
        return None;
    }
    Some(ToolResultRecord {
        tool_call_id: text_field(message, "toolCallId"),
        tool_name: text_field(message, "toolName"),
        details: message
            .get("details")
            .filter(|details| details.is_object() || details.is_array())
            .cloned(),
        is_error: message.get("isError").and_then(Value::as_bool),
        text: extract_text(message),
    })
}

/// Returns the transcript lines of a message's tool calls, then that of the result it is.
#[must_use]
pub fn extract_tool_lines(message: &Value) -> Vec<String> {
    let calls = extract_tool_calls(message);
    let result = extract_tool_result(message);
    calls
        .iter()
        .map(format_tool_call_markdown)
        .chain(result.iter().map(format_tool_result_markdown))
        .collect()
}

fn text_field(object: &Value, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_keep_what_was_stated() {
        let message = json!({"content": [
            {"type": "toolCall", "id": "", "name": "", "arguments": null},
            {"type": "toolCall", "id": 5, "name": null},
            {"type": "toolCall", "id": "c", "name": "n", "arguments": [1], "more": 1},
            {"type": "tool_use", "name": "no"},
            null, "toolCall", ["toolCall"],
        ]});
        let calls = serde_json::to_value(extract_tool_calls(&message)).unwrap();
        let expected = json!([
            {"id": "", "name": "", "arguments": null},
            {},
            {"id": "c", "name": "n", "arguments": [1]},
        ]);
        assert_eq!(calls, expected);
        for message in [
            json!({"content": {"type": "toolCall"}}),
            json!([]),
            json!("x"),
            json!(null),
        ] {
            assert_eq!(extract_tool_calls(&message), []);
        }
    }

    #[test]
    fn results_are_told_by_role() {
        let cases = [
            (
                "bare",
                json!({"role": "tool"}),
                json!({"details": null, "text": null}),
            ),
            (
                "full",
                json!({"role": "toolResult", "toolCallId": "c", "toolName": "n", "isError": false,
                    "details": {"a": 1}, "content": "[Slack u] out"}),
                json!({"toolCallId": "c", "toolName": "n", "isError": false,
                    "details": {"a": 1}, "text": "out"}),
            ),
            (
                "wrong types",
                json!({"role": "tool", "toolCallId": 1, "toolName": null, "isError": "yes",
                    "details": "d"}),
                json!({"details": null, "text": null}),
            ),
            (
                "array details",
                json!({"role": "tool", "details": []}),
                json!({"details": [], "text": null}),
            ),
            ("other role", json!({"role": "toolresult"}), Value::Null),
            (
                "role of another type",
                json!({"role": ["tool"]}),
                Value::Null,
            ),
            ("array", json!([]), Value::Null),
        ];
        for (name, message, expected) in cases {
            let result = serde_json::to_value(extract_tool_result(&message)).unwrap();
            assert_eq!(result, expected, "{name}");
        }
    }

    #[test]
    fn one_message_may_give_calls_and_a_result() {
        let message = json!({"role": "tool", "toolName": "b", "content": [
            {"type": "text", "text": "out"},
            {"type": "toolCall", "name": "a"},
        ]});
        let expected = ["[[tool]] a", "[[tool-result]] b\n```text\nout\n```"];
        assert_eq!(extract_tool_lines(&message), expected);
    }
}
