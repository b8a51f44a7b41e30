//! Where things stand in the open step, so that nothing in it has to be searched for.

use crate::by_hash::ByHash;

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
        self.calls.clear();
        self.untied.clear();
        self.usage.clear();
    }

    /// What was held has become records; the step goes on.
    pub(super) fn flush(&mut self) {
        self.batch += 1;
        self.untied.clear();
    }

    /// Returns where a call stands, if it is still held.
    pub(super) fn held_call(&mut self, hash: u64) -> Option<&mut CallPlace> {
        let batch = self.batch;
        self.calls
            .get_mut(hash)
            .filter(|place| place.batch == batch)
    }
}
