//! Calls that have no result yet.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};

use runtape_core::{ToolCallId, ToolName};

/// A call that has no result yet.
#[derive(Clone, Debug)]
pub(super) struct PendingCall {
    pub(super) id: ToolCallId,
    pub(super) name: ToolName,
    pub(super) step: u64,
    pub(super) at: i64,
}

/// The calls of a run that have no result yet, in the order they were made.
///
/// A message may make any number of calls, and their results may come in any order: each is found
/// by its id, not by looking at the others.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    calls: BTreeMap<u64, PendingCall>,
    places: HashMap<ToolCallId, u64, BuildHasherDefault<DefaultHasher>>,
    next: u64,
}

impl PendingCalls {
    /// Adds a call, the last one so far.
    pub(super) fn push(&mut self, call: PendingCall) {
        self.places.insert(call.id.clone(), self.next);
        self.calls.insert(self.next, call);
        self.next += 1;
    }

    /// Returns the call with an id.
    pub(super) fn get(&self, id: &ToolCallId) -> Option<&PendingCall> {
        self.calls.get(self.places.get(id)?)
    }

    /// Takes the call with an id, because its result came.
    pub(super) fn take(&mut self, id: &ToolCallId) -> Option<PendingCall> {
        let place = self.places.remove(id)?;
        self.calls.remove(&place)
    }

    /// Returns the ids of all calls.
    pub(super) fn ids(&self) -> Vec<ToolCallId> {
        self.calls.values().map(|call| call.id.clone()).collect()
    }

    /// Returns the ids of the calls of the last step that made any, if it is this one.
    pub(super) fn ids_of_step(&self, step: u64) -> Vec<ToolCallId> {
        let calls = self.calls.values().rev();
        let mut ids: Vec<ToolCallId> = calls
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
}
