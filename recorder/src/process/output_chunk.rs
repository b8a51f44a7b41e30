//! Output on its way from the process to the display and the store, bounded in memory.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use runtape_core::Stream;

/// Bytes of output that may be on their way. Beyond that the process waits, as it would for a
/// slow terminal. Below that it does not notice a store that is held up for some seconds.
const LIMIT: usize = 16 << 20;
/// What a chunk takes besides its bytes.
const OVERHEAD: usize = 256;

/// How much output is on its way.
#[derive(Default)]
pub(super) struct Budget {
    used: Mutex<usize>,
    freed: Condvar,
}

impl Budget {
    fn take(&self, amount: usize) {
        // The number in a poisoned lock is as good as any: nothing panics while holding it.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while *used > 0 && used.saturating_add(amount) > LIMIT {
            used = self
                .freed
                .wait(used)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *used = used.saturating_add(amount);
    }

    fn give_back(&self, amount: usize) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(amount);
        self.freed.notify_all();
    }
}

/// A chunk of output.
pub(super) struct OutputChunk {
    pub(super) stream: Stream,
    pub(super) bytes: Vec<u8>,
    pub(super) received_at: i64,
    pub(super) room: Room,
}

/// The room that a chunk takes, given back when this guard is dropped.
pub(super) struct Room {
    amount: usize,
    budget: Arc<Budget>,
}

impl OutputChunk {
    /// Makes a chunk, waiting until there is room for it.
    pub(super) fn new(
        stream: Stream,
        bytes: Vec<u8>,
        received_at: i64,
        budget: &Arc<Budget>,
    ) -> Self {
        let room = Room::take(bytes.len() + OVERHEAD, budget);
        Self {
            stream,
            bytes,
            received_at,
            room,
        }
    }
}

impl Room {
    fn take(amount: usize, budget: &Arc<Budget>) -> Self {
        budget.take(amount);
        let budget = Arc::clone(budget);
        Self { amount, budget }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.budget.give_back(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_is_ahead_waits_until_a_piece_is_gone() {
        let budget = Arc::new(Budget::default());
        let chunk =
            |budget: &Arc<Budget>| OutputChunk::new(Stream::Stdout, vec![0; LIMIT], 0, budget);
        let first = chunk(&budget);
        let (sender, receiver) = channel();
        let other = std::thread::spawn(move || {
            let second = chunk(&budget);
            sender.send(second.bytes.len()).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(LIMIT));
        other.join().unwrap();
    }
}
