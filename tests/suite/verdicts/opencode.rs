//! Verdicts of opencode: why its last step is finished. The exit is a part of it.

use runtape_core::Runtime;
use runtape_normalizer::Exit;
use serde_json::{Value, json};

use super::{Fields, Format, check_formats, line};

const SESSION: &str = "ses_e1bed8f09ffecv3HScaUEK5EET";

fn event(tag: &str, rest: &Value) -> String {
    let always = json!({"type": tag, "timestamp": 1_794_827_797_451_u64,
        "sessionID": SESSION});
    line(always, rest.as_object().unwrap())
}

/// A step that is finished for a reason, and perhaps an error line before it.
fn events(fields: &Fields) -> String {
    let part = |rest: Value| {
        let mut part = json!({"messageID": "msg_1", "sessionID": SESSION});
        let object = part.as_object_mut().unwrap();
        object.extend(rest.as_object().unwrap().clone());
        json!({"part": part})
    };
    let mut printed = event("step_start", &part(json!({"id": "prt_1"})));
    printed += &event("text", &part(json!({"id": "prt_2", "text": "Done."})));
    if let Some(error) = fields.get("error") {
        printed += &event("error", &json!({"error": error}));
    }
    let mut finish = json!({"id": "prt_3", "cost": 0.5, "tokens": {"input": 5, "output": 1}});
    if let Some(reason) = fields.get("reason") {
        finish["reason"] = reason.clone();
    }
    printed + &event("step_finish", &part(finish))
}

const WORDS: &[&str] = &["stop", "length", "tool-calls", "content-filter"];

fn is_success(fields: &Fields, exit: &Exit) -> bool {
    let reason = fields.get("reason").and_then(Value::as_str);
    let is_over = match reason {
        Some("stop" | "length") => true,
        // What the process says of itself counts, whatever the last step ended for.
        Some(reason) => exit.is_success() && reason != "error",
        None => false,
    };
    is_over && !exit.is_failure() && !fields.contains_key("error")
}

/// The documented successes, format by format.
pub(super) fn formats() -> Vec<Format> {
    vec![
        Format {
            name: "opencode events",
            argv: Some("opencode run --format json x"),
            fields: ["reason", "error"],
            words: WORDS,
            print: events,
            is_success,
        },
        Format {
            name: "opencode events, told by the output alone",
            argv: None,
            fields: ["reason", "error"],
            words: WORDS,
            print: events,
            is_success,
        },
    ]
}

#[test]
fn runs_succeed_only_as_documented() {
    check_formats(&Runtime::Opencode, &formats());
}
