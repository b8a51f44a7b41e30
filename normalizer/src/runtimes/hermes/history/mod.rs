//! `state.db`: all sessions of all directories, chat, quiet, oneshot and acp alike.
//!
//! Seen: schema 22 (0.19.0) and 14 (0.16.0), which has fewer columns. A message of the model is one
//! row, and so is a result of a tool. A session that is resumed goes on under its id: a row of the
//! user's begins a run, but for acp, where one process is asked many times. Sub-agents are sessions
//! of their own, and so is what follows after the conversation was compacted.
//!
//! There are no tokens of single responses: a session's row has its total over all runs. It is told
//! of the last run, whose total it is if there is no other.
//!
//! Snapshots and logs of sessions in files beside the database say nothing that it does not say.
//!
//! Read the files in this order: `reader` cuts a session's rows, which `sessions` gathers, into runs, and
//! `parser` makes signals of the rows of one. `wire` is what both read.

mod parser;
mod reader;
mod sessions;
#[cfg(test)]
mod tests;
mod wire;

use crate::history::{
    Database, Framing, History, SegmentLines, SessionDirectory, SessionTable, Source, Table,
};

const DATABASE: Database = Database {
    files: &["state.db"],
    sessions: Some(SessionTable {
        name: "sessions",
        id: "id",
        parent: "parent_session_id",
        named_by: "id",
        without: &[
            "system_prompt",
            "origin_json",
            "billing_base_url",
            "user_id",
            "chat_id",
            "session_key",
        ],
    }),
    tables: &[Table {
        name: "messages",
        session: "session_id",
        order: "id",
        packed: None,
        without: &[
            "api_content",
            "codex_message_items",
            "codex_reasoning_items",
            "platform_message_id",
            "reasoning_details",
        ],
    }],
};

pub(super) const HISTORY: History = History {
    places: &[SessionDirectory {
        home: ".hermes",
        variable: Some(("HERMES_HOME", "")),
        below: "",
    }],
    source: |path, _| {
        let is_database = path.rsplit('/').next() == Some("state.db");
        is_database.then(|| Source {
            session: path.to_owned(),
            framing: Framing::Database,
        })
    },
    is_candidate: |_| false,
    database: Some(&DATABASE),
    reader: || Box::new(reader::StateReader::default()),
    parser: |_| Box::new(SegmentLines::new(parser::StateParser::default())),
    prefers_printed_text: false,
    kept_days: None,
};
