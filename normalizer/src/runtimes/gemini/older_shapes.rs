//! The older stream-json shapes: `system`, `assistant`, `user`, `thinking` and `tool_call` lines,
//! and messages made of parts. Until 0.36, and in what wraps the CLI.

use std::borrow::Cow;

use runtape_core::runtime_event::{Info, Warning};
use serde::Deserialize;
use serde_json::Value;

use super::result::message_in;
use super::stream::{OpenPart, StreamJson, blocks, plain_text};
use super::wire::{Content, Legacy, Part, ToolOutput};
use crate::json::Str;
use crate::parser::SignalSink;
use crate::signal::{Scope, Signal};

impl StreamJson {
    /// Reads one line of an older shape.
    pub(super) fn on_legacy(&mut self, tag: &str, line: Legacy<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(line.timestamp.as_deref());
        out.unknown_keys(tag, &line.unknown);
        match tag {
            "system" => self.on_system(line, out),
            "assistant" => {
                // What the model thought before it spoke came on lines of its own.
                if !self.has_only_thought {
                    self.end_message(out);
                }
                self.say(line.content(), false, out);
                self.end_message(out);
            }
            "user" => self.on_user_line(line.content(), out),
            "thinking" => self.on_thinking(line, out),
            _ => self.on_tool_call(line, out),
        }
    }

    fn on_system(&mut self, line: Legacy<'_>, out: &mut SignalSink<'_>) {
        match line.subtype.as_deref() {
            Some("init") => {
                self.open_turn(out);
                self.on_session(line.session.or(line.checkpoint).as_deref(), out);
                if let Some(model) = line.model.as_deref().filter(|model| !model.is_empty()) {
                    out.emit(Signal::Model(model));
                }
                if let Some(cwd) = line.cwd.as_deref() {
                    out.emit(Signal::Cwd(cwd));
                }
            }
            Some("error") => {
                let message = message_in(&line.error)
                    .or_else(|| Some(plain_text(line.message)).filter(|text| !text.is_empty()))
                    .or_else(|| message_in(&line.detail))
                    .unwrap_or_else(|| "error".to_owned());
                self.keep_error(Some("Error"), message.clone(), out);
                out.event(Warning { message });
            }
            subtype => {
                let topic = Some(subtype.unwrap_or("system").to_owned());
                let message = plain_text(line.message);
                out.event(Info { topic, message });
            }
        }
    }

    /// A user line is what the user said, or what tools gave back to the model.
    fn on_user_line(&mut self, content: Content<'_>, out: &mut SignalSink<'_>) {
        if has_tool_results(&content) {
            self.say(content, false, out);
        } else {
            self.on_user(content, out);
        }
    }

    fn on_thinking(&mut self, line: Legacy<'_>, out: &mut SignalSink<'_>) {
        let fragment = !line.delta.is_absent();
        let text = match (line.text, line.delta) {
            (Some(text), _) => text.into_cow(),
            (None, Content::Absent) => plain_text(line.message).into(),
            (None, delta) => plain_text(delta).into(),
        };
        self.on_thought(
            text,
            fragment || line.subtype.as_deref() == Some("delta"),
            out,
        );
    }

    fn on_thought(&mut self, text: Cow<'_, str>, fragment: bool, out: &mut SignalSink<'_>) {
        let is_first = !self.step_open;
        self.open_step(out);
        self.has_only_thought |= is_first;
        if fragment {
            self.open_part(OpenPart::Thinking, out);
            out.emit(Signal::ThinkingDelta(text));
        } else {
            self.end_part(out);
            out.emit(Signal::Thinking {
                text,
                signature: None,
            });
        }
    }

