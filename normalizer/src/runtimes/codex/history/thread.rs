//! One thread of a run: the main one, or a sub-agent's.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::quality::FixedState;
use runtape_core::runtime_event::Warning;
use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use super::calls::{ModelCall, Spawned, ThreadCalls, tool};
use super::reader::older_response;
use super::wire::{CompletedItem, Content, EventPayload, ResponseItem, TokenInfo, UsageRecord};
use crate::failure::error;
use crate::history::LastWord;
use crate::json::Str;
use crate::parser::SignalSink;
use crate::runtimes::codex::{failure, notices, usage};
use crate::signal::{Scope, Signal, TapePlace, compaction};

/// What a user's message begins with that the CLI wrote itself.
const CONTEXT: &[&str] = &["<", "# AGENTS.md instructions"];

/// An item that was completed, until its response item comes.
#[derive(Debug)]
struct CompletedText {
    is_message: bool,
    id: String,
    text: String,
    place: TapePlace,
}

/// How the last turn stands.
#[derive(Debug, Default)]
enum TurnState {
    /// Before turns had marks.
    #[default]
    Unmarked,
    Open,
    Ended,
    Failed(RunError),
    Interrupted(RunError),
}

/// What a thread has said so far.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) id: String,
    /// The call that started it, and its id; none for the main thread.
    child: Option<Arc<str>>,
    model: Option<String>,
    /// The model has begun a response, which its record will end.
    in_response: bool,
    said: Option<CompletedText>,
    /// Hashes of the ids of items that were given out before their response items.
    given: HashSet<u64>,
    hasher: FixedState,
    calls: ThreadCalls,
    /// A user's message, until the item of it comes.
    asked: Option<(String, TapePlace)>,
    /// What the user said last.
    prompt: Option<String>,
    turn: TurnState,
    /// The last error that was reported in this turn.
    error: Option<RunError>,
    /// What the model said last.
    answer: Option<String>,
    /// What a review answered that has just ended: the CLI's own words for it come next.
    review: Option<String>,
    /// The id of the message that has these words: here its item comes after it.
    review_message: Option<String>,
    duration_ms: Option<u64>,
    has_records: bool,
    total: u64,
    /// Threads that calls of this one started.
    pub(super) spawned: Spawned,
}

/// The scope of a thread.
fn scope_of(child: Option<&Arc<str>>) -> Scope<'_> {
    child.map_or(Scope::Main, |child| Scope::Child(child))
}

impl Thread {
    /// Creates a thread that another one started; without a child, what it does is of the main run.
    pub(super) fn new(id: String, child: Option<Arc<str>>) -> Self {
        Self {
            id,
            child,
            ..Self::default()
        }
    }

    /// Tells whether what it does is of the main run.
    pub(super) fn is_of_main(&self) -> bool {
        self.child.is_none()
    }

    /// Returns what the model said last.
    pub(super) fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// Notes that a review has ended, and what it answered.
    pub(super) fn end_review(&mut self, answer: Option<String>) {
        self.review = answer;
    }

    fn emit(&self, signal: Signal<'_>, out: &mut SignalSink<'_>) {
        out.emit_in(scope_of(self.child.as_ref()), signal);
    }

