//! Verdicts of cursor: `is_error` and `subtype` of its result, and a field for errors.

use runtape_core::Runtime;
use serde_json::json;

use super::{Fields, Format, SESSION, check_formats, flag_and_word, is_absent, line};

fn result(fields: &Fields) -> String {
    let always = json!({"type": "result", "duration_ms": 5, "duration_api_ms": 5, "result": "Done.",
        "session_id": SESSION, "request_id": "r-1"});
    line(always, fields)
}

fn stream(fields: &Fields) -> String {
    let init = json!({"type": "system", "subtype": "init", "apiKeySource": "login",
        "cwd": "/home/dev", "session_id": SESSION, "model": "Auto", "permissionMode": "default"});
    let said = json!({"type": "assistant", "session_id": SESSION,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}});
    format!("{init}\n{said}\n{}", result(fields))
}

/// A result that is called a success and has something in a field for errors.
fn error(fields: &Fields) -> String {
    let mut fields = fields.clone();
    fields.insert("is_error".to_owned(), json!(false));
    stream(&fields)
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![
        Format {
            name: "cursor json",
            argv: Some("cursor-agent -p --output-format json x"),
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: result,
            is_success: flag_and_word,
        },
        Format {
            name: "cursor stream-json",
            argv: Some("cursor-agent -p --output-format stream-json x"),
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: stream,
            is_success: flag_and_word,
        },
        Format {
            name: "cursor stream-json, with an error",
            argv: Some("cursor-agent -p --output-format stream-json x"),
            fields: ["subtype", "error"],
            words: &[],
            print: error,
            is_success: |fields, _| {
                fields.get("subtype") == Some(&json!("success")) && is_absent(fields, "error")
            },
        },
    ]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::Cursor, &formats());
}
