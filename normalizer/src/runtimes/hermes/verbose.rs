//! The lines of `hermes chat -v` that show arguments and results.

use serde_json::Value;

use super::messages::Messages;
use super::session::seconds;
use crate::json::decode;
use crate::parser::SignalSink;

/// The most bytes of one block that are held.
const MOST: usize = 4 * 1024 * 1024;

/// What blocks are indented by.
const INDENT: &str = "     ";

/// A block of several lines.
#[derive(Debug)]
enum VerboseBlock {
    /// The arguments of the call announced last.
    Arguments(String),
    /// A call with this number was completed; its result may follow.
    Completed {
        number: u64,
        duration_ms: Option<u64>,
    },
    /// Its result.
    Result {
        number: u64,
        duration_ms: Option<u64>,
        text: String,
    },
}

/// Reads the lines of `-v`.
#[derive(Debug, Default)]
pub(super) struct Verbose {
    open: Option<VerboseBlock>,
}

impl Verbose {
    /// Tells whether a line may go on with an open block.
    pub(super) fn expects(&self, line: &str) -> bool {
        self.open.is_some() && line.starts_with(INDENT)
    }

    /// Takes a line; `false` if it is none of these.
    pub(super) fn take(
        &mut self,
        line: &str,
        messages: &mut Messages,
        out: &mut SignalSink<'_>,
    ) -> bool {
        if let Some(rest) = line.strip_prefix(INDENT)
            && self.take_indented(rest, messages, out)
        {
            return true;
        }
        self.close(messages, out);
        if let Some(rest) = line.strip_prefix("  📞 Tool ") {
            return announced(rest, messages, out).is_some();
        }
        if let Some(rest) = line.strip_prefix("  ✅ Tool ") {
            self.open = completed(rest);
            return self.open.is_some();
        }
        line.starts_with("⚡ Concurrent: ")
    }

    fn take_indented(
        &mut self,
        rest: &str,
        messages: &mut Messages,
        out: &mut SignalSink<'_>,
    ) -> bool {
        if let Some(json) = rest.strip_prefix("Args: ") {
            self.close(messages, out);
            self.open = Some(VerboseBlock::Arguments(json.to_owned()));
            self.close_if_whole(json == "{}" || !json.starts_with(['{', '[']), messages, out);
            return true;
        }
        if let Some(text) = rest.strip_prefix("Result: ") {
            if let Some(VerboseBlock::Completed {
                number,
                duration_ms,
            }) = self.open.take()
            {
                let text = text.to_owned();
                self.open = Some(VerboseBlock::Result {
                    number,
                    duration_ms,
                    text,
                });
            }
            return true;
        }
        match &mut self.open {
            // Line breaks in JSON are space, and where a long string was wrapped it was at one.
            Some(VerboseBlock::Arguments(json)) if json.len() < MOST => {
                json.push(' ');
                json.push_str(rest);
                let whole = matches!(rest, "}" | "]");
                self.close_if_whole(whole, messages, out);
                true
            }
            Some(VerboseBlock::Result { text, .. }) if text.len() < MOST => {
                text.push('\n');
                text.push_str(rest);
                true
            }
            _ => false,
        }
    }

    fn close_if_whole(&mut self, whole: bool, messages: &mut Messages, out: &mut SignalSink<'_>) {
        if whole {
            self.close(messages, out);
        }
    }

    /// Ends the open block because something else came.
    pub(super) fn close(&mut self, messages: &mut Messages, out: &mut SignalSink<'_>) {
        match self.open.take() {
            Some(VerboseBlock::Arguments(json)) => {
                if let Ok(decoded) = decode::<Value>(json.as_bytes()) {
                    messages.arguments(decoded.value, out);
                }
            }
            Some(VerboseBlock::Completed {
                number,
                duration_ms,
            }) => {
                messages.output(number, None, duration_ms, out);
            }
            Some(VerboseBlock::Result {
                number,
                duration_ms,
                text,
            }) => {
                messages.output(number, Some(text), duration_ms, out);
            }
            None => {}
        }
    }
}

/// Reads `1: read_file(['path'])`.
fn announced(rest: &str, messages: &mut Messages, out: &mut SignalSink<'_>) -> Option<()> {
    let (number, rest) = rest.split_once(": ")?;
    let (name, _) = rest.split_once('(')?;
    messages.announce(number.parse().ok()?, name, out);
    Some(())
}

/// Reads `1 completed in 0.20s`.
fn completed(rest: &str) -> Option<VerboseBlock> {
    let (number, time) = rest.split_once(" completed in ")?;
    Some(VerboseBlock::Completed {
        number: number.parse().ok()?,
        duration_ms: seconds(time),
    })
}
