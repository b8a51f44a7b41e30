//! `hermes chat -q`: boxes, tool lines, an exit summary.
//!
//! Streamed boxes (`╭─ ⚕ Hermes ─╮`, `┌─ Reasoning ─┐`), or a panel where streaming is off or the run
//! failed. Answer lines are indented by four columns and panel lines by five, whatever they look
//! like; everything else starts at column 0 to 3.

use runtape_core::RunId;
use runtape_core::runtime_event::{Info, Interaction, StdoutText, Task, Warning};

use super::diff::Diff;
use super::report::{self, Report, Reported};
use super::session::{self, is_session_id, leading_session_id};
use super::talk::Talk;
use super::text::{Boxed, is_blank, rank};
use super::tool_line::{self, ToolLine};
use super::tools::TERMINAL;
use super::verbose::Verbose;
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// The indentation of answer lines, and of panel lines.
const ANSWER: &str = "    ";
const PANEL: &str = "     ";

/// The longest error text that is kept of a panel.
const MOST_ERROR: usize = 64 * 1024;

/// What is open on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
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
    open: Open,
    /// The line end of the open box; lines with a shorter one are printed around the screen.
    rank: u8,
    text: Boxed,
    talk: Talk,
    diff: Option<(Diff, u8)>,
    verbose: Option<Verbose>,
    report: Report,
    /// A box or a call was streamed: panels are for errors only.
    streamed: bool,
    /// The exit summary was printed.
    ended: bool,
    goodbye: bool,
    unknown_session: Option<String>,
    interrupted: Option<String>,
    /// What was printed before the work began and may tell why it never did.
    complaint: Option<String>,
    error_text: String,
    duration_ms: Option<u64>,
}

impl Chat {
    /// Creates a reader for what follows `Initializing agent...`.
    pub(super) fn new(run: RunId) -> Self {
        Self {
            format: "chat",
            started: false,
            open: Open::Nothing,
            rank: 0,
            text: Boxed::default(),
            talk: Talk::new(run),
            diff: None,
            verbose: None,
            report: Report::default(),
            streamed: false,
            ended: false,
            goodbye: false,
            unknown_session: None,
            interrupted: None,
            complaint: None,
            error_text: String::new(),
            duration_ms: None,
        }
    }

    /// Creates a reader for an output whose start is missing.
    pub(super) fn headless(run: RunId) -> Self {
        Self {
            started: true,
            ..Self::new(run)
        }
    }

