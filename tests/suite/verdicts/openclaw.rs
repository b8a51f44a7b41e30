//! Verdicts of openclaw: what the frames of a gateway say of a run.

use runtape_core::Runtime;
use runtape_normalizer::Exit;
use serde_json::{Value, json};

use super::{Fields, Format, check_formats, is_absent, line};

const KEY: &str = "agent:main:main";

fn said() -> String {
    let said = json!({"type": "event", "event": "agent", "payload": {"runId": "run-1", "sessionKey": KEY,
        "seq": 1, "stream": "assistant", "ts": 1_700_000_000_000_u64,
        "data": {"text": "Done.", "delta": "Done."}}});
    format!("{said}\n")
}

fn chat(fields: &Fields) -> String {
    let payload = line(
        json!({"runId": "run-1", "sessionKey": KEY, "seq": 2}),
        fields,
    );
    let payload: Value = serde_json::from_str(&payload).unwrap();
    let ended = json!({"type": "event", "event": "chat", "payload": payload});
    format!("{}{ended}\n", said())
}

/// A chat frame after a life cycle that ended well.
fn chat_at_last(fields: &Fields) -> String {
    let mut ended_well = Fields::new();
    ended_well.insert("aborted".to_owned(), json!(false));
    let chat = chat(fields);
    let chat = chat.strip_prefix(&said()).unwrap();
    format!("{}{chat}", lifecycle(&ended_well))
}

fn lifecycle(fields: &Fields) -> String {
    let data = line(
        json!({"phase": "end", "endedAt": 1_700_000_000_001_u64}),
        fields,
    );
    let data: Value = serde_json::from_str(&data).unwrap();
    let ended = json!({"type": "event", "event": "agent", "payload": {"runId": "run-1", "sessionKey": KEY,
        "seq": 2, "stream": "lifecycle", "ts": 1_700_000_000_000_u64, "data": data}});
    format!("{}{ended}\n", said())
}

fn response(fields: &Fields) -> String {
    let mut payload = json!({"runId": "run-1"});
    let mut ended = json!({"type": "res", "id": "2"});
    for (key, value) in fields {
        if key == "status" {
            payload["status"] = value.clone();
        } else {
            ended[key] = value.clone();
        }
    }
    ended["payload"] = payload;
    format!("{}{ended}\n", said())
}

/// A transcript that was read after connecting again, of a run whose end nobody saw.
fn transcript(fields: &Fields) -> String {
    let mut row = json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}],
        "__openclaw": {"id": "row-1", "runId": "run-1"}});
    let mut info = json!({"lastRunId": "run-1"});
    for (key, value) in fields {
        let place = if key == "stopReason" {
            &mut row
        } else {
            &mut info
        };
        place[key] = value.clone();
    }
    let lines = [
        json!({"type": "req", "id": "2", "method": "chat.send", "params": {"sessionKey": KEY,
            "message": "x", "idempotencyKey": "run-1"}}),
        json!({"type": "res", "id": "2", "ok": true, "payload": {"runId": "run-1", "status": "started"}}),
        json!({"type": "req", "id": "3", "method": "chat.history", "params": {"sessionKey": KEY}}),
        json!({"type": "res", "id": "3", "ok": true, "payload": {"sessionKey": KEY,
            "messages": [row], "sessionInfo": info}}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    format!("{}\n", lines.join("\n"))
}

fn is_final(fields: &Fields, _: &Exit) -> bool {
    let is_silent = is_absent(fields, "errorMessage") || fields["errorMessage"] == json!("");
    fields.get("state") == Some(&json!("final")) && is_silent
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![
        Format {
            name: "openclaw chat",
            argv: Some("openclaw"),
            fields: ["state", "errorMessage"],
            words: &["final", "delta", "aborted"],
            print: chat,
            is_success: is_final,
        },
        Format {
            name: "openclaw chat after a life cycle that ended well",
            argv: Some("openclaw"),
            fields: ["state", "errorMessage"],
            words: &["final", "delta", "aborted"],
            print: chat_at_last,
            // The last piece of the answer comes after the life cycle, and takes nothing back.
            is_success: |fields, exit| {
                is_final(fields, exit) || fields.get("state") == Some(&json!("delta"))
            },
        },
        Format {
            name: "openclaw life cycle",
            argv: Some("openclaw"),
            fields: ["aborted", "error"],
            words: &[],
            print: lifecycle,
            is_success: |fields, _| {
                let aborted = fields.get("aborted").unwrap_or(&Value::Null);
                matches!(aborted, Value::Null | Value::Bool(false)) && is_absent(fields, "error")
            },
        },
        Format {
            name: "openclaw transcript",
            argv: Some("openclaw"),
            fields: ["stopReason", "hasActiveRun"],
            words: &["stop", "length", "toolUse", "aborted"],
            print: transcript,
            is_success: |fields, _| {
                let reason = fields.get("stopReason").and_then(Value::as_str);
                let active = fields.get("hasActiveRun").unwrap_or(&Value::Null);
                let is_idle = matches!(active, Value::Null | Value::Bool(false));
                matches!(reason, Some("stop" | "length")) && is_idle
            },
        },
        Format {
            name: "openclaw response",
            argv: Some("openclaw"),
            fields: ["ok", "status"],
            words: &["ok", "accepted"],
            print: response,
            is_success: |fields, _| {
                fields.get("ok") == Some(&json!(true)) && fields.get("status") == Some(&json!("ok"))
            },
        },
    ]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::Openclaw, &formats());
}
