//! Whether a recorded run and a part of a history are the same execution.

use std::collections::HashSet;

use runtape_core::{ExpertPart, Message, RecordKind, RunId, summarize};
use runtape_normalizer::history::Segment;
use runtape_store::{Store, StoreError};
use serde_json::Value;

/// How far the clocks of a run and of its history may be apart, in milliseconds.
const SLACK: i64 = 5_000;

/// What can tell that two accounts are of one execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    pub(super) session: Option<String>,
    responses: HashSet<String>,
    calls: HashSet<String>,
    prompt: Option<String>,
    last_text: Option<String>,
    cwd: Option<String>,
    /// When it began and ended; none where the times are those of files.
    times: Option<(i64, i64)>,
}

/// How well two accounts fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// They are of two executions, or nothing tells.
    No,
    /// They share a key, and differ in what was asked.
    Doubtful,
    /// All that both tell is the same.
    Likely,
    /// They share a key.
    Sure,
}

impl Evidence {
    pub(super) fn of_segment(session: &str, segment: &Segment) -> Self {
        let times = segment.started_at.zip(segment.last_at);
        Self {
            session: Some(session.to_owned()),
            responses: segment.responses.iter().cloned().collect(),
            calls: segment.calls.iter().cloned().collect(),
            prompt: loose(segment.prompt.as_deref()),
            last_text: loose(segment.last_text.as_deref()),
            cwd: segment.cwd.clone(),
            times,
        }
    }

    /// Collects what a stored run tells.
    pub(super) fn of_run(store: &Store, root: &RunId) -> Result<Self, StoreError> {
        let info = store.run(root)?;
        let context = store.begin_of(root)?.context;
        let records = store.tree_records(root)?;
        let mut evidence = Self {
            session: info.session_id.clone(),
            cwd: info.cwd.clone(),
            prompt: loose(context.get("query").and_then(Value::as_str)),
            ..Self::default()
        };
        for record in &records {
            match &record.kind {
                RecordKind::Usage(entry) => {
                    evidence.responses.insert(entry.key.clone());
                }
                RecordKind::Initialize(initialize) if record.run_id == *root => {
                    let query = loose(initialize.query.as_deref());
                    evidence.prompt = evidence.prompt.take().or(query);
                }
                RecordKind::Message(message) => {
                    if let Message::ExpertMessage(message) = &message.message {
                        let calls = message.contents.iter().filter_map(|part| match part {
                            ExpertPart::ToolCallPart(call) => Some(call.tool_call_id.to_string()),
                            _ => None,
                        });
                        evidence.calls.extend(calls);
                    }
                }
                _ => {}
            }
        }
        // Numbers that belong to no response name none.
        evidence.responses.remove("total");
        evidence.responses.remove("remainder");
        let summary = summarize(&records);
        let last_text = summary.as_ref().and_then(|summary| {
            let last = summary.texts.last().map(String::as_str);
            summary.final_text.as_deref().or(last)
        });
        evidence.last_text = loose(last_text);
        let is_timeless = context.pointer("/metadata/timeSource").is_some();
        if !is_timeless {
            let end = info.finished_at.unwrap_or(i64::MAX);
            evidence.times = Some((info.started_at, end));
        }
        Ok(evidence)
    }

    /// Compares what was recorded with what a history tells.
    pub(super) fn fit(&self, history: &Self) -> Fit {
        let same_session = match (&self.session, &history.session) {
            (Some(one), Some(other)) if one != other => return Fit::No,
            (Some(_), Some(_)) => true,
            _ => false,
        };
        let same_prompt = same(self.prompt.as_deref(), history.prompt.as_deref());
        if !self.responses.is_disjoint(&history.responses) {
            // Not every provider's keys are its own for ever.
            return if same_prompt == Some(false) {
                Fit::Doubtful
            } else {
                Fit::Sure
            };
        }
        let same_calls = !self.calls.is_disjoint(&history.calls);
        let same_times = overlap(self.times, history.times);
        let same_text = match (&self.last_text, &history.last_text) {
            // Plain text shows no messages: the last one is its end, or it was cut.
            (Some(one), Some(other)) => Some(
                other.contains(one.as_str())
                    || one.starts_with(other.as_str())
                    || one.ends_with(other.as_str()),
            ),
            _ => None,
        };
        let same_cwd = match (&self.cwd, &history.cwd) {
            (Some(one), Some(other)) => Some(one == other),
            _ => None,
        };
        let is_no = |answer: Option<bool>| answer == Some(false);
        if is_no(same_prompt) || is_no(same_times) || (is_no(same_text) && !same_calls) {
            return Fit::No;
        }
        if same_session {
            // Models repeat the ids of calls, so these alone prove nothing without the session.
            return if same_calls && same_times == Some(true) {
                Fit::Sure
            } else {
                Fit::Likely
            };
        }
        let is_yes = |answer: Option<bool>| answer == Some(true);
        let has_words = is_yes(same_prompt) && is_yes(same_text);
        if has_words && !is_no(same_cwd) {
            Fit::Likely
        } else {
            Fit::No
        }
    }
}

fn same(one: Option<&str>, other: Option<&str>) -> Option<bool> {
    Some(one? == other?)
}

fn overlap(one: Option<(i64, i64)>, other: Option<(i64, i64)>) -> Option<bool> {
    let ((from, to), (other_from, other_to)) = (one?, other?);
    let starts = other_from <= to.saturating_add(SLACK);
    Some(starts && from <= other_to.saturating_add(SLACK))
}

/// Returns the letters and digits of a text: what markup, wrapping and quotation marks leave.
fn loose(text: Option<&str>) -> Option<String> {
    let text = text?;
    let letters: String = text
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .collect();
    Some(if letters.is_empty() {
        text.split_whitespace().collect()
    } else {
        letters
    })
}
