//! Who speaks: the main conversation, and those of sub-agents.

use std::collections::HashMap;

use super::said::RecordKey;
use crate::parser::SignalSink;
use crate::signal::{Scope, Signal, TapePlace};

/// The main conversation's number.
pub(super) const MAIN: usize = 0;

/// The conversations of a run.
#[derive(Debug)]
pub(super) struct Conversations {
    all: Vec<Conversation>,
    /// The conversation of a sub-agent, by the agent's id.
    agents: HashMap<Box<str>, usize>,
    /// The call that started a sub-agent, by the agent's id.
    delegations: HashMap<Box<str>, Delegation>,
}

/// One conversation.
#[derive(Debug, Default)]
struct Conversation {
    /// The call that started the sub-agent; nothing for the main conversation.
    call: Option<Box<str>>,
    /// The message that is open.
    open: Option<RecordKey>,
}

/// A call that started a sub-agent.
#[derive(Debug)]
struct Delegation {
    call: Box<str>,
    end: Option<AgentEnd>,
}

/// How a sub-agent ended, as its caller was told.
#[derive(Debug)]
pub(super) struct AgentEnd {
    pub(super) is_error: bool,
    pub(super) text: Option<String>,
    pub(super) place: TapePlace,
}

impl Default for Conversations {
    fn default() -> Self {
        Self {
            all: vec![Conversation::default()],
            agents: HashMap::new(),
            delegations: HashMap::new(),
        }
    }
}

impl Conversations {
    /// Returns the conversation of an agent, or the main one.
    ///
    /// An agent whose call is not known goes by its own id: its caller was cut off before it could name it.
    pub(super) fn of(&mut self, agent: Option<&str>) -> usize {
        let Some(agent) = agent else {
            return MAIN;
        };
        if let Some(known) = self.agents.get(agent) {
            return *known;
        }
        let call = match self.delegations.get(agent) {
            Some(delegation) => delegation.call.clone(),
            None => agent.into(),
        };
        let at = self.all.len();
        self.all.push(Conversation {
            call: Some(call),
            open: None,
        });
        self.agents.insert(agent.into(), at);
        at
    }

    /// Returns the call that started a conversation.
    pub(super) fn call(&self, at: usize) -> Option<Box<str>> {
        self.all.get(at)?.call.clone()
    }

    /// Tells whether a message is the one that is open.
    pub(super) fn is_open(&self, at: usize, key: RecordKey) -> bool {
        self.all.get(at).is_some_and(|it| it.open == Some(key))
    }

    /// Opens a message.
    pub(super) fn open(&mut self, at: usize, key: Option<RecordKey>) {
        if let Some(conversation) = self.all.get_mut(at) {
            conversation.open = key;
        }
    }

    /// Notes that a call started an agent.
    pub(super) fn delegate(&mut self, agent: &str, call: &str) {
        let delegation = || Delegation {
            call: call.into(),
            end: None,
        };
        let agent = self.delegations.entry(agent.into());
        agent.or_insert_with(delegation);
    }

    /// Notes how an agent ended.
    pub(super) fn end(&mut self, agent: &str, end: AgentEnd) {
        if let Some(delegation) = self.delegations.get_mut(agent) {
            delegation.end.get_or_insert(end);
        }
    }

    /// Says how the agents ended that showed themselves, in the order in which they did.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        let mut agents: Vec<_> = self.agents.iter().collect();
        agents.sort_unstable_by_key(|(_, at)| **at);
        for (agent, at) in agents {
            let end = self.delegations.get_mut(agent).and_then(|it| it.end.take());
            let call = self.all.get(*at).and_then(|it| it.call.as_deref());
            let (Some(end), Some(call)) = (end, call) else {
                continue;
            };
            let signal = Signal::ChildEnd {
                call: call.into(),
                is_error: end.is_error,
                text: end.text.map(Into::into),
            };
            out.emit_at(end.place, Scope::Main, signal);
        }
    }
}
