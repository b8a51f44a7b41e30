//! Verdicts of hermes: the reason for which a turn of its ACP server stopped.

use runtape_core::Runtime;
use serde_json::{Value, json};

use super::{Fields, Format, SESSION, check_formats, is_absent};

fn acp(fields: &Fields) -> String {
    let opened = json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": SESSION,
        "models": {"currentModelId": "m", "availableModels": []}}});
    let said = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION,
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done."}}}});
    let usage = json!({"inputTokens": 5, "outputTokens": 1, "cachedReadTokens": 0,
        "thoughtTokens": 0, "totalTokens": 6});
    let mut result = json!({"usage": usage});
    let mut ended = json!({"jsonrpc": "2.0", "id": 3});
    for (key, value) in fields {
        if key == "error" {
            ended["error"] = value.clone();
        } else {
            result[key] = value.clone();
        }
    }
    ended["result"] = result;
    format!("{opened}\n{said}\n{ended}\n")
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![Format {
        name: "hermes acp",
        argv: Some("hermes acp"),
        fields: ["stopReason", "error"],
        words: &["end_turn", "max_tokens"],
        print: acp,
        is_success: |fields, _| {
            let reason = fields.get("stopReason").and_then(Value::as_str);
            matches!(reason, Some("end_turn" | "max_tokens")) && is_absent(fields, "error")
        },
    }]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::Hermes, &formats());
}
