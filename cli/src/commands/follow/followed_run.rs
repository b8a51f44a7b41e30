//! One run that is followed.

use std::collections::BTreeMap;

use runtape_core::report::RunInfo;
use runtape_core::{Event, Record, RecordKind, RunId, RuntimeEventKind, ToolCallId};
use runtape_normalizer::{LiveItem, Output};
use runtape_recorder::following::Follower;
use runtape_store::Store;

use crate::error::CliError;

/// Records read at a time, so that a long run is not held in memory.
const PAGE: usize = 1000;

/// Something that is seen of a run.
pub(crate) enum SeenOfRun {
    /// A record that is kept.
    Record {
        record: Box<Record>,
        /// What is in it was seen before, as it became known.
        was_live: bool,
    },
    /// What a record will have once its step is over.
    Live(LiveItem),
}

/// What is to be seen before it is a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// Nothing.
    Nothing,
    /// The step that goes on when the run is first looked at, and whatever comes after it.
    OpenStep,
    /// All that was printed.
    Everything,
}

/// What is done with what is seen of a run.
type Each<'a> = &'a mut dyn FnMut(&RunId, SeenOfRun) -> Result<(), CliError>;

/// One run that is followed.
pub(crate) struct FollowedRun {
    id: RunId,
    started_at: i64,
    /// The record to be read next.
    next: u64,
    /// Reads the tape; absent for a run that has ended, or is known from elsewhere.
    follower: Option<Follower>,
    /// Whether the process of the run was, or is, recorded while it runs.
    was_live: bool,
    early: Early,
    /// What was seen of a step that may be over already; absent once all that was there at first was read.
    held: Option<Vec<LiveItem>>,
    has_ended: bool,
    is_shown: bool,
    /// The calls that go on, and when they began.
    calls: BTreeMap<ToolCallId, (String, i64)>,
}

impl FollowedRun {
    pub(super) fn new(store: &Store, info: &RunInfo, early: Early) -> Result<Self, CliError> {
        let follower = if info.status.is_terminal() || early == Early::Nothing {
            None
        } else {
            Follower::new(store, &info.run_id)?
        };
        Ok(Self {
            id: info.run_id.clone(),
            started_at: info.started_at,
            next: 0,
            was_live: follower.is_some(),
            follower,
            early,
            held: (early == Early::OpenStep).then(Vec::new),
            has_ended: false,
            is_shown: false,
            calls: BTreeMap::new(),
        })
    }

    pub(super) fn id(&self) -> &RunId {
        &self.id
    }

    pub(super) fn is(&self, run: &RunId) -> bool {
        self.id == *run
    }

    pub(super) fn started_at(&self) -> i64 {
        self.started_at
    }

    /// Returns the call that goes on for longest, if any does: the tool, and since when.
    pub(super) fn oldest_call(&self) -> Option<&(String, i64)> {
        self.calls.values().min_by_key(|(_, at)| *at)
    }

    /// Tells whether all of the run was seen.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Tells whether the end of the run was given to somebody.
    pub(super) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Waits for the run no longer.
    pub(super) fn give_up(&mut self) {
        self.has_ended = true;
        self.is_shown = true;
    }

    /// Goes on from here: what happened so far is not shown.
    pub(super) fn skip(&mut self, store: &Store) -> Result<(), CliError> {
        self.poll(store, &mut |_, _| Ok(()))
    }

    /// Calls `each` with what has happened since. With the records come what the step that goes on will have, each in
    /// its place.
    pub(super) fn poll(&mut self, store: &Store, each: Each<'_>) -> Result<(), CliError> {
        if self.has_ended {
            return Ok(());
        }
        // Asked before reading: what came before the end is then surely read.
        let has_ended = store.run(&self.id)?.status.is_terminal();
        if let Some(mut follower) = self.follower.take() {
            follower.poll(store, |output| self.take(store, output, each))?;
            for item in self.held.take().into_iter().flatten() {
                each(&self.id, SeenOfRun::Live(item))?;
            }
            if has_ended {
                let output = follower.finish(store)?;
                self.show_live(output.live, each)?;
            } else {
                self.follower = Some(follower);
            }
        }
        self.read_records(store, u64::MAX, each)?;
        self.has_ended = has_ended;
        self.is_shown = has_ended;
        Ok(())
    }

    /// Takes what a line of output gave. The records that it completes are of the steps before.
    fn take(&mut self, store: &Store, output: Output, each: Each<'_>) -> Result<(), CliError> {
        for record in output.records {
            if record.run_id != self.id {
                continue;
            }
            self.read_records(store, record.seq + 1, each)?;
            if let (Some(held), RecordKind::Checkpoint(_)) = (&mut self.held, &record.kind) {
                held.clear();
            }
        }
        self.show_live(output.live, each)
    }

    fn show_live(&mut self, items: Vec<LiveItem>, each: Each<'_>) -> Result<(), CliError> {
        for item in items {
            let run = match &item {
                LiveItem::Event(event) => match &**event {
                    Event::Run(event) => &event.run_id,
                    Event::Runtime(event) => &event.run_id,
                },
                LiveItem::Transcript { run_id, .. } => run_id,
            };
            if *run != self.id {
                continue;
            }
            self.note_call(&item);
            match &mut self.held {
                Some(held) => held.push(item),
                None => each(&self.id, SeenOfRun::Live(item))?,
            }
        }
        Ok(())
    }

    fn note_call(&mut self, item: &LiveItem) {
        let LiveItem::Event(event) = item else { return };
        let Event::Runtime(event) = &**event else {
            return;
        };
        match &event.kind {
            RuntimeEventKind::StreamToolCall(call) => {
                let begun = || (call.tool_name.as_str().to_owned(), event.timestamp);
                self.calls
                    .entry(call.tool_call_id.clone())
                    .or_insert_with(begun);
            }
            RuntimeEventKind::StreamToolResult(result) => {
                self.calls.remove(&result.tool_call_id);
            }
            _ => {}
        }
    }

    /// Reads the records before a number that are stored.
    fn read_records(&mut self, store: &Store, until: u64, each: Each<'_>) -> Result<(), CliError> {
        while self.next < until {
            let room = usize::try_from(until - self.next).unwrap_or(PAGE);
            let records = store.records(&self.id, self.next, room.min(PAGE))?;
            let Some(last) = records.last() else { break };
            self.next = last.seq + 1;
            let was_live = self.was_live && self.early == Early::Everything;
            for record in records {
                let record = Box::new(record);
                each(&self.id, SeenOfRun::Record { record, was_live })?;
            }
        }
        Ok(())
    }
}
