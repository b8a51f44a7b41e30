//! Arguments that several commands take.

pub(crate) mod filter;
pub(crate) mod input;