    pub(super) fn on_context(&mut self, model: Option<Str<'_>>, out: &mut SignalSink<'_>) {
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.emit(Signal::Model(&model), out);
            self.model = Some(model.into_owned());
        }
    }

    pub(super) fn on_response_item(
        &mut self,
        kind: &str,
        mut item: ResponseItem<'_>,
        limit: usize,
        out: &mut SignalSink<'_>,
    ) {
        out.unknown_keys(kind, &item.unknown);
        match kind {
            "message" => self.on_message(&item, out),
            "reasoning" => self.on_reasoning(item, out),
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call"
            | "tool_search_call" => self.on_call(kind, item, out),
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                let Some(id) = item.call.take() else {
                    return out.unparsed(Some(kind), "call_id: missing");
                };
                // Results are given to the model when its response is over.
                self.in_response = false;
                let child = self.child.clone();
                let content = item.output.into_owned();
                self.calls.tell(&id, content, scope_of(child.as_ref()), out);
            }
            // What the CLI keeps for itself, and what agents tell each other.
            "ghost_snapshot" | "compaction" | "compaction_summary" | "agent_message" | "other" => {}
            _ => out.unparsed(Some(kind), "a response item of unknown type"),
        }
        if self.calls.weight() > limit {
            self.flush_calls(out);
        }
    }

    fn on_message(&mut self, item: &ResponseItem<'_>, out: &mut SignalSink<'_>) {
        let text = item.content.text();
        match item.role.as_deref() {
            Some("assistant") => {
                if self.is_given(true, item.id.as_deref()) {
                    return;
                }
                if self.review.is_some() {
                    self.review_message = item.id.as_deref().map(str::to_owned);
                }
                self.say(true, &text, None, out);
            }
            Some("user") => {
                self.flush_asked(out);
                if !CONTEXT.iter().any(|start| text.starts_with(start)) {
                    self.asked = Some((text, out.place()));
                }
            }
            // Instructions.
            Some("developer" | "system") => {}
            role => {
                let reason = format!("role: {}", role.unwrap_or("missing"));
                out.unparsed(Some("message"), reason);
            }
        }
    }

    fn on_reasoning(&mut self, item: ResponseItem<'_>, out: &mut SignalSink<'_>) {
        if self.is_given(false, item.id.as_deref()) {
            return;
        }
        let mut text = joined(&item.summary);
        if text.is_empty() {
            text = joined(&item.content);
        }
        self.say(false, &text, item.encrypted, out);
    }

    /// Tells whether an item was given out before its response item came.
    fn is_given(&mut self, is_message: bool, id: Option<&str>) -> bool {
        let id = id.unwrap_or_default();
        let is_same = |said: &mut CompletedText| said.is_message == is_message && said.id == id;
        self.said.take_if(is_same);
        let hash = self.hasher.hash_one(id);
        self.given.remove(&hash)
    }

    /// Opens a step, unless the response that goes on has one.
    fn open_step(&mut self, out: &mut SignalSink<'_>) {
        self.flush_asked(out);
        if !std::mem::replace(&mut self.in_response, true) {
            self.flush_calls(out);
            self.emit(Signal::Step(None), out);
        }
    }

    fn say(
        &mut self,
        is_message: bool,
        text: &str,
        signature: Option<Str<'_>>,
        out: &mut SignalSink<'_>,
    ) {
        self.flush_said(out);
        if let Some(review) = self.review.take().filter(|_| is_message) {
            return self.say_review(&review, text, out);
        }
        self.open_step(out);
        if is_message {
            if text.is_empty() {
                return self.emit(Signal::MessagePrinted, out);
            }
            self.answer = Some(text.to_owned());
            self.emit(Signal::Text(text.into()), out);
        } else {
            let signature = signature.map(Str::into_cow);
            if text.is_empty() && signature.is_none() {
                return;
            }
            let text = text.into();
            self.emit(Signal::Thinking { text, signature }, out);
        }
    }

    /// Says what a review found in the CLI's words: no response of the model, and nothing new where the words are the same.
    fn say_review(&mut self, review: &str, text: &str, out: &mut SignalSink<'_>) {
        self.answer = Some(text.to_owned());
        if text != review {
            self.emit(Signal::Text(text.into()), out);
        }
    }

    /// Gives out an item whose response item did not come.
    fn flush_said(&mut self, out: &mut SignalSink<'_>) {
        if let Some(said) = self.said.take() {
            let mut out = out.at(said.place);
            self.given.insert(self.hasher.hash_one(&said.id));
            self.say(said.is_message, &said.text, None, &mut out);
        }
    }

    /// Gives out a user's message whose item did not come.
    fn flush_asked(&mut self, out: &mut SignalSink<'_>) {
        if let Some((text, place)) = self.asked.take() {
            self.ask(text, &mut out.at(place));
        }
    }

    fn ask(&mut self, text: String, out: &mut SignalSink<'_>) {
        self.flush_calls(out);
        self.in_response = false;
        self.emit(Signal::User(text.as_str().into()), out);
        self.prompt = Some(text);
        if matches!(self.turn, TurnState::Unmarked) {
            self.answer = None;
        }
    }

    fn flush_calls(&mut self, out: &mut SignalSink<'_>) {
        let child = self.child.clone();
        let scope = scope_of(child.as_ref());
        self.calls.flush(scope, &mut self.spawned, out);
    }

    fn on_call(&mut self, kind: &str, item: ResponseItem<'_>, out: &mut SignalSink<'_>) {
        let id = item.call.or(item.id).filter(|id| !id.is_empty());
        let Some(id) = id else {
            return out.unparsed(Some(kind), "call_id: missing");
        };
        self.flush_said(out);
        self.open_step(out);
        if matches!(self.turn, TurnState::Unmarked) {
            self.answer = None;
        }
        let name = match (item.name, kind) {
            (Some(name), _) => name.into_owned(),
            (None, "web_search_call") => "web_search".to_owned(),
            (None, "local_shell_call") => "local_shell".to_owned(),
            (None, _) => kind.to_owned(),
        };
        let call = ModelCall {
            name,
            namespace: item.namespace.map(Str::into_owned),
            arguments: item
                .arguments
                .or(item.input)
                .map(Str::into_owned)
                .unwrap_or_default(),
            action: item.action,
        };
        self.calls.begin(&id, call, out.place());
    }

    pub(super) fn on_item(
        &mut self,
        item: CompletedItem<'_>,
        took_ms: Option<u64>,
        out: &mut SignalSink<'_>,
    ) {
        let kind = item.kind.as_deref().unwrap_or_default();
        out.unknown_keys(kind, &item.unknown);
        let id = item.id.as_deref().unwrap_or_default();
        match kind {
            "UserMessage" => {
                self.asked = None;
                self.ask(item.content.text(), out);
            }
            "AgentMessage" if self.review_message.as_deref() == Some(id) => {}
            "AgentMessage" | "Reasoning" => {
                self.flush_said(out);
                let is_message = kind == "AgentMessage";
                let text = if is_message {
                    item.content.text()
                } else {
                    let texts: Vec<&str> = item.summary.iter().map(Str::as_str).collect();
                    texts.join("\n")
                };
                self.said = Some(CompletedText {
                    is_message,
                    id: id.to_owned(),
                    text,
                    place: out.place(),
                });
            }
            // It names the call that started a sub-agent, where the call itself does not say which one.
            "SubAgentActivity" => {
                let agent = item.agent_thread.map(Str::into_owned);
                let spawned = agent.map(|agent| (agent, id.to_owned()));
                self.spawned.extend(spawned);
            }
            // Marks for whoever watches.
            "ContextCompaction" | "Plan" | "ImageView" | "EnteredReviewMode"
            | "ExitedReviewMode" | "HookPrompt" | "Sleep" => {}
            _ => match tool(&item) {
                Some(tool) => {
                    let child = self.child.clone();
                    let scope = scope_of(child.as_ref());
                    let calls = &mut self.calls;
                    calls.end(tool, item, took_ms, scope, &mut self.spawned, out);
                }
                None => out.unparsed(Some(kind), "an item of unknown type"),
            },
        }
    }

    pub(super) fn on_usage(&mut self, mut record: UsageRecord<'_>, out: &mut SignalSink<'_>) {
        out.unknown_keys("token_usage_record", &record.unknown);
        self.has_records = true;
        let Some(key) = record.response else {
            return out.unparsed(Some("token_usage_record"), "response_id: missing");
        };
        let counted = usage::count(&mut record.usage);
        self.end_response(key, counted, out);
    }

    /// Takes what an older version says of tokens.
    pub(super) fn on_token_count(&mut self, mut info: TokenInfo<'_>, out: &mut SignalSink<'_>) {
        let total = info.total.tokens.unwrap_or(0);
        if self.has_records || total <= self.total {
            return;
        }
        self.total = total;
        let counted = usage::count(&mut info.last);
        let key = older_response(&self.id, total);
        self.end_response(key.into(), counted, out);
    }

    fn end_response(&mut self, key: Str<'_>, counted: usage::Counted, out: &mut SignalSink<'_>) {
        out.faulty_numbers(Some("usage"), counted.faults);
        out.unknown_keys("usage", &counted.unknown);
        self.flush_said(out);
        self.open_step(out);
        self.in_response = false;
        self.given.clear();
        if !counted.counts.is_unknown() {
            let usage = Signal::Usage {
                key: key.into_cow(),
                counts: counted.counts,
                model: self.model.as_deref().map(Into::into),
            };
            self.emit(usage, out);
        }
    }

    pub(super) fn on_event(
        &mut self,
        kind: &str,
        event: EventPayload<'_>,
        out: &mut SignalSink<'_>,
    ) {
        match kind {
            "task_started" | "turn_started" => {
                self.flush_said(out);
                self.flush_calls(out);
                self.in_response = false;
                self.turn = TurnState::Open;
                self.error = None;
                self.answer = None;
            }
            "task_complete" | "turn_complete" => self.on_complete(event, out),
            "turn_aborted" => {
                self.flush_turn(out);
                let reason = event.reason.as_deref().unwrap_or("aborted");
                let message = format!("the turn was aborted: {reason}");
                self.turn = if reason == "budget_limited" {
                    TurnState::Failed(error("TurnAborted", message, ErrorFamily::Budget))
                } else {
                    TurnState::Interrupted(error("TurnAborted", message, ErrorFamily::Process))
                };
            }
            "error" => {
                let message = event.message.map(Str::into_owned).unwrap_or_default();
                let failed = failure::of_turn(&message, out.place().at);
                self.warn_of(Some(failed), out);
            }
            "stream_error" | "warning" => {
                let message = event.message.map(Str::into_owned).unwrap_or_default();
                self.emit(Signal::Event(notices::of_error(message)), out);
            }
            "user_message" => {
                let text = event.message.map(Str::into_owned).unwrap_or_default();
                let is_known = self.asked.is_none() && self.prompt.as_deref() == Some(&text);
                self.asked = None;
                if !is_known {
                    self.ask(text, out);
                }
            }
            _ if is_known_event(kind) => {}
            _ => out.unparsed(Some(kind), "an event of unknown type"),
        }
    }

    /// Holds an error, and warns of the one before it: only the last one can be why a turn failed.
    fn warn_of(&mut self, next: Option<RunError>, out: &mut SignalSink<'_>) {
        if let Some(earlier) = std::mem::replace(&mut self.error, next) {
            let message = earlier.message;
            self.emit(Signal::Event(Warning { message }.into()), out);
        }
    }

    /// Gives out what is held, because another response begins, or another thread.
    pub(super) fn flush_turn(&mut self, out: &mut SignalSink<'_>) {
        self.flush_said(out);
        self.flush_asked(out);
        self.flush_calls(out);
        self.in_response = false;
    }

    fn on_complete(&mut self, event: EventPayload<'_>, out: &mut SignalSink<'_>) {
        self.flush_turn(out);
        let duration = event.duration_ms;
        if let Some(duration) = duration {
            let sum = self.duration_ms.unwrap_or(0).saturating_add(duration);
            self.duration_ms = Some(sum);
        }
        let answer = event.answer.map(Str::into_owned);
        let reported = match &event.error {
            Value::Null => None,
            Value::String(message) => Some(message.clone()),
            value => {
                let message = value.get("message").and_then(Value::as_str);
                Some(message.map_or_else(|| value.to_string(), str::to_owned))
            }
        };
        let failed = reported.map(|message| failure::of_turn(&message, out.place().at));
        self.turn = match failed {
            Some(error) => TurnState::Failed(error),
            // A turn that ends without an answer ended for the error before it.
            None if answer.is_none() && self.error.is_some() => match self.error.take() {
                Some(error) => TurnState::Failed(error),
                None => TurnState::Ended,
            },
            None => TurnState::Ended,
        };
        self.warn_of(None, out);
        self.answer = answer.or(self.answer.take());
    }

    pub(super) fn on_compacted(&mut self, out: &mut SignalSink<'_>) {
        self.emit(Signal::Event(compaction(None).into()), out);
    }

    /// Gives out what is held, because no more lines will come.
    pub(super) fn close(&mut self, out: &mut SignalSink<'_>) {
        self.flush_said(out);
        self.flush_asked(out);
        let child = self.child.clone();
        let scope = scope_of(child.as_ref());
        let has_open_calls = !self.calls.is_empty();
        self.calls.finish(scope, &mut self.spawned, out);
        if has_open_calls && matches!(self.turn, TurnState::Unmarked) {
            self.answer = None;
        }
    }

    /// Ends a sub-agent that has ended itself.
    pub(super) fn end_child(&mut self, out: &mut SignalSink<'_>) {
        let Some(child) = self.child.clone() else {
            return;
        };
        let (is_error, text) = match &self.turn {
            TurnState::Ended => (false, self.answer.take()),
            TurnState::Failed(error) | TurnState::Interrupted(error) => {
                (true, Some(error.message.clone()))
            }
            TurnState::Unmarked | TurnState::Open => return,
        };
        out.emit(Signal::ChildEnd {
            call: (*child).into(),
            is_error,
            text: text.map(Into::into),
        });
    }

    /// Returns what stands last, the answer where there is one, and how long all turns took.
    pub(super) fn into_last_word(self) -> (LastWord, Option<String>, Option<u64>) {
        let last = match self.turn {
            TurnState::Ended => LastWord::Answer { is_proven: true },
            TurnState::Failed(error) => LastWord::Failure(error),
            TurnState::Interrupted(error) => LastWord::Interrupted(error),
            TurnState::Unmarked if self.answer.is_some() => LastWord::Answer { is_proven: false },
            TurnState::Unmarked | TurnState::Open => LastWord::Open,
        };
        (last, self.answer, self.duration_ms)
    }
}

/// Joins the sections of a summary as the output does.
fn joined(content: &Content<'_>) -> String {
    match content {
        Content::Pieces(pieces) => {
            let texts: Vec<&str> = pieces
                .iter()
                .filter_map(|piece| piece.text.as_deref())
                .collect();
            texts.join("\n")
        }
        other => other.text(),
    }
}

/// Tells whether an event is known to say nothing that another line does not say, too.
fn is_known_event(kind: &str) -> bool {
    const KINDS: &[&str] = &[
        "thread_settings_applied",
        "thread_name_updated",
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "context_compacted",
        "entered_review_mode",
        "exited_review_mode",
        "item_started",
        "plan_update",
        "turn_diff",
        "thread_rolled_back",
        "undo_completed",
        "shutdown_complete",
        "session_configured",
        "background_event",
    ];
    KINDS.contains(&kind)
        || [
            "exec_command_",
            "patch_apply_",
            "mcp_tool_call_",
            "web_search_",
            "collab_",
        ]
        .iter()
        .any(|start| kind.starts_with(start))
}
