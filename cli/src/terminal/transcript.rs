//! A transcript for people: thinking marked and dimmed, tool calls as cards with what they write, errors
//! red.

use std::collections::HashMap;
use std::fmt::Write as _;

use runtape_core::transcript::{RunResult, ToolCall, ToolResult};
use runtape_core::{Record, RecordKind, TranscriptEntry, TranscriptKind};

use crate::error::CliError;
use crate::terminal::call_input::{self, Change};
use crate::terminal::console::{Console, Tone};
use crate::terminal::fit::cut;
use crate::terminal::plain;
use crate::terminal::table::{plural, thousands};
use crate::terminal::times;

/// Lines of a tool's result that are shown; the rest is counted.
const RESULT_LINES: usize = 12;

/// Lines of what a tool writes that are shown; the rest is counted.
const WRITTEN_LINES: usize = 12;

/// Stands before each line of reasoning, so that it is told from speech without colour, too.
const THINKING_MARK: &str = "~ ";

/// Writes the entries of a transcript.
#[derive(Default)]
pub(crate) struct TranscriptPrinter {
    /// Whether the last entry was text that has not ended its line.
    open: Option<Tone>,
    /// How long calls took, where the runtime or the times of two records tell.
    durations: HashMap<String, u64>,
    /// Show all of every call and result.
    pub(crate) full: bool,
}

impl TranscriptPrinter {
    /// Learns how long calls took, before their results are printed.
    pub(crate) fn learn(&mut self, record: &Record) {
        if let RecordKind::Message(message) = &record.kind {
            for note in &message.results {
                if let Some(duration) = note.duration_ms {
                    self.durations
                        .insert(note.tool_call_id.to_string(), duration);
                }
            }
        }
    }

    /// Ends a line that is still open.
    pub(crate) fn close(&mut self, console: &mut Console<'_>) -> Result<(), CliError> {
        if self.open.take().is_some() {
            console.line("")?;
        }
        Ok(())
    }

    /// Writes one entry.
    pub(crate) fn print(
        &mut self,
        console: &mut Console<'_>,
        entry: &TranscriptEntry,
    ) -> Result<(), CliError> {
        match &entry.kind {
            TranscriptKind::Assistant(text) => self.text(
                console,
                Tone::Plain,
                "",
                &text.text,
                text.delta == Some(true),
            ),
            TranscriptKind::Thinking(text) => {
                let is_delta = text.delta == Some(true);
                self.text(console, Tone::Faint, THINKING_MARK, &text.text, is_delta)
            }
            other => {
                self.close(console)?;
                self.block(console, other)
            }
        }
    }

