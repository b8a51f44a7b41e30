//! What claude-code's own tools do, in neutral words.

use runtape_core::ToolClass;
use serde_json::Value;

use crate::signal::CallDetail;

/// Returns what a call does, for the tools that claude-code brings along and those that run at the
/// model's maker.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut detail = CallDetail::of(class(name));
    match name {
        "Bash" | "PowerShell" | "Monitor" | "bash" | "bash_code_execution" => {
            detail.command = text("command");
        }
        "Read" | "Write" | "Edit" | "MultiEdit" => detail.paths.extend(text("file_path")),
        "NotebookEdit" | "NotebookRead" => detail.paths.extend(text("notebook_path")),
        "Glob" | "Grep" | "LS" | "text_editor_code_execution" | "str_replace_based_edit_tool" => {
            detail.paths.extend(text("path"));
        }
        "WebFetch" | "web_fetch" => detail.url = text("url"),
        _ => {}
    }
    // The editors of the model's maker can show a file, too.
    if is_editor(name) && input.get("command").is_some_and(|word| word == "view") {
        detail.class = ToolClass::Read;
    }
    detail
}

/// Returns what a tool is for.
fn class(name: &str) -> ToolClass {
    match name {
        "Bash"
        | "PowerShell"
        | "Monitor"
        | "BashOutput"
        | "KillShell"
        | "KillBash"
        | "bash"
        | "bash_code_execution"
        | "code_execution" => ToolClass::Shell,
        "Read" | "NotebookRead" => ToolClass::Read,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => ToolClass::Write,
        name if is_editor(name) => ToolClass::Write,
        "Glob" | "Grep" | "LS" | "LSP" => ToolClass::Search,
        "WebFetch" | "WebSearch" | "web_fetch" | "web_search" => ToolClass::Network,
        "SendMessage" | "TeamCreate" | "TeamDelete" => ToolClass::Delegate,
        name if is_agent(name) => ToolClass::Delegate,
        "ListMcpResourcesTool" | "ReadMcpResourceTool" => ToolClass::Mcp,
        name if name.starts_with("mcp__") => ToolClass::Mcp,
        _ => ToolClass::Other,
    }
}

/// Tells whether a tool is an editor of the model's maker.
fn is_editor(name: &str) -> bool {
    matches!(
        name,
        "text_editor_code_execution" | "str_replace_based_edit_tool"
    )
}

/// Tells whether a tool starts sub-agents.
pub(super) fn is_agent(name: &str) -> bool {
    matches!(name, "Agent" | "Task")
}

/// Tells whether a call starts a sub-agent that goes on after the call's result.
pub(super) fn is_background_agent(name: &str, input: &Value) -> bool {
    is_agent(name) && input.get("run_in_background").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_paths_and_urls_are_found() {
        assert_eq!(
            detail("Bash", &json!({"command": "ls"})).command.as_deref(),
            Some("ls")
        );
        assert_eq!(detail("Edit", &json!({"file_path": "/a"})).paths, ["/a"]);
        assert_eq!(
            detail("WebFetch", &json!({"url": "u"})).url.as_deref(),
            Some("u")
        );
        let nothing = [
            ("mcp__x__Bash", json!({"command": "ls"}), ToolClass::Mcp),
            ("Read", json!({"file_path": 5}), ToolClass::Read),
            ("Read", Value::Null, ToolClass::Read),
        ];
        for (name, input, class) in nothing {
            assert_eq!(detail(name, &input), CallDetail::of(class), "{name}");
        }
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("Bash", ToolClass::Shell),
            ("BashOutput", ToolClass::Shell),
            ("Read", ToolClass::Read),
            ("MultiEdit", ToolClass::Write),
            ("NotebookEdit", ToolClass::Write),
            ("Grep", ToolClass::Search),
            ("LS", ToolClass::Search),
            ("WebSearch", ToolClass::Network),
            ("Agent", ToolClass::Delegate),
            ("Task", ToolClass::Delegate),
            ("mcp__echo__say", ToolClass::Mcp),
            ("ListMcpResourcesTool", ToolClass::Mcp),
            ("TodoWrite", ToolClass::Other),
            ("TaskCreate", ToolClass::Other),
            ("StructuredOutput", ToolClass::Other),
            ("bash2", ToolClass::Other),
        ];
        for (name, expected) in table {
            assert_eq!(class(name), expected, "{name}");
        }
        let editor = |command: &str| {
            detail("str_replace_based_edit_tool", &json!({"command": command})).class
        };
        assert_eq!(editor("view"), ToolClass::Read);
        assert_eq!(editor("create"), ToolClass::Write);
    }
}
