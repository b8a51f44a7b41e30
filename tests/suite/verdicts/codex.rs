//! Verdicts of codex: the event that ends a turn.

use runtape_core::Runtime;
use serde_json::json;

use super::{Fields, Format, check_formats, is_absent, line};

const THREAD: &str = "01a1e40f-3839-7462-8ba4-4636a26c3aa5";

fn events(fields: &Fields) -> String {
    let started = json!({"type": "thread.started", "thread_id": THREAD});
    let turn = json!({"type": "turn.started"});
    let said = json!({"type": "item.completed",
        "item": {"id": "item_0", "type": "agent_message", "text": "Done."}});
    let ended = line(
        json!({"usage": {"input_tokens": 5, "cached_input_tokens": 0, "output_tokens": 1}}),
        fields,
    );
    format!("{started}\n{turn}\n{said}\n{ended}")
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![Format {
        name: "codex --json",
        argv: Some("codex exec --json x"),
        fields: ["type", "error"],
        words: &["turn.completed", "turn.failed", "turn.cancelled"],
        print: events,
        is_success: |fields, _| {
            fields.get("type") == Some(&json!("turn.completed")) && is_absent(fields, "error")
        },
    }]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::Codex, &formats());
}
