//! The subcommands, one file each.

mod normalize;

use std::io::Write;

use clap::Subcommand;

use crate::error::CliError;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Normalize(normalize::NormalizeArgs),
}

/// Runs a subcommand, writing its results to `out`.
pub(crate) fn run(command: Command, out: &mut dyn Write) -> Result<(), CliError> {
    match command {
        Command::Normalize(args) => normalize::run(args, out),
    }
}
