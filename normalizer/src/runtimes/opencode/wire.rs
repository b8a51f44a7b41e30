//! What the events look like.

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use crate::framing::events_or_text::quoted;
use crate::json::{Raw, Str, number, wire_struct};
use crate::verdict::VerdictWord;

wire_struct! {
    /// What every event has.
    pub(super) struct Head<'a> {
        "type" => tag: Option<Str<'a>>,
        "timestamp" => time: Option<u64> as number::opt_u64,
        "sessionID" => session: Option<Str<'a>>,
        ; rest skipped
    }
}

/// Reads the head of an event as it is always printed, without a look at the rest, which begins at the
/// place that is returned with it.
pub(super) fn leading_head(text: &str) -> Option<(Head<'_>, usize)> {
    let (tag, rest) = quoted(text.strip_prefix("{\"type\":\"")?)?;
    let rest = rest.strip_prefix(",\"timestamp\":")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (time, rest) = rest.split_at_checked(digits)?;
    // No number begins with a zero.
    let time = Some(time).filter(|time| !time.starts_with('0'))?;
    let time = time.parse().ok()?;
    let (session, rest) = quoted(rest.strip_prefix(",\"sessionID\":\"")?)?;
    let head = Head {
        tag: Some(tag.into()),
        time: Some(time),
        session: Some(session.into()),
        unknown: Vec::new(),
    };
    Some((head, text.len() - rest.len()))
}

wire_struct! {
    pub(super) struct TextLine<'a> {
        "part" => part: SpokenPart<'a>,
        ; known "type", "timestamp", "sessionID"
    }

    /// The start of a step, a text, or reasoning. One struct for parts of all types would take longer
    /// to hand over than most of them take to read.
    pub(super) struct SpokenPart<'a> {
        "id" => id: Option<Str<'a>>,
        "messageID" => message: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "metadata" => metadata: TextMetadata,
        "synthetic" => is_synthetic: Option<bool>,
        "time" => time: Times,
        ; known "sessionID", "type", "snapshot", "ignored"
    }

    pub(super) struct ToolLine<'a> {
        "part" => part: ToolPart<'a>,
        ; known "type", "timestamp", "sessionID"
    }

    /// A tool call and what came of it.
    pub(super) struct ToolPart<'a> {
        "tool" => tool: Option<Str<'a>>,
        "callID" => call: Option<Str<'a>>,
        "messageID" => message: Option<Str<'a>>,
        "state" => state: CallState<'a>,
        ; known "id", "metadata", "sessionID", "type", "time", "snapshot"
    }

    pub(super) struct FinishLine<'a> {
        "part" => part: FinishPart<'a>,
        ; known "type", "timestamp", "sessionID"
    }

    /// The end of a step.
    pub(super) struct FinishPart<'a> {
        "id" => id: Option<Str<'a>>,
        "messageID" => message: Option<Str<'a>>,
        "reason" => reason: VerdictWord<'a>,
        "tokens" => tokens: Raw<'a>,
        "cost" => cost: Option<f64> as number::opt_amount,
        ; known "sessionID", "type", "time", "snapshot"
    }

    /// What the CLI says of a text that is its own.
    pub(super) struct TextMetadata {
        "compaction_continue" => is_compaction: Option<bool>,
        ; rest skipped
    }

    /// What came of a tool call.
    pub(super) struct CallState<'a> {
        "status" => status: VerdictWord<'a>,
        "input" => input: Value,
        "output" => output: Option<Str<'a>>,
        "error" => error: Option<Str<'a>>,
        "metadata" => metadata: ToolMetadata<'a>,
        "attachments" => attachments: Vec<Attachment<'a>>,
        "time" => time: Times,
        ; known "title", "raw"
    }

    /// What a tool says of itself beside its output: each has its own.
    pub(super) struct ToolMetadata<'a> {
        "exit" => exit: Option<Value> as present,
        "sessionId" | "sessionID" => session: Option<Str<'a>>,
        ; rest skipped
    }
}

/// Reads whatever is there: a command that was ended has null for its exit code.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

wire_struct! {
    pub(super) struct Attachment<'a> {
        "mime" => mime: Option<Str<'a>>,
        "url" => url: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct Times {
        "start" => start: Option<u64> as number::opt_u64,
        "end" => end: Option<u64> as number::opt_u64,
        ; known "compacted"
    }

    /// The tokens of a step.
    pub(super) struct Tokens {
        "input" => input: Option<u64> as number::opt_u64,
        "output" => output: Option<u64> as number::opt_u64,
        "reasoning" => reasoning: Option<u64> as number::opt_u64,
        "cache" => cache: Cache,
        ; known "total"
    }

    pub(super) struct Cache {
        "read" => read: Option<u64> as number::opt_u64,
        "write" => write: Option<u64> as number::opt_u64,
    }

    pub(super) struct ErrorLine {
        "error" => error: Value,
        ; known "type", "timestamp", "sessionID"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    #[test]
    fn the_head_of_an_event_is_read_either_way() {
        let line = r#"{"type":"text","timestamp":1794827797451,"sessionID":"ses_x","part":{}}"#;
        let (quick, rest) = leading_head(line).unwrap();
        assert!(line.get(rest..).unwrap().starts_with(",\"part\""));
        let slow = decode::<Head<'_>>(line.as_bytes()).unwrap().value;
        for head in [quick, slow] {
            assert_eq!(head.tag.as_deref(), Some("text"));
            assert_eq!(head.time, Some(1_794_827_797_451));
            assert_eq!(head.session.as_deref(), Some("ses_x"));
        }
        for other in [
            r#"{"timestamp":1,"type":"text"}"#,
            r#"{"type":"text","timestamp":1.5,"sessionID":"x"}"#,
            r#"{"type":"text","timestamp":,"sessionID":"x"}"#,
        ] {
            assert!(leading_head(other).is_none());
        }
    }
}
