//! gemini: Google's Gemini CLI.
//!
//! Read are `--output-format text`, `json` and `stream-json` as 0.61.0 prints them, and the
//! stream-json of older versions. Which one it is, the command line tells where it is known, and
//! the output otherwise.
//!
//! - stream-json: one message a line; the model's text comes in fragments that are joined exactly, and
//!   a result ends it. Without a result the run did not end by itself, whatever the exit code:
//!   SIGTERM and a pipe that nobody drained both end with exit 0.
//! - json: one object over many lines, which a pipe may cut in the middle, also with exit 0. If the run
//!   failed, stdout is empty, and the object is on stderr among warnings.
//! - text: what the model said, in one piece. Nothing tells an interrupted answer from a whole one.
//!
//! Read the files in this order: lines come in here, and `first_lines` holds them until they tell
//! the format; then `stream` (with `older_shapes` and `result`), `report` or `text` reads on, and
//! `stderr` beside them. `wire` is what these read; `tools`, `usage` and `failure` know the CLI's
//! words, `argv` and `sniff` what is known before a line is read. `history` reads the session files.
//!
//! The exit code is the HTTP status of an API error modulo 256, so that no code stands for a signal.
//! Of stderr, nothing but the error object counts for the outcome.

use runtape_core::{Runtime, Stream};

use self::failure::{ExitEvidence, Resume};
use self::first_lines::{Decision, FirstLines};
use self::report::JsonReport;
use self::stderr::Stderr;
use self::stream::StreamJson;
use super::Carried::{Arguments, Calls, Model, Results, Session, Text, Tokens};
use super::{OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::permissions::PermissionFlag;
use crate::redact::DeltaShape;
use crate::session_id::is_word_with_digit;
use crate::signal::{Outcome, Signal};

mod argv;
mod calling;
mod failure;
mod first_lines;
mod history;
mod older_shapes;
mod report;
mod result;
mod sniff;
mod stderr;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod usage;
mod wire;

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Gemini,
    parser: |context| Box::new(Gemini::new(context)),
    sniff: sniff::sniff,
    commands: &["gemini"],
    resume: &["gemini", "--resume"],
    is_script: |name| matches!(name, "gemini.js" | "gemini-cli"),
    query: argv::query,
    stdin: argv::stdin,
    permissions: &[
        PermissionFlag::meaning("yolo", &["--yolo", "-y"]),
        PermissionFlag::valued(&["--approval-mode"]),
    ],
    formats: &[
        OutputFormat::new("text", "--output-format text", &[Text]),
        OutputFormat::new(
            "json",
            "--output-format json",
            &[Text, Tokens, Session, Model],
        ),
        OutputFormat::new(
            "stream-json",
            "--output-format stream-json",
            &[Text, Calls, Arguments, Results, Tokens, Session, Model],
        ),
    ],
    versions: &["0.61.0"],
    credentials: &[
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ],
    is_session_id: |text| session_id(text).is_some(),
    history: Some(&history::HISTORY),
    deltas: &[DeltaShape {
        needle: "\"delta\":true",
        text: &["content"],
        so_far: &[],
        group: &["role"],
        only_with: None,
        unless: None,
        ends: None,
    }],
    wraps_words: false,
    paperclip: Adapter {
        adapter_type: "gemini_local",
        code_prefix: "gemini",
        provider: Some("google"),
        capabilities: adapter::LOCAL_WITH_SKILLS_ON_DISK,
        calling: Some(&calling::CALLING),
    },
};

/// Reads what the Gemini CLI prints.
struct Gemini {
    /// The format that the command line asks for.
    asked: Option<Format>,
    resume: Resume,
    limit: usize,
    has_format: bool,
    /// Something was printed, so the CLI got past its start.
    has_begun: bool,
    stdout: Stdout,
    stderr: Stderr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    StreamJson,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::StreamJson => "stream-json",
        }
    }
}

enum Stdout {
    FirstLines(FirstLines),
    Text(text::Text),
    Json(JsonReport),
    Stream(StreamJson),
}

impl Gemini {
    fn new(context: &Context) -> Self {
        let asked = argv::format(context);
        let limit = context.limit;
        let stdout = match asked {
            None => Stdout::FirstLines(FirstLines::new(context.argv.is_some(), limit)),
            Some(Format::Text) => Stdout::Text(text::Text::new()),
            Some(Format::Json) => Stdout::Json(JsonReport::new(limit)),
            Some(Format::StreamJson) => Stdout::Stream(StreamJson::default()),
        };
        let resume = argv::resume(context);
        Self {
            asked,
            resume,
            limit,
            has_format: false,
            has_begun: false,
            stdout,
            stderr: Stderr::new(limit),
        }
    }

    fn on_stdout(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        self.has_begun |= !line.bytes.trim_ascii().is_empty();
        self.reconsider(line, out);
        match &mut self.stdout {
            Stdout::FirstLines(undecided) => {
                if let Some(decision) = undecided.push_line(line, out.place()) {
                    self.decide(&decision, out);
                }
            }
            Stdout::Text(text) => text.push_line(line, out),
            Stdout::Json(report) => report.push_line(line, out),
            Stdout::Stream(stream) => stream.push_line(line, out),
        }
        let format = match &self.stdout {
            Stdout::FirstLines(_) => return,
            Stdout::Text(_) => Format::Text,
            Stdout::Json(_) => Format::Json,
            Stdout::Stream(_) => Format::StreamJson,
        };
        self.emit_format(format, out);
    }

