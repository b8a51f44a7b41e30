//! Segments: the lines of a process, with those of its sub-agents where they belong.
//!
//! The lines of a sub-agent stand together, before the line with the result of the call that started
//! it, or else at the end. A note of the reader's goes before them, and one after them:
//! `{"type":"subagent","call":ID}`, without a call for the main conversation. A sub-agent that no
//! call started, as 2.0 warms up two, is named by its own id.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use serde_json::json;

use super::agents::{Agents, Delegation, Host};
use super::runs::{CostBefore, RunIndex, SessionRun, SessionRuns};
use crate::history::{Segment, SegmentLine};

/// A line of a conversation.
#[derive(Clone, Debug)]
pub(super) struct ThreadLine {
    pub(super) source: usize,
    pub(super) place: Range<u64>,
    /// When it was written.
    pub(super) at: Option<i64>,
    /// The response that it is of.
    pub(super) response: Option<Box<str>>,
    /// The calls in it.
    pub(super) calls: Vec<Box<str>>,
}

impl ThreadLine {
    pub(super) fn new(source: usize, place: Range<u64>, at: Option<i64>) -> Self {
        Self {
            source,
            place,
            at,
            response: None,
            calls: Vec::new(),
        }
    }
}

/// Lines of a sub-agent that stand together.
#[derive(Debug)]
struct Bundle {
    agent: usize,
    lines: Range<usize>,
}

/// Makes the segments of a session.
pub(super) fn weave(runs: SessionRuns, mut agents: Agents) -> Vec<Segment> {
    let calls = agents.matched();
    let mut weaver = Weaver {
        agents: &agents,
        calls: &calls,
        before: HashMap::new(),
        after: HashMap::new(),
    };
    let (own, copied) = (Starts::of(&runs.own), Starts::of(&runs.copied));
    for agent in 0..agents.all.len() {
        weaver.place(agent, &own, &copied);
    }
    let mut segments = Vec::new();
    for (index, run) in runs.copied.into_iter().enumerate() {
        segments.push(weaver.segment(RunIndex::Copied(index), run));
    }
    for (index, run) in runs.own.into_iter().enumerate() {
        segments.push(weaver.segment(RunIndex::Own(index), run));
    }
    segments
}

/// How deep sub-agents may stand within each other.
const DEEPEST: usize = 32;

struct Weaver<'a> {
    agents: &'a Agents,
    /// Which delegation started a sub-agent.
    calls: &'a [Option<usize>],
    /// What stands before a line of a conversation.
    before: HashMap<(HostKey, usize), Vec<Bundle>>,
    /// What stands at the end of one.
    after: HashMap<HostKey, Vec<Bundle>>,
}

/// A conversation as a key.
type HostKey = (u8, usize);

fn key_of(host: Host) -> HostKey {
    match host {
        Host::Run(RunIndex::Copied(index)) => (0, index),
        Host::Run(RunIndex::Own(index)) => (1, index),
        Host::Agent(index) => (2, index),
    }
}

