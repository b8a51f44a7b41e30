//! What the lines and documents look like.

use serde::Deserialize;
use serde_json::Value;

use crate::json::{
    PlainFields, Raw, Str, find_special, items, sound_text, wire_shapes, wire_struct,
};
use crate::times::iso_millis;
use crate::verdict::VerdictWord;

wire_struct! {
    /// The tag of a line whose tag does not come first.
    pub(super) struct Head<'a> {
        "type" => tag: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct Init<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "model" => model: Option<Str<'a>>,
        ; known "type"
    }

    pub(super) struct Message<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "role" => role: Option<Str<'a>>,
        "content" => content: Content<'a>,
        "delta" => delta: Option<bool>,
        ; known "type"
    }

    pub(super) struct ToolUse<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "tool_name" => name: Option<Str<'a>>,
        "tool_id" => id: Option<Str<'a>>,
        "parameters" => parameters: Value,
        ; known "type"
    }

    pub(super) struct ToolResult<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "tool_id" => id: Option<Str<'a>>,
        "status" => status: Option<Str<'a>>,
        "output" => output: ToolOutput<'a>,
        "error" => error: Option<ErrorObject<'a>>,
        ; known "type"
    }

    /// An error as results, calls and documents carry it.
    pub(super) struct ErrorObject<'a> {
        "type" => kind: Option<Str<'a>>,
        "message" => message: Option<Str<'a>>,
        "code" => code: Value,
    }

    pub(super) struct ErrorLine<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "severity" => severity: Option<Str<'a>>,
        "message" => message: Value,
        // The older shape has no severity and its text under one of these.
        "error" => error: Value,
        "detail" => detail: Value,
        ; known "type"
    }

    pub(super) struct ResultLine<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "status" => status: VerdictWord<'a>,
        "error" => error: Value,
        "stats" => stats: Raw<'a>,
        // The older shape.
        "subtype" => subtype: VerdictWord<'a>,
        "is_error" | "isError" => is_error: VerdictWord<'a>,
        "message" => message: Value,
        "result" | "text" | "response" | "content" | "output" => answer: Content<'a>,
        "usage" => usage: Value,
        "usageMetadata" | "usage_metadata" => usage_metadata: Value,
        "total_cost_usd" | "cost_usd" | "cost" => cost: Option<f64> as crate::json::number::opt_amount,
        "stopReason" | "stop_reason" | "errorCode" | "error_code" => reason: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "duration_ms" | "durationMs" => duration: Option<u64> as crate::json::number::opt_u64,
        ; known "type"
    }

    /// The totals of stream-json's `stats`, as every version since 0.37 prints them.
    pub(super) struct Totals {
        "total_tokens" => total: Option<u64>,
        "input_tokens" => prompt: Option<u64>,
        "output_tokens" => candidates: Option<u64>,
        "cached" => cached: Option<u64>,
        "input" => input: Option<u64>,
        "duration_ms" => duration: Option<u64>,
        ; known "tool_calls", "models"
    }

    /// What the json format prints: on stdout an answer, on stderr an error.
    pub(super) struct Report<'a> {
        "session_id" | "sessionId" => session: Option<Str<'a>>,
        "response" => response: Option<Str<'a>>,
        "stats" => stats: Value,
        "error" => error: Value,
        "warnings" => warnings: Vec<Str<'a>>,
    }

    /// The older `system`, `assistant`, `user`, `thinking` and `tool_call` lines.
    pub(super) struct Legacy<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "subtype" => subtype: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        "checkpoint_id" | "thread_id" => checkpoint: Option<Str<'a>>,
        "model" => model: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        "message" | "content" => message: Content<'a>,
        "error" => error: Value,
        "detail" => detail: Value,
        "text" => text: Option<Str<'a>>,
        "delta" => delta: Content<'a>,
        "call_id" | "callId" | "id" => id: Option<Str<'a>>,
        "tool_call" | "toolCall" => call: Value,
        "is_error" | "isError" => is_error: Option<bool>,
        ; known "type"
    }

    /// One part of a message in the older shapes, or a part as the model's API has it.
    pub(super) struct Part<'a> {
        "type" => kind: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "thinking" => thinking: Option<Str<'a>>,
        "thought" => thought: Option<bool>,
        "content" | "parts" => content: Content<'a>,
        "name" | "tool" | "tool_name" => name: Option<Str<'a>>,
        "tool_use_id" | "toolUseId" | "call_id" | "callId" | "tool_id" | "id" => id: Option<Str<'a>>,
        "input" | "arguments" | "args" | "parameters" => input: Value,
        "output" | "result" | "response" => output: ToolOutput<'a>,
        "is_error" | "isError" => is_error: Option<bool>,
        "status" => status: Option<Str<'a>>,
        ; known "role"
    }
}

