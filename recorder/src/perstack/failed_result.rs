//! Results of Perstack's own tools that say they failed.
//!
//! Its runtime marks no result as failed. Its tools answer with an object that has an `error`, and
//! its terminal UI takes that for a failure.

use std::sync::Arc;

use runtape_core::{Message, ToolMessagePart, ToolResultContent, ToolResultPart};
use serde::Deserialize;

/// What such a tool answers; whatever stands beside the error is not read.
#[derive(Deserialize)]
struct FailedResult {
    #[serde(rename = "error")]
    _error: String,
}

/// Marks the results of a message that say they failed.
pub(super) fn mark_failures(message: &mut Message) {
    let Message::ToolMessage(answered) = message else {
        return;
    };
    if !answered.results().any(says_it_failed) {
        return;
    }
    for ToolMessagePart::ToolResultPart(part) in &mut Arc::make_mut(answered).contents {
        if says_it_failed(part) {
            part.is_error = Some(true);
        }
    }
}

/// Tells whether the first text of a result is an object with an error.
fn says_it_failed(part: &ToolResultPart) -> bool {
    let text = part.contents.iter().find_map(|content| match content {
        ToolResultContent::TextPart(part) => Some(part.text.as_str()),
        _ => None,
    });
    // Most results are no object at all, and need not be read as one.
    let object = text.filter(|text| text.trim_start().starts_with('{'));
    object.is_some_and(|text| serde_json::from_str::<FailedResult>(text).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_object_with_an_error_is_a_failure() {
        for (text, expected) in [
            (r#"{"error":"no such file","path":"a"}"#, json!(true)),
            (" {\"path\": {\"a\": 1}, \"error\": \"\"}\n", json!(true)),
            (r#"{"error":null}"#, json!(null)),
            (r#"{"error":{"code":1}}"#, json!(null)),
            (r#"{"errors":"x"}"#, json!(null)),
            (r#"[{"error":"x"}]"#, json!(null)),
            (r#"{"error":"cut"#, json!(null)),
            ("error: said by a compiler", json!(null)),
        ] {
            let message = json!({"type": "toolMessage", "id": "m", "contents": [{
                "type": "toolResultPart", "id": "r", "toolCallId": "c", "toolName": "exec",
                "contents": [{"type": "textPart", "id": "t", "text": text}],
            }]});
            let mut message: Message = serde_json::from_value(message).unwrap();
            mark_failures(&mut message);
            let marked = serde_json::to_value(&message).unwrap();
            assert_eq!(marked["contents"][0]["isError"], expected, "{text}");
        }
    }
}
