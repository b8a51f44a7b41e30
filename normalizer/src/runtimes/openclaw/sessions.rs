//! Whose frames they are.
//!
//! Frames of every session of the gateway arrive. The asked one is the one that `chat.send` or `agent`
//! names; its sub-agents' sessions belong to it, and everything else is left out.

use std::collections::{HashMap, HashSet, VecDeque};

use super::conversation::Conversation;
use super::told::key_hash;

/// Most sessions of sub-agents that are told apart.
const MOST_CHILDREN: usize = 1000;

/// Most other sessions that are told apart; beyond, they are named together.
const MOST_FOREIGN: usize = 4096;

/// Whose frame it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionOwner {
    Asked,
    /// A sub-agent, by the order of first appearance.
    Child(usize),
    Foreign,
}

/// What is said of another session's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForeignNotice {
    /// The session was not told of.
    First,
    /// There are more sessions than are told apart.
    TooMany,
    /// It was told of.
    Known,
}

/// The sessions of a connection.
#[derive(Debug)]
pub(super) struct Sessions {
    limit: usize,
    asked: Option<Box<str>>,
    /// The whole key of the asked session, where the request named it by a short one.
    whole_key: Option<Box<str>>,
    pub(super) main: Conversation,
    pub(super) children: Vec<Conversation>,
    by_key: HashMap<Box<str>, usize>,
    /// The calls that started sessions, by the sessions' keys.
    spawned: HashMap<Box<str>, Box<str>>,
    /// Calls that started a session of which their results do not tell the key.
    untold: VecDeque<Box<str>>,
    foreign: HashSet<u64>,
    has_more_foreign: bool,
    /// Frames that were left out.
    pub(super) foreign_frames: u64,
}

