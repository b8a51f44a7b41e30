//! What `hermes chat -v` prints of calls besides the tool lines: arguments and results.
//!
//! Another thread prints them, so they arrive after the completion line, and often after the next
//! message has begun. Until the results of a step are there, the next step is held back.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::call_result::CallResult;
use super::tools::Key;
use crate::framing::held_lines::MOST_HELD;
use crate::signal::{Signal, TapePlace};

type NumberedCall = (u64, Box<str>);

/// Arguments and results that are printed apart from their calls.
#[derive(Debug, Default)]
pub(super) struct LateResults {
    /// Calls that were not announced yet.
    expected: HashMap<Key, VecDeque<NumberedCall>>,
    /// The call that a number stands for; numbers restart in each turn.
    numbers: HashMap<u64, NumberedCall>,
    /// The call whose arguments come next.
    announced: Option<NumberedCall>,
    /// Calls whose arguments were printed, until they end.
    argued: HashSet<u64>,
    /// Results that came before the completion line.
    early: BTreeMap<u64, CallResult>,
    /// Calls of the step before that have no result yet.
    previous: BTreeMap<u64, CallResult>,
    waiting: bool,
    /// Signals of the next step, which were read from lines and are held in their place.
    queue: Vec<(TapePlace, Signal<'static>)>,
    /// The bytes that the queue takes.
    queued: usize,
}

impl LateResults {
    /// Expects a call to be announced.
    pub(super) fn expect(&mut self, ordinal: u64, name: &str) {
        let calls = self.expected.entry(Key::of_name(name)).or_default();
        calls.push_back((ordinal, name.into()));
    }

    /// Ties a number to the oldest call of a tool that was not announced yet.
    pub(super) fn announce(&mut self, number: u64, name: &str) -> Option<u64> {
        let key = Key::of_name(name);
        let calls = self.expected.get_mut(&key)?;
        let call = calls.pop_front()?;
        if calls.is_empty() {
            self.expected.remove(&key);
        }
        self.numbers.insert(number, call.clone());
        let ordinal = call.0;
        self.announced = Some(call);
        Some(ordinal)
    }

    /// Returns the call whose arguments were just read.
    pub(super) fn argue(&mut self) -> Option<NumberedCall> {
        let call = self.announced.take()?;
        self.argued.insert(call.0);
        Some(call)
    }

    /// Tells whether the arguments of a call that ends were printed.
    pub(super) fn is_argued(&mut self, ordinal: u64) -> bool {
        self.argued.remove(&ordinal)
    }

    /// Returns the call that a number stands for.
    pub(super) fn numbered(&self, number: u64) -> Option<(u64, String)> {
        self.numbers
            .get(&number)
            .map(|(ordinal, name)| (*ordinal, name.to_string()))
    }

    /// Keeps a result until the completion line tells whether it is one of failure.
    pub(super) fn put_early(&mut self, ordinal: u64, held: CallResult) {
        self.early.insert(ordinal, held);
    }

    /// Takes the result that came before a completion line.
    pub(super) fn take_early(&mut self, ordinal: u64) -> Option<CallResult> {
        self.early.remove(&ordinal)
    }

    /// Takes all results whose completion line never came.
    pub(super) fn take_all_early(&mut self) -> BTreeMap<u64, CallResult> {
        std::mem::take(&mut self.early)
    }

    /// Holds back the next step until these calls have their results. No other call of the step
    /// before will be heard of again.
    pub(super) fn wait_for(&mut self, held: BTreeMap<u64, CallResult>) {
        self.previous = held;
        self.waiting = !self.previous.is_empty();
        let previous = &self.previous;
        self.expected.retain(|_, calls| {
            calls.retain(|(ordinal, _)| previous.contains_key(ordinal));
            !calls.is_empty()
        });
    }

    /// Tells whether the next step is held back.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Tells whether the next step is held back for this call.
    pub(super) fn waits_for(&self, ordinal: u64) -> bool {
        self.previous.contains_key(&ordinal)
    }

    /// Tells whether all results that were waited for are there.
    pub(super) fn is_satisfied(&self) -> bool {
        self.waiting && self.previous.is_empty()
    }

    /// Takes a call of the step before.
    pub(super) fn take_previous(&mut self, ordinal: u64) -> Option<CallResult> {
        self.previous.remove(&ordinal)
    }

    /// Takes all calls of the step before.
    pub(super) fn take_all_previous(&mut self) -> BTreeMap<u64, CallResult> {
        std::mem::take(&mut self.previous)
    }

    /// Holds a signal back; `true` if that is enough.
    pub(super) fn queue(&mut self, place: TapePlace, signal: Signal<'static>) -> bool {
        let text = match &signal {
            Signal::TextDelta(text) | Signal::ThinkingDelta(text) => text.len(),
            _ => 0,
        };
        self.queued += text + size_of::<(TapePlace, Signal<'static>)>();
        self.queue.push((place, signal));
        self.queued > MOST_HELD
    }

    /// Takes what was held back, and holds nothing back any more.
    pub(super) fn take_queue(&mut self) -> Vec<(TapePlace, Signal<'static>)> {
        self.waiting = false;
        self.queued = 0;
        std::mem::take(&mut self.queue)
    }
}

/// Makes a signal of a message independent of the line it was read from.
pub(super) fn own(signal: Signal<'_>) -> Signal<'static> {
    match signal {
        Signal::TextDelta(text) => Signal::TextDelta(Cow::Owned(text.into_owned())),
        Signal::ThinkingDelta(text) => Signal::ThinkingDelta(Cow::Owned(text.into_owned())),
        Signal::ThinkingEnd { .. } => Signal::ThinkingEnd { signature: None },
        Signal::Step(_) => Signal::Step(None),
        Signal::Remark => Signal::Remark,
        _ => Signal::TextEnd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_back_is_bounded_however_short_its_pieces_are() {
        let place = TapePlace {
            span: None,
            line: 0,
            at: 0,
        };
        let mut late = LateResults::default();
        let piece = || Signal::TextDelta(Cow::Borrowed("x"));
        let held = (1..=MOST_HELD)
            .find(|_| late.queue(place, piece()))
            .unwrap_or(0);
        let taken = held * size_of::<(TapePlace, Signal<'static>)>();
        assert!(taken > MOST_HELD / 2 && taken <= MOST_HELD, "{taken}");
        assert_eq!(late.take_queue().len(), held);
        assert!(!late.queue(place, piece()));
    }
}
