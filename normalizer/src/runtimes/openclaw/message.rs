//! Messages inside frames and rows.

use serde_json::Value;

/// The heading of reasoning that older gateways put into italics for people to read.
const REASONING: &str = "Reasoning:\n";

/// Returns the text of a message: its string, or its text blocks one after the other.
pub(super) fn text(message: &Value) -> Option<String> {
    match message.get("content") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(blocks)) => {
            let texts: Vec<&str> = blocks.iter().filter_map(block_text).collect();
            (!texts.is_empty()).then(|| texts.concat())
        }
        _ => field(message, "text").map(str::to_owned),
    }
}

/// Returns the text of a text block.
pub(super) fn block_text(block: &Value) -> Option<&str> {
    field(block, "text").filter(|_| field(block, "type") == Some("text"))
}

/// Tells whether the gateway speaks, and not the model.
pub(super) fn is_status_notice(message: &Value) -> bool {
    let blocks = message.get("content").and_then(Value::as_array);
    let mut blocks = blocks.into_iter().flatten();
    blocks.any(|block| block.get("openclawStatusNotice") == Some(&Value::Bool(true)))
}

/// Returns a field that is a text.
pub(super) fn field<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// Returns reasoning without what an older gateway wraps around each line of it, anew in each
/// frame; `None` for reasoning that is sent as it is.
pub(super) fn unwrapped(reasoning: &str) -> Option<String> {
    let lines = reasoning.strip_prefix(REASONING)?;
    let bare = |line: &str| {
        let inner = line
            .strip_prefix('_')
            .and_then(|line| line.strip_suffix('_'));
        inner.unwrap_or(line).to_owned()
    };
    Some(lines.split('\n').map(bare).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_of_a_message_is_that_of_its_text_blocks() {
        let blocks = json!({"content": [{"type": "text", "text": "a"}, {"type": "image"},
            {"type": "text", "text": "b"}], "text": "c"});
        assert_eq!(text(&blocks).as_deref(), Some("ab"));
        assert_eq!(text(&json!({"content": "x"})).as_deref(), Some("x"));
        assert_eq!(text(&json!({"text": "y"})).as_deref(), Some("y"));
        assert_eq!(text(&json!({"content": [{"type": "toolCall"}]})), None);
        assert_eq!(text(&Value::Null), None);
    }

    #[test]
    fn reasoning_is_unwrapped_only_where_it_was_wrapped() {
        let wrapped = "Reasoning:\n_The user asks._\n\n_So I say _so_._";
        assert_eq!(
            unwrapped(wrapped).as_deref(),
            Some("The user asks.\n\nSo I say _so_.")
        );
        assert_eq!(unwrapped("_as it is_"), None);
    }

    #[test]
    fn a_status_notice_is_known_by_its_block() {
        let notice =
            json!({"content": [{"type": "text", "text": "x", "openclawStatusNotice": true}]});
        assert!(is_status_notice(&notice));
        assert!(!is_status_notice(
            &json!({"content": [{"type": "text", "text": "x"}]})
        ));
        assert!(!is_status_notice(&json!({"content": "x"})));
    }
}
