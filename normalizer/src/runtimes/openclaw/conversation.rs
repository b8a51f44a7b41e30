//! One session: what its agent says, message by message.
//!
//! The model's messages are the `assistant` frames. Where the gateway tells of its requests (`model`
//! in the life cycle), each is a step; before that, a step ends with the results of its tools.

use std::collections::HashSet;

use runtape_core::TokenCounts;
use runtape_core::runtime_event::ApiRetry;

use super::calls::SessionCalls;
use super::message;
use super::rows::HeldRows;
use super::runs::GatewayRuns;
use super::told::{ToldTexts, begins_with, collapsed_hash, key_hash};
use super::usage::UsageBook;
use super::wire::Data;
use crate::bounds;
use crate::parser::SignalSink;
use crate::signal::{Scope, Signal, TapePlace};
use crate::verdict::UnclearResult;

/// Roughly how many bytes a user's message takes beside its text.
const USER: usize = 64;

/// Which kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Text,
    Thinking,
}

/// Text before a call, until it is known whether text frames told it.
#[derive(Debug)]
struct Preamble {
    key: u64,
    run: Box<str>,
    text: String,
    place: TapePlace,
}

/// Tokens of a response whose message has not begun.
#[derive(Debug)]
struct PendingUsage {
    key: String,
    counts: TokenCounts,
    place: TapePlace,
}

/// The state of one session.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is told by a frame of its own"
)]
pub(super) struct Conversation {
    pub(super) limit: usize,
    /// The call that started it, for a sub-agent's.
    child: Option<Box<str>>,
    pub(super) runs: GatewayRuns,
    pub(super) calls: SessionCalls,
    pub(super) usage: UsageBook,
    pub(super) rows: HeldRows,
    /// The run whose end will be told.
    pub(super) ended_run: Option<Box<str>>,
    /// A frame that should say how far the run is and does not, if none that does came after it.
    pub(super) doubt: Option<(TapePlace, UnclearResult)>,
    /// Frames tell what the agent does, and not only rows.
    pub(super) hears_frames: bool,
    /// The run that works.
    current: Box<str>,
    /// The gateway tells where a request begins.
    pub(super) sees_requests: bool,
    step_open: bool,
    /// The next text or thought without a name begins a message.
    is_fresh: bool,
    /// The last part of the open message; none after a call.
    last_part: Option<Channel>,
    /// The last part may go on.
    part_open: bool,
    /// How many texts the open step has.
    texts_in_step: u32,
    told: ToldTexts,
    thought: ToldTexts,
    /// The message that the last text is of.
    item: Option<u64>,
    /// Messages that are over, and preambles that were told.
    past_items: HashSet<u64>,
    /// Texts that were told, white space aside.
    told_texts: HashSet<u64>,
    last_text: Option<String>,
    preamble: Option<Preamble>,
    pending_usage: Option<PendingUsage>,
    /// What users said while a run was at work, until the model's next message.
    users: Vec<(String, TapePlace)>,
    users_weight: usize,
}

impl Conversation {
    pub(super) fn new(limit: usize, child: Option<Box<str>>) -> Self {
        Self {
            limit,
            child,
            is_fresh: true,
            ..Self::default()
        }
    }

    pub(super) fn is_child(&self) -> bool {
        self.child.is_some()
    }

    /// Returns the call that started it, for a sub-agent's.
    pub(super) fn child_call(&self) -> Option<&str> {
        self.child.as_deref()
    }

