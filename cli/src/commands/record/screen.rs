//! Where the conversation appears while a command runs.

use std::io::{self, Write};

use runtape_core::{Stream, TranscriptEntry, TranscriptKind};
use runtape_normalizer::LiveItem;
use runtape_recorder::process::Shown;

use super::{Emit, RecordArgs, Show, emit};
use crate::commands::Invocation;
use crate::error::{CliError, with_causes};
use crate::terminal::transcript::TranscriptPrinter;

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The conversation, for people.
    Conversation,
    /// The conversation, for programs.
    Entries,
    /// What the command prints.
    Raw,
    Nothing,
}

impl View {
    pub(super) fn new(args: &RecordArgs, json: bool) -> Self {
        match (args.emit, args.show) {
            (Some(Emit::Transcript), _) => Self::Entries,
            (None, Show::Transcript) if json => Self::Entries,
            (None, Show::Transcript) => Self::Conversation,
            (None, Show::Raw) => Self::Raw,
            (None, Show::None) => Self::Nothing,
        }
    }
}

/// What could not be shown, and why.
pub(super) struct Unshown {
    pub(super) reason: String,
    /// Bytes of output.
    pub(super) bytes: u64,
}

/// Where the conversation appears.
pub(super) struct Screen {
    printer: TranscriptPrinter,
    view: View,
    /// A line about the run follows at the end.
    is_summed_up: bool,
    unshown: Option<Unshown>,
}

impl Screen {
    pub(super) fn new(view: View, is_summed_up: bool) -> Self {
        Self {
            printer: TranscriptPrinter::default(),
            view,
            is_summed_up,
            unshown: None,
        }
    }

    /// Shows a piece, as long as that is possible.
    pub(super) fn show(&mut self, invocation: &mut Invocation<'_>, shown: Shown) {
        let (bytes, result) = match shown {
            Shown::Bytes(stream, bytes) => (bytes.len(), self.raw(invocation, stream, &bytes)),
            Shown::Items { items, bytes } => (bytes, self.items(invocation, items)),
        };
        self.saw(invocation, result);
        if let Some(unshown) = &mut self.unshown {
            unshown.bytes += bytes as u64;
        }
    }

    /// Ends what is shown. Returns what could not be.
    pub(super) fn close(mut self, invocation: &mut Invocation<'_>) -> Option<Unshown> {
        let closed = self.close_last(invocation);
        self.saw(invocation, closed);
        self.unshown
    }

    fn close_last(&mut self, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
        if self.view == View::Conversation {
            self.printer.close(&mut invocation.console)?;
        }
        Ok(invocation.console.out.flush()?)
    }

    /// Takes note of how showing went. After a first failure nothing more is shown: the run goes on
    /// and is recorded all the same.
    fn saw(&mut self, invocation: &mut Invocation<'_>, shown: Result<(), CliError>) {
        let Err(error) = shown else {
            return;
        };
        self.view = View::Nothing;
        // What the failed writer still holds is not tried again.
        invocation.console.out = Box::leak(Box::new(io::sink()));
        // Whoever watched through a pipe may go away.
        if self.unshown.is_none() && !error.is_closed_pipe() {
            let reason = with_causes(&error);
            self.unshown = Some(Unshown { reason, bytes: 0 });
        }
    }

    fn raw(
        &mut self,
        invocation: &mut Invocation<'_>,
        stream: Stream,
        bytes: &[u8],
    ) -> Result<(), CliError> {
        if self.view != View::Raw {
            return Ok(());
        }
        if stream == Stream::Stderr {
            // Where nothing can be written, nobody can be told.
            let _ = io::stderr().write_all(bytes);
            return Ok(());
        }
        invocation.console.out.write_all(bytes)?;
        Ok(invocation.console.out.flush()?)
    }

    fn items(
        &mut self,
        invocation: &mut Invocation<'_>,
        items: Vec<LiveItem>,
    ) -> Result<(), CliError> {
        let console = &mut invocation.console;
        let entries = items.into_iter().filter_map(|item| match item {
            LiveItem::Transcript { entry, .. } => Some(entry),
            LiveItem::Event(_) => None,
        });
        match self.view {
            View::Raw | View::Nothing => return Ok(()),
            View::Conversation => {
                // That a run went well is said once, by the line about it at the end. Why one failed may be all that
                // its command printed: it belongs to the conversation.
                let is_said = |entry: &TranscriptEntry| match &entry.kind {
                    TranscriptKind::Result(result) => self.is_summed_up && !result.is_error,
                    _ => false,
                };
                for entry in entries.filter(|entry| !is_said(entry)) {
                    self.printer.print(console, &entry)?;
                }
            }
            View::Entries => {
                for entry in entries.flat_map(emit::fit) {
                    console.object(&entry)?;
                }
            }
        }
        Ok(console.out.flush()?)
    }
}
