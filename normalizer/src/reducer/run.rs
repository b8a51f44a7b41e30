//! The state of one run: its numbering, its open step, its calls.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};

use runtape_core::{DerivedIds, ExpertPart, Metadata, RunId, TokenCounts, ToolCallId, ToolName};

use super::step::OpenStep;
use crate::signal::{CallRef, Place};

/// How many keys of metadata most runs know from the start.
const USUAL_KEYS: usize = 8;

/// A call that has no result yet.
#[derive(Clone, Debug)]
pub(super) struct PendingCall {
    pub(super) id: ToolCallId,
    pub(super) name: ToolName,
    pub(super) step: u64,
    pub(super) at: i64,
}

/// Passes on a number that is a hash already.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The state of one run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: RunId,
    pub(super) ids: DerivedIds,
    /// The next record's sequence number.
    pub(super) seq: u64,
    pub(super) initialized: bool,
    pub(super) started: bool,
    pub(super) ended: bool,
    /// What the user said before the work began.
    pub(super) inputs: Vec<(String, Place)>,
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
    pub(super) usage: TokenCounts,
    pub(super) pending: Vec<PendingCall>,
    pub(super) last: Place,
    /// Hashes of what must count once: responses and answered calls, a few bytes each.
    seen: HashSet<u64, BuildHasherDefault<Hashed>>,
    /// How often an id was used, for ids that were used again.
    reused: HashMap<Box<str>, u32>,
    /// The same keys in every run of the program: normalizing has no randomness.
    hasher: BuildHasherDefault<DefaultHasher>,
}

impl Run {
    pub(super) fn new(id: RunId, version: Option<String>, at: Place) -> Self {
        Self {
            ids: DerivedIds::of(&id),
            id,
            seq: 0,
            initialized: false,
            started: false,
            ended: false,
            inputs: Vec::new(),
            version,
            model: None,
            patch: Metadata::with_capacity(USUAL_KEYS),
            step: 0,
            open: None,
            messages: 0,
            parts: 0,
            live_events: 0,
            usage: TokenCounts::default(),
            pending: Vec::new(),
            last: at,
            seen: HashSet::default(),
            reused: HashMap::new(),
            hasher: BuildHasherDefault::default(),
        }
    }

    /// Marks a key as counted; `false` if it was before.
    pub(super) fn count_once(&mut self, kind: &str, key: &str) -> bool {
        self.seen.insert(self.hasher.hash_one((kind, key)))
    }

    /// Tells whether a key was counted before.
    pub(super) fn counted(&self, kind: &str, key: &str) -> bool {
        self.seen.contains(&self.hasher.hash_one((kind, key)))
    }

    /// Returns the id of a call, derived where none was printed.
    pub(super) fn call_id(&self, call: CallRef<'_>) -> ToolCallId {
        match call {
            CallRef::Printed(text) if self.reused.contains_key(text) => {
                let times = self.reused.get(text).copied().unwrap_or_default();
                ToolCallId::from_printed(&format!("{text}~{times}"))
                    .unwrap_or_else(|| ToolCallId::derive(&self.id, u64::MAX))
            }
            CallRef::Printed(text) => ToolCallId::from_printed(text)
                .unwrap_or_else(|| ToolCallId::derive(&self.id, u64::MAX)),
            CallRef::Local(ordinal) => ToolCallId::derive(&self.id, ordinal),
        }
    }

    /// Gives a call an id of its own where the runtime printed one that an earlier call had.
    ///
    /// Some models count their calls anew in each turn. A call that still waits for its result,
    /// or that stands in the open step, is the same call printed again: `None`.
    pub(super) fn reuse(&mut self, call: CallRef<'_>, id: &ToolCallId) -> Option<ToolCallId> {
        let CallRef::Printed(text) = call else {
            return None;
        };
        let waits = self.pending.iter().any(|pending| pending.id == *id);
        let parts = self.open.iter().flat_map(|step| &step.spoken.parts);
        let stands = parts
            .into_iter()
            .any(|part| matches!(part, ExpertPart::ToolCallPart(part) if part.tool_call_id == *id));
        if waits || stands {
            return None;
        }
        *self.reused.entry(text.into()).or_insert(1) += 1;
        let id = self.call_id(call);
        self.count_once("call", id.as_str());
        Some(id)
    }

    /// Returns the tool and the step of a call, as far as they are known.
    pub(super) fn call_of(&self, id: &ToolCallId) -> (ToolName, u64) {
        if let Some(call) = self.pending.iter().find(|call| call.id == *id) {
            return (call.name.clone(), call.step);
        }
        // A call that starts its sub-agent in the background has a result before the work begins.
        let parts = self.open.iter().flat_map(|step| &step.spoken.parts);
        let name = parts.into_iter().find_map(|part| match part {
            ExpertPart::ToolCallPart(part) if part.tool_call_id == *id => {
                Some(part.tool_name.clone())
            }
            _ => None,
        });
        (
            name.unwrap_or_else(|| ToolName::from_printed("")),
            self.step.max(1),
        )
    }

    /// Returns the calls that have no result at the end of a step: all of them when the run is
    /// over, else those of the step. Listing all of them each time would grow with every step.
    pub(super) fn pending_at(&self, step: u64, is_over: bool) -> Vec<ToolCallId> {
        let calls = self.pending.iter().rev();
        let mut ids: Vec<ToolCallId> = calls
            .take_while(|call| is_over || call.step == step)
            .map(|call| call.id.clone())
            .collect();
        ids.reverse();
        ids
    }

    /// Gives a counter's value and moves it on.
    pub(super) fn next(counter: &mut u64) -> u64 {
        let value = *counter;
        *counter += 1;
        value
    }
}
