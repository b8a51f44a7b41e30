//! The queue of one client, as the follower sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events that wait for a client; who has more waiting falls behind.
const QUEUE: usize = 256;

/// Puts events in a client's queue.
#[derive(Clone, Debug)]
pub(super) struct Watcher {
    queue: Sender<Bytes>,
    is_behind: Arc<AtomicBool>,
}

/// Takes events from a queue.
#[derive(Debug)]
pub(super) struct Queue {
    events: Receiver<Bytes>,
    is_behind: Arc<AtomicBool>,
}

/// Makes a queue.
pub(super) fn queue() -> (Watcher, Queue) {
    let (sender, events) = channel(QUEUE);
    let is_behind = Arc::new(AtomicBool::new(false));
    let watcher = Watcher {
        queue: sender,
        is_behind: Arc::clone(&is_behind),
    };
    (watcher, Queue { events, is_behind })
}

impl Watcher {
    /// Sends an event; returns whether the client still takes any. After one that it missed, it gets none.
    pub(super) fn send(&self, event: &Bytes) -> bool {
        if self.is_over() {
            return false;
        }
        let sent = self.queue.try_send(event.clone()).is_ok();
        if !sent {
            self.fall_behind();
        }
        sent
    }

    /// Ends the stream with the advice to come back.
    pub(super) fn fall_behind(&self) {
        self.is_behind.store(true, Ordering::Release);
    }

    /// Tells whether nothing more can be sent.
    pub(super) fn is_over(&self) -> bool {
        self.queue.is_closed() || self.is_behind.load(Ordering::Acquire)
    }
}

impl Queue {
    /// Returns the next event; `None` when no more will come.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        self.events.recv().await
    }

    /// Tells whether events were missed.
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_misses_one_event_gets_none_after_it() {
        let (watcher, mut queue) = queue();
        let event = Bytes::from_static(b"x");
        for _ in 0..QUEUE {
            assert!(watcher.send(&event));
        }
        assert!(!watcher.send(&event));
        assert!(queue.is_behind());
        queue.events.try_recv().unwrap();
        assert!(
            !watcher.send(&event),
            "there is room again, but there would be a gap"
        );
    }

    #[test]
    fn a_client_that_went_away_takes_nothing() {
        let (watcher, queue) = queue();
        drop(queue);
        assert!(!watcher.send(&Bytes::from_static(b"x")));
        assert!(watcher.is_over());
    }
}
