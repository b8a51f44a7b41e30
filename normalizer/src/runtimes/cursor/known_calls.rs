//! Tool calls: which are known.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;

use crate::signal::CallRef;
use crate::unnamed_calls::UnnamedCalls;

/// What is remembered of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallMemory {
    /// The step it was made in.
    pub(super) step: u32,
    pub(super) has_input: bool,
    pub(super) is_done: bool,
}

/// The calls of a run. A few bytes each: ids are kept as hashes.
#[derive(Debug, Default)]
pub(super) struct KnownCalls {
    known: HashMap<u64, CallMemory, FixedState>,
    pub(super) unnamed: UnnamedCalls,
}

impl KnownCalls {
    fn hash(&self, call: CallRef<'_>) -> u64 {
        match call {
            CallRef::Printed(id) => self.known.hasher().hash_one(id),
            CallRef::Local(ordinal) => self.known.hasher().hash_one(ordinal),
        }
    }

    /// Returns what is known of a call.
    pub(super) fn get(&mut self, call: CallRef<'_>) -> Option<&mut CallMemory> {
        let hash = self.hash(call);
        self.known.get_mut(&hash)
    }

    /// Remembers a call.
    pub(super) fn add(&mut self, call: CallRef<'_>, known: CallMemory) {
        let hash = self.hash(call);
        self.known.insert(hash, known);
    }
}
