//! Tool calls: which are known, and how those without an id are told apart.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::signal::CallRef;

/// What is remembered of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The step it was made in.
    pub(super) step: u32,
    pub(super) has_input: bool,
    pub(super) is_done: bool,
}

/// The calls of a run. A few bytes each: ids are kept as hashes.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<u64, Known, BuildHasherDefault<DefaultHasher>>,
    /// Calls without an id that were started, by the tool's name.
    started: HashMap<Box<str>, VecDeque<u64>>,
    unnamed: u64,
}

impl Calls {
    /// Returns the reference of a call that was printed without an id: a new one when it starts,
    /// else the oldest of that tool that is not over.
    pub(super) fn unnamed(&mut self, name: &str, starts: bool) -> CallRef<'static> {
        if !starts {
            let oldest = self.started.get_mut(name).and_then(VecDeque::pop_front);
            if let Some(ordinal) = oldest {
                return CallRef::Local(ordinal);
            }
        }
        let ordinal = self.unnamed;
        self.unnamed += 1;
        if starts {
            self.started
                .entry(name.into())
                .or_default()
                .push_back(ordinal);
        }
        CallRef::Local(ordinal)
    }

    fn hash(&self, call: CallRef<'_>) -> u64 {
        match call {
            CallRef::Printed(id) => self.known.hasher().hash_one(id),
            CallRef::Local(ordinal) => self.known.hasher().hash_one(ordinal),
        }
    }

    /// Returns what is known of a call.
    pub(super) fn get(&mut self, call: CallRef<'_>) -> Option<&mut Known> {
        let hash = self.hash(call);
        self.known.get_mut(&hash)
    }

    /// Remembers a call.
    pub(super) fn add(&mut self, call: CallRef<'_>, known: Known) {
        let hash = self.hash(call);
        self.known.insert(hash, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_without_an_id_end_in_the_order_they_started_per_tool() {
        let mut calls = Calls::default();
        assert_eq!(calls.unnamed("shell", true), CallRef::Local(0));
        assert_eq!(calls.unnamed("read", true), CallRef::Local(1));
        assert_eq!(calls.unnamed("shell", true), CallRef::Local(2));
        assert_eq!(calls.unnamed("read", false), CallRef::Local(1));
        assert_eq!(calls.unnamed("shell", false), CallRef::Local(0));
        assert_eq!(calls.unnamed("shell", false), CallRef::Local(2));
        assert_eq!(calls.unnamed("shell", false), CallRef::Local(3));
    }
}
