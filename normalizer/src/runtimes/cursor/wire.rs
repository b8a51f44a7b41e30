//! Events as they are printed, but for tool calls.

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::Value;

use crate::json::{Str, items, number, wire_shapes, wire_struct};
use crate::verdict::VerdictWord;

wire_struct! {
    /// What tells an event from other JSON.
    pub(super) struct Head<'a> {
        "type" => tag: Option<Str<'a>>,
        "subtype" => subtype: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "call_id" => call: bool as present,
        "tool_call" => tool_call: bool as present,
        ; rest skipped
    }
}

/// Reads whether a key is there, whatever it holds.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

wire_struct! {
    pub(super) struct System<'a> {
        "subtype" => subtype: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "model" => model: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        "apiKeySource" => api_key_source: Option<Str<'a>>,
        "permissionMode" => permission_mode: Option<Str<'a>>,
        "timestamp_ms" => at: Option<u64> as number::opt_u64,
        ; known "type"
    }

    pub(super) struct User<'a> {
        "message" => message: Option<Message<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "timestamp_ms" => at: Option<u64> as number::opt_u64,
        ; known "type", "subtype"
    }

    pub(super) struct Assistant<'a> {
        "message" => message: Option<Message<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "model_call_id" => key: Option<Str<'a>>,
        "timestamp_ms" => at: Option<u64> as number::opt_u64,
        ; known "type", "subtype"
    }

    pub(super) struct Thinking<'a> {
        "subtype" => subtype: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "timestamp_ms" => at: Option<u64> as number::opt_u64,
        ; known "type", "model_call_id"
    }

    pub(super) struct Connection<'a> {
        "subtype" => subtype: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "attempt" => attempt: Option<u64> as number::opt_u64,
        "endpoint_url" => endpoint: Option<Str<'a>>,
        "is_resume" => is_resume: Option<bool>,
        "timestamp_ms" => at: Option<u64> as number::opt_u64,
        ; known "type"
    }

    pub(super) struct Interaction<'a> {
        "subtype" => subtype: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "query_type" => query_type: Option<Str<'a>>,
        "query" => query: Value,
        "response" => response: Value,
        "timestamp_ms" => at: Option<u64> as number::opt_u64,
        ; known "type"
    }

    pub(super) struct FinalResult<'a> {
        "subtype" => subtype: VerdictWord<'a>,
        "is_error" => is_error: VerdictWord<'a>,
        "result" => result: Option<Str<'a>>,
        "error" => error: Value,
        "errors" => errors: Value,
        "message" => message: Value,
        "detail" => detail: Value,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "request_id" => request: Option<Str<'a>>,
        "duration_ms" => duration_ms: Option<u64> as number::opt_u64,
        "duration_api_ms" => duration_api_ms: Option<u64> as number::opt_u64,
        "usage" => usage: Value,
        "total_cost_usd" | "cost_usd" | "cost" => cost: Option<f64> as number::opt_amount,
        "timestamp_ms" => at: Option<u64> as number::opt_u64,
        ; known "type"
    }
}

/// A message: an object with content, or plain text.
#[derive(Clone, Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) content: Content<'a>,
    /// Keys that were there and are not known.
    pub(super) unknown: Vec<Box<str>>,
}

/// A list of blocks. Plain text is a list of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Content<'a>(pub(super) Vec<MessageBlock<'a>>);

wire_struct! {
    struct MessageFields<'a> {
        "content" => content: Content<'a>,
        "text" => text: Option<Str<'a>>,
        ; known "role", "id", "model", "type"
    }

    /// A block of a message. Recordings have only text; the others are what parsers of other
    /// projects expect here, in the shapes they expect.
    pub(super) struct MessageBlock<'a> {
        "type" => kind: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "thinking" => thinking: Option<Str<'a>>,
        "signature" | "data" => signature: Option<Str<'a>>,
        "id" | "tool_use_id" | "toolUseId" | "call_id" => id: Option<Str<'a>>,
        "name" | "tool" => name: Option<Str<'a>>,
        "input" | "arguments" | "args" => input: Value,
        "output" | "result" | "content" => output: Value,
        "is_error" => is_error: Option<bool>,
        "status" => status: Option<Str<'a>>,
    }
}

