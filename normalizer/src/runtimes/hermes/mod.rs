//! hermes: the agent CLI of Nous Research.
//!
//! Seen: `hermes-agent` 0.19.0, and 0.13.0 and 0.16.0 where noted. It has no flag for structured
//! output. What it prints is told apart by the command line, by the session that quiet runs name
//! on standard error, and only without either by the output itself:
//!
//! | format | what prints it | read by |
//! |---|---|---|
//! | `chat` | `hermes chat -q PROMPT`, to a pipe or a terminal | `chat` |
//! | `nostream` | the same with `display.streaming: false`: a panel instead of boxes | `chat` |
//! | `verbose` | the same with `-v`: also arguments and results | `chat`, `verbose` |
//! | `quiet` | `hermes chat -Q`, `hermes -z`: the answer alone | `quiet` |
//! | `lib` | the `AIAgent` class, older CLIs: tool lines, then the answer | `library` |
//! | `acp` | `hermes acp`: JSON-RPC lines | `acp` |
//!
//! Read the files in this order: lines come in here, and `both_streams` holds them where nothing
//! tells the format; then one of the readers in the table goes on. `tool_line`, `borders`, `diff`,
//! `long_completion`, `notices`, `failure`, `refusal` and `exit_summary` know single lines and what they are
//! part of, `worktree` those around a run. `messages` puts what was said and called into steps, with `call_result`, `late_results`
//! and `subagents`. `tools` and `session` know hermes' words.
//!
//! Text formats show neither ids nor whole arguments, and boxes show the model's markdown without
//! its marks, wrapped at the width of the screen: what is not printed cannot be read.

mod acp;
mod acp_title;
mod argv;
mod borders;
mod both_streams;
mod call_result;
mod calling;
mod chat;
mod diff;
mod exit_summary;
mod failure;
mod history;
mod late_results;
mod library;
mod long_completion;
mod messages;
mod notices;
mod quiet;
mod refusal;
mod session;
mod sniff;
mod stderr;
mod step_progress;
mod subagents;
#[cfg(test)]
mod tests;
mod text;
mod tool_line;
mod tools;
mod verbose;
mod wire;
mod worktree;

use std::borrow::Cow;

use runtape_core::{ErrorFamily, RunId, Runtime, Stream};

use self::acp::{Acp, is_acp_line};
use self::argv::{AskedMode, query};
use self::both_streams::BothStreams;
use self::chat::Chat;
use self::library::{Library, is_library_line};
use self::quiet::{Quiet, QuietLine};
use self::stderr::Stderr;
use self::text::{is_blank, rank};
use self::worktree::WorktreeBanner;
use super::Carried::{Arguments, Calls, Model, Results, Session, Text, Thinking, Tokens};
use super::{OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::escapes::strip_escapes;
use crate::exit::{Exit, code_is_signal};
use crate::failure as run_failure;
use crate::framing::held_lines::HeldLines;
use crate::lines::{Ending, Line};
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::permissions::PermissionFlag;
use crate::redact::DeltaShape;
use crate::signal::{Outcome, Signal, TapePlace, Verdict};
use crate::standard_input::StdinUse;

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Hermes,
    parser: |context| Box::new(Hermes::new(context)),
    sniff: sniff::sniff,
    commands: &["hermes"],
    resume: &["hermes", "--resume"],
    is_script: argv::is_script,
    query,
    stdin: |_| StdinUse::Unknown,
    permissions: &[PermissionFlag::meaning("yolo", &["--yolo"])],
    formats: &[
        OutputFormat::new(
            "chat",
            "chat",
            &[Text, Thinking, Calls, Results, Session, Model],
        ),
        OutputFormat::new("quiet", "chat --quiet", &[Text, Session]),
        OutputFormat::new(
            "verbose",
            "chat --verbose",
            &[Text, Thinking, Calls, Results, Tokens, Session, Model],
        ),
        OutputFormat::new(
            "acp",
            "acp",
            &[
                Text, Thinking, Calls, Arguments, Results, Tokens, Session, Model,
            ],
        ),
    ],
    versions: &["0.19.0", "0.13.0"],
    credentials: &["OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"],
    is_session_id: session::is_session_id,
    history: Some(&history::HISTORY),
    // ACP: session/update with agent_message_chunk, agent_thought_chunk or user_message_chunk.
    deltas: &[DeltaShape {
        needle: "_chunk\"",
        text: &["params.update.content.text"],
        so_far: &[],
        group: &["params.sessionId", "params.update.sessionUpdate"],
        only_with: None,
        unless: None,
        ends: None,
    }],
    // Rich prints its text, 80 columns wide in a pipe.
    wraps_words: true,
    paperclip: Adapter {
        adapter_type: "hermes_local",
        code_prefix: "hermes",
        provider: None,
        capabilities: adapter::LOCAL_WITHOUT_INSTRUCTIONS,
        calling: Some(&calling::CALLING),
    },
};

