//! The subcommands, one file each.

mod ingest;
mod normalize;

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;

use crate::console::Console;
use crate::database::Database;
use crate::error::CliError;
use crate::plain;

/// What a command works with.
pub(crate) struct Session<'a> {
    pub(crate) console: Console<'a>,
    pub(crate) database: Database,
}

impl Session<'_> {
    /// Tells a person something that is no result.
    pub(crate) fn note(&self, text: &str) {
        // Standard error may be closed; there is nobody left to tell then.
        let _ = writeln!(std::io::stderr(), "{}", plain::lines(text));
    }

    /// Tells a person that something is wrong, though the command goes on.
    pub(crate) fn warn(&self, text: &str) {
        self.note(&format!("runtape: {text}"));
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ingest(ingest::IngestArgs),
    Normalize(normalize::NormalizeArgs),
}

/// Runs a subcommand, writing its results to the session's console.
pub(crate) fn run(command: Command, session: &mut Session<'_>) -> Result<ExitCode, CliError> {
    match command {
        Command::Ingest(args) => ingest::run(&args, session)?,
        Command::Normalize(args) => normalize::run(args, session)?,
    }
    Ok(ExitCode::SUCCESS)
}
