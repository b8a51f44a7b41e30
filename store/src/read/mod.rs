//! Asking: what is there, what it says, and whether it can be trusted. Written once, over the seam.

pub(crate) mod audit;
mod call_sum;
pub(crate) mod calls;
mod database;
mod drift;
pub(crate) mod failures;
pub(crate) mod files;
mod history;
mod list;
mod network;
pub(crate) mod records;
pub(crate) mod runs;
pub(crate) mod sealed;
pub(crate) mod search;
mod sessions;
pub(crate) mod tape;
pub(crate) mod usage;
pub(crate) mod verify;
