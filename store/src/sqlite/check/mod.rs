//! What only this database can have wrong: its file, its keys, its search index.

pub(crate) mod index;
pub(crate) mod structure;
pub(crate) mod terms;
