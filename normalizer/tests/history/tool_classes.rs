//! Every tool that a history has called is of one class, and of the one that its output would have.

use std::collections::BTreeMap;

use runtape_core::{ExpertPart, Message, RecordKind, ToolClass};
use runtape_tests::recorded_histories::histories;

use crate::home::Home;

/// Tools of histories by class. A history with another tool needs a word here.
const TABLE: &[(ToolClass, &[&str])] = &[
    (
        ToolClass::Shell,
        &[
            "Bash",
            "command_execution",
            "exec_command",
            "run_shell_command",
        ],
    ),
    (ToolClass::Read, &["Read", "read_file"]),
    (
        ToolClass::Write,
        &[
            "Write",
            "Edit",
            "apply_patch",
            "file_change",
            "write_file",
            "replace",
        ],
    ),
    (
        ToolClass::Search,
        &["Grep", "Glob", "glob", "grep_search", "list_directory"],
    ),
    (
        ToolClass::Delegate,
        &["Agent", "Task", "invoke_agent", "spawn_agent", "wait"],
    ),
    (
        ToolClass::Mcp,
        &["mcp__echo__say", "mcp__echo__echo", "mcp__echo__fail"],
    ),
];

#[test]
fn every_tool_of_every_history_has_a_class() {
    let mut seen: BTreeMap<(String, String, ToolClass), usize> = BTreeMap::new();
    for runtime in ["claude-code", "codex", "gemini"] {
        for path in histories(runtime) {
            for run in Home::read(runtime.parse().unwrap(), &path).runs() {
                for record in &run.records {
                    let RecordKind::Message(record) = &record.kind else {
                        continue;
                    };
                    let Message::ExpertMessage(message) = &record.message else {
                        continue;
                    };
                    let calls = message.contents.iter().filter_map(|part| match part {
                        ExpertPart::ToolCallPart(call) => Some(call),
                        _ => None,
                    });
                    for call in calls {
                        let mut notes = record.calls.iter();
                        let note = notes.find(|note| note.tool_call_id == call.tool_call_id);
                        let class = note.and_then(|note| note.class);
                        let class = class.unwrap_or_else(|| panic!("{path:?}: {call:?}"));
                        let tool = call.tool_name.as_str().to_owned();
                        *seen.entry((runtime.to_owned(), tool, class)).or_default() += 1;
                    }
                }
            }
        }
    }
    let mut wrong = Vec::new();
    for ((runtime, tool, class), count) in &seen {
        println!("{runtime:<12} {tool:<24} {:<9} {count}", class.as_str());
        let expected = TABLE
            .iter()
            .find(|(_, tools)| tools.contains(&tool.as_str()));
        if *class != expected.map_or(ToolClass::Other, |(class, _)| *class) {
            wrong.push(format!("{runtime} {tool} {}", class.as_str()));
        }
    }
    assert!(!seen.is_empty());
    assert!(wrong.is_empty(), "not in the table: {wrong:#?}");
}
