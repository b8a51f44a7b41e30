//! Items that are tool calls: what they are named, were given, gave back, and do.

use std::borrow::Cow;

use runtape_core::ToolClass::{self, Delegate, Mcp, Network, Other, Read, Search, Shell, Write};
use serde_json::{Map, Value, json};

use super::{shell, wire::Item};
use crate::json::Str;
use crate::signal::{Block, CallDetail};
use crate::tool_table::{ToolTable, tool};
use crate::verdict::VerdictWord;

/// A type of item that is a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Command,
    FileChange,
    Mcp,
    WebSearch,
    Collab,
    TodoList,
}

impl Tool {
    /// Returns the tool that an item's type stands for, if it is one.
    pub(super) fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "command_execution" => Self::Command,
            "file_change" => Self::FileChange,
            "mcp_tool_call" => Self::Mcp,
            "web_search" => Self::WebSearch,
            "collab_tool_call" => Self::Collab,
            "todo_list" => Self::TodoList,
            _ => return None,
        })
    }

    /// Tells whether items of this type say how far they are.
    fn has_status(self) -> bool {
        !matches!(self, Self::WebSearch | Self::TodoList)
    }

    /// Returns the tool's name.
    pub(super) fn name(self, item: &Item<'_>) -> Cow<'static, str> {
        match self {
            Self::Command => "command_execution".into(),
            Self::FileChange => "file_change".into(),
            Self::WebSearch => "web_search".into(),
            Self::TodoList => "todo_list".into(),
            Self::Collab => match &item.tool {
                Some(tool) => tool.as_str().to_owned().into(),
                None => "collab_tool_call".into(),
            },
            Self::Mcp => {
                let server = item.server.as_deref().unwrap_or_default();
                let tool = item.tool.as_deref().unwrap_or_default();
                format!("mcp__{server}__{tool}").into()
            }
        }
    }

    /// Returns what the tool was given; null as long as that is not known. A search begins before its
    /// words are known.
    pub(super) fn input(self, item: &mut Item<'_>, is_completed: bool) -> Value {
        match self {
            Self::Command => match &item.command {
                Some(command) => object([("command", command.as_str().into())]),
                None => Value::Null,
            },
            Self::FileChange => {
                let is_known = item.changes.as_array().is_some_and(|list| !list.is_empty());
                if is_known || (is_completed && !item.changes.is_null()) {
                    object([("changes", item.changes.take())])
                } else {
                    Value::Null
                }
            }
            Self::Mcp => item.arguments.take(),
            Self::WebSearch => {
                let query = item.query.as_deref().unwrap_or_default();
                if query.is_empty() && !is_completed {
                    return Value::Null;
                }
                let query = Value::from(query);
                object([("query", query), ("action", item.action.take())])
            }
            Self::Collab => object([
                ("prompt", item.prompt.take()),
                ("sender_thread_id", item.sender.take()),
                ("receiver_thread_ids", item.receivers.take()),
            ]),
            Self::TodoList => object([("items", Value::clone(&item.items))]),
        }
    }

    /// Returns what a call does.
    pub(super) fn detail(self, item: &Item<'_>) -> CallDetail {
        let mut detail = CallDetail::of(match self {
            Self::Mcp => Mcp,
            Self::Collab => Delegate,
            own => TABLE.class(&own.name(item)),
        });
        match self {
            Self::Command => detail.command = item.command.as_deref().map(shell::script),
            Self::FileChange => {
                let changes = item.changes.as_array().into_iter().flatten();
                let paths = changes.filter_map(|change| change.get("path")?.as_str());
                detail.paths.extend(paths.map(str::to_owned));
            }
            Self::WebSearch => {
                let url = item.action.get("url").and_then(Value::as_str);
                detail.url = url.map(str::to_owned);
            }
            Self::Mcp => detail = TABLE.detail(&self.name(item), &item.arguments),
            Self::Collab | Self::TodoList => {}
        }
        detail
    }

    /// Returns what the tool gave back.
    pub(super) fn content<'a>(self, item: &mut Item<'a>) -> Vec<Block<'a>> {
        match self {
            Self::Command => {
                let output = item.output.take().map(Str::into_cow);
                output.map(Block::Text).into_iter().collect()
            }
            Self::Mcp => mcp_content(item),
            Self::FileChange | Self::WebSearch | Self::Collab | Self::TodoList => Vec::new(),
        }
    }

    /// Tells whether a call that has ended failed; none if it does not say.
    pub(super) fn is_error(self, item: &Item<'_>) -> Option<bool> {
        let has_failed = item.exit_code.is_some_and(|code| code != 0)
            || matches!(item.status.word(), Some("failed" | "declined"))
            || (self == Self::Mcp && !item.error.is_null());
        let is_done = item.status.is("completed")
            || (item.status.is_missing() && (!self.has_status() || item.exit_code == Some(0)));
        match (has_failed, is_done) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }
}

