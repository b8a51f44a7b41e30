//! What only this backend can do; what any must is in the contract suite.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::too_many_lines,
    reason = "a failing test may fail in any way"
)]

mod bombs;
mod bundles;
mod crash;
mod damage;
mod enumeration;
mod erasing;
mod files;
mod hostile;
mod keys;
mod long_runs;
mod merging;
mod migrations;
mod planted;
mod rebuild;
mod reseal;
mod tamper;
mod views;
mod writers;
