//! What the tools of the CLI do, and what they gave back.

use std::borrow::Cow;

use runtape_core::ToolClass::{self, Delegate, Network, Other, Read, Search, Shell, Write};
use serde_json::Value;

use super::wire::{Attachment, CallState};
use crate::json::Str;
use crate::signal::{Block, CallDetail};
use crate::tool_table::{ToolTable, tool};

/// The tool that stands in for calls of unknown tools and with invalid arguments.
const INVALID: &str = "invalid";

/// Returns the name of the tool that the model called.
pub(super) fn name<'s>(tool: &'s str, state: &'s CallState<'_>) -> &'s str {
    let asked = state.input.get("tool").and_then(Value::as_str);
    asked.filter(|_| tool == INVALID).unwrap_or(tool)
}

/// The tools that the CLI brings. `tools.txt` has those of one version.
const TABLE: ToolTable = ToolTable {
    tools: &[
        tool(Shell, &["bash", "shell"]).command(&["command"]),
        // It runs a script that calls other tools.
        tool(Shell, &["execute"]),
        tool(Read, &["read"]).paths(&["filePath"]),
        tool(Write, &["write", "edit", "multiedit"]).paths(&["filePath"]),
        tool(Write, &["patch", "apply_patch"]).paths(&["patchText"]),
        tool(Search, &["list", "glob", "grep"]).paths(&["path"]),
        tool(Search, &["lsp"]).paths(&["filePath"]),
        tool(Network, &["webfetch"]).url(&["url"]),
        tool(Network, &["websearch", "codesearch"]),
        tool(Delegate, &["task"]),
        tool(
            Other,
            &[
                INVALID,
                "plan_enter",
                "plan_exit",
                "question",
                "skill",
                "todoread",
                "todowrite",
            ],
        ),
    ],
    prefixes: &[],
    // `SERVER_TOOL`; no other tool of the CLI has such a name.
    mcp_separator: Some("_"),
};

/// Returns what a call does, for the tools that the CLI brings.
pub(super) fn detail(tool: &str, input: &Value) -> CallDetail {
    TABLE.detail(tool, input)
}

/// Returns what a tool is for.
pub(super) fn class(tool: &str) -> ToolClass {
    TABLE.class(tool)
}

/// Tells whether a call failed: by its status, or the exit code of its command. None if it does not
/// say, or has not ended.
pub(super) fn is_error(tool: &str, state: &CallState<'_>) -> Option<bool> {
    match state.status.word()? {
        "error" => Some(true),
        "completed" => Some(tool == INVALID || has_failed(state.metadata.exit.as_ref())),
        _ => None,
    }
}

/// Tells whether an exit code says that a command failed; one that was ended has null. Tools that run
/// no command have none.
fn has_failed(exit: Option<&Value>) -> bool {
    exit.is_some_and(|code| code.as_f64() != Some(0.0))
}

/// Tells whether a call was refused rather than failed, by what the CLI says of it.
pub(super) fn is_denial(error: &str) -> bool {
    const STARTS: [&str; 2] = [
        "The user rejected permission to use this",
        "The user has specified a rule which prevents you from using this",
    ];
    STARTS.iter().any(|start| error.starts_with(start))
}

/// Returns what a tool gave back.
pub(super) fn content<'a>(state: &mut CallState<'a>) -> Vec<Block<'a>> {
    let text = state.output.take().or(state.error.take());
    let mut blocks: Vec<Block<'a>> = text
        .map(|text| Block::Text(text.into_cow()))
        .into_iter()
        .collect();
    blocks.extend(std::mem::take(&mut state.attachments).into_iter().map(file));
    blocks
}

