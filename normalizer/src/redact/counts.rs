//! What a filter did: a shape that reports have, too.

pub use runtape_core::report::RedactionCounts;
