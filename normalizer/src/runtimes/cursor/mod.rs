//! Cursor's `cursor-agent -p`, in its four output formats.
//!
//! Seen: 2026.01.28 to 2026.09.28, with `--output-format text`, `json`, `stream-json`, and the last
//! with `--stream-partial-output`. The CLI is closed and its format has no contract beyond a short
//! reference page, so everything here is tolerant: what is new is kept under its own name.
//!
//! - **text** prints the answer and a newline, nothing else.
//! - **json** prints one object at the end: the `result` event of stream-json. Nothing on failure.
//! - **stream-json** prints one event a line. Thinking always comes in deltas; the text of the model
//!   comes in whole segments, or in deltas *and* whole segments ([`spoken_segments`] tells them apart).
//!
//! Which one it is shows in the output: an event has a `type` and a `session_id` (or `call_id` and
//! `tool_call`), and an answer in text mode has not, even if it is JSON with a `type`. Lines are
//! held until the first event, or the end, tells. A command line that names the format is believed.
//!
//! Read the files in this order: lines come in here, `events` finds the type of an event, and
//! `messages`, `tool_events`, `notices` or `result` says what it means; `wire` and `call_wire` are
//! what these read. `spoken_segments` and `open_step` put what was said where it belongs,
//! `tool_result` tells what came of a call, and `tools`, `usage` and `failure` know the CLI's words.
//!
//! Failures before the first event (no login, workspace not trusted, unknown model) are words on
//! standard error and exit code 1; [`failure`] knows them. An unknown `--resume` id is none of them:
//! a new chat starts under that id.

mod argv;
mod call_wire;
mod calling;
mod events;
mod failure;
mod history;
mod known_calls;
mod messages;
mod notices;
mod open_step;
mod result;
mod sniff;
mod spoken_segments;
mod tool_events;
mod tool_result;
mod tools;
mod usage;
mod wire;

#[cfg(test)]
mod tests;

use runtape_core::{Runtime, Stream};

use self::argv::{AskedFormat, asked};
use self::events::Events;
use self::failure::Diagnosis;

use super::Carried::{Arguments, Calls, Model, Results, Session, Text, Thinking, Tokens};
use super::{OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::framing::Document;
use crate::framing::answer::{AnswerLines, answer_stands};
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::permissions::PermissionFlag;
use crate::redact::DeltaShape;
use crate::session_id::is_word_with_digit;
use crate::signal::{Outcome, Signal, Verdict};

/// What Cursor leaves behind that is not read.
pub(super) const NOT_READ: &[&str] = &[
    "the editor's database (state.vscdb): its chats are of no process of the CLI",
    "transcripts of the CLI (agent-transcripts): its chats say more",
    "cloud agents: no format of what they leave to download is documented",
];

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Cursor,
    parser: |context| Box::new(CursorParser::new(context)),
    sniff: sniff::sniff,
    commands: &["cursor-agent", "agent"],
    resume: &["cursor-agent", "--resume"],
    is_script: |_| false,
    query: argv::query,
    stdin: argv::stdin,
    permissions: &[PermissionFlag::meaning(
        "force",
        &["--force", "-f", "--yolo"],
    )],
    formats: &[
        OutputFormat::new("text", "--output-format text", &[Text]),
        OutputFormat::new("json", "--output-format json", &[Text, Tokens, Session]),
        OutputFormat::new(
            "stream-json",
            "--output-format stream-json",
            &[
                Text, Thinking, Calls, Arguments, Results, Tokens, Session, Model,
            ],
        ),
    ],
    versions: &["2026.01.28", "2026.09.28"],
    credentials: &["CURSOR_API_KEY"],
    // The CLI makes UUIDs, but takes any word that is given to `--resume`.
    is_session_id: is_word_with_digit,
    history: Some(&history::HISTORY),
    // With --stream-partial-output; a message with the id of a call of the model is whole.
    deltas: &[
        DeltaShape {
            needle: "\"subtype\":\"delta\"",
            text: &["text"],
            so_far: &[],
            group: &["session_id"],
            only_with: None,
            unless: None,
            ends: None,
        },
        DeltaShape {
            needle: "\"type\":\"assistant\",\"message\":",
            text: &["message.content.*.text"],
            so_far: &[],
            group: &["session_id"],
            only_with: Some("timestamp_ms"),
            unless: Some("model_call_id"),
            ends: None,
        },
    ],
    wraps_words: false,
    paperclip: Adapter {
        adapter_type: "cursor",
        code_prefix: "cursor",
        provider: Some("cursor"),
        capabilities: adapter::LOCAL_WITH_SKILLS_ON_DISK,
        calling: Some(&calling::CALLING),
    },
};

/// An event printed over many lines, as `jq .` does.
struct LongEvent {
    document: Document,
    /// How many lines were held before it.
    held_before: usize,
}

/// The parser of one run.
struct CursorParser {
    asked: Option<AskedFormat>,
    limit: usize,
    /// An event was seen: all lines are events.
    has_events: bool,
    /// The lines before the first event.
    answer: AnswerLines,
    long_event: Option<LongEvent>,
    events: Events,
    diagnosis: Diagnosis,
}

impl CursorParser {
    fn new(context: &Context) -> Self {
        let asked = asked(context);
        Self {
            asked,
            limit: context.limit,
            has_events: false,
            answer: AnswerLines::new(context.limit),
            long_event: None,
            events: Events::new(asked, context.limit),
            diagnosis: Diagnosis::default(),
        }
    }

