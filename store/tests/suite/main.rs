//! The store through its public API.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::too_many_lines,
    reason = "a failing test may fail in any way"
)]

mod append;
mod crash;
mod damage;
mod migrations;
mod queries;
mod retention;
mod synthetic;
mod tamper;
mod views;
mod writers;
