//! Which files are sources, and of which session.

use crate::history::{Framing, Source};

/// How many characters of its session's id a file's name has.
const SHORT: usize = 8;

/// What a file below `tmp` is, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourcePath<'a> {
    /// A session; with the first characters of its id.
    Session {
        /// The first characters of the session's id.
        short_id: &'a str,
        /// It is one document.
        is_document: bool,
    },
    /// A sub-agent of a session.
    Agent {
        /// The session's id.
        session: &'a str,
        /// The agent's id.
        agent: &'a str,
    },
}

impl<'a> SourcePath<'a> {
    /// Reads a path; nothing for what is no source.
    pub(super) fn read(path: &'a str) -> Option<Self> {
        let mut parts = path.rsplit('/');
        let (name, folder) = (parts.next()?, parts.next()?);
        if folder == "chats" {
            let stem = name.strip_prefix("session-")?;
            let (stem, is_document) = match stem.strip_suffix(".json") {
                Some(stem) => (stem, true),
                None => (stem.strip_suffix(".jsonl")?, false),
            };
            let (_, short_id) = stem.rsplit_once('-')?;
            return (!short_id.is_empty()).then_some(Self::Session {
                short_id,
                is_document,
            });
        }
        let agent = name.strip_suffix(".jsonl")?;
        let is_agent = parts.next()? == "chats" && !agent.is_empty() && !folder.is_empty();
        is_agent.then_some(Self::Agent {
            session: folder,
            agent,
        })
    }
}

/// Tells from the path alone that a file can be a source.
pub(super) fn is_candidate(path: &str) -> bool {
    SourcePath::read(path).is_some()
}

/// Tells which session a file belongs to.
///
/// Its first characters name the session, as they do for the CLI itself: the first line of a document
/// has no more than a bracket, so that the id is in the names only.
pub(super) fn source(path: &str, _: &[u8]) -> Option<Source> {
    let (session, framing) = match SourcePath::read(path)? {
        SourcePath::Session {
            short_id,
            is_document: true,
        } => (short_id, Framing::Document),
        SourcePath::Session { short_id, .. } => (short_id, Framing::Lines),
        SourcePath::Agent { session, .. } => {
            let short = session.get(..SHORT).unwrap_or(session);
            (short, Framing::Lines)
        }
    };
    Some(Source {
        session: session.to_owned(),
        framing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_its_copies_and_its_agents_are_one_session() {
        let table = [
            (
                "proj/chats/session-2026-11-16T11-30-64a60017.jsonl",
                Framing::Lines,
            ),
            (
                "proj/chats/session-2026-11-16T11-31-64a60017.jsonl",
                Framing::Lines,
            ),
            (
                "0f3a/chats/session-2026-11-16T11-30-64a60017.json",
                Framing::Document,
            ),
            (
                "proj/chats/64a60017-cfb9-4331-b856-d30e92076633/0b498d05-6156.jsonl",
                Framing::Lines,
            ),
        ];
        for (path, framing) in table {
            let found = source(path, b"{").unwrap();
            assert_eq!(found.session, "64a60017", "{path}");
            assert_eq!(found.framing, framing, "{path}");
            assert!(is_candidate(path), "{path}");
        }
    }

    #[test]
    fn other_files_are_no_sources() {
        for path in [
            "proj/logs.json",
            "proj/checkpoint-tag.json",
            "proj/.project_root",
            "proj/chats/session-2026.txt",
            "proj/chats/other-64a60017.jsonl",
            "proj/64a60017-cfb9/plans/a.jsonl",
            "session-2026-11-16T11-30-64a60017.jsonl",
            "proj/tool-outputs/session-x/a.jsonl",
            "",
        ] {
            assert!(source(path, b"{}").is_none(), "{path}");
            assert!(!is_candidate(path), "{path}");
        }
    }
}
