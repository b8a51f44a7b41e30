//! `hermes chat -Q` and `hermes -z`: the answer, and what leaks onto the output before it.
//!
//! What leaks is printed through `prompt_toolkit` and ends in `\r\n`; the answer is printed plainly,
//! as the model wrote it, escapes and line ends included. Between reasoning that was never closed
//! (0.19) and the answer that is the only mark. Elsewhere a line with such an end is a leak only if
//! it is one of the known ones.

use std::borrow::Cow;

use runtape_core::runtime_event::{StdoutText, Warning};

use super::argv::AskedMode;
use super::borders::{is_answer_top, is_reasoning_bottom, reasoning_top};
use super::diff::Diff;
use super::failure::{FailureReport, NO_REPLY, ReportLine, error_of_text, looks_like_failure};
use super::notices;
use super::refusal::refusal_of_text;
use super::session::is_session_id;
use super::stderr::Stderr;
use super::text::{Boxed, is_blank, rank};
use super::tool_line::{self, ToolLine};
use super::tools;
use super::worktree;
use crate::escapes::strip_escapes;
use crate::exit::Exit;
use crate::framing::answer::{AnswerLines, answer_stands};
use crate::framing::held_lines::HeldLines;
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, TapePlace, Verdict};

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuietLine {
    /// It was read.
    Read,
    /// It belongs to an output of `hermes chat` without `-Q`, whose start is missing.
    IsChat,
}

/// What a line that may leak turned out to be.
enum Leak {
    Taken,
    IsChat,
    None,
}

/// Reads a quiet output.
#[derive(Debug)]
pub(super) struct Quiet {
    asked: AskedMode,
    /// The line end of what leaks.
    leak_rank: u8,
    /// The width of the reasoning box that is open.
    reasoning: Option<usize>,
    /// What leaked of the reasoning, where some did.
    thinking: Option<Boxed>,
    diff: Option<(Diff, TapePlace)>,
    /// The line that tells of a resumed session was wrapped: its end is on the next one.
    is_resumed_wrapped: bool,
    /// A line that was cut off while reasoning leaked.
    tail: Option<(TapePlace, String)>,
    answer: AnswerLines,
    /// The last line of the answer ends in a bare newline, as the answer as a whole does.
    is_plain: bool,
    /// Lines like those that leak, until it is known whether the answer goes on after them.
    behind: HeldLines,
    report: FailureReport,
    /// The end of the output tells of a worktree, behind the answer.
    has_worktree: bool,
}

impl Quiet {
    /// Creates a reader; `asked` is what is known of how hermes was run.
    pub(super) fn new(asked: AskedMode, limit: usize) -> Self {
        Self {
            asked,
            leak_rank: 0,
            reasoning: None,
            thinking: None,
            diff: None,
            is_resumed_wrapped: false,
            tail: None,
            answer: AnswerLines::new(limit),
            is_plain: false,
            behind: HeldLines::new(limit),
            report: FailureReport::default(),
            has_worktree: false,
        }
    }

    /// Expects the end of the output to tell of a worktree.
    pub(super) fn expect_worktree(&mut self) {
        self.has_worktree = true;
    }

    /// Reads a line as it was printed.
    pub(super) fn push(
        &mut self,
        line: &str,
        ending: Ending,
        out: &mut SignalSink<'_>,
    ) -> QuietLine {
        if !self.answer.is_empty() {
            self.push_further(line, ending, out);
            return QuietLine::Read;
        }
        // Only on a terminal does a leak have escapes, and two carriage returns.
        let shown = match ending {
            Ending::CrCrLf => strip_escapes(line),
            _ => Cow::Borrowed(line),
        };
        let may_leak = match ending {
            // Whatever else is printed in the meantime goes nowhere.
            _ if self.asked == AskedMode::Oneshot => false,
            // The one line that leaks through a plain print.
            Ending::Lf => {
                shown.starts_with("⚠️  Reached maximum iterations (")
                    && self.report.take(&shown, out) == ReportLine::Part
            }
            Ending::None => true,
            Ending::CrLf | Ending::CrCrLf => rank(ending) >= self.leak_rank,
        };
        if may_leak && ending == Ending::Lf {
            return QuietLine::Read;
        }
        if may_leak {
            match self.push_leak(&shown, ending, out) {
                Leak::Taken => {
                    // A line of a diff may have a carriage return of its own.
                    if ending != Ending::None && self.leak_rank == 0 {
                        self.leak_rank = rank(ending);
                    }
                    return QuietLine::Read;
                }
                Leak::IsChat => return QuietLine::IsChat,
                Leak::None => {}
            }
        }
        self.begin_answer(out);
        self.push_answer(line, ending, out);
        QuietLine::Read
    }

