//! Writing: runs as they go and at once, what replaces them, and what gives them up. Written once, over
//! the seam.

pub(crate) mod append;
pub(crate) mod begin;
mod bundle;
mod copy_run;
pub(crate) mod import;
pub(crate) mod kept_usage;
mod merge;
pub(crate) mod put;
pub(crate) mod rebuild;
pub(crate) mod replace;
pub(crate) mod reseal;
pub(crate) mod retention;
pub(crate) mod sealing;
mod transfer;
