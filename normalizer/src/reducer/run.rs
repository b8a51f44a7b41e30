//! The state of one run: its numbering, its open step, its calls.

use std::hash::Hash;

use runtape_core::{
    DerivedIds, ExpertPart, LateValue, MessageId, Metadata, PartId, RunId, TokenCounts, ToolCallId,
    ToolName,
};

use serde_json::Value;

use super::pending::PendingCalls;
use super::step::{OpenPart, OpenStep};
use super::step_index::StepIndex;
use crate::by_hash::{ByHash, hash_of};
use crate::signal::{CallRef, TapePlace};

/// How many keys of metadata most runs know from the start.
const USUAL_KEYS: usize = 8;

/// What the user said before the work began, held because the runtime is named before it.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub(super) held: Vec<(String, TapePlace)>,
    /// Bytes of memory that are held.
    pub(super) weight: usize,
    /// Something was said, whether it is held or a record already.
    pub(super) given: bool,
}

/// Where the text that comes belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextChannel {
    /// To what the model answers, as far as anybody knows.
    Answer,
    /// Beside the work, as the runtime itself marks it.
    Progress,
}

/// The state of one run.
#[derive(Debug)]
pub(super) struct Run {
    /// Counts the runs of a tape in the order they appeared; the root is 0.
    pub(super) number: usize,
    pub(super) id: RunId,
    pub(super) ids: DerivedIds,
    /// The next record's sequence number.
    pub(super) seq: u64,
    pub(super) initialized: bool,
    pub(super) started: bool,
    pub(super) ended: bool,
    /// What the user said before the work began.
    pub(super) inputs: Inputs,
    /// The agent CLI's version, where it stands for the expert's.
    pub(super) version: Option<String>,
    pub(super) model: Option<String>,
    /// Metadata that no record has carried yet.
    pub(super) patch: Metadata,
    /// The last step's number; 0 before the first.
    pub(super) step: u64,
    pub(super) open: Option<OpenStep>,
    pub(super) messages: u64,
    pub(super) parts: u64,
    pub(super) live_events: u64,
    pub(super) channel: TextChannel,
    pub(super) usage: TokenCounts,
    pub(super) pending: PendingCalls,
    /// Where things stand in the open step.
    pub(super) index: StepIndex,
    pub(super) last: TapePlace,
    /// When the run was opened: nothing in it is earlier.
    pub(super) earliest: i64,
    /// The latest time in it, and in the runs that it started and that have ended: it ends no earlier.
    pub(super) latest: i64,
    /// The number of the run that started it.
    pub(super) parent: usize,
    /// Hashes of what must count once: responses and answered calls, a few bytes each.
    seen: ByHash<()>,
    /// How often an id was used, for ids that were used again.
    reused: ByHash<u32>,
}

impl Run {
    pub(super) fn new(id: RunId, number: usize, version: Option<String>, at: TapePlace) -> Self {
        Self {
            number,
            ids: DerivedIds::of(&id),
            id,
            seq: 0,
            initialized: false,
            started: false,
            ended: false,
            inputs: Inputs::default(),
            version,
            model: None,
            patch: Metadata::with_capacity(USUAL_KEYS),
            step: 0,
            open: None,
            messages: 0,
            parts: 0,
            live_events: 0,
            channel: TextChannel::Answer,
            usage: TokenCounts::default(),
            pending: PendingCalls::default(),
            index: StepIndex::default(),
            last: at,
            earliest: i64::MIN,
            latest: i64::MIN,
            parent: 0,
            seen: ByHash::default(),
            reused: ByHash::default(),
        }
    }

    /// Tells whether this is the run that the tape is of.
    pub(super) fn is_root(&self) -> bool {
        self.number == 0
    }

    /// Returns the time of something in the run, given the one that was told: a clock that was set back does not put it
    /// before the run.
    pub(super) fn time(&mut self, told: i64) -> i64 {
        let at = told.max(self.earliest);
        if self.seq == 0 {
            self.earliest = at;
        }
        self.latest = self.latest.max(at);
        at
    }

    /// Returns the latest time in the run, what it holds included.
    pub(super) fn latest_held(&self) -> i64 {
        let open = self.open.as_ref().map_or(i64::MIN, OpenStep::latest);
        self.latest.max(open)
    }

    /// Learns something for the metadata; it is written with the next checkpoint.
    pub(super) fn learn(&mut self, key: &'static str, value: impl Into<Value>) {
        self.learn_late(key, value.into().into());
    }

    pub(super) fn learn_late(&mut self, key: &'static str, value: LateValue) {
        self.patch.set_late(key.into(), value);
    }

