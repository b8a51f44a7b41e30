//! What only a server can do, and what can happen to one.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::too_many_lines,
    clippy::single_match_else,
    reason = "a failing test may fail in any way"
)]

mod breakdown;
mod cut_off;
mod finishing;
mod full;
mod hanging;
mod killed;
mod own_server;
mod patroni;
mod roles;
mod schema;
mod sums;
mod taken_over;
mod tampering;
mod tls;
mod views;
mod writers;
