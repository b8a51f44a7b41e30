//! The tools of hermes: what a tool line's verb stands for.

use runtape_core::ToolClass::{
    self, Delegate, Mcp, Network, Other, Publish, Read, Schedule, Search, Shell, Write,
};
use runtape_core::runtime_event::PermissionDenied;
use serde_json::Value;

use crate::signal::CallDetail;
use crate::tool_table::{ToolTable, tool};

/// What calls and completions of one tool have in common.
///
/// A completion line names the tool by a verb, or by the first nine characters of its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A tool with a verb of its own.
    Known(&'static str),
    /// Any other, by the part of its name that is printed.
    Other(Box<str>),
}

/// How many characters of a name without a verb are printed.
const NAME_SHOWN: usize = 9;

impl Key {
    /// Returns the key of a tool by its whole name.
    pub(super) fn of_name(name: &str) -> Self {
        // Later versions call three tools by longer names.
        let short = match name {
            "process_manage" => "process",
            "todo_list" => "todo",
            "cronjob_manage" => "cronjob",
            name => name,
        };
        match VERBS.iter().find(|(_, tool)| *tool == short) {
            Some((_, tool)) => Self::Known(tool),
            None => Self::of_shown(short),
        }
    }

    /// Returns the key of a tool by what a line without a verb shows of its name.
    pub(super) fn of_shown(name: &str) -> Self {
        Self::Other(name.chars().take(NAME_SHOWN).collect())
    }
}

/// Verbs and the tools that they stand for.
const VERBS: &[(&str, &str)] = &[
    ("$", "terminal"),
    ("proc", "process"),
    ("read", "read_file"),
    ("write", "write_file"),
    ("patch", "patch"),
    ("grep", "search_files"),
    ("find", "search_files"),
    ("search", "web_search"),
    ("fetch", "web_extract"),
    ("crawl", "web_crawl"),
    ("navigate", "browser_navigate"),
    ("snapshot", "browser_snapshot"),
    ("click", "browser_click"),
    ("type", "browser_type"),
    ("scroll", "browser_scroll"),
    ("back", "browser_back"),
    ("press", "browser_press"),
    ("close", "browser_close"),
    ("images", "browser_get_images"),
    ("vision", "vision_analyze"),
    ("vision", "browser_vision"),
    ("browser", "browser_exec"),
    ("plan", "todo"),
    ("recall", "session_search"),
    ("memory", "memory"),
    ("skills", "skills_list"),
    ("skill", "skill_view"),
    ("create", "image_generate"),
    ("speak", "text_to_speech"),
    ("send", "send_message"),
    ("cron", "cronjob"),
    ("exec", "execute_code"),
    ("delegate", "delegate_task"),
];

/// The tool that runs shell commands.
pub(super) const TERMINAL: &str = "terminal";
/// The tool that starts sub-agents.
pub(super) const DELEGATE: &str = "delegate_task";

/// Returns the tool that a verb stands for. Only `vision` needs the detail to tell.
pub(super) fn of_verb(verb: &str, detail: &str) -> Option<&'static str> {
    if verb == "vision" && detail == "analyzing page" {
        return Some("browser_vision");
    }
    VERBS
        .iter()
        .find(|(known, _)| *known == verb)
        .map(|(_, tool)| *tool)
}

/// Tells whether a diff is printed after a call of this tool.
pub(super) fn prints_diff(name: &str) -> bool {
    matches!(name, "write_file" | "patch" | "skill_manage")
}

/// The tools that hermes brings. `tools.txt` has those of one version.
const TABLE: ToolTable = ToolTable {
    tools: &[
        tool(Shell, &[TERMINAL]).command(&["command"]),
        tool(
            Shell,
            &[
                "process",
                "process_manage",
                "execute_code",
                "read_terminal",
                "close_terminal",
            ],
        ),
        // It acts as a person at the screen would.
        tool(Shell, &["computer_use"]),
        tool(Read, &["read_file"]).paths(&["path"]),
        tool(Write, &["write_file", "patch"]).paths(&["path"]),
        tool(Write, &["skill_manage"]),
        tool(Write, &["text_to_speech"]).paths(&["output_path"]),
        tool(Search, &["search_files"]).paths(&["path"]),
        tool(Network, &["web_extract"]).url(&["urls"]),
        tool(Network, &["browser_navigate"]).url(&["url"]),
        tool(
            Network,
            &[
                "web_search",
                "web_crawl",
                "x_search",
                "feishu_doc_read",
                "feishu_drive_list_comment_replies",
                "feishu_drive_list_comments",
                "ha_call_service",
                "ha_get_state",
                "ha_list_entities",
                "ha_list_services",
                "yb_query_group_info",
                "yb_query_group_members",
                "yb_search_sticker",
                "browser_back",
                "browser_cdp",
                "browser_click",
                "browser_console",
                "browser_dialog",
                "browser_get_images",
                "browser_press",
                "browser_scroll",
                "browser_snapshot",
                "browser_type",
                "browser_vision",
            ],
        ),
        tool(Delegate, &[DELEGATE, "mixture_of_agents"]),
        // A board of tasks that agents take from and give to each other.
        tool(
            Delegate,
            &[
                "kanban_attach",
                "kanban_attachments",
                "kanban_block",
                "kanban_comment",
                "kanban_complete",
                "kanban_create",
                "kanban_heartbeat",
                "kanban_link",
                "kanban_list",
                "kanban_show",
                "kanban_unblock",
            ],
        ),
        tool(Delegate, &["kanban_attach_url"]).url(&["url"]),
        tool(
            Publish,
            &[
                "send_message",
                "discord",
                "discord_admin",
                "feishu_drive_add_comment",
                "feishu_drive_reply_comment",
                "yb_send_dm",
                "yb_send_sticker",
            ],
        ),
        tool(Schedule, &["cronjob", "cronjob_manage"]),
        tool(
            Other,
            &[
                "clarify",
                "image_generate",
                "memory",
                "project_create",
                "project_list",
                "project_switch",
                "session_search",
                "skill_view",
                "skills_list",
                "todo",
                "todo_list",
                "video_analyze",
                "video_generate",
                "vision_analyze",
                "xai_video_edit",
                "xai_video_extend",
            ],
        ),
    ],
    // `mcp__SERVER__TOOL` since 0.19.
    prefixes: &[("mcp_", Mcp), ("browser_", Network)],
    mcp_separator: None,
};

