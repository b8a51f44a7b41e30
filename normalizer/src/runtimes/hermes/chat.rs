//! `hermes chat -q`: boxes, tool lines, an exit summary.
//!
//! Streamed boxes (`╭─ ⚕ Hermes ─╮`, `┌─ Reasoning ─┐`), or a panel where streaming is off or the run
//! failed. Answer lines are indented by four columns and panel lines by five, whatever they look
//! like; everything else starts at column 0 to 3.

use runtape_core::RunId;

use super::borders::{
    is_answer_bottom, is_answer_top, is_panel_bottom, is_panel_top, is_reasoning_bottom, is_rule,
    reasoning_top,
};
use super::diff::Diff;
use super::exit_summary::ExitSummary;
use super::failure::{self, FailureReport, ReportLine};
use super::long_completion::{Continued, LongCompletion};
use super::messages::Messages;
use super::notices;
use super::session::is_session_id;
use super::text::{Boxed, MOST_ERROR, is_blank, rank};
use super::tool_line::{self, ToolLine};
use super::tools::TERMINAL;
use super::verbose::Verbose;
use crate::exit::Exit;
use crate::framing::held_lines::{HeldLines, MOST_HELD};
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// The indentation of answer lines, and of panel lines.
const ANSWER: &str = "    ";
const PANEL: &str = "     ";

/// What is open on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnScreen {
    Nothing,
    Answer,
    Reasoning {
        width: usize,
    },
    Panel,
    /// A panel with what hermes says of a failure.
    ErrorPanel,
}

/// Reads the output of `hermes chat`.
#[derive(Debug)]
pub(super) struct Chat {
    format: &'static str,
    /// The rule that separates the start-up lines from the work was printed.
    started: bool,
    open: OnScreen,
    /// The line end of the open box; lines with a shorter one are printed around the screen.
    rank: u8,
    text: Boxed,
    messages: Messages,
    /// Lines of the open reasoning box that may be what came after it.
    /// Lines in an open reasoning box that may be hermes' own. Reasoning has no indentation: up to
    /// the lower border everything is reasoning. But a run that fails while the model thinks leaves
    /// its box open, and the report follows. Which it was is known when the border comes, or does
    /// not.
    reasoning_or_report: HeldLines,
    long_completion: Option<LongCompletion>,
    diff: Option<(Diff, u8)>,
    verbose: Option<Verbose>,
    report: FailureReport,
    /// A box or a call was streamed: panels are for errors only.
    streamed: bool,
    exit_summary: ExitSummary,
    unknown_session: Option<String>,
    interrupted: Option<String>,
    /// What was printed before the work began and may tell why it never did.
    complaint: Option<String>,
    error_text: String,
}

impl Chat {
    /// Creates a reader for what follows `Initializing agent...`.
    pub(super) fn new(run: RunId) -> Self {
        Self {
            format: "chat",
            started: false,
            open: OnScreen::Nothing,
            rank: 0,
            text: Boxed::default(),
            messages: Messages::new(run),
            reasoning_or_report: HeldLines::new(MOST_HELD),
            long_completion: None,
            diff: None,
            verbose: None,
            report: FailureReport::default(),
            streamed: false,
            exit_summary: ExitSummary::default(),
            unknown_session: None,
            interrupted: None,
            complaint: None,
            error_text: String::new(),
        }
    }

    /// Creates a reader for an output whose start is missing.
    pub(super) fn headless(run: RunId) -> Self {
        Self {
            started: true,
            ..Self::new(run)
        }
    }

    /// Reads a line.
    pub(super) fn push(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let rank = rank(ending);
        if self.push_long_completion(line, rank, out) {
            return;
        }
        // Where line ends were converted, only what is open tells.
        let verbose = || {
            self.verbose
                .as_ref()
                .is_some_and(|verbose| verbose.expects(line))
        };
        let around = rank < self.rank || (self.rank == 0 && verbose());
        let open = self.open;
        match open {
            OnScreen::Answer if !around => {
                if let Some(text) = line.strip_prefix(ANSWER) {
                    if let Some(text) = self.text.push(text) {
                        self.messages.text(text, out);
                    }
                    return;
                }
                if is_blank(line) {
                    self.text.push_unsure();
                    return;
                }
                self.text.settle();
            }
            OnScreen::Reasoning { width } if !around => {
                return self.push_reasoning(line, ending, width, out);
            }
            OnScreen::Panel | OnScreen::ErrorPanel if !around && self.push_panel(line, out) => {
                return;
            }
            _ => {}
        }
        self.body(line, rank, out);
    }