const ESCAPE: u8 = 0x1B;

/// The most lines that are held for the echo of the prompt.
const MAX_LINES_BEFORE_ECHO: usize = 64;

/// The line that ends the echo of the prompt.
const INITIALIZING: &str = "Initializing agent...";

/// The echo of the prompt, or an answer that looks like it.
#[derive(Debug)]
struct Echo {
    /// The lines as they show.
    shown: HeldLines,
    /// The lines as they were printed.
    printed: HeldLines,
    rank: u8,
    /// The last line may be the one that ends the echo.
    may_have_ended: bool,
}

impl Echo {
    fn new(limit: usize, ending: Ending) -> Self {
        Self {
            shown: HeldLines::new(limit),
            printed: HeldLines::new(limit),
            rank: rank(ending),
            may_have_ended: false,
        }
    }

    fn push(&mut self, line: &str, printed: &str, ending: Ending, place: TapePlace) {
        self.shown.push(line.as_bytes(), ending, place);
        self.printed.push(printed.as_bytes(), ending, place);
    }
}

/// The format, as far as it was recognized.
#[derive(Debug)]
enum Mode {
    /// Only standard error may tell, at the end.
    Waiting(Box<BothStreams>),
    /// Nothing but blank lines was printed.
    Undecided {
        blank: bool,
    },
    /// The prompt is being echoed.
    Echo(Box<Echo>),
    Chat(Box<Chat>),
    Quiet(Box<Quiet>),
    Library(Box<Library>),
    Acp(Box<Acp>),
}

/// Reads what hermes prints, in any of its formats.
#[derive(Debug)]
struct Hermes {
    run: RunId,
    /// The prompt is known better than its echo shows it.
    has_query: bool,
    /// What the command line, or standard error, says of the format.
    asked: AskedMode,
    /// The output was printed to a terminal.
    on_terminal: bool,
    worktree: WorktreeBanner,
    /// Lines before the echo of the prompt, where the command line says that there will be one.
    before_echo: HeldLines,
    mode: Mode,
    stderr: Stderr,
    limit: usize,
}

impl Hermes {
    fn new(context: &Context) -> Self {
        let asked = AskedMode::of(context);
        let mode = match asked {
            AskedMode::Unknown => Mode::Waiting(Box::new(BothStreams::new(context.limit))),
            _ => Mode::Undecided { blank: false },
        };
        Self {
            run: context.run_id.clone(),
            has_query: context.query.is_some() || query(context).is_some(),
            asked,
            on_terminal: false,
            worktree: WorktreeBanner::default(),
            before_echo: HeldLines::new(context.limit),
            mode,
            stderr: Stderr::new(asked.may_name_session()),
            limit: context.limit,
        }
    }

    /// Reads what waited, now that all is known that can be.
    fn stop_waiting(&mut self, is_over: bool, out: &mut SignalSink<'_>) {
        if !matches!(self.mode, Mode::Waiting(_)) {
            return;
        }
        let undecided = Mode::Undecided { blank: false };
        let Mode::Waiting(waiting) = std::mem::replace(&mut self.mode, undecided) else {
            return;
        };
        // Before the end it would depend on how the streams happened to interleave.
        if is_over && waiting.is_quiet() {
            self.asked = AskedMode::Quiet;
        }
        waiting.lines.replay(out, |line, out| {
            self.read(line.stream(), line.bytes, line.ending, out);
        });
    }

    fn read(&mut self, stream: Stream, bytes: &[u8], ending: Ending, out: &mut SignalSink<'_>) {
        // Checking is several times faster than replacing.
        let text = std::str::from_utf8(bytes)
            .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        match stream {
            Stream::Stderr => self.stderr.push(&strip_escapes(&text), out),
            Stream::Stdout => match (ending, text.strip_suffix('\r')) {
                // The newline alone was cut off.
                (Ending::None, Some(text)) => self.on_stdout(text, Ending::CrLf, out),
                _ => self.on_stdout(&text, ending, out),
            },
            Stream::Stdin | Stream::History => {}
        }
    }

    fn on_stdout(&mut self, text: &str, ending: Ending, out: &mut SignalSink<'_>) {
        if let Mode::Acp(acp) = &mut self.mode {
            return acp.push(text.as_bytes(), out);
        }
        if matches!(self.mode, Mode::Undecided { .. }) {
            let shown = strip_escapes(text);
            if self.asked != AskedMode::Oneshot && self.worktree.take(&shown) {
                return notices::info(Some("worktree"), &shown, out);
            }
        }
        if text.as_bytes().first() == Some(&ESCAPE) {
            let shown = strip_escapes(text);
            // This line has colours also in a pipe.
            if worktree::is_line(&shown) {
                return self.push(&shown, text, ending, out);
            }
            self.on_terminal = true;
        }
        // The escapes of an answer that is printed alone are the model's.
        let is_answer = matches!(self.mode, Mode::Quiet(_)) || self.asked.is_answer_alone();
        if self.on_terminal && !is_answer {
            self.push(&strip_escapes(text), text, ending, out);
        } else {
            self.push(text, text, ending, out);
        }
    }

