//! The step that a run is in: on the tape, and in no record until it is over.

use runtape_core::report::{OpenStep, RunInfo};
use runtape_store::Store;

use crate::problem::Problem;

/// Bytes of a tape that is read again for this; of a longer one, what is recorded has to do.
const LONGEST_TAPE: u64 = 4 << 20;

/// Returns how much was printed by a run and those on its tape.
pub(super) fn tape_length(store: &Store, info: &RunInfo) -> Result<u64, Problem> {
    let root = info.root_run_id.as_ref().unwrap_or(&info.run_id);
    Ok(store.tape_lengths(root)?.total())
}

/// Returns the step that a run is in, if it goes on and its tape, which is this long, is not too long.
pub(super) fn of(store: &Store, info: &RunInfo, tape: u64) -> Result<Option<OpenStep>, Problem> {
    if tape > LONGEST_TAPE {
        return Ok(None);
    }
    Ok(runtape_recorder::following::open_step(store, info)?)
}
