//! The session files of the Gemini CLI, as 0.61.0, 0.45.2 and 0.27.0 leave them.
//!
//! | below `~/.gemini/tmp` | what |
//! |---|---|
//! | `<project>/chats/session-<time>-<8 of the session's id>.jsonl` | a session, one change a line |
//! | `<project>/chats/<session's id>/<agent's id>.jsonl` | a sub-agent of it |
//! | `<project>/chats/session-….json` | a session of older versions, one document that is written anew |
//!
//! A line is a header, a record (a prompt, a message of the model, a notice), or `$set`, which changes
//! the header or gives the whole list of records anew. A record is known by its id and its type together:
//! resuming writes the results of a message as a user's record with the id of that message. It is
//! written several times, and a later version may know less: what any line said stays said.
//!
//! Read the files in this order: `source` tells which files are of one session, `reader` cuts the session
//! into what each process wrote (`runs` gathers those, `heads` what it reads of a line, `elements` finds
//! records within a list), `parser` makes signals of the lines (`message`, `calls`, `conversation`, `wire`). `words` knows
//! what the CLI itself says in the user's name, `said` what is known of a record.

mod calls;
mod conversation;
mod elements;
mod heads;
mod message;
mod note;
mod parser;
mod reader;
mod runs;
mod said;
mod source;
#[cfg(test)]
mod tests;
mod wire;
mod words;

pub(super) use self::wire::Tokens;
use crate::history::{History, SegmentLines, SessionDirectory};

/// The history that the CLI keeps.
pub(super) const HISTORY: History = History {
    places: &[SessionDirectory {
        home: ".gemini",
        // It stands for the home directory.
        variable: Some(("GEMINI_CLI_HOME", ".gemini")),
        below: "tmp",
    }],
    source: source::source,
    is_candidate: source::is_candidate,
    database: None,
    reader: || Box::new(reader::GeminiSession::default()),
    parser: |_| Box::new(SegmentLines::new(parser::GeminiHistory::default())),
    prefers_printed_text: true,
    kept_days: Some(30),
};
