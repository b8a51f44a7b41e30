//! The rows of one run, its sub-agents' after its own.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use runtape_core::TokenCounts;
use runtape_core::runtime_event::Info;
use serde_json::Value;

use super::sessions::is_own;
use super::wire::{Message, MessageLine, NoteLine, SessionLine, SessionRow, ToolOutcome, calls};
use crate::bounds;
use crate::history::{LastWord, LineReader, NOTE, judge, millis, table_of};
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::runtimes::hermes::session::is_session_id;
use crate::runtimes::hermes::tools::{self, DELEGATE};
use crate::signal::{Block, CHILD_LABEL, CallRef, Scope, Signal, compaction};
use crate::verdict::VerdictWord;

/// What the CLI says in the model's place when it was interrupted.
const INTERRUPTED: &str = "Operation interrupted";

/// What a tool's result begins with that the CLI gave in its place.
const NOT_RUN: &[&str] = &["Tool '", "[Tool execution cancelled", "Error"];

/// A session of a sub-agent.
#[derive(Debug, Default)]
struct ChildSession {
    /// The call that started it, and its id.
    scope: Option<Arc<str>>,
    state: SessionState,
}

/// How far a session is.
#[derive(Debug, Default)]
struct SessionState {
    last: RowState,
    text: Option<String>,
    has_ended: bool,
    used: TokenCounts,
    cost: Option<f64>,
}

/// What the last row was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowState {
    /// Something that wants an answer.
    #[default]
    Open,
    Answered,
    /// The CLI says that it was interrupted.
    Interrupted,
}

/// Reads the rows of one run.
#[derive(Default)]
pub(super) struct StateParser {
    /// The run begins with the session, so that the session's total is its own.
    is_first: bool,
    /// The sessions of the main conversation.
    main: HashSet<String>,
    state: SessionState,
    has_total: bool,
    children: Vec<ChildSession>,
    numbers: HashMap<String, usize>,
    /// Rows that were read: one that comes again says nothing new.
    seen: HashSet<(Option<usize>, i64)>,
}

impl LineReader for StateParser {
    fn on_line(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        match table_of(bytes) {
            Some(NOTE) => self.on_note(bytes, out),
            Some("sessions") => {
                let line: SessionLine<'_> = out.read("sessions", bytes)?;
                self.on_session(&line.row, out);
                Ok(())
            }
            Some("messages") => {
                let line: MessageLine<'_> = out.read("messages", bytes)?;
                self.on_message(line.row, out);
                Ok(())
            }
            table => {
                decode::<serde::de::IgnoredAny>(bytes)?;
                out.unparsed(table, "a row of an unknown table");
                Ok(())
            }
        }
    }

    fn end(&mut self, out: &mut SignalSink<'_>) {
        let mut used = self.state.used;
        let mut cost = self.state.cost;
        for (id, child) in self.in_order() {
            used = used.plus(child.state.used);
            cost = match (cost, child.state.cost) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            };
            child.end(id, out);
        }
        if self.has_total && self.is_first {
            out.emit(Signal::Total(used));
            if let Some(cost) = cost {
                out.emit(Signal::Cost(cost));
            }
        } else if self.has_total {
            // Sub-agents' sessions are not in it.
            out.emit(Signal::SessionTotal(self.state.used));
        }
        judge(
            match self.state.last {
                RowState::Answered => LastWord::Answer { is_proven: false },
                RowState::Open => LastWord::Open,
                RowState::Interrupted => LastWord::interrupted(INTERRUPTED),
            },
            out,
        );
    }
}

impl StateParser {
    /// Returns the sub-agents in the order they appeared, with their ids.
    fn in_order(&self) -> Vec<(&str, &ChildSession)> {
        let mut known: Vec<(&String, &usize)> = self.numbers.iter().collect();
        known.sort_by_key(|(_, number)| **number);
        let children = known
            .into_iter()
            .filter_map(|(id, number)| Some((id.as_str(), self.children.get(*number)?)));
        children.collect()
    }

    fn on_note(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let note = decode::<NoteLine<'_>>(bytes)?.value.row;
        self.is_first |= note.is_first == Some(true);
        if let Some(next) = note.continues
            && self.main.insert(next.into_owned())
        {
            out.event(compaction(None));
        }
        if let Some(child) = note
            .child
            .filter(|child| !self.numbers.contains_key(child.as_str()))
        {
            let call = note.call.as_deref().unwrap_or(&child);
            let scope = Arc::from(format!("{call}{CHILD_LABEL}{child}"));
            self.numbers.insert(child.into_owned(), self.children.len());
            self.children.push(ChildSession {
                scope: Some(scope),
                ..ChildSession::default()
            });
        }
        Ok(())
    }

