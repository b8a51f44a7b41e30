//! Memory for output on its way into the store: there is only so much of it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Bytes of output that may be on their way. Beyond that the process waits, as it would for a
/// slow terminal. Below that it does not notice a store that is held up for some seconds.
const LIMIT: usize = 16 << 20;
/// What a chunk takes besides its bytes.
const OVERHEAD: usize = 256;

/// How much output is on its way.
#[derive(Default)]
pub(crate) struct Budget {
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

/// The room that a chunk takes, given back when this guard is dropped.
pub(crate) struct Room {
    amount: usize,
    budget: Arc<Budget>,
}

impl Room {
    /// Waits until there is room for so many bytes, and takes it.
    pub(crate) fn take(bytes: usize, budget: &Arc<Budget>) -> Self {
        let amount = bytes.saturating_add(OVERHEAD);
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
        let first = Room::take(LIMIT, &budget);
        let (sender, receiver) = channel();
        let other = std::thread::spawn(move || {
            let second = Room::take(LIMIT, &budget);
            sender.send(second.amount).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        let taken = receiver.recv_timeout(Duration::from_secs(10));
        assert_eq!(taken, Ok(LIMIT + OVERHEAD));
        other.join().unwrap();
    }
}
