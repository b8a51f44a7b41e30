//! What user interfaces put into a prompt besides the person's words, and how it comes out again.

use super::envelope::strip_envelope;
use super::javascript::{
    find_ignoring_case, starts_at_word_boundary, strip_prefix_ignoring_case, trim, trim_end,
    trim_start,
};

const RESET_HEAD: &str = "A new session was started via /new or /reset";
const RESET_END: &str = "reasoning.";
const PROJECT_HEADS: [&str; 2] = ["Project path:", "Workspace path:"];
const PROJECT_END: &str = "memory_search.";
const SYSTEM_EVENT_HEAD: &str = "System:";
const MESSAGE_ID_HEAD: &str = "[message_id:";
const HEARTBEAT_HEAD: &str = "Read HEARTBEAT.md if it exists";
const HEARTBEAT_PATH: &str = "Heartbeat file path:";

/// Returns a prompt without what the user interface added to it.
///
/// That is, in order and each once at the start: the reset notice, one system event, the project
/// path with its instructions; then every message id with the whitespace around it; then the
/// channel's envelope. Message ids join the words beside them, and a project path takes real text
/// along if its closing words come up later.
#[must_use]
pub fn strip_ui_metadata(text: &str) -> String {
    let text = without_reset_notice(text).unwrap_or(text);
    let text = without_system_event(text).unwrap_or(text);
    let text = without_project_path(text).unwrap_or(text);
    let text = without_message_ids(text);
    strip_envelope(trim(&text)).to_owned()
}

/// Returns whether a text starts with something a user interface added.
#[must_use]
pub fn is_ui_metadata_prefix(text: &str) -> bool {
    after_project_head(text).is_some() || strip_prefix_ignoring_case(text, RESET_HEAD).is_some()
}

/// Returns whether a text is the prompt that wakes an agent at intervals.
#[must_use]
pub fn is_heartbeat_prompt(text: &str) -> bool {
    strip_prefix_ignoring_case(trim(text), HEARTBEAT_HEAD)
        .is_some_and(|rest| starts_at_word_boundary(rest.as_bytes()))
        || find_ignoring_case(text, HEARTBEAT_PATH).is_some()
}

fn without_reset_notice(text: &str) -> Option<&str> {
    after_first(strip_prefix_ignoring_case(text, RESET_HEAD)?, RESET_END)
}

fn without_system_event(text: &str) -> Option<&str> {
    let event = trim_start(text.strip_prefix(SYSTEM_EVENT_HEAD)?).strip_prefix('[')?;
    let (name, details) = event.split_once(']')?;
    if name.is_empty() {
        return None;
    }
    after_blank_lines(details)
}

fn without_project_path(text: &str) -> Option<&str> {
    let path = after_project_head(text)?;
    after_first(path, PROJECT_END).or_else(|| after_blank_lines(path))
}

fn after_project_head(text: &str) -> Option<&str> {
    PROJECT_HEADS
        .iter()
        .find_map(|head| strip_prefix_ignoring_case(text, head))
}

/// Returns what follows the first `end` and the whitespace after it.
fn after_first<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let start = find_ignoring_case(text, end)?;
    text.get(start + end.len()..).map(trim_start)
}

/// Returns what follows the first run of blank lines, whitespace on the next line included.
fn after_blank_lines(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once('\n')?;
        let blank = after.len() - trim_start(after).len();
        if let Some(last) = after.get(..blank)?.rfind('\n') {
            return after.get(last + 1..);
        }
        // No line feed in the run, so none is skipped by going on behind it.
        rest = after.get(blank..)?;
    }
}

