//! Events as they go over the line.

use axum::body::Bytes;
use runtape_core::report::OpenStep;
use runtape_core::{Record, RunId, TranscriptBuilder, iso_time};
use serde_json::{Value, json};

use crate::api::written;
use crate::cut::beginning;
use crate::problem::Problem;

/// Bytes of one event; of a record that makes more, the entries are asked for by themselves.
const LONGEST: usize = 128 << 10;

/// Sent when nothing else is, so that both ends know that the other is there.
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b": still here\n\n");

/// Writes an event. JSON has no line breaks of its own.
pub(super) fn event(name: &str, id: Option<&str>, data: &Value) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("event: {name}\n{id}data: {data}\n\n").into()
}

/// Writes a record, with what it adds to the transcript.
pub(super) fn record(record: &Record, builder: &mut TranscriptBuilder) -> Result<Bytes, Problem> {
    let entries = written(record, &builder.push(record))?;
    let id = format!("{}.{}", record.run_id, record.seq);
    let mut data = json!({
        "runId": record.run_id,
        "seq": record.seq,
        "at": iso_time(record.at),
        "type": record.kind.tag(),
        "entries": entries,
    });
    let bytes = event("record", Some(&id), &data);
    if bytes.len() <= LONGEST {
        return Ok(bytes);
    }
    if let Value::Object(fields) = &mut data {
        fields.insert("entries".to_owned(), json!([]));
        fields.insert("isTooLong".to_owned(), true.into());
    }
    Ok(event("record", Some(&id), &data))
}

/// Bytes of what a model said in an open step.
const LONGEST_TEXT: usize = 4 << 10;

/// Calls of an open step.
const CALLS: usize = 20;

/// Writes what the step has so far that a run is in: the end of what was said, and the last calls.
pub(super) fn open_step(run: &RunId, step: Option<&OpenStep>) -> Bytes {
    let step = step.map(|step| {
        let text = step.text.as_deref().unwrap_or_default();
        let from = (text.len().saturating_sub(LONGEST_TEXT)..=text.len())
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(text.len());
        let calls = step.calls.iter().rev().take(CALLS).rev().map(|call| {
            let about = call.command.as_ref().or(call.path.as_ref()).or(call.url.as_ref());
            let about = about.map(|about| beginning(about, LONGEST_TEXT));
            json!({
                "tool": call.tool, "about": about, "at": iso_time(call.at), "isRunning": call.is_running, "isError": call.is_error,
            })
        });
        json!({
            "step": step.step,
            "startedAt": iso_time(step.started_at),
            "text": text.get(from..),
            "calls": calls.collect::<Vec<_>>(),
        })
    });
    event("open", None, &json!({"runId": run, "step": step}))
}

/// The reason to come back from the beginning: records that were sent are no longer as they were.
pub(super) const MADE_ANEW: &str = "the run was made anew";

/// Tells a client to come back.
pub(super) fn resync(reason: &str) -> Bytes {
    event("resync", None, &json!({"reason": reason}))
}
