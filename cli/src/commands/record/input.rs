//! What the command gets on its standard input.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::process::Stdio;

use runtape_recorder::Recording;

use super::RecordArgs;
use super::prompt::Prompt;

/// Where the command's standard input comes from.
pub(super) enum CommandInput {
    /// It is ours: a terminal, nothing, or something that nobody wants to be kept.
    Ours,
    /// It is kept on its way.
    Kept(File),
    /// It is the prompt, kept on its way.
    Prompt(Prompt),
}

impl CommandInput {
    /// Finds out what there is. A prompt is waited for, as long as one may take.
    pub(super) fn find(args: &RecordArgs) -> Self {
        if args.prompt_on_stdin {
            return Self::Prompt(Prompt::read());
        }
        match (args.no_stdin, piped()) {
            (false, Some(file)) => Self::Kept(file),
            _ => Self::Ours,
        }
    }

    /// Returns what was asked for, where that is known for certain.
    pub(super) fn query(&self) -> Option<String> {
        match self {
            Self::Prompt(prompt) => prompt.text(),
            Self::Ours | Self::Kept(_) => None,
        }
    }

    /// Returns what the command is started with.
    pub(super) fn stdio(&self) -> Option<Stdio> {
        match self {
            Self::Ours => None,
            Self::Kept(_) | Self::Prompt(_) => Some(Stdio::piped()),
        }
    }

    /// Hands it to the command.
    pub(super) fn pass_on(self, recording: &mut Recording) {
        let from: Box<dyn Read + Send> = match self {
            Self::Ours => return,
            Self::Kept(file) => Box::new(file),
            Self::Prompt(prompt) => Box::new(prompt.into_reader()),
        };
        recording.pass_stdin(from);
    }
}

/// Returns standard input if it is a pipe, a socket or a file. A terminal is left to the command, which may want to
/// know that it is one.
fn piped() -> Option<File> {
    let stdin = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let file = File::from(stdin);
    let kind = file.metadata().ok()?.file_type();
    (kind.is_fifo() || kind.is_socket() || kind.is_file()).then_some(file)
}
