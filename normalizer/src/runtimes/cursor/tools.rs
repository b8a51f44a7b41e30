//! What a call of one of the CLI's own tools touches.

use runtape_core::ToolClass;
use serde_json::Value;

use crate::signal::CallDetail;

/// Returns the command, the files and the URL of a call of one of the CLI's own tools.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    let field = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| -> Vec<String> {
        let items = input.get(key).and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let mut detail = CallDetail::of(class(name));
    match name {
        "shell" => detail.command = field("command"),
        "read" | "edit" | "write" | "delete" | "ls" | "grep" => {
            detail.paths = field("path").into_iter().collect();
        }
        "glob" => detail.paths = field("targetDirectory").into_iter().collect(),
        "semSearch" => detail.paths = list("targetDirectories"),
        "readLints" => detail.paths = list("paths"),
        "webFetch" => detail.url = field("url"),
        _ => {}
    }
    detail
}

/// Returns what a tool is for.
fn class(name: &str) -> ToolClass {
    match name {
        "shell" | "await" | "writeShellStdin" => ToolClass::Shell,
        "read" | "readLints" => ToolClass::Read,
        "edit" | "write" | "delete" | "applyPatch" => ToolClass::Write,
        "ls" | "grep" | "glob" | "semSearch" => ToolClass::Search,
        "webFetch" | "webSearch" | "fetch" => ToolClass::Network,
        "task" => ToolClass::Delegate,
        "mcp" | "getMcpTools" | "listMcpResources" | "readMcpResource" | "mcpAuth" => {
            ToolClass::Mcp
        }
        _ => ToolClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_paths_and_urls_come_from_known_tools() {
        let input = json!({"command": "ls", "path": "/a", "url": "http://x", "paths": ["/b", 1], "targetDirectory": "/c"});
        assert_eq!(detail("shell", &input).command.as_deref(), Some("ls"));
        assert_eq!(detail("read", &input).paths, ["/a"]);
        assert_eq!(detail("readLints", &input).paths, ["/b"]);
        assert_eq!(detail("glob", &input).paths, ["/c"]);
        assert_eq!(detail("webFetch", &input).url.as_deref(), Some("http://x"));
        assert_eq!(detail("mcp", &input), CallDetail::of(ToolClass::Mcp));
        assert_eq!(
            detail("shell", &Value::Null),
            CallDetail::of(ToolClass::Shell)
        );
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("shell", ToolClass::Shell),
            ("await", ToolClass::Shell),
            ("read", ToolClass::Read),
            ("readLints", ToolClass::Read),
            ("edit", ToolClass::Write),
            ("delete", ToolClass::Write),
            ("ls", ToolClass::Search),
            ("semSearch", ToolClass::Search),
            ("webFetch", ToolClass::Network),
            ("webSearch", ToolClass::Network),
            ("task", ToolClass::Delegate),
            ("mcp", ToolClass::Mcp),
            ("getMcpTools", ToolClass::Mcp),
            ("updateTodos", ToolClass::Other),
            ("createPlan", ToolClass::Other),
            ("holodeck", ToolClass::Other),
        ];
        for (name, expected) in table {
            assert_eq!(class(name), expected, "{name}");
        }
    }
}
