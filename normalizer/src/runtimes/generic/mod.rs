//! generic: any other program, and the open door.
//!
//! What is known of a program that nobody knows is what it prints, and how it exits:
//!
//! - text: standard output is the answer. Nothing but the exit tells whether it is one.
//! - transcript: lines in the published shape of a transcript's entries (`transcript-entry`), which is
//!   Paperclip's.
//! - events: lines in the published shapes of events (`run-event`, `runtime-event`), which are
//!   Perstack's.
//!
//! A line in a published shape is taken at its word, and both shapes may be mixed with each other and
//! with other output. From the first such line on, text between them is output and no answer; so is
//! the text before it, which is held for that long, up to a limit. How the run went, only a `result`
//! or an event that ends a run can say: without one it did not end by itself.
//!
//! A line that is meant as one of ours and does not fit its schema is reported with the field and the
//! reason, and means nothing. If it was to say how the run went, the run ends as an unclear one.
//!
//! Read the files in this order: lines come in here, and are `text` until `wire` finds one in a
//! published shape; from then on `structured` hands each to `transcript` or `events`. `told_run` is
//! one run as its events tell it, and `messages` has what was said last. `tools`, `usage` and `failure`
//! know the words of the published shapes.

mod events;
mod failure;
mod messages;
mod structured;
#[cfg(test)]
mod tests;
mod text;
mod told_run;
mod tools;
mod transcript;
mod usage;
mod wire;

use runtape_core::{Runtime, Stream};

use self::structured::Structured;
use self::text::PlainText;
use super::Carried::{Arguments, Calls, Cost, Model, Results, Session, Text, Thinking, Tokens};
use super::{Carried, OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::redact::DeltaShape;
use crate::session_id::is_path_with_digit;
use crate::standard_input::StdinUse;

/// What a program can tell that prints the published shapes.
const EVERYTHING: &[Carried] = &[
    Text, Thinking, Calls, Arguments, Results, Tokens, Cost, Session, Model,
];

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Generic,
    parser: |context| Box::new(Generic::new(context)),
    // Taken where no other runtime is found, never instead of one.
    sniff: |_| 0,
    commands: &[],
    resume: &[],
    is_script: |_| false,
    query: |_| None,
    stdin: |_| StdinUse::Unknown,
    permissions: &[],
    formats: &[
        OutputFormat::new("text", "", &[Text]),
        OutputFormat::new("transcript", "", EVERYTHING),
        OutputFormat::new("events", "", EVERYTHING),
    ],
    versions: &[],
    credentials: &[],
    is_session_id: is_path_with_digit,
    history: None,
    // Published shapes: streaming events, and entries of a transcript.
    deltas: &[
        DeltaShape {
            needle: "\"delta\":\"",
            text: &["delta"],
            so_far: &[],
            group: &["runId", "type", "channel"],
            only_with: None,
            unless: None,
            ends: None,
        },
        DeltaShape {
            needle: "\"delta\":true",
            text: &["text"],
            so_far: &[],
            group: &["kind"],
            only_with: None,
            unless: None,
            ends: None,
        },
    ],
    wraps_words: false,
    paperclip: Adapter {
        adapter_type: "process",
        code_prefix: "process",
        provider: None,
        capabilities: adapter::GATEWAY,
        calling: None,
    },
};

/// Reads what any program prints.
struct Generic {
    limit: usize,
    stdout: Stdout,
}

enum Stdout {
    /// No line of a published shape was seen.
    Plain(PlainText),
    /// One was.
    Structured(Box<Structured>),
}

impl Generic {
    fn new(context: &Context) -> Self {
        Self {
            limit: context.limit,
            stdout: Stdout::Plain(PlainText::default()),
        }
    }
}

impl RuntimeParser for Generic {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if stream == Stream::Stderr {
            return out.stderr_text(line.text());
        }
        if let Stdout::Plain(plain) = &mut self.stdout {
            if !wire::opens(line.bytes) {
                return plain.push(line, out);
            }
            std::mem::take(plain).into_notices(out);
            self.stdout = Stdout::Structured(Box::new(Structured::new(self.limit)));
        }
        if let Stdout::Structured(structured) = &mut self.stdout {
            structured.push(line, out);
        }
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        match &mut self.stdout {
            Stdout::Plain(plain) => std::mem::take(plain).finish(exit, out),
            Stdout::Structured(structured) => structured.finish(out),
        }
    }
}
