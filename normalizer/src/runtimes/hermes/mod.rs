//! hermes: the agent CLI of Nous Research.
//!
//! Seen: `hermes-agent` 0.19.0, and 0.13.0 where noted. It has no flag for structured output. What
//! it prints is told apart by the output itself:
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
//! Text formats show neither ids nor whole arguments, and boxes show the model's markdown without
//! its marks, wrapped at the width of the screen: what is not printed cannot be read.

mod acp;
mod acp_title;
mod acp_wire;
mod borders;
mod chat;
mod diff;
mod held;
mod late;
mod library;
mod notices;
mod progress;
mod quiet;
mod report;
mod session;
mod stderr;
mod subagents;
mod talk;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod tool_line;
mod tools;
mod verbose;

use std::borrow::Cow;

use memchr::memmem;
use runtape_core::{RunId, Runtime, Stream};

use self::acp::Acp;
use self::chat::Chat;
use self::library::{Library, is_library_line};
use self::quiet::{Quiet, Taken};
use self::stderr::Stderr;
use self::text::{is_blank, rank};
use super::RuntimeEntry;
use crate::context::Context;
use crate::escapes::strip_escapes;
use crate::exit::Exit;
use crate::lines::{Ending, Line};
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::signal::{Emitted, Outcome, Place, Scope, Signal};

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Hermes,
    parser: |context| Box::new(Hermes::new(context)),
    sniff,
    commands: &["hermes"],
    is_script: is_python,
    query,
    formats: &["chat", "quiet", "verbose", "acp"],
    credentials: &["OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"],
    is_session_id: session::is_session_id,
    paperclip: Adapter {
        adapter_type: "hermes_local",
        code_prefix: "hermes",
        provider: None,
        capabilities: adapter::LOCAL_WITHOUT_INSTRUCTIONS,
    },
};

const ESCAPE: u8 = 0x1B;

/// The most of a prompt's echo that is held until the line that ends it.
const MOST_ECHO: usize = 1024 * 1024;

/// The line that ends the echo of the prompt.
const INITIALIZING: &str = "Initializing agent...";

/// Finds the prompt in the command line.
fn query(context: &Context) -> Option<String> {
    context
        .flag(&["-q", "--query", "-z", "--oneshot"])
        .map(str::to_owned)
}

/// Tells whether a program uses the library.
fn is_python(program: &str) -> bool {
    let path = std::path::Path::new(program);
    path.extension().is_some_and(|end| end == "py")
}

/// Tells how surely the first bytes of an output are of hermes.
fn sniff(bytes: &[u8]) -> u8 {
    let has = |text: &str| memmem::find(bytes, text.as_bytes()).is_some();
    let text = String::from_utf8_lossy(bytes);
    let first = strip_escapes(
        text.lines()
            .find(|line| !is_blank(line))
            .unwrap_or_default(),
    );
    if first.starts_with('{') && has("\"jsonrpc\"") {
        return if has("\"hermes") { 100 } else { 20 };
    }
    if first.starts_with("Query:") {
        return if has(INITIALIZING) { 100 } else { 30 };
    }
    // What only hermes prints before an answer.
    let leaks = [
        "┌─ Reasoning ─",
        "  ┊ ",
        "↻ Resumed session ",
        "↩ Background ",
        "(clarify timed out after ",
        "  ⏱ Timeout — denying command",
    ];
    if leaks.iter().any(|leak| first.starts_with(leak)) {
        return 95;
    }
    if is_library_line(&first) { 80 } else { 0 }
}

/// A line of the prompt's echo, in case it is an answer.
#[derive(Debug)]
struct Echo {
    place: Place,
    text: String,
    ending: Ending,
}

/// The format, as far as it was recognized.
#[derive(Debug)]
enum Mode {
    /// Nothing but blank lines was printed.
    Undecided {
        blank: bool,
    },
    /// The prompt is being echoed.
    Echo {
        lines: Vec<Echo>,
        length: usize,
        rank: u8,
        maybe: bool,
    },
    Chat(Box<Chat>),
    Quiet(Box<Quiet>),
    Library(Box<Library>),
    Acp(Box<Acp>),
}

