//! Verdicts of gemini: a response without an error, or the status of a result.

use runtape_core::Runtime;
use serde_json::{Value, json};

use super::{Fields, Format, SESSION, check_formats, is_absent, line};

fn report(fields: &Fields) -> String {
    line(
        json!({"session_id": SESSION, "stats": {"models": {}}}),
        fields,
    )
}

const TIME: &str = "2026-11-16T00:14:46.471Z";

fn stream(fields: &Fields) -> String {
    let init = json!({"type": "init", "timestamp": TIME, "session_id": SESSION, "model": "m"});
    let said = json!({"type": "message", "timestamp": TIME, "role": "assistant",
        "content": "Done.", "delta": true});
    let always = json!({"type": "result", "timestamp": TIME, "stats": {}});
    format!("{init}\n{said}\n{}", line(always, fields))
}

fn older(fields: &Fields) -> String {
    let init = json!({"type": "system", "subtype": "init", "session_id": SESSION});
    let said = json!({"type": "assistant", "message": "Done."});
    let ended = line(json!({"type": "result", "result": "Done."}), fields);
    format!("{init}\n{said}\n{ended}")
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![
        Format {
            name: "gemini json",
            argv: Some("gemini -p x --output-format json"),
            fields: ["response", "error"],
            words: &[],
            print: report,
            is_success: |fields, _| {
                fields.get("response").is_some_and(Value::is_string) && is_absent(fields, "error")
            },
        },
        Format {
            name: "gemini stream-json",
            argv: Some("gemini -p x --output-format stream-json"),
            fields: ["status", "error"],
            words: &["max_turns"],
            print: stream,
            is_success: |fields, _| {
                fields.get("status") == Some(&json!("success")) && is_absent(fields, "error")
            },
        },
        Format {
            name: "gemini stream-json until 0.36",
            argv: Some("gemini -p x --output-format stream-json"),
            fields: ["subtype", "is_error"],
            words: &[],
            print: older,
            is_success: |fields, _| {
                let is_error = fields.get("is_error").unwrap_or(&Value::Null);
                fields.get("subtype") == Some(&json!("success"))
                    && matches!(is_error, Value::Null | Value::Bool(false))
            },
        },
    ]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::Gemini, &formats());
}
