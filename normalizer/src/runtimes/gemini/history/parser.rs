//! Makes signals of the lines of one run.
//!
//! Lines come in the order in which they were written, those of sub-agents at the end, and a record may
//! come again, with more or with less than before: each line gives what it adds.

use std::collections::{HashMap, HashSet};

use runtape_core::runtime_event::{Compaction, Info, PermissionDenied, Warning};
use runtape_core::{RuntimeEventKind, Stream, ToolCallId};

use super::calls::{Answer, written_calls};
use super::conversation::{AgentEnd, Conversations, MAIN};
use super::said::{RecordKey, Said, fingerprint};
use super::wire::{Call, Content, Line, Thought, join_texts};
use super::words::{Speaker, directory, speaker};
use crate::exit::Exit;
use crate::history::{LastWord, judge};
use crate::lines;
use crate::parser::{RuntimeParser, SignalSink};
use crate::runtimes::gemini::failure::Stated;
use crate::runtimes::gemini::{session_id, tools, usage};
use crate::signal::{Scope, Signal, TapePlace, Verdict};
use crate::unnamed_calls::UnnamedCalls;

/// Reads the lines of one run.
#[derive(Debug)]
pub(super) struct GeminiHistory {
    has_format: bool,
    note: Option<PendingNote>,
    known: HashMap<RecordKey, Known>,
    conversations: Conversations,
    /// Calls that have their result, by their place in their record and by their id.
    answered: HashSet<u64>,
    /// Texts in the model's name that no model is known to have said.
    unsaid: HashMap<RecordKey, String>,
    /// What a list of records has in the user's name and nobody typed.
    summary: Option<Summary>,
    last: LastWord,
    /// The time of the last line of the main conversation.
    last_at: i64,
    unnamed: UnnamedCalls,
}

impl Default for GeminiHistory {
    fn default() -> Self {
        Self {
            has_format: false,
            note: None,
            known: HashMap::new(),
            conversations: Conversations::default(),
            answered: HashSet::new(),
            unsaid: HashMap::new(),
            summary: None,
            last: LastWord::Open,
            last_at: 0,
            unnamed: UnnamedCalls::default(),
        }
    }
}

/// A note on the record that comes next.
#[derive(Debug, Default)]
struct PendingNote {
    record: String,
    agent: Option<String>,
    is_listed: bool,
}

/// What is known of a record.
#[derive(Clone, Copy, Debug)]
struct Known {
    conversation: usize,
    said: Said,
}

#[derive(Debug)]
struct Summary {
    conversation: usize,
    text: String,
    place: TapePlace,
}

/// Where a record belongs.
struct RecordPlace {
    key: RecordKey,
    conversation: usize,
    /// What was said of it before.
    before: Option<Said>,
    /// It was written as a part of a list only.
    is_listed: bool,
}

impl RuntimeParser for GeminiHistory {
    fn push_line(&mut self, stream: Stream, line: &lines::Line<'_>, out: &mut SignalSink<'_>) {
        if stream != Stream::History || line.bytes.trim_ascii().is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.has_format, true) {
            out.emit(Signal::Format("history"));
        }
        match out.read::<Line<'_>>("history", line.bytes) {
            Ok(line) => self.on_line(line, out),
            Err(error) => out.unparsed(None, error.to_string()),
        }
    }

    fn finish(&mut self, _: &Exit, out: &mut SignalSink<'_>) {
        self.end_summary(false, out);
        let place = out.place();
        self.conversations.finish(out);
        let at = self.last_at.max(place.at);
        let last = std::mem::replace(&mut self.last, LastWord::Open);
        judge(last, &mut out.at(TapePlace { at, ..place }));
    }
}

impl GeminiHistory {
    fn on_line(&mut self, line: Line<'_>, out: &mut SignalSink<'_>) {
        if let Some(note) = line.note {
            self.note = Some(PendingNote {
                record: note.record.unwrap_or_default().into_owned(),
                agent: note.agent.map(crate::json::Str::into_owned),
                is_listed: note.is_listed,
            });
            return;
        }
        out.unknown_keys("history", &line.unknown);
        if let Some(set) = line.set {
            out.unknown_keys("history.$set", &set.unknown);
            on_header(set.session.as_deref(), set.directories, out);
        } else if let Some(id) = line.rewind {
            let message = format!("rewound to before {id}");
            let topic = Some("rewind".to_owned());
            out.event(Info { topic, message });
        } else if line.id.is_some() {
            self.on_record(line, out);
        } else if line.session.is_some() {
            out.set_written_time(line.start_time.as_deref());
            on_header(line.session.as_deref(), line.directories, out);
        } else {
            out.unparsed(None, "a line of no known shape");
        }
    }

    fn on_record(&mut self, line: Line<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(line.timestamp.as_deref());
        let id = line.id.as_deref().unwrap_or_default();
        let kind = line.kind.as_deref().unwrap_or_default();
        let note = self.note.take().filter(|note| note.record == id);
        let note = note.unwrap_or_default();
        let key = RecordKey::of(id, kind);
        let known = self.known.get(&key).copied();
        let conversation = match known {
            Some(known) => known.conversation,
            None => self.conversations.of(note.agent.as_deref()),
        };
        if conversation == MAIN && known.is_none() {
            self.last_at = self.last_at.max(out.place().at);
        }
        let record = RecordPlace {
            key,
            conversation,
            before: known.map(|known| known.said),
            is_listed: note.is_listed,
        };
        let call = self.conversations.call(conversation);
        let scope = call.as_deref().map_or(Scope::Main, Scope::Child);
        if kind != "gemini" {
            self.end_summary(false, out);
        }
        match kind {
            "gemini" => self.on_message(&record, scope, line, out),
            "user" => self.on_user(&record, scope, line, out),
            "info" | "warning" | "error" => self.on_notice(&record, scope, kind, line.content, out),
            "" => out.unparsed(None, "a record without a type"),
            kind => out.unparsed(Some(kind), "a record of unknown type"),
        }
    }

