//! The `runtape` binary: parse, dispatch, exit code.

mod arguments;
mod commands;
mod database;
mod digest;
mod error;
mod exit_codes;
mod platform;
mod settings;
mod spool_directory;
mod terminal;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::commands::Invocation;
use crate::database::Database;
use crate::error::CliError;
use crate::terminal::console::Console;

/// Records are made on one thread and freed on another, where the system's allocator has them wait
/// for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Records what agent CLIs print as one normalized history
#[derive(Debug, Parser)]
#[command(name = "runtape", version, after_help = exit_codes::HELP)]
pub(crate) struct Arguments {
    /// The database; by default in the platform's data directory
    #[arg(long, global = true, value_name = "FILE", env = "RUNTAPE_DB")]
    db: Option<PathBuf>,
    /// Print one JSON object a line instead of text for people
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: commands::Command,
}

fn run(arguments: Arguments, out: &mut dyn Write) -> Result<ExitCode, CliError> {
    let database = Database::find(arguments.db)?;
    let console = Console::new(out, arguments.json);
    let mut invocation = Invocation { console, database };
    let code = commands::run(arguments.command, &mut invocation)?;
    // Not `out` itself: `record` turns away from an output that cannot be written.
    invocation.console.out.flush()?;
    Ok(code)
}

fn main() -> ExitCode {
    #[cfg(unix)]
    if let Some(code) = commands::record::run_mode() {
        return code;
    }
    let arguments = Arguments::parse();
    // A lock would keep `record` from writing in between; it flushes as it goes.
    let mut out = io::BufWriter::new(io::stdout());
    let result = run(arguments, &mut out);
    if result.is_err() {
        // What was found before the failure is still of use.
        let _ = out.flush();
    }
    match result {
        Ok(code) => code,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed too; there is nobody left to tell then.
            let _ = error.report(&mut io::stderr().lock());
            ExitCode::from(error.exit_code())
        }
    }
}