/// What the command line says of the format, where an output may be of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    None,
    /// `-Q` or `-z`.
    Quiet,
    /// A Python program that uses the library.
    Library,
}

/// Reads what hermes prints, in any of its formats.
#[derive(Debug)]
struct Hermes {
    run: RunId,
    /// The prompt is known better than its echo shows it.
    has_query: bool,
    hint: Hint,
    /// The output was printed to a terminal.
    on_terminal: bool,
    mode: Mode,
    stderr: Stderr,
}

impl Hermes {
    fn new(context: &Context) -> Self {
        let program = context.argv.as_ref().and_then(|words| words.first());
        let hint = if context.has_flag(&["-Q", "--quiet", "-z", "--oneshot"]) {
            Hint::Quiet
        } else if program.is_some_and(|program| is_python(program)) {
            Hint::Library
        } else {
            Hint::None
        };
        Self {
            run: context.run_id.clone(),
            has_query: context.query.is_some() || query(context).is_some(),
            hint,
            on_terminal: false,
            mode: Mode::Undecided { blank: false },
            stderr: Stderr::default(),
        }
    }

    fn on_stdout(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if let Mode::Acp(acp) = &mut self.mode {
            return acp.push(line.bytes, out);
        }
        if line.bytes.first() == Some(&ESCAPE) {
            self.on_terminal = true;
        }
        // Checking is several times faster than replacing.
        let text = std::str::from_utf8(line.bytes).map_or_else(|_| line.text(), Cow::Borrowed);
        let text = if self.on_terminal {
            strip_escapes(&text)
        } else {
            Cow::Borrowed(&*text)
        };
        self.push(&text, line.ending, out);
    }

    fn push(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        match &mut self.mode {
            Mode::Chat(chat) => chat.push(line, ending, out),
            Mode::Quiet(quiet) => {
                if quiet.push(line, ending, out) == Taken::IsChat {
                    self.mode = Mode::Chat(Box::new(Chat::headless(self.run.clone())));
                    out.emit(Signal::Format("chat"));
                    self.push(line, ending, out);
                }
            }
            Mode::Library(library) => library.push(line, ending, out),
            Mode::Acp(acp) => acp.push(line.as_bytes(), out),
            Mode::Echo { .. } => self.push_echo(line, ending, out),
            Mode::Undecided { blank } => {
                if is_blank(line) && ending != Ending::Lf {
                    *blank = true;
                    return;
                }
                self.decide(line, ending, out);
                if !matches!(self.mode, Mode::Echo { .. }) {
                    self.push(line, ending, out);
                }
            }
        }
    }

    /// Recognizes the format by the first line.
    fn decide(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let run = self.run.clone();
        let plain = matches!(ending, Ending::Lf | Ending::None);
        let (mode, format) = if line.starts_with('{') && line.contains("\"jsonrpc\"") {
            (Mode::Acp(Box::new(Acp::new())), "acp")
        } else if line.starts_with("Query:") && self.hint != Hint::Quiet {
            let text = line.to_owned();
            let first = Echo {
                place: out.place(),
                text,
                ending,
            };
            self.mode = Mode::Echo {
                length: line.len(),
                lines: vec![first],
                rank: rank(ending),
                maybe: false,
            };
            return;
        } else if plain
            && self.hint != Hint::Quiet
            && (self.hint == Hint::Library || is_library_line(line))
        {
            (Mode::Library(Box::new(Library::new(run))), "lib")
        } else {
            (Mode::Quiet(Box::default()), "quiet")
        };
        self.mode = mode;
        out.emit(Signal::Format(format));
    }

