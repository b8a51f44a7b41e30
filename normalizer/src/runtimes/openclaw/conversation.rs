//! One session: what its agent says and does, and how its runs end.

use std::collections::{HashSet, VecDeque};

use runtape_core::{RunError, TokenCounts};
use serde_json::Value;

use super::message::{self, Role};
use super::progress::{Advance, Progress};
use super::told_calls::{Reading, ToldCalls};
use super::{tools, usage};
use crate::bounds::Numbers;
use crate::parser::{SignalSink, note_faults};
use crate::signal::{CallRef, Outcome, Scope, Signal, TapePlace, Verdict};
use crate::verdict::UnclearResult;
use runtape_openclaw_protocol::{extract_tool_calls, extract_tool_result};

/// How many runs that have ended are remembered: the gateway repeats their last frames.
const MOST_ENDED: usize = 500;

/// Which frames tell the text of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Teller {
    #[default]
    Nobody,
    Chat,
    Agent,
    /// The session's history, message by message.
    Rows,
}

/// Which kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Text,
    Thinking,
}

/// How a run ended.
#[derive(Debug)]
struct Ended {
    place: TapePlace,
    error: Option<RunError>,
    reason: Option<String>,
    answer: Option<String>,
}

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    limit: usize,
    /// The call that started it, for a sub-agent's.
    child: Option<Box<str>>,
    run: Option<Box<str>>,
    ended_runs: VecDeque<Box<str>>,
    teller: Teller,
    text: Progress,
    thinking: Progress,
    /// The last message that cannot be shown before it is whole.
    held: Option<Value>,
    open: Option<Channel>,
    step_open: bool,
    calls: HashSet<Box<str>>,
    unnamed: ToldCalls,
    /// Calls that a result came for.
    answered: HashSet<Box<str>>,
    ended: Option<Ended>,
    /// A frame that should say how far the run is and does not, if none that does came after it.
    doubt: Option<(TapePlace, UnclearResult)>,
    /// What all runs so far used and cost.
    total: TokenCounts,
    cost: f64,
}

impl Conversation {
    pub(super) fn new(limit: usize, child: Option<Box<str>>) -> Self {
        Self {
            limit,
            child,
            ..Self::default()
        }
    }

    pub(super) fn emit(&self, signal: Signal<'_>, out: &mut SignalSink<'_>) {
        out.emit_in(self.scope(), signal);
    }

