//! Whether output is this CLI's, from its first bytes.

use memchr::memmem;

use super::first_lines::begins_stream;
use super::wire::{leading_tag, skip};
use crate::lines::HEAD;

/// Tells how surely output is this CLI's, from its first bytes.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    let line = head
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let first = line.unwrap_or_default();
    let tag = leading_tag(first);
    match tag {
        Some("init") if has("\"session_id\"") => return 95,
        Some("message") if has("\"role\"") && has("\"timestamp\"") => return 70,
        Some("tool_use") if has("\"tool_id\"") => return 80,
        // Other runtimes begin so too.
        Some("system") if has("\"model\":\"gemini") => return 30,
        Some(_) => return 0,
        None => {}
    }
    if begins_stream(first) {
        return 90;
    }
    let opens = memchr::memchr(b'{', head).and_then(|at| head.get(at + 1..));
    let begins_report = opens.is_some_and(|rest| skip(rest, b"\"session_id\"").is_some());
    match begins_report {
        true if has("\"response\":") => 85,
        true => 60,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_cli_is_recognized() {
        let table = [
            (
                r#"{"type":"init","timestamp":"t","session_id":"s","model":"m"}"#,
                95,
            ),
            (
                r#"MCP issues detected.{"type":"init","session_id":"s"}"#,
                90,
            ),
            ("{\n  \"session_id\": \"s\",\n  \"response\": \"", 85),
            (r#"{"type":"system","subtype":"init","session_id":"s"}"#, 0),
            (r#"{"type":"result","subtype":"success"}"#, 0),
            ("Hello.", 0),
            ("", 0),
        ];
        for (text, expected) in table {
            assert_eq!(sniff(text.as_bytes()), expected, "{text}");
        }
    }
}
