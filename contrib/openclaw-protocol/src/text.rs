//! The text a message shows.

use serde_json::Value;

use super::envelope::{strip_approval_policy, strip_envelope};
use super::javascript::{strip_prefix_ignoring_case, trim_start};
use super::tags::tags;

/// How an assistant says that it answers the current message.
const REPLY_PREFIXES: [&str; 2] = ["[[reply_to_current]]", "[reply_to_current]"];

/// Returns the text a message shows, or nothing if it has none.
///
/// An assistant's text loses its thinking tags and its reply marker; any other loses the channel's
/// envelope and the approval policy that hosts append.
///
/// ```
/// use runtape_openclaw_protocol::extract_text;
/// use serde_json::json;
///
/// let message = json!({"role": "assistant", "content": "<think>hm</think> Done."});
/// assert_eq!(extract_text(&message).as_deref(), Some("Done."));
/// ```
#[must_use]
pub fn extract_text(message: &Value) -> Option<String> {
    let raw = raw_text(message)?;
    let is_assistant = message.get("role").and_then(Value::as_str) == Some("assistant");
    Some(if is_assistant {
        strip_reply_prefix(&strip_thinking_tags(&raw)).to_owned()
    } else {
        strip_approval_policy(strip_envelope(&raw)).to_owned()
    })
}

/// Returns the text of a message as it was sent, from its content or else from its `text`.
pub fn raw_text(message: &Value) -> Option<String> {
    let fields = message.as_object()?;
    match fields.get("content") {
        Some(Value::String(content)) => return Some(content.clone()),
        Some(Value::Array(parts)) => {
            let texts: Vec<_> = parts.iter().filter_map(text_of_part).collect();
            if !texts.is_empty() {
                return Some(texts.join("\n"));
            }
        }
        _ => {}
    }
    fields.get("text")?.as_str().map(str::to_owned)
}

fn text_of_part(part: &Value) -> Option<&str> {
    let fields = part.as_object()?;
    if fields.get("type")?.as_str()? != "text" {
        return None;
    }
    fields.get("text")?.as_str()
}

/// Removes thinking from an assistant's text.
///
/// With both openers and closers around, what stands between them goes. With only one kind, just
/// the first tag goes: while a thought is still streaming in, it is shown.
fn strip_thinking_tags(text: &str) -> String {
    let hidden: Vec<_> = tags(text)
        .filter(|tag| tag.name.is_hidden_from_text())
        .collect();
    let Some(first) = hidden.first() else {
        return text.to_owned();
    };
    let slice = |start, end| text.get(start..end).unwrap_or_default();
    let mut shown = String::with_capacity(text.len());
    if hidden.iter().all(|tag| tag.is_opener == first.is_opener) {
        shown.push_str(slice(0, first.start));
        shown.push_str(slice(first.end, text.len()));
    } else {
        let mut is_thinking = false;
        let mut last_end = 0;
        for tag in &hidden {
            if !is_thinking {
                shown.push_str(slice(last_end, tag.start));
            }
            is_thinking = tag.is_opener;
            last_end = tag.end;
        }
        if !is_thinking {
            shown.push_str(slice(last_end, text.len()));
        }
    }
    trim_start(&shown).to_owned()
}

fn strip_reply_prefix(text: &str) -> &str {
    let Some(reply) = REPLY_PREFIXES
        .iter()
        .find_map(|prefix| strip_prefix_ignoring_case(text, prefix))
    else {
        return text;
    };
    let reply = trim_start(reply);
    trim_start(reply.strip_prefix('|').unwrap_or(reply))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn raw_text_is_looked_up_in_content_then_in_text() {
        let part = |text: &str| json!({"type": "text", "text": text});
        let cases = [
            ("string", json!({"content": "a", "text": "b"}), Some("a")),
            (
                "empty string",
                json!({"content": "", "text": "b"}),
                Some(""),
            ),
            (
                "parts",
                json!({"content": [part("a"), part("b")]}),
                Some("a\nb"),
            ),
            (
                "empty part",
                json!({"content": [part("")], "text": "b"}),
                Some(""),
            ),
            (
                "other parts",
                json!({"content": [null, "x", 5, ["x"], {"type": "text", "text": 5},
                    {"type": "Text", "text": "x"}, {"type": "image"}, part("a")]}),
                Some("a"),
            ),
            (
                "no text part",
                json!({"content": [{"type": "image"}], "text": "b"}),
                Some("b"),
            ),
            (
                "empty content",
                json!({"content": [], "text": ""}),
                Some(""),
            ),
            ("object content", json!({"content": {"text": "a"}}), None),
            ("text of another type", json!({"text": ["a"]}), None),
            ("array message", json!([{"text": "a"}]), None),
            ("string message", json!("a"), None),
            ("null message", Value::Null, None),
        ];
        for (name, message, expected) in cases {
            assert_eq!(raw_text(&message).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn an_assistants_text_loses_thinking_and_reply_marker() {
        let cases = [
            ("no tags", " a ", " a "),
            ("pair", "a <think>b</think> c", "a  c"),
            ("names need not agree", "<think>a</analysis>b", "b"),
            (
                "nesting is not counted",
                "<think>a<think>b</think>c</think>d",
                "cd",
            ),
            ("closer first", "a</think>b<think>c", "ab"),
            ("only closers", "a</think> b</think>c", "a b</think>c"),
            ("only openers", " <think>a<analysis>b", "a<analysis>b"),
            ("open tail is dropped", "a<think>b</think>c<think>d", "ac"),
            ("spaced and shouted", "< THINK >a< / Think >\u{feff} b", "b"),
            (
                "stream names stay",
                "<thought>a</thought>",
                "<thought>a</thought>",
            ),
            ("reply", "[[reply_to_current]] a", "a"),
            ("single brackets", "[Reply_To_Current]a", "a"),
            ("reply with pipe", "[[reply_to_current]] | a", "a"),
            ("one pipe only", "[[reply_to_current]]|| a", "| a"),
            (
                "once only",
                "[reply_to_current][reply_to_current] a",
                "[reply_to_current] a",
            ),
            (
                "space before",
                " [[reply_to_current]] a",
                " [[reply_to_current]] a",
            ),
            (
                "space trimmed with tags",
                "<think>x</think> [[reply_to_current]] a",
                "a",
            ),
            (
                "mixed brackets",
                "[[reply_to_current] a",
                "[[reply_to_current] a",
            ),
        ];
        for (name, content, expected) in cases {
            let message = json!({"role": "assistant", "content": content});
            assert_eq!(extract_text(&message).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn any_other_role_loses_its_envelope() {
        for role in [json!("user"), json!("Assistant"), json!(5), Value::Null] {
            let message = json!({"role": role, "content": "[Slack u] <think>a</think>b"});
            assert_eq!(extract_text(&message).as_deref(), Some("<think>a</think>b"));
        }
    }
}
