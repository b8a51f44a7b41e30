//! What the agent's tools do with their input, and what they give back.

use std::borrow::Cow;

use runtape_core::ToolClass::{
    self, Delegate, Network, Other, Publish, Read, Schedule, Search, Shell, Write,
};
use serde_json::Value;

use crate::signal::{Block, CallDetail};
use crate::tool_table::{ToolTable, tool};

/// The tools that come with the gateway. `tools.txt` has those of one version.
const TABLE: ToolTable = ToolTable {
    tools: &[
        tool(Shell, &["exec", "bash"]).command(&["command"]),
        // `terminal` and the two others act as a person at a screen would.
        tool(
            Shell,
            &[
                "process",
                "code_execution",
                "terminal",
                "computer",
                "mobile_ui",
            ],
        ),
        tool(Read, &["read"]).paths(&["path", "file_path"]),
        tool(Read, &["view_image", "image", "pdf"]).paths(&["path"]),
        tool(Write, &["write", "edit"]).paths(&["path", "file_path"]),
        tool(Write, &["apply_patch"]).paths(&["input"]),
        tool(Write, &["skill_workshop", "plugins"]),
        tool(Search, &["grep", "find", "ls"]).paths(&["path"]),
        tool(Network, &["web_fetch", "browser"]).url(&["url", "targetUrl"]),
        tool(
            Network,
            &["web_search", "x_search", "github_identity_status", "nodes"],
        ),
        tool(
            Delegate,
            &[
                SPAWN,
                "sessions_send",
                "sessions_yield",
                "sessions_list",
                "sessions_history",
                "sessions_search",
                "subagents",
                "agents_list",
                "agents_wait",
                "openclaw",
            ],
        ),
        // Messages to people, pull requests, and applications that others can open.
        tool(
            Publish,
            &[
                "message",
                "conversations_send",
                "conversations_turn",
                "github_publish",
                "portal",
            ],
        ),
        tool(Schedule, &["automations", "cron"]),
        tool(
            Other,
            &[
                "ask_user",
                "canvas",
                "conversations_list",
                "create_goal",
                "dashboard",
                "dismiss_task",
                "gateway",
                "get_goal",
                "heartbeat_respond",
                "image_generate",
                "memory_get",
                "memory_search",
                "music_generate",
                "progress_card",
                "screen",
                "secrets",
                "session_status",
                "sessions",
                "show_widget",
                "suggest_task",
                "theme",
                "tts",
                "update_goal",
                "update_plan",
                "video_generate",
            ],
        ),
    ],
    prefixes: &[],
    // `SERVER__TOOL`.
    mcp_separator: Some("__"),
};

/// Returns what a call does, for the tools that come with the gateway.
pub(super) fn detail(name: &str, input: &Value) -> CallDetail {
    TABLE.detail(name, input)
}

/// Returns what a tool is for.
pub(super) fn class(name: &str) -> ToolClass {
    TABLE.class(name)
}

/// Returns what a tool gave back: text and images of its content, or its JSON as text.
pub(super) fn blocks(result: &Value) -> Vec<Block<'_>> {
    match result {
        Value::Null => Vec::new(),
        Value::String(text) => vec![Block::Text(Cow::Borrowed(text))],
        Value::Object(fields) => match fields.get("content") {
            Some(Value::Array(items)) => items.iter().map(block).collect(),
            Some(Value::String(text)) => vec![Block::Text(Cow::Borrowed(text))],
            _ => vec![Block::Text(result.to_string().into())],
        },
        Value::Array(items) if items.iter().all(|item| item.get("type").is_some()) => {
            items.iter().map(block).collect()
        }
        other => vec![Block::Text(other.to_string().into())],
    }
}

fn block(item: &Value) -> Block<'_> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    match (text("type"), text("text"), text("data")) {
        (Some("text"), Some(text), _) => Block::Text(Cow::Borrowed(text)),
        (Some("image"), _, Some(data)) => Block::Image {
            mime_type: text("mimeType").unwrap_or("image/png").into(),
            data: Cow::Borrowed(data),
        },
        _ => Block::Text(item.to_string().into()),
    }
}

/// Tools whose result says nothing of how it went unless it has an exit code.
const RUNS_COMMANDS: [&str; 3] = ["exec", "bash", "process"];

