//! The `runtape` binary: parse, dispatch, exit code.

mod commands;
mod error;
mod exit_codes;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// Records what agent CLIs print as one normalized history
#[derive(Debug, Parser)]
#[command(name = "runtape", version, after_help = exit_codes::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = commands::run(arguments.command, &mut out).and_then(|()| Ok(out.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed too; there is nobody left to tell then.
            let _ = error.report(&mut io::stderr().lock());
            ExitCode::from(error.exit_code())
        }
    }
}
