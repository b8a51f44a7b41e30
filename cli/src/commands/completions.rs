//! `runtape completions`: for the shell.

use std::io;

use clap::ValueEnum;
use clap_complete::env::Shells;
use runtape_core::report::Document;

use crate::commands::Invocation;
use crate::completion;
use crate::error::CliError;

/// Print a completion script for a shell
///
/// Commands, options and their words are completed, and so are ids of runs and jobs, sessions, models and labels: the script asks
/// this program, which reads the database. Have the shell read it when it starts, as in
/// `source <(runtape completions bash)`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// A shell that completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Shell {
    fn as_str(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::Powershell => "powershell",
            Self::Zsh => "zsh",
        }
    }

    /// Writes what makes the shell ask this program.
    fn script(self) -> io::Result<Vec<u8>> {
        let shells = Shells::builtins();
        let shell = shells.completer(self.as_str()).ok_or_else(|| {
            let message = format!("there are no completions for {}", self.as_str());
            io::Error::new(io::ErrorKind::Unsupported, message)
        })?;
        let (name, mut script) = ("runtape", Vec::new());
        // The program is found as the shell finds it, so that the script outlives an update of it.
        shell.write_registration(completion::VARIABLE, name, name, name, &mut script)?;
        Ok(script)
    }
}

pub(crate) fn run(args: &CompletionsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let script = args.shell.script()?;
    let console = &mut invocation.console;
    if console.json {
        return console.object(&Document {
            name: args.shell.as_str().to_owned(),
            file: None,
            text: Some(String::from_utf8_lossy(&script).into_owned()),
        });
    }
    Ok(console.out.write_all(&script)?)
}
