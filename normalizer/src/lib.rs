//! Turns what agent CLIs print into runtape records.
//!
//! Bytes become lines in [`framing`], terminal escapes come off in [`escapes`], and what a line says
//! is read by [`json`]. Everything here is a total function of its bytes: any input gives a
//! result, never a panic, and how the bytes were cut into chunks never shows.

pub mod bounds;
mod by_hash;
mod command_line;
mod context;
mod detect;
mod error;
pub mod escapes;
mod exit;
mod external_output;
pub mod failure;
mod first_lines;
mod foreign_lines;
pub mod framing;
pub mod history;
mod join;
pub mod json;
mod normalizer;
mod output;
pub mod paperclip;
pub mod parser;
mod patch_text;
mod permissions;
pub mod redact;
pub mod reducer;
pub mod runtimes;
mod session_id;
pub mod signal;
mod standard_input;
#[cfg(test)]
mod testing;
pub mod times;
mod tool_table;
mod unnamed_calls;
pub mod verdict;

pub use context::{Context, RunSource, RuntimeFrom};
pub use detect::detect;
pub use error::NormalizeError;
pub use exit::{Exit, MissingOutput, signal_name};
pub use external_output::{ParsedOutput, parse_external_output};
pub use first_lines::{FirstLines, FoundRuntime};
pub use framing::lines;
pub use normalizer::Normalizer;
pub use output::{LiveItem, Output};
pub use permissions::PermissionFlag;
pub use redact::{Kept, Redactor};
pub use standard_input::{BesideArgument, StdinUse};
