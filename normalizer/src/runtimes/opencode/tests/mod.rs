//! Whole outputs, from bytes to what is told of them.

mod attempts;
mod endings;
mod parts;

use runtape_core::{JobId, Record, RunId, RunSummary, Runtime, Stream, summarize};
use serde_json::{Value, json};

use crate::{Context, Exit, Kept, Normalizer};

const SESSION: &str = "ses_e1bed8f09ffecv3HScaUEK5EET";
const JSON: Option<&str> = Some("opencode run --format json Hi");
const TEXT: Option<&str> = Some("opencode run Hi");

/// When events were printed.
const AT: i64 = 1_794_827_797_451;

fn records(argv: Option<&str>, stdout: &str, stderr: &str, exit: &Exit) -> Vec<Record> {
    let mut context = Context::new(JobId::parse("j").unwrap(), RunId::parse("r").unwrap());
    context.argv = argv.map(|argv| argv.split(' ').map(str::to_owned).collect());
    let mut normalizer = Normalizer::new(Runtime::Opencode, context).unwrap();
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(stdout), 1)
        .records;
    records.extend(
        normalizer
            .push(Stream::Stderr, Kept::as_given(stderr), 1)
            .records,
    );
    records.extend(normalizer.finish(exit).records);
    records
}

fn read(argv: Option<&str>, stdout: &str, stderr: &str, exit: &Exit) -> RunSummary {
    summarize(&records(argv, stdout, stderr, exit)).unwrap()
}

fn event(tag: &str, rest: &Value) -> String {
    let mut event = json!({"type": tag, "timestamp": AT, "sessionID": SESSION});
    let object = event.as_object_mut().unwrap();
    object.extend(rest.as_object().unwrap().clone());
    format!("{event}\n")
}

/// An event with a part of a message.
fn part(tag: &str, message: &str, rest: &Value) -> String {
    let mut part = json!({"messageID": message, "sessionID": SESSION});
    let object = part.as_object_mut().unwrap();
    object.extend(rest.as_object().unwrap().clone());
    event(tag, &json!({"part": part}))
}

fn start(message: &str) -> String {
    part(
        "step_start",
        message,
        &json!({"id": format!("s_{message}"), "type": "step-start"}),
    )
}

fn text(message: &str, text: &str) -> String {
    part(
        "text",
        message,
        &json!({"id": "t", "type": "text", "text": text}),
    )
}

fn tool(message: &str, id: &str, tool: &str, state: &Value) -> String {
    let rest = json!({"type": "tool", "tool": tool, "callID": id, "state": state});
    part("tool_use", message, &rest)
}

fn finish(message: &str, reason: &str) -> String {
    let tokens = json!({"total": 97, "input": 10, "output": 20, "reasoning": 40,
        "cache": {"write": 3, "read": 24}});
    let rest = json!({"id": format!("f_{message}"), "type": "step-finish", "reason": reason,
        "tokens": tokens, "cost": 0.25});
    part("step_finish", message, &rest)
}

/// Tells the kinds and texts of notices.
fn notices(summary: &RunSummary) -> Vec<(&str, &str)> {
    let notices = summary.notices.iter();
    notices
        .map(|notice| (notice.kind.as_str(), notice.text.as_str()))
        .collect()
}