/// Removes every `[message_id:…]` and the whitespace around it.
fn without_message_ids(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    // Where the text not yet copied starts, and where the search goes on.
    let mut pending = text;
    let mut searched = 0;
    while let Some(found) = pending
        .get(searched..)
        .and_then(|rest| find_ignoring_case(rest, MESSAGE_ID_HEAD))
    {
        let start = searched + found;
        let id_start = start + MESSAGE_ID_HEAD.len();
        let Some((id, after)) = pending.get(id_start..).and_then(|id| id.split_once(']')) else {
            // No bracket closes this one, nor any after it.
            break;
        };
        if id.is_empty() {
            searched = id_start;
            continue;
        }
        kept.push_str(trim_end(pending.get(..start).unwrap_or_default()));
        pending = trim_start(after);
        searched = 0;
    }
    kept.push_str(pending);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_are_removed_in_order() {
        let reset = "a NEW session was started via /new or /reset. Be brief.\nNo Reasoning.";
        let cases = [
            ("empty", String::new(), ""),
            ("plain", " hi ".to_owned(), "hi"),
            (
                "reset",
                format!("{reset} \n hi reasoning. x"),
                "hi reasoning. x",
            ),
            (
                "reset once",
                format!("{reset}{reset} x"),
                &format!("{reset} x"),
            ),
            (
                "reset must start",
                format!(" {reset} x"),
                &format!("{reset} x"),
            ),
            (
                "system",
                "System:\n[a\nb] c\n\u{a0}\r\n\n hi".to_owned(),
                "hi",
            ),
            (
                "system case",
                "system: [a] c\n\nhi".to_owned(),
                "system: [a] c\n\nhi",
            ),
            (
                "system unclosed",
                "System: [a c\n\nhi".to_owned(),
                "System: [a c\n\nhi",
            ),
            (
                "system no blank",
                "System: [a] c\n hi".to_owned(),
                "System: [a] c\n hi",
            ),
            (
                "system once",
                "System: [a]\n\nSystem: [b]\n\nhi".to_owned(),
                "System: [b]\n\nhi",
            ),
            (
                "reset then system",
                format!("{reset} System: [a]\n\nhi"),
                "hi",
            ),
            (
                "system then project",
                "System: [a]\n\nproject PATH: b\n\nhi".to_owned(),
                "hi",
            ),
            (
                "indent after the blank line hides the project",
                "System: [a]\n\n Project path: b\n\nhi".to_owned(),
                "Project path: b\n\nhi",
            ),
            (
                "inline",
                "Workspace path: a b MEMORY_search. hi".to_owned(),
                "hi",
            ),
            (
                "inline wins",
                "Project path: a\n\nb memory_search. hi".to_owned(),
                "hi",
            ),
            (
                "inline only",
                "Project path: memory_search.Project path: b\n\nhi".to_owned(),
                "Project path: b\n\nhi",
            ),
            ("block", "Project path: a\r\n\r\nhi".to_owned(), "hi"),
            (
                "block separator",
                "Project path: a\u{2028}\u{2028}hi".to_owned(),
                "Project path: a\u{2028}\u{2028}hi",
            ),
        ];
        for (name, input, expected) in cases {
            assert_eq!(strip_ui_metadata(&input), expected, "{name}");
        }
    }

    #[test]
    fn message_ids_go_from_everywhere_before_the_envelope() {
        let cases = [
            (
                "ids",
                "a \n[Message_ID: x\ny]\u{feff}b[message_id:z] c",
                "abc",
            ),
            ("empty id", "a [message_id:] b", "a [message_id:] b"),
            (
                "empty then full",
                "[message_id:] [message_id:x] b",
                "[message_id:]b",
            ),
            ("id swallows a head", "a[message_id:[message_id:x]b", "ab"),
            ("unclosed id", "a [message_id:x b", "a [message_id:x b"),
            ("envelope last", "[message_id:1] [Slack u] hi ", "hi"),
            ("next line is no space", "\u{85}a", "\u{85}a"),
        ];
        for (name, input, expected) in cases {
            assert_eq!(strip_ui_metadata(input), expected, "{name}");
        }
    }

    #[test]
    fn prefixes_count_at_the_very_start() {
        let cases = [
            ("PROJECT path: x", true),
            ("workspace path:", true),
            ("A new session was started via /new or /RESET", true),
            (" Project path:", false),
            ("Project  path:", false),
            ("System: [x]", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_ui_metadata_prefix(text), expected, "{text}");
        }
    }

    #[test]
    fn heartbeats_are_told_by_their_sentence_or_their_path() {
        let cases = [
            ("\u{feff} read heartbeat.md IF it exists.", true),
            ("Read HEARTBEAT.md if it exists", true),
            ("Read HEARTBEAT.md if it existsé", true),
            ("Read HEARTBEAT.md if it existsx", false),
            ("Read HEARTBEAT.md if it exists_", false),
            ("Do: Read HEARTBEAT.md if it exists", false),
            ("x\nheartbeat FILE path:", true),
            ("Heartbeat file path", false),
            ("\u{85}Read HEARTBEAT.md if it exists", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_heartbeat_prompt(text), expected, "{text:?}");
        }
    }
}
