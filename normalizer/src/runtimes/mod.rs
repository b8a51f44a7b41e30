//! The runtimes: one file or folder each, one line each in the list.

use runtape_core::Runtime;

use crate::context::Context;
use crate::parser::RuntimeParser;

mod claude_code;
mod cursor;
mod gemini;
mod hermes;
mod openclaw;

/// What the normalizer needs of a runtime.
pub struct RuntimeEntry {
    /// Its name.
    pub runtime: Runtime,
    /// Creates a parser for one run.
    pub parser: fn(&Context) -> Box<dyn RuntimeParser>,
    /// Tells how surely the first bytes of an output are this runtime's: 0 not at all, 100 surely.
    pub sniff: fn(&[u8]) -> u8,
    /// Finds what was asked for in the command line.
    pub query: fn(&Context) -> Option<String>,
    /// The names its program goes by.
    pub commands: &'static [&'static str],
}

/// Every runtime that can be read.
pub const RUNTIMES: &[RuntimeEntry] = &[
    claude_code::ENTRY,
    cursor::ENTRY,
    gemini::ENTRY,
    hermes::ENTRY,
    openclaw::ENTRY,
];

/// Returns the entry of a runtime, if its output can be read.
#[must_use]
pub fn entry_for(runtime: &Runtime) -> Option<&'static RuntimeEntry> {
    RUNTIMES.iter().find(|entry| entry.runtime == *runtime)
}

/// Returns the names of the runtimes that can be read, separated by commas.
#[must_use]
pub fn readable() -> String {
    RUNTIMES
        .iter()
        .map(|entry| entry.runtime.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the runtime that a program belongs to, by its name or path.
#[must_use]
pub fn by_command(program: &str) -> Option<Runtime> {
    let name = program.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let entry = RUNTIMES
        .iter()
        .find(|entry| entry.commands.contains(&name))?;
    Some(entry.runtime.clone())
}
