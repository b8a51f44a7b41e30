//! Calls of a session: told by tool frames, by items, or by rows.
//!
//! A client that did not ask for tool frames sees calls as items only: a summary of the input, whether
//! it went well, and of commands the output, which comes after the item's end.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::told::key_hash;
use super::tools;
use super::wire::Data;
use crate::bounds::Numbers;
use crate::parser::SignalSink;
use crate::signal::{Block, CallDetail, CallRef, Scope, Signal, TapePlace};
use crate::unnamed_calls::UnnamedCalls;

/// How many commands wait for their output; there are as many as a message has calls.
const MOST_WAITING: usize = 64;

/// What was told of a call.
#[derive(Clone, Copy, Debug, Default)]
struct KnownCall {
    has_input: bool,
    has_result: bool,
}

/// How a call went that only an item told of.
#[derive(Debug)]
struct ItemResult {
    id: Box<str>,
    name: Box<str>,
    is_error: bool,
    place: TapePlace,
}

/// The calls of a session by their ids, a few bytes each.
#[derive(Debug, Default)]
pub(super) struct SessionCalls {
    known: HashMap<u64, KnownCall>,
    /// Commands that are over, until their output comes.
    waiting: VecDeque<ItemResult>,
    /// Calls of rows that have no id.
    unnamed: UnnamedCalls,
}

impl SessionCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn get(&mut self, id: &str) -> &mut KnownCall {
        self.known.entry(key_hash(&[id])).or_default()
    }

    /// Tells whether a call was told of.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.known.contains_key(&key_hash(&[id]))
    }
}

impl Conversation {
    /// Takes a call; its input may have been told before or follow.
    pub(super) fn on_call(
        &mut self,
        id: &str,
        name: &str,
        input: Option<Value>,
        out: &mut SignalSink<'_>,
    ) {
        let is_new = !self.calls.contains(id);
        if is_new {
            self.begin_call(out);
        }
        let known = self.calls.get(id);
        let has_input = known.has_input;
        known.has_input |= input.is_some();
        let call = CallRef::Printed(id);
        if is_new {
            let input = input.unwrap_or_default();
            let detail = tools::detail(name, &input);
            let name = name.into();
            let call = Signal::ToolCall {
                call,
                name,
                input,
                detail,
            };
            self.emit(call, out);
        } else if let Some(input) = input.filter(|_| !has_input) {
            let detail = tools::detail(name, &input);
            let input = Signal::ToolInput {
                call,
                input,
                detail,
            };
            self.emit(input, out);
        }
    }

    /// Takes a call without an id, as a row may have it.
    pub(super) fn on_unnamed_call(&mut self, name: &str, input: Value, out: &mut SignalSink<'_>) {
        self.begin_call(out);
        let call = Signal::ToolCall {
            call: self.calls.unnamed.begin(Scope::Main, name),
            name: name.into(),
            detail: tools::detail(name, &input),
            input,
        };
        self.emit(call, out);
    }

    /// Takes the result of a call without an id: that of the oldest open call of its tool.
    pub(super) fn on_unnamed_result(
        &mut self,
        name: &str,
        result: &Value,
        is_error: Option<bool>,
        out: &mut SignalSink<'_>,
    ) {
        self.end_part(out);
        let result = Signal::ToolResult {
            call: self.calls.unnamed.end(Scope::Main, Some(name)),
            name: Some(name.into()),
            content: tools::blocks(result),
            is_error: tools::has_failed(name, is_error, result),
            duration_ms: None,
        };
        self.emit(result, out);
    }

    /// Takes an item that stands for a call.
    pub(super) fn on_tool_item(&mut self, id: &str, data: &Data<'_>, out: &mut SignalSink<'_>) {
        let name = data.name.as_deref().unwrap_or("tool");
        match data.phase.as_deref() {
            Some("start") => self.on_call(id, name, None, out),
            Some("end") => {
                self.on_call(id, name, None, out);
                let known = *self.calls.get(id);
                if known.has_result || self.calls.waiting.iter().any(|call| &*call.id == id) {
                    return;
                }
                if let (false, Some(meta)) = (known.has_input, data.meta.as_deref()) {
                    self.calls.get(id).has_input = true;
                    let input = Signal::ToolInput {
                        call: CallRef::Printed(id),
                        input: json!({ "summary": meta }),
                        detail: CallDetail::of(tools::class(name)),
                    };
                    self.emit(input, out);
                }
                if self.calls.waiting.len() == MOST_WAITING
                    && let Some(oldest) = self.calls.waiting.front()
                {
                    let oldest = oldest.id.clone();
                    self.tell_waiting(&oldest, None, out);
                }
                self.calls.waiting.push_back(ItemResult {
                    id: id.into(),
                    name: name.into(),
                    is_error: data.status.as_deref() != Some("completed"),
                    place: out.place(),
                });
                if data.runs_command != Some(true) {
                    self.tell_waiting(id, None, out);
                }
            }
            _ => {}
        }
    }

    /// Takes the output of a command, which is told again for calls with tool frames.
    pub(super) fn on_command_output(&mut self, data: &Data<'_>, out: &mut SignalSink<'_>) {
        if let (Some("end"), Some(id)) = (data.phase.as_deref(), data.call.as_deref()) {
            self.tell_waiting(id, Some(data), out);
        }
    }

    /// Tells how a call went that only an item told of.
    fn tell_waiting(&mut self, id: &str, output: Option<&Data<'_>>, out: &mut SignalSink<'_>) {
        let waiting = &mut self.calls.waiting;
        let Some(at) = waiting.iter().position(|call| &*call.id == id) else {
            return;
        };
        let Some(call) = waiting.remove(at) else {
            return;
        };
        if std::mem::replace(&mut self.calls.get(id).has_result, true) {
            return;
        }
        let text = output.and_then(|data| data.output.as_deref());
        let code = output.and_then(|data| data.exit_code);
        let place = output.map_or(call.place, |_| call.place.through(out.place()));
        let result = Signal::ToolResult {
            call: CallRef::Printed(id),
            name: Some((&*call.name).into()),
            content: text
                .map(|text| Block::Text(text.into()))
                .into_iter()
                .collect(),
            is_error: Some(call.is_error || code.is_some_and(|code| code != 0)),
            duration_ms: output.and_then(|data| data.duration),
        };
        self.emit_at(place, result, out);
    }

    /// Tells how calls went whose output never came.
    pub(super) fn tell_waiting_results(&mut self, out: &mut SignalSink<'_>) {
        while let Some(call) = self.calls.waiting.front() {
            let id = call.id.clone();
            self.tell_waiting(&id, None, out);
        }
    }

    /// Takes the result of a call, and returns whether it was the first one.
    pub(super) fn on_result(
        &mut self,
        id: &str,
        name: &str,
        result: &Value,
        is_error: Option<bool>,
        out: &mut SignalSink<'_>,
    ) -> bool {
        if std::mem::replace(&mut self.calls.get(id).has_result, true) {
            return false;
        }
        self.calls.waiting.retain(|call| &*call.id != id);
        self.end_part(out);
        let mut numbers = Numbers::default();
        let details = result.get("details").unwrap_or(&Value::Null);
        let duration_ms = numbers.millis(details, &["durationMs"]);
        out.faulty_numbers(Some("tool"), numbers.faults);
        let result = Signal::ToolResult {
            call: CallRef::Printed(id),
            name: Some(name.into()),
            content: tools::blocks(result),
            is_error: tools::has_failed(name, is_error, result),
            duration_ms,
        };
        self.emit(result, out);
        true
    }
}
