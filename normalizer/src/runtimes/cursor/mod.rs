//! Cursor's `cursor-agent -p`, in its four output formats.
//!
//! Seen: 2026.01.28 to 2026.09.28, with `--output-format text`, `json`, `stream-json`, and the last
//! with `--stream-partial-output`. The CLI is closed and its format has no contract beyond a short
//! reference page, so everything here is tolerant: what is new is kept under its own name.
//!
//! - **text** prints the answer and a newline, nothing else.
//! - **json** prints one object at the end: the `result` event of stream-json. Nothing on failure.
//! - **stream-json** prints one event a line. Thinking always comes in deltas; the text of the model
//!   comes in whole segments, or in deltas *and* whole segments ([`speech`] tells them apart).
//!
//! Which one it is shows in the output: an event has a `type` and a `session_id` (or `call_id` and
//! `tool_call`), and an answer in text mode has not, even if it is JSON with a `type`. Lines are
//! held until the first event, or the end, tells. A command line that names the format is believed.
//!
//! Failures before the first event (no login, workspace not trusted, unknown model) are words on
//! standard error and exit code 1; [`failure`] knows them. An unknown `--resume` id is none of them:
//! a new chat starts under that id.

mod answer;
mod argv;
mod body;
mod calls;
mod detail;
mod ending;
mod events;
mod failure;
mod messages;
mod notices;
mod out;
mod outcome;
mod sniff;
mod speech;
mod step;
mod tools;
mod wire;

#[cfg(test)]
mod testing;

use runtape_core::runtime_event::StderrText;
use runtape_core::{Runtime, Stream};

use self::answer::Held;
use self::argv::{Asked, asked};
use self::events::Events;
use self::failure::Diagnosis;
use self::out::Out;
use super::{Carried, OutputFormat, RuntimeEntry};
use crate::context::Context;
use crate::exit::Exit;
use crate::json::Document;
use crate::lines::Line;
use crate::paperclip::{Adapter, adapter};
use crate::parser::{RuntimeParser, SignalSink};
use crate::signal::{Place, Signal};

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Cursor,
    parser: |context| Box::new(Cursor::new(context)),
    sniff: sniff::sniff,
    commands: &["cursor-agent", "agent"],
    is_script: |_| false,
    query: argv::query,
    formats: &[
        OutputFormat {
            name: "text",
            flags: "--output-format text",
            carries: &[Carried::Text],
        },
        OutputFormat {
            name: "json",
            flags: "--output-format json",
            carries: &[Carried::Text, Carried::Tokens, Carried::Session],
        },
        OutputFormat {
            name: "stream-json",
            flags: "--output-format stream-json",
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
        },
    ],
    versions: &["2026.01.28", "2026.09.28"],
    credentials: &["CURSOR_API_KEY"],
    is_session_id: |text| {
        events::is_session(text) && text.bytes().any(|byte| byte.is_ascii_digit())
    },
    paperclip: Adapter {
        adapter_type: "cursor",
        code_prefix: "cursor",
        provider: Some("cursor"),
        capabilities: adapter::LOCAL_WITH_SKILLS_ON_DISK,
    },
};

/// What standard output turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// No event was seen yet: all lines are held.
    Undecided,
    /// Events, one a line.
    Events,
    /// An answer too long to be held.
    Answer,
}

/// An event printed over many lines, as `jq .` does.
struct Pretty {
    document: Document,
    first: Place,
    /// How many lines were held before it.
    held: usize,
}

/// The parser of one run.
struct Cursor {
    asked: Option<Asked>,
    limit: usize,
    mode: Mode,
    held: Held,
    pretty: Option<Pretty>,
    events: Events,
    diagnosis: Diagnosis,
}

impl Cursor {
    fn new(context: &Context) -> Self {
        let asked = asked(context);
        Self {
            asked,
            limit: context.limit,
            mode: Mode::Undecided,
            held: Held::default(),
            pretty: None,
            events: Events::new(asked, context.limit),
            diagnosis: Diagnosis::default(),
        }
    }

    fn on_stdout(&mut self, line: &Line<'_>, out: &mut Out<'_, '_>) {
        match self.mode {
            Mode::Events => self.on_event_line(line, out),
            Mode::Answer => self.held.stream_line(line, out),
            Mode::Undecided => self.on_first_lines(line, out),
        }
    }

    fn on_first_lines(&mut self, line: &Line<'_>, out: &mut Out<'_, '_>) {
        if self.asked != Some(Asked::Text) && self.events.shows_event(line.bytes) {
            self.pretty = None;
            self.begin_events(usize::MAX, out);
            self.events.on_line(line.bytes, line.ending, out);
            return;
        }
        let before = self.held.count();
        self.held.push(line, out.place());
        if self.asked != Some(Asked::Text)
            && let Some(held) = self.gather(line, before, out)
        {
            self.begin_events(held, out);
            self.finish_pretty(out);
        } else if self.held.weight() > self.limit {
            self.overflow(out);
        }
    }