    /// Writes text that may go on in the next entry, with a mark before each line.
    fn text(
        &mut self,
        console: &mut Console<'_>,
        tone: Tone,
        mark: &str,
        text: &str,
        goes_on: bool,
    ) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        if self.open.is_some_and(|open| open != tone || !goes_on) {
            self.close(console)?;
        }
        let text = plain::lines(text);
        let mut marked = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let is_first = marked.is_empty();
            if !is_first || self.open.is_none() {
                // Nothing follows the mark of an empty line, not even a space.
                marked.push_str(if line == "\n" { mark.trim_end() } else { mark });
            }
            marked.push_str(line);
        }
        let painted = console.paint(tone, &marked);
        write!(console.out, "{painted}")?;
        console.out.flush()?;
        self.open = Some(tone);
        if text.ends_with('\n') || !goes_on {
            self.open = None;
            if !text.ends_with('\n') {
                console.line("")?;
            }
        }
        Ok(())
    }

    fn block(&mut self, console: &mut Console<'_>, kind: &TranscriptKind) -> Result<(), CliError> {
        match kind {
            TranscriptKind::Init(init) => {
                let session = if init.session_id.is_empty() {
                    String::new()
                } else {
                    format!(", session {}", init.session_id)
                };
                note(
                    console,
                    Tone::Faint,
                    "·",
                    &format!("{}{session}", init.model),
                )
            }
            TranscriptKind::User(user) => note(console, Tone::Strong, ">", &user.text),
            TranscriptKind::ToolCall(call) => self.card(console, call),
            TranscriptKind::ToolResult(result) => self.result(console, result),
            TranscriptKind::Stderr(text) => note(console, Tone::Warning, "!", &text.text),
            TranscriptKind::System(text) => note(console, Tone::Faint, "·", &text.text),
            TranscriptKind::Stdout(text) => note(console, Tone::Faint, " ", &text.text),
            TranscriptKind::Diff(line) => {
                let tone = match line.change_type.as_str() {
                    "add" => Tone::Good,
                    "remove" => Tone::Bad,
                    _ => Tone::Faint,
                };
                note(console, tone, " ", &line.text)
            }
            TranscriptKind::Result(result) => {
                let tone = if result.is_error {
                    Tone::Bad
                } else {
                    Tone::Good
                };
                let mark = if result.is_error { "✗" } else { "✓" };
                // How the run went is the run's to say: the entry has no more than its error.
                let errors = result.errors.iter().map(|error| plain::one_line(error));
                let mut text = match errors.collect::<Vec<_>>().join(": ") {
                    none if none.is_empty() => result.subtype.clone(),
                    errors => errors,
                };
                text.push_str(&used(result));
                note(console, tone, mark, &text)
            }
            _ => Ok(()),
        }
    }

    /// Writes a tool call: its name, what it is about, and what it writes.
    fn card(&self, console: &mut Console<'_>, call: &ToolCall) -> Result<(), CliError> {
        let name = console.paint(Tone::Name, &plain::one_line(&call.name));
        let room = console.width.saturating_sub(call.name.chars().count() + 5);
        let mut about = plain::one_line(&call_input::about(&call.input));
        if !self.full {
            about = cut(&about, room);
        }
        console.line(format!("  ┌ {name} {about}").trim_end())?;
        let written = call_input::written(&call.input);
        let shown = if self.full {
            written.len()
        } else {
            WRITTEN_LINES
        };
        for (change, line) in written.iter().take(shown) {
            let (mark, tone) = match change {
                Change::Added => ('+', Tone::Good),
                Change::Removed => ('-', Tone::Bad),
                Change::Kept => (' ', Tone::Faint),
            };
            let mut line = plain::one_line(line);
            if !self.full {
                line = cut(&line, console.width.saturating_sub(6));
            }
            let line = console.paint(tone, &format!("  │ {mark} {line}"));
            console.line(line.trim_end())?;
        }
        if written.len() > shown {
            let rest = plural(written.len() - shown, "more line");
            let line = console.paint(Tone::Faint, &format!("  │ … {rest}"));
            console.line(&line)?;
        }
        Ok(())
    }

    fn result(&mut self, console: &mut Console<'_>, result: &ToolResult) -> Result<(), CliError> {
        let tone = if result.is_error {
            Tone::Bad
        } else {
            Tone::Faint
        };
        let duration = self.durations.remove(&result.tool_use_id);
        let duration = duration
            .and_then(|ms| i64::try_from(ms).ok())
            .map(times::duration);
        let text = plain::lines(result.content.trim_end());
        let lines: Vec<&str> = text.lines().collect();
        let shown = if self.full { lines.len() } else { RESULT_LINES };
        for line in lines.iter().take(shown) {
            let line = if self.full {
                (*line).to_owned()
            } else {
                cut(line, console.width.saturating_sub(4))
            };
            let line = console.paint(tone, &format!("  │ {line}"));
            console.line(&line)?;
        }
        let mut end = if result.is_error {
            "failed".to_owned()
        } else {
            "done".to_owned()
        };
        if lines.len() > shown {
            end = format!("{end}, {} more lines", lines.len() - shown);
        }
        if let Some(duration) = duration {
            end = format!("{end}, {duration}");
        }
        let line = console.paint(tone, &format!("  └ {end}"));
        console.line(&line)
    }
}

/// Returns the tokens and the cost of a run, as far as they are known.
fn used(result: &RunResult) -> String {
    let count = |count: u64| thousands(i64::try_from(count).unwrap_or(i64::MAX));
    let counts = [
        (result.input_tokens, "in"),
        (result.cached_tokens, "cached"),
        (result.output_tokens, "out"),
    ];
    let has_any = counts.iter().any(|(number, _)| *number > 0);
    // A run that read nothing from a cache need not say so.
    let counts = counts
        .iter()
        .filter(|(number, name)| *number > 0 || *name != "cached");
    let counts: Vec<String> = counts
        .map(|(number, name)| format!("{} {name}", count(*number)))
        .collect();
    let mut text = String::new();
    if has_any {
        let _ = write!(text, " · {}", counts.join(", "));
    }
    match result.cost_usd {
        cost if cost <= 0.0 => {}
        // A cent and less is all that many runs cost.
        cost if cost < 0.01 => {
            let _ = write!(text, " · ${cost:.6}");
        }
        cost => {
            let _ = write!(text, " · ${cost:.4}");
        }
    }
    text
}