    fn on_session(&mut self, row: &SessionRow<'_>, out: &mut SignalSink<'_>) {
        let Some(id) = row.id.as_deref() else {
            return out.unparsed(Some("sessions"), "id: missing");
        };
        out.set_millis(millis(row.started));
        let number = self.numbers.get(id).copied();
        let child = number.and_then(|number| self.children.get_mut(number));
        let counts = counts(row);
        let model = row.model.as_deref().filter(|model| !model.is_empty());
        if let Some(child) = child {
            if let Some(model) = model {
                child.emit(Signal::Model(model), out);
            }
            child.state.has_ended |= row.ended.is_some();
            if !counts.is_unknown() {
                child.state.used = counts;
                child.state.cost = cost(row).or(child.state.cost);
                // Rows have no usage of their own: a session counts as one response.
                let usage = Signal::Usage {
                    key: id.into(),
                    counts,
                    model: model.map(Into::into),
                };
                child.emit(usage, out);
            }
            return;
        }
        let is_new = self.main.insert(id.to_owned());
        if is_session_id(id) && is_new {
            out.emit(Signal::Session(id));
        }
        if let Some(model) = model {
            out.emit(Signal::Model(model));
        }
        if let Some(cwd) = row.cwd() {
            out.emit(Signal::Cwd(&cwd));
        }
        if !counts.is_unknown() {
            // A session that goes on counts its own; the same row again counts what it says now.
            let before = if self.has_total && is_new && self.main.len() > 1 {
                self.state.used
            } else {
                TokenCounts::default()
            };
            self.has_total = true;
            self.state.used = before.plus(counts);
            self.state.cost = cost(row).or(self.state.cost);
        }
    }

    fn on_message(&mut self, mut row: Message<'_>, out: &mut SignalSink<'_>) {
        let session = row.session.as_deref().unwrap_or_default();
        let number = self.numbers.get(session).copied();
        if !self.seen.insert((number, row.id.unwrap_or(i64::MAX))) {
            return;
        }
        out.unknown_keys("messages", &row.unknown);
        out.set_millis(millis(row.at));
        let role = row.role.take().unwrap_or_default();
        let child = number.and_then(|number| self.children.get_mut(number));
        let (scope, state) = match child {
            Some(child) => (child.scope.clone(), &mut child.state),
            None => (None, &mut self.state),
        };
        let scope = scope.as_deref().map_or(Scope::Main, Scope::Child);
        match role.as_str() {
            "user" => on_user(row, scope, state, out),
            "assistant" => on_assistant(row, scope, state, out),
            "tool" => on_tool(row, scope, state, out),
            // The prompt of the CLI's own, and what it wrote down of the session.
            "system" | "session_meta" => {}
            role => out.unparsed(Some(role), "a message of an unknown role"),
        }
    }
}

impl ChildSession {
    fn emit(&self, signal: Signal<'_>, out: &mut SignalSink<'_>) {
        let scope = self.scope.as_deref().map_or(Scope::Main, Scope::Child);
        out.emit_in(scope, signal);
    }

    /// Ends a sub-agent that has answered, or was closed.
    fn end(&self, id: &str, out: &mut SignalSink<'_>) {
        let is_error = self.state.last != RowState::Answered;
        if is_error && !self.state.has_ended {
            return;
        }
        out.emit(Signal::ChildEnd {
            call: self.scope.as_deref().unwrap_or(id).into(),
            is_error,
            text: self.state.text.as_deref().map(Into::into),
        });
    }
}

fn on_user(row: Message<'_>, scope: Scope<'_>, state: &mut SessionState, out: &mut SignalSink<'_>) {
    state.last = RowState::Open;
    let text = row.content.map(Str::into_owned).unwrap_or_default();
    let signal = if is_own(&text) {
        let topic = Some("hermes".to_owned());
        let message = text;
        Signal::Event(Info { topic, message }.into())
    } else {
        Signal::User(text.into())
    };
    out.emit_in(scope, signal);
}

