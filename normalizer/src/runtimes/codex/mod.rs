//! codex: `codex exec` by `OpenAI`.
//!
//! Seen: 0.166.0 and 0.169.0, with and without `--json`, fresh, resumed, forked and as a review. Older versions print the
//! same events with fewer counters, and plans as `todo_list` items.
//!
//! - **json** prints one event a line: the thread's id, turns, and items, which are messages, reasoning
//!   and tool calls. `turn.completed` is the only word for a success, `turn.failed` the only one for a
//!   failure; `error` lines are notices, since retries print them too. The tokens of a turn are the
//!   total of the whole thread, earlier runs of it included.
//! - **text** prints the last message on standard output and everything else on standard error. Nothing
//!   there marks the end of a tool's output, so that nothing of it is read but the header with the
//!   session's id and, if the process failed, the last line that says `ERROR: `.
//!
//! A start that failed prints nothing on standard output; what went wrong is a line on standard error.
//!
//! Read the files in this order: lines come in here; `framing::events_or_text` holds them until they
//! tell the format, and `events` says what an event means. `wire` is what it reads; `results` tells
//! what came of a call, `notices` what an error stands for that is not the end, and `shell` reads
//! commands as they are printed. `stderr` is read beside it. `tools`, `usage` and `failure` know the
//! CLI's words, `argv` and `sniff` what is known before a line is read, `calling` how an adapter
//! starts the CLI. `history` reads the rollouts.

mod argv;
mod calling;
mod events;
mod failure;
mod history;
mod notices;
mod results;
mod shell;
mod sniff;
mod stderr;
#[cfg(test)]
mod tests;
mod tools;
mod usage;
mod wire;

use runtape_core::{Runtime, Stream};

use self::argv::Argv;
use self::events::Events;
use self::stderr::Stderr;
use super::Carried::{Arguments, Calls, Model, Results, Session, Text, Thinking, Tokens};
use super::{OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::framing::events_or_text::{EventsOrText, OutputForm};
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::permissions::PermissionFlag;
use crate::session_id::is_small_uuid;
use crate::signal::Signal;

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Codex,
    parser: |context| Box::new(Codex::new(context)),
    sniff: sniff::sniff,
    commands: &["codex"],
    resume: &["codex", "resume"],
    is_script: argv::is_script,
    query: argv::query,
    stdin: argv::stdin,
    permissions: &[
        PermissionFlag::meaning(
            "danger-full-access",
            &["--dangerously-bypass-approvals-and-sandbox", "--yolo"],
        ),
        // Gone from newer versions, which say to use `--sandbox workspace-write`.
        PermissionFlag::meaning("full-auto", &["--full-auto"]),
        PermissionFlag::valued(&["--sandbox", "-s"]),
        // As Paperclip's adapter says it (its contract, 6.1).
        PermissionFlag::setting(&["-c", "--config"], "sandbox_mode"),
    ],
    formats: &[
        OutputFormat::new("text", "", &[Text, Session, Model]),
        OutputFormat::new(
            "json",
            "--json",
            &[Text, Thinking, Calls, Arguments, Results, Tokens, Session],
        ),
    ],
    versions: &["0.166.0"],
    credentials: &["OPENAI_API_KEY", "CODEX_API_KEY"],
    // A thread's id is a UUID.
    is_session_id: is_small_uuid,
    history: Some(&history::HISTORY),
    // Items are printed whole.
    deltas: &[],
    wraps_words: false,
    paperclip: Adapter {
        adapter_type: "codex_local",
        code_prefix: "codex",
        provider: Some("openai"),
        capabilities: adapter::LOCAL,
        calling: Some(&calling::CALLING),
    },
};

/// Reads what one `codex` process prints.
struct Codex {
    stdout: EventsOrText<Events>,
    stderr: Stderr,
    forked_from: Option<String>,
}

impl Codex {
    fn new(context: &Context) -> Self {
        let argv = Argv::of(context);
        Self {
            stdout: EventsOrText::new(Events::new(argv.may_be_resumed), argv.asked),
            stderr: Stderr::default(),
            forked_from: argv::forked_from(context),
        }
    }
}

impl RuntimeParser for Codex {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        match stream {
            Stream::Stdout => self.stdout.push_line(line, out),
            Stream::Stderr => self.stderr.push_line(line, out),
            Stream::Stdin | Stream::History => {}
        }
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        let has_answer = self.stdout.finish(exit, out);
        if let Some(origin) = self.forked_from.take() {
            out.emit(Signal::Metadata("forkedFrom", origin.into()));
        }
        if self.stdout.form() != Some(OutputForm::Events) {
            self.stderr.emit_header(out);
        }
        let has_ended = has_answer || self.stdout.events.has_ended();
        if !has_ended && exit.is_own_failure(|code| self.exit_is_signal(code)) {
            self.stderr.judge(out);
        }
    }
}
