//! What our summary says against what plainly stands in the output: formats, counts, the exact
//! answer, and how all of that holds together.
//!
//! What a format cannot carry is left out by rule, not by capture.

use std::collections::BTreeSet;

use runtape_core::{CheckpointStatus, RunSummary};

use super::compare::short;
use super::printed::Printed;
use super::{codex, cursor, gemini, openclaw, opencode};
use crate::captures::Capture;

/// Gathers what differs.
#[derive(Default)]
pub(super) struct Faults(Vec<(&'static str, String)>);

impl Faults {
    /// Compares a value with what it should be.
    pub(super) fn compare<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &'static str,
        expected: &T,
        got: &T,
    ) {
        if expected != got {
            let fault = format!("expected {}, got {}", short(expected), short(got));
            self.0.push((what, fault));
        }
    }

    /// Wants something to hold.
    pub(super) fn want(&mut self, what: &'static str, holds: bool, got: &impl std::fmt::Debug) {
        if !holds {
            self.0.push((what, short(got)));
        }
    }
}

/// Returns what differs, and in what.
pub(super) fn compare(capture: &Capture, summary: &RunSummary) -> Vec<(&'static str, String)> {
    let mut faults = Faults::default();
    holds_together(summary, &mut faults);
    if is_of_session(capture) {
        openclaw::compare(capture, summary, &mut faults);
        return faults.0;
    }
    let printed = Printed::of(capture);
    match capture.runtime.as_str() {
        "gemini" => gemini::compare(capture, &printed, summary, &mut faults),
        "cursor" => cursor::compare(capture, &printed, summary, &mut faults),
        "codex" => codex::compare(capture, summary, &mut faults),
        "opencode" => opencode::compare(capture, summary, &mut faults),
        "hermes" => faults.compare("costUsd", &None, &summary.cost_usd),
        _ => {}
    }
    faults.0
}

/// Tells whether the truth of a capture is that of one session among others: it is compared on
/// its own.
pub(super) fn is_of_session(capture: &Capture) -> bool {
    capture.truth().get("session_key").is_some()
}

fn holds_together(summary: &RunSummary, faults: &mut Faults) {
    let is_completed = summary.status == CheckpointStatus::Completed;
    faults.compare("error", &!is_completed, &summary.error.is_some());
    if let Some(error) = &summary.error {
        let is_said = !error.name.is_empty() && !error.message.is_empty();
        faults.want("error said", is_said, error);
    }
    if let Some(usage) = &summary.usage
        && let (Some(input), Some(cached), Some(output)) = (
            usage.input_tokens,
            usage.cached_input_tokens,
            usage.output_tokens,
        )
    {
        let total = Some(input + cached + output);
        faults.compare("totalTokens", &total, &usage.total_tokens);
    }
    let ids: BTreeSet<(&str, &str)> = summary
        .tool_calls
        .iter()
        .map(|call| (call.run_id.as_str(), call.id.as_str()))
        .collect();
    faults.compare("call ids", &ids.len(), &summary.tool_calls.len());
    for call in &summary.tool_calls {
        let is_ours = summary.runs.iter().any(|run| run.run_id == call.run_id);
        faults.want("calls belong to runs", is_ours, call);
    }
}
