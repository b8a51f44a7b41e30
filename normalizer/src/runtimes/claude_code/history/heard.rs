//! What the history has said, so that the output of the same run does not say it again.

use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use crate::json::{Str, decode, wire_struct};

wire_struct! {
    /// What tells whether a line of the output is known from the history.
    struct OutputLine<'a> {
        "uuid" => uuid: Option<Str<'a>>,
        "subtype" => subtype: Option<Str<'a>>,
        "parent_tool_use_id" => parent: Option<Str<'a>>,
        "event" => event: OutputEvent<'a>,
        ; rest skipped
    }

    /// An event of the model's API.
    struct OutputEvent<'a> {
        "message" => message: OutputMessage<'a>,
        ; rest skipped
    }

    /// A message that begins.
    struct OutputMessage<'a> {
        "id" => id: Option<Str<'a>>,
        ; rest skipped
    }
}

/// The lines and responses that were read.
#[derive(Debug, Default)]
pub(in super::super) struct Heard {
    /// A line of the history is being read, rather than one of the output.
    pub(in super::super) is_reading: bool,
    lines: HashSet<u64>,
    responses: HashSet<u64>,
    /// Failed attempts were reported.
    pub(super) retries: bool,
    /// A compaction was reported.
    pub(super) compactions: bool,
    /// The conversations in which a message is being written that is known.
    passed_over: HashSet<u64>,
    hasher: FixedState,
}

impl Heard {
    /// Notes a line; `false` if it was noted before.
    pub(super) fn note_line(&mut self, uuid: &str) -> bool {
        let hash = self.hasher.hash_one(uuid);
        self.lines.insert(hash)
    }

    /// Notes a response.
    pub(super) fn note_response(&mut self, key: &str) {
        let hash = self.hasher.hash_one(key);
        self.responses.insert(hash);
    }

    /// Tells whether the history has said what a line of the output says.
    pub(in super::super) fn knows(&mut self, tag: &str, json: &[u8]) -> bool {
        if !matches!(tag, "assistant" | "user" | "system" | "stream_event") {
            return false;
        }
        let Ok(line) = decode::<OutputLine<'_>>(json) else {
            return false;
        };
        let line = line.value;
        let hash = |text: &Str<'_>| self.hasher.hash_one(text.as_str());
        let is_line = line.uuid.as_ref().map(hash);
        let is_line = is_line.is_some_and(|hash| self.lines.contains(&hash));
        match (tag, line.subtype.as_deref()) {
            // While a message is written, its beginning alone has its id.
            ("stream_event", _) => {
                let scope = line.parent.as_ref().map_or(0, hash);
                if let Some(id) = line.event.message.id.as_ref().map(hash) {
                    if self.responses.contains(&id) {
                        self.passed_over.insert(scope);
                    } else {
                        self.passed_over.remove(&scope);
                    }
                }
                self.passed_over.contains(&scope)
            }
            ("system", Some("api_retry")) => is_line || self.retries,
            ("system", Some("compact_boundary")) => is_line || self.compactions,
            _ => is_line,
        }
    }
}
