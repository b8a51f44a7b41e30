//! What agent CLIs leave on disk: their session files, read as a third stream of the tape.
//!
//! A *source* is a session file, or one session's rows in a database of the CLI's. The sources of one
//! session, those of its sub-agents included, are read together by the runtime's [`SessionReader`],
//! which cuts the session into [`Segment`]s: what one process wrote, one execution, one run. The lines
//! of a segment are the `history` stream of that run's tape, and the runtime's history parser turns
//! them into the same signals as any other output.
//!
//! Finding files, reading them and remembering what was read is the recorder's; nothing here opens
//! anything.

mod database;
mod ending;
mod in_memory;
mod rows;
mod segment_lines;

use std::ops::Range;

pub use database::{Database, SessionTable, Table};
pub(crate) use ending::{LastWord, judge, judge_with_answer};
pub use in_memory::{SessionSource, read_session, segment_bytes};
pub(crate) use rows::{NOTE, millis, table_of};
pub(crate) use segment_lines::{LineReader, SegmentLines};

use crate::context::Context;
use crate::parser::RuntimeParser;
use crate::redact::Kept;

/// What a runtime's entry says of the history that its CLI keeps.
pub struct History {
    /// Where the CLI keeps it.
    pub places: &'static [SessionDirectory],
    /// Tells which session a file belongs to, from its path below the place (with `/`) and its first
    /// bytes: the first line, or as much of it as a few KiB hold. `None` for what is no source.
    pub source: fn(path: &str, head: &[u8]) -> Option<Source>,
    /// Tells from the path alone that a file can be no source, so that it is not even opened.
    pub is_candidate: fn(path: &str) -> bool,
    /// How a database of the CLI's is read, for places whose sources are such.
    pub database: Option<&'static Database>,
    /// Creates a reader for one session.
    pub reader: fn() -> Box<dyn SessionReader>,
    /// Creates a parser for the lines of one segment.
    pub parser: fn(&Context) -> Box<dyn RuntimeParser>,
    /// Where output and history have the same text, the output's is the exact one, in its order among
    /// the calls.
    pub prefers_printed_text: bool,
    /// After how many days the CLI deletes a session that was not touched.
    pub kept_days: Option<u32>,
}

/// A directory in which a CLI keeps sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionDirectory {
    /// The CLI's own directory, below the home directory, such as `.claude`.
    pub home: &'static str,
    /// The environment variable that names another directory instead, and what is below it: for
    /// claude-code `CLAUDE_CONFIG_DIR` and nothing, for opencode `XDG_DATA_HOME` and `opencode`.
    pub variable: Option<(&'static str, &'static str)>,
    /// Where the sessions are below the CLI's directory, such as `projects`; empty for the directory itself.
    pub below: &'static str,
}

/// A file that holds history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Names the session whose sources are read together: the same for a session and its
    /// sub-agents, and for copies of them.
    pub session: String,
    /// How the file is cut into lines.
    pub framing: Framing,
}

/// How a source is cut into what its reader is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Line by line. A last line without its end is given only if it is a whole JSON value: else it
    /// waits for its rest.
    Lines,
    /// All of it at once: one JSON document, however it is printed.
    Document,
    /// A database, whose rows are read as lines.
    Database,
}

/// Reads the sources of one session and cuts it into segments. Total: any bytes give segments.
pub trait SessionReader: Send {
    /// Begins a source, named by its path below the place, or by the session's id in a database.
    /// Sources come sorted by name; the first has number 0.
    fn begin_source(&mut self, name: &str);

    /// Takes the next line of the source that was begun last, without its line feed, with its place
    /// in that source. What a reader makes of it goes on a tape.
    fn line(&mut self, place: Range<u64>, line: Kept<'_>);

    /// Ends the session.
    fn finish(self: Box<Self>) -> Session;
}

/// What the sources of one session hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The session's id, as the CLI prints it.
    pub id: String,
    /// What the CLI calls it.
    pub title: Option<String>,
    /// Its executions, in order.
    pub segments: Vec<Segment>,
}

/// What one process wrote into a session's history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// The first key of the segment that is its own: with the session's id it names the run.
    pub key: String,
    /// Its lines are copies of another session's, which has them as its own unless it is gone. The
    /// segment is taken in only if none of its responses is known elsewhere.
    pub is_copy: bool,
    /// Its lines, in the order in which the parser is given them.
    pub lines: Vec<SegmentLine>,
    /// When its first own line was written, in milliseconds since 1970.
    pub started_at: Option<i64>,
    /// When its last line was written.
    pub last_at: Option<i64>,
    /// The directory it worked in.
    pub cwd: Option<String>,
    /// What was asked first, as the user typed it.
    pub prompt: Option<String>,
    /// The last whole text of the model in the main conversation.
    pub last_text: Option<String>,
    /// The responses of the model, by the keys that its usage has in the ledger.
    pub responses: Vec<String>,
    /// The calls, by the ids that the model gave them.
    pub calls: Vec<String>,
    /// The session was resumed by this process, rather than begun.
    pub is_resumed: bool,
    /// The format itself says that the process has ended: nothing more can come.
    pub is_over: bool,
    /// How many lines were no JSON, or not understood at all.
    pub unreadable: u64,
}

/// A line of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentLine {
    /// A line as it stands in a source, without its line feed.
    Kept {
        /// The source's number.
        source: usize,
        /// Its place in the source.
        place: Range<u64>,
    },
    /// A line that stands in no source in this form: a row of a database, a message that was a part of a
    /// larger value, or a note of the reader's for the parser.
    Made(Vec<u8>),
}
