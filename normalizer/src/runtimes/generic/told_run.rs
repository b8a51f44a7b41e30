//! One run, as its events tell it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use runtape_core::runtime_event::{Info, InitializeRuntime};
use runtape_core::{
    Checkpoint, ExpertMessage, ExpertPart, Message, TokenCounts, ToolCall, ToolMessage, ToolResult,
    Usage, UserMessage, UserPart,
};
use serde_json::Value;

use super::messages::{HeldText, Streamed};
use super::{tools, transcript, usage};
use crate::parser::SignalSink;
use crate::session_id::is_path_with_digit;
use crate::signal::{CallRef, Outcome, Scope, Signal, TapePlace, Verdict};

/// What is known of one run.
pub(super) struct ToldRun {
    pub(super) id: Box<str>,
    /// What the run used by its last checkpoint.
    pub(super) total: TokenCounts,
    /// The call that delegated it.
    call: Option<Box<str>>,
    introduction: Option<(TapePlace, InitializeRuntime)>,
    step: u64,
    /// The step that something was said in.
    open_step: Option<u64>,
    thinking: Streamed,
    text: Streamed,
    /// Hashes of the calls of the step: events restate them.
    calls: HashSet<u64>,
    hasher: FixedState,
    results: Vec<(TapePlace, ToolResult)>,
    /// How many responses were counted, and the step of the last.
    responses: u64,
    counted_step: Option<u64>,
    spoken: HeldText,
    query: Option<String>,
    session: Option<Box<str>>,
    has_model: bool,
}

impl ToldRun {
    pub(super) fn new(id: &str, limit: usize) -> Self {
        Self {
            id: id.into(),
            total: TokenCounts::default(),
            call: None,
            introduction: None,
            step: 1,
            open_step: None,
            thinking: Streamed::new(limit),
            text: Streamed::new(limit),
            calls: HashSet::new(),
            hasher: FixedState::default(),
            results: Vec::new(),
            responses: 0,
            counted_step: None,
            spoken: HeldText::new(limit),
            query: None,
            session: None,
            has_model: false,
        }
    }

    pub(super) fn is_child(&self) -> bool {
        self.call.is_some()
    }

