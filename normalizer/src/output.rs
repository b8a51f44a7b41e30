//! What a push yields.

use runtape_core::{Event, Record, RunId, TranscriptEntry};

/// What became known by one push, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Records to be kept.
    pub records: Vec<Record>,
    /// What a consumer can show at once. Empty unless asked for.
    pub live: Vec<LiveItem>,
}

impl Output {
    /// Empties it, and keeps its room for the next push.
    pub fn clear(&mut self) {
        self.records.clear();
        self.live.clear();
    }
}

/// Something to be shown while the run goes on. Never kept: the tape can give it again.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveItem {
    /// A streaming event.
    Event(Box<Event>),
    /// A line of the transcript; pieces of text have their delta flag set.
    Transcript {
        /// The run it belongs to.
        run_id: RunId,
        /// The entry.
        entry: TranscriptEntry,
    },
}
