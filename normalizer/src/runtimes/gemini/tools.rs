//! What the tools of the CLI do with their input.

use runtape_core::ToolClass::{Delegate, Mcp, Network, Other, Read, Search, Shell, Write};
use serde_json::Value;

use crate::signal::CallDetail;
use crate::tool_table::{ToolTable, tool};

/// The tools that the CLI brings. `tools.txt` has those of one version.
const TABLE: ToolTable = ToolTable {
    tools: &[
        tool(Shell, SHELLS).command(&["command"]),
        // `absolute_path` until 0.18.
        tool(Read, &["read_file"]).paths(&["file_path", "absolute_path"]),
        tool(Read, &["read_many_files"]).paths(&["paths", "include"]),
        tool(Write, &["write_file", "replace", "edit"]).paths(&["file_path", "absolute_path"]),
        // It adds to the CLI's own file of memories.
        tool(Write, &["save_memory"]),
        tool(
            Search,
            &[
                "list_directory",
                "glob",
                "grep_search",
                "search_file_content",
            ],
        )
        .paths(&["dir_path", "path"]),
        // It is told in prose what to fetch.
        tool(Network, &["web_fetch"]).url(&["url", "prompt"]),
        tool(Network, &["google_web_search"]),
        tool(
            Delegate,
            &[
                "invoke_agent",
                "delegate_to_agent",
                "codebase_investigator",
                "cli_help",
                "browser_agent",
                "generalist",
            ],
        ),
        tool(Mcp, &["read_mcp_resource", "list_mcp_resources"]),
        tool(
            Other,
            &[
                "activate_skill",
                "ask_user",
                "complete_task",
                "enter_plan_mode",
                "exit_plan_mode",
                "get_internal_docs",
                "tracker_add_dependency",
                "tracker_create_task",
                "tracker_get_task",
                "tracker_list_tasks",
                "tracker_update_task",
                "tracker_visualize",
                "update_topic",
                "write_todos",
            ],
        ),
    ],
    // `mcp_SERVER_TOOL`; `SERVER__TOOL` in versions before, where two servers had one name.
    prefixes: &[("mcp_", Mcp)],
    mcp_separator: Some("__"),
};

/// Tools that run commands in a shell.
const SHELLS: &[&str] = &["run_shell_command", "shell", "ShellTool"];

/// Returns what a call does, for the tools that the CLI brings.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    TABLE.detail(name, input)
}

/// Tells whether a tool runs commands in a shell.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Tells whether a call was refused rather than failed, by the type of its error.
///
/// Without a person to ask, a tool that needs approval is not even registered (0.61.0), so that for
/// the CLI's own tools "not registered" means that the approval mode or a policy keeps them away.
pub(super) fn is_denial(error_type: &str, tool: &str) -> bool {
    match error_type {
        "policy_violation" | "execution_denied" => true,
        "tool_not_registered" => NEEDS_APPROVAL.contains(&tool),
        _ => false,
    }
}

/// Tells whether a call was refused rather than failed, by the error that the model got: the history
/// has no type for it.
pub(super) fn says_denied(error: &str, tool: &str) -> bool {
    let is_missing = |rest: &str| {
        rest.strip_prefix(tool)
            .is_some_and(|rest| rest.starts_with("\" not found"))
    };
    error.starts_with("Tool execution denied by policy")
        || (NEEDS_APPROVAL.contains(&tool) && error.strip_prefix("Tool \"").is_some_and(is_missing))
}

/// The tools that ask before they run, in the default approval mode.
const NEEDS_APPROVAL: &[&str] = &[
    "run_shell_command",
    "write_file",
    "replace",
    "web_fetch",
    "save_memory",
    "edit",
];

/// Returns the tool's name from a call's id: `NAME__ID`, or `NAME-TIME-HASH` until 0.36.
pub(super) fn name_in_id(id: &str) -> Option<&str> {
    let bytes = id.as_bytes();
    let end = bytes.windows(2).position(|pair| pair == b"__");
    let end = end.or_else(|| bytes.iter().position(|byte| *byte == b'-'))?;
    let name = id.get(..end)?;
    (!name.is_empty()).then_some(name)
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
    fn the_cli_s_own_tools_tell_what_they_do() {
        let table = [
            (
                "run_shell_command",
                json!({"command": "ls"}),
                Some("ls"),
                vec![],
                None,
            ),
            (
                "read_file",
                json!({"file_path": "a"}),
                None,
                vec!["a"],
                None,
            ),
            (
                "read_file",
                json!({"absolute_path": "/a"}),
                None,
                vec!["/a"],
                None,
            ),
            (
                "read_many_files",
                json!({"include": ["a", 1, "b"]}),
                None,
                vec!["a", "b"],
                None,
            ),
            (
                "grep_search",
                json!({"pattern": "x", "dir_path": "src"}),
                None,
                vec!["src"],
                None,
            ),
            ("grep_search", json!({"pattern": "x"}), None, vec![], None),
            (
                "web_fetch",
                json!({"prompt": "Sum up (https://a.example/b?c=1), please."}),
                None,
                vec![],
                Some("https://a.example/b?c=1"),
            ),
            ("ask_user", json!({"command": "ls"}), None, vec![], None),
            ("read_file", json!(null), None, vec![], None),
        ];
        for (name, input, command, paths, url) in table {
            let found = detail(name, &input);
            assert_eq!(found.command.as_deref(), command, "{name}");
            assert_eq!(found.paths, paths, "{name}");
            assert_eq!(found.url.as_deref(), url, "{name}");
        }
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("ShellTool", Shell),
            ("read_many_files", Read),
            ("replace", Write),
            ("save_memory", Write),
            ("grep_search", Search),
            ("google_web_search", Network),
            ("invoke_agent", Delegate),
            ("mcp_echo_say", Mcp),
            ("echo__say", Mcp),
            ("read_mcp_resource", Mcp),
            ("complete_task", Other),
            ("nobody_knows", Other),
        ];
        for (name, expected) in table {
            assert_eq!(TABLE.class(name), expected, "{name}");
        }
    }

    #[test]
    fn a_missing_tool_is_a_denial_only_if_it_would_have_to_ask() {
        assert!(is_denial("tool_not_registered", "run_shell_command"));
        assert!(!is_denial("tool_not_registered", "invented_tool"));
        assert!(!is_denial("file_not_found", "write_file"));
        assert!(is_denial("policy_violation", "mcp_tool"));
    }

    #[test]
    fn an_error_without_a_type_is_a_denial_in_the_cli_s_own_words_only() {
        let missing = "Tool \"run_shell_command\" not found. Did you mean one of: \"glob\"?";
        assert!(says_denied(missing, "run_shell_command"));
        assert!(!says_denied(missing, "invented_tool"));
        assert!(!says_denied(
            "Tool \"invented_tool\" not found.",
            "invented_tool"
        ));
        assert!(says_denied("Tool execution denied by policy.", "mcp_tool"));
        assert!(!says_denied("File not found: a", "write_file"));
    }

    #[test]
    fn an_id_begins_with_the_tool_s_name() {
        assert_eq!(name_in_id("read_file__call_par01"), Some("read_file"));
        assert_eq!(name_in_id("read_file-1767-abc"), Some("read_file"));
        assert_eq!(name_in_id("__x"), None);
        assert_eq!(name_in_id("abc"), None);
    }
}
