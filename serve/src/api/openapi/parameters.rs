//! What addresses take: each parameter by its name, with a schema as narrow as can be said.

use runtape_core::{RuntimeEventKind, ToolClass};
use serde_json::{Value, json};

/// What an id is.
const ID: &str = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$";

/// Returns the schema of a parameter, and what it is for.
fn described(name: &str) -> (Value, &'static str) {
    let text = || json!({"type": "string", "minLength": 1});
    let flag = || json!({"type": "string", "enum": ["0", "1", "false", "true"]});
    let number = || json!({"type": "integer", "minimum": 0, "maximum": u64::MAX});
    let id = || json!({"type": "string", "pattern": ID});
    match name {
        "run" => (id(), "The id of a run; `last` is the one that began last"),
        "after" => (
            json!({"type": "string", "pattern": "^([0-9a-f]{2})+$"}),
            "The cursor that came as `next` with the page before",
        ),
        "limit" => (
            json!({"type": "integer", "minimum": 1, "maximum": crate::question::LARGEST_PAGE}),
            "How many at most: 1 to 500, 50 if it is not said",
        ),
        "runtime" => (text(), "Only runs of this runtime"),
        "outcome" => (
            text(),
            "Only runs that went this way: running, completed, failed, limit, interrupted, unfinished, or the name of an error that one ended with",
        ),
        "unfinished" => (
            flag(),
            "1: also runs from history that stop without proof of an end",
        ),
        "job" => (id(), "The job, or only runs of this job"),
        "expert" => (text(), "Only runs given to this expert"),
        "model" => (text(), "Only runs with this model"),
        "session" => (text(), "Only runs of this session"),
        "tool" => (
            text(),
            "Only runs that called this tool; * and ? stand for any characters and any one",
        ),
        "cwd" => (text(), "Only runs that worked in this directory or below"),
        "family" => (
            super::definition("ErrorFamily"),
            "Only runs that failed this way",
        ),
        "label" => (
            json!({"type": "string", "pattern": "^[^=]"}),
            "Only runs with this label: NAME=VALUE, or NAME for any value",
        ),
        "since" => (
            text(),
            "Only what happened at this time or later; runs, jobs and sessions that were active then: an age (2d), a day (today, monday), a date, a time, or ISO 8601",
        ),
        "until" => (text(), "Only what happened before this time"),
        "children" => (flag(), "1: also runs that other runs started"),
        "text" => (text(), "Only runs in which a full-text search finds this"),
        "q" => (text(), "What to look for"),
        "by" => (
            text(),
            "What to add up by: day, week, month, runtime, model, job, session, cwd, label, label:NAME, or two of them",
        ),
        "utc" => (flag(), "1: days are those of UTC"),
        "calls" => (flag(), "1: each call"),
        "class" => (
            json!({"type": "string", "enum": ToolClass::ALL.map(ToolClass::as_str)}),
            "Only tools of this class",
        ),
        "failed" => (flag(), "1: only calls that failed"),
        "path" => (
            text(),
            "Only this file, or what is below this directory; with * and ?, whatever fits",
        ),
        "host" => (
            text(),
            "Only this host; * and ? stand for any characters and any one",
        ),
        "written" => (flag(), "1: only files that were written"),
        "directories" => (
            flag(),
            "1: directories that were searched, instead of files",
        ),
        "kind" => (
            json!({"type": "string", "enum": RuntimeEventKind::NOTICE_KINDS}),
            "Only notices of this kind",
        ),
        "seq" => (number(), "The record"),
        "part" => (
            text(),
            "A long text: a JSON pointer into the answer, or `entry:0/text` into a transcript entry",
        ),
        "from" => (
            number(),
            "The byte of the part, or the record of the transcript, to begin with",
        ),
        "runs" => (text(), "RUN or RUN:RECORD, joined by commas"),
        "list" => (flag(), "1: also the runs that are open"),
        "bundled" => (
            flag(),
            "1: the published schemas are in the document, for tools that fetch nothing",
        ),
        _ => (text(), ""),
    }
}

/// Describes a parameter.
pub(super) fn parameter(name: &str, place: &str, required: bool) -> Value {
    let (schema, description) = described(name);
    json!({"name": name, "in": place, "required": required, "description": description, "schema": schema})
}