    fn on_stdout(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if self.has_events {
            self.on_event_line(line, out);
        } else if self.answer.is_streamed() {
            self.answer.push(line.bytes, line.ending, out);
        } else {
            self.on_first_lines(line, out);
        }
    }

    fn on_first_lines(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        let may_be_event = self.asked != Some(AskedFormat::Text);
        if may_be_event && self.events.shows_event(line.bytes) {
            self.long_event = None;
            self.begin_events(usize::MAX, out);
            self.events.on_line(line.bytes, line.ending, out);
            return;
        }
        let held_before = self.answer.held.len();
        let held = &mut self.answer.held;
        held.push(line.bytes, line.ending, out.place());
        if may_be_event && let Some(held_before) = self.gather(line, held_before) {
            self.begin_events(held_before, out);
            self.finish_long_event(out);
        } else if self.answer.held.is_full() {
            // The lines held so far cannot be told apart any longer.
            self.long_event = None;
            if self.is_json_asked() {
                self.begin_events(usize::MAX, out);
            } else {
                out.emit(Signal::Format("text"));
                self.answer.stream(out);
            }
        }
    }

    fn is_json_asked(&self) -> bool {
        matches!(self.asked, Some(AskedFormat::Json | AskedFormat::Stream))
    }

    /// From here on lines are events. Of the lines held, the first `count` are replayed.
    fn begin_events(&mut self, count: usize, out: &mut SignalSink<'_>) {
        self.has_events = true;
        let mut held = self.answer.held.take();
        held.truncate(count);
        held.replay(out, |line, out| {
            self.events.on_line(line.bytes, line.ending, out);
        });
    }

    fn on_event_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if self.long_event.is_some() && self.events.shows_event(line.bytes) {
            self.drop_long_event(out);
        }
        if self.long_event.is_none() && line.bytes.trim_ascii() != b"{" {
            self.events.on_line(line.bytes, line.ending, out);
        } else if self.gather(line, 0).is_some() {
            self.finish_long_event(out);
        }
    }

    /// Adds a line to an event that is printed over many. Returns how many lines were held before
    /// it, once it is complete; while nothing is decided, only if it is an event.
    fn gather(&mut self, line: &Line<'_>, held_before: usize) -> Option<usize> {
        if self.long_event.is_none() && line.bytes.trim_ascii() == b"{" {
            self.long_event = Some(LongEvent {
                document: Document::new(self.limit),
                held_before,
            });
        }
        let event = self.long_event.as_mut()?;
        event.document.push_line(line);
        if !event.document.is_complete() {
            return None;
        }
        if !self.has_events && self.events.is_event(event.document.bytes()) != Some(true) {
            self.long_event = None;
            return None;
        }
        Some(event.held_before)
    }

    fn finish_long_event(&mut self, out: &mut SignalSink<'_>) {
        if let Some(LongEvent { document, .. }) = self.long_event.take() {
            let is_too_long = document.is_over_limit();
            let reason = is_too_long.then_some("the event is longer than the limit");
            self.on_document(&document, reason, out);
        }
    }

    /// What began like an event over many lines is none.
    fn drop_long_event(&mut self, out: &mut SignalSink<'_>) {
        if let Some(LongEvent { document, .. }) = self.long_event.take() {
            self.on_document(&document, Some("the event does not end"), out);
        }
    }

    fn on_document(
        &mut self,
        document: &Document,
        reason: Option<&'static str>,
        out: &mut SignalSink<'_>,
    ) {
        let place = document.place(Stream::Stdout).unwrap_or(out.place());
        let out = &mut out.at(place);
        self.events.on_document(document.bytes(), reason, out);
    }

    /// Judges lines among which there was no event.
    fn finish_answer(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        let is_killed = exit.signal.is_some() || exit.timed_out;
        if self.answer.is_streamed() {
            if is_killed {
                return;
            }
            out.emit(Signal::TextEnd);
        } else if self.is_json_asked() || (self.asked.is_none() && self.answer.cut_json().is_some())
        {
            return self.begin_events(usize::MAX, out);
        } else {
            out.emit(Signal::Format("text"));
            let place = self.answer.place(out);
            let text = self.answer.held.text();
            if is_killed {
                return out.at(place).emit(Signal::TextDelta(text));
            }
            if !exit.is_success() && text.trim().is_empty() {
                return;
            }
            out.at(place).emit(Signal::Text(text));
        }
        if !exit.is_failure() {
            answer_stands(exit, Outcome::of(Verdict::Success), out);
        }
    }
}

impl RuntimeParser for CursorParser {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        match stream {
            Stream::Stdout => self.on_stdout(line, out),
            Stream::Stderr => {
                let text = line.text();
                self.diagnosis.read(&text);
                out.stderr_text(text);
            }
            Stream::Stdin | Stream::History => {}
        }
    }

    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        if self.has_events {
            self.drop_long_event(out);
        } else if !self.answer.is_empty() {
            self.finish_answer(exit, out);
        }
        self.events.finish(out);
        let has_answer = !self.has_events && !self.answer.is_empty() && !exit.is_failure();
        let by_itself = exit.signal.is_none()
            && !exit.timed_out
            && exit.code != Some(0)
            && !exit.code.is_some_and(|code| self.exit_is_signal(code));
        if by_itself
            && !self.events.has_result
            && !has_answer
            && let Some(outcome) = self.diagnosis.outcome()
        {
            out.emit(Signal::Result(outcome));
        }
    }
}
