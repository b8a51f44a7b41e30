//! `hermes chat -Q` and `hermes -z`: the answer, and what leaks onto the output before it.
//!
//! What leaks is printed through `prompt_toolkit` and ends in `\r\n`; the answer is printed plainly.
//! That is the only mark between reasoning that was never closed (0.19) and the answer.

use std::borrow::Cow;

use runtape_core::runtime_event::{StdoutText, Warning};
use serde::de::IgnoredAny;

use super::borders::{is_answer_top, is_reasoning_bottom, reasoning_top};
use super::diff::Diff;
use super::notices;
use super::report::{NO_REPLY, Report, Reported, error_of_text};
use super::session::is_session_id;
use super::stderr::Stderr;
use super::text::{Boxed, Plain, is_blank, rank};
use super::tool_line::{self, ToolLine};
use super::tools;
use crate::exit::Exit;
use crate::json::{Piece, decode, pieces};
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Place, Scope, Signal, Verdict};

/// How much of an answer is held until the exit tells whether it is one. Error texts are short.
const MOST_HELD: usize = 1024 * 1024;

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was read.
    Yes,
    /// It belongs to an output of `hermes chat` without `-Q`, whose start is missing.
    IsChat,
}

/// Reads a quiet output.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// The line end of what leaks.
    leak_rank: u8,
    /// The width of the reasoning box that is open.
    reasoning: Option<usize>,
    thought: bool,
    thinking: Boxed,
    diff: Option<(Diff, Place)>,
    /// Lines with the end of a leak that are none of the known ones.
    strays: Vec<(Place, String)>,
    strays_length: usize,
    /// A line that was cut off while reasoning leaked.
    tail: Option<(Place, String)>,
    lines: u64,
    answer: Plain,
    /// The answer's lines have ends that leaks do not have.
    is_plain: bool,
    /// The answer, as long as it is held.
    held: String,
    flushed: bool,
    first: Option<Place>,
    last: Option<Place>,
    report: Report,
}

impl Quiet {
    /// Reads a line.
    pub(super) fn push(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) -> Taken {
        if self.answer.started() {
            // Sub-agents that are stopped at the end are still told of.
            let leaks = matches!(ending, Ending::CrLf | Ending::CrCrLf) && self.is_plain;
            if !leaks || !Self::is_known_leak(line, out) {
                self.push_answer(line, ending, out);
            }
            return Taken::Yes;
        }
        let leaks = match ending {
            Ending::Lf => false,
            Ending::None => self.reasoning.is_some() || self.diff.is_some(),
            Ending::CrLf | Ending::CrCrLf => rank(ending) >= self.leak_rank,
        };
        if leaks {
            if rank(ending) != u8::MAX {
                self.leak_rank = rank(ending);
            }
            return self.push_leak(line, ending, out);
        }
        // The one line that leaks through a plain print.
        if line.starts_with("⚠️  Reached maximum iterations (")
            && self.report.take(line, out) == Reported::Part
        {
            return Taken::Yes;
        }
        self.begin_answer(out);
        self.is_plain = ending == Ending::Lf;
        self.push_answer(line, ending, out);
        Taken::Yes
    }

    fn push_leak(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) -> Taken {
        if let Some((diff, _)) = &mut self.diff {
            if diff.take(line) {
                return Taken::Yes;
            }
            self.end_diff(out);
        }
        if line == "  ┊ review diff" {
            self.diff = Some((Diff::default(), out.place()));
            return Taken::Yes;
        }
        if let Some(width) = reasoning_top(line) {
            self.reasoning = Some(width);
            self.thought = true;
            return Taken::Yes;
        }
        if let Some(width) = self.reasoning {
            if is_reasoning_bottom(line, width) {
                self.reasoning = None;
                self.end_thinking(out);
            } else if ending == Ending::None {
                self.tail = Some((out.place(), line.to_owned()));
            } else if Self::is_known_leak(line, out) {
            } else if let Some(text) = self.thinking.push(line) {
                out.emit(Signal::ThinkingDelta(Cow::Borrowed(text)));
            }
            return Taken::Yes;
        }
        if is_chat(line) {
            self.end_thinking(out);
            return Taken::IsChat;
        }
        if (is_blank(line) && self.strays.is_empty()) || Self::is_known_leak(line, out) {
            return Taken::Yes;
        }
        self.strays_length += line.len() + size_of::<(Place, String)>();
        self.strays.push((out.place(), line.to_owned()));
        if self.strays_length > MOST_HELD {
            // No leak is that long: the line ends were converted.
            self.take_strays_for_answer(out);
        }
        Taken::Yes
    }

    fn is_known_leak(line: &str, out: &mut SignalSink<'_>) -> bool {
        if line.starts_with("  ⏱ Timeout — ") {
            let denied = tools::denied(tools::TERMINAL, line.trim_start());
            out.emit(Signal::Event(denied.into()));
            return true;
        }
        notices::take(line, out)
    }

    fn end_diff(&mut self, out: &mut SignalSink<'_>) {
        if let Some((diff, place)) = self.diff.take() {
            let event = StdoutText {
                text: diff.into_text(),
            };
            out.emit_at(place, Scope::Main, Signal::Event(event.into()));
        }
    }

    fn end_thinking(&mut self, out: &mut SignalSink<'_>) {
        if std::mem::take(&mut self.thought) {
            out.emit(Signal::ThinkingEnd { signature: None });
        }
        self.thinking = Boxed::default();
    }

