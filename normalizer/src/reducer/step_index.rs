//! Where things stand in the open step, so that nothing in it has to be searched for.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The most places for which memory is kept from one step to the next.
const KEPT: usize = 1024;

/// Passes on a number that is a hash already.
#[derive(Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What is known of things by the hashes of their names.
pub(super) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Hashed>>;

/// Where a call of the open step stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallPlace {
    /// Its part among those that are held.
    pub(super) part: usize,
    /// Its note among those that are held.
    pub(super) note: usize,
    /// The batch of messages that it is in.
    pub(super) batch: u64,
}

/// Where a result of the open step stands that came before its call.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultPlace {
    pub(super) part: usize,
    pub(super) note: usize,
}

/// Where things stand in the open step of a run.
///
/// It belongs to the run rather than to the step, so that a step costs no memory of its own.
#[derive(Debug, Default)]
pub(super) struct StepIndex {
    /// Calls of the step, also those whose message is a record already.
    pub(super) calls: ByHash<CallPlace>,
    /// Results without a call that are still held.
    pub(super) untied: ByHash<ResultPlace>,
    /// What responses used, by their keys.
    pub(super) usage: ByHash<usize>,
    /// Counts how often what was held became records.
    pub(super) batch: u64,
}

impl StepIndex {
    /// Forgets the step: the next one begins.
    pub(super) fn clear(&mut self) {
        self.batch += 1;
        forget(&mut self.calls);
        forget(&mut self.untied);
        forget(&mut self.usage);
    }

    /// What was held has become records; the step goes on.
    pub(super) fn flush(&mut self) {
        self.batch += 1;
        forget(&mut self.untied);
    }

    /// Returns where a call stands, if it is still held.
    pub(super) fn held_call(&mut self, hash: u64) -> Option<&mut CallPlace> {
        let batch = self.batch;
        self.calls
            .get_mut(&hash)
            .filter(|place| place.batch == batch)
    }
}

fn forget<T>(places: &mut ByHash<T>) {
    // Clearing takes as long as there is room, so that one large step would slow down all others.
    if places.capacity() > KEPT {
        *places = ByHash::default();
    } else if !places.is_empty() {
        places.clear();
    }
}
