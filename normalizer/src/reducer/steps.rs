//! Steps: opening them, filling them, closing them.

use std::borrow::Cow;
use std::sync::Arc;

use runtape_core::record::{CheckpointHead, MessageRecord, UsageEntry, UsageSource};
use runtape_core::{
    CheckpointStatus, ExpertMessage, Message, RunError, TextPart, ToolMessage, UserMessage,
};

use super::end::HeldAnswer;
use super::run::Run;
use super::step::{Answered, OpenPart, OpenStep, PART, ResponseUsage, Spoken};
use super::tape::TapeState;
use crate::by_hash::hash_of;
use crate::signal::TapePlace;

/// How a step ends.
pub(super) struct StepEnd {
    pub(super) status: CheckpointStatus,
    pub(super) text: Option<String>,
    pub(super) error: Option<RunError>,
}

impl StepEnd {
    pub(super) const PROCEEDING: Self = Self {
        status: CheckpointStatus::Proceeding,
        text: None,
        error: None,
    };
}

impl TapeState {
    /// Opens the next step, unless the one with this key is open.
    pub(super) fn open_step(&mut self, run: &mut Run, key: Option<&str>, place: TapePlace) {
        if let (Some(open), Some(key)) = (&run.open, key)
            && open.key.as_deref() == Some(key)
        {
            return;
        }
        if run.is_root() {
            self.reopen(run, place);
        }
        self.close_step(run, StepEnd::PROCEEDING, place);
        self.start(run, place);
        run.step += 1;
        run.index.clear();
        run.open = Some(OpenStep::new(key, place.at));
    }

