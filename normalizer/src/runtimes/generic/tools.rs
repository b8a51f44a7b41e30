//! What tools do with their input, and what they give back.
//!
//! Nobody knows the tools of a program that nobody knows. What they do can be read from their input
//! where its keys have the names that most tools give them; the documentation names them.

use std::borrow::Cow;

use runtape_core::{MessagePart, ToolResultContent};
use serde_json::Value;

use crate::signal::{Block, CallDetail};

/// Returns what a call does, by the keys of its input.
pub(super) fn detail(input: &Value) -> CallDetail {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let listed = input.get("paths").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str);
    let named = ["path", "file_path", "filePath"].iter();
    CallDetail {
        command: text("command"),
        paths: named
            .filter_map(|key| text(key))
            .chain(listed.map(str::to_owned))
            .collect(),
        url: text("url"),
    }
}

/// Returns a result of a tool as it stands in a message.
pub(super) fn content_blocks(contents: &[ToolResultContent]) -> Vec<Block<'_>> {
    contents.iter().map(content_block).collect()
}

fn content_block(content: &ToolResultContent) -> Block<'_> {
    match content {
        ToolResultContent::TextPart(part) => Block::Text(Cow::Borrowed(&part.text)),
        ToolResultContent::ImageInlinePart(part) => Block::Image {
            mime_type: Cow::Borrowed(&part.mime_type),
            data: Cow::Borrowed(&part.encoded_data),
        },
        ToolResultContent::FileInlinePart(part) => Block::File {
            mime_type: Cow::Borrowed(&part.mime_type),
            data: Cow::Borrowed(&part.encoded_data),
        },
    }
}

/// Returns a result of a tool as it stands in an event; parts that no result can hold are JSON.
pub(super) fn part_blocks(parts: &[MessagePart]) -> Vec<Block<'_>> {
    parts.iter().map(part_block).collect()
}

fn part_block(part: &MessagePart) -> Block<'_> {
    match part {
        MessagePart::TextPart(part) => Block::Text(Cow::Borrowed(&part.text)),
        MessagePart::ImageInlinePart(part) => Block::Image {
            mime_type: Cow::Borrowed(&part.mime_type),
            data: Cow::Borrowed(&part.encoded_data),
        },
        MessagePart::FileInlinePart(part) => Block::File {
            mime_type: Cow::Borrowed(&part.mime_type),
            data: Cow::Borrowed(&part.encoded_data),
        },
        other => Block::Text(serde_json::to_string(other).unwrap_or_default().into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_usual_names_in_an_input_tell_what_a_call_does() {
        let detail = detail(&json!({"command": "ls", "path": "a", "paths": ["b", 5], "url": "u"}));
        assert_eq!(detail.command.as_deref(), Some("ls"));
        assert_eq!(detail.paths, ["a", "b"]);
        assert_eq!(detail.url.as_deref(), Some("u"));
        for other in [json!(null), json!("ls"), json!({"command": ["ls"]})] {
            assert!(super::detail(&other).is_empty(), "{other}");
        }
    }
}
