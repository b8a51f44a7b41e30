//! `openclaw-agent.sqlite`: the sessions of one agent, since 2026.8.
//!
//! Seen: 2026.9.6. A session key (`agent:main:main`) has one or more windows, each with an id: `/new` and
//! `/reset` begin another. A window's transcript is one row an event, in the order of `seq`: a header, the
//! user's messages, the model's, one for each result of a tool. A message of the user's begins a run;
//! a sub-agent is a session of its own, whose `spawned_by` is the key of the one that started it. What the
//! gateway puts in the user's place, such as the report of a sub-agent, begins no run.
//!
//! An event of a transcript is a column of JSON text, or the same compressed (`event_zstd`).
//! Accounts, credentials, what was sent where, and memories are in tables that are never read.
//!
//! Before 2026.8 sessions were files (`sessions/ID.jsonl`) with the same events; `openclaw doctor`
//! imports them.
//!
//! Read the files in this order: `reader` cuts a session's rows into runs, `parser` makes signals of the
//! rows of one. `wire` is what both read.

mod parser;
mod reader;
#[cfg(test)]
mod tests;
mod wire;

use crate::history::{
    Database, Framing, History, SegmentLines, SessionDirectory, SessionTable, Source, Table,
};

/// The name of an agent's database.
const FILE: &str = "openclaw-agent.sqlite";

const DATABASE: Database = Database {
    files: &[FILE],
    sessions: Some(SessionTable {
        name: "session_windows",
        id: "session_id",
        parent: "spawned_by",
        named_by: "session_key",
        without: &[
            "account_id",
            "channel",
            "chat_type",
            "hook_external_content_source",
            "plugin_owner_id",
            "primary_conversation_id",
        ],
    }),
    tables: &[Table {
        name: "transcript_events",
        session: "session_id",
        order: "seq",
        packed: Some(("event_json", "event_zstd")),
        without: &["navigation_json"],
    }],
};

pub(super) const HISTORY: History = History {
    places: &[SessionDirectory {
        home: ".openclaw",
        variable: Some(("OPENCLAW_STATE_DIR", "")),
        below: "agents",
    }],
    source: |path, _| {
        let is_database = path.rsplit('/').next() == Some(FILE);
        is_database.then(|| Source {
            session: path.to_owned(),
            framing: Framing::Database,
        })
    },
    is_candidate: |_| false,
    database: Some(&DATABASE),
    reader: || Box::new(reader::TranscriptReader::default()),
    parser: |_| Box::new(SegmentLines::new(parser::TranscriptParser::default())),
    prefers_printed_text: false,
    kept_days: None,
};