    /// Takes the other JSON format, if the output is not what the command line asked for and
    /// nothing was read yet.
    fn reconsider(&mut self, line: &Line<'_>, out: &SignalSink<'_>) {
        let other = match &self.stdout {
            Stdout::Json(report) if !report.has_begun() => Format::Json,
            Stdout::Stream(stream)
                if !stream.is_sure && !first_lines::begins_stream(line.bytes) =>
            {
                Format::StreamJson
            }
            _ => return,
        };
        let decision = FirstLines::new(false, self.limit).push_line(line, out.place());
        match (other, decision) {
            (
                Format::Json,
                Some(Decision {
                    format: Format::StreamJson,
                    ..
                }),
            ) => {
                self.stdout = Stdout::Stream(StreamJson::default());
            }
            (
                Format::StreamJson,
                Some(Decision {
                    format: Format::Json,
                    ..
                }),
            ) => {
                self.stdout = Stdout::Json(JsonReport::new(self.limit));
            }
            (Format::StreamJson, None) if line.bytes.trim_ascii() == b"{" => {
                self.stdout = Stdout::Json(JsonReport::new(self.limit));
            }
            _ => {}
        }
    }

    /// Goes on in the format that was decided on, from the first line that was held back.
    fn decide(&mut self, decision: &Decision, out: &mut SignalSink<'_>) {
        self.stdout = match decision.format {
            Format::Text => Stdout::Text(text::Text::new()),
            Format::Json => Stdout::Json(JsonReport::new(self.limit)),
            Format::StreamJson => Stdout::Stream(StreamJson::default()),
        };
        let mut ordinal = 0;
        decision.lines.replay(out, |held, out| {
            let line = held.line();
            match &mut self.stdout {
                Stdout::Text(text) => text.push_line(&line, out),
                _ if ordinal < decision.start => out.stdout_text(line.bytes),
                Stdout::Json(report) => report.push_line(&line, out),
                Stdout::Stream(stream) => stream.push_line(&line, out),
                Stdout::FirstLines(_) => {}
            }
            ordinal += 1;
        });
    }

    fn emit_format(&mut self, format: Format, out: &mut SignalSink<'_>) {
        if !std::mem::replace(&mut self.has_format, true) {
            out.emit(Signal::Format(format.name()));
        }
    }

    /// Judges a run that stdout does not tell the end of.
    fn judge_by_stderr_and_exit(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        if let Some(reported) = self.stderr.reported.take() {
            self.emit_format(Format::Json, out);
            if let Some(session) = reported.session.as_deref() {
                out.at(reported.place).emit(Signal::Session(session));
            }
            report::emit_failure(reported.place, &reported.error, exit.code, out);
            return;
        }
        let Some(code) = exit
            .code
            .filter(|_| exit.signal.is_none() && !exit.timed_out)
        else {
            return;
        };
        let last_words = self.stderr.last_words();
        let ending = ExitEvidence {
            last_words: &last_words,
            resume: &self.resume,
            has_begun: self.has_begun,
        };
        if let Some(verdict) = ending.verdict(code) {
            out.emit(Signal::Result(Outcome::of(verdict)));
        }
    }
}

impl RuntimeParser for Gemini {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        match stream {
            Stream::Stdout => self.on_stdout(line, out),
            Stream::Stderr => self.stderr.push_line(line, out),
            Stream::Stdin | Stream::History => {}
        }
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        self.stderr.finish(out);
        let mut is_cut = false;
        if let Stdout::FirstLines(undecided) = &mut self.stdout {
            if let Some((place, reason)) = undecided.cut_json() {
                out.at(place).unparsed(None, reason);
                is_cut = true;
            } else if let Some(decision) = undecided.give_up() {
                self.decide(&decision, out);
                self.emit_format(decision.format, out);
            }
        }
        let has_ended = match &mut self.stdout {
            Stdout::FirstLines(_) => false,
            Stdout::Text(text) => text.finish(exit, out),
            Stdout::Json(report) => report.finish(exit, out),
            Stdout::Stream(stream) => stream.finish(exit, out),
        };
        if !has_ended {
            self.judge_by_stderr_and_exit(exit, out);
        }
        if let Some(format) = self.asked.filter(|_| !is_cut) {
            self.emit_format(format, out);
        }
    }

    fn exit_is_signal(&self, _: i32) -> bool {
        false
    }
}

/// Returns a session's id if it can be one: prose never becomes an id to resume.
///
/// The CLI makes UUIDs. What older versions and wrappers printed instead is taken if it is one word
/// with letters and digits: `latest` and a bare number mean another session to `--resume`.
fn session_id(text: &str) -> Option<&str> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    (is_word_with_digit(text) && !is_number).then_some(text)
}
