//! The databases that CLIs leave on disk, against what really happened.
//!
//! Histories lie under `tests/fixtures/<runtime>`; `RUNTAPE_CORPUS=../shared/corpus` adds recorded
//! ones that are not part of this repository.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it saw"
)]

mod cursor;
mod hermes;
mod openclaw;
mod opencode;
mod sessions;
