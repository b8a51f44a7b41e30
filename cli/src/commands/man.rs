//! `runtape man`: manual pages.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::Arguments;
use crate::commands::Session;
use crate::error::CliError;

/// Print the manual page, or write one page for each command into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write runtape.1, runtape-record.1 … into this directory
    #[arg(long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let mut command = Arguments::command();
    command.build();
    let Some(directory) = &args.output else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        return Ok(session.console.out.write_all(&page)?);
    };
    std::fs::create_dir_all(directory).map_err(|error| CliError::Directory {
        path: directory.clone(),
        error,
    })?;
    clap_mangen::generate_to(command, directory).map_err(|error| CliError::WriteFile {
        path: directory.clone(),
        error,
    })
}
