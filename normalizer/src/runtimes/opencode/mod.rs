//! opencode: `opencode run`.
//!
//! Seen: 1.18.33, with `--format json` and as text, with and without `--thinking`.
//!
//! - **json** prints one event a line, each with its time and its session. Steps, texts, reasoning and
//!   tool calls are printed once, when they are over; tokens and cost are those of a step. There is no
//!   last line: a run went well if its last step was finished and the process says so. Without a known
//!   exit, the reason for which the last step was finished has to say it.
//! - **text** prints what the model said on standard output, with `--thinking` the reasoning among it,
//!   and tools and errors on standard error.
//!
//! An `error` line is a failure, also where more steps follow: the CLI compacts a conversation that is
//! too long and goes on, and ends with exit code 1 all the same. A command that failed is a call that
//! was completed: its exit code tells.
//!
//! Read the files in this order: lines come in here; `framing::events_or_text` holds them until they
//! tell the format, and `events` says what an event means. `wire` is what it reads; `calls` gives out
//! parts that are tool calls, `spending` adds up what steps used and cost. `stderr` is read beside it.
//! `tools`, `usage` and `failure` know the CLI's words, `argv` and `sniff` what is known before a line
//! is read, `calling` how an adapter starts the CLI. `history` reads the database.

mod argv;
mod calling;
mod calls;
mod events;
mod failure;
mod history;
mod sniff;
mod spending;
mod stderr;
#[cfg(test)]
mod tests;
mod tools;
mod usage;
mod wire;

use runtape_core::{Runtime, Stream};

use self::events::Events;
use self::stderr::Stderr;
use super::Carried::{Arguments, Calls, Cost, Model, Results, Session, Text, Thinking, Tokens};
use super::{OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::framing::events_or_text::{EventsOrText, OutputForm};
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::permissions::PermissionFlag;

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Opencode,
    parser: |context| Box::new(Opencode::new(context)),
    sniff: sniff::sniff,
    commands: &["opencode"],
    resume: &["opencode", "--session"],
    is_script: |name| matches!(name, "opencode-ai" | "opencode.js"),
    query: argv::query,
    stdin: argv::stdin,
    // Three names of one flag in `packages/opencode/src/cli/cmd/run.ts` of anomalyco/opencode: what would be asked for is
    // approved, what is denied stays so. Captures have the first.
    permissions: &[PermissionFlag::meaning(
        "auto",
        &["--auto", "--yolo", "--dangerously-skip-permissions"],
    )],
    formats: &[
        OutputFormat::new("text", "--format default", &[Text, Model]),
        OutputFormat::new(
            "json",
            "--format json --thinking",
            &[
                Text, Thinking, Calls, Arguments, Results, Tokens, Cost, Session,
            ],
        ),
    ],
    versions: &["1.18.33"],
    credentials: &[
        "OPENCODE_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
    ],
    is_session_id,
    history: Some(&history::HISTORY),
    // Parts are printed whole.
    deltas: &[],
    wraps_words: false,
    paperclip: Adapter {
        adapter_type: "opencode_local",
        code_prefix: "opencode",
        provider: None,
        capabilities: adapter::LOCAL_WITH_SKILLS_ON_DISK,
        calling: Some(&calling::CALLING),
    },
};

/// What the id of a session begins with.
const SESSION: &str = "ses_";

/// Tells whether a text is a session's id: `ses_`, then 12 hexadecimal digits that stand for a time,
/// then 14 letters and digits.
pub(super) fn is_session_id(text: &str) -> bool {
    let rest = text.strip_prefix(SESSION).map(str::as_bytes);
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    rest.and_then(|rest| rest.split_at_checked(12))
        .is_some_and(|(time, random)| {
            time.iter().all(is_hex)
                && random.len() == 14
                && random.iter().all(u8::is_ascii_alphanumeric)
        })
}

/// Reads what one `opencode` process prints.
struct Opencode {
    stdout: EventsOrText<Events>,
    stderr: Stderr,
}

impl Opencode {
    fn new(context: &Context) -> Self {
        Self {
            stdout: EventsOrText::new(Events::new(context.limit), argv::form(context)),
            stderr: Stderr::default(),
        }
    }
}

impl RuntimeParser for Opencode {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        match stream {
            Stream::Stdout => self.stdout.push_line(line, out),
            Stream::Stderr => self.stderr.push_line(line, out),
            Stream::Stdin | Stream::History => {}
        }
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        let has_answer = self.stdout.finish(exit, out);
        if self.stdout.form() != Some(OutputForm::Events) {
            self.stderr.emit_model(out);
        }
        let has_ended = has_answer || self.stdout.events.finish(exit, out);
        if !has_ended && exit.is_own_failure(|code| self.exit_is_signal(code)) {
            self.stderr.judge(out);
        }
    }
}