    /// Returns the format as far as it is known.
    pub(super) fn format(&self) -> &'static str {
        self.format
    }

    /// Reads a line.
    pub(super) fn push(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let rank = rank(ending);
        let around = rank < self.rank;
        match self.open {
            Open::Answer if !around => {
                if let Some(text) = line.strip_prefix(ANSWER) {
                    if let Some(text) = self.text.push(text) {
                        self.talk.text(text, out);
                    }
                    return;
                }
                if is_blank(line) {
                    self.text.push_unsure();
                    return;
                }
                self.text.settle();
            }
            Open::Reasoning { width } if !around => {
                if is_bottom(line, width) {
                    self.close(out);
                } else if !self.is_between(line, out)
                    && let Some(text) = self.text.push(line)
                {
                    self.talk.thinking(text, out);
                }
                return;
            }
            Open::Panel | Open::ErrorPanel if !around => {
                if self.push_panel(line, out) {
                    return;
                }
            }
            _ => {}
        }
        self.body(line, rank, out);
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
            info(None, line.trim_start(), out);
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
        if self.open == Open::Panel {
            self.talk.text(text, out);
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
            && verbose.take(line, &mut self.talk, out)
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
        if known || self.report.take(line, out) == Reported::Part {
            if let Some(model) = self.report.take_model() {
                out.emit(Signal::Model(&model));
            }
            return;
        }
        if is_blank(line) {
            return;
        }
        if !self.started {
            self.complaint.get_or_insert_with(|| line.to_owned());
        }
        out.emit(Signal::Event(
            StdoutText {
                text: line.to_owned(),
            }
            .into(),
        ));
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
        let Some(rest) = line.strip_prefix("  ") else {
            return false;
        };
        if let Some(rest) = rest.strip_prefix("hermes --resume ") {
            if self.ended
                && let Some(id) = leading_session_id(rest)
            {
                out.emit(Signal::Session(id));
            }
            return self.ended;
        }
        if self.ended && rest.starts_with("hermes -c ") {
            return true;
        }
        self.on_aside(rest, out)
    }

    /// Lines at column 2 that hermes prints about the work.
    fn on_aside(&mut self, rest: &str, out: &mut SignalSink<'_>) -> bool {
        if rest.starts_with("⏱ Timeout — ") {
            self.talk.deny(TERMINAL, None, rest, out);
        } else if let Some(task) = finished_task(rest) {
            out.emit(Signal::Event(task.into()));
        } else if let Some(tip) = rest.strip_prefix("(tip) ") {
            info(Some("tip"), tip, out);
        } else if let Some(text) = rest.strip_prefix("⚠ ") {
            out.emit(Signal::Event(
                Warning {
                    message: text.to_owned(),
                }
                .into(),
            ));
        } else if let Some(text) = rest.strip_prefix("[thinking] ") {
            self.talk.speak(out);
            self.talk.thinking(text, out);
            self.talk.end_thinking(out);
        } else {
            return false;
        }
        true
    }

    /// Borders and rules at column 0.
    fn bordered(&mut self, line: &str, rank: u8, out: &mut SignalSink<'_>) -> bool {
        if line.starts_with("╭─ ") && line.ends_with('╮') {
            self.close(out);
            self.went_on();
            self.streamed = true;
            self.talk.open_box(out);
            self.open_as(Open::Answer, rank);
        } else if line.starts_with("╰─") && line.ends_with('╯') {
            self.close(out);
        } else if line.starts_with("┌─ Reasoning ") && line.ends_with('┐') {
            self.close(out);
            self.went_on();
            self.talk.speak(out);
            self.open_as(
                Open::Reasoning {
                    width: line.chars().count(),
                },
                rank,
            );
        } else if line.starts_with('─') && is_rule(line) {
            self.started = true;
        } else {
            return false;
        }
        true
    }

    /// Lines that begin with a mark of their own.
    fn marked(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if let Some(rest) = line.strip_prefix("↻ Resumed session ") {
            resumed(line, rest, out);
        } else if let Some(rest) = line.strip_prefix("↩ ") {
            let task = Task {
                task_id: None,
                tool_call_id: None,
                status: "background".to_owned(),
                description: Some(rest.to_owned()),
            };
            out.emit(Signal::Event(task.into()));
        } else if let Some(rest) = line.strip_prefix("⚡ Interrupt") {
            self.interrupted = Some(format!("Interrupt{rest}"));
            out.emit(Signal::Event(
                Warning {
                    message: format!("Interrupt{rest}"),
                }
                .into(),
            ));
        } else {
            // The report of what `-v` found at the start.
            return self.verbose.is_some() && line.starts_with("✅ Enabled toolset ");
        }
        true
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
            && ["🔗 ", "🔑 ", "🛠️ ", "📊 ", "🔧 ", "💾 ", "🗜️ ", "🔄 "]
                .iter()
                .any(|mark| line.starts_with(mark))
    }

    fn be_verbose(&mut self, out: &mut SignalSink<'_>) {
        if self.verbose.is_none() {
            self.verbose = Some(Verbose::default());
            self.talk.expect_results();
            self.set_format("verbose", out);
        }
    }

    /// Lines that begin with a letter.
    fn worded(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if line == "Resume this session with:" || line.starts_with("Goodbye! ⚕") {
            self.close(out);
            self.ended = true;
            self.goodbye |= line.starts_with('G');
        } else if self.ended && self.on_summary(line, out) {
        } else if let Some(id) = line.strip_prefix("Session not found: ") {
            let known = !self.started || is_session_id(id);
            if known && !self.talk.has_spoken() {
                self.unknown_session = Some(line.to_owned());
            }
            return false;
        } else if line.starts_with("(clarify timed out after ") {
            clarified(line, out);
        } else if let Some(rest) = line.strip_prefix("[subagent-") {
            let Some((id, text)) = rest.split_once("] ") else {
                return false;
            };
            let task = Task {
                task_id: Some(format!("subagent-{id}")),
                tool_call_id: None,
                status: "progress".to_owned(),
                description: Some(text.to_owned()),
            };
            out.emit(Signal::Event(task.into()));
        } else {
            return false;
        }
        true
    }

    fn on_summary(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        let Some((label, value)) = line.split_once(':') else {
            return false;
        };
        let value = value.trim_start();
        match label {
            "Session" if is_session_id(value) => out.emit(Signal::Session(value)),
            "Session" | "Messages" => {}
            "Title" => out.emit(Signal::Metadata("title", value.into())),
            "Duration" => self.duration_ms = session::clock(value),
            _ => return false,
        }
        true
    }

    fn on_tool(&mut self, tool: &ToolLine<'_>, rank: u8, out: &mut SignalSink<'_>) {
        match tool {
            ToolLine::Preparing(name) => {
                self.went_on();
                self.streamed = true;
                self.talk.prepare(name, out);
            }
            ToolLine::Done(done) => {
                self.went_on();
                if !self.streamed && self.verbose.is_none() {
                    self.set_format("nostream", out);
                }
                self.talk.done(done, out);
            }
            ToolLine::ReviewDiff => self.diff = Some((Diff::default(), rank)),
            ToolLine::Said(_) | ToolLine::Begun(_) => {}
        }
    }

    /// Work after a failure or after the summary: neither was the end.
    fn went_on(&mut self) {
        self.report.recover();
        self.error_text.clear();
        self.ended = false;
        self.interrupted = None;
        self.started = true;
    }

    fn open_panel(&mut self, rank: u8, out: &mut SignalSink<'_>) {
        self.close(out);
        if self.report.has_failed() {
            self.error_text.clear();
            self.open_as(Open::ErrorPanel, rank);
            return;
        }
        if !self.streamed && self.verbose.is_none() {
            self.set_format("nostream", out);
        }
        self.talk.open_box(out);
        self.open_as(Open::Panel, rank);
    }

    fn open_as(&mut self, open: Open, rank: u8) {
        self.open = open;
        self.rank = if rank == u8::MAX { 0 } else { rank };
        self.text = Boxed::default();
    }

    /// Closes what is open.
    fn close(&mut self, out: &mut SignalSink<'_>) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Answer | Open::Panel => self.talk.close_box(out),
            Open::Reasoning { .. } => self.talk.end_thinking(out),
            Open::ErrorPanel | Open::Nothing => {}
        }
        self.rank = 0;
    }

    fn end_diff(&mut self, out: &mut SignalSink<'_>) {
        if let Some((diff, _)) = self.diff.take() {
            self.talk.diff(diff, out);
        }
    }

    fn set_format(&mut self, format: &'static str, out: &mut SignalSink<'_>) {
        if self.format != format {
            self.format = format;
            out.emit(Signal::Format(format));
        }
    }

    /// Ends the reading and says how the run ended, if the output tells.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        self.end_diff(out);
        if let Some(verbose) = &mut self.verbose {
            verbose.close(&mut self.talk, out);
        }
        self.talk.finish(!self.ended, out);
        if let Some(verdict) = self.verdict() {
            let answer = self.report.was_empty().then(|| "".into());
            let duration_ms = self.duration_ms;
            let outcome = Outcome {
                answer,
                duration_ms,
                ..Outcome::of(verdict)
            };
            out.emit(Signal::Result(outcome));
        }
    }

    fn verdict(&self) -> Option<Verdict> {
        if let Some(message) = &self.unknown_session
            && !self.talk.has_spoken()
        {
            return Some(Verdict::Error(report::unknown_session(message)));
        }
        if self.report.has_failed() {
            let text = (!self.error_text.is_empty()).then_some(self.error_text.as_str());
            return Some(Verdict::Error(self.report.error(text)));
        }
        // Without the summary the output was cut, whatever the exit code.
        if !self.ended {
            return None;
        }
        if let Some(verdict) = self.report.limit_verdict() {
            return Some(verdict);
        }
        let error = |name: &str, message: &str| {
            let family = runtape_core::ErrorFamily::Other;
            Some(Verdict::Error(crate::failure::error(name, message, family)))
        };
        if let Some(message) = &self.interrupted {
            return error("Interrupted", message);
        }
        if self.goodbye && !self.talk.has_spoken() {
            let message = self
                .complaint
                .as_deref()
                .unwrap_or("the run ended without a message");
            return error("NoMessages", message);
        }
        Some(Verdict::Success)
    }
}