    fn push_leak(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) -> Leak {
        if let Some((diff, _)) = &mut self.diff {
            if diff.take(line) {
                return Leak::Taken;
            }
            self.end_diff(out);
        }
        if std::mem::take(&mut self.is_resumed_wrapped) && line.ends_with(" messages)") {
            return Leak::Taken;
        }
        if line == "  ┊ review diff" {
            self.diff = Some((Diff::default(), out.place()));
            return Leak::Taken;
        }
        if let Some(width) = reasoning_top(line) {
            self.reasoning = Some(width);
            self.thinking.get_or_insert_default();
            return Leak::Taken;
        }
        if let Some(width) = self.reasoning {
            if is_reasoning_bottom(line, width) {
                self.reasoning = None;
                self.end_thinking(out);
            } else if ending == Ending::None {
                self.tail = Some((out.place(), line.to_owned()));
            } else if notices::is_leak(line) {
                take_leak(line, out);
            } else if let Some(text) = self.thinking.get_or_insert_default().push(line) {
                out.emit(Signal::ThinkingDelta(Cow::Borrowed(text)));
            }
            return Leak::Taken;
        }
        if notices::is_leak(line) {
            self.is_resumed_wrapped = line.starts_with('↻') && !line.ends_with(')');
            take_leak(line, out);
            return Leak::Taken;
        }
        if !self.asked.is_answer_alone() && is_chat(line) {
            self.end_thinking(out);
            return Leak::IsChat;
        }
        // The answer never begins with a blank line, but a box does.
        if is_blank(line) && ending != Ending::None {
            return Leak::Taken;
        }
        Leak::None
    }

    /// Reads a line after the first one of the answer.
    ///
    /// The answer's last line ends in a bare newline: what has another end after that one was not
    /// part of it. Sub-agents that are stopped at the end are still told of.
    fn push_further(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let is_behind = matches!(ending, Ending::CrLf | Ending::CrCrLf)
            && (self.is_plain || !self.behind.is_empty())
            && !self.behind.is_full()
            && notices::is_leak(&strip_escapes(line));
        if is_behind {
            self.behind.push(line.as_bytes(), ending, out.place());
            return;
        }
        self.behind.take().replay(out, |line, out| {
            self.push_answer(&line.line().text(), line.ending, out);
        });
        self.push_answer(line, ending, out);
    }

    fn end_diff(&mut self, out: &mut SignalSink<'_>) {
        if let Some((diff, place)) = self.diff.take() {
            let event = StdoutText {
                text: diff.into_text(),
            };
            out.at(place).emit(Signal::Event(event.into()));
        }
    }

    fn end_thinking(&mut self, out: &mut SignalSink<'_>) {
        if self.thinking.take().is_some() {
            out.emit(Signal::ThinkingEnd { signature: None });
        }
    }

    fn begin_answer(&mut self, out: &mut SignalSink<'_>) {
        self.end_diff(out);
        self.end_thinking(out);
    }

    fn push_answer(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        self.is_plain = ending == Ending::Lf;
        self.answer.push(line.as_bytes(), ending, out);
    }

