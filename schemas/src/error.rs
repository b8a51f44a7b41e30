//! What can go wrong in this crate.

use std::io;

use crate::SchemaKind;

/// An error that the caller must act on. A value that breaks its schema is none: it is a
/// [`Verdict`](crate::Verdict).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// No kind has this name.
    #[error("unknown schema {name:?}, expected one of: {known}")]
    UnknownKind {
        /// The name that was given.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// A schema could not be compiled.
    #[error("failed to compile the schema of {kind}: {fault}")]
    Compile {
        /// The kind.
        kind: SchemaKind,
        /// What the compiler found.
        fault: String,
    },
    /// Lines could not be read to their end.
    #[error("failed to read line {line}")]
    Read {
        /// The line, counted from 1.
        line: u64,
        /// Why.
        #[source]
        error: io::Error,
    },
}
