//! The rows of one run, its sub-agents' after its own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use runtape_core::RunError;
use runtape_core::runtime_event::{Compaction, Info};
use serde_json::Value;

use super::wire::{Event, EventLine, WindowLine, WindowRow, event, is_aborted, is_mirror, is_own};
use crate::bounds::{Numbers, count};
use crate::history::{LastWord, LineReader, judge, table_of};
use crate::json::{DecodeError, decode};
use crate::parser::SignalSink;
use crate::runtimes::openclaw::{failure, is_session_id, message, tools, usage};
use crate::signal::{CHILD_LABEL, CallRef, Scope, Signal};

/// Reads the rows of one run.
#[derive(Default)]
pub(super) struct TranscriptParser {
    /// The id of the window that was asked, and its key.
    main: Option<(String, String)>,
    last: LastMessage,
    children: Vec<ChildSession>,
    /// Sub-agents by the ids of their windows.
    numbers: HashMap<String, usize>,
    /// Which call started a session, by the session's key.
    callers: HashMap<String, String>,
    cost: Option<f64>,
}

/// A sub-agent's session.
struct ChildSession {
    /// The call that started it, and its id.
    scope: Arc<str>,
    last: LastMessage,
}

/// What stands last in a session.
#[derive(Default)]
enum LastMessage {
    /// Something that wants an answer.
    #[default]
    Open,
    Answered(Option<String>),
    Failed(RunError),
}