    /// Returns the open step; a new one without a key where there is none.
    pub(super) fn open_step(&mut self, at: i64) -> &mut OpenStep {
        self.open.get_or_insert_with(|| OpenStep::new(None, at))
    }

    /// Returns the id of the next part.
    pub(super) fn next_part_id(&mut self) -> PartId {
        self.ids.part(Self::next(&mut self.parts))
    }

    /// Returns the id of the next message.
    pub(super) fn next_message_id(&mut self) -> MessageId {
        self.ids.message(Self::next(&mut self.messages))
    }

    /// Ends the open text part, if there is one.
    pub(super) fn close_text(&mut self) {
        if let Some(step) = &mut self.open
            && step.open_part() == OpenPart::Text
        {
            step.close_part();
        }
    }

    /// Notes that the open message was cut off.
    pub(super) fn cut(&mut self) {
        if let Some(step) = &mut self.open {
            step.cut = true;
            step.close_part();
        }
    }

    /// Marks a key as counted; `false` if it was before.
    pub(super) fn count_once(&mut self, kind: &str, key: &(impl Hash + ?Sized)) -> bool {
        self.seen.insert(hash_of(&(kind, key)), ())
    }

    /// Tells whether a key was counted before.
    pub(super) fn counted(&self, kind: &str, key: &(impl Hash + ?Sized)) -> bool {
        self.seen.contains(hash_of(&(kind, key)))
    }

    /// Returns the id of a call, derived where none was printed.
    pub(super) fn call_id(&self, call: CallRef<'_>) -> ToolCallId {
        let text = match call {
            CallRef::Printed(text) => text,
            CallRef::Local(ordinal) => return ToolCallId::derive(&self.id, ordinal),
        };
        let times = if self.reused.is_empty() {
            None
        } else {
            self.reused.get(hash_of(text))
        };
        let id = match times {
            Some(times) => ToolCallId::from_printed(&format!("{text}~{times}")),
            None => ToolCallId::from_printed(text),
        };
        id.unwrap_or_else(|| ToolCallId::derive(&self.id, u64::MAX))
    }

    /// Gives a call an id of its own where the runtime printed one that an earlier call had.
    ///
    /// Some models count their calls anew in each turn. A call that still waits for its result,
    /// or that stands in the open step, is the same call printed again: `None`.
    pub(super) fn reuse(&mut self, call: CallRef<'_>, id: &ToolCallId) -> Option<ToolCallId> {
        let CallRef::Printed(text) = call else {
            return None;
        };
        let waits = self.pending.get(id).is_some();
        let stands = self.open.is_some() && self.index.calls.contains(hash_of(id));
        if waits || stands {
            return None;
        }
        let text = hash_of(text);
        let times = self.reused.get(text).copied().unwrap_or(1);
        self.reused.insert(text, times + 1);
        let id = self.call_id(call);
        self.count_once("call", &id);
        Some(id)
    }

    /// Returns the tool and the step of a call, as far as they are known.
    pub(super) fn call_of(&self, id: &ToolCallId) -> (ToolName, u64) {
        if let Some(call) = self.pending.get(id) {
            return (call.name.clone(), call.step);
        }
        // A call that starts its sub-agent in the background has a result before the work begins.
        let place = self.index.calls.get(hash_of(id));
        let place = place.filter(|place| place.batch == self.index.batch);
        let part = place.and_then(|place| self.open.as_ref()?.spoken.parts.get(place.part));
        let name = match part {
            Some(ExpertPart::ToolCallPart(part)) => Some(part.tool_name.clone()),
            _ => None,
        };
        (
            name.unwrap_or_else(|| ToolName::from_printed("")),
            self.step.max(1),
        )
    }

    /// Returns the calls that have no result at the end of a step: all of them when the run is
    /// over, else those of the step. Listing all of them each time would grow with every step.
    pub(super) fn pending_at(&self, step: u64, is_over: bool) -> Vec<ToolCallId> {
        if is_over {
            self.pending.ids()
        } else {
            self.pending.ids_of_step(step)
        }
    }

    /// Gives back what only a run that goes on needs: a tape may have any number of children.
    pub(super) fn forget(&mut self) {
        self.index = StepIndex::default();
        self.seen = ByHash::default();
        self.reused = ByHash::default();
        self.patch = Metadata::default();
    }

    /// Gives a counter's value and moves it on.
    pub(super) fn next(counter: &mut u64) -> u64 {
        let value = *counter;
        *counter += 1;
        value
    }
}
