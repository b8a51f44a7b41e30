//! Telling frames from other output.

use super::wire::Head;
use crate::json::decode;

/// How many lines are looked at.
const LINES: usize = 8;

/// Tells how surely output is a gateway's, from its first bytes.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let scores = lines.take(LINES).map(|line| score(line.trim_ascii()));
    scores.max().unwrap_or(0)
}

fn score(line: &[u8]) -> u8 {
    let has = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
    if line.first() != Some(&b'{')
        || !(has("\"event\"") || has("\"hello-ok\"") || has("\"method\""))
    {
        return 0;
    }
    let Ok(head) = decode::<Head<'_>>(line) else {
        return 0;
    };
    let head = head.value;
    match (head.tag.as_deref(), head.event.as_deref()) {
        (Some("event") | None, Some("chat" | "agent")) if has("\"runId\"") => 95,
        (Some("event"), Some("connect.challenge")) => 95,
        (Some("event"), Some(_)) if has("\"payload\"") => 60,
        (Some("res"), None) if has("\"hello-ok\"") => 95,
        (Some("req"), None) if has("\"params\"") => 60,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frames_are_recognized() {
        let table = [
            (
                r#"{"type":"event","event":"chat","payload":{"runId":"r"}}"#,
                95,
            ),
            (
                r#"{"event":"agent","payload":{"runId":"r","stream":"tool"}}"#,
                95,
            ),
            (r#"{"type":"event","event":"tick","payload":{"ts":1}}"#, 60),
            (
                r#"{"type":"res","id":"1","ok":true,"payload":{"type":"hello-ok"}}"#,
                95,
            ),
            (
                r#"{"type":"req","id":"1","method":"chat.send","params":{}}"#,
                60,
            ),
            (r#"{"type":"result","event":"chat"}"#, 0),
            (
                r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#,
                0,
            ),
            (r#"{"type":"assistant","message":{}}"#, 0),
            ("agent: hello", 0),
            ("", 0),
        ];
        for (text, expected) in table {
            assert_eq!(sniff(text.as_bytes()), expected, "{text}");
        }
    }
}