/// The tools by the names that the model calls them by, and those of items. `tools.txt` has those of
/// one version.
const TABLE: ToolTable = ToolTable {
    tools: &[
        tool(
            Shell,
            &[
                "command_execution",
                "exec_command",
                "shell",
                "shell_command",
                "local_shell",
                "local_shell_call",
                "container.exec",
                "unified_exec",
                "write_stdin",
            ],
        ),
        // Scripts that call other tools.
        tool(Shell, &["exec", "js_repl"]),
        tool(Read, &["read_file", "view_image"]).paths(&["path", "file_path"]),
        tool(Write, &["apply_patch", "file_change"]),
        tool(Search, &["grep_files", "list_dir"]).paths(&["path", "dir_path"]),
        tool(Network, &["web_search", "web_search_call"]),
        tool(
            Delegate,
            &[
                "assign_task",
                "close_agent",
                "collab_tool_call",
                "followup_task",
                "interrupt_agent",
                "list_agents",
                "report_agent_job_result",
                "resume_agent",
                "send_input",
                "send_message",
                "spawnAgent",
                "spawn_agent",
                "spawn_agents_on_csv",
                "wait",
                "wait_agent",
            ],
        ),
        tool(
            Mcp,
            &[
                "list_mcp_resource_templates",
                "list_mcp_resources",
                "read_mcp_resource",
            ],
        ),
        tool(
            Other,
            &[
                "create_goal",
                "get_context_remaining",
                "get_goal",
                "image_generation",
                "list_available_plugins_to_install",
                "new_context",
                "request_permissions",
                "request_plugin_install",
                "request_user_input",
                "sleep",
                "test_sync_tool",
                "todo_list",
                "tool_search",
                "update_goal",
                "update_plan",
            ],
        ),
    ],
    prefixes: &[("mcp__", Mcp)],
    mcp_separator: None,
};

/// Returns what a call does, by the name that the model calls its tool by: the history has calls that
/// never became an item.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    TABLE.detail(name, input)
}

/// Returns what a tool is for, by that name.
pub(super) fn class(name: &str) -> ToolClass {
    TABLE.class(name)
}

/// Returns the status of an item, if it is one that no item has.
pub(super) fn unknown_status<'i, 'a>(item: &'i Item<'a>) -> Option<&'i VerdictWord<'a>> {
    const KNOWN: &[&str] = &["in_progress", "completed", "failed", "declined"];
    let status = &item.status;
    let is_known = match status.word() {
        Some(word) => KNOWN.contains(&word),
        None => status.is_missing(),
    };
    (!is_known).then_some(status)
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.map(|(key, value)| (key.to_owned(), value));
    Value::Object(Map::from_iter(fields))
}

/// The blocks of an MCP result, and what the call failed with.
fn mcp_content<'a>(item: &mut Item<'a>) -> Vec<Block<'a>> {
    let mut result = item.result.take();
    let mut blocks: Vec<Block<'a>> = match result.get_mut("content").map(Value::take) {
        Some(Value::Array(content)) => content.into_iter().map(block).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(other) => vec![block(other)],
    };
    let structured = result.get_mut("structured_content").map(Value::take);
    if blocks.is_empty()
        && let Some(structured) = structured.filter(|value| !value.is_null())
    {
        blocks.push(Block::Text(structured.to_string().into()));
    }
    match item.error.take() {
        Value::Null => {}
        Value::String(message) => blocks.push(Block::Text(message.into())),
        error => {
            let message = error.get("message").and_then(Value::as_str);
            let message = message.map_or_else(|| error.to_string(), str::to_owned);
            blocks.push(Block::Text(message.into()));
        }
    }
    blocks
}

/// Reads a block of an MCP result; one that is neither text nor media is kept as JSON.
fn block<'a>(mut value: Value) -> Block<'a> {
    if let Value::String(text) = value {
        return Block::Text(text.into());
    }
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match value.get("type").and_then(Value::as_str) {
        Some("text") => {
            if let Some(Value::String(text)) = value.get_mut("text").map(Value::take) {
                return Block::Text(text.into());
            }
        }
        Some(kind @ ("image" | "audio")) => {
            let is_image = kind == "image";
            if let (Some(mime_type), Some(data)) = (text(&value, "mimeType"), text(&value, "data"))
            {
                let (mime_type, data) = (mime_type.into(), data.into());
                return if is_image {
                    Block::Image { mime_type, data }
                } else {
                    Block::File { mime_type, data }
                };
            }
        }
        _ => {}
    }
    Block::Text(value.to_string().into())
}

