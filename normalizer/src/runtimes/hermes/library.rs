//! hermes as a library, and older versions of its CLI: lines until the answer.
//!
//! The answer is the first line that is none of the known ones; from there on everything is answer,
//! also what looks like tool lines.

use runtape_core::RunId;
use runtape_core::runtime_event::Info;

use super::diff::Diff;
use super::report::{Report, Reported};
use super::subagents::{Branch, Subagents};
use super::talk::Talk;
use super::text::{Boxed, Plain, is_blank};
use super::tool_line::{self, Begun, ToolLine};
use super::tools::DELEGATE;
use crate::exit::Exit;
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// The longest error text that is kept.
const MOST_ERROR: usize = 64 * 1024;

/// What the next line may go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing.
    Between,
    /// A text that the model said before its calls.
    Said,
    /// The answer.
    Answer,
    /// What hermes says of a failure where the answer would be.
    ErrorText,
}

/// Reads the output of the library.
#[derive(Debug)]
pub(super) struct Library {
    phase: Phase,
    said: Boxed,
    answer: Plain,
    talk: Talk,
    subagents: Subagents,
    diff: Option<Diff>,
    report: Report,
    error_text: String,
    /// The tool that a spinner shows at work, until its completion line.
    spinning: Option<(&'static str, String)>,
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
            phase: Phase::Between,
            said: Boxed::default(),
            answer: Plain::default(),
            talk: Talk::new(run.clone()),
            subagents: Subagents::new(run),
            diff: None,
            report: Report::default(),
            error_text: String::new(),
            spinning: None,
            indented: None,
            blank: false,
            cut: false,
        }
    }

    /// Reads a line.
    pub(super) fn push(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        self.cut = ending == Ending::None;
        match self.phase {
            Phase::Answer => return self.push_answer(line, ending, out),
            Phase::ErrorText => return self.push_error(line),
            Phase::Between | Phase::Said => {}
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
        if self.phase == Phase::Said {
            if let Some(text) = self.said.push(line) {
                self.talk.text(text, out);
            }
            return;
        }
        if self.report.take(line, out) == Reported::Part {
            if let Some(model) = self.report.take_model() {
                out.emit(Signal::Model(&model));
            }
            return;
        }
        if is_blank(line) {
            self.blank = true;
            return;
        }
        if self.report.has_failed() {
            self.phase = Phase::ErrorText;
            return self.push_error(line);
        }
        self.phase = Phase::Answer;
        self.talk.open_box(out);
        self.push_answer(line, ending, out);
    }

    fn push_answer(&mut self, line: &str, ending: Ending, out: &mut SignalSink<'_>) {
        let text = self.answer.push(line, ending);
        self.talk.text(text, out);
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
        // What a text goes on with stands at column 0: a mark there is the model's own.
        let indented = trimmed.len() < line.len();
        if self.phase == Phase::Said && self.indented == Some(true) && !indented {
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
            self.spinning = spinner_call(rest);
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
            out.emit(Signal::Event(info.into()));
            return true;
        }
        if let Some(branch) = Branch::parse(trimmed) {
            self.end_said(out);
            if self.subagents.needs_call(&branch) {
                let ordinal = self.talk.prepare(DELEGATE, out);
                self.subagents.open(ordinal);
                self.spinning = None;
            }
            self.subagents.take(&branch, out);
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
        match tool {
            ToolLine::Said(text) => {
                self.phase = Phase::Said;
                self.said = Boxed::default();
                self.talk.open_box(out);
                if let Some(text) = self.said.push(text) {
                    self.talk.text(text, out);
                }
            }
            ToolLine::Preparing(name) => {
                self.talk.prepare(name, out);
            }
            ToolLine::Begun(begun) => self.talk.begin(begun, out),
            ToolLine::Done(done) => {
                self.spinning = None;
                if done.tool == Some(DELEGATE) {
                    self.subagents.end(done.failure, out);
                }
                self.talk.done(done, out);
            }
            ToolLine::ReviewDiff => self.diff = Some(Diff::default()),
        }
    }

    fn end_said(&mut self, out: &mut SignalSink<'_>) {
        if self.phase == Phase::Said {
            self.phase = Phase::Between;
            self.talk.close_box(out);
        }
    }

    fn end_diff(&mut self, out: &mut SignalSink<'_>) {
        if let Some(diff) = self.diff.take() {
            self.talk.diff(diff, out);
        }
    }

    /// Ends the reading and says how the run ended, as far as the output and the exit tell.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        self.end_diff(out);
        if let Some((tool, detail)) = self.spinning.take() {
            self.talk.begin(
                &Begun {
                    tool,
                    detail: &detail,
                },
                out,
            );
        }
        let failed = exit.is_failure();
        if self.phase == Phase::Between && self.blank && !self.report.has_failed() && !failed {
            self.phase = Phase::Answer;
            self.talk.open_box(out);
            self.talk.text("", out);
        }
        self.talk.finish(self.cut && failed, out);
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
        if failed || self.phase != Phase::Answer {
            return;
        }
        let verdict = self.report.limit_verdict().unwrap_or(Verdict::Success);
        out.emit(Signal::Result(Outcome::of(verdict)));
        if exit.is_unknown() {
            out.emit(Signal::Metadata("exitUnknown", true.into()));
        }
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
        let detail = rest.strip_prefix(' ')?.strip_prefix(phrase)?;
        Some((*tool, detail.to_owned()))
    })
}

/// Tells whether a first line is one that only the library prints.
pub(super) fn is_library_line(line: &str) -> bool {
    let trimmed = line.trim_start_matches([' ', '\r']);
    trimmed.starts_with("[tool] ")
        || trimmed.starts_with("[hermes] ")
        || line.starts_with("🧾 Request debug dump written to: ")
        || line.starts_with("⚠️  API call failed (attempt ")
        || line.starts_with("⚠️ Empty response from model — retrying (")
        || Branch::parse(trimmed).is_some()
        || (trimmed.starts_with(['┊', '[']) && tool_line::of_library(line).is_some())
}
