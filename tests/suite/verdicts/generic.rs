//! Verdicts of any program that prints a published shape.

use runtape_core::Runtime;
use serde_json::{Value, json};

use super::{Fields, Format, check_formats, line};

const TIME: &str = "2026-01-01T00:00:00.000Z";

fn result(fields: &Fields) -> String {
    let said = json!({"ts": TIME, "kind": "assistant", "text": "Done."});
    let always = json!({"ts": TIME, "kind": "result", "text": "Done.", "inputTokens": 1,
        "outputTokens": 1, "cachedTokens": 0, "costUsd": 0, "errors": []});
    format!("{said}\n{}", line(always, fields))
}

/// A result that is called a success in one word, and has something in the field for errors.
fn errors(fields: &Fields) -> String {
    let mut fields = fields.clone();
    fields.insert("isError".to_owned(), json!(false));
    result(&fields)
}

/// The last event of a run, whose checkpoint has the fields.
fn event(fields: &Fields) -> String {
    let usage = json!({"inputTokens": 1, "outputTokens": 1, "reasoningTokens": 0, "totalTokens": 2,
        "cachedInputTokens": 0});
    let said = json!({"type": "expertMessage", "id": "m",
        "contents": [{"type": "textPart", "id": "p", "text": "Done."}]});
    let mut checkpoint = json!({"id": "c", "jobId": "j", "runId": "r", "stepNumber": 1,
        "messages": [said], "usage": usage, "expert": {"key": "x", "name": "x", "version": "1"}});
    checkpoint.as_object_mut().unwrap().extend(fields.clone());
    let end = json!({"id": "e", "expertKey": "x", "timestamp": 1, "jobId": "j", "runId": "r",
        "stepNumber": 1, "type": "completeRun", "checkpoint": checkpoint, "text": "Done.",
        "step": {"stepNumber": 1, "newMessages": [said], "usage": usage, "startedAt": 1},
        "usage": usage});
    format!("{end}\n")
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![
        Format {
            name: "generic transcript",
            argv: Some("./agent"),
            fields: ["isError", "subtype"],
            words: &["completed", "stoppedByError", "stoppedByExceededMaxSteps"],
            print: result,
            is_success: |fields, _| {
                let word = fields.get("subtype").and_then(Value::as_str);
                fields.get("isError") == Some(&json!(false))
                    && matches!(word, Some("success" | "completed"))
            },
        },
        Format {
            name: "generic transcript with errors",
            argv: Some("./agent"),
            fields: ["errors", "subtype"],
            words: &["completed"],
            print: errors,
            is_success: |fields, _| {
                let word = fields.get("subtype").and_then(Value::as_str);
                let is_empty = fields
                    .get("errors")
                    .is_none_or(|errors| *errors == json!([]));
                is_empty && matches!(word, Some("success" | "completed"))
            },
        },
        Format {
            name: "generic events",
            argv: Some("./agent"),
            fields: ["status", "error"],
            words: &["completed", "proceeding", "stoppedByError"],
            print: event,
            is_success: |fields, _| {
                fields.get("status") == Some(&json!("completed")) && fields.get("error").is_none()
            },
        },
    ]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::Generic, &formats());
}
