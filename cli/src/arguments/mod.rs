//! Arguments that several commands take.

pub(crate) mod calls;
pub(crate) mod filter;
pub(crate) mod input;
pub(crate) mod labels;
pub(crate) mod outcome;
pub(crate) mod place;
pub(crate) mod prices;
pub(crate) mod redaction;
pub(crate) mod words;
