//! `opencode.db`: all sessions of all projects.
//!
//! Seen: 1.18.33. A message is a row, and so is each part of it; rows change while a run goes on. A
//! session that is continued goes on under its id: a message of the user's begins a run. A fork is a
//! session with copies of another's messages, under new ids and with their old times: copies are left
//! out, since nothing ties them to what they are copies of.
//!
//! Older versions kept the same objects in files, and imported them when they got a database.
//!
//! Read the files in this order: `reader` cuts a session's rows into runs, `parser` makes signals of the
//! rows of one, and `message` holds a message with its parts until another begins. `wire` is what these
//! read.

mod message;
mod parser;
mod reader;
#[cfg(test)]
mod tests;
mod wire;

use crate::history::{
    Database, Framing, History, SegmentLines, SessionDirectory, SessionTable, Source, Table,
};

const DATABASE: Database = Database {
    files: &["opencode.db"],
    sessions: Some(SessionTable {
        name: "session",
        id: "id",
        parent: "parent_id",
        named_by: "id",
        without: &[
            "summary_diffs",
            "permission",
            "share_url",
            "metadata",
            "revert",
        ],
    }),
    tables: &[
        Table {
            name: "message",
            session: "session_id",
            order: "id",
            packed: None,
            without: &[],
        },
        Table {
            name: "part",
            session: "session_id",
            order: "id",
            packed: None,
            without: &[],
        },
    ],
};

pub(super) const HISTORY: History = History {
    places: &[SessionDirectory {
        home: ".local/share/opencode",
        variable: Some(("XDG_DATA_HOME", "opencode")),
        below: "",
    }],
    source: |path, _| {
        let is_database = path.rsplit('/').next() == Some("opencode.db");
        is_database.then(|| Source {
            session: path.to_owned(),
            framing: Framing::Database,
        })
    },
    is_candidate: |_| false,
    database: Some(&DATABASE),
    reader: || Box::new(reader::RowReader::default()),
    parser: |context| Box::new(SegmentLines::new(parser::RowParser::new(context))),
    prefers_printed_text: false,
    kept_days: None,
};

/// Returns a prompt as it was typed. Words that were given as one argument stand in quotation marks.
fn typed(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|inner| inner.contains(' '));
    let Some(inner) = inner else {
        return text.to_owned();
    };
    let plain = inner.replace("\\\"", "\u{0}");
    if plain.contains('"') {
        return text.to_owned();
    }
    plain.replace('\u{0}', "\"")
}
