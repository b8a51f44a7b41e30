//! Where the conversation appears while a command runs.

use std::io::{self, Write};

use runtape_core::transcript::Assistant;
use runtape_core::{Runtime, Stream, TranscriptEntry, TranscriptKind};
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
    /// Lines that were shown before they were understood.
    unread: UnreadLines,
    unshown: Option<Unshown>,
}

impl Screen {
    pub(super) fn new(view: View, is_summed_up: bool) -> Self {
        Self {
            printer: TranscriptPrinter::default(),
            view,
            is_summed_up,
            unread: UnreadLines::default(),
            unshown: None,
        }
    }

    /// Shows a piece, as long as that is possible.
    pub(super) fn show(&mut self, invocation: &mut Invocation<'_>, shown: Shown) {
        let (bytes, result) = match shown {
            Shown::Bytes(stream, bytes) => (bytes.len(), self.raw(invocation, stream, &bytes)),
            Shown::Unread(text) => (0, self.unread(invocation, &text)),
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

    /// Shows lines at once that an item may say again.
    fn unread(&mut self, invocation: &mut Invocation<'_>, text: &str) -> Result<(), CliError> {
        if self.view != View::Conversation || self.unread.is_over(text) {
            return Ok(());
        }
        let console = &mut invocation.console;
        let entry = TranscriptEntry::new(0, Assistant::new(text, true));
        self.printer.print(console, &entry)?;
        self.unread.lines.push_str(text);
        Ok(console.out.flush()?)
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
                let unread = &mut self.unread;
                let is_new = |entry: &TranscriptEntry| !unread.takes(&entry.kind);
                for entry in entries.filter(|entry| !is_said(entry)).filter(is_new) {
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

/// Lines that were shown before they were understood, until items say them again.
#[derive(Default)]
struct UnreadLines {
    lines: String,
    /// Some line was shown so.
    is_used: bool,
    /// What comes is in a published shape: it is shown as what it says.
    is_over: bool,
}

impl UnreadLines {
    /// Tells whether lines are no longer shown before they are understood.
    fn is_over(&mut self, text: &str) -> bool {
        // Objects may be messages, which read better than they look.
        self.is_over |= text.lines().any(|line| line.trim_start().starts_with('{'));
        self.is_used |= !self.is_over;
        self.is_over
    }

    /// Tells whether an entry says nothing but lines that were shown.
    fn takes(&mut self, kind: &TranscriptKind) -> bool {
        if !self.is_used {
            return false;
        }
        let text = match kind {
            TranscriptKind::Assistant(said) => said.text.as_str(),
            TranscriptKind::Stdout(said) => said.text.as_str(),
            TranscriptKind::Init(init) => return init.model == Runtime::Generic.as_str(),
            TranscriptKind::Stderr(_) | TranscriptKind::System(_) | TranscriptKind::Result(_) => {
                return false;
            }
            _ => {
                // The agent has begun: what it says is new, even if it says the same.
                self.lines.clear();
                return false;
            }
        };
        let wanted = text.trim_matches(['\r', '\n']);
        if wanted.is_empty() {
            return true;
        }
        let shown = self.lines.trim_start_matches(['\r', '\n']);
        let Some(rest) = shown.strip_prefix(wanted) else {
            return false;
        };
        if !(rest.is_empty() || rest.starts_with(['\r', '\n'])) {
            return false;
        }
        self.lines = rest.to_owned();
        true
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::transcript::{Init, Stdout};

    use super::*;

    #[test]
    fn an_item_that_says_what_was_shown_is_not_shown_again() {
        let mut lines = UnreadLines::default();
        let said = |text: &str| TranscriptKind::from(Assistant::new(text, true));
        assert!(!lines.takes(&said("a")), "nothing was shown");
        assert!(!lines.is_over("\na\nb\r\nc\n"));
        lines.lines.push_str("\na\nb\r\nc\n");
        let generic = Init {
            model: "generic".to_owned(),
            session_id: String::new(),
        };
        assert!(lines.takes(&generic.into()));
        assert!(lines.takes(&said("a\nb")));
        assert!(lines.takes(&said("\n")), "what ended the line");
        assert!(!lines.takes(&said("another")));
        let noise = Stdout {
            text: "c".to_owned(),
        };
        assert!(lines.takes(&noise.into()));
        assert!(!lines.takes(&said("c")), "it is said again");
        assert!(lines.is_over("{\"kind\":\"init\"}\n"));
        assert!(lines.is_over("more\n"), "from then on");
    }
}
