//! Messages of the model, their calls, and what tools gave back.

use runtape_core::ToolCallId;
use runtape_core::runtime_event::PermissionDenied;

use super::calls::{Answer, written_calls};
use super::conversation::{AgentEnd, MAIN};
use super::parser::{GeminiHistory, RecordPlace, emit_event, info};
use super::said::{RecordKey, Said, fingerprint};
use super::wire::{Call, Line, Thought, join_texts};
use crate::history::LastWord;
use crate::parser::SignalSink;
use crate::runtimes::gemini::{tools, usage};
use crate::signal::{Scope, Signal};

impl GeminiHistory {
    pub(super) fn on_message(
        &mut self,
        record: &RecordPlace,
        scope: Scope<'_>,
        line: Line<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let id = line.id.as_deref().unwrap_or_default();
        let model = line.model.as_deref().filter(|model| !model.is_empty());
        let mut content = line.content;
        let mut calls = line.calls.0;
        if calls.is_empty() {
            calls = written_calls(&mut content);
        }
        let mut parts = content.into_parts();
        for part in &parts {
            out.unknown_keys("history.part", &part.unknown);
        }
        let mut text = join_texts(&mut parts);
        let mut said = Said {
            content: !text.is_empty(),
            tokens: line.tokens.is_some(),
            model: model.is_some(),
            thoughts: line.thoughts.0.len(),
            calls: calls.len(),
            results: 0,
        };
        let before = record.before.unwrap_or_default();
        if !before.plus(said).is_response() {
            return self.on_unsaid(record, scope, text, out);
        }
        // A line before it had the text, and nothing to tell who said it.
        if let Some(unsaid) = self.unsaid.remove(&record.key).filter(|_| !said.content) {
            said.content = true;
            text = unsaid;
        }
        self.end_summary(false, out);
        self.learn(record, said);
        if !before.is_response() {
            self.conversations
                .open(record.conversation, Some(record.key));
            out.emit_in(scope, Signal::Step(Some(id)));
            out.emit_in(scope, Signal::MessagePrinted);
        }
        if let Some(model) = model {
            out.emit_in(scope, Signal::Model(model));
        }
        think(scope, line.thoughts.0, before.thoughts, out);
        if said.content && !before.content {
            out.emit_in(scope, Signal::Text(text.into()));
        }
        let has_thoughts = before.thoughts + said.thoughts > 0;
        let counts = line.tokens.as_ref().map(|tokens| {
            out.unknown_keys("history.tokens", &tokens.unknown);
            usage::of_tokens(tokens, has_thoughts)
        });
        if counts.is_some() || !before.is_response() {
            let usage = Signal::Usage {
                key: id.into(),
                counts: counts.unwrap_or_default(),
                model: model.map(Into::into),
            };
            out.emit_in(scope, usage);
        }
        self.on_calls(record.key, before.calls, scope, calls, out);
        let is_open = self.conversations.is_open(record.conversation, record.key);
        if record.conversation == MAIN && is_open {
            let said = before.plus(said);
            // Of a message whose calls were cut off, no more is left than that it was there.
            self.last = if said.content && said.calls == 0 {
                LastWord::Answer { is_proven: false }
            } else {
                LastWord::Open
            };
        }
    }

    /// Takes a message in the model's name that no model is known to have said.
    fn on_unsaid(
        &mut self,
        record: &RecordPlace,
        scope: Scope<'_>,
        text: String,
        out: &mut SignalSink<'_>,
    ) {
        if record.before.is_none() {
            self.learn(record, Said::default());
            if record.is_listed && self.summary.is_some() {
                self.end_summary(true, out);
            } else {
                emit_event(scope, info("gemini", text.clone()), out);
            }
        }
        if !text.is_empty() {
            self.unsaid.entry(record.key).or_insert(text);
        }
    }

    /// Emits the calls of a message from the first that is new, and the results that are new.
    fn on_calls(
        &mut self,
        key: RecordKey,
        known: usize,
        scope: Scope<'_>,
        calls: Vec<Call<'_>>,
        out: &mut SignalSink<'_>,
    ) {
        let mut answers = Vec::new();
        for (index, mut call) in calls.into_iter().enumerate() {
            out.unknown_keys("history.call", &call.unknown);
            let id = call.id.as_deref().unwrap_or_default().to_owned();
            let name = call.name.as_deref().unwrap_or_default().to_owned();
            if index >= known {
                let input = std::mem::take(&mut call.input);
                let detail = tools::detail(&name, &input);
                let call = self.unnamed.call(scope, Some(&id), &name);
                let name = name.as_str().into();
                let signal = Signal::ToolCall {
                    call,
                    name,
                    input,
                    detail,
                };
                out.emit_in(scope, signal);
            }
            if let Some(agent) = call.agent.as_deref() {
                self.conversations.delegate(agent, &id);
                out.emit_in(scope, Signal::Delegates(&id));
            }
            let Some(answer) = Answer::of_call(&mut call) else {
                continue;
            };
            if self.answered.insert(key.call(index)) {
                self.answered.insert(fingerprint(id.as_bytes()));
                answers.push((id, name, call.timestamp, call.agent, answer));
            }
        }
        // All calls of a message stand before the first result.
        for (id, name, timestamp, agent, answer) in answers {
            let mut out = out.at(out.place());
            out.set_written_time(timestamp.as_deref());
            if matches!(scope, Scope::Main) {
                self.last_at = self.last_at.max(out.place().at);
            }
            if let Some(agent) = agent.as_deref() {
                let end = AgentEnd {
                    is_error: answer.is_error == Some(true),
                    text: answer.text(),
                    place: out.place(),
                };
                self.conversations.end(agent, end);
            }
            self.answer(scope, &id, &name, answer, &mut out);
        }
    }

    /// Emits what a tool gave back.
    pub(super) fn answer(
        &mut self,
        scope: Scope<'_>,
        id: &str,
        name: &str,
        answer: Answer<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let call = self.unnamed.result(scope, Some(id), Some(name));
        let signal = Signal::ToolResult {
            call,
            name: Some(name.into()),
            content: answer.content,
            is_error: answer.is_error,
            duration_ms: None,
        };
        out.emit_in(scope, signal);
        if let Some(message) = answer.denial {
            let denied = PermissionDenied {
                tool_name: name.to_owned(),
                tool_call_id: ToolCallId::from_printed(id),
                message: Some(message),
            };
            emit_event(scope, denied, out);
        }
    }
}

/// Emits the thoughts that are new, each with its subject as a heading, as the model wrote it.
fn think(scope: Scope<'_>, thoughts: Vec<Thought<'_>>, known: usize, out: &mut SignalSink<'_>) {
    for thought in thoughts.into_iter().skip(known) {
        out.unknown_keys("history.thought", &thought.unknown);
        let subject = thought.subject.unwrap_or_default();
        let description = thought.description.unwrap_or_default();
        let text = match (subject.is_empty(), description.is_empty()) {
            (true, _) => description.into_cow(),
            (false, true) => format!("**{subject}**").into(),
            (false, false) => format!("**{subject}**\n\n{description}").into(),
        };
        let signature = None;
        out.emit_in(scope, Signal::Thinking { text, signature });
    }
}