    /// The lines held so far cannot be told apart any longer.
    fn overflow(&mut self, out: &mut Out<'_, '_>) {
        self.pretty = None;
        if matches!(self.asked, Some(Asked::Json | Asked::Stream)) {
            self.begin_events(usize::MAX, out);
        } else {
            self.mode = Mode::Answer;
            out.emit(Signal::Format("text"));
            self.held.begin_stream(out);
        }
    }

    /// From here on lines are events. Of the lines held, the first `count` are replayed.
    fn begin_events(&mut self, count: usize, out: &mut Out<'_, '_>) {
        self.mode = Mode::Events;
        let held = std::mem::take(&mut self.held);
        for (bytes, place, ending) in held.lines().take(count) {
            self.events.on_line(bytes, ending, &mut out.at(place));
        }
    }

    fn on_event_line(&mut self, line: &Line<'_>, out: &mut Out<'_, '_>) {
        if self.pretty.is_some() && self.events.shows_event(line.bytes) {
            self.drop_pretty(out);
        }
        if self.pretty.is_none() && line.bytes.trim_ascii() != b"{" {
            self.events.on_line(line.bytes, line.ending, out);
        } else if self.gather(line, 0, out).is_some() {
            self.finish_pretty(out);
        }
    }

    /// Adds a line to an event that is printed over many. Returns how many lines were held before
    /// it, once it is complete; while nothing is decided, only if it is an event.
    fn gather(&mut self, line: &Line<'_>, held: usize, out: &mut Out<'_, '_>) -> Option<usize> {
        if self.pretty.is_none() && line.bytes.trim_ascii() == b"{" {
            let document = Document::new(self.limit);
            self.pretty = Some(Pretty {
                document,
                first: out.place(),
                held,
            });
        }
        let pretty = self.pretty.as_mut()?;
        pretty.document.push_line(line);
        if !pretty.document.is_complete() {
            return None;
        }
        if self.mode == Mode::Undecided
            && self.events.is_event(pretty.document.bytes()) != Some(true)
        {
            self.pretty = None;
            return None;
        }
        Some(pretty.held)
    }

    fn finish_pretty(&mut self, out: &mut Out<'_, '_>) {
        if let Some(Pretty {
            document, first, ..
        }) = self.pretty.take()
        {
            let place = first.through(out.place());
            let reason = document
                .is_over_limit()
                .then_some("the event is longer than the limit");
            self.events
                .on_document(document.bytes(), reason, &mut out.at(place));
        }
    }

    /// What began like an event over many lines is none.
    fn drop_pretty(&mut self, out: &mut Out<'_, '_>) {
        if let Some(Pretty {
            document, first, ..
        }) = self.pretty.take()
        {
            let reason = Some("the event does not end");
            self.events
                .on_document(document.bytes(), reason, &mut out.at(first));
        }
    }

    /// Judges lines among which there was no event.
    fn finish_held(&mut self, exit: &Exit, out: &mut Out<'_, '_>) {
        if self.held.is_empty() {
            return;
        }
        if matches!(self.asked, Some(Asked::Json | Asked::Stream))
            || (self.asked.is_none() && self.held.is_cut_json())
        {
            self.begin_events(usize::MAX, out);
        } else {
            out.emit(Signal::Format("text"));
            self.held.finish(exit, out);
        }
    }
}

impl RuntimeParser for Cursor {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, sink: &mut SignalSink<'_>) {
        let mut out = Out::new(sink);
        match stream {
            Stream::Stdout => self.on_stdout(line, &mut out),
            Stream::Stderr => {
                let text = line.text();
                if !text.trim().is_empty() {
                    self.diagnosis.read(&text);
                    let text = text.into_owned();
                    out.emit(Signal::Event(StderrText { text }.into()));
                }
            }
        }
    }

    fn finish(&mut self, exit: &Exit, sink: &mut SignalSink<'_>) {
        let mut out = Out::new(sink);
        match self.mode {
            Mode::Undecided => self.finish_held(exit, &mut out),
            Mode::Answer => Held::finish_stream(exit, &mut out),
            Mode::Events => self.drop_pretty(&mut out),
        }
        self.events.finish(&mut out);
        let by_itself = exit.signal.is_none()
            && !exit.timed_out
            && exit.code != Some(0)
            && !exit.code.is_some_and(|code| self.exit_is_signal(code));
        if by_itself
            && !self.events.has_result
            && !self.held.has_answer(exit)
            && let Some(outcome) = self.diagnosis.outcome()
        {
            out.emit(Signal::Result(outcome));
        }
    }
}
