//! claude-code: what `claude -p` prints.
//!
//! | `--output-format` | what it is |
//! |---|---|
//! | `text` | the answer, or an error: only the exit code tells |
//! | `json` | one `result` object; with `--verbose` an array of all messages, the result last |
//! | `stream-json` | a message a line, with `--include-partial-messages` also while it is written |
//!
//! Seen on 2.1.325, 2.0.76 and 1.0.128. What is peculiar to it:
//!
//! - One `assistant` line per content block: lines with the same `message.id` are one message, and
//!   results of its calls may stand between them. All repeat the same usage, with an output count
//!   that is not final.
//! - Text that the CLI wrote itself stands in the model's place, with the model `<synthetic>`.
//! - A sub-agent's lines carry the id of the call that started it, and interleave with others.
//! - `result` is the last text block, not the last message; it may be an error with the subtype
//!   `success`; and there may be several in one run.
//! - `modelUsage` and `total_cost_usd` are of the session, earlier runs included.
//!
//! Read the files in this order: a line of stream-json comes in here, `conversation` finds its type,
//! and `message`, `stream_events`, `system` or `result` says what it means; nothing else is between
//! a line and its first signal. `wire` and `content` are what these read. `stdout` has the first
//! lines, the text format and values over many lines, `line_values` what else may be on a line.
//! `open_messages` are those that are being written. `tools`, `usage`, `verdict` and `failure` know
//! the CLI's words; `argv` and `sniff` tell the format before a line is read.

mod argv;
mod calling;
mod content;
mod conversation;
mod failure;
mod history;
mod line_values;
mod message;
mod open_messages;
mod result;
mod sniff;
mod stdin;
mod stdout;
mod stream_events;
mod subtypes;
mod system;
mod tools;
mod usage;
mod verdict;
mod wire;

#[cfg(test)]
mod tests;

use runtape_core::{Runtime, Stream};

use self::argv::Argv;
use self::conversation::Conversation;
use self::history::{Heard, HistoryLines};
use self::stdout::Stdout;
use super::Carried::{Arguments, Calls, Cost, Model, Results, Session, Text, Thinking, Tokens};
use super::{OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::permissions::PermissionFlag;
use crate::redact::DeltaShape;
use crate::session_id::is_uuid;
use crate::signal::{Outcome, Signal, Verdict};

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::ClaudeCode,
    parser: |context| Box::new(ClaudeCode::new(context)),
    sniff: sniff::sniff,
    commands: &["claude"],
    resume: &["claude", "--resume"],
    is_script: |name| matches!(name, "cli.js" | "claude-code"),
    query: argv::query,
    stdin: argv::stdin,
    permissions: &[
        PermissionFlag::meaning("bypassPermissions", &["--dangerously-skip-permissions"]),
        PermissionFlag::valued(&["--permission-mode"]),
    ],
    formats: &[
        OutputFormat::new("text", "--output-format text", &[Text]),
        OutputFormat::new(
            "json",
            "--output-format json",
            &[Text, Tokens, Cost, Session, Model],
        ),
        OutputFormat::new(
            "stream-json",
            "--output-format stream-json --verbose",
            &[
                Text, Thinking, Calls, Arguments, Results, Tokens, Cost, Session, Model,
            ],
        ),
    ],
    versions: &["2.1.325", "2.0.76"],
    credentials: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
    ],
    is_session_id: is_uuid,
    history: Some(&history::HISTORY),
    // Partial messages: the blocks of a message by their index, those of sub-agents by the call that began them.
    deltas: &[DeltaShape {
        needle: "_delta\"",
        text: &[
            "event.delta.text",
            "event.delta.partial_json",
            "event.delta.thinking",
        ],
        so_far: &[],
        group: &["session_id", "parent_tool_use_id", "event.index"],
        only_with: None,
        unless: None,
        ends: Some("content_block_stop"),
    }],
    wraps_words: false,
    paperclip: Adapter {
        adapter_type: "claude_local",
        code_prefix: "claude",
        provider: Some("anthropic"),
        capabilities: adapter::LOCAL,
        calling: Some(&calling::CALLING),
    },
};

/// Reads what one `claude` process prints.
#[derive(Debug)]
struct ClaudeCode {
    stdout: Stdout,
    conversation: Conversation,
    /// What standard error says about a session that does not exist.
    unknown_session: Option<String>,
    /// Something was printed on standard output.
    printed: bool,
    /// What is read of the session's history, if any is.
    history: Option<Box<HistoryLines>>,
}

impl ClaudeCode {
    fn new(context: &Context) -> Self {
        Self {
            stdout: Stdout::new(context.limit),
            conversation: Conversation::new(Argv::of(context), context.limit),
            unknown_session: None,
            printed: false,
            history: None,
        }
    }

    /// Creates a parser of a session's history, and of the output beside it.
    fn with_history(context: &Context) -> Self {
        let mut parser = Self::new(context);
        parser.conversation.heard = Some(Heard::default());
        parser.history = Some(Box::new(HistoryLines::new(context.source)));
        parser
    }
}

impl RuntimeParser for ClaudeCode {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        match stream {
            Stream::Stdout => {
                self.printed = true;
                // Nearly every line is one sound message, so it is read as that first.
                let is_message = self.stdout.expects_message()
                    && line.bytes.first() == Some(&b'{')
                    && self.conversation.on_message(line.bytes, out).is_ok();
                if !is_message {
                    self.stdout.push_line(line, &mut self.conversation, out);
                }
            }
            Stream::Stderr => {
                let text = line.text();
                if self.unknown_session.is_none() && failure::is_unknown_session(&text) {
                    self.unknown_session = Some(text.trim().to_owned());
                }
                out.stderr_text(text);
            }
            Stream::History => {
                if let Some(history) = &mut self.history {
                    history.push_line(line.bytes, &mut self.conversation, out);
                }
            }
            Stream::Stdin => {}
        }
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        if let Some(history) = &mut self.history {
            let is_all = history.finish(&mut self.conversation, out);
            if is_all {
                return;
            }
        }
        let has_messages = self.stdout.finish(exit, &mut self.conversation, out);
        if has_messages {
            self.conversation.finish(out);
        } else if let Some(message) = self.unknown_session.take()
            && !self.printed
            && !exit.is_success()
        {
            // The text and json formats print nothing else, as the CLI gives up before it begins.
            let error = failure::unknown_session(message);
            out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
        }
    }
}
