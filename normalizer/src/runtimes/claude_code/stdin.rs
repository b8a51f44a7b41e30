//! What a user says on a line of `--input-format stream-json`.

use serde_json::Value;

/// Returns the text of a user's message; `None` for what is no message, such as a control request.
pub(super) fn user_text(line: &[u8]) -> Option<String> {
    let line: Value = serde_json::from_slice(line).ok()?;
    if line.get("type").and_then(Value::as_str) != Some("user") {
        return None;
    }
    match line.pointer("/message/content")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts = blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str());
            let texts: Vec<&str> = texts.collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_users_text_is_a_users_message() {
        let table = [
            (
                r#"{"type":"user","message":{"role":"user","content":"Hi"}}"#,
                Some("Hi"),
            ),
            (
                r#"{"type":"user","message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}"#,
                Some("a\nb"),
            ),
            (
                r#"{"type":"user","message":{"content":[{"type":"image"}]}}"#,
                None,
            ),
            (
                r#"{"type":"control_request","request":{"subtype":"interrupt"}}"#,
                None,
            ),
            (r#"{"type":"user"}"#, None),
            ("Hi", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(user_text(line.as_bytes()).as_deref(), expected, "{line}");
        }
    }
}
