//! The runtimes: one file or folder each, one line each in the list.

use runtape_core::Runtime;

use crate::command_line::owner;
use crate::context::Context;
use crate::history::History;
use crate::paperclip::Adapter;
use crate::parser::RuntimeParser;
use crate::permissions::PermissionFlag;
use crate::redact::DeltaShape;
use crate::standard_input::StdinUse;

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod generic;
mod hermes;
mod openclaw;
mod opencode;
mod output_format;

pub use output_format::{Carried, OutputFormat, best};

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
    /// Tells what its CLI takes standard input for, by its command line.
    pub stdin: fn(&Context) -> StdinUse,
    /// The flags that say what the agent may do without asking, the one that wins first.
    pub permissions: &'static [PermissionFlag],
    /// The names its program goes by.
    pub commands: &'static [&'static str],
    /// The words that go on with a session in a terminal, before the session's id; none where there is
    /// no such command.
    pub resume: &'static [&'static str],
    /// Tells whether a script or package is its program too, by the name that a launcher such as
    /// node, npx or python is given.
    pub is_script: fn(&str) -> bool,
    /// The output formats that were seen and can be read.
    pub formats: &'static [OutputFormat],
    /// The versions of its program whose output was seen.
    pub versions: &'static [&'static str],
    /// The environment variables that may hold its credentials.
    pub credentials: &'static [&'static str],
    /// Tells whether a text has the form of this runtime's session ids. Prose never has: what
    /// passes may be handed to a command line.
    pub is_session_id: fn(&str) -> bool,
    /// The history that its CLI keeps on disk, where it can be read.
    pub history: Option<&'static History>,
    /// Where its lines hold pieces of a longer text: a secret may be cut over them.
    pub deltas: &'static [DeltaShape],
    /// Its text for people has words broken over lines that are longer than the screen is wide: a secret may be.
    pub wraps_words: bool,
    /// What Paperclip's host wants to know of it.
    pub paperclip: Adapter,
}

impl RuntimeEntry {
    /// Returns the names of the output formats, separated by commas.
    #[must_use]
    pub fn format_names(&self) -> String {
        let names: Vec<&str> = self.formats.iter().map(|format| format.name).collect();
        names.join(", ")
    }

    /// Returns what the runtime leaves behind that is not read, each with the reason.
    #[must_use]
    pub fn not_read(&self) -> &'static [&'static str] {
        match self.runtime {
            Runtime::Cursor => cursor::NOT_READ,
            Runtime::Openclaw => openclaw::NOT_READ,
            _ => &[],
        }
    }
}

/// Every runtime that can be read.
pub const RUNTIMES: &[RuntimeEntry] = &[
    claude_code::ENTRY,
    cursor::ENTRY,
    gemini::ENTRY,
    hermes::ENTRY,
    openclaw::ENTRY,
    codex::ENTRY,
    opencode::ENTRY,
    generic::ENTRY,
];

/// Returns the entry of a runtime, if its output can be read.
#[must_use]
pub fn entry_for(runtime: &Runtime) -> Option<&'static RuntimeEntry> {
    RUNTIMES.iter().find(|entry| entry.runtime == *runtime)
}

/// Tells whether a text is a session id of a runtime; of one that cannot be read, nothing is.
#[must_use]
pub fn is_session_id(runtime: &Runtime, text: &str) -> bool {
    entry_for(runtime).is_some_and(|entry| (entry.is_session_id)(text))
}

/// Returns the command that goes on with a session in a terminal. An id that is not of the runtime's
/// form is handed to no command line.
#[must_use]
pub fn resume_command(runtime: &Runtime, session: &str) -> Option<String> {
    let entry = entry_for(runtime)?;
    if entry.resume.is_empty() || !(entry.is_session_id)(session) {
        return None;
    }
    Some(format!("{} {session}", entry.resume.join(" ")))
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

/// Returns the runtime whose program a command line runs, by its name. Any other program is
/// [generic](Runtime::Generic), which is for the caller to decide.
#[must_use]
pub fn by_command_line(argv: &[String]) -> Option<Runtime> {
    let entry = owner(argv, RUNTIMES.iter())?;
    Some(entry.runtime.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_resumed_by_its_own_program_and_nothing_else_is_run() {
        let uuid = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
        let table = [
            (Runtime::ClaudeCode, uuid, Some("claude --resume ")),
            (Runtime::Cursor, uuid, Some("cursor-agent --resume ")),
            (Runtime::Gemini, uuid, Some("gemini --resume ")),
            (Runtime::Codex, uuid, Some("codex resume ")),
            (
                Runtime::Hermes,
                "20261115_234656_5eb98f",
                Some("hermes --resume "),
            ),
            (
                Runtime::Openclaw,
                "agent:main:main",
                Some("openclaw tui --session "),
            ),
            (Runtime::Generic, uuid, None),
            (Runtime::ClaudeCode, "$(reboot)", None),
            (Runtime::Codex, "--last", None),
        ];
        for (runtime, session, words) in table {
            let expected = words.map(|words| format!("{words}{session}"));
            assert_eq!(resume_command(&runtime, session), expected, "{runtime}");
        }
        for entry in RUNTIMES {
            if let [program, ..] = entry.resume {
                assert!(entry.commands.contains(program), "{}", entry.runtime);
            }
        }
    }
}
