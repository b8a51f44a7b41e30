//! Whole outputs, from bytes to the summary.

mod acp;
mod chat;
mod disguises;
mod endings;
mod library;
mod quiet;
mod refusals;
mod steps;

use runtape_core::{Record, RunSummary, Runtime};

use super::ENTRY;
use crate::testing::{PrintedRun, context};
use crate::{Context, Exit, detect};

/// Returns the summary of an output in a context.
pub(super) fn summary_of(context: Context, stdout: &str, stderr: &str, exit: &Exit) -> RunSummary {
    printed(context, stdout, stderr, exit).summary()
}

/// Returns the records of an output in a context.
pub(super) fn records_of(context: Context, stdout: &str, stderr: &str, exit: &Exit) -> Vec<Record> {
    printed(context, stdout, stderr, exit).records()
}

fn printed<'a>(context: Context, stdout: &'a str, stderr: &'a str, exit: &Exit) -> PrintedRun<'a> {
    PrintedRun {
        runtime: Runtime::Hermes,
        context,
        stdout,
        stderr,
        exit: exit.clone(),
    }
}

/// Returns the summary of what a process printed that ended with code 0.
pub(super) fn summary(stdout: &str) -> RunSummary {
    summary_of(context(&[]), stdout, "", &Exit::with_code(0))
}

/// Returns what `hermes chat` prints to a pipe around a body. Its lines end in `\r\n`, but for
/// those that begin with `\u{1}`.
pub(super) fn chat(body: &str) -> String {
    let body = screen(body);
    format!(
        "Query: Do it.\nInitializing agent...\r\n{}\r\n\n{body}\nResume this session with:\n  \
         hermes --resume 20261115_234656_5eb98f\n\nSession:        20261115_234656_5eb98f\n\
         Duration:       1m 2s\nMessages:       4 (1 user, 2 tool calls)\n",
        "─".repeat(40)
    )
}

/// Gives lines the ends that they have in a pipe.
pub(super) fn screen(body: &str) -> String {
    let end = |line: &str| match line.strip_prefix('\u{1}') {
        Some(line) => format!("{line}\n"),
        None => format!("{line}\r\n"),
    };
    body.lines().map(end).collect()
}

/// An answer box of 80 columns.
pub(super) fn answer(lines: &[&str]) -> String {
    let lines = lines.join("\n    ");
    format!("\n{}\n    {lines}\n{}\n", answer_top(), answer_bottom())
}

/// The upper border of an answer box.
pub(super) fn answer_top() -> String {
    format!("╭─ ⚕ Hermes {}╮", "─".repeat(67))
}

/// The lower border of an answer box.
pub(super) fn answer_bottom() -> String {
    format!("╰{}╯", "─".repeat(78))
}

/// A reasoning box of 80 columns.
pub(super) fn reasoning(lines: &[&str]) -> String {
    let lines = lines.join("\n");
    format!("\n{}\n{lines}\n└{}┘\n", reasoning_top(), "─".repeat(78))
}

/// The upper border of a reasoning box.
pub(super) fn reasoning_top() -> String {
    format!("┌─ Reasoning {}┐", "─".repeat(66))
}

/// A panel of 80 columns.
pub(super) fn panel(lines: &[&str]) -> String {
    let line = |text: &str| format!("     {text:<75}\n");
    let lines: String = lines.iter().map(|text| line(text)).collect();
    let blank = " ".repeat(80);
    format!(
        " ─  ⚕ Hermes  {} \n{blank}\n{lines}{blank}\n {} \n",
        "─".repeat(65),
        "─".repeat(78)
    )
}

#[test]
fn outputs_are_recognized_by_their_beginning() {
    let table = [
        ("chat", "Query: x\nInitializing agent...\r\n", true),
        (
            "terminal",
            "\u{1b}]11;?\u{1b}\\\u{1b}[1;34mQuery:\u{1b}[0m x\r\nInitializing agent...\r\r\n",
            true,
        ),
        ("leak", "\r\n┌─ Reasoning ────┐\r\n", true),
        ("library", "  ┊ 💬 Reading first.\n", true),
        ("sample", "[hermes] Session resumed: abc123\n", true),
        (
            "acp",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"agentInfo\":{\"name\":\"hermes-agent\"}}}\n",
            true,
        ),
        (
            "another agent",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
            false,
        ),
        ("text", "Hello.\n", false),
        ("prompt", "Query: what?\n", false),
        ("nothing", "", false),
    ];
    for (name, text, expected) in table {
        let found = detect(text.as_bytes());
        assert_eq!(found == Some(Runtime::Hermes), expected, "{name}");
    }
}

#[test]
fn the_prompt_is_found_in_the_command_line() {
    let table: [(&[&str], Option<&str>); 3] = [
        (&["hermes", "chat", "-q", "Do it.", "-Q"], Some("Do it.")),
        (&["hermes", "-z", "Do it."], Some("Do it.")),
        (&["hermes", "acp"], None),
    ];
    for (argv, expected) in table {
        assert_eq!(
            (ENTRY.query)(&context(argv)).as_deref(),
            expected,
            "{argv:?}"
        );
    }
}

#[test]
fn the_command_line_decides_where_an_output_may_be_of_two_formats() {
    let exit = Exit::with_code(0);
    let text = "  ┊ 💻 $         ls  0.1s\nis what I saw.\n";
    let quiet = context(&["hermes", "chat", "-q", "x", "-Q"]);
    let summary = summary_of(quiet, text, "", &exit);
    assert_eq!(summary.final_text.as_deref(), text.strip_suffix('\n'));
    assert_eq!(summary.output_format.as_deref(), Some("quiet"));
    let library = context(&["drive_lib.py", "x"]);
    let summary = summary_of(library, "Plain.\n", "", &exit);
    assert_eq!(summary.output_format.as_deref(), Some("lib"));
    assert_eq!(summary.final_text.as_deref(), Some("Plain."));
}
