//! hermes as a library, and older versions of its CLI: lines until the answer.
//!
//! The answer is the first line that is none of the known ones; from there on everything is answer,
//! also what looks like tool lines.

use runtape_core::RunId;
use runtape_core::runtime_event::Info;

use super::diff::Diff;
use super::failure::{FailureReport, ReportLine, is_head};
use super::long_completion::{Continued, LongCompletion};
use super::messages::Messages;
use super::notices::{self, CONTEXT_LIMIT, ended_task, is_compaction};
use super::refusal::is_refusal_line;
use super::subagents::{Branch, Subagents};
use super::text::{Boxed, MOST_ERROR, Plain, is_blank};
use super::tool_line::{self, CallOpening, ToolLine, is_batch, opens_completion};
use super::tools::DELEGATE;
use crate::exit::Exit;
use crate::framing::answer::answer_stands;
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// The most further lines of a preview, which has at most 38 characters.
const MOST_PREVIEW: u8 = 40;

/// What the next line may go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LibraryPhase {
    /// Nothing.
    Between,
    /// A text that the model said before its calls.
    Said,
    /// The answer.
    Answer,
    /// What hermes says of a failure where the answer would be.
    ErrorText,
}

/// What a spinner shows at work, until the completion line of that.
///
/// The answer cannot come before a tool has ended.
#[derive(Debug)]
enum Spinner {
    /// The model, or nothing.
    Model,
    /// A tool, and what is shown of its input.
    Tool(&'static str, String),
    /// A tool that is not told by its emoji alone, or whose call is already known.
    OtherTool,
}

impl Spinner {
    /// Reads what follows `[tool] `.
    fn of(rest: &str) -> Self {
        match spinner_call(rest) {
            Some((tool, detail)) => Self::Tool(tool, detail),
            None if shows_tool(rest) => Self::OtherTool,
            None => Self::Model,
        }
    }
}

/// Reads the output of the library.
#[derive(Debug)]
pub(super) struct Library {
    phase: LibraryPhase,
    said: Boxed,
    answer: Plain,
    messages: Messages,
    subagents: Subagents,
    diff: Option<Diff>,
    report: FailureReport,
    error_text: String,
    spinner: Spinner,
    long_completion: Option<LongCompletion>,
    /// How many more lines the preview of a sub-agent's call may go on for.
    preview_lines: u8,
    /// A failed request is being reported.
    is_reporting: bool,
    /// Lines of hermes are indented; only in the customer's sample they are not.
    indented: Option<bool>,
    /// A blank line was printed where the answer would be.
    blank: bool,
    cut: bool,
}

impl Library {
    /// Creates a reader.
    pub(super) fn new(run: RunId) -> Self {
        Self {
            phase: LibraryPhase::Between,
            said: Boxed::default(),
            answer: Plain::default(),
            messages: Messages::new(run.clone()),
            subagents: Subagents::new(run),
            diff: None,
            report: FailureReport::default(),
            error_text: String::new(),
            spinner: Spinner::Model,
            long_completion: None,
            preview_lines: 0,
            is_reporting: false,
            indented: None,
            blank: false,
            cut: false,
        }
    }

    /// Reads a line.
    pub(super) fn push(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        self.cut = ending == Ending::None;
        match self.phase {
            LibraryPhase::Answer => return self.push_answer(line, ending, out),
            LibraryPhase::ErrorText => return self.push_error(line),
            LibraryPhase::Between | LibraryPhase::Said => {}
        }
        let line = without_cleared(line);
        if self.push_long_completion(line, out) {
            return;
        }
        if let Some(diff) = &mut self.diff {
            if diff.take(line) {
                return;
            }
            self.end_diff(out);
        }
        if self.push_known(line, out) {
            return;
        }
        if self.phase == LibraryPhase::Said {
            if let Some(text) = self.said.push(line) {
                self.messages.text(text, out);
            }
            return;
        }
        if self.push_reported(line, out) || self.goes_on(line, out) {
            return;
        }
        if is_blank(line) {
            self.blank = true;
            return;
        }
        if self.report.has_failed() {
            self.phase = LibraryPhase::ErrorText;
            return self.push_error(line);
        }
        self.phase = LibraryPhase::Answer;
        self.messages.open_box(out);
        self.push_answer(line, ending, out);
    }

    /// Reads a line of what hermes reports of a failure or of the conversation's length.
    fn push_reported(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        let is_part = is_head(line) || (self.is_reporting && line.starts_with("   "));
        if is_part && self.report.take(line, out) == ReportLine::Part {
            self.is_reporting = true;
            if let Some(model) = self.report.take_model() {
                out.emit(Signal::Model(&model));
            }
            return true;
        }
        let is_notice = is_compaction(line)
            || line.starts_with(CONTEXT_LIMIT)
            || line.starts_with("  ⚠ tirith ");
        is_notice && notices::take(line, out)
    }

