//! Reading a run that may still go on.

use std::time::Duration;

use runtape_core::{Record, RunId};
use runtape_store::Store;

use crate::error::CliError;

/// How often a run that goes on is looked at.
const INTERVAL: Duration = Duration::from_millis(150);

/// Records read at a time, so that a long run is not held in memory.
const PAGE: usize = 1000;

/// Calls `each` with a run's records; with `follow`, until the run has ended.
pub(crate) fn each_record(
    store: &Store,
    run: &RunId,
    follow: bool,
    mut each: impl FnMut(Record) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut next = 0;
    loop {
        // Asked before reading: what came before the end is then surely read.
        let has_ended = store.run(run)?.status.is_terminal();
        loop {
            let records = store.records(run, next, PAGE)?;
            let Some(last) = records.last() else { break };
            next = last.seq + 1;
            records.into_iter().try_for_each(&mut each)?;
        }
        if has_ended || !follow {
            return Ok(());
        }
        std::thread::sleep(INTERVAL);
    }
}
