//! `store.db`: one chat of the CLI, in content-addressed blobs.
//!
//! Nothing of it is recorded here: it is read as public readers of these files describe it. Messages
//! are JSON, whole or after some binary bytes; other blobs hold references to blobs. The conversation
//! is what is reached from the latest root, in order; everything else are left-overs of earlier roots.
//! There are no times, no tokens, no exit codes and no versions.
//!
//! The chat's transcripts, which the CLI writes beside it, say less than it does, and the IDE's
//! database is of chats that no process of the CLI had: neither is read.
//!
//! Read the files in this order: `reader` walks the chat's blobs and cuts it into runs, `parser` makes
//! signals of the messages of one. `blob` is what both read, and `words` knows what the CLI puts around
//! what the user said.

mod blob;
mod parser;
mod reader;
#[cfg(test)]
mod tests;
mod words;

use crate::history::{Database, Framing, History, SegmentLines, SessionDirectory, Source, Table};

const DATABASE: Database = Database {
    files: &["store.db"],
    sessions: None,
    tables: &[
        Table {
            name: "meta",
            session: "",
            order: "key",
            packed: None,
            without: &[],
        },
        Table {
            name: "blobs",
            session: "",
            order: "id",
            packed: None,
            without: &[],
        },
    ],
};

pub(super) const HISTORY: History = History {
    places: &[SessionDirectory {
        home: ".cursor",
        variable: None,
        below: "chats",
    }],
    source: |path, _| {
        let mut names = path.rsplit('/');
        let is_database = names.next() == Some("store.db");
        let session = names.next().filter(|_| is_database)?;
        Some(Source {
            session: session.to_owned(),
            framing: Framing::Database,
        })
    },
    is_candidate: |_| false,
    database: Some(&DATABASE),
    reader: || Box::new(reader::ChatReader::default()),
    parser: |_| Box::new(SegmentLines::new(parser::ChatParser::default())),
    prefers_printed_text: true,
    kept_days: None,
};