    /// Reads a line that another one left open; `false` if none did.
    fn push_long_completion(&mut self, line: &str, rank: u8, out: &mut SignalSink<'_>) -> bool {
        let slot = &mut self.long_completion;
        let (text, place, is_whole) = match LongCompletion::push(slot, line, rank, out.place()) {
            Continued::No => return false,
            Continued::Open => return true,
            Continued::Over(text, place, is_whole) => (text, place, is_whole),
        };
        let out = &mut out.at(place);
        match tool_line::of_chat(&text).filter(|_| is_whole) {
            Some(tool) => self.on_tool(&tool, rank, out),
            None => notices::stray(text, out),
        }
        true
    }

    fn push_reasoning(
        &mut self,
        line: &str,
        ending: Ending,
        width: usize,
        out: &mut SignalSink<'_>,
    ) {
        if is_reasoning_bottom(line, width) {
            self.held_is_reasoning(out);
            return self.close(out);
        }
        if self.is_between(line, out) {
            return;
        }
        if !self.reasoning_or_report.is_empty() || may_begin_report(line) {
            let held = &mut self.reasoning_or_report;
            held.push(line.as_bytes(), ending, out.place());
            if held.is_full() {
                self.held_is_reasoning(out);
            }
            return;
        }
        if let Some(text) = self.text.push(line) {
            self.messages.thinking(text, out);
        }
    }

    /// The box was closed, or what is held is too long to be anything else.
    fn held_is_reasoning(&mut self, out: &mut SignalSink<'_>) {
        let held = self.reasoning_or_report.take();
        held.replay(out, |line, out| {
            if let Some(text) = self.text.push(&line.line().text()) {
                self.messages.thinking(text, out);
            }
        });
    }

    /// The box was never closed, although the run went on to its end.
    fn held_is_report(&mut self, out: &mut SignalSink<'_>) {
        if self.reasoning_or_report.is_empty() {
            return;
        }
        let held = self.reasoning_or_report.take();
        self.close(out);
        held.replay(out, |line, out| {
            self.push(&line.line().text(), line.ending, out);
        });
    }

    /// Tells whether a line in a reasoning box is not the model's.
    fn is_between(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if self.verbose.is_some() && line.starts_with("🎉 Conversation completed after ") {
            return true;
        }
        // Without streaming, long reasoning is cut.
        let cut =
            line.starts_with("  ... (") && line.ends_with(" more lines — /reasoning full to show)");
        if cut {
            notices::info(None, line.trim_start(), out);
        }
        cut
    }

    fn push_panel(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if is_panel_bottom(line) {
            self.close(out);
            return true;
        }
        let text = match line.strip_prefix(PANEL) {
            Some(text) => text.trim_end_matches(' '),
            None if is_blank(line) => "",
            None => {
                // Lines of other threads come from column 0 or 2.
                return false;
            }
        };
        let Some(text) = self.text.push(text) else {
            return true;
        };
        if self.open == OnScreen::Panel {
            self.messages.text(text, out);
        } else if self.error_text.len() < MOST_ERROR {
            self.error_text.push_str(text);
        }
        true
    }

    /// Reads a line that is not inside a box, or only printed there.
    fn body(&mut self, line: &str, rank: u8, out: &mut SignalSink<'_>) {
        if let Some((diff, diff_rank)) = &mut self.diff
            && rank >= *diff_rank
        {
            if diff.take(line) {
                return;
            }
            self.end_diff(out);
        }
        if let Some(verbose) = &mut self.verbose
            && verbose.take(line, &mut self.messages, out)
        {
            return;
        }
        let known = match line.as_bytes().first() {
            None => true,
            Some(b' ') => self.indented(line, rank, out),
            Some(0xE2) => self.bordered(line, rank, out) || self.marked(line, out),
            Some(0xF0) => self.start_up(line, out),
            Some(_) => self.worded(line, out),
        };
        if known || notices::take(line, out) || self.report.take(line, out) == ReportLine::Part {
            if let Some(model) = self.report.take_model() {
                out.emit(Signal::Model(&model));
            }
            if self.report.take_truncated() {
                self.messages.abandon_calls();
            }
            return;
        }
        if is_blank(line) {
            return;
        }
        if !self.started {
            self.complaint.get_or_insert_with(|| line.to_owned());
        }
        notices::stray(line.to_owned(), out);
    }

