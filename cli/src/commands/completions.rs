//! `runtape completions`: for the shell.

use clap::CommandFactory;
use clap_complete::Shell;
use runtape_core::report::Document;

use crate::Arguments;
use crate::commands::Invocation;
use crate::error::CliError;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut Arguments::command(),
        "runtape",
        &mut script,
    );
    let console = &mut invocation.console;
    if console.json {
        return console.object(&Document {
            name: args.shell.to_string(),
            file: None,
            text: Some(String::from_utf8_lossy(&script).into_owned()),
        });
    }
    Ok(console.out.write_all(&script)?)
}