    /// Returns the open step, opening one if need be.
    pub(super) fn step<'r>(&mut self, run: &'r mut Run, place: TapePlace) -> &'r mut OpenStep {
        if run.open.is_none() {
            self.open_step(run, None, place);
        } else if run.is_root() {
            self.reopen(run, place);
        }
        run.open_step(place.at)
    }

    pub(super) fn on_text_delta(&mut self, run: &mut Run, text: &str, place: TapePlace) {
        self.make_room(run, text.len());
        let step = self.step(run, place);
        if !step.append_text(text, place) {
            self.close_part(run);
            let id = run.next_part_id();
            self.step(run, place).open_text(id, text, place);
        }
        self.show_text(run, text, true, place);
    }

    pub(super) fn on_text(&mut self, run: &mut Run, text: Cow<'_, str>, place: TapePlace) {
        let bytes = text.len();
        self.make_room(run, bytes);
        let id = run.next_part_id();
        self.step(run, place);
        self.show_text(run, &text, false, place);
        let part = TextPart {
            id,
            text: text.into_owned(),
        };
        run.open_step(place.at).push_part(part.into(), place, bytes);
    }

    /// Takes a text that is the answer, if a result says so.
    pub(super) fn on_answer(&mut self, root: &mut Run, text: Cow<'_, str>, place: TapePlace) {
        self.on_text(root, text, place);
        let last = root.open_step(place.at).spoken.parts.len().checked_sub(1);
        self.answer = last.map_or(HeldAnswer::None, HeldAnswer::InStep);
    }

    pub(super) fn on_thinking_delta(&mut self, run: &mut Run, text: &str, place: TapePlace) {
        self.make_room(run, text.len());
        let step = self.step(run, place);
        let goes_on = step.append_thinking(text, place);
        if !goes_on {
            self.close_part(run);
            let id = run.next_part_id();
            self.step(run, place).open_thinking(id, text, place);
        }
        self.show_thinking(run, text, !goes_on, place);
    }

    pub(super) fn close_thinking(
        &mut self,
        run: &mut Run,
        signature: Option<String>,
        place: TapePlace,
    ) {
        self.show_thinking_end(run, place);
        if let Some(step) = &mut run.open {
            step.sign_thinking(signature);
        }
    }

    /// Closes whatever part is open because another one begins.
    pub(super) fn close_part(&mut self, run: &mut Run) {
        let (place, open) = (run.last, run.open.as_ref().map(OpenStep::open_part));
        if open == Some(OpenPart::Thinking) {
            self.close_thinking(run, None, place);
        }
        run.close_text();
    }

    /// Notes that the open step has a message, be it without a part.
    pub(super) fn on_message_printed(&mut self, run: &mut Run, place: TapePlace) {
        self.step(run, place).printed = Some(place);
    }

    pub(super) fn on_user(&mut self, run: &mut Run, text: String, place: TapePlace) {
        if !run.started {
            self.hold_input(run, text, place);
            return;
        }
        if run.is_root() {
            self.reopen(run, place);
        }
        self.close_step(run, StepEnd::PROCEEDING, place);
        self.record_user(run, text, place);
    }

    /// Holds what a user said before the work began, as far as there is room.
    fn hold_input(&mut self, run: &mut Run, text: String, place: TapePlace) {
        let limit = self.context.limit;
        let inputs = &mut run.inputs;
        inputs.given = true;
        let weight = text.len() + PART;
        if inputs.held.is_empty() || inputs.weight.saturating_add(weight) <= limit {
            inputs.weight += weight;
            inputs.held.push((text, place));
            return;
        }
        self.initialize(run, place);
        self.record_inputs(run);
        self.hold_input(run, text, place);
    }

    /// Writes what was held of what a user said.
    pub(super) fn record_inputs(&mut self, run: &mut Run) {
        run.inputs.weight = 0;
        for (text, place) in std::mem::take(&mut run.inputs.held) {
            self.record_user(run, text, place);
        }
    }

    /// Writes what a user said as a message of the step to come.
    pub(super) fn record_user(&mut self, run: &mut Run, text: String, place: TapePlace) {
        self.show_user(run, &text, place);
        let part = TextPart {
            id: run.next_part_id(),
            text,
        };
        let mut message = UserMessage::new(run.next_message_id(), vec![part.into()]);
        message.timestamp = Some(place.at);
        let record = MessageRecord {
            step: run.step + 1,
            message: message.into(),
            offsets: place.span.map(|span| span.start).into_iter().collect(),
            calls: Vec::new(),
            results: Vec::new(),
            continued: false,
            cut: false,
        };
        self.record(run, record, place.at, place.span);
    }

    pub(super) fn on_usage(&mut self, run: &mut Run, usage: ResponseUsage) {
        if run.counted("usage", &*usage.key) {
            return;
        }
        let place = usage.place;
        let hash = hash_of(&*usage.key);
        self.step(run, place);
        let Run { open, index, .. } = run;
        let step = open.get_or_insert_with(|| OpenStep::new(None, place.at));
        // The same response again replaces what it said before.
        let known = index.usage.get(hash);
        if let Some(known) = known.and_then(|at| step.usage.get_mut(*at)) {
            known.counts = usage.counts.or(known.counts);
            known.model = usage.model.or(known.model.take());
        } else {
            index.usage.insert(hash, step.usage.len());
            step.usage.push(usage);
        }
    }

    /// Turns what is held into records when more would pass the limit.
    pub(super) fn make_room(&mut self, run: &mut Run, bytes: usize) {
        let limit = self.context.limit;
        let Some(step) = &run.open else { return };
        if step.is_empty() || !step.is_full(bytes, limit) {
            return;
        }
        let open = step.open_part();
        self.record_messages(run, false);
        let id = run.next_part_id();
        let last = run.last;
        let step = run.open_step(last.at);
        step.continued = true;
        match open {
            OpenPart::Text => step.open_text(id, "", last),
            OpenPart::Thinking => step.open_thinking(id, "", last),
            OpenPart::None => {}
        }
    }

    /// Writes the messages that the open step holds.
    fn record_messages(&mut self, run: &mut Run, cut: bool) {
        let number = run.step;
        let Some(step) = &mut run.open else { return };
        let continued = step.continued;
        let cut = cut || step.cut;
        let printed = step.printed.take();
        let (spoken, answered) = (
            std::mem::take(&mut step.spoken),
            std::mem::take(&mut step.answered),
        );
        step.held = 0;
        step.close_part();
        let spoken = spoken.or_printed(printed);
        run.index.flush();
        let message = self.record_spoken(run, number, spoken, continued, cut);
        if run.is_root() {
            self.answer.follow(message);
        }
        self.record_answered(run, number, answered, continued);
    }

    /// Writes what was said, and returns it as it was written.
    fn record_spoken(
        &mut self,
        run: &mut Run,
        step: u64,
        spoken: Spoken,
        continued: bool,
        cut: bool,
    ) -> Option<Arc<ExpertMessage>> {
        let at = spoken.at?;
        let mut message = ExpertMessage::new(run.next_message_id(), spoken.parts);
        message.timestamp = Some(at);
        let message = Arc::new(message);
        let record = MessageRecord {
            step,
            message: Message::from(Arc::clone(&message)),
            offsets: spoken.offsets,
            calls: spoken.notes,
            results: Vec::new(),
            continued,
            cut,
        };
        self.record(run, record, spoken.until, spoken.span);
        Some(message)
    }

    fn record_answered(
        &mut self,
        run: &mut Run,
        step: u64,
        mut answered: Answered,
        continued: bool,
    ) {
        let Some(at) = answered.at else { return };
        let results = answered.take_notes();
        let parts = answered.parts.into_iter().map(Into::into).collect();
        let mut message = ToolMessage::new(run.next_message_id(), parts);
        message.timestamp = Some(at);
        let record = MessageRecord {
            step,
            message: Message::from(message),
            offsets: answered.offsets,
            calls: Vec::new(),
            results,
            continued,
            cut: false,
        };
        self.record(run, record, at, answered.span);
    }

    /// Writes everything of the open step, and its checkpoint. Without an open step, nothing.
    pub(super) fn close_step(&mut self, run: &mut Run, end: StepEnd, place: TapePlace) {
        let number = run.step;
        let Some(step) = &mut run.open else { return };
        // Text that still streams when its run ends was cut; when another step opens, the
        // runtime just did not say that it was over.
        let cut = end.status.is_terminal() && step.open_part() != OpenPart::None;
        let used = step.used();
        let started_at = step.started_at;
        let entries = std::mem::take(&mut step.usage);
        for entry in entries {
            run.usage = run.usage.plus(entry.counts);
            run.count_once("usage", &*entry.key);
            let record = UsageEntry {
                key: entry.key.into(),
                source: UsageSource::Response,
                step: Some(number),
                model: entry.model,
                of_session: false,
                counts: entry.counts,
            };
            self.record(run, record, entry.place.at, entry.place.span);
        }
        if cut {
            self.show_thinking_end(run, place);
        }
        self.record_messages(run, cut);
        self.flush_metadata(run, place.at);
        run.open = None;
        let at = if end.status.is_terminal() {
            place.at.max(run.latest)
        } else {
            place.at
        };
        let head = CheckpointHead {
            step: number,
            status: end.status,
            messages: run.messages,
            usage: run.usage.without_writes(),
            step_usage: used.without_writes(),
            started_at: started_at.max(run.earliest).min(at.max(run.earliest)),
            pending: run.pending_at(number, end.status.is_terminal()),
            text: end.text,
            error: end.error,
        };
        self.record(run, Box::new(head), at, place.span);
    }
}