fn on_assistant(
    row: Message<'_>,
    scope: Scope<'_>,
    state: &mut SessionState,
    out: &mut SignalSink<'_>,
) {
    let text = row.content.map(Str::into_owned).unwrap_or_default();
    let list = row.calls.as_deref().unwrap_or_default();
    if text.starts_with(INTERRUPTED) && list.is_empty() {
        state.last = RowState::Interrupted;
        let info = Info {
            topic: Some("interrupted".to_owned()),
            message: text,
        };
        return out.emit_in(scope, Signal::Event(info.into()));
    }
    out.emit_in(scope, Signal::Step(None));
    let reasoning = row.reasoning.filter(|text| !text.is_empty());
    let reasoning = reasoning.or(row.reasoning_content);
    if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
        let thinking = Signal::Thinking {
            text: text.into_cow(),
            signature: None,
        };
        out.emit_in(scope, thinking);
    }
    if text.is_empty() {
        out.emit_in(scope, Signal::MessagePrinted);
    } else {
        out.emit_in(scope, Signal::Text(text.as_str().into()));
    }
    let called = match calls(list) {
        Some(called) => called,
        None if list.is_empty() => Vec::new(),
        None => {
            out.unparsed(Some("assistant"), "tool_calls: not a list of calls");
            Vec::new()
        }
    };
    state.last = if called.is_empty() && list.len() <= "null".len() {
        RowState::Answered
    } else {
        RowState::Open
    };
    state.text = Some(text);
    for call in &called {
        let Some(id) = call.id() else {
            out.unparsed(Some("assistant"), "tool_calls: a call without an id");
            continue;
        };
        let name = call.function.name.as_deref().unwrap_or_default();
        let input = call.arguments();
        let signal = Signal::ToolCall {
            call: CallRef::Printed(id),
            name: name.into(),
            detail: tools::detail_of_arguments(name, &input),
            input,
        };
        out.emit_in(scope, signal);
        if name == DELEGATE {
            out.emit_in(scope, Signal::Delegates(id));
        }
    }
}

fn on_tool(row: Message<'_>, scope: Scope<'_>, state: &mut SessionState, out: &mut SignalSink<'_>) {
    state.last = RowState::Open;
    let Some(id) = row.call.filter(|id| !id.is_empty()) else {
        return out.unparsed(Some("tool"), "tool_call_id: missing");
    };
    let text = row.content.map(Str::into_cow);
    let is_error = text.as_deref().and_then(has_failed);
    if let Some(denial) = text.as_deref().and_then(denial_in) {
        let name = row.tool.as_deref().unwrap_or_default();
        let mut denied = tools::denied(name, &denial);
        denied.tool_call_id = runtape_core::ToolCallId::from_printed(&id);
        out.emit_in(scope, Signal::Event(denied.into()));
    }
    out.emit_in(
        scope,
        Signal::ToolResult {
            call: CallRef::Printed(&id),
            name: row.tool.map(Str::into_cow),
            content: text.map(Block::Text).into_iter().collect(),
            is_error,
            duration_ms: None,
        },
    );
}

/// Tells whether a result is one of a failed call, as far as it says so itself.
fn has_failed(text: &str) -> Option<bool> {
    let outcome = if text.trim_start().starts_with('{') {
        decode::<ToolOutcome<'_>>(text.as_bytes()).ok()
    } else {
        None
    };
    let Some(outcome) = outcome.map(|decoded| decoded.value) else {
        let is_refused = NOT_RUN.iter().any(|start| text.starts_with(start));
        return is_refused.then_some(true);
    };
    let has_error = match &outcome.error {
        VerdictWord::Missing | VerdictWord::Flag(false) => false,
        VerdictWord::Word(text) => !text.is_empty(),
        VerdictWord::Flag(true) | VerdictWord::Other(_) => true,
    };
    let has_failed = match &outcome.exit_code {
        VerdictWord::Other(code) => code.as_i64().is_some_and(|code| code != 0),
        _ => false,
    };
    let is_failure = matches!(outcome.status.word(), Some("error" | "failed"));
    Some(has_error || has_failed || is_failure || outcome.success.flag() == Some(false))
}

/// Returns why a command was not run, where nobody allowed it.
fn denial_in(text: &str) -> Option<String> {
    if !text.contains("BLOCKED: ") {
        return None;
    }
    let result: Value = serde_json::from_str(text).ok()?;
    let error = result.get("error")?.as_str()?;
    error.starts_with("BLOCKED: ").then(|| error.to_owned())
}

/// What a session used. Input excludes what was read from the cache; what was written to it was sent.
fn counts(row: &SessionRow<'_>) -> TokenCounts {
    let count = |count: Option<u64>| count.map(bounds::count);
    let written = count(row.cache_write);
    let counts = TokenCounts {
        input_tokens: count(row.input).map(|input| input.saturating_add(written.unwrap_or(0))),
        cached_input_tokens: count(row.cache_read),
        output_tokens: count(row.output),
        reasoning_tokens: count(row.reasoning),
        ..TokenCounts::default()
    };
    counts.with_writes(written, None)
}

/// What a session cost, where the CLI knows.
fn cost(row: &SessionRow<'_>) -> Option<f64> {
    let is_known = !matches!(row.cost_status.as_deref(), None | Some("unknown" | ""));
    let actual = row.actual_cost.filter(|cost| *cost > 0.0);
    actual.or(row.estimated_cost.filter(|_| is_known))
}
