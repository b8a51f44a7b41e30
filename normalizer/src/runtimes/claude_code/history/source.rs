//! Which files are sources, and of which session.
//!
//! The directories above a session are not looked at: a copy of all of them elsewhere is the same
//! sessions once more.

use crate::history::{Framing, Source};
use crate::json::{Str, decode, wire_struct};
use crate::session_id::is_uuid;

/// What a file is, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind<'p> {
    /// A session.
    Session(&'p str),
    /// A sub-agent of the session whose directory it is in.
    Agent {
        /// The session.
        session: &'p str,
        /// The sub-agent.
        agent: &'p str,
    },
    /// What is known of a sub-agent besides its lines.
    AgentNote {
        /// The session.
        session: &'p str,
        /// The sub-agent.
        agent: &'p str,
    },
    /// A sub-agent beside the sessions: its lines name the session.
    LooseAgent(&'p str),
}

impl<'p> SourceKind<'p> {
    /// Tells what a file is; `None` for what is no source.
    pub(super) fn of(path: &'p str) -> Option<Self> {
        let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(agent) = name.strip_prefix("agent-") {
            let session = session_above(directories);
            return match (agent.strip_suffix(".jsonl"), session) {
                (Some(agent), Some(session)) => Some(Self::Agent { session, agent }),
                (Some(agent), None) => Some(Self::LooseAgent(agent)),
                (None, Some(session)) => {
                    let agent = agent.strip_suffix(".meta.json")?;
                    Some(Self::AgentNote { session, agent })
                }
                (None, None) => None,
            };
        }
        let session = name.strip_suffix(".jsonl").filter(|name| is_uuid(name))?;
        // Below a session's directory there is nothing but its own side files.
        session_above(directories)
            .is_none()
            .then_some(Self::Session(session))
    }
}

/// Returns the session in whose `subagents` directory something is, however deep.
fn session_above(directories: &str) -> Option<&str> {
    let mut names = directories.rsplit('/');
    names.by_ref().find(|name| *name == "subagents")?;
    names.next().filter(|name| is_uuid(name))
}

/// Tells whether a file may be a source.
pub(super) fn is_candidate(path: &str) -> bool {
    SourceKind::of(path).is_some()
}

wire_struct! {
    /// The session that a sub-agent's line names.
    struct AgentHead<'a> {
        "sessionId" => session: Option<Str<'a>>,
        ; rest skipped
    }
}

/// Tells which session a file belongs to.
pub(super) fn source(path: &str, head: &[u8]) -> Option<Source> {
    let lines = |session: &str| Source {
        session: session.to_owned(),
        framing: Framing::Lines,
    };
    match SourceKind::of(path)? {
        SourceKind::Session(session) | SourceKind::Agent { session, .. } => Some(lines(session)),
        SourceKind::AgentNote { session, .. } => Some(Source {
            framing: Framing::Document,
            ..lines(session)
        }),
        SourceKind::LooseAgent(_) => named_session(head).map(|session| lines(&session)),
    }
}

/// Finds the session's id in the first line, of which only the beginning may be at hand.
fn named_session(head: &[u8]) -> Option<String> {
    let named = if let Ok(line) = decode::<AgentHead<'_>>(head) {
        line.value.session.map(Str::into_owned)
    } else {
        // The prompt comes after it in all lines that were seen, so that it is not in a text.
        let text = String::from_utf8_lossy(head);
        let (_, rest) = text.split_once(r#""sessionId":""#)?;
        rest.split_once('"').map(|(id, _)| id.to_owned())
    };
    named.filter(|session| is_uuid(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0d016c59-92c1-409d-b997-59d944458f48";

    #[test]
    fn sessions_and_their_sub_agents_are_found_wherever_they_lie() {
        for prefix in ["-home-dev-proj", "copy/-home-dev-proj", "subagents/x"] {
            let session = format!("{prefix}/{ID}.jsonl");
            assert_eq!(SourceKind::of(&session), Some(SourceKind::Session(ID)));
            for below in ["subagents", "subagents/workflow"] {
                let agent = format!("{prefix}/{ID}/{below}/agent-a1.jsonl");
                let expected = SourceKind::Agent {
                    session: ID,
                    agent: "a1",
                };
                assert_eq!(SourceKind::of(&agent), Some(expected), "{agent}");
            }
        }
        let note = format!("p/{ID}/subagents/agent-a1.meta.json");
        let found = source(&note, b"{").unwrap();
        assert_eq!(
            (found.session.as_str(), found.framing),
            (ID, Framing::Document)
        );
    }

    #[test]
    fn what_else_lies_there_is_no_source() {
        let table = [
            format!("p/{ID}/tool-results/x.txt"),
            format!("p/{ID}/subagents/{ID}.jsonl"),
            "p/memory/MEMORY.md".to_owned(),
            "p/notes.jsonl".to_owned(),
            "history.jsonl".to_owned(),
            "p/agent-a1.meta.json".to_owned(),
        ];
        for path in table {
            assert!(!is_candidate(&path), "{path}");
        }
    }

    #[test]
    fn a_sub_agent_beside_the_sessions_names_its_own() {
        let line = format!(r#"{{"parentUuid":null,"sessionId":"{ID}","version":"2.0.76"}}"#);
        assert_eq!(
            source("p/agent-a1.jsonl", line.as_bytes()).unwrap().session,
            ID
        );
        let cut = &line.as_bytes()[..line.len() - 9];
        assert_eq!(source("p/agent-a1.jsonl", cut).unwrap().session, ID);
        assert_eq!(source("p/agent-a1.jsonl", b"{}"), None);
    }
}
