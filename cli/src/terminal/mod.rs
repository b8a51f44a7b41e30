//! What people see: tables, transcripts, times, and nothing that could deceive a terminal.

pub(crate) mod call_input;
mod column;
pub(crate) mod console;
pub(crate) mod count;
pub(crate) mod fit;
pub(crate) mod pager;
pub(crate) mod plain;
pub(crate) mod progress;
pub(crate) mod question;
pub(crate) mod table;
pub(crate) mod times;
pub(crate) mod transcript;
