//! Finding runs.

use runtape_core::RunId;

use crate::backend::{RunRow, Tables};
use crate::error::{Result, StoreError};

/// Returns a run by its id, or an error that names it.
pub(crate) fn get(tables: &dyn Tables, run: &RunId) -> Result<RunRow> {
    tables.find_run(run)?.ok_or_else(|| StoreError::UnknownRun {
        run: run.to_string(),
    })
}

/// Returns the root run on whose tape a run is.
pub(crate) fn root_of(tables: &dyn Tables, row: RunRow) -> Result<RunRow> {
    let Some(root) = &row.root else {
        return Ok(row);
    };
    tables
        .run_at(root)?
        .ok_or_else(|| StoreError::damaged(format!("run {}", row.id), "its root run is missing"))
}

/// Returns the root run of the tree that a run is of.
pub(crate) fn get_root(tables: &dyn Tables, run: &RunId) -> Result<RunRow> {
    root_of(tables, get(tables, run)?)
}