    /// Lines at column 1 or 2.
    fn indented(&mut self, line: &str, rank: u8, out: &mut SignalSink<'_>) -> bool {
        if is_panel_top(line) {
            self.open_panel(rank, out);
            return true;
        }
        if let Some(tool) = tool_line::of_chat(line) {
            self.on_tool(&tool, rank, out);
            return true;
        }
        self.long_completion = LongCompletion::open(line, out.place(), rank);
        if self.long_completion.is_some() {
            return true;
        }
        let Some(rest) = line.strip_prefix("  ") else {
            return false;
        };
        if self.verbose.is_some() && rest.starts_with(" ✅ Enabled toolsets: ") {
            return true;
        }
        self.exit_summary.take_indented(rest, out) || self.on_aside(rest, out)
    }

    /// Lines at column 2 that only this format has.
    fn on_aside(&mut self, rest: &str, out: &mut SignalSink<'_>) -> bool {
        if rest.starts_with("⏱ Timeout — ") {
            self.messages.deny(TERMINAL, None, rest, out);
        } else if let Some(text) = rest.strip_prefix("[thinking] ") {
            self.messages.speak(out);
            self.messages.thinking(text, out);
            self.messages.end_thinking(out);
        } else {
            return false;
        }
        true
    }

    /// Borders and rules at column 0.
    fn bordered(&mut self, line: &str, rank: u8, out: &mut SignalSink<'_>) -> bool {
        if is_answer_top(line) {
            self.close(out);
            self.went_on();
            self.streamed = true;
            self.messages.open_box(out);
            self.open_as(OnScreen::Answer, rank);
        } else if is_answer_bottom(line) {
            self.close(out);
        } else if let Some(width) = reasoning_top(line) {
            self.close(out);
            self.went_on();
            self.messages.speak(out);
            self.open_as(OnScreen::Reasoning { width }, rank);
        } else if is_rule(line) {
            self.started = true;
        } else {
            return false;
        }
        true
    }

    /// Lines that begin with a mark of their own.
    fn marked(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if let Some(rest) = line.strip_prefix("⚡ Interrupt") {
            let message = format!("Interrupt{rest}");
            notices::warning(&message, out);
            self.interrupted = Some(message);
            return true;
        }
        // The report of what `-v` found at the start.
        self.verbose.is_some() && line.starts_with("✅ Enabled toolset ")
    }

    /// Lines of `-v` about the run as a whole.
    fn start_up(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if let Some(model) = line.strip_prefix("🤖 AI Agent initialized with model: ") {
            self.be_verbose(out);
            out.emit(Signal::Model(model));
            return true;
        }
        if line.starts_with("💬 Starting conversation: '")
            || line.starts_with("🎉 Conversation completed ")
        {
            self.be_verbose(out);
            return true;
        }
        self.verbose.is_some()
            && !notices::is_compaction(line)
            && ["🔗 ", "🔑 ", "🛠️ ", "📊 ", "🔧 ", "💾 ", "🗜️ ", "🔄 "]
                .iter()
                .any(|mark| line.starts_with(mark))
    }

    fn be_verbose(&mut self, out: &mut SignalSink<'_>) {
        if self.verbose.is_none() {
            self.verbose = Some(Verbose::default());
            self.messages.expect_results();
            self.set_format("verbose", out);
        }
    }

    /// Lines that begin with a letter.
    fn worded(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if ExitSummary::begins_with(line) {
            self.held_is_report(out);
            self.close(out);
            self.exit_summary.begin(line);
        } else if self.exit_summary.take(line, out) {
        } else if let Some(id) = line.strip_prefix("Session not found: ") {
            let known = !self.started || is_session_id(id);
            if known && !self.messages.has_spoken() {
                self.unknown_session = Some(line.to_owned());
            }
            return false;
        } else {
            return false;
        }
        true
    }

    fn on_tool(&mut self, tool: &ToolLine<'_>, rank: u8, out: &mut SignalSink<'_>) {
        match tool {
            ToolLine::Preparing(name) => {
                self.went_on();
                self.streamed = true;
                self.messages.prepare(name, out);
            }
            ToolLine::Done(done) => {
                self.went_on();
                if !self.streamed && self.verbose.is_none() {
                    self.set_format("nostream", out);
                }
                self.messages.done(done, out);
            }
            ToolLine::ReviewDiff => self.diff = Some((Diff::default(), rank)),
            ToolLine::Said(_) | ToolLine::Begun(_) => {}
        }
    }

