//! What claude-code's own tools do, in neutral words.

use runtape_core::ToolClass::{
    Delegate, Mcp, Network, Other, Publish, Read, Schedule, Search, Shell, Write,
};
use serde_json::Value;

use crate::signal::CallDetail;
use crate::tool_table::{ToolTable, tool};

/// The tools that claude-code brings along and those that run at the model's maker. `tools.txt` has
/// those of one version.
const TABLE: ToolTable = ToolTable {
    tools: &[
        tool(
            Shell,
            &["Bash", "PowerShell", "bash", "bash_code_execution"],
        )
        .command(&["command"]),
        tool(Shell, &["Monitor"])
            .command(&["command"])
            .url(&["/ws/url"]),
        // They ask about background work, or end it.
        tool(
            Shell,
            &[
                "BashOutput",
                "KillShell",
                "KillBash",
                "TaskOutput",
                "TaskStop",
                "GetTask",
            ],
        ),
        tool(Shell, &["REPL", "code_execution"]),
        tool(Read, &["Read"]).paths(&["file_path"]),
        tool(Read, &["NotebookRead"]).paths(&["notebook_path"]),
        tool(Write, &["Write", "Edit", "MultiEdit"]).paths(&["file_path"]),
        tool(Write, &["NotebookEdit"]).paths(&["notebook_path"]),
        // The editors of the model's maker can show a file, too.
        tool(
            Write,
            &["text_editor_code_execution", "str_replace_based_edit_tool"],
        )
        .paths(&["path"])
        .when("command", &["view"], Read),
        // A worktree is a directory with all files of a commit.
        tool(Write, &["EnterWorktree", "ExitWorktree"]).paths(&["path"]),
        tool(Search, &["Glob", "Grep", "LS"]).paths(&["path"]),
        tool(Search, &["LSP"]).paths(&["filePath"]),
        tool(Network, &["WebFetch", "web_fetch"]).url(&["url"]),
        tool(Network, &["WebSearch", "web_search"]),
        // They ask the model's maker.
        tool(
            Network,
            &[
                "SearchMcpRegistry",
                "ListConnectors",
                "SuggestConnectors",
                "SearchPlugins",
                "SearchSkills",
                "ListSkills",
                "SuggestSkills",
                "FetchInboxMessage",
                "memory_list",
                "memory_read",
                "self_hosted_runner_get_pool",
                "self_hosted_runner_list_runners",
                "self_hosted_runner_list_secrets",
                "self_hosted_runner_list_sessions",
                "self_hosted_runner_read_health",
                "self_hosted_runner_read_metrics",
                "self_hosted_runner_tail_log",
            ],
        ),
        tool(Delegate, &["Agent", "Task"]),
        tool(
            Delegate,
            &[
                "SendMessage",
                "ListAgents",
                "TeamCreate",
                "TeamDelete",
                "SubagentHandback",
            ],
        ),
        // A script that starts agents.
        tool(Delegate, &["Workflow"]).paths(&["scriptPath"]),
        tool(Publish, &["Artifact"])
            .paths(&["file_path", "file_paths"])
            .url(&["url"])
            .when(
                "action",
                &[
                    "list",
                    "read",
                    "list_types",
                    "status",
                    "list_assets",
                    "read_asset",
                ],
                Network,
            ),
        tool(
            Publish,
            &["ArtifactComments", "ArtifactCheck", "AppifactRepl"],
        )
        .url(&["url"]),
        tool(Publish, &["Projects"]).paths(&["local_path"]).when(
            "method",
            &[
                "project_info",
                "project_read",
                "project_search",
                "project_memory_list",
                "project_memory_read",
            ],
            Network,
        ),
        tool(Publish, &["ClaudeDesign"]).when("operation", &["list"], Network),
        tool(
            Publish,
            &[
                "SendFeedback",
                "PushNotification",
                "SendFile",
                "SendUserFile",
                "SendToProject",
                "ShareOnboardingGuide",
                "PublishPlugin",
                "DesignSync",
                "memory_write",
            ],
        ),
        tool(
            Schedule,
            &["CronCreate", "CronDelete", "CronList", "ScheduleWakeup"],
        ),
        // What runs later, or in the cloud.
        tool(
            Schedule,
            &[
                "RemoteTrigger",
                "self_hosted_runner_spawn_local",
                "self_hosted_runner_requeue_session",
                "request_computer",
            ],
        ),
        tool(
            Mcp,
            &[
                "Mcp",
                "ListMcpResourcesTool",
                "ListMcpResources",
                "ReadMcpResourceTool",
                "ReadMcpResource",
                "ReadMcpResourceDirTool",
                "ReadMcpResourceDir",
                "RefreshMcpTools",
                "McpTaskResumePolling",
                "WaitForMcpServers",
                "ReadWidgetContext",
            ],
        ),
        // Plans, lists, questions to the user, and settings of the session.
        tool(
            Other,
            &[
                "AskUserQuestion",
                "Brief",
                "EndConversation",
                "EnterPlanMode",
                "ExitPlanMode",
                "GetGoal",
                "ObserverReport",
                "OfferChromeSetup",
                "PauseGoal",
                "Poll",
                "ProposeGoal",
                "ProposeSkills",
                "ReadNotifications",
                "ReportFindings",
                "SendToProjectContext",
                "SendUserMessage",
                "SetGoal",
                "ShowOnboardingRolePicker",
                "Skill",
                "StructuredOutput",
                "SuggestPluginInstall",
                "TaskCreate",
                "TaskGet",
                "TaskList",
                "TaskUpdate",
                "TestingPermission",
                "TodoRead",
                "TodoWrite",
                "ToolSearch",
                "WrapUp",
                "Yield",
                "propose_skills",
            ],
        ),
    ],
    prefixes: &[("mcp__", Mcp)],
    mcp_separator: None,
};

/// Returns what a call does.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    TABLE.detail(name, input)
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
    use crate::tool_table::check;

    #[test]
    fn every_tool_of_a_version_is_in_the_table() {
        check(&TABLE, include_str!("tools.txt"));
    }

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
            ("mcp__x__Bash", json!({"command": 5}), Mcp),
            ("Read", json!({"file_path": 5}), Read),
            ("Read", Value::Null, Read),
        ];
        for (name, input, class) in nothing {
            assert_eq!(detail(name, &input), CallDetail::of(class), "{name}");
        }
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("Bash", Shell),
            ("BashOutput", Shell),
            ("Read", Read),
            ("MultiEdit", Write),
            ("NotebookEdit", Write),
            ("Grep", Search),
            ("WebSearch", Network),
            ("Agent", Delegate),
            ("Workflow", Delegate),
            ("Artifact", Publish),
            ("Projects", Publish),
            ("SendFeedback", Publish),
            ("CronCreate", Schedule),
            ("RemoteTrigger", Schedule),
            ("mcp__echo__say", Mcp),
            ("ReadMcpResourceDirTool", Mcp),
            ("TodoWrite", Other),
            ("bash2", Other),
        ];
        for (name, expected) in table {
            assert_eq!(TABLE.class(name), expected, "{name}");
        }
        let of = |name: &str, key: &str, word: &str| detail(name, &json!({key: word})).class;
        assert_eq!(of("str_replace_based_edit_tool", "command", "view"), Read);
        assert_eq!(
            of("str_replace_based_edit_tool", "command", "create"),
            Write
        );
        assert_eq!(of("Artifact", "action", "read"), Network);
        assert_eq!(of("Projects", "method", "project_read"), Network);
    }
}
