//! What each process wrote, and what sub-agents' files have, as they are being gathered.

use std::collections::HashMap;

use super::heads::LineHead;
use super::said::Said;
use crate::history::Segment;
use crate::times::told_millis;

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
pub(super) struct HistoryRun {
    pub(super) segment: Segment,
    /// It begins at a prompt of a document, which has no marks where a process begins.
    pub(super) is_of_document: bool,
}

/// What a sub-agent's file has.
#[derive(Debug)]
struct Agent {
    id: Box<str>,
    segment: Segment,
}

/// The runs of a session and their sub-agents.
#[derive(Debug, Default)]
pub(super) struct Runs {
    begun: Vec<HistoryRun>,
    agents: Vec<Agent>,
    /// Where an agent is, by its id.
    agent_places: HashMap<Box<str>, usize>,
    /// Who called an agent, by the agent's id.
    callers: HashMap<Box<str>, Owner>,
}

impl Runs {
    /// Tells whether no run has begun.
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// Begins a run, and returns its number.
    pub(super) fn begin(&mut self, run: HistoryRun) -> usize {
        self.begun.push(run);
        self.begun.len() - 1
    }

    /// Returns the number of an agent.
    pub(super) fn agent(&mut self, id: &str) -> usize {
        if let Some(at) = self.agent_places.get(id) {
            return *at;
        }
        let at = self.agents.len();
        self.agent_places.insert(id.into(), at);
        self.agents.push(Agent {
            id: id.into(),
            segment: Segment::default(),
        });
        at
    }

    /// Returns the agent that a record is of.
    pub(super) fn agent_of(&self, owner: Owner) -> Option<&str> {
        match owner {
            Owner::Run(_) => None,
            Owner::Agent(at) => self.agents.get(at).map(|agent| &*agent.id),
        }
    }

    /// Returns what was gathered.
    pub(super) fn segment(&mut self, owner: Owner) -> Option<&mut Segment> {
        match owner {
            Owner::Run(at) => self.begun.get_mut(at).map(|run| &mut run.segment),
            Owner::Agent(at) => self.agents.get_mut(at).map(|agent| &mut agent.segment),
        }
    }

    /// Notes that something was written at a time.
    pub(super) fn touch(&mut self, owner: Owner, written: Option<&str>) {
        let at = written.and_then(told_millis);
        if let (Some(at), Some(segment)) = (at, self.segment(owner)) {
            segment.started_at.get_or_insert(at);
            segment.last_at = segment.last_at.max(Some(at));
        }
    }

    /// Notes what a line adds to what was said of its record before.
    pub(super) fn add(&mut self, owner: Owner, head: &LineHead<'_>, before: Said) {
        self.touch(owner, head.timestamp.as_deref());
        for call in &head.calls.0 {
            if call.result.is_some() {
                self.touch(owner, call.timestamp.as_deref());
            }
            if let Some(agent) = call.agent.as_deref() {
                self.callers.insert(agent.into(), owner);
            }
        }
        let Some(segment) = self.segment(owner) else {
            return;
        };
        let id = head.id.as_deref().unwrap_or_default();
        if segment.key.is_empty() {
            id.clone_into(&mut segment.key);
        }
        let calls = head.calls.0.iter().skip(before.calls);
        let ids = calls.map(|call| call.id.as_deref().unwrap_or_default().to_owned());
        segment.calls.extend(ids);
        let said = head.said();
        if head.kind.as_deref() == Some("gemini") && said.is_response() {
            if !before.is_response() {
                segment.responses.push(id.to_owned());
            }
            if said.content && !before.content {
                segment.last_text = Some(head.content.text());
            }
        }
    }

    /// Notes what a user asked. The first prompt names the run.
    pub(super) fn ask(&mut self, run: usize, id: &str, text: String) {
        let Some(run) = self.begun.get_mut(run) else {
            return;
        };
        if run.segment.prompt.is_none() {
            if run.segment.responses.is_empty() {
                id.clone_into(&mut run.segment.key);
            }
            run.segment.prompt = Some(text);
        }
    }

