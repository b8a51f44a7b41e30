//! The stream-json format: one message a line, the model's text in fragments without an end mark.

use std::borrow::Cow;
use std::collections::HashSet;

use runtape_core::ToolCallId;
use runtape_core::runtime_event::{Info, PermissionDenied};
use serde_json::Value;

use super::failure::Stated;
use super::result::Failure;
use super::wire::{
    Content, Head, Init, Message, ToolOutput, ToolResult, ToolUse, leading_tag, plain_fragment,
};
use super::{session_id, tools};
use crate::framing::cut_json::supply_end;
use crate::framing::each_value;
use crate::json::{DecodeError, Str, decode};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Block, Scope, Signal};
use crate::unnamed_calls::UnnamedCalls;

/// What a run of fragments is open for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OpenPart {
    #[default]
    None,
    Text,
    Thinking,
}

/// Reads stream-json, current and older.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that was said or was not"
)]
pub(super) struct StreamJson {
    /// A message was understood, so this is the format.
    pub(super) is_sure: bool,
    pub(super) has_session: bool,
    /// The message that is open has nothing but reasoning.
    pub(super) has_only_thought: bool,
    /// What it did last was to say something.
    pub(super) has_answered: bool,
    /// Calls of the older shape that were started and are not completed.
    pub(super) started: HashSet<Box<str>>,
    pub(super) unnamed: UnnamedCalls,
    /// What fragments are appended to.
    pub(super) open: OpenPart,
    /// What the model says next belongs to the message that is open. Its calls run when it is
    /// complete, so a tool's result ends it, and a further user message or an error does.
    pub(super) step_open: bool,
    /// The last error line since the last result, and whether nothing came after it.
    pub(super) error: Option<Stated>,
    pub(super) error_is_last: bool,
    /// A result was the last word.
    pub(super) has_ended: bool,
    /// A result that failed. It is held back because the exit code may say more about it.
    pub(super) failure: Option<Failure>,
}

