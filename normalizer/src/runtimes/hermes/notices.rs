//! Lines that hermes prints about the work, in any text format.

use runtape_core::runtime_event::{Info, Interaction, StdoutText, Task, Warning};

use super::session::leading_session_id;
use crate::parser::SignalSink;
use crate::signal::Signal;

/// Takes a line that tells of the work, at whatever time; `false` if it is none.
pub(super) fn take(line: &str, out: &mut SignalSink<'_>) -> bool {
    if let Some(rest) = line.strip_prefix("↻ Resumed session ") {
        resumed(line, rest, out);
    } else if line.starts_with("(clarify timed out after ") {
        clarified(line, out);
    } else if line.starts_with("↩ Background ") {
        let text = line.trim_start_matches("↩ ");
        task(None, "background", text, out);
    } else if let Some(rest) = line.strip_prefix("  ✓ [") {
        return numbered_task("completed", rest, out);
    } else if let Some(rest) = line.strip_prefix("  ✗ [") {
        return numbered_task("failed", rest, out);
    } else if let Some(rest) = line.strip_prefix("[subagent-") {
        let Some((id, text)) = rest.split_once("] ") else {
            return false;
        };
        task(Some(format!("subagent-{id}")), "progress", text, out);
    } else if let Some(tip) = line.strip_prefix("  (tip) ") {
        info(Some("tip"), tip, out);
    } else if let Some(text) = line.strip_prefix("  ⚠ ") {
        warning(text, out);
    } else {
        return false;
    }
    true
}

/// Tells of a session that is continued.
pub(super) fn resumed(line: &str, rest: &str, out: &mut SignalSink<'_>) {
    if let Some(id) = leading_session_id(rest) {
        out.emit(Signal::Session(id));
    }
    info(None, line, out);
}

/// A question was asked that nobody answered.
fn clarified(line: &str, out: &mut SignalSink<'_>) {
    let interaction = Interaction {
        phase: "response".to_owned(),
        query_type: "clarify".to_owned(),
        query_id: None,
        payload: Some(line.trim_matches(['(', ')']).into()),
    };
    out.emit(Signal::Event(interaction.into()));
}

/// Reads `2/2] <goal>  (0.7s)`.
fn numbered_task(status: &str, rest: &str, out: &mut SignalSink<'_>) -> bool {
    let Some((number, text)) = rest.split_once("] ") else {
        return false;
    };
    task(Some(number.to_owned()), status, text, out);
    true
}

/// Tells how far a sub-agent is.
pub(super) fn task(id: Option<String>, status: &str, text: &str, out: &mut SignalSink<'_>) {
    let task = Task {
        task_id: id,
        tool_call_id: None,
        status: status.to_owned(),
        description: Some(text.to_owned()),
    };
    out.emit(Signal::Event(task.into()));
}

/// Tells what has no further meaning.
pub(super) fn info(topic: Option<&str>, message: &str, out: &mut SignalSink<'_>) {
    let info = Info {
        topic: topic.map(str::to_owned),
        message: message.to_owned(),
    };
    out.emit(Signal::Event(info.into()));
}

/// Passes a warning on.
pub(super) fn warning(message: &str, out: &mut SignalSink<'_>) {
    let message = message.to_owned();
    out.emit(Signal::Event(Warning { message }.into()));
}

/// Keeps text that nothing is known of.
pub(super) fn stray(text: String, out: &mut SignalSink<'_>) {
    out.emit(Signal::Event(StdoutText { text }.into()));
}

#[cfg(test)]
mod tests {
    use super::super::testing::collect;
    use super::*;

    #[test]
    fn known_lines_are_typed_and_others_are_left() {
        let table = [
            (
                "↻ Resumed session 20261115_234744_259736 (1 user message)",
                2,
            ),
            ("(clarify timed out after 120s — agent will decide)", 1),
            (
                "↩ Background task running — I'll resume when it finishes.",
                1,
            ),
            ("  ✓ [2/2] goal  (0.7s)", 1),
            ("  ✗ [1/2] goal  (1.16s)", 1),
            ("[subagent-0] line", 1),
            ("  (tip) That tool ran for a while.", 1),
            ("  ⚠ tirith security scanner enabled but not available", 1),
            ("[subagent-0", 0),
            ("  ✓ done", 0),
            ("anything", 0),
        ];
        for (line, count) in table {
            let mut known = false;
            let signals = collect(|out| known = take(line, out));
            assert_eq!((known, signals.len()), (count > 0, count), "{line}");
        }
    }
}
