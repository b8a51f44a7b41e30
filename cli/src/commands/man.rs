//! `runtape man`: manual pages.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;
use runtape_core::report::Document;

use crate::Arguments;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::plain;

/// Print the manual page, or write one page for each command into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write runtape.1, runtape-record.1 … into this directory
    #[arg(long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut command = Arguments::command();
    command.build();
    let console = &mut invocation.console;
    let Some(directory) = &args.output else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        if console.json {
            return console.object(&Document {
                name: "runtape.1".to_owned(),
                file: None,
                text: Some(String::from_utf8_lossy(&page).into_owned()),
            });
        }
        return Ok(console.out.write_all(&page)?);
    };
    std::fs::create_dir_all(directory).map_err(|error| CliError::Directory {
        path: directory.clone(),
        error,
    })?;
    let mut pages = vec!["runtape.1".to_owned()];
    let commands = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    pages.extend(commands.map(|command| format!("runtape-{}.1", command.get_name())));
    clap_mangen::generate_to(command, directory).map_err(|error| CliError::WriteFile {
        path: directory.clone(),
        error,
    })?;
    for name in pages {
        let file = directory.join(&name).display().to_string();
        if console.json {
            console.object(&Document {
                name,
                file: Some(file),
                text: None,
            })?;
        } else {
            console.line(&plain::one_line(&file))?;
        }
    }
    Ok(())
}
