//! The real binary, end to end: every command on all fixtures, for people and for programs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says why it was skipped"
)]

#[cfg(unix)]
mod about;
mod asking;
#[cfg(unix)]
mod audit;
mod bundles;
#[cfg(unix)]
mod care;
#[cfg(unix)]
mod clock;
mod commands;
#[cfg(unix)]
mod completion;
#[cfg(all(unix, feature = "postgres"))]
mod cost;
#[cfg(unix)]
mod database_file;
#[cfg(unix)]
mod documentation;
#[cfg(unix)]
mod following;
mod harness;
#[cfg(unix)]
mod hostile;
mod json;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod leash;
mod manners;
#[cfg(unix)]
mod named_pipes;
mod periods;
mod perstack;
#[cfg(unix)]
mod picture;
#[cfg(unix)]
mod piped;
#[cfg(unix)]
mod record;
#[cfg(unix)]
mod recorder_for_hosts;
#[cfg(unix)]
mod redaction;
#[cfg(unix)]
mod same_records;
#[cfg(unix)]
mod sample;
#[cfg(unix)]
mod search;
#[cfg(all(unix, feature = "postgres"))]
mod server;
mod sessions;
#[cfg(unix)]
mod snapshots;
#[cfg(unix)]
mod spool;
#[cfg(unix)]
mod standard_input;
#[cfg(unix)]
mod sync;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod trouble;
#[cfg(unix)]
mod unshown;
mod usage;
#[cfg(unix)]
mod wrappers;
#[cfg(unix)]
mod your_own_agent;
