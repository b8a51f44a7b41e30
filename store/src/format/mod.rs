//! What is kept, byte by byte: blocks, chains and seals. Nothing here knows of a database.

pub(crate) mod chain;
pub(crate) mod codec;
pub(crate) mod depth;
pub(crate) mod epochs;
pub(crate) mod links;
pub(crate) mod records;
pub(crate) mod seals;
pub(crate) mod streams;
pub(crate) mod tape;
pub(crate) mod varint;
pub(crate) mod weigh;
