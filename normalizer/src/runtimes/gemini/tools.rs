//! What the tools of the CLI do with their input.

use runtape_core::ToolClass;
use serde_json::Value;

use crate::signal::CallDetail;

/// Returns what a call does, for the tools that the CLI brings.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut detail = CallDetail::of(class(name));
    match name {
        name if is_shell(name) => detail.command = text("command"),
        "read_file" | "write_file" | "replace" | "edit" => {
            // `absolute_path` until 0.18.
            detail
                .paths
                .extend(text("file_path").or_else(|| text("absolute_path")));
        }
        "read_many_files" => {
            let lists = ["paths", "include"]
                .iter()
                .filter_map(|key| input.get(*key)?.as_array());
            let paths = lists.flatten().filter_map(Value::as_str);
            detail.paths.extend(paths.map(str::to_owned));
        }
        "list_directory" | "glob" | "grep_search" | "search_file_content" => {
            detail
                .paths
                .extend(text("dir_path").or_else(|| text("path")));
        }
        "web_fetch" => {
            detail.url = text("url").or_else(|| first_url(input.get("prompt")?.as_str()?));
        }
        _ => {}
    }
    detail
}

/// Returns what a tool is for.
fn class(name: &str) -> ToolClass {
    match name {
        name if is_shell(name) => ToolClass::Shell,
        "read_file" | "read_many_files" => ToolClass::Read,
        "write_file" | "replace" | "edit" => ToolClass::Write,
        "list_directory" | "glob" | "grep_search" | "search_file_content" => ToolClass::Search,
        "web_fetch" | "google_web_search" => ToolClass::Network,
        "invoke_agent"
        | "delegate_to_agent"
        | "codebase_investigator"
        | "cli_help"
        | "browser_agent"
        | "generalist" => ToolClass::Delegate,
        // `mcp_SERVER_TOOL`; `SERVER__TOOL` in versions before, where two servers had one name.
        name if name.starts_with("mcp_") || name.contains("__") => ToolClass::Mcp,
        _ => ToolClass::Other,
    }
}

/// Tells whether a tool runs commands in a shell.
pub(super) fn is_shell(name: &str) -> bool {
    matches!(name, "run_shell_command" | "shell" | "ShellTool")
}

/// Returns the first URL in a text: `web_fetch` is told in prose what to fetch.
fn first_url(text: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | ')');
    let starts = ["https://", "http://"]
        .iter()
        .filter_map(|scheme| text.find(scheme));
    let rest = text.get(starts.min()?..)?;
    let url = rest.split(is_end).next()?;
    Some(
        url.trim_end_matches(['.', ',', ';', ':', '!', '?'])
            .to_owned(),
    )
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
            ("other", json!({"command": "ls"}), None, vec![], None),
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
            ("run_shell_command", ToolClass::Shell),
            ("ShellTool", ToolClass::Shell),
            ("read_file", ToolClass::Read),
            ("read_many_files", ToolClass::Read),
            ("write_file", ToolClass::Write),
            ("replace", ToolClass::Write),
            ("list_directory", ToolClass::Search),
            ("grep_search", ToolClass::Search),
            ("google_web_search", ToolClass::Network),
            ("invoke_agent", ToolClass::Delegate),
            ("mcp_echo_say", ToolClass::Mcp),
            ("echo__say", ToolClass::Mcp),
            ("complete_task", ToolClass::Other),
            ("write_todos", ToolClass::Other),
            ("save_memory", ToolClass::Other),
        ];
        for (name, expected) in table {
            assert_eq!(class(name), expected, "{name}");
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
