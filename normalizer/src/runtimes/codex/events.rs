//! json: a thread, its turns, and its items, one event a line.
//!
//! The CLI does not say which items came in one response of the model. A message or reasoning after a
//! call opens the next step; calls join the open one.

use runtape_core::runtime_event::Info;
use serde::de::{Deserialize, IgnoredAny};
use serde_json::Value;

use super::results::EndedCall;
use super::tools::{self, Tool};
use super::wire::{
    CommandItem, CommandLine, ErrorLine, EventStart, Head, Item, ItemLine, TextItem, TextLine,
    ThreadStarted, TurnCompleted, TurnFailed, TurnStarted, leading_head,
};
use super::{failure, notices, usage};
use crate::by_hash::{ByHash, hash_of};
use crate::framing::events_or_text::EventReader;
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::session_id::is_small_uuid;
use crate::signal::{CallRef, Outcome, Scope, Signal, Verdict};
use crate::unnamed_calls::UnnamedCalls;
use crate::verdict::UnclearResult;

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemPhase {
    Started,
    Updated,
    Completed,
}

/// A call that has no end yet.
#[derive(Debug)]
struct OpenCall {
    has_input: bool,
}

/// What was said in the open step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StepState {
    /// There is none.
    #[default]
    None,
    /// Messages and reasoning.
    Said,
    /// Calls, after which the next message opens another step.
    Called,
}

/// Reads the events of one run.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The thread may have earlier runs, whose tokens its totals include.
    may_be_resumed: bool,
    /// The last turn has ended, one way or the other.
    has_ended: bool,
    step: StepState,
    /// The calls with an id that were started and are not completed.
    open: ByHash<OpenCall>,
    unnamed: UnnamedCalls,
    /// The to-do list as it was last printed.
    todo_list: Value,
}

/// Tells whether an object is the first event of a thread.
pub(super) fn begins_thread(object: &[u8]) -> bool {
    let is_thread = |line: &ThreadStarted<'_>| line.thread.as_deref().is_some_and(is_small_uuid);
    let is_started = |line: &EventStart<'_>| line.tag.as_deref() == Some("thread.started");
    decode::<EventStart<'_>>(object).is_ok_and(|line| is_started(&line.value))
        && decode::<ThreadStarted<'_>>(object).is_ok_and(|line| is_thread(&line.value))
}

impl EventReader for Events {
    fn begins_events(object: &[u8]) -> bool {
        begins_thread(object)
    }

    fn on_object(&mut self, object: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let head = match leading_head(object) {
            Some(head) => head,
            None => Head::from(decode::<EventStart<'_>>(object)?.value),
        };
        match head.tag.as_deref() {
            Some("item.started") => self.on_item(ItemPhase::Started, &head, object, out)?,
            Some("item.updated") => self.on_item(ItemPhase::Updated, &head, object, out)?,
            Some("item.completed") => self.on_item(ItemPhase::Completed, &head, object, out)?,
            Some("thread.started") => {
                if let Some(id) = head.only_text(",\"thread_id\":\"") {
                    self.on_thread(Some(&id), out);
                } else {
                    let started: ThreadStarted<'_> = read(&head, object, out)?;
                    out.unknown_keys("thread.started", &started.unknown);
                    self.on_thread(started.thread.as_deref(), out);
                }
            }
            // Nearly always it has nothing else to be read.
            Some("turn.started") if object == br#"{"type":"turn.started"}"# => self.open_turn(out),
            Some("turn.started") => {
                let started: TurnStarted = read(&head, object, out)?;
                out.unknown_keys("turn.started", &started.unknown);
                self.open_turn(out);
            }
            Some("turn.completed") => self.on_completed(read(&head, object, out)?, out),
            Some("turn.failed") => self.on_failed(&read(&head, object, out)?, out),
            Some("error") => {
                if let Some(message) = head.only_text(",\"message\":\"") {
                    on_error(Some(message), out);
                } else {
                    let line: ErrorLine<'_> = read(&head, object, out)?;
                    out.unknown_keys("error", &line.unknown);
                    on_error(line.message, out);
                }
            }
            tag => {
                // A line that was cut is none of unknown type.
                decode::<IgnoredAny>(object)?;
                out.unparsed(tag, "of unknown type");
            }
        }
        Ok(())
    }

    fn on_cut(&mut self, out: &mut SignalSink<'_>) {
        self.has_ended = false;
        out.emit(Signal::TurnOpened);
    }
}

impl Events {
    pub(super) fn new(may_be_resumed: bool) -> Self {
        Self {
            may_be_resumed,
            ..Self::default()
        }
    }

