//! `OpenClaw`: what its gateway says, and the transcript lines its clients make of it.
//!
//! The [`protocol`] functions are pure and know nothing of connections, files or clocks.

pub mod protocol;
