//! Subtypes of `system` messages that need no fields of their own to be read, as the CLI's own schema describes them.
//!
//! Read from the schema in 2.1.328. A subtype that is in neither table is drift.

use runtape_core::RuntimeEventKind;
use runtape_core::runtime_event::{Info, Warning};
use serde_json::Value;

use crate::json::decode;

/// What a host or a screen is told of its own state, and what other messages tell anyway.
const STATES: &[&str] = &[
    // The full list each time, of what the task messages tell one by one.
    "background_tasks_changed",
    "alive_before_init",
    "bridge_state",
    "bridge_status",
    "checkpoint_done",
    "cloud_session_delta",
    "commands_changed",
    "control_request_progress",
    "dev_intent",
    "elicitation_complete",
    "file_snapshot",
    "files_persisted",
    "inherited_asks_settled",
    "memory_recall",
    "per_turn_effort_changed",
    "permission_check_status",
    "placed",
    "rewind_stand_in",
    "session_metadata",
    "session_state_changed",
    "shell_cwd",
    "start_folder",
    "task_list_statuses",
    "task_summary",
    // The same text as in the thinking block.
    "thinking",
    "tool_host_result",
    "turn_began_before_init",
    "turn_duration",
    "turn_handoff_available",
    "turn_starting",
    "ui_focus",
    "ui_invalidate",
    "ui_notify_cancel",
    "ui_panes",
    "ui_placed",
    "ui_scroll",
    "ui_status",
    "voice_call_talk",
];

/// How grave a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Info,
    Warning,
}

/// What is worth telling, by the paths of the fields that say it.
const TOLD: &[(&str, Level, &[&str])] = &[
    ("agents_killed", Level::Info, &[]),
    ("api_error", Level::Warning, &["/error/message"]),
    ("away_summary", Level::Info, &["/content"]),
    ("cloud_session_status", Level::Info, &["/content"]),
    ("code_change_published", Level::Info, &["/action", "/url"]),
    ("feedback_draft_queued", Level::Info, &["/title"]),
    ("file_attachments_missing", Level::Warning, &["/missing"]),
    (
        "instruction_size_warning",
        Level::Warning,
        &["/total_chars", "/total_limit_chars"],
    ),
    ("late_allow_not_run", Level::Info, &["/reason"]),
    ("model_consent_fallback", Level::Info, &["/content"]),
    ("peer_message_hold", Level::Info, &["/state", "/from"]),
    ("permission_retry", Level::Info, &["/content"]),
    ("scheduled_task_fire", Level::Info, &["/content"]),
    ("session_title_changed", Level::Info, &["/title"]),
    (
        "session_writes_lost",
        Level::Warning,
        &["/error_code", "/lost"],
    ),
    (
        "stop_hook_summary",
        Level::Info,
        &["/stop_reason", "/hook_errors"],
    ),
    ("turn_preempted", Level::Info, &["/reason"]),
    ("ui_log", Level::Info, &["/plugin", "/text"]),
    ("ui_notify", Level::Info, &["/plugin", "/title", "/body"]),
    ("ui_toast", Level::Info, &["/plugin", "/text"]),
    ("vcs_state_changed", Level::Info, &["/kind", "/branch"]),
];

/// Tells whether a subtype says nothing of what happened.
pub(super) fn is_state(subtype: &str) -> bool {
    STATES.contains(&subtype)
}

/// Tells whether a subtype is known by these tables: whatever keys it has are no drift.
pub(super) fn is_known(subtype: &str) -> bool {
    is_state(subtype) || TOLD.iter().any(|(known, ..)| *known == subtype)
}

/// Makes a notice of a message that is worth telling.
pub(super) fn notice_of(subtype: &str, json: &[u8]) -> Option<RuntimeEventKind> {
    let (_, level, paths) = TOLD.iter().find(|(known, ..)| *known == subtype)?;
    let line = decode::<Value>(json).map(|decoded| decoded.value);
    let line = line.unwrap_or_default();
    let texts: Vec<String> = paths
        .iter()
        .filter_map(|path| match line.pointer(path)? {
            Value::Null => None,
            Value::Array(list) if list.is_empty() => None,
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            other => Some(other.to_string()),
        })
        .collect();
    let message = texts.join(": ");
    Some(match level {
        Level::Warning => Warning {
            message: format!("{subtype}: {message}"),
        }
        .into(),
        Level::Info => Info {
            topic: Some(subtype.to_owned()),
            message,
        }
        .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subtype_is_a_state_or_told_and_not_both() {
        for (subtype, ..) in TOLD {
            assert!(!is_state(subtype) && is_known(subtype), "{subtype}");
        }
        assert!(!is_known("init") && !is_known("brand_new"));
    }

    #[test]
    fn what_is_told_is_in_the_fields_that_say_it() {
        let table = [
            (
                r#"{"subtype":"vcs_state_changed","kind":"commit","cwd":"/w","branch":"main"}"#,
                "vcs_state_changed",
                "info",
                "vcs_state_changed: commit: main",
            ),
            (
                r#"{"subtype":"session_writes_lost","error_code":"ENOSPC","lost":["transcript"]}"#,
                "session_writes_lost",
                "warning",
                r#"session_writes_lost: ENOSPC: ["transcript"]"#,
            ),
            (
                r#"{"subtype":"agents_killed"}"#,
                "agents_killed",
                "info",
                "agents_killed",
            ),
        ];
        for (line, subtype, kind, message) in table {
            let notice = notice_of(subtype, line.as_bytes()).unwrap();
            assert_eq!(notice.notice_kind(), Some(kind), "{line}");
            assert_eq!(notice.notice_text(), message, "{line}");
        }
        assert!(notice_of("ui_invalidate", b"{}").is_none());
    }
}