    /// Reads a line as it shows, and as it was printed.
    fn push(&mut self, line: &str, printed: &str, ending: Ending, out: &mut SignalSink<'_>) {
        match &mut self.mode {
            Mode::Chat(chat) => chat.push(line, ending, out),
            Mode::Quiet(quiet) => {
                if quiet.push(printed, ending, out) == QuietLine::IsChat {
                    self.mode = Mode::Chat(Box::new(Chat::headless(self.run.clone())));
                    out.emit(Signal::Format("chat"));
                    self.push(&strip_escapes(line), printed, ending, out);
                }
            }
            Mode::Library(library) => library.push(line, ending, out),
            Mode::Acp(acp) => acp.push(line.as_bytes(), out),
            Mode::Echo(_) => self.push_echo(line, printed, ending, out),
            Mode::Undecided { blank } => {
                if is_blank(line) && ending != Ending::Lf {
                    *blank = true;
                    return;
                }
                if self.may_come_before_echo(line) {
                    let held = &mut self.before_echo;
                    return held.push(printed.as_bytes(), ending, out.place());
                }
                self.release_before_echo(line.starts_with("Query:"), out);
                if matches!(self.mode, Mode::Undecided { .. }) {
                    self.decide(line, printed, ending, out);
                }
                if !matches!(self.mode, Mode::Echo(_)) {
                    self.push(line, printed, ending, out);
                }
            }
            Mode::Waiting(_) => {}
        }
    }

    /// Tells whether a line may come before the echo of the prompt: a warning of hermes' own, of a model's
    /// name for instance.
    fn may_come_before_echo(&self, line: &str) -> bool {
        self.asked == AskedMode::Chat
            && self.before_echo.len() < MAX_LINES_BEFORE_ECHO
            && !self.before_echo.is_full()
            && !line.starts_with("Query:")
            && !quiet::is_chat(line)
    }

    /// Gives out what came before the first line that tells the format: around the run if the prompt is
    /// echoed, else the beginning of an answer.
    fn release_before_echo(&mut self, is_echoed: bool, out: &mut SignalSink<'_>) {
        if self.before_echo.is_empty() {
            return;
        }
        let held = self.before_echo.take();
        if is_echoed {
            return held.replay(out, |line, out| {
                notices::stray(strip_escapes(&line.line().text()).into_owned(), out);
            });
        }
        let mut quiet = self.quiet();
        out.emit(Signal::Format("quiet"));
        held.replay(out, |line, out| {
            quiet.push(&line.line().text(), line.ending, out);
        });
        self.mode = Mode::Quiet(quiet);
    }

    /// Recognizes the format by the first line.
    fn decide(&mut self, line: &str, printed: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let run = self.run.clone();
        let plain = matches!(ending, Ending::Lf | Ending::None);
        let by_look = matches!(self.asked, AskedMode::Unknown | AskedMode::Library);
        let (mode, format) = if self.asked == AskedMode::Acp || (by_look && is_acp_line(line)) {
            (Mode::Acp(Box::new(Acp::new())), "acp")
        } else if line.starts_with("Query:") && !self.asked.is_answer_alone() {
            let mut echo = Echo::new(self.limit, ending);
            echo.push(line, printed, ending, out.place());
            self.mode = Mode::Echo(Box::new(echo));
            return;
        } else if plain && by_look && (self.asked == AskedMode::Library || is_library_line(line)) {
            (Mode::Library(Box::new(Library::new(run))), "lib")
        } else {
            (Mode::Quiet(self.quiet()), "quiet")
        };
        self.mode = mode;
        out.emit(Signal::Format(format));
    }

    fn quiet(&self) -> Box<Quiet> {
        let mut quiet = Quiet::new(self.asked, self.limit);
        if self.worktree.was_created() {
            quiet.expect_worktree();
        }
        Box::new(quiet)
    }

    /// Reads the echo of the prompt, which may hold anything.
    ///
    /// It is printed plainly, and the line after it through `prompt_toolkit`: an equal line with an
    /// equal end is the prompt's own, unless what follows shows that line ends were converted.
    fn push_echo(&mut self, line: &str, printed: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let Mode::Echo(echo) = &mut self.mode else {
            return;
        };
        let initializing = line == INITIALIZING;
        if initializing && rank(ending) > echo.rank && ending != Ending::None {
            return self.begin_chat(0, out);
        }
        if echo.may_have_ended && is_start_up(line) {
            self.begin_chat(1, out);
            return self.push(line, printed, ending, out);
        }
        echo.may_have_ended = initializing;
        echo.push(line, printed, ending, out.place());
        if echo.shown.is_full() || echo.printed.is_full() {
            self.take_echo_for_answer(out);
        }
    }