    /// Tells whether the last turn has ended, one way or the other.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn on_thread(&mut self, thread: Option<&str>, out: &mut SignalSink<'_>) {
        match thread {
            Some(id) if is_small_uuid(id) => out.emit(Signal::Session(id)),
            _ => out.unparsed(Some("thread.started"), "thread_id: no id of a thread"),
        }
        self.open.clear();
        self.open_turn(out);
    }

    fn open_turn(&mut self, out: &mut SignalSink<'_>) {
        if std::mem::take(&mut self.has_ended) {
            self.step = StepState::None;
        }
        out.emit(Signal::TurnOpened);
    }

    fn on_completed(&mut self, mut completed: TurnCompleted<'_>, out: &mut SignalSink<'_>) {
        out.unknown_keys("turn.completed", &completed.unknown);
        let counted = usage::count(&mut completed.usage);
        out.faulty_numbers(Some("turn.completed"), counted.faults);
        out.unknown_keys("usage", &counted.unknown);
        if !counted.counts.is_unknown() {
            out.emit(if self.may_be_resumed {
                Signal::SessionTotal(counted.counts)
            } else {
                // Sub-agents are not in it: they are threads of their own.
                Signal::RootTotal(counted.counts)
            });
        }
        if usage::is_there(&completed.usage) {
            out.emit(Signal::RawUsage(completed.usage.into()));
        }
        let verdict = if completed.error.is_missing() {
            Verdict::Success
        } else {
            let doubt = UnclearResult::default().with("error", &completed.error);
            Verdict::Error(doubt.report("turn.completed", None, |signal| out.emit(signal)))
        };
        self.end_turn("turn.completed", verdict, out);
    }

    fn on_failed(&mut self, failed: &TurnFailed, out: &mut SignalSink<'_>) {
        out.unknown_keys("turn.failed", &failed.unknown);
        let message = failed.error.get("message").or(Some(&failed.error));
        let message = match message.and_then(Value::as_str) {
            Some(message) if !message.trim().is_empty() => message.to_owned(),
            _ => {
                out.unparsed(Some("turn.failed"), "error: without a message");
                match &failed.error {
                    Value::Null => "the turn failed".to_owned(),
                    error => format!("the turn failed: {error}"),
                }
            }
        };
        let verdict = Verdict::Error(failure::of_turn(&message, out.place().at));
        self.end_turn("turn.failed", verdict, out);
    }

    fn end_turn(&mut self, word: &'static str, verdict: Verdict, out: &mut SignalSink<'_>) {
        self.has_ended = true;
        out.emit(Signal::Result(Outcome {
            subtype: Some(word.into()),
            was_answered: true,
            ..Outcome::of(verdict)
        }));
    }

    fn on_item(
        &mut self,
        phase: ItemPhase,
        head: &Head<'_>,
        object: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let kind = head.kind.as_deref().unwrap_or_default();
        let tag = head.tag.as_deref().unwrap_or_default();
        let tag = if kind.is_empty() { tag } else { kind };
        let id = head.id.as_deref();
        match Tool::of(kind) {
            Some(Tool::Command) => {
                let item: CommandItem<'_> =
                    if let Some(item) = CommandItem::plain(head).or_else(|| head.read_rest()) {
                        item
                    } else {
                        let line: CommandLine<'_> = out.read(tag, object)?;
                        out.unknown_keys("item", &line.unknown);
                        line.item
                    };
                out.unknown_keys(tag, &item.unknown);
                self.on_call(Tool::Command, phase, id, &mut item.into_item(), out);
            }
            None if matches!(kind, "agent_message" | "reasoning" | "error") => {
                let item: TextItem<'_> =
                    if let Some(item) = TextItem::plain(kind, head).or_else(|| head.read_rest()) {
                        item
                    } else {
                        let line: TextLine<'_> = out.read(tag, object)?;
                        out.unknown_keys("item", &line.unknown);
                        line.item
                    };
                out.unknown_keys(tag, &item.unknown);
                self.on_said(kind, phase, item, out);
            }
            tool => {
                let mut line: ItemLine<'_> = out.read(tag, object)?;
                out.unknown_keys("item", &line.unknown);
                out.unknown_keys(tag, &line.item.unknown);
                match tool {
                    Some(tool) => self.on_call(tool, phase, id, &mut line.item, out),
                    None => out.unparsed(Some(tag), "an item of unknown type"),
                }
            }
        }
        Ok(())
    }