    fn scope(&self) -> Scope<'_> {
        self.child.as_deref().map_or(Scope::Main, Scope::Child)
    }

    pub(super) fn emit(&self, signal: Signal<'_>, out: &mut SignalSink<'_>) {
        out.emit_in(self.scope(), signal);
    }

    pub(super) fn emit_at(&self, place: TapePlace, signal: Signal<'_>, out: &mut SignalSink<'_>) {
        out.emit_at(place, self.scope(), signal);
    }

    /// Tells whether anything of the session was told.
    pub(super) fn has_spoken(&self) -> bool {
        !self.told_texts.is_empty() || !self.told.is_empty() || !self.calls.is_empty()
    }

    /// Takes a text frame: all of one message so far, and what is new of it.
    pub(super) fn on_assistant(
        &mut self,
        run: &str,
        seq: Option<u64>,
        data: &Data<'_>,
        out: &mut SignalSink<'_>,
    ) {
        if !self.runs.get(run).is_new_text(seq) {
            return;
        }
        let whole = data.text.as_deref();
        let piece = data.piece.as_deref().unwrap_or_default();
        let replaces = data.replace == Some(true);
        let key = data.item.as_deref().map(|item| key_hash(&[run, item]));
        if key.is_some_and(|key| self.past_items.contains(&key)) {
            return;
        }
        let goes_on = if let Some(key) = key {
            self.item == Some(key)
        } else {
            let is_last = !self.is_fresh && self.last_part == Some(Channel::Text);
            let fits = whole.is_none_or(|whole| self.told.rest_of(whole).is_some());
            is_last && (replaces || fits)
        };
        match whole {
            Some("") if replaces => {
                if goes_on {
                    self.take_back(run, out);
                }
            }
            None | Some("") if piece.is_empty() => {}
            _ if !goes_on => {
                self.begin_text(key, out);
                self.tell_text(run, whole.unwrap_or(piece), out);
            }
            None | Some("") => self.tell_text(run, piece, out),
            Some(whole) => match self.told.rest_of(whole) {
                Some("") => {}
                Some(rest) => self.tell_text(run, rest, out),
                None => self.put_otherwise(run, whole, out),
            },
        }
    }

    /// Ends the text before, so that another one can begin.
    pub(super) fn begin_text(&mut self, key: Option<u64>, out: &mut SignalSink<'_>) {
        self.end_part(out);
        self.end_text();
        self.told.begin();
        self.item = key;
    }

    /// The last text is whole.
    fn end_text(&mut self) {
        if !self.told.is_empty() {
            let text = self.told.last();
            self.told_texts.extend(text.map(collapsed_hash));
            self.last_text = text.map(str::to_owned);
        }
        self.past_items.extend(self.item.take());
    }

    /// Tells a piece of the text that is open.
    pub(super) fn tell_text(&mut self, run: &str, piece: &str, out: &mut SignalSink<'_>) {
        let place = out.place();
        self.tell_text_at(place, run, piece, out);
    }

    pub(super) fn tell_text_at(
        &mut self,
        place: TapePlace,
        run: &str,
        piece: &str,
        out: &mut SignalSink<'_>,
    ) {
        let is_first = self.told.is_empty();
        self.told.push(piece);
        let state = self.runs.get(run);
        state.has_text = true;
        state.chat_text = None;
        self.open_part(place, Channel::Text, out);
        self.texts_in_step += u32::from(is_first);
        self.emit_at(place, Signal::TextDelta(piece.into()), out);
    }

    /// The gateway put the text that is open in other words.
    fn put_otherwise(&mut self, run: &str, whole: &str, out: &mut SignalSink<'_>) {
        if self.last_part == Some(Channel::Text) && self.step_open {
            let retry = retry_because("put in other words");
            self.emit(Signal::PartGivenUp(retry), out);
            self.told.take_back();
            self.texts_in_step = self.texts_in_step.saturating_sub(1);
        } else {
            self.told.begin();
        }
        self.part_open = false;
        self.tell_text(run, whole, out);
    }

    /// An attempt failed, and what it said is no answer.
    fn take_back(&mut self, run: &str, out: &mut SignalSink<'_>) {
        let is_last = self.last_part == Some(Channel::Text) && self.step_open;
        if self.told.is_empty() || !is_last {
            return;
        }
        let retry = self.runs.get(run).retry.take();
        let retry = retry.unwrap_or_else(|| retry_because("taken back"));
        self.emit(Signal::PartGivenUp(retry), out);
        // The message was printed all the same, and the next attempt is another one.
        self.emit(Signal::MessagePrinted, out);
        self.told.take_back();
        self.texts_in_step = self.texts_in_step.saturating_sub(1);
        (self.last_part, self.part_open) = (None, false);
        self.runs.get(run).has_text = false;
    }

    /// Takes reasoning: all of it so far, and what is new.
    pub(super) fn on_thinking(
        &mut self,
        run: &str,
        seq: Option<u64>,
        data: &Data<'_>,
        out: &mut SignalSink<'_>,
    ) {
        if !self.runs.get(run).is_new_thought(seq) {
            return;
        }
        let is_last = !self.is_fresh && self.last_part == Some(Channel::Thinking);
        let bare = data.text.as_deref().and_then(message::unwrapped);
        let whole = bare.as_deref().or(data.text.as_deref());
        let rest = whole.and_then(|whole| self.thought.rest_of(whole));
        let goes_on = is_last && (whole.is_none() || rest.is_some());
        let piece = if goes_on {
            rest.or(data.piece.as_deref())
        } else {
            self.end_part(out);
            self.thought.clear();
            whole.or(data.piece.as_deref())
        };
        let piece = piece.unwrap_or_default();
        if !piece.is_empty() {
            self.open_part(out.place(), Channel::Thinking, out);
            self.thought.push(piece);
            self.emit(Signal::ThinkingDelta(piece.into()), out);
        }
    }

    /// Takes text before a call, which text frames may tell, too.
    pub(super) fn on_preamble(&mut self, run: &str, data: &Data<'_>, out: &mut SignalSink<'_>) {
        let item = data.item.as_deref().unwrap_or_default();
        let text = data.progress.as_deref().unwrap_or_default();
        let key = key_hash(&[run, item]);
        if self.past_items.contains(&key) {
            return;
        }
        if self.preamble.as_ref().is_some_and(|held| held.key != key) {
            self.tell_preamble(out);
        }
        if !text.is_empty() {
            self.preamble = Some(Preamble {
                key,
                run: run.into(),
                text: text.to_owned(),
                place: out.place(),
            });
        }
        if data.phase.as_deref() == Some("end") {
            self.tell_preamble(out);
        }
    }

    /// Tells the text before a call, unless the text of the message begins with it.
    pub(super) fn tell_preamble(&mut self, out: &mut SignalSink<'_>) {
        let Some(preamble) = self.preamble.take() else {
            return;
        };
        self.past_items.insert(preamble.key);
        let is_told = self.step_open && self.texts_in_step > 0;
        // A text that is too long to be kept is longer than any preamble.
        let is_told = is_told
            && self
                .told
                .last()
                .is_none_or(|text| begins_with(text, &preamble.text));
        if !is_told {
            self.begin_text(None, out);
            self.tell_text_at(preamble.place, &preamble.run, &preamble.text, out);
            self.end_part(out);
        }
    }

    /// Makes sure that a part of this kind is open.
    fn open_part(&mut self, place: TapePlace, channel: Channel, out: &mut SignalSink<'_>) {
        if self.last_part != Some(channel) || !self.part_open {
            self.end_part(out);
        }
        self.open_step(place, out);
        (self.last_part, self.part_open) = (Some(channel), true);
        self.is_fresh = false;
    }

    /// Opens the step of a message that was not told of yet.
    pub(super) fn open_step(&mut self, place: TapePlace, out: &mut SignalSink<'_>) {
        if self.step_open {
            return;
        }
        self.tell_users(out);
        self.step_open = true;
        self.texts_in_step = 0;
        self.usage.on_message();
        self.emit_at(place, Signal::Step(None), out);
        self.tell_usage(out);
    }

    /// A call was made: text that follows is another part.
    pub(super) fn begin_call(&mut self, out: &mut SignalSink<'_>) {
        self.tell_preamble(out);
        self.open_step(out.place(), out);
        self.end_part(out);
        self.last_part = None;
        self.is_fresh = false;
    }

    /// The part that is open is whole.
    pub(super) fn end_part(&mut self, out: &mut SignalSink<'_>) {
        if !std::mem::take(&mut self.part_open) {
            return;
        }
        match self.last_part {
            Some(Channel::Text) => self.emit(Signal::TextEnd, out),
            Some(Channel::Thinking) => {
                self.emit(Signal::ThinkingEnd { signature: None }, out);
            }
            None => {}
        }
    }

    /// The part that is open will not go on.
    pub(super) fn cut_part(&mut self, out: &mut SignalSink<'_>) {
        if std::mem::take(&mut self.part_open) {
            self.emit(Signal::MessageCut, out);
        }
    }

    /// The model's next message is another one.
    pub(super) fn end_message(&mut self, out: &mut SignalSink<'_>) {
        self.tell_preamble(out);
        self.tell_waiting_results(out);
        self.end_part(out);
        self.end_text();
        self.told.begin();
        self.step_open = false;
        self.is_fresh = true;
        self.last_part = None;
    }

    /// Another run takes over.
    pub(super) fn change_run(&mut self, run: &str, out: &mut SignalSink<'_>) {
        if &*self.current != run {
            self.current = run.into();
            self.end_message(out);
            self.told.clear();
        }
    }

    /// Tells whether a text was told in the run that works, be it among others.
    pub(super) fn has_told(&self, text: &str) -> bool {
        self.told.contains(text) || self.has_told_text(text)
    }

    /// Tells whether a text was told as one.
    pub(super) fn has_told_text(&self, text: &str) -> bool {
        self.told_texts.contains(&collapsed_hash(text))
    }

    /// Returns what a whole text has beyond the one that is open, if it goes on from there.
    pub(super) fn rest_of_open<'t>(&self, whole: &'t str) -> Option<&'t str> {
        let is_open = self.step_open && self.last_part == Some(Channel::Text);
        (is_open && !self.told.is_empty())
            .then(|| self.told.rest_of(whole))
            .flatten()
    }

    /// Returns the last text, where it is not all that the last message says.
    pub(super) fn answer(&self) -> Option<&str> {
        let open = self.told.last().filter(|text| !text.is_empty());
        let last = open.or(self.last_text.as_deref());
        last.filter(|_| self.texts_in_step != 1)
    }

    /// Takes the output tokens of the run so far.
    pub(super) fn on_usage(&mut self, run: &str, tokens: u64, out: &mut SignalSink<'_>) {
        let state = self.runs.get(run);
        let Some(more) = tokens.checked_sub(state.output_tokens).filter(|n| *n > 0) else {
            return;
        };
        state.output_tokens = tokens;
        state.responses += 1;
        let key = format!("{run}#{}", state.responses);
        if state.responses == 1 {
            self.usage.on_run();
        }
        let counts = TokenCounts {
            output_tokens: Some(bounds::count(more)),
            ..TokenCounts::default()
        };
        self.usage.on_told(counts);
        let place = out.place();
        match &mut self.pending_usage {
            // Responses without a message count with the next one.
            Some(pending) => pending.counts = pending.counts.plus(counts),
            None => self.pending_usage = Some(PendingUsage { key, counts, place }),
        }
        if self.step_open {
            self.tell_usage(out);
        }
    }

    /// Tells what was used for the message that is open.
    pub(super) fn tell_usage(&mut self, out: &mut SignalSink<'_>) {
        if let Some(usage) = self.pending_usage.take() {
            let signal = Signal::Usage {
                key: usage.key.into(),
                counts: usage.counts,
                model: None,
            };
            self.emit_at(usage.place, signal, out);
        }
    }

    /// Takes what a user said. While a run is at work it belongs before the model's next message.
    pub(super) fn on_user(&mut self, text: String, out: &mut SignalSink<'_>) {
        self.users_weight += text.len() + USER;
        self.users.push((text, out.place()));
        if !self.runs.any_open() || self.users_weight > self.limit {
            self.end_message(out);
            self.reopen(out);
            self.tell_users(out);
        }
    }

    pub(super) fn tell_users(&mut self, out: &mut SignalSink<'_>) {
        self.users_weight = 0;
        for (text, place) in std::mem::take(&mut self.users) {
            self.emit_at(place, Signal::User(text.into()), out);
        }
    }
}

/// Returns a notice of something that was said and taken back.
pub(super) fn retry_because(reason: &str) -> ApiRetry {
    ApiRetry {
        attempt: None,
        max_attempts: None,
        delay_ms: None,
        status_code: None,
        reason: Some(reason.to_owned()),
    }
}