    /// `{"tool_call": {NAME: {"args": …, "result": …}}}`, started and completed.
    fn on_tool_call(&mut self, line: Legacy<'_>, out: &mut SignalSink<'_>) {
        let Value::Object(call) = line.call else {
            return out.unparsed(Some("tool_call"), "no call in it");
        };
        let Some((name, payload)) = call.iter().find(|(_, payload)| payload.is_object()) else {
            return out.unparsed(Some("tool_call"), "no tool in it");
        };
        let id = line.id.as_deref().filter(|id| !id.is_empty());
        let first = |keys: &[&str]| keys.iter().find_map(|key| payload.get(*key)).cloned();
        let subtype = line.subtype.as_deref().unwrap_or_default();
        let is_result = matches!(
            subtype,
            "completed" | "complete" | "finished" | "failed" | "error"
        );
        // A completion repeats the call, which by then may belong to a message that is over.
        let is_known = match id {
            Some(id) => self.started.remove(id),
            None => self.unnamed.is_open(Scope::Main, Some(name)),
        };
        if !is_result || !is_known {
            let input = first(&["args", "input", "arguments", "payload"]).unwrap_or(Value::Null);
            self.call(id, Str::from(name.as_str()), input, out);
        }
        if !is_result {
            self.started.extend(id.map(Into::into));
            return;
        }
        let output = first(&["result", "output", "error", "response"]);
        let status = payload
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or(subtype);
        let failed = matches!(status, "failed" | "error" | "cancelled")
            || payload.get("error").is_some_and(|error| !error.is_null())
            || payload.get("is_error").and_then(Value::as_bool) == Some(true)
            || line.is_error == Some(true);
        let output = output.and_then(|output| ToolOutput::deserialize(output).ok());
        let content = blocks(output.unwrap_or_default());
        self.result_of(id, Some(name), content, Some(failed), out);
    }

    /// Emits what a message holds, its parts in order.
    pub(super) fn say(&mut self, content: Content<'_>, fragment: bool, out: &mut SignalSink<'_>) {
        match content {
            Content::Absent => {}
            Content::Text(text) if fragment => self.on_fragment(text, out),
            Content::Text(text) => self.on_text(text, out),
            Content::List(list) => {
                for content in list {
                    self.say(content, fragment, out);
                }
            }
            Content::Part(part) => self.on_part(*part, fragment, out),
        }
    }

    fn on_text(&mut self, text: Str<'_>, out: &mut SignalSink<'_>) {
        self.open_step(out);
        self.end_part(out);
        self.has_answered = true;
        self.has_only_thought = false;
        out.emit(Signal::Text(text.into_cow()));
    }

    fn on_part(&mut self, part: Part<'_>, fragment: bool, out: &mut SignalSink<'_>) {
        out.unknown_keys("part", &part.unknown);
        match part.kind.as_deref() {
            Some("thinking" | "thought" | "reasoning") => self.on_thought_part(part, fragment, out),
            _ if part.thought == Some(true) => self.on_thought_part(part, fragment, out),
            Some("tool_call" | "tool_use" | "function_call") => {
                self.call(
                    part.id.as_deref(),
                    part.name.unwrap_or_default(),
                    part.input,
                    out,
                );
            }
            Some("tool_result" | "tool_response" | "function_response") => {
                let failed = part.is_error == Some(true)
                    || matches!(part.status.as_deref(), Some("error" | "failed"));
                let content = match part.output {
                    ToolOutput::Absent => match (part.text, part.content) {
                        (Some(text), _) => blocks(ToolOutput::Text(text)),
                        (None, Content::Absent) => Vec::new(),
                        (None, content) => blocks(ToolOutput::Text(Str::from(plain_text(content)))),
                    },
                    output => blocks(output),
                };
                let name = part.name.as_deref();
                self.result_of(part.id.as_deref(), name, content, Some(failed), out);
            }
            None | Some("text" | "output_text" | "content" | "message") => {
                if let Some(text) = part.text {
                    self.say(Content::Text(text), fragment, out);
                }
                self.say(part.content, fragment, out);
            }
            Some(kind) => {
                out.unparsed(Some(&format!("part.{kind}")), "a part of unknown type");
            }
        }
    }

    fn on_thought_part(&mut self, part: Part<'_>, fragment: bool, out: &mut SignalSink<'_>) {
        let text = match part.text.or(part.thinking) {
            Some(text) => text.into_cow(),
            None => plain_text(part.content).into(),
        };
        self.on_thought(text, fragment, out);
    }
}

impl<'a> Legacy<'a> {
    /// Returns what the message holds, whichever key it is under.
    fn content(self) -> Content<'a> {
        match self.text {
            Some(text) if self.message.is_absent() => Content::Text(text),
            _ => self.message,
        }
    }
}

fn has_tool_results(content: &Content<'_>) -> bool {
    match content {
        Content::Absent | Content::Text(_) => false,
        Content::List(list) => list.iter().any(has_tool_results),
        Content::Part(part) => {
            matches!(part.kind.as_deref(), Some("tool_result" | "tool_response"))
                || has_tool_results(&part.content)
        }
    }
}
