//! Is this output cursor's?

use serde_json::{Map, Value};

use crate::json::is_too_much;

use super::events::strip_stream_name;
use crate::session_id::is_word;

/// How many lines are looked at.
const LINES: usize = 40;

/// Keys that only claude-code's events of the same types have.
const OTHERS: &[&str] = &[
    "uuid",
    "parent_tool_use_id",
    "num_turns",
    "tools",
    "mcp_servers",
];

/// Tells how surely the first bytes of an output are cursor's: 0 not at all, 100 surely.
///
/// Text says nothing. Events have claude-code's types and more: what is sure is what only cursor has.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    let lines = bytes.split(|byte| *byte == b'\n').take(LINES);
    let best = lines.map(score).max().unwrap_or(0);
    // A result that went through a pretty-printer.
    if best == 0 { score(bytes) } else { best }
}

fn score(line: &[u8]) -> u8 {
    let line = strip_stream_name(line.trim_ascii());
    let start = line
        .iter()
        .position(|byte| *byte == b'{')
        .unwrap_or(line.len());
    let line = line.get(start..).unwrap_or_default();
    if is_too_much(line) {
        return 0;
    }
    let Ok(Value::Object(event)) = serde_json::from_slice(line) else {
        return 0;
    };
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    if event.contains_key("tool_call") && event.contains_key("call_id") {
        return 95;
    }
    if !is_word(text("session_id")) || OTHERS.iter().any(|key| event.contains_key(*key)) {
        return 0;
    }
    match (text("type"), text("subtype")) {
        ("thinking", "delta" | "completed")
        | ("connection" | "retry", _)
        | ("interaction_query", "request" | "response") => 95,
        ("system", "init") if event.contains_key("apiKeySource") => 90,
        ("assistant", _)
            if event.contains_key("model_call_id") || event.contains_key("timestamp_ms") =>
        {
            90
        }
        ("result", _) if is_result(&event) => 90,
        ("system" | "user" | "assistant" | "result", _) => 60,
        _ => 0,
    }
}

fn is_result(event: &Map<String, Value>) -> bool {
    event
        .get("usage")
        .is_some_and(|usage| usage.get("cacheReadTokens").is_some())
        || event.contains_key("request_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_from_those_of_others_and_text_is_nobodys() {
        let table = [
            (
                r#"{"type":"thinking","subtype":"delta","text":"x","session_id":"s1","timestamp_ms":1}"#,
                95,
            ),
            (
                r#"{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{}}}"#,
                95,
            ),
            (
                r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/","session_id":"s1","model":"Auto"}"#,
                90,
            ),
            (
                r#"{"type":"system","subtype":"init","apiKeySource":"none","session_id":"s1","tools":[],"uuid":"u"}"#,
                0,
            ),
            (
                r#"{"type":"result","subtype":"success","session_id":"s1","request_id":"r","result":"x"}"#,
                90,
            ),
            (
                r#"{"type":"result","subtype":"success","session_id":"s1","num_turns":1,"result":"x"}"#,
                0,
            ),
            (r#"{"type":"user","session_id":"s1","message":{}}"#, 60),
            (
                r#"{"type":"init","session_id":"s1","model":"gemini-2.5-pro"}"#,
                0,
            ),
            (
                r#"stdout: {"type":"retry","subtype":"starting","session_id":"s1"}"#,
                95,
            ),
            ("pong", 0),
            (r#"{"type":"result","content":"mine"}"#, 0),
            ("", 0),
        ];
        for (line, expected) in table {
            assert_eq!(sniff(line.as_bytes()), expected, "{line}");
            let more = format!("\n{line}\n{{\"type\":\"thin");
            assert_eq!(sniff(more.as_bytes()), expected, "{line}");
        }
        let pretty =
            "{\n  \"type\": \"result\",\n  \"session_id\": \"s1\",\n  \"request_id\": \"r\"\n}\n";
        assert_eq!(sniff(pretty.as_bytes()), 90);
    }
}