    fn on_said(
        &mut self,
        kind: &str,
        phase: ItemPhase,
        item: TextItem<'_>,
        out: &mut SignalSink<'_>,
    ) {
        match (kind, phase) {
            // Printed once, when they are whole.
            (_, ItemPhase::Started | ItemPhase::Updated) => {
                out.unparsed(Some(kind), "not complete");
            }
            ("agent_message", _) => self.on_message(item.text, out),
            ("reasoning", _) => self.on_reasoning(item.text, out),
            _ => on_error(item.message, out),
        }
    }

    fn on_message(&mut self, text: Option<Str<'_>>, out: &mut SignalSink<'_>) {
        let Some(text) = text else {
            return out.unparsed(Some("agent_message"), "text: missing");
        };
        self.open_step_after_calls(out);
        out.emit(Signal::Answer(text.into_cow()));
    }

    fn on_reasoning(&mut self, text: Option<Str<'_>>, out: &mut SignalSink<'_>) {
        let Some(text) = text else {
            return out.unparsed(Some("reasoning"), "text: missing");
        };
        self.open_step_after_calls(out);
        out.emit(Signal::Thinking {
            text: text.into_cow(),
            signature: None,
        });
    }

    fn open_step_after_calls(&mut self, out: &mut SignalSink<'_>) {
        self.has_ended = false;
        if self.step != StepState::Said {
            self.open_step(out);
        }
    }

    fn open_step(&mut self, out: &mut SignalSink<'_>) {
        self.step = StepState::Said;
        out.emit(Signal::Step(None));
    }

    fn on_call(
        &mut self,
        tool: Tool,
        phase: ItemPhase,
        id: Option<&str>,
        item: &mut Item<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let name = &*tool.name(item);
        let id = id.filter(|id| !id.is_empty());
        let is_completed = phase == ItemPhase::Completed;
        let open = id.and_then(|id| self.open.get(hash_of(id)));
        let is_open = match id {
            Some(_) => open.is_some(),
            None => phase != ItemPhase::Started && self.unnamed.is_open(Scope::Main, Some(name)),
        };
        let has_input = is_open && open.is_none_or(|open| open.has_input);
        if tool == Tool::TodoList {
            self.on_todo_list(&item.items, is_open, out);
        }
        if !is_open {
            if self.step == StepState::None {
                self.open_step(out);
            }
            self.has_ended = false;
            self.step = StepState::Called;
        }
        let call = match id {
            Some(id) => CallRef::Printed(id),
            None if !is_open => self.unnamed.begin(Scope::Main, name),
            // Updates of a call without an id have nothing to be tied to it with.
            None if !is_completed => return,
            None => self.unnamed.end(Scope::Main, Some(name)),
        };
        if !has_input {
            let detail = tool.detail(item);
            let input = tool.input(item, is_completed);
            if let Some(id) = id.filter(|_| !is_completed) {
                let has_input = !input.is_null();
                self.open.insert(hash_of(id), OpenCall { has_input });
            }
            out.emit(Signal::ToolCall {
                call,
                name: name.into(),
                input,
                detail,
            });
        }
        if is_completed {
            if let Some(id) = id {
                self.open.remove(hash_of(id));
            } else if !is_open {
                self.unnamed.end(Scope::Main, Some(name));
            }
            let ended = EndedCall {
                scope: Scope::Main,
                tool,
                call,
                id,
                name,
                duration_ms: None,
            };
            ended.emit(item, None, out);
        }
    }

    /// A plan is one call whose input grows: what it became is a notice.
    fn on_todo_list(&mut self, items: &Value, is_known: bool, out: &mut SignalSink<'_>) {
        if is_known && *items != self.todo_list {
            let message = tools::todo_list(items);
            let topic = Some("todo_list".to_owned());
            out.emit(Signal::Event(Info { topic, message }.into()));
        }
        self.todo_list.clone_from(items);
    }
}

/// Reads an event that is no item, from where its head ended if it is printed as always.
fn read<'a, T: Deserialize<'a>>(
    head: &Head<'a>,
    object: &'a [u8],
    out: &mut SignalSink<'_>,
) -> Result<T, DecodeError> {
    match head.read_rest() {
        Some(line) => Ok(line),
        None => out.read(head.tag.as_deref().unwrap_or_default(), object),
    }
}

/// Warnings and retries, as a line or as an item.
fn on_error(message: Option<Str<'_>>, out: &mut SignalSink<'_>) {
    match message {
        Some(message) => out.event(notices::of_error(message.into_owned())),
        None => out.unparsed(Some("error"), "message: missing"),
    }
}
