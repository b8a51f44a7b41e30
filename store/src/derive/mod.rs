//! What follows from records, computed from them and nothing else: rows for queries, text for
//! searches. Nothing here knows of a database.

pub(crate) mod cells;
pub(crate) mod facts;
pub(crate) mod hosts;
pub(crate) mod paths;
pub(crate) mod run_writer;
pub(crate) mod shell;
pub(crate) mod text;
pub(crate) mod touched;
pub(crate) mod tree_usage;
pub(crate) mod usage_cell;
pub(crate) mod words;