/// Tells of a session that is continued.
pub(super) fn resumed(line: &str, rest: &str, out: &mut SignalSink<'_>) {
    if let Some(id) = leading_session_id(rest) {
        out.emit(Signal::Session(id));
    }
    info(None, line, out);
}

/// Tells of a question that nobody answered.
pub(super) fn clarified(line: &str, out: &mut SignalSink<'_>) {
    let interaction = Interaction {
        phase: "response".to_owned(),
        query_type: "clarify".to_owned(),
        query_id: None,
        payload: Some(line.trim_matches(['(', ')']).into()),
    };
    out.emit(Signal::Event(interaction.into()));
}

fn info(topic: Option<&str>, message: &str, out: &mut SignalSink<'_>) {
    let info = Info {
        topic: topic.map(str::to_owned),
        message: message.to_owned(),
    };
    out.emit(Signal::Event(info.into()));
}

/// Reads `✓ [2/2] <goal>  (0.7s)`.
pub(super) fn finished_task(rest: &str) -> Option<Task> {
    let (status, rest) = match rest.strip_prefix("✓ [") {
        Some(rest) => ("completed", rest),
        None => ("failed", rest.strip_prefix("✗ [")?),
    };
    let (number, description) = rest.split_once("] ")?;
    Some(Task {
        task_id: Some(number.to_owned()),
        tool_call_id: None,
        status: status.to_owned(),
        description: Some(description.to_owned()),
    })
}

fn is_rule(line: &str) -> bool {
    line.chars().all(|c| c == '─')
}

/// Tells whether a line is the lower border of a reasoning box of this width.
fn is_bottom(line: &str, width: usize) -> bool {
    let inner = line
        .strip_prefix('└')
        .and_then(|rest| rest.strip_suffix('┘'));
    inner.is_some_and(|inner| is_rule(inner) && inner.chars().count() + 2 == width)
}

/// ` ─  ⚕ Hermes  ───… `
fn is_panel_top(line: &str) -> bool {
    let rest = line
        .strip_prefix(" ─  ")
        .and_then(|rest| rest.trim_end().strip_suffix('─'));
    rest.is_some_and(|rest| rest.contains("  ─") || rest.ends_with("  "))
}

/// ` ───…─── `
fn is_panel_bottom(line: &str) -> bool {
    let rest = line
        .strip_prefix(' ')
        .map(|rest| rest.trim_end_matches(' '));
    rest.is_some_and(|rest| rest.len() > 30 && is_rule(rest))
}
