//! What a call of one of the CLI's own tools touches.

use runtape_core::ToolClass::{Delegate, Mcp, Network, Other, Read, Search, Shell, Write};
use serde_json::Value;

use crate::signal::CallDetail;
use crate::tool_table::{ToolTable, tool};

/// The CLI's own tools: nothing else has calls of its own. `tools.txt` has those that were recorded.
const TABLE: ToolTable = ToolTable {
    tools: &[
        tool(Shell, &["shell"]).command(&["command"]),
        tool(Shell, &["await", "writeShellStdin"]),
        tool(Read, &["read"]).paths(&["path"]),
        tool(Read, &["readLints"]).paths(&["paths"]),
        tool(Write, &["edit", "write", "delete", "applyPatch"]).paths(&["path"]),
        tool(Search, &["ls", "grep"]).paths(&["path"]),
        tool(Search, &["glob"]).paths(&["targetDirectory"]),
        tool(Search, &["semSearch"]).paths(&["targetDirectories"]),
        tool(Network, &["webFetch", "fetch"]).url(&["url"]),
        tool(Network, &["webSearch"]),
        tool(Delegate, &["task"]),
        tool(
            Mcp,
            &[
                "mcp",
                "getMcpTools",
                "listMcpResources",
                "readMcpResource",
                "mcpAuth",
            ],
        ),
        tool(Other, &["updateTodos", "todo", "askQuestion", "createPlan"]),
    ],
    prefixes: &[],
    mcp_separator: None,
};

/// Returns the command, the files and the URL of a call of one of the CLI's own tools.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    TABLE.detail(name, input)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool_table::check;

    #[test]
    fn every_tool_of_a_version_is_in_the_table() {
        check(&TABLE, include_str!("tools.txt"));
    }

    #[test]
    fn commands_paths_and_urls_come_from_known_tools() {
        let input = json!({"command": "ls", "path": "/a", "url": "http://x", "paths": ["/b", 1], "targetDirectory": "/c"});
        assert_eq!(detail("shell", &input).command.as_deref(), Some("ls"));
        assert_eq!(detail("read", &input).paths, ["/a"]);
        assert_eq!(detail("readLints", &input).paths, ["/b"]);
        assert_eq!(detail("glob", &input).paths, ["/c"]);
        assert_eq!(detail("webFetch", &input).url.as_deref(), Some("http://x"));
        assert_eq!(detail("mcp", &input), CallDetail::of(Mcp));
        assert_eq!(detail("shell", &Value::Null), CallDetail::of(Shell));
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("shell", Shell),
            ("readLints", Read),
            ("delete", Write),
            ("semSearch", Search),
            ("webSearch", Network),
            ("task", Delegate),
            ("getMcpTools", Mcp),
            ("updateTodos", Other),
            ("holodeck", Other),
        ];
        for (name, expected) in table {
            assert_eq!(TABLE.class(name), expected, "{name}");
        }
    }
}
