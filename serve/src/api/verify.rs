//! Verifying all that is stored: long work, so that there is one at a time, on a thread of its own.

use std::sync::Arc;
use std::thread;

use axum::http::StatusCode;
use runtape_core::report::VerifyReport;
use tokio::sync::{Semaphore, oneshot};

use crate::opener::{Access, Opener};
use crate::problem::Problem;

/// Verifies, one at a time.
pub(super) struct VerifyTurn {
    open: Opener,
    turn: Arc<Semaphore>,
}

impl VerifyTurn {
    pub(super) fn new(open: Opener) -> Arc<Self> {
        let turn = Arc::new(Semaphore::new(1));
        Arc::new(Self { open, turn })
    }

    /// Verifies everything. Faults that are found are a part of the report, not a failure.
    pub(super) async fn verify(&self) -> Result<VerifyReport, Problem> {
        let busy = |_| Problem::busy("somebody verifies already: try again once that is done");
        let turn = Arc::clone(&self.turn).try_acquire_owned().map_err(busy)?;
        let (reply, report) = oneshot::channel();
        let open = Arc::clone(&self.open);
        let lost = |detail: String| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail);
        thread::Builder::new()
            .name("verifier".to_owned())
            .spawn(move || {
                let report = open(Access::Read).and_then(|store| store.verify());
                let _ = reply.send(report);
                drop(turn);
            })
            .map_err(|error| lost(format!("cannot start a thread that verifies: {error}")))?;
        let report = report.await;
        let report = report.map_err(|_| lost("verifying was broken off".to_owned()))?;
        Ok(report?)
    }
}
