//! Whether two stored runs are one execution, however each of them was recorded.
//!
//! The identity of a run is its content: the output, the command line, the labels and the exit. The redaction key, the
//! rules, the environment whose secrets were taken out, the machine, and the version of the parser say how it was recorded.
//! Seals cover both parts, and comparing leaves the second part out.
//!
//! A marker stands for a secret that cannot be compared without the key, so it is equal to any text in its place on the
//! same line.

use std::collections::BTreeMap;

use runtape_core::{Metadata, Record, RecordKind, RunId, Stream};
use runtape_store::{BeginRun, Store, StoreError, StreamLengths};
use serde_json::{Map, Value};

use crate::context_and_exit::{HISTORY_REDACTION_KEY, REDACTED_KEY, REDACTION_KEY};
use crate::redaction::{markers, without_commitments};

/// The key in a run's context that says where it was before it was copied here.
const ORIGIN_KEY: &str = "origin";
/// Keys of metadata that say how a run was recorded.
const RECORDING_KEYS: [&str; 3] = ["host", "user", "parserVersion"];
/// The largest tape that is compared line by line; larger ones are equal only if their bytes are.
const MAX_COMPARED_BYTES: u64 = 64 << 20;
/// The longest text that a marker is equal to.
const MAX_SECRET_BYTES: usize = 64 << 10;

/// Tells whether a root run in two stores is the same execution, recorded in two ways.
pub(crate) fn is_same_execution(
    one: &Store,
    other: &Store,
    root: &RunId,
) -> Result<bool, StoreError> {
    if !other.has_run(root)? || other.run(root)?.root_run_id.is_some() {
        return Ok(false);
    }
    let (begun, begun_there) = (one.begin_of(root)?, other.begin_of(root)?);
    let is_alike = begun.job_id == begun_there.job_id
        && begun.runtime == begun_there.runtime
        && is_begun_alike(&begun, &begun_there)
        && ended(one, root)? == ended(other, root)?;
    if !is_alike {
        return Ok(false);
    }
    let (lengths, lengths_there) = (one.tape_lengths(root)?, other.tape_lengths(root)?);
    match (lengths.total(), lengths_there.total()) {
        (0, 0) => Ok(are_records_alike(
            &one.tree_records(root)?,
            &other.tree_records(root)?,
        )),
        (0, _) | (_, 0) => Ok(false),
        _ => are_tapes_alike((one, &lengths), (other, &lengths_there), root),
    }
}

/// Tells whether what was known of two runs before they began is the same. The time of a file says how it came to a
/// machine, not when the run began.
fn is_begun_alike(one: &BeginRun, other: &BeginRun) -> bool {
    let is_timeless = |begin: &BeginRun| {
        begin
            .context
            .pointer("/metadata/timeSource")
            .and_then(Value::as_str)
            == Some("file")
    };
    let is_same_time = one.started_at == other.started_at || is_timeless(one) && is_timeless(other);
    is_same_time && are_texts_alike(&content_of(one).to_string(), &content_of(other).to_string())
}

/// Returns what a run's context says of the run itself.
fn content_of(begin: &BeginRun) -> Value {
    let Value::Object(mut context) = begin.context.clone() else {
        return Value::Object(Map::new());
    };
    for key in [ORIGIN_KEY, REDACTION_KEY, HISTORY_REDACTION_KEY] {
        context.shift_remove(key);
    }
    if let Some(Value::Object(metadata)) = context.get_mut("metadata") {
        metadata.retain(|key, _| !RECORDING_KEYS.contains(&key.as_str()));
    }
    Value::Object(context)
}

/// Returns how the process of a run ended, without the number of secrets that were taken out.
fn ended(store: &Store, root: &RunId) -> Result<Option<Value>, StoreError> {
    Ok(store.exit(root)?.map(|mut exit| {
        if let Value::Object(kept) = &mut exit {
            kept.shift_remove(REDACTED_KEY);
        }
        exit
    }))
}

/// Tells whether the records of each run say the same, wherever they stand on a tape and however they were recorded.
pub(crate) fn are_records_alike(one: &[Record], other: &[Record]) -> bool {
    let (one, other) = (by_run(one), by_run(other));
    one.len() == other.len()
        && one
            .iter()
            .zip(&other)
            .all(|((id, one), (other_id, other))| {
                id == other_id
                    && one.len() == other.len()
                    && one
                        .iter()
                        .zip(other)
                        .all(|(one, other)| is_record_alike(one, other))
            })
}

fn by_run(records: &[Record]) -> BTreeMap<&RunId, Vec<&Record>> {
    let mut runs = BTreeMap::<_, Vec<_>>::new();
    for record in records {
        runs.entry(&record.run_id).or_default().push(record);
    }
    runs
}

fn is_record_alike(one: &Record, other: &Record) -> bool {
    let is_exact = (one.seq, one.at) == (other.seq, other.at) && one.kind == other.kind;
    is_exact
        || match [one, other].map(content_of_record) {
            [Some(one), Some(other)] => are_texts_alike(&one, &other),
            _ => false,
        }
}

