//! Threads that read, each with a store of its own.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use runtape_store::{Store, StoreError};
use tokio::sync::oneshot;

use crate::error::ServeError;
use crate::opener::{Access, Opener};
use crate::problem::Problem;

/// Threads that read at once.
const THREADS: usize = 4;

/// Questions that wait; beyond, askers are told to come again.
const WAITING: usize = 256;

/// Work for a thread, which gives it a store or says why it has none.
type Work = Box<dyn FnOnce(Result<&Store, StoreError>) -> StoreFit + Send>;

/// Whether the store can answer further questions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoreFit {
    Yes,
    No,
}

/// The threads that read. They end when this is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    work: SyncSender<Work>,
}

impl Readers {
    /// Starts the threads.
    pub(crate) fn start(open: &Opener) -> Result<Self, ServeError> {
        let (work, waiting) = sync_channel(WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..THREADS {
            let (open, waiting) = (Arc::clone(open), Arc::clone(&waiting));
            thread::Builder::new()
                .name(format!("reader {number}"))
                .spawn(move || read(&open, &waiting))
                .map_err(|error| ServeError::System {
                    doing: "start a thread that reads",
                    error,
                })?;
        }
        Ok(Self { work })
    }

    /// Has a thread answer a question.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (reply, answer) = oneshot::channel();
        let work: Work = Box::new(move |store| {
            // Who asked may have gone away while the question waited.
            if reply.is_closed() {
                return StoreFit::Yes;
            }
            match store {
                Ok(store) => {
                    let answered = question(store);
                    // A database that was replaced is opened anew for the next question.
                    let is_lost =
                        matches!(&answered, Err(problem) if problem.status().is_server_error());
                    let kept = if is_lost { StoreFit::No } else { StoreFit::Yes };
                    let _ = reply.send(answered);
                    kept
                }
                Err(error) => {
                    let _ = reply.send(Err(error.into()));
                    StoreFit::No
                }
            }
        });
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.work.try_send(work)
        {
            return Err(Problem::busy(
                "too many questions wait for an answer: try again",
            ));
        }
        let lost = || {
            Problem::new(
                axum::http::StatusCode::INTERNAL_SERVER_ERROR,
                "the answer was lost",
            )
        };
        answer.await.unwrap_or_else(|_| Err(lost()))
    }
}

fn read(open: &Opener, waiting: &Mutex<Receiver<Work>>) {
    let mut store: Option<Store> = None;
    loop {
        let next = waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(work) = next else { return };
        if store.is_none() {
            match open(Access::Read) {
                Ok(opened) => store = Some(opened),
                Err(error) => {
                    let _ = work(Err(error));
                    continue;
                }
            }
        }
        if let Some(opened) = &store {
            // A question that panics costs its answer and this store, not the thread.
            let asked = std::panic::AssertUnwindSafe(|| work(Ok(opened)));
            if std::panic::catch_unwind(asked).unwrap_or(StoreFit::No) == StoreFit::No {
                store = None;
            }
        }
    }
}
