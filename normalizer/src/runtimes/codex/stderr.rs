//! Standard error: the header of text mode, and what went wrong.

use super::failure;
use crate::lines::Line;
use crate::parser::SignalSink;
use crate::session_id::is_small_uuid;
use crate::signal::{Outcome, Signal, Verdict};

/// The line above and below the header's fields.
const RULE: &str = "--------";

/// What standard error told.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    header: Header,
    version: Option<String>,
    directory: Option<String>,
    model: Option<String>,
    session: Option<String>,
    /// The last line that says what went wrong.
    error: Option<FailureWords>,
}

/// How far the header was read. There is one at the most, at the very beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Header {
    #[default]
    Awaited,
    Named,
    Open,
    Closed,
}

/// What went wrong, in the CLI's words.
#[derive(Debug)]
enum FailureWords {
    /// A turn failed, with the same message as in `turn.failed`.
    Turn { message: String, at: i64 },
    /// The process did, before or around its turns.
    Start(String),
}

impl Stderr {
    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        let text = line.text();
        if text.trim().is_empty() {
            return;
        }
        self.read_header(&text);
        if let Some(message) = text.strip_prefix("ERROR: ") {
            // A retry is no failure.
            if !message.starts_with("Reconnecting") {
                let (message, at) = (message.to_owned(), out.place().at);
                self.error = Some(FailureWords::Turn { message, at });
            }
        } else if let Some(message) = ["Error: ", "error: "]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
        {
            self.error = Some(FailureWords::Start(message.to_owned()));
        }
        out.stderr_text(text);
    }

    fn read_header(&mut self, line: &str) {
        match self.header {
            Header::Awaited => {
                if let Some(rest) = line.strip_prefix("OpenAI Codex v") {
                    let version = rest.split_whitespace().next();
                    self.version = version.map(str::to_owned);
                    self.header = Header::Named;
                }
            }
            Header::Named if line == RULE => self.header = Header::Open,
            Header::Open if line != RULE => self.read_field(line),
            Header::Named | Header::Open => self.header = Header::Closed,
            Header::Closed => {}
        }
    }

    fn read_field(&mut self, line: &str) {
        let field = match line.split_once(": ") {
            Some(("workdir", directory)) => (&mut self.directory, directory),
            Some(("model", model)) => (&mut self.model, model),
            Some(("session id", id)) if is_small_uuid(id) => (&mut self.session, id),
            _ => return,
        };
        *field.0 = Some(field.1.to_owned());
    }

    /// Emits what the header says. It has no place in the order of the other stream.
    pub(super) fn emit_header(&mut self, out: &mut SignalSink<'_>) {
        if let Some(session) = self.session.take() {
            out.emit(Signal::Session(&session));
        }
        if let Some(version) = self.version.take() {
            out.emit(Signal::CliVersion(&version));
        }
        if let Some(directory) = self.directory.take() {
            out.emit(Signal::Cwd(&directory));
        }
        if let Some(model) = self.model.take() {
            out.emit(Signal::Model(&model));
        }
    }

    /// Judges a process that failed by itself, and whose standard output does not tell why: the last
    /// line that does is the message.
    pub(super) fn judge(&mut self, out: &mut SignalSink<'_>) {
        let error = match self.error.take() {
            Some(FailureWords::Turn { message, at }) => failure::of_turn(&message, at),
            Some(FailureWords::Start(message)) => failure::of_start(&message),
            None => return,
        };
        out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
    }
}
