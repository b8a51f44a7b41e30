//! Calls that have no result yet.

use std::collections::{BTreeMap, HashMap};

use foldhash::quality::FixedState;
use runtape_core::{ToolCallId, ToolName};

/// A call that has no result yet.
#[derive(Clone, Debug)]
pub(super) struct PendingCall {
    pub(super) id: ToolCallId,
    pub(super) name: ToolName,
    pub(super) step: u64,
    pub(super) at: i64,
}

/// The calls up to which each is looked at: most steps make one or two, and finding these by their
/// ids would cost more.
const FEW: usize = 8;

/// The calls of a run that have no result yet, in the order they were made.
///
/// A message may make any number of calls, and their results may come in any order: where there are
/// more than a few, each is found by its id, not by looking at the others.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    /// The first ones.
    few: Vec<PendingCall>,
    /// Those that came when there were a few already.
    more: BTreeMap<u64, PendingCall>,
    /// Where each of them is by its id.
    places: HashMap<ToolCallId, u64, FixedState>,
    next: u64,
}

impl PendingCalls {
    /// Adds a call, the last one so far.
    pub(super) fn push(&mut self, call: PendingCall) {
        if self.more.is_empty() && self.few.len() < FEW {
            self.few.push(call);
        } else {
            self.places.insert(call.id.clone(), self.next);
            self.more.insert(self.next, call);
            self.next += 1;
        }
    }

    /// Returns where the call with an id is among the first ones.
    fn place(&self, id: &ToolCallId) -> Option<usize> {
        self.few.iter().rposition(|call| call.id == *id)
    }

    /// Returns the call with an id.
    pub(super) fn get(&self, id: &ToolCallId) -> Option<&PendingCall> {
        let more = self.places.get(id).and_then(|place| self.more.get(place));
        more.or_else(|| self.few.get(self.place(id)?))
    }

    /// Takes the call with an id, because its result came.
    pub(super) fn take(&mut self, id: &ToolCallId) -> Option<PendingCall> {
        match self.places.remove(id) {
            Some(place) => self.more.remove(&place),
            None => self.place(id).map(|place| self.few.remove(place)),
        }
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &PendingCall> {
        self.few.iter().chain(self.more.values())
    }

    /// Returns the ids of all calls.
    pub(super) fn ids(&self) -> Vec<ToolCallId> {
        self.iter().map(|call| call.id.clone()).collect()
    }

    /// Returns the ids of the calls of the last step that made any, if it is this one.
    pub(super) fn ids_of_step(&self, step: u64) -> Vec<ToolCallId> {
        let mut ids: Vec<ToolCallId> = self
            .iter()
            .rev()
            .take_while(|call| call.step == step)
            .map(|call| call.id.clone())
            .collect();
        ids.reverse();
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, step: u64) -> PendingCall {
        PendingCall {
            id: ToolCallId::parse(id).unwrap(),
            name: ToolName::from_printed("tool"),
            step,
            at: 0,
        }
    }

    #[test]
    fn calls_keep_their_order_whichever_is_answered() {
        let mut pending = PendingCalls::default();
        for (id, step) in [("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 2)] {
            pending.push(call(id, step));
        }
        let d = ToolCallId::parse("d").unwrap();
        assert_eq!(pending.take(&d).unwrap().step, 2);
        assert!(pending.take(&d).is_none() && pending.get(&d).is_none());
        let names = |ids: Vec<ToolCallId>| -> Vec<String> {
            ids.iter().map(|id| id.as_str().to_owned()).collect()
        };
        assert_eq!(names(pending.ids()), ["a", "b", "c", "e"]);
        assert_eq!(names(pending.ids_of_step(2)), ["c", "e"]);
        assert!(pending.ids_of_step(1).is_empty());
    }

    #[test]
    fn calls_are_found_whether_they_are_few_or_many() {
        let id = |number: usize| ToolCallId::parse(format!("call{number}")).unwrap();
        for count in [1, FEW, FEW + 1, 5 * FEW] {
            let mut pending = PendingCalls::default();
            for number in 0..count {
                pending.push(call(id(number).as_str(), 1));
                assert!(pending.get(&id(number)).is_some() && pending.get(&id(count)).is_none());
            }
            // From many to few and on to none, the last one first.
            for number in (0..count).rev() {
                assert_eq!(pending.ids().len(), number + 1);
                assert_eq!(pending.take(&id(number)).unwrap().id, id(number));
                assert!(pending.take(&id(number)).is_none());
            }
        }
    }
}