    fn scope(&self) -> Scope<'_> {
        self.call.as_deref().map_or(Scope::Main, Scope::Child)
    }

    pub(super) fn emit(&self, signal: Signal<'_>, out: &mut SignalSink<'_>) {
        out.emit_in(self.scope(), signal);
    }

    /// Learns which call delegated the run.
    pub(super) fn set_parent(&mut self, checkpoint: &Checkpoint) {
        if let (None, Some(parent)) = (&self.call, &checkpoint.delegated_by) {
            self.call = Some(parent.tool_call_id.as_str().into());
        }
    }

    /// Holds what is said of the runtime until it is known whose child the run is.
    pub(super) fn hold_introduction(&mut self, said: InitializeRuntime, out: &mut SignalSink<'_>) {
        self.query.clone_from(&said.query);
        self.introduction = Some((out.place(), said));
    }

    /// Gives out what is said of the runtime.
    pub(super) fn introduce(&mut self, out: &mut SignalSink<'_>) {
        let Some((place, said)) = self.introduction.take() else {
            return;
        };
        let scope = self.scope();
        if !said.runtime_version.starts_with("external:") {
            out.emit_at(place, scope, Signal::CliVersion(&said.runtime_version));
        }
        // Where the model is not known, the shape has the runtime's name and this.
        if !said.model.is_empty() && !said.model.ends_with(":default") {
            out.emit_at(place, scope, Signal::Model(&said.model));
            self.has_model = true;
        }
    }

    /// A turn begins, unless it is a child's: those have only one.
    pub(super) fn turn_opened(&mut self, out: &mut SignalSink<'_>) {
        if !self.is_child() {
            out.emit(Signal::TurnOpened);
        }
    }

    /// Says what was asked for, if no message did.
    pub(super) fn ask(&mut self, out: &mut SignalSink<'_>) {
        if let Some(query) = self.query.take() {
            self.emit(Signal::User(query.into()), out);
        }
    }

    pub(super) fn at_step(&mut self, step: u64) {
        if self.step != step {
            self.step = step;
            self.thinking.clear();
            self.text.clear();
            // Some models count their calls anew in each turn.
            self.calls.clear();
        }
    }

    fn open_step(&mut self, out: &mut SignalSink<'_>) {
        if self.open_step != Some(self.step) {
            self.open_step = Some(self.step);
            self.spoken.begin();
        }
        let key = format!("{}/{}", self.id, self.step);
        self.emit(Signal::Step(Some(&key)), out);
    }

    /// Takes a message that was not taken before.
    pub(super) fn take(&mut self, message: &Message, out: &mut SignalSink<'_>) {
        match message {
            Message::InstructionMessage(message) => {
                let texts = message.contents.iter();
                let texts = texts.map(|runtape_core::InstructionPart::TextPart(part)| &*part.text);
                let notice = Info {
                    topic: Some("instruction".to_owned()),
                    message: texts.collect(),
                };
                self.emit(Signal::Event(notice.into()), out);
            }
            Message::UserMessage(message) => self.take_user(message, out),
            Message::ExpertMessage(message) => self.take_expert(message, out),
            Message::ToolMessage(message) => self.take_results(message, out),
        }
    }

    fn take_user(&mut self, message: &UserMessage, out: &mut SignalSink<'_>) {
        self.query = None;
        self.open_step = None;
        self.emit(Signal::User(message.text().into()), out);
        let is_text = |part: &UserPart| matches!(part, UserPart::TextPart(_));
        if !message.contents.iter().all(is_text) {
            let reason = "contents: only the text of a user's message is taken".to_owned();
            out.unparsed(Some("userMessage"), reason);
        }
    }

    fn take_expert(&mut self, message: &ExpertMessage, out: &mut SignalSink<'_>) {
        self.open_step(out);
        if message.contents.is_empty() {
            self.emit(Signal::MessagePrinted, out);
        }
        for part in &message.contents {
            match part {
                ExpertPart::ThinkingPart(part) => {
                    let signature = part.signature.as_deref().map(Cow::Borrowed);
                    let signal = if self.thinking.take(&part.thinking) {
                        Signal::ThinkingEnd { signature }
                    } else {
                        let text = Cow::Borrowed(part.thinking.as_str());
                        Signal::Thinking { text, signature }
                    };
                    self.emit(signal, out);
                }
                ExpertPart::TextPart(part) if self.text.take(&part.text) => {
                    self.emit(Signal::TextEnd, out);
                }
                ExpertPart::TextPart(part) => {
                    self.spoken.push(&part.text);
                    self.emit(Signal::Text(Cow::Borrowed(&part.text)), out);
                }
                ExpertPart::ToolCallPart(part) => {
                    let id = part.tool_call_id.as_str();
                    self.calls.insert(self.hasher.hash_one(id));
                    let signal = Signal::ToolCall {
                        call: CallRef::Printed(id),
                        name: Cow::Borrowed(part.tool_name.as_str()),
                        input: part.args.clone(),
                        detail: tools::detail(part.tool_name.as_str(), &part.args),
                    };
                    self.emit(signal, out);
                }
            }
        }
    }

    fn take_results(&mut self, message: &ToolMessage, out: &mut SignalSink<'_>) {
        for part in message.results() {
            self.emit(
                Signal::ToolResult {
                    call: CallRef::Printed(part.tool_call_id.as_str()),
                    name: Some(Cow::Borrowed(part.tool_name.as_str())),
                    content: tools::content_blocks(&part.contents),
                    is_error: part.is_error,
                    duration_ms: None,
                },
                out,
            );
        }
    }

    /// Takes calls. Those that a message had are known.
    pub(super) fn call(&mut self, calls: &[ToolCall], out: &mut SignalSink<'_>) {
        for call in calls {
            if !self.calls.insert(self.hasher.hash_one(call.id.as_str())) {
                continue;
            }
            self.open_step(out);
            let input = Value::Object(call.args.clone());
            self.emit(
                Signal::ToolCall {
                    call: CallRef::Printed(call.id.as_str()),
                    name: Cow::Borrowed(call.tool_name.as_str()),
                    detail: tools::detail(call.tool_name.as_str(), &input),
                    input,
                },
                out,
            );
        }
    }

    /// Holds results for the message that says whether they failed.
    pub(super) fn hold_results(&mut self, results: Vec<ToolResult>, place: TapePlace) {
        let results = results.into_iter().map(|result| (place, result));
        self.results.extend(results);
    }

    /// Gives out the results that were held. Those that a message had are known, and change nothing.
    pub(super) fn flush_results(&mut self, out: &mut SignalSink<'_>) {
        for (place, result) in std::mem::take(&mut self.results) {
            let signal = Signal::ToolResult {
                call: CallRef::Printed(result.id.as_str()),
                name: Some(Cow::Borrowed(result.tool_name.as_str())),
                content: tools::part_blocks(&result.result),
                is_error: None,
                duration_ms: None,
            };
            out.emit_at(place, self.scope(), signal);
        }
    }

    /// Gives out whatever was held.
    pub(super) fn flush(&mut self, out: &mut SignalSink<'_>) {
        self.introduce(out);
        self.flush_results(out);
        self.end_thinking(out);
    }

    pub(super) fn stream_thinking(&mut self, delta: &str, out: &mut SignalSink<'_>) {
        self.open_step(out);
        self.thinking.push(delta);
        self.emit(Signal::ThinkingDelta(Cow::Borrowed(delta)), out);
    }

    pub(super) fn stream_text(&mut self, delta: &str, out: &mut SignalSink<'_>) {
        self.open_step(out);
        self.text.push(delta);
        self.spoken.push(delta);
        self.emit(Signal::TextDelta(Cow::Borrowed(delta)), out);
    }

    /// The reasoning is complete; its signature may follow with the message.
    pub(super) fn complete_thinking(&mut self, all: &str, out: &mut SignalSink<'_>) {
        if self.thinking.is_empty() {
            self.stream_thinking(all, out);
        }
        if !self.thinking.complete(all) {
            let reason = "text: not what its pieces were".to_owned();
            out.unparsed(Some("completeStreamingReasoning"), reason);
        }
    }

    /// The answer is complete.
    pub(super) fn complete_text(&mut self, all: &str, out: &mut SignalSink<'_>) {
        if self.text.is_empty() {
            self.stream_text(all, out);
        }
        if !self.text.complete(all) {
            let reason = "text: not what its pieces were".to_owned();
            out.unparsed(Some("completeStreamingRunResult"), reason);
        }
        self.emit(Signal::TextEnd, out);
    }

    /// Ends reasoning that was complete, and that no message had.
    pub(super) fn end_thinking(&mut self, out: &mut SignalSink<'_>) {
        if self.thinking.is_complete() {
            self.thinking.clear();
            self.emit(Signal::ThinkingEnd { signature: None }, out);
        }
    }

    /// Counts what one response used.
    pub(super) fn count(&mut self, printed: &Usage, out: &mut SignalSink<'_>) {
        let counts = usage::of_response(printed);
        if counts.is_unknown() {
            return;
        }
        self.open_step(out);
        self.responses += 1;
        self.counted_step = Some(self.step);
        let key = format!("{}/{}", self.id, self.responses);
        let model = None;
        let key = Cow::Owned(key);
        self.emit(Signal::Usage { key, counts, model }, out);
    }

    /// Counts what a step used, unless its responses were counted.
    pub(super) fn count_step(&mut self, printed: &Usage, out: &mut SignalSink<'_>) {
        if self.counted_step != Some(self.step) {
            self.count(printed, out);
        }
    }

    /// Takes what a checkpoint's metadata knows of the run.
    pub(super) fn learn(&mut self, checkpoint: &Checkpoint, out: &mut SignalSink<'_>) {
        let Some(metadata) = &checkpoint.metadata else {
            return;
        };
        if let Some(session) = metadata.session_id()
            && self.session.as_deref() != Some(session)
        {
            self.session = Some(session.into());
            if is_path_with_digit(session) {
                self.emit(Signal::Session(session), out);
            } else {
                transcript::session("checkpoint", session, out);
            }
        }
        if let (false, Some(model)) = (self.has_model, metadata.model()) {
            self.has_model = true;
            self.emit(Signal::Model(model), out);
        }
    }

    /// Ends the run, or a turn of it.
    pub(super) fn end(
        &mut self,
        tag: &str,
        verdict: Verdict,
        text: Option<&str>,
        duration_ms: Option<u64>,
        out: &mut SignalSink<'_>,
    ) {
        if self.spoken.is_silent() && text.is_some_and(|text| !text.is_empty()) {
            self.open_step(out);
        }
        let scope = self.call.as_deref().map_or(Scope::Main, Scope::Child);
        let answer = self.spoken.answer(text, scope, out);
        let signal = match self.call.as_deref() {
            Some(call) => Signal::ChildEnd {
                call: Cow::Borrowed(call),
                is_error: !matches!(verdict, Verdict::Success),
                text: text.map(Cow::Borrowed),
            },
            None => Signal::Result(Outcome {
                subtype: Some(Cow::Borrowed(tag)),
                text: text.map(Cow::Borrowed),
                answer: answer.map(Cow::Borrowed),
                duration_ms,
                ..Outcome::of(verdict)
            }),
        };
        out.emit(signal);
        self.text.clear();
        self.thinking.clear();
        self.open_step = None;
    }
}