impl Weaver<'_> {
    /// Tells whether a conversation hangs on a process by no more calls than are followed: a file may
    /// claim that two sub-agents started each other.
    fn is_reached(&self, mut host: Host) -> bool {
        for _ in 0..DEEPEST {
            let Host::Agent(agent) = host else {
                return true;
            };
            let call = self.calls.get(agent).copied().flatten();
            match call.and_then(|call| self.agents.delegations.get(call)) {
                Some(delegation) => host = delegation.host,
                // One that no call started stands in a process by its time.
                None => return true,
            }
        }
        false
    }

    /// Finds the place of a sub-agent's lines.
    fn place(&mut self, agent: usize, own: &Starts, copied: &Starts) {
        let Some(lines) = self.agents.all.get(agent).map(|agent| &agent.lines) else {
            return;
        };
        let Some(first) = lines.first() else { return };
        let call = self.calls.get(agent).copied().flatten();
        let delegation = call.and_then(|call| self.agents.delegations.get(call));
        let host = match delegation.filter(|delegation| self.is_reached(delegation.host)) {
            Some(delegation) => Some(delegation.host),
            None => run_at(first.at, own, copied).map(Host::Run),
        };
        let Some(host) = host else { return };
        // A sub-agent that a later process speaks to again goes on in the same file.
        let mut end = lines.len();
        if let Host::Run(RunIndex::Own(of)) = host {
            let next = |at: Option<i64>| own.begun_at(at).filter(|later| *later > of);
            let mut split = lines.iter().position(|line| next(line.at).is_some());
            end = split.unwrap_or(end);
            while let Some(start) = split {
                let later = lines.get(start).and_then(|line| next(line.at));
                let is_other = |line: &ThreadLine| next(line.at) != later;
                let rest = lines.get(start..).unwrap_or_default();
                split = rest.iter().position(is_other).map(|length| start + length);
                let bundle = Bundle {
                    agent,
                    lines: start..split.unwrap_or(lines.len()),
                };
                let host = Host::Run(RunIndex::Own(later.unwrap_or(of)));
                self.after.entry(key_of(host)).or_default().push(bundle);
            }
        }
        let bundle = Bundle {
            agent,
            lines: 0..end,
        };
        let is_there = |delegation: &&Delegation| delegation.host == host;
        match delegation
            .filter(is_there)
            .and_then(|known| known.result_at)
        {
            Some(line) => {
                let place = self.before.entry((key_of(host), line));
                place.or_default().push(bundle);
            }
            None => self.after.entry(key_of(host)).or_default().push(bundle),
        }
    }

    /// Makes a segment of a process.
    fn segment(&mut self, index: RunIndex, mut run: SessionRun) -> Segment {
        let lines = std::mem::take(&mut run.lines);
        let mut segment = Segment {
            key: run.key,
            is_copy: run.is_copy,
            lines: Vec::with_capacity(lines.len() + 1),
            started_at: run.started_at,
            last_at: run.last_at,
            cwd: run.cwd,
            prompt: run.prompt,
            last_text: run.last_text,
            responses: Vec::new(),
            calls: Vec::new(),
            is_resumed: run.is_resumed,
            is_over: run.is_over,
            unreadable: run.unreadable,
        };
        if run.is_over {
            match run.cost_before {
                Some(CostBefore::Nothing) => {
                    let nothing =
                        json!({"type": "cost-state", "totalCostUSD": 0, "modelUsage": {}});
                    let nothing = nothing.to_string().into_bytes();
                    segment.lines.push(SegmentLine::Made(nothing));
                }
                Some(CostBefore::Line(line)) => segment.push(line),
                None => {}
            }
        }
        self.thread(Host::Run(index), None, 0, lines, &mut segment);
        let hasher = FixedState::default();
        let mut seen = HashSet::new();
        segment
            .responses
            .retain(|key| seen.insert(hasher.hash_one(key)));
        segment
    }

    /// Writes the lines of a conversation from `first` on, and those of the sub-agents that it
    /// started.
    fn thread(
        &mut self,
        host: Host,
        call: Option<&str>,
        first: usize,
        lines: Vec<ThreadLine>,
        segment: &mut Segment,
    ) {
        let key = key_of(host);
        for (index, line) in lines.into_iter().enumerate() {
            if let Some(bundles) = self.before.remove(&(key, first + index)) {
                self.bundles(bundles, call, segment);
            }
            segment.push(line);
        }
        if let Some(bundles) = self.after.remove(&key) {
            self.bundles(bundles, call, segment);
        }
    }

    fn bundles(&mut self, bundles: Vec<Bundle>, call: Option<&str>, segment: &mut Segment) {
        for Bundle { agent, lines } in bundles {
            let Some(known) = self.agents.all.get(agent) else {
                continue;
            };
            let delegation = self.calls.get(agent).copied().flatten();
            let delegation = delegation.and_then(|call| self.agents.delegations.get(call));
            let started = delegation.map(|delegation| delegation.call.as_str());
            let started = started.or(known.noted_call.as_deref());
            let started = started.unwrap_or(&known.id).to_owned();
            let begins = json!({"type": "subagent", "call": started, "agent": known.id});
            segment.note(begins.to_string());
            let first = lines.start;
            let lines = known.lines.get(lines).unwrap_or_default().to_vec();
            self.thread(Host::Agent(agent), Some(&started), first, lines, segment);
            let ends = json!({"type": "subagent", "call": call, "ended": started,
                "finished": known.is_finished});
            segment.note(ends.to_string());
        }
    }
}

/// When processes began.
struct Starts(Vec<i64>);

impl Starts {
    fn of(runs: &[SessionRun]) -> Self {
        let mut latest = i64::MIN;
        let starts = runs.iter().map(|run| {
            // A clock that was set back does not bring the order of the file to naught.
            latest = latest.max(run.started_at.unwrap_or(latest));
            latest
        });
        Self(starts.collect())
    }

    /// Returns the last process that had begun at a time.
    fn begun_at(&self, at: Option<i64>) -> Option<usize> {
        let at = at?;
        self.0.partition_point(|start| *start <= at).checked_sub(1)
    }
}

/// Returns the last process that had begun at a time; the first, if none had.
fn run_at(at: Option<i64>, own: &Starts, copied: &Starts) -> Option<RunIndex> {
    let found = own.begun_at(at).map(RunIndex::Own);
    let found = found.or_else(|| copied.begun_at(at).map(RunIndex::Copied));
    found.or_else(|| (!own.0.is_empty()).then_some(RunIndex::Own(0)))
}

impl Segment {
    fn push(&mut self, line: ThreadLine) {
        self.responses.extend(line.response.map(String::from));
        self.calls.extend(line.calls.into_iter().map(String::from));
        self.lines.push(SegmentLine::Kept {
            source: line.source,
            place: line.place,
        });
    }

    fn note(&mut self, note: String) {
        self.lines.push(SegmentLine::Made(note.into_bytes()));
    }
}
