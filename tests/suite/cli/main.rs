//! The real binary, end to end: every command on all fixtures, for people and for programs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod commands;
mod harness;
mod json;
#[cfg(unix)]
mod record;
