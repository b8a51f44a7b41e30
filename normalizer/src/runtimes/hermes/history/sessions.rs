//! One session's rows as they are read.

use super::wire::{Call, MessageLine, SessionRow, calls, goals};
use crate::bounds::told_count;
use crate::history::{SegmentLine, millis};
use crate::json::{Str, decode};
use crate::runtimes::hermes::tools::DELEGATE;

/// What the CLI's own rows in the user's place begin with: reports of sub-agents and of processes in
/// the background, requests to go on, summaries of what was compacted.
const OWN_ROWS: &[&str] = &[
    "[System",
    "[IMPORTANT",
    "[Background",
    "[Subagent",
    "[Note:",
];

/// A row of a message.
#[derive(Debug)]
pub(super) struct MessageRow {
    pub(super) line: SegmentLine,
    pub(super) id: i64,
    pub(super) at: Option<i64>,
    /// A hash of its text; rows without one have none.
    pub(super) text: Option<u64>,
    pub(super) kind: RowKind,
}

/// What a row means for how runs are cut.
#[derive(Debug)]
pub(super) enum RowKind {
    /// The user asks for something.
    Prompt(String),
    /// The model says something. Only the last text before a prompt is kept.
    Answer {
        text: Option<String>,
        calls: Vec<String>,
        /// The goals of sub-agents, with the calls that start them.
        goals: Vec<(String, String)>,
    },
    Other,
}

/// A session.
#[derive(Debug, Default)]
pub(super) struct SessionRows {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) is_acp: bool,
    pub(super) is_delegate: bool,
    pub(super) title: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) started_at: Option<i64>,
    /// Its own row, and the same without what it counts.
    pub(super) line: Option<SegmentLine>,
    pub(super) bare: Option<Vec<u8>>,
    pub(super) rows: Vec<MessageRow>,
    /// The last row with a text of the model, if no prompt followed.
    spoken: Option<usize>,
}

impl SessionRows {
    /// Creates a session of which only the name is known.
    pub(super) fn named(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..Self::default()
        }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: MessageRow) {
        match &row.kind {
            RowKind::Answer { text: Some(_), .. } => {
                let before = self.spoken.replace(self.rows.len());
                let before = before.and_then(|at| self.rows.get_mut(at));
                if let Some(RowKind::Answer { text, .. }) = before.map(|row| &mut row.kind) {
                    *text = None;
                }
            }
            RowKind::Prompt(_) => self.spoken = None,
            _ => {}
        }
        self.rows.push(row);
    }

    /// Takes the session's own row.
    pub(super) fn on_session(&mut self, row: &SessionRow<'_>, line: SegmentLine, bytes: &[u8]) {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        if let Some(id) = row.id.as_deref() {
            id.clone_into(&mut self.id);
        }
        self.parent = owned(row.parent.as_deref());
        self.is_acp = row.source.as_deref() == Some("acp");
        self.is_delegate = row.is_delegate();
        self.title = owned(row.title.as_deref());
        self.cwd = row.cwd();
        self.started_at = time(row.started);
        self.line = Some(line);
        self.bare = without_counts(bytes);
    }

    /// Returns what the first prompt asks for.
    pub(super) fn goal(&self) -> Option<&str> {
        self.rows.iter().find_map(|row| match &row.kind {
            RowKind::Prompt(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

/// Turns seconds into milliseconds.
pub(super) fn time(seconds: Option<f64>) -> Option<i64> {
    millis(seconds).and_then(told_count)
}

/// Reads what a row means.
pub(super) fn kind_of(role: &str, bytes: &[u8]) -> RowKind {
    if !matches!(role, "user" | "assistant") {
        return RowKind::Other;
    }
    let Ok(line) = decode::<MessageLine<'_>>(bytes) else {
        return RowKind::Other;
    };
    let row = line.value.row;
    let text = row.content.map(Str::into_owned);
    if role == "user" {
        return match text {
            Some(text) if !is_own(&text) => RowKind::Prompt(text),
            _ => RowKind::Other,
        };
    }
    let list = row.calls.as_deref().unwrap_or_default();
    let list = calls(list).unwrap_or_default();
    let ids = list.iter().filter_map(Call::id).map(str::to_owned);
    let mut delegated = Vec::new();
    for call in &list {
        if let (Some(DELEGATE), Some(id)) = (call.function.name.as_deref(), call.id()) {
            let goals = goals(&call.arguments()).into_iter();
            delegated.extend(goals.map(|goal| (goal, id.to_owned())));
        }
    }
    RowKind::Answer {
        calls: ids.collect(),
        goals: delegated,
        text: text.filter(|text| !text.is_empty()),
    }
}

impl RowKind {
    /// Returns the text of a message.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Prompt(text) => Some(text),
            Self::Answer { text, .. } => text.as_deref(),
            Self::Other => None,
        }
    }
}

/// Tells whether the CLI wrote a row that stands in the user's place.
pub(super) fn is_own(text: &str) -> bool {
    let is_loud = || {
        let head = text.strip_prefix('[').and_then(|rest| rest.get(..8));
        head.is_some_and(|head| head.chars().all(|c| c.is_ascii_uppercase() || c == ' '))
    };
    OWN_ROWS.iter().any(|start| text.starts_with(start)) || is_loud()
}

/// Returns a session's row without its counters, for runs whose tokens they are not.
fn without_counts(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut line: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let row = line.get_mut("row")?.as_object_mut()?;
    row.retain(|key, _| {
        let is_count = key.ends_with("_tokens") || key.ends_with("_count");
        let is_cost = key.ends_with("_cost_usd");
        !is_count && !is_cost && !matches!(key.as_str(), "ended_at" | "end_reason")
    });
    serde_json::to_vec(&line).ok()
}
