//! Helpers for the tests of this runtime.

use runtape_core::{JobId, Record, RunId, RunSummary, Runtime, Stream, summarize};

use crate::parser::SignalSink;
use crate::signal::{Emitted, Place};
use crate::{Context, Exit, Normalizer};

/// Collects what a piece of a parser emits.
pub(super) fn collect(work: impl FnOnce(&mut SignalSink<'_>)) -> Vec<String> {
    let mut seen = Vec::new();
    let mut apply = |emitted: Emitted<'_>| seen.push(format!("{:?}", emitted.signal));
    let place = Place {
        span: None,
        line: 0,
        at: 0,
    };
    work(&mut SignalSink::new(place, &mut apply));
    seen
}

/// A context that knows its ids, and the command line if one is given.
pub(super) fn context(argv: &[&str]) -> Context {
    let job = JobId::parse("job-1").unwrap();
    let mut context = Context::new(job, RunId::parse("run-1").unwrap());
    if !argv.is_empty() {
        context.argv = Some(argv.iter().map(|word| (*word).to_owned()).collect());
    }
    context
}

/// Returns the summary of an output in a context.
pub(super) fn summary_of(context: Context, stdout: &str, stderr: &str, exit: &Exit) -> RunSummary {
    summarize(&records_of(context, stdout, stderr, exit)).unwrap()
}

/// Returns the records of an output in a context.
pub(super) fn records_of(context: Context, stdout: &str, stderr: &str, exit: &Exit) -> Vec<Record> {
    let mut normalizer = Normalizer::new(Runtime::Hermes, context).unwrap();
    let mut records = normalizer
        .push(Stream::Stdout, stdout.as_bytes(), 1)
        .records;
    records.extend(
        normalizer
            .push(Stream::Stderr, stderr.as_bytes(), 1)
            .records,
    );
    records.extend(normalizer.finish(exit).records);
    records
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
