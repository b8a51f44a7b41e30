//! Verdicts of claude-code: `is_error` and `subtype` of its result.

use runtape_core::Runtime;
use serde_json::json;

use super::{Fields, Format, SESSION, check_formats, flag_and_word, line};

fn result(fields: &Fields) -> String {
    let always = json!({"type": "result", "duration_ms": 5, "num_turns": 1, "result": "Done.",
        "session_id": SESSION, "uuid": SESSION, "total_cost_usd": 0.1, "usage": {}});
    line(always, fields)
}

fn stream(fields: &Fields) -> String {
    let init = json!({"type": "system", "subtype": "init", "cwd": "/home/dev", "session_id": SESSION,
        "uuid": SESSION, "model": "m", "tools": [], "claude_code_version": "2.1.0"});
    let said = json!({"type": "assistant", "session_id": SESSION, "uuid": SESSION, "parent_tool_use_id": null,
        "message": {"id": "m1", "role": "assistant", "model": "m", "usage": {},
            "content": [{"type": "text", "text": "Done."}]}});
    format!("{init}\n{said}\n{}", result(fields))
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![
        Format {
            name: "claude-code json",
            argv: Some("claude -p x --output-format json"),
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: result,
            is_success: flag_and_word,
        },
        Format {
            name: "claude-code stream-json",
            argv: Some("claude -p x --output-format stream-json --verbose"),
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: stream,
            is_success: flag_and_word,
        },
    ]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::ClaudeCode, &formats());
}
