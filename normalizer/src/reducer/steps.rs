//! Steps: opening them, filling them, closing them.

use runtape_core::record::{CheckpointHead, MessageRecord, UsageEntry, UsageSource};
use runtape_core::{
    CheckpointStatus, ExpertMessage, Message, MessageId, PartId, RunError, TextPart, ToolMessage,
    UserMessage,
};

use super::Reducer;
use super::run::Run;
use super::step::{Answered, OpenPart, OpenStep, PART, ResponseUsage, Spoken};
use crate::signal::Place;

/// How a step ends.
pub(super) struct Ending {
    pub(super) status: CheckpointStatus,
    pub(super) text: Option<String>,
    pub(super) error: Option<RunError>,
}

impl Ending {
    const PROCEEDING: Self = Self {
        status: CheckpointStatus::Proceeding,
        text: None,
        error: None,
    };
}

impl Reducer {
    /// Opens the next step, unless the one with this key is open.
    pub(super) fn open_step(&mut self, run: usize, key: Option<&str>, place: Place) {
        let Some(state) = self.runs.get(run) else {
            return;
        };
        if state.ended {
            return;
        }
        if let (Some(open), Some(key)) = (&state.open, key)
            && open.key.as_deref() == Some(key)
        {
            return;
        }
        if run == 0 {
            self.reopen(place);
        }
        self.close_step(run, &Ending::PROCEEDING, place);
        self.start(run, place);
        if let Some(state) = self.runs.get_mut(run) {
            state.step += 1;
            state.index.clear();
            state.open = Some(OpenStep::new(key, place.at));
        }
    }

    /// Returns the open step, opening one if need be; `None` once the run has ended.
    pub(super) fn step(&mut self, run: usize, place: Place) -> Option<&mut OpenStep> {
        if self.runs.get(run).is_some_and(|state| state.open.is_none()) {
            self.open_step(run, None, place);
        } else if run == 0 {
            self.reopen(place);
        }
        self.runs.get_mut(run)?.open.as_mut()
    }

    fn next_part_id(&mut self, run: usize) -> PartId {
        let Some(state) = self.runs.get_mut(run) else {
            return PartId::derive(&self.context.run_id, u64::MAX);
        };
        let ordinal = Run::next(&mut state.parts);
        state.ids.part(ordinal)
    }

    pub(super) fn part_id(&mut self, run: usize) -> PartId {
        self.next_part_id(run)
    }

    pub(super) fn on_text_delta(&mut self, run: usize, text: &str, place: Place) {
        self.make_room(run, text.len());
        let Some(step) = self.step(run, place) else {
            return;
        };
        if !step.append_text(text, place) {
            self.close_part(run);
            let id = self.next_part_id(run);
            if let Some(step) = self.step(run, place) {
                step.open_text(id, text, place);
            }
        }
        self.show_text(run, text, true, place);
    }

    pub(super) fn on_text(&mut self, run: usize, text: &str, place: Place) {
        self.make_room(run, text.len());
        let id = self.next_part_id(run);
        let Some(step) = self.step(run, place) else {
            return;
        };
        let part = TextPart {
            id,
            text: text.to_owned(),
        };
        step.push_part(part.into(), place, text.len());
        self.show_text(run, text, false, place);
    }

    pub(super) fn on_thinking_delta(&mut self, run: usize, text: &str, place: Place) {
        self.make_room(run, text.len());
        let Some(step) = self.step(run, place) else {
            return;
        };
        let goes_on = step.append_thinking(text, place);
        if !goes_on {
            self.close_part(run);
            let id = self.next_part_id(run);
            if let Some(step) = self.step(run, place) {
                step.open_thinking(id, text, place);
            }
        }
        self.show_thinking(run, text, !goes_on, place);
    }

    pub(super) fn close_text(&mut self, run: usize) {
        if let Some(step) = self.runs.get_mut(run).and_then(|state| state.open.as_mut())
            && step.open == OpenPart::Text
        {
            step.open = OpenPart::None;
        }
    }

    pub(super) fn close_thinking(&mut self, run: usize, signature: Option<String>, place: Place) {
        self.show_thinking_end(run, place);
        if let Some(step) = self.runs.get_mut(run).and_then(|state| state.open.as_mut()) {
            step.sign_thinking(signature);
        }
    }

    /// Closes whatever part is open because another one begins.
    pub(super) fn close_part(&mut self, run: usize) {
        let Some(state) = self.runs.get(run) else {
            return;
        };
        let (place, open) = (state.last, state.open.as_ref().map(|step| step.open));
        if open == Some(OpenPart::Thinking) {
            self.close_thinking(run, None, place);
        }
        self.close_text(run);
    }

    /// Notes that the open step has a message, be it without a part.
    pub(super) fn on_message_printed(&mut self, run: usize, place: Place) {
        if let Some(step) = self.step(run, place) {
            step.printed = Some(place);
        }
    }

    pub(super) fn cut(&mut self, run: usize) {
        if let Some(step) = self.runs.get_mut(run).and_then(|state| state.open.as_mut()) {
            step.cut = true;
            step.open = OpenPart::None;
        }
    }

