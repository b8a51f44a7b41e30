//! What tools do with their input, and what they give back.
//!
//! Nobody knows the tools of a program that nobody knows. What they do can be read from their input
//! where its keys have the names that most tools give them; the documentation names them.

use std::borrow::Cow;

use runtape_core::{MessagePart, ToolClass, ToolResultContent};
use serde_json::Value;

use crate::signal::{Block, CallDetail};

/// Returns what a call does, by the tool's name and the keys of its input.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let listed = input.get("paths").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str);
    let named = PATH_KEYS.iter();
    CallDetail {
        class: class(name, input),
        command: text("command"),
        paths: named
            .filter_map(|key| text(key))
            .chain(listed.map(str::to_owned))
            .collect(),
        url: text("url"),
    }
}

/// What most tools call a file in their input.
const PATH_KEYS: [&str; 3] = ["path", "file_path", "filePath"];

/// Words in names of tools, and what a tool so named is for.
const WORDS: &[(ToolClass, &[&str])] = &[
    (
        ToolClass::Delegate,
        &["delegate", "agent", "subagent", "spawn"],
    ),
    (
        ToolClass::Network,
        &[
            "web", "fetch", "http", "url", "browser", "browse", "download", "crawl",
        ],
    ),
    (
        ToolClass::Shell,
        &[
            "shell",
            "bash",
            "exec",
            "execute",
            "terminal",
            "command",
            "run",
            "powershell",
        ],
    ),
];

/// Words that say the same where the tool has to do with files.
const FILE_WORDS: &[(ToolClass, &[&str])] = &[
    (
        ToolClass::Write,
        &[
            "write", "edit", "create", "append", "replace", "patch", "delete", "remove", "move",
            "rename", "mkdir",
        ],
    ),
    (
        ToolClass::Search,
        &["search", "grep", "find", "glob", "list", "ls"],
    ),
    (ToolClass::Read, &["read", "view", "cat", "open", "get"]),
];

/// Words for files in names of tools.
const FILES: &[&str] = &[
    "file",
    "files",
    "dir",
    "directory",
    "directories",
    "folder",
    "path",
    "paths",
];

/// Guesses what a tool is for: a server's by its name's beginning, others by the words in their
/// names, by which `web_search` is for the network and `edit_file` writes. Where the name says
/// nothing, a command or a URL in the input does.
fn class(name: &str, input: &Value) -> ToolClass {
    if name.starts_with("mcp_") {
        return ToolClass::Mcp;
    }
    let words = words(name);
    let is_named = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let find = |table: &[(ToolClass, &[&str])]| {
        let found = table.iter().find(|(_, known)| is_named(known));
        found.map(|(class, _)| *class)
    };
    let has = |key: &str| input.get(key).is_some_and(Value::is_string);
    let is_of_files = words.len() == 1 || is_named(FILES) || PATH_KEYS.iter().any(|key| has(key));
    let of_files = || find(FILE_WORDS).filter(|_| is_of_files);
    match find(WORDS).or_else(of_files) {
        Some(class) => class,
        None if has("command") => ToolClass::Shell,
        None if has("url") => ToolClass::Network,
        None => ToolClass::Other,
    }
}

/// Longest name whose words are looked at.
const LONGEST_NAME: usize = 100;

/// Returns the words of a name such as `read_file`, `readTextFile` or `web-search`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars().take(LONGEST_NAME) {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words
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
        let input = json!({"command": "ls", "path": "a", "paths": ["b", 5], "url": "u"});
        let detail = detail("t", &input);
        assert_eq!(detail.command.as_deref(), Some("ls"));
        assert_eq!(detail.paths, ["a", "b"]);
        assert_eq!(detail.url.as_deref(), Some("u"));
        for other in [json!(null), json!("ls"), json!({"command": ["ls"]})] {
            let nothing = CallDetail::of(ToolClass::Other);
            assert_eq!(super::detail("t", &other), nothing, "{other}");
        }
    }

    #[test]
    fn a_tool_that_nobody_knows_has_the_class_that_its_name_suggests() {
        let table = [
            ("shell", ToolClass::Shell),
            ("run_command", ToolClass::Shell),
            ("RunShellCommand", ToolClass::Shell),
            ("read", ToolClass::Read),
            ("readTextFile", ToolClass::Read),
            ("edit_file", ToolClass::Write),
            ("createDirectory", ToolClass::Write),
            ("list-files", ToolClass::Search),
            ("web_search", ToolClass::Network),
            ("httpGet", ToolClass::Network),
            ("spawn_agent", ToolClass::Delegate),
            ("mcp__echo__read", ToolClass::Mcp),
            ("counter", ToolClass::Other),
            ("get_weather", ToolClass::Other),
            ("todo_list", ToolClass::Other),
            ("already", ToolClass::Other),
            ("", ToolClass::Other),
        ];
        for (name, expected) in table {
            assert_eq!(class(name, &Value::Null), expected, "{name}");
        }
        assert_eq!(class("it", &json!({"command": "ls"})), ToolClass::Shell);
        assert_eq!(class("view_it", &json!({"path": "a"})), ToolClass::Read);
        assert_eq!(class("it", &json!({"url": "u"})), ToolClass::Network);
        assert_eq!(class("read", &json!({"command": "ls"})), ToolClass::Read);
    }
}
