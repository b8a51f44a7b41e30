//! Which message of the model something belongs to.
//!
//! A step is what shares a `model_call_id`: calls that were made together, and the text before them.
//! Deltas and thinking have none and come before the event that has it, so mostly they open a step
//! that is named later. Where they might still belong to the step before (its calls run, or it said
//! something and no call came yet) they wait for that event. The last message has no name at all.

/// Where something without a `model_call_id` belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepChoice {
    /// To the open step.
    Here,
    /// To the next one.
    Next,
    /// To either.
    Unknown,
}

/// The step that is open.
#[derive(Debug, Default)]
pub(super) struct ModelCallStep {
    /// Counts steps, to tell calls of the open one from others.
    number: u32,
    pub(super) is_open: bool,
    key: Option<Box<str>>,
    calls: u32,
    pending: u32,
    /// A segment of text has ended in it.
    pub(super) ended: bool,
    /// Thinking was streamed in it.
    pub(super) thought: bool,
}

impl ModelCallStep {
    /// Begins the next step.
    pub(super) fn open(&mut self, key: Option<&str>) {
        *self = Self {
            number: self.number.wrapping_add(1),
            is_open: true,
            key: key.map(Into::into),
            ..Self::default()
        };
    }

    /// Tells whether this is the step's `model_call_id`.
    pub(super) fn is_named(&self, key: Option<&str>) -> bool {
        self.key.as_deref() == key
    }

    /// Tells whether a call was made in it.
    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Tells whether it is open, and nothing but thinking came in it.
    pub(super) fn has_only_thought(&self) -> bool {
        self.is_open && self.calls == 0 && !self.ended
    }

    /// Takes the `model_call_id` that the step turned out to have.
    pub(super) fn adopt(&mut self, key: Option<&str>) {
        if self.key.is_none() && self.calls == 0 {
            self.key = key.map(Into::into);
        }
    }

    /// Tells where a delta, or thinking, belongs.
    pub(super) fn room(&self) -> StepChoice {
        match (self.calls, self.pending) {
            _ if !self.is_open => StepChoice::Next,
            (0, _) if !self.ended => StepChoice::Here,
            (0, _) if self.key.is_none() => StepChoice::Next,
            (0, _) | (_, 1..) => StepChoice::Unknown,
            (_, 0) => StepChoice::Next,
        }
    }

    /// Tells whether a whole segment belongs here.
    pub(super) fn has_room_for_text(&self, key: Option<&str>) -> bool {
        let is_unused = self.key.is_none() && self.calls == 0 && !self.ended;
        self.is_open && (is_unused || (key.is_some() && self.is_named(key)))
    }

    /// Tells whether a call belongs here. Where calls have no names, one that is made when all
    /// others are over answers to their results.
    pub(super) fn has_room_for_call(&self, key: Option<&str>) -> bool {
        let fits = match key {
            Some(_) => self.is_named(key) || (self.key.is_none() && self.calls == 0),
            None => self.calls == 0 || self.pending > 0,
        };
        self.is_open && fits
    }

    /// Counts a call; returns the number of the step.
    pub(super) fn begin_call(&mut self) -> u32 {
        self.calls = self.calls.saturating_add(1);
        self.pending = self.pending.saturating_add(1);
        self.number
    }

    /// Counts the end of a call, if it is one of this step.
    pub(super) fn end_call(&mut self, number: u32) {
        if number == self.number {
            self.pending = self.pending.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_belongs_to_the_next_step_once_all_calls_are_over() {
        let mut step = ModelCallStep::default();
        assert_eq!(step.room(), StepChoice::Next);
        step.open(None);
        assert_eq!(step.room(), StepChoice::Here);
        step.adopt(Some("k"));
        step.ended = true;
        assert_eq!(step.room(), StepChoice::Unknown);
        let number = step.begin_call();
        step.begin_call();
        assert_eq!(step.room(), StepChoice::Unknown);
        step.end_call(number);
        step.end_call(number + 1);
        assert_eq!(step.room(), StepChoice::Unknown);
        step.end_call(number);
        assert_eq!(step.room(), StepChoice::Next);
    }

    #[test]
    fn names_decide_where_there_are_any() {
        let mut step = ModelCallStep::default();
        step.open(None);
        assert!(step.has_room_for_text(Some("k")) && step.has_room_for_call(Some("k")));
        step.adopt(Some("k"));
        step.ended = true;
        assert!(step.has_room_for_text(Some("k")) && !step.has_room_for_text(Some("l")));
        assert!(!step.has_room_for_text(None));
        assert!(step.has_room_for_call(Some("k")) && !step.has_room_for_call(Some("l")));
        step.begin_call();
        assert!(step.has_room_for_text(Some("k")) && step.has_room_for_call(None));
        step.adopt(Some("l"));
        assert!(step.is_named(Some("k")));
    }
}