/// A file that comes with an output, nearly always as a `data:` URL.
fn file(attachment: Attachment<'_>) -> Block<'_> {
    let url = attachment.url.map(Str::into_cow).unwrap_or_default();
    let encoded = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let Some((kind, data)) = encoded else {
        return Block::Text(Cow::Owned(url.into_owned()));
    };
    let mime_type = attachment
        .mime
        .map_or_else(|| kind.to_owned(), Str::into_owned);
    let data = Cow::Owned(data.to_owned());
    if mime_type.starts_with("image/") {
        let mime_type = mime_type.into();
        Block::Image { mime_type, data }
    } else {
        let mime_type = mime_type.into();
        Block::File { mime_type, data }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::decode;

    #[test]
    fn every_tool_of_a_version_is_in_the_table() {
        crate::tool_table::check(&TABLE, include_str!("tools.txt"));
    }

    fn state(text: &str) -> CallState<'_> {
        decode(text.as_bytes()).unwrap().value
    }

    #[test]
    fn the_cli_s_own_tools_tell_what_they_do() {
        let command = detail("bash", &json!({"command": "ls"})).command;
        assert_eq!(command.as_deref(), Some("ls"));
        assert_eq!(detail("edit", &json!({"filePath": "/a"})).paths, ["/a"]);
        assert_eq!(
            detail("grep", &json!({"pattern": "x", "path": "src"})).paths,
            ["src"]
        );
        assert_eq!(
            detail("glob", &json!({"pattern": "x"})),
            CallDetail::of(ToolClass::Search)
        );
        let url = detail("webfetch", &json!({"url": "http://x"})).url;
        assert_eq!(url.as_deref(), Some("http://x"));
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b.txt\n*** Move to: c.txt\n*** End Patch";
        let paths = detail("apply_patch", &json!({"patchText": patch})).paths;
        assert_eq!(paths, ["a.txt", "b.txt", "c.txt"]);
        let guess = detail("mcp_bash", &json!({"command": "ls"}));
        assert_eq!(
            (guess.class, guess.command.as_deref()),
            (ToolClass::Mcp, Some("ls"))
        );
        assert_eq!(
            detail("bash", &Value::Null),
            CallDetail::of(ToolClass::Shell)
        );
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("bash", ToolClass::Shell),
            ("read", ToolClass::Read),
            ("edit", ToolClass::Write),
            ("apply_patch", ToolClass::Write),
            ("glob", ToolClass::Search),
            ("list", ToolClass::Search),
            ("webfetch", ToolClass::Network),
            ("codesearch", ToolClass::Network),
            ("task", ToolClass::Delegate),
            ("echo_say", ToolClass::Mcp),
            ("todowrite", ToolClass::Other),
            ("invalid", ToolClass::Other),
            ("plan_exit", ToolClass::Other),
        ];
        for (name, expected) in table {
            assert_eq!(class(name), expected, "{name}");
        }
    }

    #[test]
    fn a_call_failed_by_its_status_or_its_command_s_exit_code() {
        let table = [
            (
                "bash",
                r#"{"status":"completed","metadata":{"exit":0}}"#,
                Some(false),
            ),
            (
                "bash",
                r#"{"status":"completed","metadata":{"exit":7}}"#,
                Some(true),
            ),
            (
                "bash",
                r#"{"status":"completed","metadata":{"exit":"x"}}"#,
                Some(true),
            ),
            (
                "bash",
                r#"{"status":"completed","metadata":{"exit":null}}"#,
                Some(true),
            ),
            (
                "read",
                r#"{"status":"completed","metadata":{}}"#,
                Some(false),
            ),
            ("read", r#"{"status":"error","error":"no"}"#, Some(true)),
            ("invalid", r#"{"status":"completed"}"#, Some(true)),
            ("bash", r#"{"status":"running"}"#, None),
            ("bash", r#"{"status":true}"#, None),
            ("bash", "{}", None),
        ];
        for (tool, text, expected) in table {
            assert_eq!(is_error(tool, &state(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_call_of_an_unknown_tool_has_the_name_that_was_asked_for() {
        let asked = state(r#"{"input":{"tool":"nosuch","error":"no"}}"#);
        assert_eq!(name("invalid", &asked), "nosuch");
        assert_eq!(name("bash", &asked), "bash");
        assert_eq!(name("invalid", &state("{}")), "invalid");
    }

    #[test]
    fn files_come_with_an_output() {
        let mut read = state(
            r#"{"output":"read","attachments":[{"mime":"image/png","url":"data:image/png;base64,AA=="},
                {"url":"data:text/plain;base64,BB=="},{"url":"file:///x"}]}"#,
        );
        let blocks = content(&mut read);
        let image = Block::Image {
            mime_type: "image/png".into(),
            data: "AA==".into(),
        };
        let file = Block::File {
            mime_type: "text/plain".into(),
            data: "BB==".into(),
        };
        let texts = [Block::Text("read".into()), Block::Text("file:///x".into())];
        let [output, url] = texts;
        assert_eq!(blocks, [output, image, file, url]);
    }
}
