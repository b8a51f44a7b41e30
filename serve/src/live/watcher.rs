//! The queue of one client, as the follower sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::body::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events that wait for a client; who has more waiting falls behind.
const QUEUE: usize = 256;

/// Bytes of those events. One that is longer by itself can be sent: it is bounded, too.
const QUEUE_BYTES: usize = 2 << 20;

/// Puts events in a client's queue.
#[derive(Clone, Debug)]
pub(super) struct Watcher {
    queue: Sender<Bytes>,
    waiting: Arc<AtomicUsize>,
    is_behind: Arc<AtomicBool>,
}

/// Takes events from a queue.
#[derive(Debug)]
pub(super) struct Queue {
    events: Receiver<Bytes>,
    waiting: Arc<AtomicUsize>,
    is_behind: Arc<AtomicBool>,
}

/// Makes a queue.
pub(super) fn queue() -> (Watcher, Queue) {
    let (sender, events) = channel(QUEUE);
    let waiting = Arc::new(AtomicUsize::new(0));
    let is_behind = Arc::new(AtomicBool::new(false));
    let watcher = Watcher {
        queue: sender,
        waiting: Arc::clone(&waiting),
        is_behind: Arc::clone(&is_behind),
    };
    let queue = Queue {
        events,
        waiting,
        is_behind,
    };
    (watcher, queue)
}

impl Watcher {
    /// Sends an event; returns whether the client still takes any. After one that it missed, it gets none.
    pub(super) fn send(&self, event: &Bytes) -> bool {
        if self.is_over() {
            return false;
        }
        let waiting = self.waiting.fetch_add(event.len(), Ordering::AcqRel);
        let has_room = waiting == 0 || waiting + event.len() <= QUEUE_BYTES;
        let sent = has_room && self.queue.try_send(event.clone()).is_ok();
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
        let event = self.events.recv().await?;
        self.waiting.fetch_sub(event.len(), Ordering::AcqRel);
        Some(event)
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
    fn what_waits_is_bounded_in_bytes() {
        let (watcher, queue) = queue();
        let event = Bytes::from(vec![0; 128 << 10]);
        let sent = (0..QUEUE).take_while(|_| watcher.send(&event)).count();
        assert_eq!(sent, QUEUE_BYTES / event.len());
        assert!(queue.is_behind());
        let (watcher, _queue) = super::queue();
        assert!(
            watcher.send(&Bytes::from(vec![0; 2 * QUEUE_BYTES])),
            "it would never fit"
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
