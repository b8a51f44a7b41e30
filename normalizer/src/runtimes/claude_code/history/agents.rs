//! Sub-agents: their lines, and the calls that started them.

use std::collections::HashMap;

use super::super::tools;
use super::line_head::{AgentNote, LineHead};
use super::runs::RunIndex;
use super::weave::ThreadLine;
use crate::json::{Str, decode};

/// What a sub-agent left.
#[derive(Debug, Default)]
pub(super) struct SubagentLines {
    /// The id, as its file or its first line has it.
    pub(super) id: String,
    pub(super) lines: Vec<ThreadLine>,
    /// The call that started it, as it is noted beside its lines.
    pub(super) noted_call: Option<String>,
    /// It is noted that it has ended.
    pub(super) is_finished: bool,
    /// What it was asked.
    prompt: Option<u64>,
}

/// The conversation in which something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// The main one of a process.
    Run(RunIndex),
    /// A sub-agent's.
    Agent(usize),
}

/// A call that starts a sub-agent.
#[derive(Debug)]
pub(super) struct Delegation {
    pub(super) call: String,
    pub(super) host: Host,
    /// Which line of its conversation has the result, unless that only says that it was started.
    pub(super) result_at: Option<usize>,
    prompt: Option<u64>,
    agent: Option<String>,
    is_matched: bool,
}

/// The sub-agents of a session.
#[derive(Debug, Default)]
pub(super) struct Agents {
    pub(super) all: Vec<SubagentLines>,
    pub(super) delegations: Vec<Delegation>,
    by_id: HashMap<String, usize>,
    /// Where a call is, by its id.
    by_call: HashMap<String, usize>,
    /// Which sub-agent a line of a side chain is of, by the line's id.
    side_chains: HashMap<u128, usize>,
}

impl Agents {
    /// Returns the sub-agent with an id.
    pub(super) fn with_id(&mut self, id: &str) -> usize {
        if let Some(known) = self.by_id.get(id) {
            return *known;
        }
        let index = self.all.len();
        self.all.push(SubagentLines {
            id: id.to_owned(),
            ..SubagentLines::default()
        });
        self.by_id.insert(id.to_owned(), index);
        index
    }

    /// Returns the sub-agent that a line of a session's file is of: those of one hang on each other.
    pub(super) fn of_side_chain(
        &mut self,
        uuid: u128,
        parent: Option<u128>,
        head: &LineHead<'_>,
    ) -> usize {
        let known = parent.and_then(|parent| self.side_chains.get(&parent).copied());
        let index = known.unwrap_or_else(|| {
            let id = head.uuid.as_ref().map_or("", |uuid| uuid.as_str());
            self.with_id(id)
        });
        self.side_chains.insert(uuid, index);
        index
    }

    /// Takes what is known of a sub-agent besides its lines.
    pub(super) fn on_note(&mut self, id: &str, bytes: &[u8]) {
        let Ok(note) = decode::<AgentNote<'_>>(bytes) else {
            return;
        };
        let index = self.with_id(id);
        if let Some(agent) = self.all.get_mut(index) {
            let call = note.value.call.map(Str::into_owned);
            agent.noted_call = call.or(agent.noted_call.take());
            agent.is_finished |= note.value.is_finished == Some(true);
        }
    }

    /// Takes a line of a sub-agent, and tells where it belongs.
    pub(super) fn on_line(&mut self, index: usize, head: &LineHead<'_>) {
        let Some(agent) = self.all.get_mut(index) else {
            return;
        };
        if agent.prompt.is_none() && head.kind.as_deref() == Some("user") {
            agent.prompt = head.message.content.text().map(|text| hash(&text));
        }
    }

    /// Notes calls that start sub-agents, and their results; the line is the next of its conversation.
    pub(super) fn on_calls(&mut self, head: &LineHead<'_>, host: Host, line: usize) {
        for block in head.message.content.blocks() {
            let block = &block.0;
            match block.kind.as_deref() {
                Some("tool_use") if block.name.as_deref().is_some_and(tools::is_agent) => {
                    let Some(call) = block.id.as_ref().map(Str::as_str) else {
                        continue;
                    };
                    if !self.by_call.contains_key(call) {
                        self.by_call.insert(call.to_owned(), self.delegations.len());
                        let prompt = block.input.0.prompt.0.as_ref();
                        self.delegations.push(Delegation {
                            call: call.to_owned(),
                            host,
                            result_at: None,
                            prompt: prompt.map(|prompt| hash(prompt)),
                            agent: None,
                            is_matched: false,
                        });
                    }
                }
                Some("tool_result") => {
                    let call = block.tool_use_id.as_ref().map_or("", |id| id.as_str());
                    let index = self.by_call.get(call).copied();
                    let delegation = index.and_then(|index| self.delegations.get_mut(index));
                    if let Some(delegation) = delegation.filter(|known| known.host == host) {
                        let result = &head.result.0;
                        let agent = result.agent.0.as_ref();
                        delegation.agent = agent.map(|agent| agent.as_str().to_owned());
                        let status = result.status.0.as_ref();
                        let is_launch = status.is_some_and(|status| status.ends_with("_launched"));
                        delegation.result_at = (!is_launch).then_some(line);
                    }
                }
                _ => {}
            }
        }
    }

    /// Finds for each sub-agent the call that started it: as noted, as the result has it, or by what
    /// it was asked.
    pub(super) fn matched(&mut self) -> Vec<Option<usize>> {
        let by_agent: HashMap<String, usize> = self
            .delegations
            .iter()
            .enumerate()
            .filter_map(|(index, delegation)| Some((delegation.agent.clone()?, index)))
            .collect();
        let mut found: Vec<Option<usize>> = Vec::with_capacity(self.all.len());
        for agent in &self.all {
            let noted = agent.noted_call.as_ref();
            let noted = noted.and_then(|call| self.by_call.get(call).copied());
            let index = noted.or_else(|| by_agent.get(&agent.id).copied());
            if let Some(known) = index.and_then(|index| self.delegations.get_mut(index)) {
                known.is_matched = true;
            }
            found.push(index);
        }
        let mut by_prompt: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, delegation) in self.delegations.iter().enumerate().rev() {
            if let Some(prompt) = delegation.prompt.filter(|_| !delegation.is_matched) {
                by_prompt.entry(prompt).or_default().push(index);
            }
        }
        for (agent, found) in self.all.iter().zip(&mut found) {
            if found.is_none() && agent.noted_call.is_none() {
                let asked = agent.prompt.and_then(|prompt| by_prompt.get_mut(&prompt));
                *found = asked.and_then(Vec::pop);
            }
        }
        found
    }
}

/// Returns what stands for a long text.
fn hash(text: &str) -> u64 {
    use std::hash::BuildHasher;
    foldhash::fast::FixedState::default().hash_one(text)
}
