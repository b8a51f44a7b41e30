//! Messages inside frames.

use std::borrow::Cow;

use serde_json::Value;

use runtape_openclaw_protocol::{extract_text, extract_thinking, raw_text};

/// Kinds of blocks that hold reasoning.
const THINKING: [&str; 3] = ["thinking", "analysis", "reasoning"];

/// Where reasoning is, in a block of it or on the message itself.
const THINKING_KEYS: [&str; 3] = ["thinking", "analysis", "reasoning"];

/// The tags around reasoning inside a text, as far as they must be there to be known.
const THINKING_TAGS: [&str; 3] = ["think", "thinking", "analysis"];

/// How an answer may begin that is not meant to be shown.
const REPLY_MARKERS: [&str; 2] = ["[[reply_to_current]]", "[reply_to_current]"];

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role<'a> {
    Assistant,
    User,
    Tool,
    Other(&'a str),
}

/// Returns who said a message. In the frames of an answer, one without a role is the agent's.
pub(super) fn role(message: &Value) -> Role<'_> {
    match message.get("role").and_then(Value::as_str) {
        Some("assistant") | None => Role::Assistant,
        Some("user") => Role::User,
        Some("tool" | "toolResult") => Role::Tool,
        Some(other) => Role::Other(other),
    }
}

/// Returns the text of a message, as it was sent.
pub(super) fn text(message: &Value) -> Option<String> {
    raw_text(message)
}

/// Returns what a user said, without what channels and hosts put around it.
pub(super) fn user_text(message: &Value) -> Option<String> {
    extract_text(message)
}

/// Returns the reasoning that a message has in fields of its own, exactly.
pub(super) fn thinking(message: &Value) -> Option<String> {
    let in_fields = |value: &Value| {
        let mut texts = THINKING_KEYS
            .iter()
            .filter_map(|key| value.get(*key)?.as_str());
        texts.find(|text| !text.is_empty()).map(str::to_owned)
    };
    let blocks = message.get("content").and_then(Value::as_array);
    let texts: Vec<String> = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| {
            let kind = block
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if !THINKING.contains(&kind) {
                return None;
            }
            in_fields(block).or_else(|| Some(block.get("text")?.as_str()?.to_owned()))
        })
        .collect();
    if texts.is_empty() {
        in_fields(message)
    } else {
        Some(texts.join("\n"))
    }
}

/// Tells whether a text begins to look like a marker that is not shown, and may still become one.
pub(super) fn may_be_marker(text: &str) -> bool {
    REPLY_MARKERS.iter().any(|marker| {
        let head = marker.as_bytes().get(..text.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(text.as_bytes()))
    })
}

/// Returns a text without the end of it that may still become a tag around reasoning.
pub(super) fn before_half_tag(text: &str) -> &str {
    let Some((before, tag)) = text.rsplit_once('<') else {
        return text;
    };
    let name = tag.trim_start();
    let name = name.strip_prefix('/').unwrap_or(name).trim_start();
    let is_half = THINKING_TAGS.iter().any(|tag| {
        let head = tag.as_bytes().get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
    });
    if is_half { before } else { text }
}

/// A message whose text holds reasoning in tags, or markers that are not shown.
pub(super) struct Tagged {
    pub(super) thinking: Option<String>,
    pub(super) text: String,
}

/// Takes such a message apart; `None` for one that is shown as it was sent.
pub(super) fn tagged(message: &Value) -> Option<Tagged> {
    let raw = raw_text(message)?;
    let message = with_role(message);
    let text = extract_text(&message)?;
    (text != raw).then(|| Tagged {
        thinking: extract_thinking(&message),
        text,
    })
}

/// Returns the message with the role that it has here.
fn with_role(message: &Value) -> Cow<'_, Value> {
    match message {
        Value::Object(fields) if !fields.contains_key("role") => {
            let mut fields = fields.clone();
            fields.insert("role".to_owned(), "assistant".into());
            Cow::Owned(Value::Object(fields))
        }
        other => Cow::Borrowed(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reasoning_in_fields_is_exact() {
        let blocks = json!({"content": [
            {"type": "thinking", "thinking": " a \n"},
            {"type": "reasoning", "text": "b"},
            {"type": "text", "text": "c"},
        ]});
        assert_eq!(thinking(&blocks).as_deref(), Some(" a \n\nb"));
        assert_eq!(thinking(&json!({"reasoning": " x"})).as_deref(), Some(" x"));
        assert_eq!(thinking(&json!({"content": "x"})), None);
    }

    #[test]
    fn tags_and_markers_are_taken_out_and_nothing_else() {
        let found = tagged(&json!({"content": "<think>a</think>b"})).unwrap();
        assert_eq!(
            (found.thinking.as_deref(), found.text.as_str()),
            (Some("a"), "b")
        );
        assert!(tagged(&json!({"content": "  plain <b>\n"})).is_none());
        assert!(may_be_marker("[[reply_") && may_be_marker("[") && may_be_marker(""));
        assert!(!may_be_marker("[1]"));
        assert_eq!(before_half_tag("a <th"), "a ");
        assert_eq!(before_half_tag("a </"), "a ");
        assert_eq!(before_half_tag("a < b"), "a < b");
        assert_eq!(before_half_tag("a <b> <table"), "a <b> <table");
    }
}