/// Returns what a tool is for. A name that was cut after [`NAME_SHOWN`] characters may be one of
/// several tools.
pub(super) fn class(name: &str) -> ToolClass {
    TABLE.class(name)
}

/// Returns what a completion line's detail tells of the call.
///
/// A command is only summarized there and a file that is read only named, so neither is taken for
/// the real one. What is written is printed with its path, unless that was shortened.
pub(super) fn detail_of_summary(name: &str, summary: &str) -> CallDetail {
    let mut detail = CallDetail::of(class(name));
    if matches!(name, "write_file" | "patch") && !summary.is_empty() && !summary.starts_with("...")
    {
        detail.paths.push(summary.to_owned());
    }
    detail
}

/// Returns what the arguments tell of the call.
pub(super) fn detail_of_arguments(name: &str, arguments: &Value) -> CallDetail {
    TABLE.detail(name, arguments)
}

/// What the approval of a command says when nobody gave it.
pub(super) fn denied(name: &str, message: &str) -> PermissionDenied {
    PermissionDenied {
        tool_name: name.to_owned(),
        tool_call_id: None,
        message: Some(message.to_owned()),
    }
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
    fn verbs_stand_for_tools() {
        assert_eq!(of_verb("$", "ls"), Some("terminal"));
        assert_eq!(of_verb("find", "*.rs"), Some("search_files"));
        assert_eq!(of_verb("vision", "analyzing page"), Some("browser_vision"));
        assert_eq!(of_verb("vision", "what is this?"), Some("vision_analyze"));
        assert_eq!(of_verb("frobnicate", ""), None);
    }

    #[test]
    fn a_call_and_its_completion_have_one_key() {
        assert_eq!(Key::of_name("read_file"), Key::Known("read_file"));
        assert_eq!(Key::of_name("todo_list"), Key::of_name("todo"));
        assert_eq!(Key::of_name("mcp_github_list"), Key::of_shown("mcp_githu"));
        assert_ne!(Key::of_name("read_file"), Key::of_shown("read_file"));
    }

    #[test]
    fn arguments_tell_commands_paths_and_addresses() {
        let detail = detail_of_arguments("terminal", &json!({"command": "ls"}));
        assert_eq!(detail.command.as_deref(), Some("ls"));
        let detail = detail_of_arguments("patch", &json!({"path": "a b"}));
        assert_eq!(detail.paths, ["a b"]);
        let detail = detail_of_arguments("web_extract", &json!({"urls": ["u", "v"]}));
        assert_eq!(detail.url.as_deref(), Some("u"));
        assert_eq!(
            detail_of_arguments("terminal", &json!(5)),
            CallDetail::of(ToolClass::Shell)
        );
    }

    #[test]
    fn a_summary_is_never_taken_for_a_command() {
        assert_eq!(
            detail_of_summary("terminal", "ls + 1 command"),
            CallDetail::of(ToolClass::Shell)
        );
        assert_eq!(
            detail_of_summary("write_file", "out/a b.txt").paths,
            ["out/a b.txt"]
        );
        assert_eq!(
            detail_of_summary("write_file", "...b.txt"),
            CallDetail::of(ToolClass::Write)
        );
    }

    #[test]
    fn every_tool_has_a_class() {
        let table = [
            ("terminal", ToolClass::Shell),
            ("process_manage", ToolClass::Shell),
            ("execute_code", ToolClass::Shell),
            ("read_file", ToolClass::Read),
            ("write_file", ToolClass::Write),
            ("patch", ToolClass::Write),
            ("search_files", ToolClass::Search),
            ("web_extract", ToolClass::Network),
            ("browser_click", ToolClass::Network),
            ("delegate_task", ToolClass::Delegate),
            ("mcp_github_list", ToolClass::Mcp),
            ("mcp__echo__say", ToolClass::Mcp),
            ("mcp_githu", ToolClass::Mcp),
            ("todo", ToolClass::Other),
            ("session_search", ToolClass::Other),
            ("skill_manage", ToolClass::Write),
            ("cronjob", ToolClass::Schedule),
            ("send_message", ToolClass::Publish),
        ];
        for (name, expected) in table {
            assert_eq!(class(name), expected, "{name}");
        }
    }
}
