//! openclaw: what the `OpenClaw` gateway sends its clients, one JSON frame a line.
//!
//! A client that writes down the text frames of its connection gets three kinds of them, as protocol
//! versions 3 and 4 have it:
//!
//! - `{"type":"event","event":NAME,"payload":{…}}`. Two names carry the work of an agent. A `chat`
//!   frame says how far an answer is (`delta`, `final`, `aborted`, `error`) and restates all of it
//!   each time; an `agent` frame is one event of a run: its life cycle, a tool, or a piece of text.
//!   Both tell the same text, so the one that tells it first is believed.
//! - `{"type":"req","method":…}` and `{"type":"res","ok":…}`: what was asked for, and refusals.
//!
//! A session may see several runs one after another; the last one decides. Sub-agents have sessions of
//! their own, which name the one that spawned them.

mod conversation;
mod failure;
mod frames;
mod message;
mod progress;
mod sniff;
#[cfg(test)]
mod tests;
mod told_calls;
mod tools;
mod usage;
mod wire;

use runtape_core::runtime_event::StderrText;
use runtape_core::{Runtime, Stream};

use self::frames::Frames;
use super::{Carried, OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::signal::Signal;

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Openclaw,
    parser: |context| Box::new(OpenClaw::new(context)),
    sniff: sniff::sniff,
    commands: &["openclaw"],
    is_script: |_| false,
    query: |_| None,
    formats: &[OutputFormat {
        name: "frames",
        flags: "",
        carries: &[
            Carried::Text,
            Carried::Thinking,
            Carried::Calls,
            Carried::Arguments,
            Carried::Results,
            Carried::Tokens,
            Carried::Session,
            Carried::Model,
        ],
    }],
    versions: &[],
    credentials: &["OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_GATEWAY_PASSWORD"],
    is_session_id,
    paperclip: Adapter {
        adapter_type: "openclaw_gateway",
        code_prefix: "openclaw",
        provider: None,
        capabilities: adapter::GATEWAY,
    },
};

/// Longest session key that is taken for one.
const LONGEST_SESSION: usize = 256;

/// Tells whether a text is a session's key: `agent:main:main`, `agent:main:telegram:dm:+49…`.
///
/// Every key has at least two parts and no white space, so that prose is none.
pub(super) fn is_session_id(text: &str) -> bool {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_' | b'.' | b'@' | b'+')
    };
    let mut parts = text.split(':');
    text.len() <= LONGEST_SESSION
        && text.bytes().all(is_plain)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
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
        Self {
            has_format: false,
            frames: Frames::new(context.limit),
        }
    }
}

impl RuntimeParser for OpenClaw {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if stream == Stream::Stderr {
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            if !text.trim().is_empty() {
                out.emit(Signal::Event(StderrText { text }.into()));
            }
            return;
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
