//! openclaw: what the `OpenClaw` gateway sends its clients, one JSON frame a line.
//!
//! Seen: gateways 2026.9.6 (protocol 4), 2026.5.7 and 2026.3.28 (protocol 3). The output is whatever one
//! client sent (`req`) and received (`res`, `event`), in order; a client that connected again wrote
//! on into the same file. The format is described in the essays of `frames`, `conversation` and
//! `rows`; in short:
//!
//! - `req`: `chat.send` and `agent` name the session, and hold what the user said. Frames of every
//!   session of the gateway arrive, and only those of this one and its sub-agents are read.
//! - `event` `agent` is one step of a run: its life cycle, a piece of one message, a tool. Messages
//!   come from these. `event` `chat` restates the whole run; it says how the run ended.
//! - `res` to `chat.history` has the transcript, for a client that was away.
//!
//! `chat` `final`, `aborted` and `error` decide how a run ended, or else the end of its life cycle. A
//! session may see several runs; the last one decides, and one that is still at work decides that
//! the output was cut.
//!
//! Read the files in this order: lines come in here, and `frames` tells what a frame is and whose
//! (`sessions`); `held_frames` keeps those that come before the session is known, `repeats` finds those
//! that come twice. `requests` and `responses` are what the client asked and was answered. What an agent
//! says becomes messages in `conversation`, with `told` for text that is told again and again, `message`
//! and `rows` for the transcript, `calls` for tools, and `lifecycle`, `chat` and `runs` for how a run
//! goes and ends. `wire` is what these read; `tools`, `usage` and `failure` know the gateway's words,
//! `argv` and `sniff` what is known before a frame is read.

mod argv;
mod calls;
mod chat;
mod conversation;
mod failure;
mod frames;
mod held_frames;
mod history;
mod lifecycle;
mod message;
mod repeats;
mod requests;
mod responses;
mod rows;
mod runs;
mod sessions;
mod sniff;
#[cfg(test)]
mod tests;
mod told;
mod tools;
mod usage;
mod wire;

use runtape_core::{Runtime, Stream};

use self::frames::Frames;
use super::Carried::{Arguments, Calls, Model, Results, Session, Text, Thinking, Tokens};
use super::{OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::redact::DeltaShape;
use crate::session_id::is_word_with;
use crate::signal::Signal;
use crate::standard_input::StdinUse;

/// What `OpenClaw` leaves behind that is not read.
pub(super) const NOT_READ: &[&str] =
    &["session files from before 2026.8: openclaw doctor imports them into its database"];

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Openclaw,
    parser: |context| Box::new(OpenClaw::new(context)),
    sniff: sniff::sniff,
    commands: &["openclaw"],
    resume: &["openclaw", "tui", "--session"],
    // What writes down the frames of a connection.
    is_script: |name| name == "openclaw-frames",
    query: |_| None,
    stdin: |_| StdinUse::Unknown,
    permissions: &[],
    formats: &[OutputFormat::new(
        "frames",
        "",
        &[
            Text, Thinking, Calls, Arguments, Results, Tokens, Session, Model,
        ],
    )],
    versions: &["2026.3.28", "2026.5.7", "2026.9.6"],
    credentials: &["OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_GATEWAY_PASSWORD"],
    is_session_id,
    history: Some(&history::HISTORY),
    // Frames of an agent and of the chat: each has its own pieces, and the text so far beside them.
    deltas: &[
        DeltaShape {
            needle: "\"deltaText\":\"",
            text: &["payload.deltaText"],
            so_far: &["payload.message.content.*.text"],
            group: &["payload.runId", "payload.sessionKey"],
            only_with: None,
            unless: None,
            ends: Some("\"state\":\"final\""),
        },
        DeltaShape {
            needle: "\"delta\":\"",
            text: &["payload.data.delta"],
            so_far: &["payload.data.text"],
            group: &["payload.runId", "payload.stream", "payload.data.itemId"],
            only_with: None,
            unless: None,
            ends: Some("\"phase\":\"end\""),
        },
        DeltaShape {
            needle: "\"phase\":\"delta\"",
            text: &["payload.data.output"],
            so_far: &[],
            group: &["payload.runId", "payload.data.toolCallId"],
            only_with: None,
            unless: None,
            ends: Some("\"phase\":\"end\""),
        },
    ],
    wraps_words: false,
    paperclip: Adapter {
        adapter_type: "openclaw_gateway",
        code_prefix: "openclaw",
        provider: None,
        capabilities: adapter::GATEWAY,
        calling: None,
    },
};

/// Longest session key that is taken for one.
const LONGEST_SESSION: usize = 256;

/// Tells whether a text is a session's key: `agent:main:main`, `agent:main:telegram:dm:+49…`.
///
/// Every key has at least two parts and no white space, so that prose is none.
pub(super) fn is_session_id(text: &str) -> bool {
    let mut parts = text.split(':');
    is_word_with(text, LONGEST_SESSION, b":@+")
        && text.contains(':')
        && parts.all(|part| !part.is_empty())
}

/// Reads the frames of one connection.
struct OpenClaw {
    has_format: bool,
    frames: Frames,
}

impl OpenClaw {
    fn new(context: &Context) -> Self {
        let argv = context.argv.as_deref().unwrap_or_default();
        Self {
            has_format: false,
            frames: Frames::new(context.limit, argv::session(argv)),
        }
    }
}

impl RuntimeParser for OpenClaw {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if stream == Stream::Stderr {
            return out.stderr_text(String::from_utf8_lossy(line.bytes));
        }
        self.frames.push_line(line, out);
        if self.frames.is_sure && !self.has_format {
            self.has_format = true;
            out.emit(Signal::Format("frames"));
        }
    }

    fn finish(&mut self, _: &Exit, out: &mut SignalSink<'_>) {
        self.frames.finish(out);
    }
}
