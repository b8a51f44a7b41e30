//! What a store must do, whatever it keeps its runs in: through the public API only.
//!
//! A second backend is held to the same by exchanging [`backend`]. What only `SQLite` can do (views,
//! damaged pages, tampering, crashes of a process in mid-write) is tested beside that backend.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a failing test may fail in any way"
)]

mod append;
mod erasing;
mod planted;
mod prepared;
mod queries;
mod retention;
mod sessions;
mod streams;
#[allow(dead_code, reason = "other suites use more of it")]
mod synthetic;

/// The store that is held to the contract.
mod backend {
    pub(crate) use runtape_store::*;

    /// Opens a store that has nothing in it.
    pub(crate) fn fresh() -> Store {
        Store::open_in_memory().unwrap()
    }
}