    /// Tells whether a line goes on with a command or a preview that has several (0.16).
    fn goes_on(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        if self.preview_lines > 0 {
            self.preview_lines = if line.ends_with('"') {
                0
            } else {
                self.preview_lines - 1
            };
            return true;
        }
        match &mut self.spinner {
            Spinner::Model => return false,
            Spinner::Tool(_, detail) if detail.len() < MOST_ERROR => {
                detail.push('\n');
                detail.push_str(line);
            }
            _ => notices::stray(line.to_owned(), out),
        }
        true
    }

    /// Reads a line that another one left open; `false` if none did.
    fn push_long_completion(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        let slot = &mut self.long_completion;
        let (text, place, is_whole) = match LongCompletion::push(slot, line, 0, out.place()) {
            Continued::No => return false,
            Continued::Open => return true,
            Continued::Over(text, place, is_whole) => (text, place, is_whole),
        };
        let out = &mut out.at(place);
        match tool_line::of_library(&text).filter(|_| is_whole) {
            Some(tool) => self.on_tool(&tool, out),
            None => notices::stray(text, out),
        }
        true
    }

    fn push_answer(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let text = self.answer.push(line, ending);
        self.messages.text(text, out);
    }

    fn push_error(&mut self, line: &str) {
        if self.error_text.len() < MOST_ERROR {
            if !self.error_text.is_empty() {
                self.error_text.push('\n');
            }
            self.error_text.push_str(line);
        }
    }

    /// Reads a line that belongs to hermes.
    fn push_known(&mut self, line: &str, out: &mut SignalSink<'_>) -> bool {
        let trimmed = line.trim_start_matches([' ', '\r']);
        if !matches!(trimmed.as_bytes().first(), Some(b'[' | 0xE2)) {
            return false;
        }
        // A sub-agent at work in the background; a text goes on after it.
        if notices::is_subagent_line(line) {
            return notices::take(line, out);
        }
        // What a text goes on with stands at column 0: a mark there is the model's own.
        let indented = trimmed.len() < line.len();
        if self.phase == LibraryPhase::Said && self.indented == Some(true) && !indented {
            return false;
        }
        let known = self.push_marked(line, trimmed, out);
        if known {
            self.indented.get_or_insert(indented);
        }
        known
    }

    fn push_marked(&mut self, line: &str, trimmed: &str, out: &mut SignalSink<'_>) -> bool {
        if let Some(rest) = trimmed.strip_prefix("[tool] ") {
            self.end_said(out);
            self.spinner = Spinner::of(rest);
            return true;
        }
        if trimmed.strip_prefix("[done] ").is_some_and(is_batch) {
            self.end_said(out);
            self.spinner = Spinner::Model;
            return true;
        }
        if let Some(task) = ended_task(line) {
            self.end_said(out);
            self.subagents.end_one(task.label(), task.is_error, out);
            task.emit(out);
            return true;
        }
        if let Some(rest) = trimmed.strip_prefix("[hermes] ") {
            self.end_said(out);
            if let Some(id) = rest
                .split_once("Session resumed: ")
                .map(|(_, id)| id.trim())
                && super::session::is_session_id(id)
            {
                out.emit(Signal::Session(id));
            }
            let info = Info {
                topic: Some("hermes".to_owned()),
                message: rest.to_owned(),
            };
            out.event(info);
            return true;
        }
        if let Some(branch) = Branch::parse(trimmed) {
            self.end_said(out);
            if self.subagents.needs_call(&branch) {
                let ordinal = self.messages.prepare_further(DELEGATE, out);
                self.subagents.open(ordinal, out);
                if let Spinner::Tool(..) = self.spinner {
                    self.spinner = Spinner::OtherTool;
                }
            }
            self.subagents.take(&branch, out);
            if trimmed.contains("  \"") && !trimmed.ends_with('"') {
                self.preview_lines = MOST_PREVIEW;
            }
            return true;
        }
        if opens_completion(line) {
            self.end_said(out);
            self.long_completion = LongCompletion::open(line, out.place(), 0);
            return true;
        }
        let Some(tool) = tool_line::of_library(line) else {
            return false;
        };
        self.on_tool(&tool, out);
        true
    }

    fn on_tool(&mut self, tool: &ToolLine<'_>, out: &mut SignalSink<'_>) {
        self.end_said(out);
        self.preview_lines = 0;
        self.is_reporting = false;
        match tool {
            ToolLine::Said(text) => {
                self.phase = LibraryPhase::Said;
                self.said = Boxed::default();
                self.messages.open_remark(out);
                if let Some(text) = self.said.push(text) {
                    self.messages.text(text, out);
                }
            }
            ToolLine::Preparing(name) => {
                self.messages.prepare(name, out);
            }
            ToolLine::Begun(begun) => self.messages.begin(begun, out),
            ToolLine::Done(done) => {
                self.spinner = Spinner::Model;
                let ordinal = self.messages.done(done, out);
                if done.tool == Some(DELEGATE) {
                    self.subagents
                        .call_over(ordinal, done.detail, done.failure, out);
                }
            }
            ToolLine::ReviewDiff => self.diff = Some(Diff::default()),
        }
    }