/// Returns a record as JSON, without its place on a tape and without what says how it was recorded.
fn content_of_record(record: &Record) -> Option<String> {
    let mut record = record.clone();
    record.span = None;
    if let RecordKind::Metadata(patch) = &mut record.kind {
        patch.set = without_recording(&patch.set);
    }
    serde_json::to_string(&record).ok()
}

fn without_recording(metadata: &Metadata) -> Metadata {
    let mut kept = Metadata::default();
    for (key, value) in metadata.iter() {
        if !RECORDING_KEYS.contains(&key) {
            kept.set(key.to_owned(), value.clone());
        }
    }
    kept
}

fn are_tapes_alike(
    (one, lengths): (&Store, &StreamLengths),
    (other, lengths_there): (&Store, &StreamLengths),
    root: &RunId,
) -> Result<bool, StoreError> {
    if lengths.total().max(lengths_there.total()) > MAX_COMPARED_BYTES {
        return Ok(digest(one, root)? == digest(other, root)?);
    }
    let (tape, there) = (streams(one, root)?, streams(other, root)?);
    Ok(Stream::ALL.iter().all(|stream| {
        let bytes = tape.get(stream).map_or(&[][..], Vec::as_slice);
        are_lines_alike(bytes, there.get(stream).map_or(&[], Vec::as_slice))
    }))
}

/// Returns the bytes of each stream of a tape.
fn streams(store: &Store, root: &RunId) -> Result<BTreeMap<Stream, Vec<u8>>, StoreError> {
    let mut streams = BTreeMap::<_, Vec<u8>>::new();
    store.each_tape_chunk(root, |chunk| {
        let bytes = streams.entry(chunk.stream).or_default();
        bytes.extend_from_slice(&chunk.bytes);
        true
    })?;
    Ok(streams)
}

/// Returns a hash of each stream of a tape that is too large to be held.
fn digest(store: &Store, root: &RunId) -> Result<BTreeMap<Stream, blake3::Hash>, StoreError> {
    let mut hashers = BTreeMap::<_, blake3::Hasher>::new();
    store.each_tape_chunk(root, |chunk| {
        let hasher = hashers.entry(chunk.stream).or_default();
        hasher.update(&without_commitments(&chunk.bytes));
        true
    })?;
    let hashers = hashers.into_iter();
    Ok(hashers
        .map(|(stream, hasher)| (stream, hasher.finalize()))
        .collect())
}

fn are_texts_alike(one: &str, other: &str) -> bool {
    are_lines_alike(one.as_bytes(), other.as_bytes())
}

fn are_lines_alike(one: &[u8], other: &[u8]) -> bool {
    if without_commitments(one) == without_commitments(other) {
        return true;
    }
    let (mut lines, mut there) = (
        one.split(|byte| *byte == b'\n'),
        other.split(|byte| *byte == b'\n'),
    );
    loop {
        match (lines.next(), there.next()) {
            (None, None) => return true,
            (Some(line), Some(other)) if is_line_alike(line, other) => {}
            _ => return false,
        }
    }
}

/// Tells whether two lines are equal but for markers in one of them, where the other has a secret.
fn is_line_alike(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (without_commitments(one), without_commitments(other));
    one == other || matches_markers(&one, &other) || matches_markers(&other, &one)
}

/// Tells whether a line with markers stands for another one: its texts between the markers follow each other there.
fn matches_markers(line: &[u8], other: &[u8]) -> bool {
    let mut rest = other;
    let mut end = 0;
    let mut is_after_marker = false;
    for marker in markers(line) {
        let Some(found) = find_text(line.get(end..marker.place.start), rest, is_after_marker)
        else {
            return false;
        };
        rest = found;
        end = marker.place.end;
        is_after_marker = true;
    }
    let last = line.get(end..).unwrap_or_default();
    is_after_marker && rest.len() <= MAX_SECRET_BYTES + last.len() && rest.ends_with(last)
}

/// Finds a text at the beginning of another, or after what a marker stands for; returns what follows it.
fn find_text<'a>(text: Option<&[u8]>, rest: &'a [u8], is_after_marker: bool) -> Option<&'a [u8]> {
    let text = text?;
    if !is_after_marker {
        return rest.strip_prefix(text);
    }
    let window = rest.get(..(MAX_SECRET_BYTES + text.len()).min(rest.len()))?;
    let at = memchr::memmem::find(window, text)?;
    rest.get(at + text.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_equal_to_what_they_stand_for_and_to_each_other() {
        let key = "[REDACTED:jwt:0123456789abcdef]";
        let other_key = "[REDACTED:jwt:fedcba9876543210]";
        let line = |text: &str| format!("{{\"a\":\"x {text} y {text} z\"}}\nnext\n");
        for (one, other, is_alike) in [
            (line(key), line(other_key), true),
            (line(key), line("secret"), true),
            (line("secret"), line(key), true),
            (line("secret"), line("secret"), true),
            (line("secret"), line("other"), false),
            (line(key), line(key).replace('z', "q"), false),
            (line(key), line(key).replace("next", "last"), false),
            (line(key), line(key).replace("next\n", ""), false),
            (line(key), String::new(), false),
            (line(key), line(&"s".repeat(MAX_SECRET_BYTES + 1)), false),
        ] {
            assert_eq!(are_texts_alike(&one, &other), is_alike, "{one} {other:.90}");
        }
    }
}
