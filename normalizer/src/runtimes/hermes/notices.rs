//! Lines that hermes prints about the work, in any text format.

use runtape_core::runtime_event::{Info, Interaction, StdoutText, Task, Warning};

use super::session::leading_session_id;
use super::worktree;
use crate::parser::SignalSink;
use crate::signal::{Signal, compaction};

/// Tells whether a line is one of those that get onto the output of a quiet run.
///
/// An answer is printed as the model wrote it, so that only the exact forms count.
pub(super) fn is_leak(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("↻ Resumed session ") {
        return leading_session_id(rest).is_some();
    }
    is_subagent_line(line)
        || (line.starts_with("(clarify timed out after ")
            && line.ends_with(" — agent will decide)"))
        || line.starts_with("↩ Background ")
        || line.starts_with("  ⏱ Timeout — ")
        || line.starts_with("  ⚠ tirith ")
        || line.starts_with("  (tip) ")
        || ended_task(line).is_some()
}

/// Tells whether a line is printed by a sub-agent: `[subagent-1] ⚠️ …`.
pub(super) fn is_subagent_line(line: &str) -> bool {
    let id = line
        .strip_prefix("[subagent-")
        .and_then(|rest| rest.split_once("] "));
    id.is_some_and(|(id, _)| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()))
}

/// A sub-agent that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndedTask<'a> {
    /// Which of how many: `2/3`.
    number: &'a str,
    text: &'a str,
    /// Whether it failed.
    pub(super) is_error: bool,
}

impl EndedTask<'_> {
    /// Returns which of several sub-agents it was.
    pub(super) fn label(&self) -> &str {
        self.number
            .split_once('/')
            .map_or(self.number, |(label, _)| label)
    }

    /// Tells of it.
    pub(super) fn emit(&self, out: &mut SignalSink<'_>) {
        let status = if self.is_error { "failed" } else { "completed" };
        task(Some(self.number.to_owned()), status, self.text, out);
    }
}

/// Reads `  ✓ [2/3] <goal>  (0.7s)`.
pub(super) fn ended_task(line: &str) -> Option<EndedTask<'_>> {
    let rest = line.strip_prefix("  ")?;
    let is_error = !rest.starts_with('✓');
    let rest = rest.strip_prefix(['✓', '✗'])?.strip_prefix(" [")?;
    let (number, text) = rest.split_once("] ")?;
    let (label, count) = number.split_once('/')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let time = text
        .strip_suffix("s)")
        .and_then(|text| text.rsplit_once("  ("));
    let is_time = time.is_some_and(|(_, time)| time.parse::<f64>().is_ok());
    (digits(label) && digits(count) && is_time).then_some(EndedTask {
        number,
        text,
        is_error,
    })
}

/// Takes a line that tells of the work, at whatever time; `false` if it is none.
pub(super) fn take(line: &str, out: &mut SignalSink<'_>) -> bool {
    if let Some(rest) = line.strip_prefix("↻ Resumed session ") {
        resumed(line, rest, out);
    } else if line.starts_with("(clarify timed out after ") {
        clarified(line, out);
    } else if line.starts_with("↩ Background ") {
        let text = line.trim_start_matches("↩ ");
        task(None, "background", text, out);
    } else if let Some(task) = ended_task(line) {
        task.emit(out);
    } else if let Some(rest) = line.strip_prefix("[subagent-") {
        let Some((id, text)) = rest.split_once("] ") else {
            return false;
        };
        task(Some(format!("subagent-{id}")), "progress", text, out);
    } else if let Some(tip) = line.strip_prefix("  (tip) ") {
        info(Some("tip"), tip, out);
    } else if worktree::is_line(line) {
        info(Some("worktree"), line, out);
    } else if let Some(text) = line.strip_prefix("  ⚠ ") {
        warning(text, out);
    } else if is_compaction(line) {
        let message = Some(line.trim_start_matches(['🗜', '\u{fe0f}', ' ']).to_owned());
        out.event(compaction(message));
    } else if line.starts_with(CONTEXT_LIMIT) {
        info(None, line, out);
    } else {
        return false;
    }
    true
}

/// What hermes says when a request told it how much fits.
pub(super) const CONTEXT_LIMIT: &str = "Context limit detected from API: ";

/// Tells whether a line says that the conversation is being compacted.
pub(super) fn is_compaction(line: &str) -> bool {
    let text = line
        .strip_prefix('🗜')
        .map(|rest| rest.trim_start_matches(['\u{fe0f}', ' ']));
    text.is_some_and(|text| {
        text.starts_with("Compacting context") || text.starts_with("Context too large (")
    })
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
    out.event(interaction);
}

/// Tells how far a sub-agent is.
pub(super) fn task(id: Option<String>, status: &str, text: &str, out: &mut SignalSink<'_>) {
    let task = Task {
        task_id: id,
        tool_call_id: None,
        status: status.to_owned(),
        description: Some(text.to_owned()),
    };
    out.event(task);
}

/// Tells what has no further meaning.
pub(super) fn info(topic: Option<&str>, message: &str, out: &mut SignalSink<'_>) {
    let info = Info {
        topic: topic.map(str::to_owned),
        message: message.to_owned(),
    };
    out.event(info);
}

/// Passes a warning on.
pub(super) fn warning(message: &str, out: &mut SignalSink<'_>) {
    let message = message.to_owned();
    out.event(Warning { message });
}

/// Keeps text that nothing is known of.
pub(super) fn stray(text: String, out: &mut SignalSink<'_>) {
    out.event(StdoutText { text });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::collect;

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
            ("  ✓ [x/2] goal  (0.7s)", 0),
            ("  ✗ [1/2] goal", 0),
            ("anything", 0),
        ];
        for (line, count) in table {
            let mut known = false;
            let signals = collect(|out| known = take(line, out));
            assert_eq!((known, signals.len()), (count > 0, count), "{line}");
        }
    }
}
