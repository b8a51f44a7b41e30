//! `runtape serve`, end to end: the real binary, over real sockets, on all fixtures.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    dead_code,
    reason = "a test fails by panicking, and says why it was skipped; the harness is shared"
)]

#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod browser_runs;
#[path = "../cli/harness.rs"]
mod harness;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod load;
#[cfg(all(unix, feature = "postgres"))]
mod on_server;
#[cfg(unix)]
mod openapi;
mod page_types;
#[cfg(unix)]
mod security;
#[cfg(unix)]
mod server;
