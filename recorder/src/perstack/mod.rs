//! Perstack's job trees: written from the store, and read back into it.
//!
//! Perstack keeps its history as files: `perstack/jobs/<job>/job.json`, one file per checkpoint, and
//! per run its settings and one file per event. [`export_job`] writes such a tree from stored runs,
//! so that Perstack's own readers and terminal UI show them; [`import_trees`] reads trees that
//! Perstack or an export wrote, whatever its version, and stores their runs.
//!
//! Every checkpoint file and every step's event holds the whole state, so a tree is quadratic in
//! the steps by nature. Neither direction ever holds more than one run's messages and one file.
//!
//! What Perstack's format has no place for is kept where its readers let it pass: under the key
//! `runtape` of a checkpoint's open `metadata`, and of an event. What our records have no place for
//! is kept under `perstack` in the metadata. So a tree that was imported can be exported again.

mod checkpoint;
mod error;
mod events;
mod export;
mod extension;
mod failed_result;
mod findings;
mod import;
mod marker;
mod plan;
mod reader;
mod rebuild;
mod setting;
mod steps;
mod times;
mod tree;
mod vintage;
mod writer;

pub use error::PerstackError;
pub use export::export_job;
pub use import::{Imported, import_trees};
pub use reader::{CheckFile, TreeFile};
pub use writer::Existing;