impl StreamJson {
    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if let Some((time, text)) = plain_fragment(line.bytes) {
            out.set_time(time);
            self.is_sure = true;
            self.on_fragment(Str::from(text), out);
            return;
        }
        // Nearly every other line is one sound message, so it is read as that first.
        if line.bytes.first() == Some(&b'{') && self.on_value(line.bytes, out).is_ok() {
            return;
        }
        each_value(line.bytes, out, |bytes, out| {
            if let Err(error) = self.on_value(bytes, out) {
                self.on_unreadable(bytes, &error, line.ending == Ending::None, out);
            }
        });
    }

    fn on_value(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let head;
        let tag = if let Some(tag) = leading_tag(bytes) {
            tag
        } else {
            head = match decode::<Head<'_>>(bytes) {
                Ok(decoded) => decoded.value.tag,
                Err(DecodeError::Shape { .. }) => None,
                Err(error) => return Err(error),
            };
            head.as_deref().unwrap_or_default()
        };
        match tag {
            "message" => {
                let message = match Message::plain(bytes) {
                    Some(message) => message,
                    None => out.read(tag, bytes)?,
                };
                self.on_message(message, out);
            }
            "tool_use" => self.on_tool_use(out.read(tag, bytes)?, out),
            "tool_result" => {
                let result = match ToolResult::plain(bytes) {
                    Some(result) => result,
                    None => out.read(tag, bytes)?,
                };
                self.on_tool_result(result, out);
            }
            "init" => {
                let init = match Init::plain(bytes) {
                    Some(init) => init,
                    None => out.read(tag, bytes)?,
                };
                self.on_init(&init, out);
            }
            "error" => self.on_error(&out.read(tag, bytes)?, out),
            "result" => self.on_result(out.read(tag, bytes)?, out),
            "system" | "assistant" | "user" | "thinking" | "tool_call" => {
                self.on_legacy(tag, out.read(tag, bytes)?, out);
            }
            _ => {
                decode::<serde::de::IgnoredAny>(bytes)?;
                match tag {
                    "" => out.unparsed(None, "a message without a type"),
                    tag => out.unparsed(Some(tag), "a message of unknown type"),
                }
                return Ok(());
            }
        }
        self.is_sure = true;
        Ok(())
    }

    fn on_init(&mut self, init: &Init<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(init.timestamp.as_deref());
        out.unknown_keys("init", &init.unknown);
        self.open_turn(out);
        self.on_session(init.session.as_deref(), out);
        if let Some(model) = init.model.as_deref().filter(|model| !model.is_empty()) {
            out.emit(Signal::Model(model));
        }
    }

    pub(super) fn on_session(&mut self, session: Option<&str>, out: &mut SignalSink<'_>) {
        if let Some(session) = session.and_then(session_id) {
            self.has_session = true;
            out.emit(Signal::Session(session));
        }
    }

    fn on_message(&mut self, message: Message<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(message.timestamp.as_deref());
        out.unknown_keys("message", &message.unknown);
        let role = message.role.as_deref().unwrap_or_default();
        match role {
            "assistant" | "model" => match (message.content, message.delta) {
                (Content::Text(text), Some(true)) => self.on_fragment(text, out),
                (content, delta) => self.say(content, delta == Some(true), out),
            },
            "user" => self.on_user(message.content, out),
            "" => out.unparsed(Some("message"), "a message without a role"),
            role => {
                let message = plain_text(message.content);
                let topic = Some(role.to_owned());
                out.event(Info { topic, message });
            }
        }
    }

    pub(super) fn on_user(&mut self, content: Content<'_>, out: &mut SignalSink<'_>) {
        self.open_turn(out);
        out.emit(Signal::User(match content {
            Content::Text(text) => text.into_cow(),
            content => plain_text(content).into(),
        }));
    }

    pub(super) fn on_fragment(&mut self, text: Str<'_>, out: &mut SignalSink<'_>) {
        self.open_step(out);
        self.open_part(OpenPart::Text, out);
        self.has_answered = true;
        self.has_only_thought = false;
        out.emit(Signal::TextDelta(text.into_cow()));
    }

    fn on_tool_use(&mut self, tool: ToolUse<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(tool.timestamp.as_deref());
        out.unknown_keys("tool_use", &tool.unknown);
        let name = tool.name.unwrap_or_default();
        self.call(tool.id.as_deref(), name, tool.parameters, out);
    }

    /// Emits a call of the open message.
    pub(super) fn call(
        &mut self,
        id: Option<&str>,
        name: Str<'_>,
        input: Value,
        out: &mut SignalSink<'_>,
    ) {
        self.open_step(out);
        self.end_part(out);
        self.has_answered = false;
        self.has_only_thought = false;
        let detail = tools::detail(&name, &input);
        let call = self.unnamed.call(Scope::Main, id, &name);
        out.emit(Signal::ToolCall {
            call,
            name: name.into_cow(),
            input,
            detail,
        });
    }

    fn on_tool_result(&mut self, result: ToolResult<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(result.timestamp.as_deref());
        out.unknown_keys("tool_result", &result.unknown);
        let id = result.id.as_deref().unwrap_or_default();
        let name = tools::name_in_id(id);
        let error = result.error.unwrap_or_default();
        out.unknown_keys("tool_result.error", &error.unknown);
        let denied = match (error.kind.as_deref(), name) {
            (Some(kind), name) if tools::is_denial(kind, name.unwrap_or_default()) => {
                let message = error.message.as_deref().map(str::to_owned);
                Some((name.unwrap_or("unknown").to_owned(), message))
            }
            _ => None,
        };
        let is_error = match result.status.as_deref() {
            Some("success") => Some(false),
            Some("error") => Some(true),
            _ => (error.kind.is_some() || error.message.is_some()).then_some(true),
        };
        let mut content = blocks(result.output);
        // What is displayed of a failure may say less than the error does, or the same.
        if let Some(message) = error.message
            && content != [Block::Text(Cow::Borrowed(message.as_str()))]
        {
            content.push(Block::Text(message.into_cow()));
        }
        self.result_of(Some(id), name, content, is_error, out);
        if let Some((tool_name, message)) = denied {
            let tool_call_id = ToolCallId::from_printed(id);
            let denied = PermissionDenied {
                tool_name,
                tool_call_id,
                message,
            };
            out.event(denied);
        }
    }

    /// Emits a call's result, which ends the message that made it.
    pub(super) fn result_of(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        content: Vec<Block<'_>>,
        is_error: Option<bool>,
        out: &mut SignalSink<'_>,
    ) {
        self.error_is_last = false;
        self.end_message(out);
        let call = self.unnamed.result(Scope::Main, id, name);
        let name = name.map(Cow::Borrowed);
        out.emit(Signal::ToolResult {
            call,
            name,
            content,
            is_error,
            duration_ms: None,
        });
    }

    /// A line that begins like a message and is none: cut off, as a rule.
    fn on_unreadable(
        &mut self,
        bytes: &[u8],
        error: &DecodeError,
        is_cut: bool,
        out: &mut SignalSink<'_>,
    ) {
        let tag = leading_tag(bytes);
        out.unparsed(tag, error.to_string());
        if !is_cut {
            return;
        }
        if self.has_ended || self.failure.is_some() {
            self.open_turn(out);
        }
        match tag {
            Some("message") => self.on_cut_message(bytes, out),
            Some("tool_use") => self.on_cut_tool_use(bytes, out),
            _ => {}
        }
    }

    fn on_cut_message(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) {
        let Some(whole) = supply_end(bytes, true) else {
            return;
        };
        let Ok(message) = decode::<Message<'_>>(&whole) else {
            return;
        };
        let message = message.value;
        let is_model = matches!(message.role.as_deref(), Some("assistant" | "model"));
        if let (true, Content::Text(text)) = (is_model, message.content) {
            self.on_fragment(text, out);
        }
    }

    fn on_cut_tool_use(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) {
        let Some(whole) = supply_end(bytes, false) else {
            return;
        };
        let Ok(tool) = decode::<ToolUse<'_>>(&whole) else {
            return;
        };
        let tool = tool.value;
        if let (Some(name), Some(id)) = (tool.name, tool.id.as_deref()) {
            self.call(Some(id), name, Value::Null, out);
        }
    }

    /// Opens a turn: a result before it is no longer the last word.
    pub(super) fn open_turn(&mut self, out: &mut SignalSink<'_>) {
        self.emit_failure(None, out);
        self.end_message(out);
        self.error_is_last = false;
        if std::mem::take(&mut self.has_ended) {
            out.emit(Signal::TurnOpened);
        }
    }

    /// Makes sure that a message of the model is open.
    pub(super) fn open_step(&mut self, out: &mut SignalSink<'_>) {
        if self.step_open && !self.error_is_last {
            return;
        }
        self.emit_failure(None, out);
        self.end_message(out);
        self.error_is_last = false;
        self.has_ended = false;
        self.step_open = true;
        out.emit(Signal::Step(None));
    }

    /// Makes sure that fragments of this kind are what is open.
    pub(super) fn open_part(&mut self, part: OpenPart, out: &mut SignalSink<'_>) {
        if self.open != part {
            self.end_part(out);
            self.open = part;
        }
    }

    pub(super) fn end_part(&mut self, out: &mut SignalSink<'_>) {
        match std::mem::take(&mut self.open) {
            OpenPart::None => {}
            OpenPart::Text => out.emit(Signal::TextEnd),
            OpenPart::Thinking => out.emit(Signal::ThinkingEnd { signature: None }),
        }
    }

    pub(super) fn end_message(&mut self, out: &mut SignalSink<'_>) {
        self.end_part(out);
        self.step_open = false;
        self.has_only_thought = false;
    }
}

/// Returns what a tool gave back as blocks.
pub(super) fn blocks(output: ToolOutput<'_>) -> Vec<Block<'_>> {
    match output {
        ToolOutput::Absent => Vec::new(),
        ToolOutput::Text(text) => vec![Block::Text(text.into_cow())],
        ToolOutput::Json(value) => vec![Block::Text(value.to_string().into())],
    }
}

/// Returns the text of a message, its parts on lines of their own.
pub(super) fn plain_text(content: Content<'_>) -> String {
    match content {
        Content::Absent => String::new(),
        Content::Text(text) => text.into_owned(),
        Content::List(list) => {
            let texts: Vec<String> = list.into_iter().map(plain_text).collect();
            texts.join("\n")
        }
        Content::Part(part) => match part.text {
            Some(text) => text.into_owned(),
            None => plain_text(part.content),
        },
    }
}