    pub(super) fn on_user(&mut self, run: usize, text: String, place: Place) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        if state.ended {
            return;
        }
        if !state.started {
            self.hold_input(run, text, place);
            return;
        }
        if run == 0 {
            self.reopen(place);
        }
        self.close_step(run, &Ending::PROCEEDING, place);
        self.record_user(run, text, place);
    }

    /// Holds what a user said before the work began, as far as there is room.
    fn hold_input(&mut self, run: usize, text: String, place: Place) {
        let limit = self.context.limit;
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        let inputs = &mut state.inputs;
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
    pub(super) fn record_inputs(&mut self, run: usize) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        state.inputs.weight = 0;
        for (text, place) in std::mem::take(&mut state.inputs.held) {
            self.record_user(run, text, place);
        }
    }

    /// Writes what a user said as a message of the step to come.
    pub(super) fn record_user(&mut self, run: usize, text: String, place: Place) {
        self.show_user(run, &text, place);
        let part = TextPart {
            id: self.next_part_id(run),
            text,
        };
        let Some(id) = self.next_message_id(run) else {
            return;
        };
        let mut message = UserMessage::new(id, vec![part.into()]);
        message.timestamp = Some(place.at);
        let step = self.runs.get(run).map_or(1, |state| state.step + 1);
        let record = MessageRecord {
            step,
            message: message.into(),
            offsets: place.span.map(|span| span.start).into_iter().collect(),
            calls: Vec::new(),
            results: Vec::new(),
            continued: false,
            cut: false,
        };
        self.record(run, record, place.at, place.span);
    }

    pub(super) fn on_usage(&mut self, run: usize, usage: ResponseUsage) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        if state.counted("usage", &usage.key) {
            return;
        }
        let place = usage.place;
        if self.step(run, place).is_none() {
            return;
        }
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        let hash = state.hash(&usage.key);
        let Some(step) = state.open.as_mut() else {
            return;
        };
        // The same response again replaces what it said before.
        let known = state.index.usage.get(&hash);
        if let Some(known) = known.and_then(|at| step.usage.get_mut(*at)) {
            known.counts = usage.counts.or(known.counts);
            known.model = usage.model.or(known.model.take());
        } else {
            state.index.usage.insert(hash, step.usage.len());
            step.usage.push(usage);
        }
    }

    /// Turns what is held into records when more would pass the limit.
    pub(super) fn make_room(&mut self, run: usize, bytes: usize) {
        let limit = self.context.limit;
        let Some(step) = self.runs.get(run).and_then(|state| state.open.as_ref()) else {
            return;
        };
        if step.is_empty() || !step.is_full(bytes, limit) {
            return;
        }
        let open = step.open;
        self.record_messages(run, false);
        let id = self.next_part_id(run);
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        let (last, Some(step)) = (state.last, state.open.as_mut()) else {
            return;
        };
        step.continued = true;
        match open {
            OpenPart::Text => step.open_text(id, "", last),
            OpenPart::Thinking => step.open_thinking(id, "", last),
            OpenPart::None => {}
        }
    }

    fn next_message_id(&mut self, run: usize) -> Option<MessageId> {
        let state = self.runs.get_mut(run)?;
        let ordinal = Run::next(&mut state.messages);
        Some(state.ids.message(ordinal))
    }

    /// Writes the messages that the open step holds.
    fn record_messages(&mut self, run: usize, cut: bool) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        let (number, Some(step)) = (state.step, state.open.as_mut()) else {
            return;
        };
        let continued = step.continued;
        let cut = cut || step.cut;
        let printed = step.printed.take();
        let (spoken, answered) = (
            std::mem::take(&mut step.spoken),
            std::mem::take(&mut step.answered),
        );
        step.held = 0;
        step.open = OpenPart::None;
        let spoken = spoken.or_printed(printed);
        state.index.flush();
        self.record_spoken(run, number, spoken, continued, cut);
        self.record_answered(run, number, answered, continued);
    }

    fn record_spoken(&mut self, run: usize, step: u64, spoken: Spoken, continued: bool, cut: bool) {
        let Some(at) = spoken.at else { return };
        let Some(id) = self.next_message_id(run) else {
            return;
        };
        let mut message = ExpertMessage::new(id, spoken.parts);
        message.timestamp = Some(at);
        let record = MessageRecord {
            step,
            message: Message::from(message),
            offsets: spoken.offsets,
            calls: spoken.notes,
            results: Vec::new(),
            continued,
            cut,
        };
        self.record(run, record, spoken.until, spoken.span);
    }

    fn record_answered(&mut self, run: usize, step: u64, mut answered: Answered, continued: bool) {
        let Some(at) = answered.at else { return };
        let Some(id) = self.next_message_id(run) else {
            return;
        };
        let results = answered.take_notes();
        let parts = answered.parts.into_iter().map(Into::into).collect();
        let mut message = ToolMessage::new(id, parts);
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
    pub(super) fn close_step(&mut self, run: usize, ending: &Ending, place: Place) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        let number = state.step;
        let Some(step) = state.open.as_mut() else {
            return;
        };
        // Text that still streams when its run ends was cut; when another step opens, the
        // runtime just did not say that it was over.
        let cut = ending.status.is_terminal() && step.open != OpenPart::None;
        let used = step.used();
        let started_at = step.started_at;
        let entries = std::mem::take(&mut step.usage);
        for entry in entries {
            if let Some(state) = self.runs.get_mut(run) {
                state.usage = state.usage.plus(entry.counts);
                state.count_once("usage", &entry.key);
            }
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
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        state.open = None;
        let head = CheckpointHead {
            step: number,
            status: ending.status,
            messages: state.messages,
            usage: state.usage,
            step_usage: used,
            started_at,
            pending: state.pending_at(number, ending.status.is_terminal()),
            text: ending.text.clone(),
            error: ending.error.clone(),
        };
        self.record(run, Box::new(head), place.at, place.span);
    }
}
