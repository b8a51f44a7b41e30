//! A run to read, a page at a time, from any place in it.

use runtape_core::report::RunInfo;
use runtape_core::{Message, Metadata, Record, RecordKind, TranscriptBuilder, TranscriptEntry};
use runtape_store::{Store, StoreError};
use serde_json::{Value, json};

use super::BASE;
use crate::attachment;
use crate::cursor;
use crate::cut::{CUT_TEXTS, cut_object, in_query};
use crate::problem::Problem;
use crate::question::Question;

/// Bytes of a page, after which no further record is begun.
const PAGE_BYTES: usize = 1 << 20;

/// Bytes of one entry; what is longer with its texts cut is a structure that is asked for by itself.
const LONGEST_ENTRY: usize = 256 << 10;

/// Records read at a time.
const BLOCK: usize = 200;

/// How far back the last words of a model are looked for.
const FAR: u64 = 2000;

/// Returns the text of the last model message before a record.
fn last_text(store: &Store, run: &RunInfo, before: u64) -> Result<String, StoreError> {
    let mut end = before.min(run.records);
    let furthest = end.saturating_sub(FAR);
    while end > furthest {
        let start = end.saturating_sub(64).max(furthest);
        let count = usize::try_from(end - start).unwrap_or(BLOCK);
        for record in store.records(&run.run_id, start, count)?.iter().rev() {
            if let RecordKind::Message(message) = &record.kind
                && let Message::ExpertMessage(expert) = &message.message
            {
                return Ok(expert.text());
            }
        }
        end = start;
    }
    Ok(String::new())
}

/// Makes a builder that goes on before a record.
pub(crate) fn resumed_builder(
    store: &Store,
    run: &RunInfo,
    before: u64,
) -> Result<TranscriptBuilder, StoreError> {
    if before == 0 {
        return Ok(TranscriptBuilder::new());
    }
    let mut metadata = Metadata::default();
    if let Some(session) = &run.session_id {
        metadata.set("sessionId", session.as_str());
    }
    if let Some(cost) = run.cost.reported() {
        metadata.set("costUsd", cost);
    }
    let is_root = run.parent_run_id.is_none();
    let last = last_text(store, run, before)?;
    Ok(TranscriptBuilder::resumed(
        run.runtime.as_str(),
        is_root,
        metadata,
        last,
    ))
}

/// Returns the entries that are made of one record.
pub(super) fn entries_of(
    store: &Store,
    run: &RunInfo,
    record: &Record,
) -> Result<Vec<TranscriptEntry>, StoreError> {
    Ok(resumed_builder(store, run, record.seq)?.push(record))
}

/// Returns the step that a record belongs to, where it says so.
fn step_of(record: &Record) -> Option<u64> {
    match &record.kind {
        RecordKind::Message(message) => Some(message.step),
        RecordKind::Checkpoint(head) => Some(head.step),
        RecordKind::Event(event) => Some(event.step),
        _ => None,
    }
}

/// Writes what came with an entry: where the data of an image is, or why it is not shown.
fn attachments(record: &Record, number: usize) -> Vec<Value> {
    let (run, seq) = (&record.run_id, record.seq);
    let attachments = attachment::of_entry(record, number).into_iter();
    let written = attachments.map(|attachment| match attachment.image {
        Ok(image) => json!({
            "mimeType": image.mime_type,
            "bytes": attachment.bytes,
            "width": image.width,
            "height": image.height,
            "data": format!("{BASE}/runs/{run}/records/{seq}?part={}&from=0", in_query(&attachment.pointer)),
        }),
        Err(reason) => json!({
            "mimeType": attachment.mime_type,
            "bytes": attachment.bytes,
            "notShown": reason,
        }),
    });
    written.collect()
}

/// Writes the entries of a record, their long texts cut, each with its place in the run.
pub(crate) fn written(record: &Record, entries: &[TranscriptEntry]) -> Result<Vec<Value>, Problem> {
    let (run, seq) = (&record.run_id, record.seq);
    let mut all = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let mut value = serde_json::to_value(entry)?;
        let rest = |pointer: &str, from: usize| {
            let part = in_query(&format!("entry:{number}{pointer}"));
            format!("{BASE}/runs/{run}/records/{seq}?part={part}&from={from}")
        };
        cut_object(&mut value, &rest);
        let length = value.to_string().len();
        if let Value::Object(fields) = &mut value {
            if length > LONGEST_ENTRY && fields.contains_key("input") {
                fields.insert("input".to_owned(), Value::Null);
                let cut =
                    json!([{"pointer": "/input", "length": length, "rest": rest("/input", 0)}]);
                fields.insert(CUT_TEXTS.to_owned(), cut);
            }
            let attachments = attachments(record, number);
            if !attachments.is_empty() {
                fields.insert("attachments".to_owned(), attachments.into());
            }
            fields.insert("seq".to_owned(), seq.into());
            fields.insert("index".to_owned(), number.into());
            if let Some(step) = step_of(record) {
                fields.insert("step".to_owned(), step.into());
            }
        }
        all.push(value);
    }
    Ok(all)
}

/// `runs/{run}/transcript`: entries in Paperclip's shape, each with the record and the step it is of.
///
/// `after` is the cursor of the page before; `from` begins at a record, so that any place can be linked.
pub(super) fn page(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["after", "from", "limit"]])?;
    let run_id = question.run(store)?;
    let run = store.run(&run_id)?;
    let limit = question.limit()?;
    let bad = |_| Problem::bad_request("bad page mark: use the one that came with the last page");
    let mark = question.mark("transcript")?;
    let mark = mark.map(|mark| mark.parse().map_err(bad)).transpose()?;
    let mut next: u64 = match mark {
        Some(mark) => mark,
        None => question.number("from")?.unwrap_or(0),
    };
    let mut builder = resumed_builder(store, &run, next)?;
    let mut items = Vec::new();
    let mut bytes = 0;
    let is_full = |items: &[Value], bytes: usize| items.len() >= limit || bytes >= PAGE_BYTES;
    'pages: loop {
        let records = store.records(&run_id, next, BLOCK)?;
        if records.is_empty() {
            break;
        }
        for record in records {
            if is_full(&items, bytes) {
                break 'pages;
            }
            for entry in written(&record, &builder.push(&record))? {
                bytes += entry.to_string().len();
                items.push(entry);
            }
            next = record.seq + 1;
        }
    }
    let more = is_full(&items, bytes) && next < run.records;
    let mut body = super::list(
        &items,
        more.then(|| cursor::write("transcript", &next.to_string())),
    )?;
    if let Value::Object(fields) = &mut body {
        // From here on, `live` goes on without a gap.
        fields.insert("nextSeq".to_owned(), next.into());
        fields.insert("records".to_owned(), run.records.into());
    }
    Ok(body)
}
