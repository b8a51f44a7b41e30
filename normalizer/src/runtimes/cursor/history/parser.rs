//! The messages of one run.

use serde_json::Value;

use super::blob::{ChatMessage, blob, meta};
use super::words::{query, tool};
use crate::history::{LastWord, LineReader, judge, table_of};
use crate::json::DecodeError;
use crate::parser::SignalSink;
use crate::runtimes::cursor::tools::detail;
use crate::session_id::is_word_with_digit;
use crate::signal::{Block, CallRef, Signal};

/// Reads the messages of one run.
#[derive(Default)]
pub(super) struct ChatParser {
    has_answer: bool,
}

impl LineReader for ChatParser {
    fn on_line(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        match table_of(bytes) {
            Some("meta") => on_meta(bytes, out),
            Some("blobs") => match blob(bytes).and_then(|blob| blob.message) {
                Some(message) => self.on_message(message, out),
                None => out.unparsed(Some("blobs"), "a blob without a message"),
            },
            table => out.unparsed(table, "a row of an unknown table"),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut SignalSink<'_>) {
        judge(
            if self.has_answer {
                LastWord::Answer { is_proven: false }
            } else {
                LastWord::Open
            },
            out,
        );
    }
}

fn on_meta(bytes: &[u8], out: &mut SignalSink<'_>) {
    let Some(meta) = meta(bytes) else {
        return out.unparsed(Some("meta"), "value: no object");
    };
    out.set_millis(meta.created_at);
    if let Some(agent) = meta.agent.filter(|agent| is_word_with_digit(agent)) {
        out.emit(Signal::Session(&agent));
    }
    if let Some(model) = meta.model.filter(|model| !model.is_empty()) {
        out.emit(Signal::Model(&model));
    }
}

impl ChatParser {
    fn on_message(&mut self, message: ChatMessage, out: &mut SignalSink<'_>) {
        match message.role.as_str() {
            "user" => {
                if let Some(text) = query(&message.text()) {
                    self.has_answer = false;
                    out.emit(Signal::User(text.to_owned().into()));
                }
            }
            "assistant" => {
                out.emit(Signal::Step(None));
                self.has_answer = true;
                for part in message.into_parts() {
                    self.on_part(part, out);
                }
            }
            "tool" => {
                self.has_answer = false;
                for part in message.into_parts() {
                    on_result(part, out);
                }
            }
            "system" => {}
            role => out.unparsed(Some(role), "a message of an unknown role"),
        }
    }

    fn on_part(&mut self, mut part: Value, out: &mut SignalSink<'_>) {
        let kind = text(&part, "type").unwrap_or_default();
        match (kind.as_str(), part.get_mut("text").map(Value::take)) {
            ("text", Some(Value::String(text))) => out.emit(Signal::Text(text.into())),
            ("reasoning", Some(Value::String(text))) => out.emit(Signal::Thinking {
                text: text.into(),
                signature: None,
            }),
            // What was withheld.
            ("redacted-reasoning", _) => {}
            ("tool-call", _) => {
                self.has_answer = false;
                let Some(id) = text(&part, "toolCallId") else {
                    return out.unparsed(Some(&kind), "toolCallId: missing");
                };
                let name = text(&part, "toolName").unwrap_or_default();
                let name = tool(&name).to_owned();
                let input = part.get_mut("args").map(Value::take).unwrap_or_default();
                out.emit(Signal::ToolCall {
                    call: CallRef::Printed(&id),
                    detail: detail(&name, &input),
                    name: name.into(),
                    input,
                });
            }
            _ => out.unparsed(Some(&kind), "a part of unknown type"),
        }
    }
}

fn on_result(mut part: Value, out: &mut SignalSink<'_>) {
    let Some(id) = text(&part, "toolCallId") else {
        return out.unparsed(Some("tool-result"), "toolCallId: missing");
    };
    let name = text(&part, "toolName").map(|name| tool(&name).to_owned());
    let content = match part.get_mut("result").map(Value::take) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![Block::Text(text.into())],
        Some(other) => vec![Block::Text(other.to_string().into())],
    };
    out.emit(Signal::ToolResult {
        call: CallRef::Printed(&id),
        name: name.map(Into::into),
        content,
        is_error: None,
        duration_ms: None,
    });
}

fn text(part: &Value, key: &str) -> Option<String> {
    part.get(key)?.as_str().map(str::to_owned)
}