    fn end_said(&mut self, out: &mut SignalSink<'_>) {
        if self.phase == LibraryPhase::Said {
            self.phase = LibraryPhase::Between;
            self.messages.close_box(out);
        }
    }

    fn end_diff(&mut self, out: &mut SignalSink<'_>) {
        if let Some(diff) = self.diff.take() {
            self.messages.diff(diff, out);
        }
    }

    /// Ends the reading and says how the run ended, as far as the output and the exit tell.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        self.end_diff(out);
        if let Some(long) = self.long_completion.take() {
            notices::stray(long.text, out);
        }
        if let Spinner::Tool(tool, detail) = std::mem::replace(&mut self.spinner, Spinner::Model) {
            self.messages.begin(
                &CallOpening {
                    tool,
                    detail: &detail,
                },
                out,
            );
        }
        let failed = exit.is_failure();
        if self.phase == LibraryPhase::Between && self.blank && !self.report.has_failed() && !failed
        {
            self.phase = LibraryPhase::Answer;
            self.messages.open_box(out);
            self.messages.text("", out);
        }
        self.messages.finish(self.cut && failed, out);
        self.subagents.finish(out);
        if self.report.has_failed() {
            let text = (!self.error_text.is_empty()).then_some(self.error_text.as_str());
            let verdict = Verdict::Error(self.report.error(text));
            let answer = self.report.was_empty().then(|| "".into());
            out.emit(Signal::Result(Outcome {
                answer,
                ..Outcome::of(verdict)
            }));
            return;
        }
        if failed || exit.is_output_cut() || self.phase != LibraryPhase::Answer {
            return;
        }
        let verdict = self.report.limit_verdict(true).unwrap_or(Verdict::Success);
        answer_stands(exit, Outcome::of(verdict), out);
    }
}

/// Returns the tool that a spinner shows, by its emoji: `(★ω★) 💻 Running sleep 0.6`.
fn spinner_call(rest: &str) -> Option<(&'static str, String)> {
    const TOOLS: &[(&str, &str, &str)] = &[
        ("💻", "Running ", "terminal"),
        ("📖", "Reading ", "read_file"),
        ("✍️", "Writing ", "write_file"),
        ("🔧", "Editing ", "patch"),
        ("🔎", "Searching files for ", "search_files"),
        ("🔍", "Searching the web for ", "web_search"),
        ("🐍", "Running ", "execute_code"),
        ("🔀", "", "delegate_task"),
    ];
    TOOLS.iter().find_map(|(emoji, phrase, tool)| {
        let (_, rest) = rest.split_once(emoji)?;
        let detail = rest.strip_prefix(' ')?;
        // 0.16 shows the input without a phrase.
        let detail = detail.strip_prefix(phrase).unwrap_or(detail);
        Some((*tool, detail.to_owned()))
    })
}

/// Tells whether a spinner shows a tool at work, and not the model: it has the tool's emoji.
fn shows_tool(rest: &str) -> bool {
    const EMOJI: &[&str] = &[
        "💻", "⚙", "📖", "✍", "🔧", "🔎", "🔍", "📄", "🌐", "📸", "👆", "⌨", "↓", "↑", "→", "←",
        "◀", "🖼", "👁", "📋", "🧠", "📚", "🎨", "🔊", "📨", "⏰", "🐍", "🔀", "⚡", "❓",
    ];
    rest.split(' ')
        .any(|word| EMOJI.contains(&word.trim_end_matches('\u{fe0f}')))
}

/// Returns a line without what 0.16 writes to clear the spinner's line.
fn without_cleared(line: &str) -> &str {
    let blanks = line
        .strip_prefix('\r')
        .and_then(|rest| rest.split_once('\r'));
    match blanks {
        Some((blanks, rest)) if is_blank(blanks) => rest,
        _ => line,
    }
}

/// Tells whether a first line is one that only the library prints.
pub(super) fn is_library_line(line: &str) -> bool {
    let trimmed = line.trim_start_matches([' ', '\r']);
    trimmed.starts_with("[tool] ")
        || trimmed.starts_with("[hermes] ")
        || line.starts_with("🧾 Request debug dump written to: ")
        || line.starts_with("⚠️  API call failed (attempt ")
        || line.starts_with("⚠️ Empty response from model — retrying (")
        || is_refusal_line(line)
        || Branch::parse(trimmed).is_some()
        || (trimmed.starts_with(['┊', '['])
            && (tool_line::of_library(line).is_some() || opens_completion(line)))
}