    /// Reads the echo of the prompt, which may hold anything.
    ///
    /// It is printed plainly, and the line after it through `prompt_toolkit`: an equal line with an
    /// equal end is the prompt's own, unless what follows shows that line ends were converted.
    fn push_echo(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let Mode::Echo {
            lines,
            length,
            rank: plain,
            maybe,
        } = &mut self.mode
        else {
            return;
        };
        let initializing = line == INITIALIZING;
        if initializing && rank(ending) > *plain && ending != Ending::None {
            return self.begin_chat(0, out);
        }
        if *maybe && is_start_up(line) {
            self.begin_chat(1, out);
            return self.push(line, ending, out);
        }
        *maybe = initializing;
        *length += line.len() + size_of::<Echo>();
        lines.push(Echo {
            place: out.place(),
            text: line.to_owned(),
            ending,
        });
        if *length > MOST_ECHO {
            self.take_echo_for_answer(out);
        }
    }

    /// The echo is over, but for its last `extra` lines.
    fn begin_chat(&mut self, extra: usize, out: &mut SignalSink<'_>) {
        let chat = Mode::Chat(Box::new(Chat::new(self.run.clone())));
        let Mode::Echo { mut lines, .. } = std::mem::replace(&mut self.mode, chat) else {
            return;
        };
        out.emit(Signal::Format("chat"));
        lines.truncate(lines.len().saturating_sub(extra));
        if self.has_query {
            return;
        }
        let texts: Vec<&str> = lines.iter().map(|echo| echo.text.as_str()).collect();
        let text = texts.join("\n");
        let text = text.strip_prefix("Query:").unwrap_or(&text);
        let text = text.strip_prefix(' ').unwrap_or(text);
        let place = lines
            .first()
            .zip(lines.last())
            .map(|(first, last)| first.place.through(last.place));
        let place = place.unwrap_or(out.place());
        out.emit_at(
            place,
            Scope::Main,
            Signal::User(Cow::Owned(text.to_owned())),
        );
    }

    /// What looked like the echo of a prompt is an answer.
    fn take_echo_for_answer(&mut self, out: &mut SignalSink<'_>) {
        let quiet = Mode::Quiet(Box::default());
        let Mode::Echo { lines, .. } = std::mem::replace(&mut self.mode, quiet) else {
            return;
        };
        out.emit(Signal::Format("quiet"));
        let Mode::Quiet(quiet) = &mut self.mode else {
            return;
        };
        for Echo {
            place,
            text,
            ending,
        } in lines
        {
            let mut apply =
                |emitted: Emitted<'_>| out.emit_at(emitted.place, emitted.scope, emitted.signal);
            quiet.push(&text, ending, &mut SignalSink::new(place, &mut apply));
        }
    }

    /// Ends an output that was never more than the echo of a prompt.
    fn finish_echo(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        if self.stderr.session.is_some() || exit.is_success() {
            self.take_echo_for_answer(out);
        } else {
            self.begin_chat(0, out);
        }
    }
}

impl RuntimeParser for Hermes {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        match stream {
            Stream::Stdout => self.on_stdout(line, out),
            Stream::Stderr => self.stderr.push(&strip_escapes(&line.text()), out),
        }
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        if matches!(self.mode, Mode::Echo { .. }) {
            self.finish_echo(exit, out);
        }
        if let Mode::Undecided { blank: true } = self.mode
            && !exit.is_failure()
        {
            self.mode = Mode::Quiet(Box::default());
            out.emit(Signal::Format("quiet"));
            self.push("", Ending::Lf, out);
        }
        let has_total = matches!(&self.mode, Mode::Acp(acp) if acp.has_total());
        self.stderr.finish(!has_total, out);
        match &mut self.mode {
            Mode::Chat(chat) => chat.finish(out),
            Mode::Quiet(quiet) => quiet.finish(exit, &self.stderr, out),
            Mode::Library(library) => library.finish(exit, out),
            Mode::Acp(acp) => acp.finish(&self.stderr, out),
            Mode::Echo { .. } => {}
            Mode::Undecided { .. } => {
                if self.hint == Hint::Quiet || self.stderr.session.is_some() {
                    out.emit(Signal::Format("quiet"));
                }
                if let Some(verdict) = self.stderr.verdict().filter(|_| !exit.is_success()) {
                    out.emit(Signal::Result(Outcome::of(verdict)));
                }
            }
        }
    }
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