impl LineReader for TranscriptParser {
    fn on_line(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        match table_of(bytes) {
            Some("session_windows") => {
                let line: WindowLine<'_> = out.read("session_windows", bytes)?;
                self.on_window(&line.row, out);
            }
            Some("transcript_events") => {
                let line: EventLine<'_> = out.read("transcript_events", bytes)?;
                let session = line.row.session.as_deref().unwrap_or_default();
                let Some(event) = event(&line.row) else {
                    out.unparsed(Some("transcript_events"), "event_json: no event");
                    return Ok(());
                };
                let at = event.at().or(line.row.created.map(count));
                out.set_millis(at.and_then(|at| u64::try_from(at).ok()));
                self.on_event(session, &event, out);
            }
            table => {
                decode::<serde::de::IgnoredAny>(bytes)?;
                out.unparsed(table, "a row of an unknown table");
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut SignalSink<'_>) {
        for child in &self.children {
            let (is_error, text) = match &child.last {
                LastMessage::Answered(text) => (false, text.as_deref()),
                LastMessage::Failed(error) => (true, Some(error.message.as_str())),
                LastMessage::Open => continue,
            };
            out.emit(Signal::ChildEnd {
                call: Cow::Borrowed(&child.scope),
                is_error,
                text: text.map(Cow::Borrowed),
            });
        }
        let last = match std::mem::take(&mut self.last) {
            // The model's own reason to stop proves that the turn has ended.
            LastMessage::Answered(_) => LastWord::Answer { is_proven: true },
            LastMessage::Failed(error) => LastWord::Failure(error),
            LastMessage::Open => LastWord::Open,
        };
        judge(last, out);
    }
}

impl TranscriptParser {
    fn on_window(&mut self, row: &WindowRow<'_>, out: &mut SignalSink<'_>) {
        let id = row.id.as_deref().unwrap_or_default();
        let key = row.key.as_deref().unwrap_or(id);
        match &self.main {
            None => {
                self.main = Some((id.to_owned(), key.to_owned()));
                if is_session_id(key) {
                    out.emit(Signal::Session(key));
                } else {
                    out.unparsed(Some("session_windows"), "session_key: no key of a session");
                }
            }
            Some((main, _)) if main == id => {}
            Some(_) if self.numbers.contains_key(id) => {}
            Some(_) => {
                let call = self.callers.get(key).map_or(id, String::as_str);
                let scope = Arc::from(format!("{call}{CHILD_LABEL}{key}"));
                self.numbers.insert(id.to_owned(), self.children.len());
                self.children.push(ChildSession {
                    scope,
                    last: LastMessage::Open,
                });
            }
        }
    }

    fn on_event(&mut self, session: &str, event: &Event<'_>, out: &mut SignalSink<'_>) {
        let number = self.numbers.get(session).copied();
        let child = number.and_then(|number| self.children.get(number));
        let scope = child.map(|child| child.scope.clone());
        let scope = scope.as_deref().map_or(Scope::Main, Scope::Child);
        let kind = event.kind.as_deref();
        match kind {
            Some("session") => {
                if let (Some(cwd), Scope::Main) = (event.cwd.as_deref(), scope) {
                    out.emit(Signal::Cwd(cwd));
                }
            }
            Some("message") => {
                if let Some(last) = self.on_message(event, scope, out) {
                    let child = number.and_then(|number| self.children.get_mut(number));
                    *child.map_or(&mut self.last, |child| &mut child.last) = last;
                }
            }
            Some("compaction") => {
                let notice = Compaction {
                    trigger: None,
                    pre_tokens: event.tokens_before,
                    post_tokens: None,
                    duration_ms: None,
                    message: None,
                };
                out.emit_in(scope, Signal::Event(notice.into()));
            }
            // What the gateway keeps beside the conversation.
            Some(
                "model_change"
                | "thinking_level_change"
                | "reset"
                | "branch_summary"
                | "custom"
                | "custom_message"
                | "label"
                | "session_info"
                | "leaf",
            ) => {}
            _ => out.unparsed(kind, "an event of unknown type"),
        }
    }

    /// Tells a message; returns what stands last after it.
    fn on_message(
        &mut self,
        event: &Event<'_>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) -> Option<LastMessage> {
        let said = &event.message;
        match message::field(said, "role") {
            Some("user") => {
                on_user(said, scope, out);
                Some(LastMessage::Open)
            }
            Some("assistant") if is_mirror(said) => {
                let text = message::text(said).unwrap_or_default();
                on_info(text, scope, out);
                None
            }
            Some("assistant") => {
                let id = event.id.as_deref().unwrap_or_default();
                Some(self.on_answer(id, said, scope, out))
            }
            Some("toolResult") => {
                self.on_result(said, scope, out);
                Some(LastMessage::Open)
            }
            // Words of plugins, and commands that the user ran.
            Some("custom" | "bashExecution") => None,
            role => {
                out.unparsed(role, "a message of an unknown role");
                None
            }
        }
    }

    fn on_answer(
        &mut self,
        id: &str,
        said: &Value,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) -> LastMessage {
        let is_aborted = is_aborted(said);
        let model = message::field(said, "model");
        let model = model.filter(|model| !model.is_empty() && !is_aborted);
        if let Some(model) = model {
            out.emit_in(scope, Signal::Model(model));
        }
        let reason = message::field(said, "stopReason");
        let reason = if is_aborted { Some("aborted") } else { reason };
        let has_content = content(said).next().is_some();
        if has_content || reason != Some("error") {
            out.emit_in(scope, Signal::Step(Some(id)));
            out.emit_in(scope, Signal::MessagePrinted);
        }
        for block in content(said) {
            on_block(block, scope, out);
        }
        if let Some(text) = said.get("content").and_then(Value::as_str)
            && !text.trim().is_empty()
        {
            out.emit_in(scope, Signal::Text(text.into()));
        }
        if reason == Some("aborted") {
            out.emit_in(scope, Signal::MessageCut);
        }
        self.on_usage(id, said, model, scope, out);
        let text = message::text(said).filter(|text| !text.trim().is_empty());
        match reason {
            Some("stop" | "length") => LastMessage::Answered(text),
            Some("aborted") => LastMessage::Failed(failure::aborted(None)),
            Some("error") => {
                let message = message::field(said, "errorMessage").unwrap_or("the agent failed");
                LastMessage::Failed(failure::of_run(message, None, None))
            }
            _ => LastMessage::Open,
        }
    }

    fn on_usage(
        &mut self,
        id: &str,
        said: &Value,
        model: Option<&str>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let Some(used) = said.get("usage").filter(|used| used.is_object()) else {
            return;
        };
        let mut numbers = Numbers::default();
        let counts = usage::counts(used, &mut numbers);
        let cost = usage::cost(used, &mut numbers);
        out.faulty_numbers(Some("usage"), numbers.faults);
        if !usage::is_nothing(counts) {
            let usage = Signal::Usage {
                key: id.into(),
                counts,
                model: model.map(Into::into),
            };
            out.emit_in(scope, usage);
        }
        if let Some(cost) = cost {
            let sum = self.cost.unwrap_or(0.0) + cost;
            self.cost = Some(sum);
            out.emit(Signal::Cost(sum));
        }
    }

    fn on_result(&mut self, said: &Value, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        let Some(id) = message::field(said, "toolCallId").filter(|id| !id.is_empty()) else {
            return out.unparsed(Some("toolResult"), "toolCallId: missing");
        };
        let name = message::field(said, "toolName").unwrap_or("tool");
        let is_error = said.get("isError").and_then(Value::as_bool);
        let duration = said.get("details").and_then(|of| of.get("durationMs"));
        let result = Signal::ToolResult {
            call: CallRef::Printed(id),
            name: Some(name.into()),
            content: tools::blocks(said),
            is_error: tools::has_failed(name, is_error, said),
            duration_ms: duration.and_then(Value::as_u64),
        };
        out.emit_in(scope, result);
        if let Some(session) = tools::spawned(said) {
            self.callers.insert(session.to_owned(), id.to_owned());
            out.emit_in(scope, Signal::Delegates(id));
        }
    }
}

/// Returns the blocks of a message.
fn content(said: &Value) -> impl Iterator<Item = &Value> {
    let blocks = said.get("content").and_then(Value::as_array);
    blocks.into_iter().flatten()
}

fn on_user(said: &Value, scope: Scope<'_>, out: &mut SignalSink<'_>) {
    let text = message::text(said).unwrap_or_default();
    if is_own(said) {
        return on_info(text, scope, out);
    }
    out.emit_in(scope, Signal::User(text.into()));
}

fn on_info(message: String, scope: Scope<'_>, out: &mut SignalSink<'_>) {
    let topic = Some("openclaw".to_owned());
    out.emit_in(scope, Signal::Event(Info { topic, message }.into()));
}

fn on_block(block: &Value, scope: Scope<'_>, out: &mut SignalSink<'_>) {
    match message::field(block, "type") {
        Some("text") => {
            let text = message::block_text(block).unwrap_or_default();
            if !text.trim().is_empty() {
                out.emit_in(scope, Signal::Text(text.into()));
            }
        }
        Some("thinking") => {
            let text = message::field(block, "thinking").unwrap_or_default();
            let thinking = Signal::Thinking {
                text: text.into(),
                signature: None,
            };
            out.emit_in(scope, thinking);
        }
        Some("toolCall") => {
            let name = message::field(block, "name").unwrap_or("tool");
            let Some(id) = message::field(block, "id").filter(|id| !id.is_empty()) else {
                return out.unparsed(Some("toolCall"), "id: missing");
            };
            let input = block.get("arguments").cloned().unwrap_or_default();
            let call = Signal::ToolCall {
                call: CallRef::Printed(id),
                name: name.into(),
                detail: tools::detail(name, &input),
                input,
            };
            out.emit_in(scope, call);
        }
        // An image that the model made is nowhere shown.
        Some("image") => {}
        kind => out.unparsed(kind, "a block of unknown type"),
    }
}
