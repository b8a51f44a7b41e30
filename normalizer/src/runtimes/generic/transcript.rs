//! Entries of a transcript.
//!
//! An entry does not say which turn of the model it belongs to. A text, reasoning or a call after a
//! result opens the next step, but a call while another one of the step is open belongs to it: they
//! were made together. What a user says ends a step.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use runtape_core::runtime_event::{Info, StderrText, StdoutText};
use runtape_core::transcript::{
    Assistant, Init, RunResult, Thinking, ToolCall, ToolResult, TranscriptKind,
};
use runtape_core::{LateValue, RuntimeEventKind, TranscriptEntry};
use serde_json::json;

use super::messages::HeldText;
use super::{failure, tools, usage};
use crate::parser::SignalSink;
use crate::session_id::is_path_with_digit;
use crate::signal::{Block, CallRef, Outcome, Scope, Signal, TapePlace};
use crate::unnamed_calls::UnnamedCalls;

/// What comes in pieces and goes on.
#[derive(Clone, Copy, Default)]
enum OpenPiece {
    #[default]
    None,
    Text,
    Thinking,
}

/// Reads entries of a transcript.
pub(super) struct Entries {
    unnamed: UnnamedCalls,
    /// A step is open.
    is_open: bool,
    /// The open step has a result.
    is_answered: bool,
    /// Hashes of the calls of the open step that have no result.
    pending: HashSet<u64>,
    hasher: FixedState,
    open_part: OpenPiece,
    spoken: HeldText,
    /// The model, until it is named.
    model: Option<(TapePlace, String)>,
}