    /// Work after a failure or after the summary: neither was the end.
    fn went_on(&mut self) {
        self.report.recover();
        self.error_text.clear();
        self.exit_summary.forget();
        self.interrupted = None;
        self.started = true;
    }

    fn open_panel(&mut self, rank: u8, out: &mut SignalSink<'_>) {
        self.close(out);
        if self.report.has_failed() {
            self.error_text.clear();
            self.open_as(OnScreen::ErrorPanel, rank);
            return;
        }
        if !self.streamed && self.verbose.is_none() {
            self.set_format("nostream", out);
        }
        self.messages.open_box(out);
        self.open_as(OnScreen::Panel, rank);
    }

    fn open_as(&mut self, open: OnScreen, rank: u8) {
        self.open = open;
        self.rank = if rank == u8::MAX { 0 } else { rank };
        self.text = Boxed::default();
    }

    /// Closes what is open.
    fn close(&mut self, out: &mut SignalSink<'_>) {
        match std::mem::replace(&mut self.open, OnScreen::Nothing) {
            OnScreen::Answer | OnScreen::Panel => self.messages.close_box(out),
            OnScreen::Reasoning { .. } => self.messages.end_thinking(out),
            OnScreen::ErrorPanel | OnScreen::Nothing => {}
        }
        self.rank = 0;
    }

    fn end_diff(&mut self, out: &mut SignalSink<'_>) {
        if let Some((diff, _)) = self.diff.take() {
            self.messages.diff(diff, out);
        }
    }

    fn set_format(&mut self, format: &'static str, out: &mut SignalSink<'_>) {
        if self.format != format {
            self.format = format;
            out.emit(Signal::Format(format));
        }
    }

    /// Ends the reading and says how the run ended, if the output and the exit tell.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        // A run that was ended from outside leaves its box open wherever it was.
        if super::is_killed(exit) {
            self.held_is_reasoning(out);
        } else {
            self.held_is_report(out);
        }
        if let Some(long) = self.long_completion.take() {
            notices::stray(long.text, &mut out.at(long.place));
        }
        self.end_diff(out);
        if let Some(verbose) = &mut self.verbose {
            verbose.close(&mut self.messages, out);
        }
        self.messages.finish(!self.exit_summary.is_there(), out);
        let Some(verdict) = self.verdict(exit) else {
            if let Some(ms) = self.exit_summary.duration_ms() {
                out.emit(Signal::Metadata("durationMs", ms.into()));
            }
            return;
        };
        if exit.is_unknown() && verdict == Verdict::Success {
            out.emit(Signal::Metadata("exitUnknown", true.into()));
        }
        let answer = self.report.was_empty().then(|| "".into());
        let duration_ms = self.exit_summary.duration_ms();
        out.emit(Signal::Result(Outcome {
            answer,
            duration_ms,
            ..Outcome::of(verdict)
        }));
    }

    fn verdict(&self, exit: &Exit) -> Option<Verdict> {
        if let Some(message) = &self.unknown_session
            && !self.messages.has_spoken()
        {
            return Some(Verdict::Error(failure::unknown_session(message)));
        }
        if self.report.has_failed() {
            let text = (!self.error_text.is_empty()).then_some(self.error_text.as_str());
            return Some(Verdict::Error(self.report.error(text)));
        }
        // Without the summary the output was cut, whatever the exit code. But it is no verdict: a
        // process that was ended, or failed, prints it as well.
        if !self.exit_summary.is_there() || exit.is_failure() || exit.is_output_cut() {
            return None;
        }
        if let Some(verdict) = self.report.limit_verdict(self.messages.has_answer()) {
            return Some(verdict);
        }
        let error = |name: &str, message: &str| {
            let family = runtape_core::ErrorFamily::Other;
            crate::failure::error(name, message, family)
        };
        if let Some(message) = &self.interrupted {
            return Some(Verdict::Interrupted(error("Interrupted", message)));
        }
        if self.exit_summary.is_goodbye() && !self.messages.has_spoken() {
            let message = self
                .complaint
                .as_deref()
                .unwrap_or("the run ended without a message");
            return Some(Verdict::Error(error("NoMessages", message)));
        }
        Some(Verdict::Success)
    }
}

/// Tells whether a line may be the first one after reasoning that was never closed.
fn may_begin_report(line: &str) -> bool {
    failure::is_head(line) || is_panel_top(line) || ExitSummary::begins_with(line)
}
