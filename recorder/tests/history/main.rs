//! What CLIs leave on disk, into the store, alone and together with what was recorded.
//!
//! Our own histories lie under `tests/fixtures/<runtime>`; `RUNTAPE_CORPUS=../shared/corpus` adds recorded ones
//! that are not part of this repository.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a test fails by panicking, and says what it saw"
)]

mod again;
mod clocks;
mod executions;
mod golden;
mod halves;
mod pairs;
mod remainders;
mod threads;
mod times;
mod unclear;