/// Text, or parts of it: runtimes of all ages put a string, an object or a list in the same place.
#[derive(Clone, Debug, Default)]
pub(super) enum Content<'a> {
    /// Nothing was there.
    #[default]
    Absent,
    /// A string.
    Text(Str<'a>),
    /// A list.
    List(Vec<Content<'a>>),
    /// An object.
    Part(Box<Part<'a>>),
}

impl Content<'_> {
    /// Tells whether nothing was there.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

wire_shapes! {
    Content: "text or parts";
    string text => Content::Text(text);
    // Whether a part is whole or a fragment is a word in one place and a flag in another.
    flag _flag => Content::Absent;
    null => Content::Absent;
    list list => items(list, size_of::<(Content<'de>, Part<'de>)>()).map(Content::List);
    object object => Part::deserialize(object).map(|part| Content::Part(Box::new(part)));
}

/// What a tool gave back: text, or whatever else JSON can say, as it stands.
#[derive(Clone, Debug, Default)]
pub(super) enum ToolOutput<'a> {
    /// Nothing was there.
    #[default]
    Absent,
    /// A string.
    Text(Str<'a>),
    /// Anything else.
    Json(Value),
}

wire_shapes! {
    ToolOutput: "a value";
    string text => ToolOutput::Text(text);
    null => ToolOutput::Absent;
    flag flag => ToolOutput::Json(flag.into());
    number number => ToolOutput::Json(number);
    list_value list => ToolOutput::Json(list);
    object_value object => ToolOutput::Json(object);
}

impl<'a> Init<'a> {
    /// Reads a line as it is printed since 0.37.
    pub(super) fn plain(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = PlainFields::new(sound_text(bytes)?, 0);
        let init = Self {
            timestamp: Some(fields.text("{\"type\":\"init\",\"timestamp\":\"")?),
            session: Some(fields.text(",\"session_id\":\"")?),
            model: Some(fields.text(",\"model\":\"")?),
            unknown: Vec::new(),
        };
        fields.ends_with("}").then_some(init)
    }
}

impl<'a> Message<'a> {
    /// Reads a line as it is printed since 0.37: what the user said, or a fragment.
    pub(super) fn plain(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = PlainFields::new(sound_text(bytes)?, 0);
        let mut message = Self {
            timestamp: Some(fields.text("{\"type\":\"message\",\"timestamp\":\"")?),
            role: Some(fields.text(",\"role\":\"")?),
            content: Content::Text(fields.text(",\"content\":\"")?),
            delta: None,
            unknown: Vec::new(),
        };
        if fields.pass(",\"delta\":true").is_some() {
            message.delta = Some(true);
        }
        fields.ends_with("}").then_some(message)
    }
}

impl<'a> ToolResult<'a> {
    /// Reads a line as it is printed since 0.37, of a call that gave back text, or nothing.
    pub(super) fn plain(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = PlainFields::new(sound_text(bytes)?, 0);
        let mut result = Self {
            timestamp: Some(fields.text("{\"type\":\"tool_result\",\"timestamp\":\"")?),
            id: Some(fields.text(",\"tool_id\":\"")?),
            status: Some(fields.text(",\"status\":\"")?),
            ..Self::default()
        };
        if !fields.ends_with("}") {
            result.output = ToolOutput::Text(fields.text(",\"output\":\"")?);
        }
        fields.ends_with("}").then_some(result)
    }
}

/// Returns the time and the text of a fragment that is printed as 0.61.0 does and has no escapes.
///
/// Most lines are that, and short, so that a reader for any order of keys is most of their cost.
pub(super) fn plain_fragment(bytes: &[u8]) -> Option<(i64, &str)> {
    const TIME: usize = "1970-01-01T00:00:00.000Z".len();
    let rest = bytes.strip_prefix(b"{\"type\":\"message\",\"timestamp\":\"")?;
    let (time, rest) = rest.split_at_checked(TIME)?;
    let rest = rest.strip_prefix(b"\",\"role\":\"assistant\",\"content\":\"")?;
    let (text, rest) = rest.split_at_checked(find_special(rest, 0))?;
    if rest != b"\",\"delta\":true}" {
        return None;
    }
    let time = std::str::from_utf8(time).ok().and_then(iso_millis)?;
    Some((time, sound_text(text)?))
}

/// Returns the tag of an object in which it comes first, as it always does since 0.37.
pub(super) fn leading_tag(bytes: &[u8]) -> Option<&str> {
    let rest = skip(skip(bytes, b"{")?, b"\"type\"")?;
    let rest = skip(skip(rest, b":")?, b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    let (tag, rest) = rest.split_at(end);
    if rest.first() != Some(&b'"') {
        return None;
    }
    std::str::from_utf8(tag).ok()
}

/// Skips white space and then `token`.
pub(super) fn skip<'a>(bytes: &'a [u8], token: &[u8]) -> Option<&'a [u8]> {
    bytes.trim_ascii_start().strip_prefix(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    #[test]
    fn a_tag_that_comes_first_is_found() {
        assert_eq!(leading_tag(br#"{"type":"init","#), Some("init"));
        assert_eq!(leading_tag(br#" { "type" : "init" }"#), Some("init"));
        assert_eq!(leading_tag(br#"{"a":1,"type":"init"}"#), None);
        assert_eq!(leading_tag(br#"{"type":"in"#), None);
        assert_eq!(leading_tag(br#"{"type":1}"#), None);
    }

    #[test]
    fn a_plain_fragment_is_read_as_any_message_is() {
        let table = [
            (
                r#"{"type":"message","timestamp":"1970-01-01T00:00:01.000Z","role":"assistant","content":"a é","delta":true}"#,
                Some("a é"),
            ),
            (
                r#"{"type":"message","timestamp":"1970-01-01T00:00:01.000Z","role":"assistant","content":"","delta":true}"#,
                Some(""),
            ),
            (
                r#"{"type":"message","timestamp":"1970-01-01T00:00:01.000Z","role":"assistant","content":"a\"","delta":true}"#,
                None,
            ),
            (
                r#"{"type":"message","timestamp":"1970-01-01T00:00:01.000Z","role":"assistant","content":"a","delta":false}"#,
                None,
            ),
            (
                r#"{"type":"message","timestamp":"1970-01-01T00:00:01.000Z","role":"user","content":"a","delta":true}"#,
                None,
            ),
            (
                r#"{"type":"message","timestamp":"1970","role":"assistant","content":"a","delta":true}"#,
                None,
            ),
            (
                "{\"type\":\"message\",\"timestamp\":\"1970-01-01T00:00:01.000Z\",\"role\":\"assistant\",\"content\":\"\t\",\"delta\":true}",
                None,
            ),
        ];
        for (line, expected) in table {
            let found = plain_fragment(line.as_bytes());
            assert_eq!(found.map(|(_, text)| text), expected, "{line}");
            if let Some((time, text)) = found {
                let message = decode::<Message<'_>>(line.as_bytes()).unwrap().value;
                assert_eq!(
                    message.timestamp.as_deref().and_then(iso_millis),
                    Some(time)
                );
                assert!(matches!(message.content, Content::Text(content) if content == text));
            }
        }
    }

    #[test]
    fn lines_as_they_are_always_printed_are_read_as_any_are() {
        const TIME: &str = r#""timestamp":"1970-01-01T00:00:01.000Z""#;
        let line = |kind: &str, rest: &str| format!(r#"{{"type":"{kind}",{TIME},{rest}}}"#);
        for (rest, is_plain) in [
            (r#""session_id":"s","model":"m""#, true),
            (r#""model":"m","session_id":"s""#, false),
            (r#""session_id":"s","model":"m","new":1"#, false),
        ] {
            let line = line("init", rest);
            let any = decode::<Init<'_>>(line.as_bytes()).unwrap().value;
            let plain = Init::plain(line.as_bytes());
            assert_eq!(plain.is_some(), is_plain, "{line}");
            assert!(plain.is_none_or(|plain| format!("{plain:?}") == format!("{any:?}")));
        }
        for (rest, is_plain) in [
            (r#""role":"user","content":"a\nb""#, true),
            (r#""role":"assistant","content":"\"","delta":true"#, true),
            (r#""role":"assistant","content":"a","delta":false"#, false),
            (r#""role":"user","content":["a"]"#, false),
        ] {
            let line = line("message", rest);
            let any = decode::<Message<'_>>(line.as_bytes()).unwrap().value;
            let plain = Message::plain(line.as_bytes());
            assert_eq!(plain.is_some(), is_plain, "{line}");
            assert!(plain.is_none_or(|plain| format!("{plain:?}") == format!("{any:?}")));
        }
        for (rest, is_plain) in [
            (r#""tool_id":"i","status":"success""#, true),
            (r#""tool_id":"i","status":"success","output":"a\n""#, true),
            (
                r#""tool_id":"i","status":"success","output":{"a":1}"#,
                false,
            ),
            (
                r#""tool_id":"i","status":"error","output":"a","error":{}"#,
                false,
            ),
        ] {
            let line = line("tool_result", rest);
            let any = decode::<ToolResult<'_>>(line.as_bytes()).unwrap().value;
            let plain = ToolResult::plain(line.as_bytes());
            assert_eq!(plain.is_some(), is_plain, "{line}");
            assert!(plain.is_none_or(|plain| format!("{plain:?}") == format!("{any:?}")));
        }
    }

    #[test]
    fn content_may_be_a_string_an_object_or_a_list() {
        let read = |text: &str| {
            let decoded = decode::<Message<'_>>(text.as_bytes()).unwrap();
            assert!(decoded.faults.is_empty(), "{text}");
            format!("{:?}", decoded.value.content)
        };
        assert_eq!(read(r#"{"content":"a"}"#), r#"Text("a")"#);
        assert_eq!(read(r#"{"content":null}"#), "Absent");
        assert_eq!(read(r#"{"content":["a"]}"#), r#"List([Text("a")])"#);
        assert!(read(r#"{"content":{"text":"a"}}"#).starts_with("Part("));
    }
}