/// Writes a text with a mark before it, further lines below it.
fn note(console: &mut Console<'_>, tone: Tone, mark: &str, text: &str) -> Result<(), CliError> {
    let text = plain::lines(text.trim_end());
    for (index, line) in text.lines().enumerate() {
        let mark = if index == 0 { mark } else { " " };
        let line = console.paint(tone, &format!("{mark} {line}"));
        console.line(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use runtape_core::transcript::{Assistant, Init, Stderr, Stdout, System, Thinking, User};
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_are_joined_and_escapes_are_harmless() {
        let mut out = Vec::new();
        let mut console = Console::new(&mut out, false);
        (console.colour, console.width) = (false, 40);
        let mut printer = TranscriptPrinter::default();
        let entries: Vec<TranscriptKind> = vec![
            Assistant::new("Hel", true).into(),
            Assistant::new("lo \u{1b}[2J", true).into(),
            ToolCall {
                name: "Bash".into(),
                input: json!({"command": "ls\n-l"}),
                tool_use_id: Some("a".into()),
            }
            .into(),
            ToolResult {
                tool_use_id: "a".into(),
                tool_name: None,
                content: "x\ny\n".into(),
                is_error: true,
                duration_ms: None,
            }
            .into(),
            RunResult {
                text: String::new(),
                input_tokens: 5,
                output_tokens: 7,
                cached_tokens: 0,
                cost_usd: 0.5,
                subtype: "completed".into(),
                is_error: false,
                errors: vec![],
            }
            .into(),
        ];
        for kind in entries {
            printer
                .print(&mut console, &TranscriptEntry::new(0, kind))
                .unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        let expected = "Hello ␛[2J\n  ┌ Bash ls -l\n  │ x\n  │ y\n  └ failed\n✓ completed · 5 in, 7 out · $0.5000\n";
        assert_eq!(text, expected);
    }

    fn printed(kinds: Vec<TranscriptKind>) -> String {
        let mut out = Vec::new();
        let mut console = Console::new(&mut out, false);
        (console.colour, console.width) = (false, 60);
        let mut printer = TranscriptPrinter::default();
        for kind in kinds {
            let entry = TranscriptEntry::new(0, kind);
            printer.print(&mut console, &entry).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn reasoning_is_marked_line_by_line_however_it_comes() {
        let thinking = |text: &str, delta| Thinking::new(text, delta).into();
        let text = printed(vec![
            thinking("One", true),
            thinking(" two\n", true),
            thinking("\nthree", true),
            Assistant::new("Said.", false).into(),
            thinking("a\nb", false),
        ]);
        assert_eq!(text, "~ One two\n~\n~ three\nSaid.\n~ a\n~ b\n");
    }

    #[test]
    fn a_card_shows_what_is_written_until_it_is_too_much() {
        let call = |input: serde_json::Value| -> TranscriptKind {
            ToolCall {
                name: "Write".to_owned(),
                input,
                tool_use_id: None,
            }
            .into()
        };
        let lines: Vec<String> = (0..20).map(|n| format!("line {n}\n")).collect();
        let text = printed(vec![
            call(json!({"file_path": "/a", "old_string": "x\u{1b}[2J", "new_string": "y"})),
            call(json!({"file_path": "/b", "content": lines.concat()})),
            call(json!({"pattern": "TODO", "path": "src"})),
        ]);
        let expected = "  ┌ Write /a\n  │ - x␛[2J\n  │ + y\n  ┌ Write /b\n  │ + line 0\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.ends_with("  │ + line 11\n  │ … 8 more lines\n  ┌ Write TODO in src\n"),
            "{text}"
        );
    }

    #[test]
    fn every_kind_of_entry_is_shown() {
        let text = |text: &str| text.to_owned();
        let kinds: Vec<TranscriptKind> = vec![
            Init {
                model: text("model-1"),
                session_id: text("s-1"),
            }
            .into(),
            User {
                text: text("Do it."),
            }
            .into(),
            Thinking::new("Hm.", false).into(),
            Assistant::new("I will.", false).into(),
            ToolCall {
                name: text("Bash"),
                input: json!({"command": "ls"}),
                tool_use_id: Some(text("c")),
            }
            .into(),
            ToolResult {
                tool_use_id: text("c"),
                tool_name: None,
                content: text("a"),
                is_error: false,
                duration_ms: None,
            }
            .into(),
            Stderr {
                text: text("warning: x"),
            }
            .into(),
            System {
                text: text(
                    "stdout line 3 not understood: a message of unknown type\n{\"type\":\"new\"}",
                ),
            }
            .into(),
            Stdout {
                text: text("a banner"),
            }
            .into(),
            RunResult {
                text: String::new(),
                input_tokens: 1200,
                output_tokens: 7,
                cached_tokens: 900,
                cost_usd: 0.0042,
                subtype: text("stoppedByError"),
                is_error: true,
                errors: vec![text("boom")],
            }
            .into(),
        ];
        let expected = "\
· model-1, session s-1
> Do it.
~ Hm.
I will.
  ┌ Bash ls
  │ a
  └ done
! warning: x
· stdout line 3 not understood: a message of unknown type
  {\"type\":\"new\"}
  a banner
✗ boom · 1,200 in, 900 cached, 7 out · $0.004200
";
        assert_eq!(printed(kinds), expected);
    }
}
