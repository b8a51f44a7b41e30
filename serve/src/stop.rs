//! How a server is told to end.

use std::sync::Arc;

use tokio::sync::watch;

/// Ends a server: it takes no more requests, ends its streams, finishes what it answers, and returns.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Tells the server to end. Any thread may do so, at any time.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the server is told to end.
    pub(crate) async fn stopped(&self) {
        // The sender lives as long as this, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|stop| *stop).await;
    }
}
