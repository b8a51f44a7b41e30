//! claude-code's session files: what lies under `~/.claude/projects`.
//!
//! A session is one file, `<slug>/<session id>.jsonl`, to which every process of the session appends.
//! Seen on 2.1.325, 2.1.179, 2.1.19, 2.0.76 and 1.0.128. What is peculiar to it:
//!
//! - A line of the conversation has a `uuid` for ever: the line of stream-json and the copies of it in
//!   forks have the same one. All other lines are bookkeeping and stand where timing put them.
//! - A process in print mode begins with its prompt in a queue, and ends (from about 2.1.3xx on) with a
//!   `cost-state`, whose totals are of the whole session. The terminal has no mark but the latter.
//! - A fork copies all lines of the conversation behind its own first queue line, with their old times.
//! - Each line of a response repeats its usage; of the versions before 2.1, only the last is final.
//! - Sub-agents have files of their own: below the session's directory (2.1), beside the session (2.0),
//!   or none (1.0), where their lines stand in the session's file, marked as a side chain.
//!
//! `source` tells which files are sources. The `reader` reads of every line what `line_head` has of it;
//! `runs` cuts the session into processes by what `word` says of a line, `agents` finds for each
//! sub-agent the call that started it, and `weave` puts both into segments. `parser` reads the lines of
//! a segment with what reads the CLI's output; `wire` is what it reads, `message_parts` what it looks
//! for in a message, `cost` knows what a process used from two totals, `last_word` how it ended, and
//! `heard` which lines of the output say nothing new.
//!
//! Lines that say nothing of what happened are on no tape: requests to the model's API by content hash
//! (`api-request` and its kin, most of a file's bytes), what the CLI added to prompts (most of
//! `attachment`), and bookkeeping (`last-prompt`, `mode`, `tools-used` …).

mod agents;
mod cost;
mod heard;
mod last_word;
mod line_head;
mod message_parts;
mod parser;
mod reader;
mod runs;
mod source;
mod weave;
mod wire;
mod word;

#[cfg(test)]
mod tests;

use self::reader::TranscriptReader;
use crate::history::{History, SessionDirectory};

pub(super) use self::heard::Heard;
pub(super) use self::parser::HistoryLines;

/// Where the CLI keeps sessions, and how they are read.
pub(super) const HISTORY: History = History {
    places: &[SessionDirectory {
        home: ".claude",
        variable: Some(("CLAUDE_CONFIG_DIR", "")),
        below: "projects",
    }],
    source: source::source,
    is_candidate: source::is_candidate,
    database: None,
    reader: || Box::new(TranscriptReader::default()),
    parser: |context| Box::new(super::ClaudeCode::with_history(context)),
    prefers_printed_text: false,
    kept_days: Some(30),
};