    /// Ends the session: joins what is of one process, and gives each agent to the run that called it.
    ///
    /// `is_terminal` tells that the prompts of a document were typed in a terminal; `new_run` makes a run
    /// for agents whose session is gone.
    pub(super) fn finish(
        mut self,
        is_terminal: bool,
        new_run: impl FnOnce() -> HistoryRun,
    ) -> Vec<Segment> {
        self.join(is_terminal);
        let has_worked = |agent: &Agent| !agent.segment.lines.is_empty();
        if self.begun.is_empty() && self.agents.iter().any(has_worked) {
            self.begun.push(new_run());
        }
        self.adopt();
        let last = self.begun.len().saturating_sub(1);
        let segments = self.begun.into_iter().enumerate();
        segments
            .map(|(at, run)| Segment {
                // Another process went on with the session.
                is_over: at < last,
                ..run.segment
            })
            .collect()
    }

    /// Joins what is of one process after all: the prompts of a terminal, and what nobody asked for.
    fn join(&mut self, is_terminal: bool) {
        let mut joined: Vec<HistoryRun> = Vec::with_capacity(self.begun.len());
        let mut places = Vec::with_capacity(self.begun.len());
        for run in std::mem::take(&mut self.begun) {
            let is_same = !run.has_talk() || (run.is_of_document && is_terminal);
            match joined.last_mut().filter(|last| is_same || !last.has_talk()) {
                Some(last) => last.absorb(run),
                None => joined.push(run),
            }
            places.push(joined.len() - 1);
        }
        joined.retain(HistoryRun::has_talk);
        self.begun = joined;
        let place = |owner: &mut Owner| {
            if let Owner::Run(run) = owner {
                *run = places.get(*run).copied().unwrap_or_default();
            }
        };
        self.callers.values_mut().for_each(place);
    }

    fn adopt(&mut self) {
        let runs: Vec<usize> = self
            .agents
            .iter()
            .map(|agent| {
                self.caller(agent)
                    .unwrap_or_else(|| self.run_at_time(agent))
            })
            .collect();
        let mut agents: Vec<_> = runs.into_iter().zip(self.agents.drain(..)).collect();
        // An agent that calls another one begins before it.
        agents.sort_by_key(|(_, agent)| agent.segment.started_at);
        for (run, agent) in agents {
            if let Some(run) = self.begun.get_mut(run) {
                run.adopt(agent.segment);
            }
        }
    }

    /// Returns the run that called an agent, be it through others.
    fn caller(&self, agent: &Agent) -> Option<usize> {
        let mut agent = agent;
        for _ in 0..=self.agents.len() {
            match self.callers.get(&agent.id)? {
                Owner::Run(run) => return Some(*run),
                Owner::Agent(caller) => agent = self.agents.get(*caller)?,
            }
        }
        None
    }

    /// Returns the run in whose time an agent began: its caller was cut off before it could name it.
    fn run_at_time(&self, agent: &Agent) -> usize {
        let began = agent.segment.started_at;
        let is_before = |run: &&HistoryRun| run.segment.started_at <= began;
        let before = self.begun.iter().take_while(is_before).count();
        before.saturating_sub(1)
    }
}

impl HistoryRun {
    /// Tells whether anything was asked or answered.
    fn has_talk(&self) -> bool {
        let segment = &self.segment;
        segment.prompt.is_some() || !segment.responses.is_empty() || !segment.calls.is_empty()
    }

    /// Takes in what is of the same process after all.
    fn absorb(&mut self, other: Self) {
        let (mine, other) = (&mut self.segment, other.segment);
        if mine.prompt.is_none() && mine.responses.is_empty() {
            mine.key = other.key;
        }
        mine.lines.extend(other.lines);
        mine.started_at = mine.started_at.or(other.started_at);
        mine.last_at = mine.last_at.max(other.last_at);
        mine.cwd = mine.cwd.take().or(other.cwd);
        mine.prompt = mine.prompt.take().or(other.prompt);
        mine.last_text = other.last_text.or(mine.last_text.take());
        mine.responses.extend(other.responses);
        mine.calls.extend(other.calls);
        mine.unreadable += other.unreadable;
    }

    /// Takes in the work of a sub-agent that it started.
    fn adopt(&mut self, agent: Segment) {
        let segment = &mut self.segment;
        if segment.key.is_empty() {
            segment.key = agent.key;
        }
        segment.lines.extend(agent.lines);
        segment.responses.extend(agent.responses);
        segment.calls.extend(agent.calls);
        segment.started_at = segment.started_at.or(agent.started_at);
        segment.last_at = segment.last_at.max(agent.last_at);
        segment.unreadable += agent.unreadable;
    }
}
