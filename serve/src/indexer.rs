//! One thread that may write: it completes the search index in quiet moments, so that searches need not
//! read what is not indexed yet.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use runtape_store::Store;

use crate::error::ServeError;
use crate::opener::{Access, Opener};

/// How long nobody must have asked anything.
const QUIET: Duration = Duration::from_secs(2);

/// How often the index is completed while nothing is asked.
const PAUSE: Duration = Duration::from_secs(10);

/// Tells the thread that somebody asks. It ends when this is dropped.
#[derive(Clone, Debug)]
pub(crate) struct IndexThread {
    asked: Sender<()>,
}

impl IndexThread {
    /// Starts the thread. Where the database may not be written, it ends at once.
    pub(crate) fn start(open: &Opener) -> Result<Self, ServeError> {
        let (asked, questions) = channel();
        let open = Arc::clone(open);
        thread::Builder::new()
            .name("indexer".to_owned())
            .spawn(move || {
                if let Ok(store) = open(Access::Write) {
                    index(&store, &questions);
                }
            })
            .map_err(|error| ServeError::System {
                doing: "start the thread that indexes",
                error,
            })?;
        Ok(Self { asked })
    }

    /// Tells that somebody asks.
    pub(crate) fn somebody_asks(&self) {
        let _ = self.asked.send(());
    }
}

fn index(store: &Store, questions: &Receiver<()>) {
    let mut wait = QUIET;
    loop {
        match questions.recv_timeout(wait) {
            Ok(()) => wait = QUIET,
            Err(RecvTimeoutError::Timeout) => {
                // Searches are complete without it, only slower.
                if store.complete_search().is_err() {
                    return;
                }
                wait = PAUSE;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
