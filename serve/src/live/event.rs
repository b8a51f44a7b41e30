//! Events as they go over the line.

use axum::body::Bytes;
use runtape_core::{Record, TranscriptBuilder};
use serde_json::{Value, json};

use crate::api::written;
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
        "at": runtape_core::iso_time(record.at),
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

/// Tells a client to come back.
pub(super) fn resync(reason: &str) -> Bytes {
    event("resync", None, &json!({"reason": reason}))
}
