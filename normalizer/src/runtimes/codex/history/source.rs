//! Which files are rollouts, and of which session.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::history::{Framing, Source};
use crate::session_id::is_small_uuid;

/// Tells whether a file is named as a rollout is.
pub(super) fn is_candidate(path: &str) -> bool {
    thread_of(path).is_some()
}

/// Returns the thread that a rollout is of, by its name: `rollout-<local time>-<thread id>.jsonl`.
pub(super) fn thread_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let id = stem.get(stem.len().checked_sub(36)?..)?;
    is_small_uuid(id).then_some(id)
}

/// Names the session of a rollout: the root thread's id, which its first line has. Before there was
/// such a field, a sub-agent named the thread that started it.
pub(super) fn source(path: &str, head: &[u8]) -> Option<Source> {
    let thread = thread_of(path)?;
    let mut named = NamedThreads::default();
    // The first line is longer than what is read of it, and ends with an error: the ids come first.
    let mut json = serde_json::Deserializer::from_slice(head);
    let _ = CutObject(&mut named, Depth::Line).deserialize(&mut json);
    let known = [named.session, named.parent];
    let session = known.into_iter().flatten().find(|id| is_small_uuid(id));
    Some(Source {
        session: session.unwrap_or_else(|| thread.to_owned()),
        framing: Framing::Lines,
    })
}

/// The threads that a first line names.
#[derive(Debug, Default)]
struct NamedThreads {
    session: Option<String>,
    parent: Option<String>,
}

#[derive(Clone, Copy)]
enum Depth {
    Line,
    Payload,
}

/// Reads what it can of an object, and keeps it also where the object is cut.
struct CutObject<'n>(&'n mut NamedThreads, Depth);

impl<'de> DeserializeSeed<'de> for CutObject<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for CutObject<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match (self.1, key.as_str()) {
                (Depth::Line, "payload") => {
                    map.next_value_seed(CutObject(self.0, Depth::Payload))?;
                }
                (Depth::Payload, "session_id") => self.0.session = map.next_value()?,
                (Depth::Payload, "parent_thread_id") => self.0.parent = map.next_value()?,
                (Depth::Payload, "source") => {
                    let source: Value = map.next_value()?;
                    let parent = source.pointer("/subagent/thread_spawn/parent_thread_id");
                    let parent = parent.and_then(Value::as_str).map(str::to_owned);
                    self.0.parent = self.0.parent.take().or(parent);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "01a1e411-5915-7861-aa3e-08ec0c7a5a8d";
    const CHILD: &str = "01a1e411-b496-7ac3-90ba-01683f56ba93";

    fn session(head: &str) -> String {
        let path = format!("sessions/2026/11/16/rollout-2026-11-16T11-15-04-{CHILD}.jsonl");
        source(&path, head.as_bytes()).unwrap().session
    }

    #[test]
    fn a_rollout_is_known_by_its_name_and_nothing_else_is_one() {
        assert!(is_candidate(&format!(
            "archived_sessions/rollout-x-{ROOT}.jsonl"
        )));
        for path in [
            "state_5.sqlite",
            "rollout-.jsonl",
            "history.jsonl",
            "sessions/rollout-2026-11-16.jsonl",
        ] {
            assert!(
                !is_candidate(path) && source(path, b"{}").is_none(),
                "{path}"
            );
        }
    }

    #[test]
    fn the_session_is_the_root_thread_s_also_where_the_first_line_is_cut() {
        let whole = format!(
            r#"{{"timestamp":"t","type":"session_meta","payload":{{"session_id":"{ROOT}","id":"{CHILD}","base_instructions":"long é"#
        );
        assert_eq!(session(&whole), ROOT);
        let older = format!(
            r#"{{"payload":{{"id":"{CHILD}","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{ROOT}"}}}}}}}}}}"#
        );
        assert_eq!(session(&older), ROOT);
        for none in [
            "",
            "{",
            "{\"payload\":5}",
            "[]",
            "{\"payload\":{\"session_id\":\"x\"}}",
        ] {
            assert_eq!(session(none), CHILD, "{none}");
        }
    }
}
