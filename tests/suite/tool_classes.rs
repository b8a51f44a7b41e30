//! Every tool that any capture has called is of the class that the table says.
//!
//! `cargo test -p runtape-tests --test suite tool_classes -- --nocapture` prints the table of what was seen.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::{ExpertPart, Message, Record, RecordKind, ToolClass};

use crate::captures;

/// Tools by runtime and class. A capture with another tool needs a line here.
const TABLE: &[(&str, ToolClass, &[&str])] = &[
    ("claude-code", ToolClass::Shell, &["Bash"]),
    ("claude-code", ToolClass::Read, &["Read"]),
    ("claude-code", ToolClass::Write, &["Edit", "Write"]),
    ("claude-code", ToolClass::Search, &["Glob", "Grep"]),
    ("claude-code", ToolClass::Delegate, &["Agent"]),
    ("claude-code", ToolClass::Mcp, &["mcp__echo__say"]),
    (
        "claude-code",
        ToolClass::Other,
        &[
            "StructuredOutput",
            "TaskCreate",
            "TaskList",
            "TaskUpdate",
            "TodoWrite",
        ],
    ),
    ("codex", ToolClass::Shell, &["command_execution"]),
    ("codex", ToolClass::Write, &["file_change"]),
    (
        "codex",
        ToolClass::Mcp,
        &["mcp__echo__echo", "mcp__echo__fail"],
    ),
    ("cursor", ToolClass::Shell, &["await", "shell"]),
    ("cursor", ToolClass::Read, &["read", "readLints"]),
    ("cursor", ToolClass::Write, &["delete", "edit", "write"]),
    (
        "cursor",
        ToolClass::Search,
        &["glob", "grep", "ls", "semSearch"],
    ),
    ("cursor", ToolClass::Network, &["webFetch", "webSearch"]),
    ("cursor", ToolClass::Delegate, &["task"]),
    (
        "cursor",
        ToolClass::Mcp,
        &["getMcpTools", "listMcpResources", "mcp"],
    ),
    (
        "cursor",
        ToolClass::Other,
        &[
            "askQuestion",
            "broken",
            "createPlan",
            "holodeck",
            "lookup",
            "search",
            "silent",
            "store",
            "teleport",
            "todo",
            "updateTodos",
        ],
    ),
    ("codex", ToolClass::Delegate, &["spawn_agent", "wait"]),
    ("gemini", ToolClass::Shell, &["run_shell_command"]),
    ("gemini", ToolClass::Read, &["read_file"]),
    ("gemini", ToolClass::Write, &["replace", "write_file"]),
    (
        "gemini",
        ToolClass::Search,
        &["glob", "grep_search", "list_directory"],
    ),
    ("gemini", ToolClass::Other, &["write_todos"]),
    ("generic", ToolClass::Shell, &["shell"]),
    ("generic", ToolClass::Read, &["read"]),
    (
        "hermes",
        ToolClass::Shell,
        &["execute_code", "process", "terminal"],
    ),
    ("hermes", ToolClass::Read, &["read_file"]),
    ("hermes", ToolClass::Write, &["patch", "write_file"]),
    ("hermes", ToolClass::Search, &["search_files"]),
    ("hermes", ToolClass::Delegate, &["delegate_task"]),
    ("hermes", ToolClass::Mcp, &["mcp__echo__fail"]),
    ("hermes", ToolClass::Schedule, &["cronjob"]),
    (
        "hermes",
        ToolClass::Other,
        &[
            "frobnicate",
            "memory",
            "session_search",
            "skill_view",
            "skills_list",
            "todo",
        ],
    ),
    ("openclaw", ToolClass::Shell, &["exec"]),
    ("openclaw", ToolClass::Read, &["read"]),
    ("openclaw", ToolClass::Network, &["web_fetch"]),
    ("openclaw", ToolClass::Delegate, &["sessions_spawn"]),
    ("openclaw", ToolClass::Other, &["no_such_tool"]),
    ("opencode", ToolClass::Shell, &["bash"]),
    ("opencode", ToolClass::Read, &["read"]),
    ("opencode", ToolClass::Write, &["edit", "write"]),
    ("opencode", ToolClass::Search, &["glob", "grep"]),
    ("opencode", ToolClass::Network, &["webfetch"]),
    ("opencode", ToolClass::Delegate, &["task"]),
    ("opencode", ToolClass::Other, &["todowrite"]),
];

/// Returns tools and classes of the calls in records; a call without a class fails.
fn classes(name: &str, records: &[Record]) -> BTreeSet<(String, ToolClass)> {
    let mut seen = BTreeSet::new();
    for record in records {
        let RecordKind::Message(record) = &record.kind else {
            continue;
        };
        let Message::ExpertMessage(message) = &record.message else {
            continue;
        };
        for part in &message.contents {
            let ExpertPart::ToolCallPart(call) = part else {
                continue;
            };
            let mut notes = record.calls.iter();
            let note = notes.find(|note| note.tool_call_id == call.tool_call_id);
            let class = note.and_then(|note| note.class);
            let class = class.unwrap_or_else(|| panic!("{name}: {call:?} has no class"));
            seen.insert((call.tool_name.as_str().to_owned(), class));
        }
    }
    seen
}

#[test]
fn every_tool_of_every_capture_has_the_class_of_the_table() {
    let mut seen: BTreeMap<(String, String, ToolClass), usize> = BTreeMap::new();
    for capture in captures::all() {
        for (tool, class) in classes(&capture.name(), &capture.records()) {
            *seen
                .entry((capture.runtime.clone(), tool, class))
                .or_default() += 1;
        }
    }
    println!("{:<12} {:<24} {:<9} captures", "runtime", "tool", "class");
    let mut other = Vec::new();
    for ((runtime, tool, class), count) in &seen {
        println!("{runtime:<12} {tool:<24} {:<9} {count}", class.as_str());
        let is_known = TABLE
            .iter()
            .any(|(of, is, tools)| of == runtime && is == class && tools.contains(&tool.as_str()));
        if !is_known {
            other.push(format!("{runtime} {tool} {}", class.as_str()));
        }
    }
    assert!(other.is_empty(), "not in the table: {other:#?}");
}
