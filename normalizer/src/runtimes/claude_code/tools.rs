//! What claude-code's own tools do, in neutral words.

use serde_json::Value;

use crate::signal::CallDetail;

/// Returns what a call does, for the tools that claude-code brings along and those that run at the
/// model's maker.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut detail = CallDetail::default();
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
    detail
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
        assert_eq!(
            detail("mcp__x__Bash", &json!({"command": "ls"})),
            CallDetail::default()
        );
        assert_eq!(
            detail("Read", &json!({"file_path": 5})),
            CallDetail::default()
        );
        assert_eq!(detail("Read", &Value::Null), CallDetail::default());
    }
}
