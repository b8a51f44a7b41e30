//! The session files that CLIs leave on disk, against what really happened.
//!
//! A history is a directory `<scenario>.<format>.history`, beside `….history-truth.json`. Our own
//! lie under `tests/fixtures/<runtime>`; `RUNTAPE_CORPUS=../shared/corpus` adds recorded ones that
//! are not part of this repository.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it saw"
)]

mod any_bytes;
mod claude_code;
mod claude_code_growth;
mod codex;
mod gemini;
mod growth;
mod home;
mod joined;
mod tool_classes;
mod truth;