    /// The echo is over, but for its last `extra` lines.
    fn begin_chat(&mut self, extra: usize, out: &mut SignalSink<'_>) {
        let chat = Mode::Chat(Box::new(Chat::new(self.run.clone())));
        let Mode::Echo(mut echo) = std::mem::replace(&mut self.mode, chat) else {
            return;
        };
        out.emit(Signal::Format("chat"));
        echo.shown.truncate(echo.shown.len().saturating_sub(extra));
        if self.has_query {
            return;
        }
        let lines = echo
            .shown
            .iter()
            .map(|line| line.line().text().into_owned());
        let text = lines.collect::<Vec<String>>().join("\n");
        let text = text.strip_prefix("Query:").unwrap_or(&text);
        let text = text.strip_prefix(' ').unwrap_or(text);
        let place = echo.shown.place_from(0).unwrap_or(out.place());
        out.at(place).emit(Signal::User(Cow::Borrowed(text)));
    }

    /// What looked like the echo of a prompt is an answer.
    fn take_echo_for_answer(&mut self, out: &mut SignalSink<'_>) {
        let mut quiet = self.quiet();
        let waiting = Mode::Undecided { blank: false };
        if let Mode::Echo(echo) = std::mem::replace(&mut self.mode, waiting) {
            out.emit(Signal::Format("quiet"));
            echo.printed.replay(out, |line, out| {
                quiet.push(&line.line().text(), line.ending, out);
            });
        }
        self.mode = Mode::Quiet(quiet);
    }

    /// Ends an output that was never more than the echo of a prompt.
    fn finish_echo(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        let is_answer = self.stderr.session.is_some() || exit.is_success();
        if self.asked != AskedMode::Chat && is_answer {
            self.take_echo_for_answer(out);
        } else {
            self.begin_chat(0, out);
        }
    }
}

impl RuntimeParser for Hermes {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if let Mode::Waiting(waiting) = &mut self.mode {
            if !waiting.push(stream, line, out.place()) {
                self.stop_waiting(false, out);
            }
            return;
        }
        self.read(stream, line.bytes, line.ending, out);
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        self.stop_waiting(true, out);
        if matches!(self.mode, Mode::Echo(_)) {
            self.finish_echo(exit, out);
        }
        self.release_before_echo(false, out);
        if let Mode::Undecided { blank: true } = self.mode
            && !exit.is_failure()
        {
            self.mode = Mode::Quiet(self.quiet());
            out.emit(Signal::Format("quiet"));
            self.push("", "", Ending::Lf, out);
        }
        let has_total = matches!(&self.mode, Mode::Acp(acp) if acp.has_total());
        self.stderr.finish(!has_total, out);
        match &mut self.mode {
            Mode::Chat(chat) => chat.finish(exit, out),
            Mode::Quiet(quiet) => quiet.finish(exit, &self.stderr, out),
            Mode::Library(library) => library.finish(exit, out),
            Mode::Acp(acp) => acp.finish(&self.stderr, out),
            Mode::Echo(_) | Mode::Waiting(_) => {}
            Mode::Undecided { .. } => {
                if let Some(message) = self.worktree.error.take() {
                    let is_quiet = self.asked.is_answer_alone();
                    out.emit(Signal::Format(if is_quiet { "quiet" } else { "chat" }));
                    let error = run_failure::error("WorktreeFailed", message, ErrorFamily::Other);
                    return out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
                }
                if self.asked.is_answer_alone() {
                    out.emit(Signal::Format("quiet"));
                }
                if let Some(verdict) = self.stderr.verdict(exit) {
                    out.emit(Signal::Result(Outcome::of(verdict)));
                }
            }
        }
    }
}

/// Tells whether the process was ended from outside, or the end of its output is not known: what
/// is there may be half of what it would have said.
fn is_killed(exit: &Exit) -> bool {
    exit.signal.is_some()
        || exit.timed_out
        || exit.code.is_some_and(code_is_signal)
        || exit.is_output_cut()
}

/// Tells whether a line is one of those between the prompt's echo and the work.
fn is_start_up(line: &str) -> bool {
    let rule = line
        .strip_prefix('─')
        .is_some_and(|rest| rest.chars().all(|c| c == '─'));
    rule || line.starts_with("↻ Resumed session ")
        || line.starts_with("Session not found: ")
        || line.starts_with("  ⚠ tirith ")
}
