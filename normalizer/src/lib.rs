//! Turns what agent CLIs print into runtape records.
//!
//! Bytes become lines in [`lines`], terminal escapes come off in [`escapes`], and what a line says
//! is read by [`json`]. Everything here is a total function of its bytes: any input gives a
//! result, never a panic, and how the bytes were cut into chunks never shows.

pub mod escapes;
pub mod json;
pub mod lines;
