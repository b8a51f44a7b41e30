//! Turns what agent CLIs print into runtape records.

pub mod context;
pub mod escapes;
pub mod exit;
pub mod failure;
pub mod json;
pub mod lines;
pub mod parser;
pub mod runtimes;
pub mod signal;
pub mod times;
