//! Whole outputs, from bytes to what is told of them.

mod endings;
mod items;
mod text;

use runtape_core::{JobId, Record, RunId, RunSummary, Runtime, Stream, summarize};
use serde_json::Value;

use crate::{Context, Exit, Kept, Normalizer};

const THREAD: &str = "01a1e40f-3839-7462-8ba4-4636a26c3aa5";
const STARTED: &str =
    r#"{"type":"thread.started","thread_id":"01a1e40f-3839-7462-8ba4-4636a26c3aa5"}"#;
const TURN: &str = r#"{"type":"turn.started"}"#;
const COMPLETED: &str = r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"cache_write_input_tokens":0,"output_tokens":3,"reasoning_output_tokens":1}}"#;

/// When lines were received.
const AT: i64 = 1_800_000_000_000;

fn records(argv: Option<&str>, stdout: &str, stderr: &str, exit: &Exit) -> Vec<Record> {
    let mut context = Context::new(JobId::parse("j").unwrap(), RunId::parse("r").unwrap());
    context.argv = argv.map(|argv| argv.split(' ').map(str::to_owned).collect());
    let mut normalizer = Normalizer::new(Runtime::Codex, context).unwrap();
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(stdout), AT)
        .records;
    records.extend(
        normalizer
            .push(Stream::Stderr, Kept::as_given(stderr), AT)
            .records,
    );
    records.extend(normalizer.finish(exit).records);
    records
}

fn read(argv: Option<&str>, stdout: &str, stderr: &str, exit: &Exit) -> RunSummary {
    summarize(&records(argv, stdout, stderr, exit)).unwrap()
}

/// Reads a turn of these lines that was completed, with the output alone.
fn turn(lines: &[&str]) -> RunSummary {
    let mut all = vec![STARTED, TURN];
    all.extend(lines);
    all.push(COMPLETED);
    let summary = read(None, &(all.join("\n") + "\n"), "", &Exit::with_code(0));
    assert_eq!(summary.output_format.as_deref(), Some("json"));
    summary
}

fn item(phase: &str, rest: &str) -> String {
    format!(r#"{{"type":"item.{phase}","item":{{{rest}}}}}"#)
}

fn message(number: u32, text: &str) -> String {
    let text = Value::from(text);
    item(
        "completed",
        &format!(r#""id":"item_{number}","type":"agent_message","text":{text}"#),
    )
}

/// Tells the kinds and texts of notices.
fn notices(summary: &RunSummary) -> Vec<(&str, &str)> {
    let notices = summary.notices.iter();
    notices
        .map(|notice| (notice.kind.as_str(), notice.text.as_str()))
        .collect()
}