    fn scope(&self) -> Scope<'_> {
        self.child.as_deref().map_or(Scope::Main, Scope::Child)
    }

    /// Goes on with a run. Returns `false` for one that has ended: its frames are repeated.
    pub(super) fn continue_run(&mut self, run: &str, out: &mut SignalSink<'_>) -> bool {
        if self.ended_runs.iter().any(|ended| &**ended == run) {
            return false;
        }
        match self.run.as_deref() {
            // What came before did not name the run that it belongs to.
            None => self.run = Some(run.into()),
            Some(open) if open == run => {}
            Some(_) => self.begin_run(run, out),
        }
        true
    }

    /// Begins a run, also one that has failed and is tried again.
    pub(super) fn begin_run(&mut self, run: &str, out: &mut SignalSink<'_>) {
        self.tell_held(out);
        self.end_message(out);
        self.ended_runs.retain(|ended| &**ended != run);
        self.reopen(out);
        self.run = Some(run.into());
        self.unnamed.forget();
        self.teller = Teller::Nobody;
        self.forget_text();
    }

    /// An end that was told is not the last word.
    pub(super) fn reopen(&mut self, out: &mut SignalSink<'_>) {
        if self.tell_end(out) {
            self.emit(Signal::TurnOpened, out);
        }
    }

    fn forget_text(&mut self) {
        (self.text, self.thinking) = (Progress::default(), Progress::default());
    }

    /// Takes a message that is not whole yet, as chat frames tell it.
    pub(super) fn on_partial(
        &mut self,
        message: &Value,
        piece: Option<&str>,
        replaces: bool,
        out: &mut SignalSink<'_>,
    ) {
        if message::role(message) != Role::Assistant {
            return self.on_message(message, out);
        }
        if self.teller != Teller::Agent {
            if message::tagged(message).is_some() {
                self.held = Some(message.clone());
            } else if self.held.is_none() {
                self.tell_partial(message, piece, replaces, out);
            }
        }
        self.on_calls(message, out);
    }

    fn tell_partial(
        &mut self,
        message: &Value,
        piece: Option<&str>,
        replaces: bool,
        out: &mut SignalSink<'_>,
    ) {
        let thinking = message::thinking(message);
        let text = message::text(message).filter(|text| !message::may_be_marker(text));
        let piece = piece.filter(|_| message.is_null() || text.is_some());
        if thinking.is_none() && text.is_none() && piece.is_none() {
            return;
        }
        if std::mem::replace(&mut self.teller, Teller::Chat) == Teller::Rows {
            self.forget_text();
        }
        let advance = self.thinking.advance(thinking.as_deref(), None, self.limit);
        self.tell(Channel::Thinking, advance, false, out);
        let whole = text.as_deref().map(message::before_half_tag);
        let advance = self.text.advance(whole, piece, self.limit);
        self.tell(Channel::Text, advance, replaces, out);
    }

    /// Takes text of an agent frame.
    pub(super) fn on_agent_text(
        &mut self,
        channel: Channel,
        whole: Option<&str>,
        piece: Option<&str>,
        replaces: bool,
        out: &mut SignalSink<'_>,
    ) {
        if self.teller == Teller::Chat || self.held.is_some() {
            return;
        }
        self.teller = Teller::Agent;
        let progress = match channel {
            Channel::Text => &mut self.text,
            Channel::Thinking => &mut self.thinking,
        };
        let advance = progress.advance(whole, piece, self.limit);
        self.tell(channel, advance, replaces, out);
    }

    fn tell(
        &mut self,
        channel: Channel,
        advance: Advance<'_>,
        replaces: bool,
        out: &mut SignalSink<'_>,
    ) {
        let text = match advance {
            Advance::Nothing => return,
            Advance::Append(text) => text,
            Advance::Restart(text) => {
                // Another message, unless the one that is open was put in other words.
                self.end_part(out);
                if channel == Channel::Text && !replaces {
                    self.step_open = false;
                }
                text
            }
        };
        self.open_step(out);
        if self.open != Some(channel) {
            self.end_part(out);
            self.open = Some(channel);
        }
        self.emit(
            match channel {
                Channel::Text => Signal::TextDelta(text.into()),
                Channel::Thinking => Signal::ThinkingDelta(text.into()),
            },
            out,
        );
    }

    /// Takes a whole message that frames before may have told already.
    pub(super) fn on_whole(&mut self, message: &Value, out: &mut SignalSink<'_>) -> Option<String> {
        if message::role(message) != Role::Assistant {
            self.on_message(message, out);
            return None;
        }
        self.held = None;
        let answer = self.tell_whole(message, out);
        self.on_calls(message, out);
        answer
    }

    /// Tells what of a whole message was not told yet. Returns its text if that is another one
    /// than what was told.
    fn tell_whole(&mut self, message: &Value, out: &mut SignalSink<'_>) -> Option<String> {
        let (thinking, text) = match message::tagged(message) {
            Some(tagged) => (tagged.thinking, Some(tagged.text)),
            None => (message::thinking(message), message::text(message)),
        };
        if let Some(thinking) = thinking {
            let advance = self.thinking.complete(&thinking, self.limit);
            if !matches!(advance, Advance::Restart(_)) {
                self.tell(Channel::Thinking, advance, false, out);
            }
        }
        let text = text.filter(|text| !text.is_empty())?;
        if self.teller == Teller::Nobody {
            self.teller = Teller::Chat;
        }
        match self.text.complete(&text, self.limit) {
            Advance::Restart(text) => Some(text.to_owned()),
            advance => {
                self.tell(Channel::Text, advance, false, out);
                None
            }
        }
    }

    /// Tells a message that was held because it was not known to be whole.
    fn tell_held(&mut self, out: &mut SignalSink<'_>) {
        if let Some(message) = self.held.take()
            && let Some(text) = self.tell_whole(&message, out)
        {
            self.tell(Channel::Text, Advance::Restart(&text), true, out);
        }
    }

    /// Takes a row of the session's history: it tells who asked, and what no frame told.
    pub(super) fn on_row(&mut self, message: &Value, out: &mut SignalSink<'_>) {
        let is_told = !matches!(self.teller, Teller::Nobody | Teller::Rows);
        if message::role(message) == Role::Assistant && !is_told {
            self.forget_text();
            self.teller = Teller::Nobody;
            self.on_whole(message, out);
            self.end_message(out);
            self.teller = Teller::Rows;
        } else {
            self.on_message(message, out);
        }
    }

    /// Takes a message for what is not text of the agent.
    fn on_message(&mut self, message: &Value, out: &mut SignalSink<'_>) {
        match message::role(message) {
            Role::Assistant => self.on_calls(message, out),
            Role::User => {
                if let Some(text) = message::user_text(message).filter(|text| !text.is_empty()) {
                    self.on_user(text, out);
                }
            }
            Role::Tool => {
                if let Some(result) = extract_tool_result(message) {
                    let details = result.details.unwrap_or_default();
                    let content = message.get("content").cloned().unwrap_or_default();
                    let name = result.tool_name.as_deref().unwrap_or("tool");
                    let id = result.tool_call_id.as_deref();
                    self.on_result(id, name, &content, result.is_error, &details, out);
                }
            }
            Role::Other(role) => {
                let info = runtape_core::runtime_event::Info {
                    topic: Some(role.to_owned()),
                    message: message::text(message).unwrap_or_default(),
                };
                self.emit(Signal::Event(info.into()), out);
            }
        }
    }

    pub(super) fn on_user(&mut self, text: String, out: &mut SignalSink<'_>) {
        self.end_message(out);
        self.reopen(out);
        self.emit(Signal::User(text.into()), out);
    }

    fn on_calls(&mut self, message: &Value, out: &mut SignalSink<'_>) {
        let mut reading = Reading::default();
        for call in extract_tool_calls(message) {
            let name = call.name.unwrap_or_else(|| "tool".to_owned());
            let input = call.arguments.unwrap_or_default();
            if let Some(id) = call.id.filter(|id| !id.is_empty()) {
                self.on_call(&id, &name, input, out);
            } else if let Some(call) = self.unnamed.begin(&name, &input, &mut reading) {
                self.tell_call(call, &name, input, out);
            }
        }
    }

    pub(super) fn on_call(&mut self, id: &str, name: &str, input: Value, out: &mut SignalSink<'_>) {
        if self.calls.insert(id.into()) {
            self.tell_call(CallRef::Printed(id), name, input, out);
        }
    }

    fn tell_call(&mut self, call: CallRef<'_>, name: &str, input: Value, out: &mut SignalSink<'_>) {
        self.open_step(out);
        self.end_part(out);
        let detail = tools::detail(name, &input);
        let call = Signal::ToolCall {
            call,
            name: name.into(),
            input,
            detail,
        };
        self.emit(call, out);
    }

    /// Takes a call's result; one without an id is that of the oldest open call of its tool.
    pub(super) fn on_result(
        &mut self,
        id: Option<&str>,
        name: &str,
        result: &Value,
        is_error: Option<bool>,
        details: &Value,
        out: &mut SignalSink<'_>,
    ) {
        let call = match id.filter(|id| !id.is_empty()) {
            Some(id) if !self.answered.insert(id.into()) => return,
            Some(id) => CallRef::Printed(id),
            None => match self.unnamed.end(name) {
                Some(call) => call,
                None => return,
            },
        };
        self.end_message(out);
        let mut numbers = Numbers::default();
        let result = Signal::ToolResult {
            call,
            name: Some(name.into()),
            content: tools::blocks(result),
            is_error: is_error.or_else(|| tools::has_failed(details)),
            duration_ms: numbers.millis(details, &["durationMs"]),
        };
        note_faults("tool", numbers.faults, out);
        self.emit(result, out);
    }

    /// Takes what the run, or its last response, used.
    pub(super) fn on_usage(&mut self, total: &Value, message: &Value, out: &mut SignalSink<'_>) {
        if let Some(model) = message.get("model").and_then(Value::as_str) {
            self.emit(Signal::Model(model), out);
        }
        let (usage, is_total) = match (total, message.get("usage")) {
            (Value::Object(_), _) => (total, true),
            (_, Some(usage)) if usage.is_object() => (usage, false),
            _ => return,
        };
        self.emit(Signal::RawUsage(usage.clone().into()), out);
        let mut numbers = Numbers::default();
        let counts = usage::counts(usage, &mut numbers);
        let cost = usage::cost(usage, &mut numbers);
        note_faults("usage", numbers.faults, out);
        if is_total && self.child.is_none() {
            // Each run of the session states its own.
            if !counts.is_unknown() {
                self.total = self.total.plus(counts);
                self.emit(Signal::Total(self.total), out);
            }
            if let Some(cost) = cost {
                self.cost += cost;
                self.emit(Signal::Cost(self.cost), out);
            }
        } else if !counts.is_unknown() {
            let signal = Signal::Usage {
                key: self.run.as_deref().unwrap_or_default().into(),
                counts,
                model: None,
            };
            self.emit(signal, out);
        }
    }

    /// The run has ended; a later frame about the same end says no less than the one before.
    pub(super) fn end(
        &mut self,
        error: Option<RunError>,
        reason: Option<&str>,
        answer: Option<String>,
        out: &mut SignalSink<'_>,
    ) {
        self.tell_held(out);
        self.end_message(out);
        self.doubt = None;
        let before = self.ended.take();
        // A life cycle that ended well does not take back an abort, nor does its error.
        let error = error.or_else(|| before.as_ref()?.error.clone());
        self.ended = Some(Ended {
            place: out.place(),
            error,
            reason: reason
                .map(str::to_owned)
                .or_else(|| before.as_ref()?.reason.clone()),
            answer: answer.or_else(|| before?.answer),
        });
    }

    /// A frame does not say how far the run is. If none that does follows, that is how it ended.
    pub(super) fn doubt(&mut self, doubt: UnclearResult, out: &SignalSink<'_>) {
        self.doubt = Some((out.place(), doubt));
    }

    /// The run goes on.
    pub(super) fn clear_doubt(&mut self) {
        self.doubt = None;
    }

    /// No further frame of this run counts.
    pub(super) fn close_run(&mut self, run: &str) {
        if self.ended_runs.len() == MOST_ENDED {
            self.ended_runs.pop_front();
        }
        self.ended_runs.push_back(run.into());
    }

    /// Emits how the run ended, if it has.
    pub(super) fn tell_end(&mut self, out: &mut SignalSink<'_>) -> bool {
        let Some(ended) = self.ended.take() else {
            return false;
        };
        if let Some(call) = &self.child {
            let text = ended.error.as_ref().map(|error| error.message.clone());
            let signal = Signal::ChildEnd {
                call: call.to_string().into(),
                is_error: ended.error.is_some(),
                text: text.or(ended.answer).map(Into::into),
            };
            out.emit_at(ended.place, Scope::Main, signal);
            return true;
        }
        let text = ended.error.as_ref().map(|error| error.message.clone());
        let verdict = ended.error.map_or(Verdict::Success, Verdict::Error);
        let outcome = Outcome {
            subtype: ended.reason.map(Into::into),
            text: text.map(Into::into),
            answer: ended.answer.map(Into::into),
            ..Outcome::of(verdict)
        };
        out.emit_at(ended.place, Scope::Main, Signal::Result(outcome));
        true
    }

    /// The connection is over.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        self.tell_held(out);
        if let Some((place, doubt)) = self.doubt.take()
            && self
                .ended
                .as_ref()
                .is_none_or(|ended| ended.error.is_none())
        {
            self.ended = Some(Ended {
                place,
                error: Some(doubt.error(None)),
                reason: None,
                answer: self.ended.take().and_then(|ended| ended.answer),
            });
        }
        if self.open.is_some() && self.ended.is_none() {
            self.emit(Signal::MessageCut, out);
        }
        self.end_part(out);
        self.tell_end(out);
    }

    fn open_step(&mut self, out: &mut SignalSink<'_>) {
        if self.step_open {
            return;
        }
        self.reopen(out);
        self.step_open = true;
        self.emit(Signal::Step(None), out);
    }

    fn end_part(&mut self, out: &mut SignalSink<'_>) {
        match self.open.take() {
            None => {}
            Some(Channel::Text) => self.emit(Signal::TextEnd, out),
            Some(Channel::Thinking) => self.emit(Signal::ThinkingEnd { signature: None }, out),
        }
    }

    pub(super) fn end_message(&mut self, out: &mut SignalSink<'_>) {
        self.end_part(out);
        self.step_open = false;
    }
}
