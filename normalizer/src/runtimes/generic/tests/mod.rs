//! What any program prints, from its lines to the summary of its run.

mod events;
mod text;
mod transcript;

use runtape_core::{JobId, Record, RunId, RunSummary, Runtime, Stream, summarize};
use serde_json::{Value, json};

use crate::{Context, Exit, Kept, Normalizer};

fn records(stdout: &str, stderr: &str, exit: &Exit) -> Vec<Record> {
    let context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
    let mut normalizer = Normalizer::new(Runtime::Generic, context).unwrap();
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(stdout), 7)
        .records;
    records.extend(
        normalizer
            .push(Stream::Stderr, Kept::as_given(stderr), 8)
            .records,
    );
    records.extend(normalizer.finish(exit).records);
    records
}

fn summary(stdout: &str, exit: &Exit) -> RunSummary {
    summarize(&records(stdout, "", exit)).unwrap()
}

fn printed(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// Returns the summary of a program that prints these lines and exits with 0.
fn told(lines: &[Value]) -> RunSummary {
    summary(&printed(lines), &Exit::with_code(0))
}

/// Returns an entry of a transcript.
fn entry(kind: &str, fields: Value) -> Value {
    let mut entry = json!({"ts": "2026-01-01T00:00:01.000Z", "kind": kind});
    let Value::Object(fields) = fields else {
        panic!("an object")
    };
    entry.as_object_mut().unwrap().extend(fields);
    entry
}

fn result(fields: Value) -> Value {
    let mut result = entry(
        "result",
        json!({"text": "", "inputTokens": 0, "outputTokens": 0, "cachedTokens": 0, "costUsd": 0,
            "subtype": "completed", "isError": false, "errors": []}),
    );
    let Value::Object(fields) = fields else {
        panic!("an object")
    };
    result.as_object_mut().unwrap().extend(fields);
    result
}

fn error_name(summary: &RunSummary) -> Option<&str> {
    summary.error.as_ref().map(|error| error.name.as_str())
}

fn notices<'a>(summary: &'a RunSummary, kind: &str) -> Vec<&'a str> {
    let notices = summary.notices.iter();
    let notices = notices.filter(|notice| notice.kind == kind);
    notices.map(|notice| notice.text.as_str()).collect()
}
