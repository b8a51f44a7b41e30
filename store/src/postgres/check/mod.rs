//! What only this database can have wrong: its schema, its rows that nothing leads to, its search index.

mod strays;
mod structure;
mod words;

pub(super) use self::strays::{repair, strays};
pub(super) use self::structure::{structure, tables};
pub(super) use self::words::SearchIndex;
