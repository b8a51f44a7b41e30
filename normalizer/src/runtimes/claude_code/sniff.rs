//! Whether the first bytes of an output are claude-code's.

use memchr::memchr2;

/// Keys that only claude-code's messages have at their top level.
const OWN: &[&str] = &[
    "claude_code_version",
    "slash_commands",
    "mcp_servers",
    "parent_tool_use_id",
    "modelUsage",
    "total_cost_usd",
    "permission_denials",
    "num_turns",
    "rate_limit_info",
    "hook_event",
    "uuid",
];

/// Tells how surely the first bytes of an output are claude-code's: 0 not at all, 100 surely.
///
/// Cursor prints messages of the same types with the same ids, so that only keys tell them apart,
/// and only those of the message itself: text and tool output may hold any of them.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    let Some(start) = memchr2(b'{', b'[', bytes) else {
        return 0;
    };
    let mut object = bytes.get(start..).unwrap_or_default();
    while let [b'[' | b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = object {
        object = rest;
    }
    let mut found = FoundKeys::default();
    top_level(object, &mut found);
    match found {
        FoundKeys {
            own: true,
            kind: true,
            ..
        } => 95,
        FoundKeys {
            kind: true,
            result: true,
            ..
        } => 10,
        _ => 0,
    }
}

#[derive(Default)]
struct FoundKeys {
    /// A key of claude-code's own.
    own: bool,
    /// A type that claude-code has, among others.
    kind: bool,
    /// That type is `result`.
    result: bool,
}

/// Looks at the top-level keys of an object, which may be cut anywhere.
fn top_level(object: &[u8], found: &mut FoundKeys) {
    let mut depth = 0_usize;
    let mut rest = object;
    let mut key: &[u8] = b"";
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let Some((text, tail)) = string(rest) else {
                    return;
                };
                rest = tail;
                if depth != 1 {
                    continue;
                }
                let is_key = tail.trim_ascii_start().first() == Some(&b':');
                if is_key {
                    key = text;
                    found.own |= OWN.iter().any(|own| own.as_bytes() == text);
                } else if key == b"type" {
                    found.result = text == b"result";
                    found.kind = found.result
                        || matches!(
                            text,
                            b"system"
                                | b"assistant"
                                | b"user"
                                | b"stream_event"
                                | b"rate_limit_event"
                        );
                }
            }
            _ => {}
        }
    }
}

/// Splits behind the closing quote; escapes are passed over.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some((bytes.get(..at)?, bytes.get(at + 1..)?));
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_keys_at_the_top_level_decide() {
        let table = [
            (
                r#"{"type":"system","subtype":"init","cwd":"/","mcp_servers":[],"mod"#,
                95,
            ),
            (
                r#"{"duration_api_ms":1,"usage":{"a":1},"modelUsage":{},"type":"result"}"#,
                95,
            ),
            (
                r#"[{"type":"system","subtype":"init","claude_code_version":"2.1.325"}"#,
                95,
            ),
            (
                "banner\n{\"type\":\"system\",\"subtype\":\"status\",\"uuid\":\"x\"}",
                95,
            ),
            (r#"{"type":"result","content":"Hello World"}"#, 10),
            (
                r#"{"type":"system","subtype":"init","apiKeySource":"login","session_id":"x"}"#,
                0,
            ),
            (
                r#"{"type":"assistant","message":{"text":"\"modelUsage\":1"},"session_id":"x"}"#,
                0,
            ),
            (r#"{"type":"init","session_id":"x","uuid":"y"}"#, 0),
            ("plain text about modelUsage", 0),
            ("", 0),
            ("{\"type", 0),
        ];
        for (bytes, expected) in table {
            assert_eq!(sniff(bytes.as_bytes()), expected, "{bytes}");
        }
    }
}