/// How far a to-do list is, one entry a line.
pub(super) fn todo_list(items: &Value) -> String {
    let items = items.as_array().into_iter().flatten();
    let lines = items.map(|item| {
        let is_done = item.get("completed") == Some(&json!(true));
        let text = item.get("text").and_then(Value::as_str).unwrap_or_default();
        format!("[{}] {text}", if is_done { 'x' } else { ' ' })
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;
    use crate::runtimes::codex::wire::ItemLine;

    fn item(line: &str) -> Item<'_> {
        decode::<ItemLine<'_>>(line.as_bytes()).unwrap().value.item
    }

    #[test]
    fn every_tool_of_a_version_is_in_the_table() {
        crate::tool_table::check(&TABLE, include_str!("tools.txt"));
    }

    #[test]
    fn a_call_failed_if_its_status_its_exit_code_or_its_error_says_so() {
        let table = [
            (
                Tool::Command,
                r#""status":"completed","exit_code":0"#,
                Some(false),
            ),
            (
                Tool::Command,
                r#""status":"completed","exit_code":7"#,
                Some(true),
            ),
            (
                Tool::Command,
                r#""status":"failed","exit_code":null"#,
                Some(true),
            ),
            (Tool::Command, r#""status":"declined""#, Some(true)),
            (Tool::Command, r#""status":"in_progress""#, None),
            (Tool::Command, r#""exit_code":0"#, Some(false)),
            (Tool::Command, r#""status":"done""#, None),
            (Tool::Command, r#""status":true"#, None),
            (Tool::FileChange, r#""changes":[]"#, None),
            (
                Tool::Mcp,
                r#""status":"completed","error":{"message":"no"}"#,
                Some(true),
            ),
            (
                Tool::Mcp,
                r#""status":"completed","error":null"#,
                Some(false),
            ),
            (Tool::WebSearch, r#""query":"q""#, Some(false)),
            (Tool::TodoList, r#""items":[]"#, Some(false)),
        ];
        for (tool, fields, expected) in table {
            let line = format!("{{\"item\":{{{fields}}}}}");
            assert_eq!(tool.is_error(&item(&line)), expected, "{fields}");
        }
        let odd = item(r#"{"item":{"status":"done"}}"#);
        assert!(unknown_status(&odd).is_some());
        assert!(unknown_status(&item("{\"item\":{}}")).is_none());
    }

    #[test]
    fn an_mcp_result_keeps_all_its_blocks() {
        let line = r#"{"item":{"result":{"content":[{"type":"text","text":"a"},
            {"type":"image","mimeType":"image/png","data":"AA=="},{"type":"resource","uri":"u"}],
            "structured_content":null},"error":{"message":"no"}}}"#;
        let blocks = Tool::Mcp.content(&mut item(line));
        let text = |text: &str| Block::Text(text.to_owned().into());
        let image = Block::Image {
            mime_type: "image/png".into(),
            data: "AA==".into(),
        };
        let resource = text(r#"{"type":"resource","uri":"u"}"#);
        assert_eq!(blocks, [text("a"), image, resource, text("no")]);
        let structured = r#"{"item":{"result":{"content":[],"structured_content":{"n":7}}}}"#;
        let blocks = Tool::Mcp.content(&mut item(structured));
        assert_eq!(blocks, [text(r#"{"n":7}"#)]);
    }

    #[test]
    fn every_tool_has_a_class() {
        let items = [
            ("command_execution", ToolClass::Shell),
            ("file_change", ToolClass::Write),
            ("mcp_tool_call", ToolClass::Mcp),
            ("web_search", ToolClass::Network),
            ("collab_tool_call", ToolClass::Delegate),
            ("todo_list", ToolClass::Other),
        ];
        for (kind, expected) in items {
            let line = format!(r#"{{"item":{{"type":"{kind}","tool":"bash"}}}}"#);
            let detail = Tool::of(kind).unwrap().detail(&item(&line));
            assert_eq!(detail.class, expected, "{kind}");
        }
        let names = [
            ("exec_command", ToolClass::Shell),
            ("write_stdin", ToolClass::Shell),
            ("apply_patch", ToolClass::Write),
            ("view_image", ToolClass::Read),
            ("list_dir", ToolClass::Search),
            ("web_search", ToolClass::Network),
            ("spawn_agent", ToolClass::Delegate),
            ("mcp__echo__fail", ToolClass::Mcp),
            ("update_plan", ToolClass::Other),
        ];
        for (name, expected) in names {
            assert_eq!(class(name), expected, "{name}");
        }
    }

    #[test]
    fn paths_and_urls_of_items_are_found() {
        let line =
            r#"{"item":{"changes":[{"path":"/a","kind":"add"},{"kind":"x"},{"path":"/b"}]}}"#;
        assert_eq!(Tool::FileChange.detail(&item(line)).paths, ["/a", "/b"]);
        let line = r#"{"item":{"query":"q","action":{"type":"open_page","url":"http://x"}}}"#;
        let detail = Tool::WebSearch.detail(&item(line));
        assert_eq!(detail.url.as_deref(), Some("http://x"));
    }
}