    /// Ends the reading and says how the run ended, as far as the output and the exit tell.
    pub(super) fn finish(&mut self, exit: &Exit, stderr: &Stderr, out: &mut SignalSink<'_>) {
        let killed = super::is_killed(exit);
        if let Some((place, line)) = self.tail.take() {
            if killed {
                if let Some(text) = self.thinking.get_or_insert_default().push(&line) {
                    let delta = Signal::ThinkingDelta(Cow::Borrowed(text));
                    out.at(place).emit(delta);
                }
                return;
            }
            self.begin_answer(out);
            self.push_answer(&line, Ending::None, &mut out.at(place));
        }
        if self.answer.is_empty() {
            self.begin_answer(out);
            if let Some(verdict) = stderr.verdict(exit).filter(|_| !killed) {
                out.emit(Signal::Result(Outcome::of(verdict)));
            }
            return;
        }
        self.behind.take().replay(out, |line, out| {
            take_leak(&strip_escapes(&line.line().text()), out);
        });
        if self.answer.is_streamed() {
            out.emit(Signal::TextEnd);
            return self.judge(exit, None, out);
        }
        let place = self.answer.place(out);
        let mut text = self.answer.held.text().into_owned();
        if self.has_worktree
            && let Some(told) = worktree::split_end(&mut text)
        {
            notices::info(Some("worktree"), &told, out);
        }
        // Where both streams went into one file, the session stands behind the answer.
        if self.asked == AskedMode::Unknown && stderr.session.is_none() {
            Self::take_session(&mut text, out);
        }
        if !self.asked.is_answer_alone() && self.answer.cut_json().is_some() {
            let reason = "begins like JSON and does not parse";
            return out.at(place).unparsed(None, reason);
        }
        if let Some(error) = refusal_of_text(&text).filter(|_| !killed) {
            return out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
        }
        if exit.is_failure() && !killed {
            return Self::fail(text, place, stderr.verdict(exit), out);
        }
        if let Some(message) = text.strip_prefix(NO_REPLY) {
            let message = format!("No reply: {message}");
            let warning = Signal::Event(Warning { message }.into());
            // What the model gave was a message all the same, an empty one.
            out.at(place).emit(Signal::Text(Cow::Borrowed("")));
            out.at(place).emit(warning);
            return self.judge(exit, Some(""), out);
        }
        out.at(place).emit(Signal::Text(Cow::Owned(text)));
        if !killed {
            self.judge(exit, None, out);
        }
    }

    /// Ends a run that failed: what it printed is the error, unless standard error has another.
    fn fail(text: String, place: TapePlace, told: Option<Verdict>, out: &mut SignalSink<'_>) {
        let verdict = match told {
            Some(Verdict::Error(error)) => {
                if !looks_like_failure(&text) && !text.contains(&error.message) {
                    out.at(place).emit(Signal::Text(Cow::Owned(text)));
                }
                Verdict::Error(error)
            }
            _ => Verdict::Error(error_of_text(&text)),
        };
        out.emit(Signal::Result(Outcome::of(verdict)));
    }

    fn judge(&self, exit: &Exit, answer: Option<&str>, out: &mut SignalSink<'_>) {
        // Whether an answer is all of it, only an exit tells.
        if exit.is_failure() || exit.is_output_cut() {
            return;
        }
        let verdict = self.report.limit_verdict(true).unwrap_or(Verdict::Success);
        let answer = answer.map(|text| Cow::Owned(text.to_owned()));
        let outcome = Outcome {
            answer,
            ..Outcome::of(verdict)
        };
        answer_stands(exit, outcome, out);
    }

    /// Takes the session id that stands behind the answer.
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

fn take_leak(line: &str, out: &mut SignalSink<'_>) {
    if line.starts_with("  ⏱ Timeout — ") {
        let denied = tools::denied(tools::TERMINAL, line.trim_start());
        return out.event(denied);
    }
    notices::take(line, out);
}

/// Tells whether a leaked line shows that nothing is quiet here.
pub(super) fn is_chat(line: &str) -> bool {
    let called = || {
        matches!(
            tool_line::of_chat(line),
            Some(ToolLine::Preparing(_) | ToolLine::Done(_))
        )
    };
    is_answer_top(line) || (line.starts_with("  ") && called())
}
