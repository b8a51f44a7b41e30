//! End-to-end suite: one binary, one module per subject.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it saw"
)]

mod attempts;
mod captures;
mod contracts;
mod ground_truth;
mod hostile;
mod paperclip;
mod properties;
mod published;
mod redaction;
mod tool_classes;
mod verdicts;