    fn begin_answer(&mut self, out: &mut SignalSink<'_>) {
        self.end_diff(out);
        self.end_thinking(out);
        for (place, text) in std::mem::take(&mut self.strays) {
            if is_blank(&text) {
                continue;
            }
            out.emit_at(
                place,
                Scope::Main,
                Signal::Event(StdoutText { text }.into()),
            );
        }
    }

    fn take_strays_for_answer(&mut self, out: &mut SignalSink<'_>) {
        self.strays_length = 0;
        for (place, text) in std::mem::take(&mut self.strays) {
            self.push_answer_at(place, &text, Ending::Lf, out);
        }
    }

    fn push_answer(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        self.push_answer_at(out.place(), line, ending, out);
    }

    fn push_answer_at(
        &mut self,
        place: Place,
        line: &str,
        ending: Ending,
        out: &mut SignalSink<'_>,
    ) {
        self.lines += 1;
        self.first.get_or_insert(place);
        self.last = Some(place);
        let text = self.answer.push(line, ending);
        if self.flushed {
            out.emit_at(place, Scope::Main, Signal::TextDelta(Cow::Borrowed(text)));
            return;
        }
        self.held.push_str(text);
        if self.held.len() > MOST_HELD {
            self.flush(out);
        }
    }

    fn flush(&mut self, out: &mut SignalSink<'_>) {
        let text = std::mem::take(&mut self.held);
        self.flushed = true;
        let place = self.place(out);
        out.emit_at(place, Scope::Main, Signal::TextDelta(Cow::Owned(text)));
    }

    fn place(&self, out: &SignalSink<'_>) -> Place {
        match (self.first, self.last) {
            (Some(first), Some(last)) => first.through(last),
            _ => out.place(),
        }
    }

    /// Ends the reading and says how the run ended, as far as the output and the exit tell.
    pub(super) fn finish(&mut self, exit: &Exit, stderr: &Stderr, out: &mut SignalSink<'_>) {
        if let Some((place, line)) = self.tail.take() {
            if exit.is_failure() {
                if let Some(text) = self.thinking.push(&line) {
                    out.emit_at(
                        place,
                        Scope::Main,
                        Signal::ThinkingDelta(Cow::Borrowed(text)),
                    );
                }
                return;
            }
            self.begin_answer(out);
            self.push_answer_at(place, &line, Ending::None, out);
        }
        if !self.answer.started() {
            self.end_diff(out);
            self.end_thinking(out);
            self.take_strays_for_answer(out);
        }
        if !self.answer.started() {
            return;
        }
        if self.flushed {
            out.emit(Signal::TextEnd);
            return self.judge(exit, None, out);
        }
        let mut text = std::mem::take(&mut self.held);
        if stderr.session.is_none() {
            Self::take_session(&mut text, out);
        }
        let place = self.place(out);
        if self.lines == 1 && is_cut_json(&text) {
            let reason = "begins like JSON and does not parse".into();
            out.emit_at(place, Scope::Main, Signal::Unparsed { tag: None, reason });
            return;
        }
        let killed = exit.signal.is_some()
            || exit.timed_out
            || exit.code.is_some_and(|code| code > 128)
            || exit.is_output_cut();
        if exit.is_failure() && !killed {
            let error = error_of_text(&text);
            out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
            return;
        }
        if let Some(message) = text.strip_prefix(NO_REPLY) {
            let message = format!("No reply: {message}");
            out.emit_at(
                place,
                Scope::Main,
                Signal::Event(Warning { message }.into()),
            );
            return self.judge(exit, Some(""), out);
        }
        out.emit_at(place, Scope::Main, Signal::Text(Cow::Owned(text)));
        if !killed {
            self.judge(exit, None, out);
        }
    }

    fn judge(&self, exit: &Exit, answer: Option<&str>, out: &mut SignalSink<'_>) {
        if exit.is_failure() {
            return;
        }
        let verdict = self.report.limit_verdict().unwrap_or(Verdict::Success);
        let answer = answer.map(|text| Cow::Owned(text.to_owned()));
        out.emit(Signal::Result(Outcome {
            answer,
            ..Outcome::of(verdict)
        }));
        if exit.is_unknown() {
            out.emit(Signal::Metadata("exitUnknown", true.into()));
        }
    }

    /// Takes the session id that older versions print after the answer.
    ///
    /// Only the very last line can be it, behind an empty one: an answer may well quote another.
    fn take_session(text: &mut String, out: &mut SignalSink<'_>) {
        let Some((before, id)) = text.rsplit_once("\n\nsession_id: ") else {
            return;
        };
        if is_session_id(id) {
            out.emit(Signal::Session(id));
            let length = before.len();
            text.truncate(length);
        }
    }
}

/// Tells whether a leaked line shows that nothing is quiet here.
fn is_chat(line: &str) -> bool {
    let called = || {
        matches!(
            tool_line::of_chat(line),
            Some(ToolLine::Preparing(_) | ToolLine::Done(_))
        )
    };
    is_answer_top(line) || (line.starts_with("  ") && called())
}

fn is_cut_json(text: &str) -> bool {
    match pieces(text.as_bytes()).next() {
        Some(Piece::Json(json)) => decode::<IgnoredAny>(json).is_err(),
        _ => false,
    }
}