    /// Notes what is known of a record.
    fn learn(&mut self, record: &RecordPlace, said: Said) {
        let known = Known {
            conversation: record.conversation,
            said: record.before.unwrap_or_default().plus(said),
        };
        self.known.insert(record.key, known);
    }

    fn on_user(
        &mut self,
        record: &RecordPlace,
        scope: Scope<'_>,
        line: Line<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let mut parts = line.content.into_parts();
        let text = join_texts(&mut parts);
        let mut has_results = false;
        for part in parts {
            out.unknown_keys("history.part", &part.unknown);
            let Some(response) = part.response else {
                continue;
            };
            has_results = true;
            let id = response.id.as_deref().unwrap_or_default().to_owned();
            let name = response.name.as_deref().unwrap_or_default().to_owned();
            if self.answered.insert(fingerprint(id.as_bytes())) {
                self.answer(scope, &id, &name, Answer::of_response(response), out);
            }
        }
        let shown = (!line.shown.is_absent()).then(|| join_texts(&mut line.shown.into_parts()));
        let speaker = speaker(&text, shown.as_deref());
        if speaker == Speaker::Context {
            if let (Scope::Main, Some(directory)) = (scope, directory(&text)) {
                out.emit(Signal::Cwd(directory));
            }
            return;
        }
        let is_known = record.before.is_some() || (has_results && text.is_empty());
        if is_known {
            return;
        }
        self.learn(record, Said::default());
        if has_results {
            // Words beside results are the CLI's.
            emit_event(scope, info("user", text), out);
        } else if speaker == Speaker::Nudge {
            emit_event(scope, Warning { message: text }, out);
        } else if record.is_listed {
            self.summary = Some(Summary {
                conversation: record.conversation,
                text,
                place: out.place(),
            });
        } else {
            self.conversations.open(record.conversation, None);
            out.emit_in(scope, Signal::User(shown.unwrap_or(text).into()));
            if record.conversation == MAIN {
                self.last = LastWord::Open;
            }
        }
    }

    fn on_notice(
        &mut self,
        record: &RecordPlace,
        scope: Scope<'_>,
        kind: &str,
        content: Content<'_>,
        out: &mut SignalSink<'_>,
    ) {
        if record.before.is_some() {
            return;
        }
        self.learn(record, Said::default());
        let message = join_texts(&mut content.into_parts());
        if message.is_empty() {
            return;
        }
        // A notice after an answer is about something else.
        let is_failure = kind == "error" && self.last == LastWord::Open;
        if is_failure && record.conversation == MAIN {
            let stated = Stated {
                message: message.clone(),
                at: out.place().at,
                ..Stated::default()
            };
            self.last = match stated.verdict(None) {
                Verdict::Success => LastWord::Open,
                Verdict::Error(error) => LastWord::Failure(error),
                Verdict::TurnLimit(error) => LastWord::TurnLimit(error),
            };
        }
        match kind {
            "info" => emit_event(scope, info(kind, message), out),
            _ => emit_event(scope, Warning { message }, out),
        }
    }

    /// Ends what waits for the message that tells whether it is a summary.
    fn end_summary(&mut self, is_summary: bool, out: &mut SignalSink<'_>) {
        let Some(summary) = self.summary.take() else {
            return;
        };
        let call = self.conversations.call(summary.conversation);
        let scope = call.as_deref().map_or(Scope::Main, Scope::Child);
        let event: RuntimeEventKind = match is_summary {
            true => compaction(summary.text).into(),
            false => info("user", summary.text).into(),
        };
        out.emit_at(summary.place, scope, Signal::Event(event));
    }

    fn on_message(
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
            self.last = match said.content && said.calls == 0 {
                true => LastWord::Answer { is_proven: false },
                // Of a message whose calls were cut off, no more is left than that it was there.
                false => LastWord::Open,
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
            match record.is_listed && self.summary.is_some() {
                true => self.end_summary(true, out),
                false => emit_event(scope, info("gemini", text.clone()), out),
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
    fn answer(
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

fn on_header(session: Option<&str>, directories: Content<'_>, out: &mut SignalSink<'_>) {
    if let Some(session) = session.and_then(session_id) {
        out.emit(Signal::Session(session));
    }
    let first = directories.into_parts().into_iter().next();
    if let Some(directory) = first.and_then(|part| part.text) {
        out.emit(Signal::Cwd(&directory));
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

fn info(topic: &str, message: String) -> Info {
    let topic = Some(topic.to_owned());
    Info { topic, message }
}

fn compaction(summary: String) -> Compaction {
    Compaction {
        trigger: None,
        pre_tokens: None,
        post_tokens: None,
        duration_ms: None,
        message: Some(summary),
    }
}

fn emit_event(scope: Scope<'_>, event: impl Into<RuntimeEventKind>, out: &mut SignalSink<'_>) {
    out.emit_in(scope, Signal::Event(event.into()));
}