impl Entries {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            unnamed: UnnamedCalls::default(),
            is_open: false,
            is_answered: false,
            pending: HashSet::new(),
            hasher: FixedState::default(),
            open_part: OpenPiece::None,
            spoken: HeldText::new(limit),
            model: None,
        }
    }

    /// Takes one entry.
    pub(super) fn take(&mut self, entry: TranscriptEntry, out: &mut SignalSink<'_>) {
        out.set_written_time(Some(&entry.ts));
        if !matches!(entry.kind, TranscriptKind::User(_)) {
            self.name_model(out);
        }
        match entry.kind {
            TranscriptKind::Assistant(said) => self.on_assistant(&said, out),
            TranscriptKind::Thinking(thought) => self.on_thinking(&thought, out),
            other => {
                self.close_part(out);
                self.on_other(other, out);
            }
        }
    }

    fn on_other(&mut self, kind: TranscriptKind, out: &mut SignalSink<'_>) {
        let event: RuntimeEventKind = match kind {
            TranscriptKind::User(said) => {
                self.is_open = false;
                out.emit(Signal::User(Cow::Owned(said.text)));
                return self.name_model(out);
            }
            TranscriptKind::ToolCall(call) => return self.on_call(call, out),
            TranscriptKind::ToolResult(result) => return self.on_tool_result(&result, out),
            TranscriptKind::Init(init) => return self.on_init(init, out),
            TranscriptKind::Result(result) => return self.on_result(&result, out),
            TranscriptKind::Stderr(output) => StderrText { text: output.text }.into(),
            TranscriptKind::Stdout(output) => StdoutText { text: output.text }.into(),
            TranscriptKind::System(notice) => info(None, notice.text),
            TranscriptKind::Diff(diff) => {
                info(Some(format!("diff {}", diff.change_type)), diff.text)
            }
            // A kind that this version does not know is told apart before it comes here.
            other => {
                debug_assert!(other.known_tag().is_none(), "{} is not read", other.tag());
                let reason = format!("unknown kind {:?}", other.tag()).into();
                let tag = Some(other.tag().to_owned().into());
                return out.emit(Signal::Unparsed { tag, reason });
            }
        };
        out.emit(Signal::Event(event));
    }

    fn on_init(&mut self, init: Init, out: &mut SignalSink<'_>) {
        out.emit(Signal::TurnOpened);
        session("init", &init.session_id, out);
        self.model = Some((out.place(), init.model));
    }

    /// Names the model. It is held until the entry behind its own: the run is opened with it, and
    /// with what the user asked for, which comes next.
    fn name_model(&mut self, out: &mut SignalSink<'_>) {
        if let Some((place, model)) = self.model.take().filter(|(_, model)| !model.is_empty()) {
            out.emit_at(place, Scope::Main, Signal::Model(&model));
        }
    }

    /// Gives out what was held for an entry that never came.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        self.name_model(out);
    }

    /// Opens the next step, unless what comes belongs to the open one.
    fn open_step(&mut self, is_call: bool, out: &mut SignalSink<'_>) {
        let goes_on = !self.is_answered || (is_call && !self.pending.is_empty());
        if self.is_open && goes_on {
            return;
        }
        self.is_open = true;
        self.is_answered = false;
        self.pending.clear();
        self.spoken.begin();
        out.emit(Signal::Step(None));
    }

    fn on_assistant(&mut self, said: &Assistant, out: &mut SignalSink<'_>) {
        self.open_step(false, out);
        self.spoken.push(&said.text);
        let text = Cow::Borrowed(said.text.as_str());
        if said.delta == Some(true) {
            self.open_part = OpenPiece::Text;
            return out.emit(Signal::TextDelta(text));
        }
        self.open_part = OpenPiece::None;
        out.emit(Signal::Text(text));
    }

    fn on_thinking(&mut self, thought: &Thinking, out: &mut SignalSink<'_>) {
        self.open_step(false, out);
        let text = Cow::Borrowed(thought.text.as_str());
        if thought.delta == Some(true) {
            self.open_part = OpenPiece::Thinking;
            return out.emit(Signal::ThinkingDelta(text));
        }
        self.open_part = OpenPiece::None;
        let signature = None;
        out.emit(Signal::Thinking { text, signature });
    }

    fn close_part(&mut self, out: &mut SignalSink<'_>) {
        match std::mem::take(&mut self.open_part) {
            OpenPiece::None => {}
            OpenPiece::Text => out.emit(Signal::TextEnd),
            OpenPiece::Thinking => out.emit(Signal::ThinkingEnd { signature: None }),
        }
    }

    fn on_call(&mut self, call: ToolCall, out: &mut SignalSink<'_>) {
        self.open_step(true, out);
        let id = call.tool_use_id.as_deref().filter(|id| !id.is_empty());
        let reference = match id {
            Some(id) => CallRef::Printed(id),
            None => self.unnamed.begin(Scope::Main, &call.name),
        };
        self.pending.insert(self.hash(reference));
        out.emit(Signal::ToolCall {
            call: reference,
            name: Cow::Borrowed(&call.name),
            detail: tools::detail(&call.name, &call.input),
            input: call.input,
        });
    }

    fn on_tool_result(&mut self, result: &ToolResult, out: &mut SignalSink<'_>) {
        let tool = result.tool_name.as_deref().filter(|name| !name.is_empty());
        let reference = match result.tool_use_id.as_str() {
            "" => self.unnamed.end(Scope::Main, tool),
            id => CallRef::Printed(id),
        };
        self.pending.remove(&self.hash(reference));
        // Without a call before it, a result opens the step that it is in.
        self.is_open = true;
        self.is_answered = true;
        out.emit(Signal::ToolResult {
            call: reference,
            name: tool.map(Cow::Borrowed),
            content: vec![Block::Text(Cow::Borrowed(&result.content))],
            is_error: Some(result.is_error),
            duration_ms: result.duration_ms,
        });
    }

    fn hash(&self, call: CallRef<'_>) -> u64 {
        match call {
            CallRef::Printed(id) => self.hasher.hash_one(id),
            CallRef::Local(ordinal) => self.hasher.hash_one(ordinal),
        }
    }

    fn on_result(&mut self, result: &RunResult, out: &mut SignalSink<'_>) {
        if let Some(counts) = usage::of_result(result) {
            let raw = json!({"inputTokens": result.input_tokens,
                "outputTokens": result.output_tokens, "cachedTokens": result.cached_tokens});
            out.emit(Signal::RawUsage(LateValue::from(raw)));
            out.emit(Signal::Total(counts));
        }
        // The shape has 0 for a cost that nobody knows.
        if result.cost_usd != 0.0 {
            out.emit(Signal::Cost(result.cost_usd));
        }
        let verdict = failure::of_result(result, |signal| out.emit(signal));
        let text = result.text.as_str();
        let is_answer = verdict.error().is_none_or(|error| error.message != text);
        let answer = self
            .spoken
            .answer(Some(text).filter(|_| is_answer), Scope::Main, out);
        out.emit(Signal::Result(Outcome {
            subtype: Some(Cow::Borrowed(&result.subtype)),
            text: Some(Cow::Borrowed(text)),
            answer: answer.map(Cow::Borrowed),
            ..Outcome::of(verdict)
        }));
        self.is_open = false;
    }
}

/// Takes the id of a session, if it can be one; empty, it is not known yet.
pub(super) fn session(tag: &'static str, id: &str, out: &mut SignalSink<'_>) {
    if is_path_with_digit(id) {
        out.emit(Signal::Session(id));
    } else if !id.is_empty() {
        let shown: String = id.chars().take(40).collect();
        out.emit(Signal::Unparsed {
            tag: Some(tag.into()),
            reason: format!("sessionId: {shown:?} cannot be the id of a session").into(),
        });
    }
}

fn info(topic: Option<String>, message: String) -> RuntimeEventKind {
    Info { topic, message }.into()
}
