//! Asking: what is there, what it says, and whether it can be trusted. Written once, over the seam.

pub(crate) mod audit;
mod database;
mod drift;
mod history;
mod list;
pub(crate) mod records;
pub(crate) mod runs;
pub(crate) mod sealed;
mod search;
mod sessions;
pub(crate) mod tape;
pub(crate) mod verify;