impl<'a> From<Str<'a>> for MessageBlock<'a> {
    fn from(text: Str<'a>) -> Self {
        Self {
            kind: Some("text".into()),
            text: Some(text),
            ..Self::default()
        }
    }
}

wire_shapes! {
    Message: "a message or a string";
    string text => Message {
        content: Content(vec![text.into()]),
        unknown: Vec::new(),
    };
    object object => {
        let fields = MessageFields::deserialize(object)?;
        let mut content = fields.content;
        if let (Some(text), true) = (fields.text, content.0.is_empty()) {
            content.0.push(text.into());
        }
        Ok(Message {
            content,
            unknown: fields.unknown,
        })
    };
}

wire_shapes! {
    Content: "a list of blocks or a string";
    string text => Content(vec![text.into()]);
    list list => items(list, size_of::<MessageBlock<'de>>()).map(Content);
}

/// Reads the `type`, and the `subtype` if it follows, of an event that begins with them, as all
/// events of the CLI do. Otherwise, or with escapes in them, `None`.
pub(super) fn tags(event: &[u8]) -> (Option<&str>, Option<&str>) {
    let Some((tag, rest)) = event
        .strip_prefix(b"{")
        .and_then(|rest| field(rest, b"\"type\""))
    else {
        return (None, None);
    };
    let rest = rest.trim_ascii_start().strip_prefix(b",");
    let subtype = rest.and_then(|rest| field(rest, b"\"subtype\""));
    (Some(tag), subtype.map(|(subtype, _)| subtype))
}

/// Reads a key and the plain string that follows it; returns the string and what is behind it.
fn field<'a>(text: &'a [u8], key: &[u8]) -> Option<(&'a str, &'a [u8])> {
    let text = text
        .trim_ascii_start()
        .strip_prefix(key)?
        .trim_ascii_start();
    let text = text
        .strip_prefix(b":")?
        .trim_ascii_start()
        .strip_prefix(b"\"")?;
    let end = text
        .iter()
        .position(|byte| !matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'_'))?;
    let (value, rest) = text.split_at(end);
    Some((str::from_utf8(value).ok()?, rest.strip_prefix(b"\"")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_from_the_beginning() {
        let table = [
            (
                r#"{"type":"thinking","subtype":"delta","text":"x"}"#,
                (Some("thinking"), Some("delta")),
            ),
            (
                r#"{ "type" : "assistant", "message":{}}"#,
                (Some("assistant"), None),
            ),
            (
                r#"{"type":"tool_call","call_id":"x","subtype":"started"}"#,
                (Some("tool_call"), None),
            ),
            (r#"{"subtype":"init","type":"system"}"#, (None, None)),
            (r#"{"type":"caf\u00e9"}"#, (None, None)),
            (r#"{"type":"resu"#, (None, None)),
            (
                r#"{"type":"result","subtype":"succ"#,
                (Some("result"), None),
            ),
            (r#"{"type":5}"#, (None, None)),
            ("", (None, None)),
        ];
        for (event, expected) in table {
            assert_eq!(tags(event.as_bytes()), expected, "{event}");
        }
    }

    #[test]
    fn a_message_may_be_plain_text_at_either_level() {
        let read = |text: &'static str| serde_json::from_str::<Message<'_>>(text).unwrap();
        let texts = |message: &Message<'_>| -> Vec<String> {
            let blocks = message.content.0.iter();
            blocks
                .map(|block| block.text.as_deref().unwrap_or("-").to_owned())
                .collect()
        };
        assert_eq!(texts(&read(r#""a\nb""#)), ["a\nb"]);
        assert_eq!(texts(&read(r#"{"role":"user","content":"a"}"#)), ["a"]);
        assert_eq!(texts(&read(r#"{"text":"a"}"#)), ["a"]);
        assert_eq!(
            texts(&read(
                r#"{"content":[{"type":"text","text":"a"},{"type":"x"}]}"#
            )),
            ["a", "-"]
        );
        let message = read(r#"{"role":"assistant","new":1,"content":[]}"#);
        assert_eq!(message.unknown, ["new".into()]);
    }
}
