//! Records, the output they were made from, and events.

use axum::http::StatusCode;
use runtape_core::Materializer;
use runtape_recorder::{RecordOutput, output_of_record};
use runtape_store::Store;
use serde_json::{Value, json};

use super::BASE;
use super::transcript::entries_of;
use crate::cursor;
use crate::cut::{LONGEST, beginning, cut_object, in_query};
use crate::problem::Problem;
use crate::question::{PAGING, Question};

/// Bytes of a page of events, after which no further one is begun.
const PAGE_BYTES: usize = 4 << 20;

/// `runs/{run}/records/{seq}`: one record, or a further piece of a long text of it.
///
/// `part` names the text: a JSON pointer into the record, or `entry:` with the number of a transcript
/// entry that is made of the record and a pointer into that.
pub(super) fn one(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["part", "from"]])?;
    let run = question.run(store)?;
    let seq = question.seq()?;
    let record = store.record(&run, seq)?;
    let record = record.ok_or_else(|| Problem::not_found(&format!("record {seq} of run {run}")))?;
    let mut value = serde_json::to_value(&record)?;
    let Some((part, from)) = question.part()? else {
        cut_object(&mut value, &|pointer, from| {
            format!(
                "{BASE}/runs/{run}/records/{seq}?part={}&from={from}",
                in_query(pointer)
            )
        });
        return Ok(value);
    };
    let Some(place) = part.strip_prefix("entry:") else {
        return text_part(&value, part, from);
    };
    let (number, pointer) = match place.find('/') {
        Some(at) => place.split_at(at),
        None => (place, ""),
    };
    let number: usize = number
        .parse()
        .map_err(|_| Problem::bad_request("part: expected entry:0/text and the like"))?;
    let entries = entries_of(store, &store.run(&run)?, &record)?;
    let entry = entries
        .get(number)
        .ok_or_else(|| Problem::not_found("this entry"))?;
    text_part(&serde_json::to_value(entry)?, pointer, from)
}

/// Answers with a piece of a long text. What is no text is written as JSON.
pub(super) fn text_part(value: &Value, pointer: &str, from: usize) -> Result<Value, Problem> {
    let found = value
        .pointer(pointer)
        .ok_or_else(|| Problem::not_found("this part"))?;
    let text = match found {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other)?,
    };
    let rest = text
        .get(from..)
        .ok_or_else(|| Problem::bad_request("from: no character begins there"))?;
    // A person reads on in larger pieces than a list has.
    let piece = beginning(rest, 16 * LONGEST);
    let end = from + piece.len();
    let mut part = json!({"from": from, "length": text.len(), "text": piece});
    if let (Value::Object(fields), true) = (&mut part, end < text.len()) {
        fields.insert("next".to_owned(), end.into());
    }
    Ok(part)
}

/// `runs/{run}/raw?seq=`: the output that a record was made from.
pub(super) fn raw(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["seq", "part", "from"]])?;
    let run = question.run(store)?;
    question.need("seq")?;
    let seq = question.number("seq")?.unwrap_or_default();
    let output = match output_of_record(store, &run, seq)? {
        RecordOutput::Printed(output) => output,
        RecordOutput::NoRecord => {
            return Err(Problem::not_found(&format!("record {seq} of run {run}")));
        }
        RecordOutput::NoTape => return Err(Problem::not_found(&format!("the tape of run {run}"))),
        RecordOutput::NotPrinted => {
            let detail = format!(
                "no output stands behind record {run}:{seq}: it was made from the command line or the exit"
            );
            return Err(Problem::new(StatusCode::NOT_FOUND, detail));
        }
    };
    let mut value = serde_json::to_value(&output)?;
    if let Some((part, from)) = question.part()? {
        return text_part(&value, part, from);
    }
    cut_object(&mut value, &|pointer, from| {
        format!(
            "{BASE}/runs/{run}/raw?seq={seq}&part={}&from={from}",
            in_query(pointer)
        )
    });
    Ok(value)
}

/// `runs/{run}/events`: full events in Perstack's shape. They are rebuilt from the run's beginning, so a
/// later page takes longer.
pub(super) fn events(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[PAGING])?;
    let run = question.run(store)?;
    let mark = question.mark("events")?;
    let bad = |_| Problem::bad_request("bad page mark: use the one that came with the last page");
    let from: u64 = mark.map_or(Ok(0), |mark| mark.parse()).map_err(bad)?;
    let limit = question.limit()?;
    let mut materializer = Materializer::new();
    let mut items: Vec<Value> = Vec::new();
    let (mut bytes, mut next, mut failed) = (0, None, Ok(()));
    store.each_record(&run, 0, |record| {
        let seq = record.seq;
        if items.len() >= limit || bytes >= PAGE_BYTES {
            next = Some(cursor::write("events", &seq.to_string()));
            return false;
        }
        let made = materializer
            .push(&record)
            .map_err(Problem::from)
            .and_then(|events| {
                if seq < from {
                    return Ok(());
                }
                for event in events {
                    let mut event = serde_json::to_value(&event)?;
                    cut_object(&mut event, &|_, _| {
                        format!("{BASE}/runs/{run}/records/{seq}")
                    });
                    bytes += event.to_string().len();
                    items.push(event);
                }
                Ok(())
            });
        failed = made;
        failed.is_ok()
    })?;
    failed?;
    super::list(&items, next)
}