impl Sessions {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            asked: None,
            whole_key: None,
            main: Conversation::new(limit, None),
            children: Vec::new(),
            by_key: HashMap::new(),
            spawned: HashMap::new(),
            untold: VecDeque::new(),
            foreign: HashSet::new(),
            has_more_foreign: false,
            foreign_frames: 0,
        }
    }

    /// Returns the key of the asked session.
    pub(super) fn asked(&self) -> Option<&str> {
        self.whole_key.as_deref().or(self.asked.as_deref())
    }

    /// Takes the key of the asked session; the first one stays.
    pub(super) fn ask(&mut self, key: &str) {
        if self.asked.is_none() && !key.is_empty() {
            self.asked = Some(key.into());
        }
    }

    /// Tells whether a key is that of the asked session.
    pub(super) fn is_asked(&self, key: &str) -> bool {
        self.asked.as_deref() == Some(key) || self.whole_key.as_deref() == Some(key)
    }

    /// Learns the whole key of a session that was asked for by a short one, such as `main`, from a
    /// frame of its run. Returns whether it is new.
    pub(super) fn learn_whole_key(&mut self, key: &str, run: &str) -> bool {
        let is_short = |asked: &str| !asked.contains(':') && key.contains(':');
        let is_learned = self.whole_key.is_none()
            && self.asked.as_deref().is_some_and(is_short)
            && self.main.runs.known(run).is_some();
        if is_learned {
            self.whole_key = Some(key.into());
        }
        is_learned
    }

    /// Learns which call started a session.
    pub(super) fn on_spawned(&mut self, key: &str, call: &str) {
        if self.spawned.len() < MOST_CHILDREN && !self.by_key.contains_key(key) {
            self.spawned.insert(key.into(), call.into());
        }
    }

    /// A call started a session, and nothing tells which: protocol 3 leaves results out. It is taken
    /// for the next one that shows itself.
    pub(super) fn on_untold_child(&mut self, call: &str) {
        if self.untold.len() < MOST_CHILDREN {
            self.untold.push_back(call.into());
        }
    }

    /// Returns whose frame it is, by its session's key and the session that started it.
    pub(super) fn owner(&mut self, key: &str, spawned_by: Option<&str>) -> SessionOwner {
        if key.is_empty() || self.is_asked(key) {
            return SessionOwner::Asked;
        }
        if let Some(child) = self.by_key.get(key) {
            return SessionOwner::Child(*child);
        }
        let is_child = self.spawned.contains_key(key)
            || match spawned_by {
                Some(parent) => self.is_of_tree(parent),
                None => self.is_subagent_key(key),
            };
        if !is_child || self.children.len() >= MOST_CHILDREN {
            return SessionOwner::Foreign;
        }
        let told = self.spawned.get(key).cloned();
        let call = told.or_else(|| self.untold.pop_front());
        let child = Conversation::new(self.limit, Some(call.unwrap_or_else(|| key.into())));
        self.by_key.insert(key.into(), self.children.len());
        self.children.push(child);
        SessionOwner::Child(self.children.len() - 1)
    }

    fn is_of_tree(&self, key: &str) -> bool {
        let is_known = self.by_key.contains_key(key) || self.spawned.contains_key(key);
        self.is_asked(key) || is_known || self.is_subagent_key(key)
    }

    /// Tells whether a key is that of a sub-agent of the asked session's agent, where nothing
    /// says who started it: `agent:main:subagent:…` beside `agent:main:…`.
    fn is_subagent_key(&self, key: &str) -> bool {
        let agent = |key: &str| {
            let mut colons = key.match_indices(':').map(|(at, _)| at);
            colons
                .nth(1)
                .and_then(|end| key.get(..=end).map(str::to_owned))
        };
        let Some(own) = self.asked().and_then(agent) else {
            return false;
        };
        key.strip_prefix(&*own)
            .is_some_and(|rest| rest.starts_with("subagent:"))
    }

    /// Returns a conversation.
    pub(super) fn get(&mut self, owner: SessionOwner) -> Option<&mut Conversation> {
        match owner {
            SessionOwner::Asked => Some(&mut self.main),
            SessionOwner::Child(child) => self.children.get_mut(child),
            SessionOwner::Foreign => None,
        }
    }

    /// Returns the sub-agent whose end a run of another session announces.
    pub(super) fn announced(&mut self, run: &str) -> Option<&mut Conversation> {
        let key = run.strip_prefix("announce:v1:")?;
        // The child's own run follows its key.
        let key = key.rsplit_once(':').map_or(key, |(key, _)| key);
        let child = self.by_key.get(key)?;
        self.children.get_mut(*child)
    }

    /// Counts a frame of another session.
    pub(super) fn on_foreign(&mut self, key: &str) -> ForeignNotice {
        self.foreign_frames += 1;
        let hash = key_hash(&[key]);
        if self.foreign.contains(&hash) {
            ForeignNotice::Known
        } else if self.foreign.len() < MOST_FOREIGN {
            self.foreign.insert(hash);
            ForeignNotice::First
        } else if std::mem::replace(&mut self.has_more_foreign, true) {
            ForeignNotice::Known
        } else {
            ForeignNotice::TooMany
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(key: &str) -> Sessions {
        let mut sessions = Sessions::new(1000);
        sessions.ask(key);
        sessions
    }

    #[test]
    fn sub_agents_belong_to_who_started_them() {
        let mut sessions = asked("agent:main:a");
        sessions.on_spawned("agent:other:subagent:4", "call_4");
        let table = [
            ("agent:main:a", None, SessionOwner::Asked),
            ("agent:main:b", None, SessionOwner::Foreign),
            (
                "agent:main:subagent:1",
                Some("agent:main:a"),
                SessionOwner::Child(0),
            ),
            ("agent:main:subagent:1", None, SessionOwner::Child(0)),
            (
                "agent:main:subagent:2",
                Some("agent:main:b"),
                SessionOwner::Foreign,
            ),
            (
                "agent:main:subagent:3",
                Some("agent:main:subagent:1"),
                SessionOwner::Child(1),
            ),
            ("agent:other:subagent:4", None, SessionOwner::Child(2)),
            ("agent:other:subagent:5", None, SessionOwner::Foreign),
            // Protocol 3 does not say who started it.
            ("agent:main:subagent:6", None, SessionOwner::Child(3)),
            ("agent:mainly:subagent:6", None, SessionOwner::Foreign),
        ];
        for (key, spawned_by, expected) in table {
            assert_eq!(sessions.owner(key, spawned_by), expected, "{key}");
        }
        assert_eq!(sessions.children[2].child_call(), Some("call_4"));
    }

    #[test]
    fn a_short_key_is_learned_from_a_frame_of_the_run() {
        let mut sessions = asked("main");
        assert!(!sessions.learn_whole_key("agent:main:main", "r"));
        sessions.main.runs.get("r");
        assert!(sessions.learn_whole_key("agent:main:main", "r"));
        assert!(!sessions.learn_whole_key("agent:main:other", "r"));
        assert_eq!(sessions.asked(), Some("agent:main:main"));
    }

    #[test]
    fn other_sessions_are_told_of_once_and_up_to_a_number() {
        let mut sessions = asked("agent:main:a");
        let mut told = 0;
        for n in 0..3 * MOST_FOREIGN {
            let key = format!("agent:main:{n}");
            told += usize::from(sessions.on_foreign(&key) != ForeignNotice::Known);
            assert_eq!(sessions.on_foreign(&key), ForeignNotice::Known);
        }
        assert_eq!(told, MOST_FOREIGN + 1);
        for n in 0..3 * MOST_CHILDREN {
            sessions.owner(&format!("agent:main:subagent:{n}"), None);
        }
        assert_eq!(sessions.children.len(), MOST_CHILDREN);
    }
}
