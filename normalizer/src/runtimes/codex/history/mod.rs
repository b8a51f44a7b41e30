//! Rollouts: what the CLI leaves of a thread, one JSON object a line.
//!
//! Seen: 0.166.0 and 0.169.0. A thread has one file, to which every process that resumes it appends; the threads
//! of sub-agents have files of their own. A turn goes from `task_started` to `task_complete`. What
//! `codex exec` does is one turn; a terminal's turns are one run.
//!
//! `codex exec fork` begins a thread of its own, whose totals hold those of its origin. `codex exec review` has the work
//! done by a thread of its own, and writes copies of some of its lines into the thread that asked for it: the review's
//! own lines take the place of the copies, and are of the main run, as in the output. A reviewer of approvals is a
//! sub-agent without a call.
//!
//! The same text stands in a `response_item` and in an `item_completed`. What the model was sent and
//! said is taken from the former, how calls ended from the latter, under the names that the output
//! has for them. A response ends with its `token_usage_record`.
//!
//! Read the files in this order: `source` tells which files are of one session, `reader` cuts them into
//! turns and puts those together to runs, `parser` makes signals of the lines of one. `thread` is one
//! thread of it, `calls` holds its calls until it shows what became of them, and `wire` is what these
//! read.

mod calls;
mod parser;
mod reader;
mod source;
#[cfg(test)]
mod tests;
mod thread;
mod wire;

use crate::history::{History, SegmentLines, SessionDirectory};

pub(super) const HISTORY: History = History {
    places: &[SessionDirectory {
        home: ".codex",
        variable: Some(("CODEX_HOME", "")),
        below: "",
    }],
    source: source::source,
    is_candidate: source::is_candidate,
    database: None,
    reader: || Box::new(reader::RolloutReader::default()),
    parser: |context| Box::new(SegmentLines::new(parser::RolloutParser::new(context))),
    prefers_printed_text: false,
    kept_days: None,
};
