//! A `PostgreSQL` server for tests: started by the first test of a program that needs one, and ended with the program, also
//! when that is killed.
//!
//! Its programs are found by `RUNTAPE_PG_BIN`, in `PATH` or where Debian keeps them; `RUNTAPE_TEST_PG_URL` names a server
//! to use instead. Where there is neither, tests say so in one line and are skipped; with `RUNTAPE_POSTGRES=required` they
//! fail.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::missing_errors_doc,
    clippy::indexing_slicing,
    clippy::single_match_else,
    clippy::format_push_string,
    clippy::must_use_candidate,
    clippy::items_after_statements,
    reason = "a server that cannot be started fails the test that wants it"
)]

mod binaries;
mod database;
mod patroni;
mod proxy;
mod server;
mod sql;

pub use database::{Database, Layout, is_there, own_server};
pub use patroni::Cluster;
pub use proxy::Proxy;
pub use server::{Care, Server};
pub use sql::{Answer, Refusal, Sql};