/// Tells whether a call failed, by its frame and the details of its result.
///
/// The gateway calls no command failed that ran, whatever its exit code; and 2026.3.28 leaves the
/// result out, so that of a command nobody knows how it went.
pub(super) fn has_failed(name: &str, is_error: Option<bool>, result: &Value) -> Option<bool> {
    let details = result.get("details").unwrap_or(&Value::Null);
    let code = details.get("exitCode").and_then(Value::as_i64);
    match (is_error, code) {
        (Some(true), _) => Some(true),
        (_, Some(code)) => Some(code != 0),
        (Some(false), None) if result.is_null() && RUNS_COMMANDS.contains(&name) => None,
        (Some(false), None) => Some(false),
        (None, None) => match details.get("status")?.as_str()? {
            "error" | "failed" | "timeout" => Some(true),
            "completed" | "ok" => Some(false),
            _ => None,
        },
    }
}

/// The tool that starts a sub-agent.
pub(super) const SPAWN: &str = "sessions_spawn";

/// Returns the session of the sub-agent that a call started, as its result tells.
pub(super) fn spawned(result: &Value) -> Option<&str> {
    let details = result.get("details").unwrap_or(result);
    details.get("childSessionKey")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_tool_of_a_version_is_in_the_table() {
        crate::tool_table::check(&TABLE, include_str!("tools.txt"));
    }

    #[test]
    fn the_gateway_s_own_tools_tell_what_they_do() {
        let exec = detail("exec", &json!({"command": "ls", "pty": true}));
        assert_eq!(exec.command.as_deref(), Some("ls"));
        assert_eq!(detail("read", &json!({"path": "a"})).paths, ["a"]);
        assert_eq!(detail("edit", &json!({"file_path": "b"})).paths, ["b"]);
        let fetch = detail("web_fetch", &json!({"url": "https://a.example"}));
        assert_eq!(fetch.url.as_deref(), Some("https://a.example"));
        let guess = detail("other", &json!({"command": "x"}));
        assert_eq!((guess.class, guess.command.as_deref()), (Other, Some("x")));
        assert_eq!(
            detail("exec", &Value::Null),
            CallDetail::of(ToolClass::Shell)
        );
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("exec", ToolClass::Shell),
            ("process", ToolClass::Shell),
            ("read", ToolClass::Read),
            ("edit", ToolClass::Write),
            ("apply_patch", ToolClass::Write),
            ("find", ToolClass::Search),
            ("web_fetch", ToolClass::Network),
            ("browser", ToolClass::Network),
            ("sessions_spawn", ToolClass::Delegate),
            ("message", ToolClass::Publish),
            ("cron", ToolClass::Schedule),
            ("echo__say", ToolClass::Mcp),
            ("no_such_tool", ToolClass::Other),
            ("memory_search", ToolClass::Other),
        ];
        for (name, expected) in table {
            assert_eq!(class(name), expected, "{name}");
        }
    }

    #[test]
    fn results_of_any_shape_are_kept() {
        let text = |text: &str| Block::Text(text.to_owned().into());
        assert_eq!(blocks(&json!("x")), [text("x")]);
        assert_eq!(
            blocks(&json!({"content": [{"type": "text", "text": "x"}]})),
            [text("x")]
        );
        assert_eq!(blocks(&json!({"ok": true})), [text(r#"{"ok":true}"#)]);
        assert_eq!(blocks(&json!([1, 2])), [text("[1,2]")]);
        assert_eq!(blocks(&Value::Null), []);
        let image =
            json!({"content": [{"type": "image", "mimeType": "image/jpeg", "data": "AA=="}]});
        assert!(
            matches!(&blocks(&image)[..], [Block::Image { mime_type, .. }] if mime_type == "image/jpeg")
        );
    }

    #[test]
    fn details_tell_of_failure_and_sub_agents() {
        let exited = |code: i32| json!({"details": {"status": "completed", "exitCode": code}});
        let status = |status: &str| json!({"details": {"status": status}});
        let table = [
            ("exec", Some(false), exited(2), Some(true)),
            ("exec", Some(false), exited(0), Some(false)),
            ("exec", Some(true), exited(0), Some(true)),
            ("exec", Some(false), Value::Null, None),
            ("read", Some(false), Value::Null, Some(false)),
            ("read", Some(true), Value::Null, Some(true)),
            ("read", None, status("error"), Some(true)),
            ("read", None, status("completed"), Some(false)),
            ("read", None, status("running"), None),
        ];
        for (name, is_error, result, expected) in table {
            assert_eq!(
                has_failed(name, is_error, &result),
                expected,
                "{name} {result}"
            );
        }
        let spawn = json!({"details": {"childSessionKey": "agent:main:subagent:1"}});
        assert_eq!(spawned(&spawn), Some("agent:main:subagent:1"));
    }
}
