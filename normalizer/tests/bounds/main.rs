//! What must hold however many things a run has, and whatever numbers it prints.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::single_match_else,
    clippy::unused_self,
    reason = "a test fails by panicking, and says what it saw"
)]

mod growth;
mod hostile;
mod memory;
mod redaction;
mod stream;
mod unnamed;
