//! What one process wrote, and what a sub-agent's file has, as they are being gathered.

use crate::history::{Segment, SegmentLine};

/// Who has a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The run with this number.
    Run(usize),
    /// The sub-agent with this number.
    Agent(usize),
}

/// What one process wrote.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) segment: Segment,
    /// It begins at a prompt of a document, which has no marks where a process begins.
    pub(super) is_of_document: bool,
}

impl Run {
    /// Tells whether anything was asked or answered.
    pub(super) fn has_talk(&self) -> bool {
        let segment = &self.segment;
        segment.prompt.is_some() || !segment.responses.is_empty() || !segment.calls.is_empty()
    }

    /// Takes in what is of the same process after all.
    pub(super) fn absorb(&mut self, other: Self) {
        let (mine, other) = (&mut self.segment, other.segment);
        if mine.prompt.is_none() && mine.responses.is_empty() {
            mine.key = other.key;
        }
        mine.lines.extend(other.lines);
        mine.started_at = earlier(mine.started_at, other.started_at);
        mine.last_at = mine.last_at.max(other.last_at);
        mine.cwd = mine.cwd.take().or(other.cwd);
        mine.prompt = mine.prompt.take().or(other.prompt);
        mine.last_text = other.last_text.or(mine.last_text.take());
        mine.responses.extend(other.responses);
        mine.calls.extend(other.calls);
        mine.unreadable += other.unreadable;
    }

    /// Takes in the work of a sub-agent that it started.
    pub(super) fn adopt(&mut self, agent: Agent) {
        let segment = &mut self.segment;
        if segment.key.is_empty() {
            segment.key = agent.first;
        }
        segment.lines.extend(agent.lines);
        segment.responses.extend(agent.responses);
        segment.calls.extend(agent.calls);
        segment.started_at = segment.started_at.or(agent.started_at);
        segment.last_at = segment.last_at.max(agent.last_at);
        segment.unreadable += agent.unreadable;
    }
}

/// What a sub-agent's file has.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// The agent's id.
    pub(super) id: Box<str>,
    /// The id of its first record.
    pub(super) first: String,
    pub(super) lines: Vec<SegmentLine>,
    pub(super) responses: Vec<String>,
    pub(super) calls: Vec<String>,
    pub(super) started_at: Option<i64>,
    pub(super) last_at: Option<i64>,
    pub(super) unreadable: u64,
}

/// Returns the earlier of two times, as far as they are known.
fn earlier(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
