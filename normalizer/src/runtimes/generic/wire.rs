//! Telling lines in a published shape from other output.
//!
//! The shapes are core's own types, from which the schemas are made: a line is read as strictly as
//! its schema is ([`runtape_core::published`]).

use memchr::memmem;
use runtape_core::published::{read_event, read_transcript_entry};
use runtape_core::transcript::TranscriptKind;
use runtape_core::{Event, RunEventKind, RuntimeEventKind, TranscriptEntry};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::framing::{LinePart, pieces};
use crate::json::{DecodeError, decode};

/// Keys that tell an entry of a transcript from any other object that happens to have a `kind` such
/// as `user`.
const ENTRY_KEYS: &[&str] = &[
    "ts",
    "text",
    "toolUseId",
    "isError",
    "sessionId",
    "subtype",
    "inputTokens",
    "outputTokens",
    "costUsd",
    "changeType",
];

/// Keys that tell an event from any other object that happens to have a `type` such as `info`.
const EVENT_KEYS: &[&str] = &["jobId", "runId", "expertKey"];

/// Kinds and types that a program begins with. They are known behind other text on their line, too.
const OPENINGS: &[&str] = &["init", "initializeRuntime", "startRun"];

/// A line in a published shape.
#[derive(Debug)]
pub(super) enum PublishedLine {
    /// An entry of a transcript.
    Entry(TranscriptEntry),
    /// An event.
    Event(Box<Event>),
}

/// What an object turned out to be.
#[derive(Debug)]
pub(super) enum Recognized {
    /// A line in a published shape, with the keys of it that nobody knows.
    Ours(PublishedLine, Vec<String>),
    /// A line of a known type that does not fit its shape.
    Misfit { tag: String, reason: String },
    /// Anything else.
    Other { tag: Option<String>, reason: String },
}

fn has_any(value: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| value.get(*key).is_some())
}

fn is_kind(kind: &str) -> bool {
    TranscriptKind::TAGS.contains(&kind)
}

fn is_type(tag: &str) -> bool {
    RunEventKind::TAGS.contains(&tag) || RuntimeEventKind::TAGS.contains(&tag)
}

/// Tells what an object is, in an output where such lines were seen.
pub(super) fn recognize(value: &Value) -> Recognized {
    let word = |key: &str| value.get(key).and_then(Value::as_str);
    if let Some(kind) = word("kind").filter(|kind| is_kind(kind)) {
        return match read_transcript_entry(value) {
            Ok(read) => Recognized::Ours(PublishedLine::Entry(read.value), read.unknown_keys),
            Err(reason) => Recognized::Misfit {
                tag: kind.to_owned(),
                reason,
            },
        };
    }
    if let Some(tag) = word("type").filter(|tag| is_type(tag)) {
        return match read_event(value) {
            Ok(read) => Recognized::Ours(
                PublishedLine::Event(Box::new(read.value)),
                read.unknown_keys,
            ),
            Err(reason) => Recognized::Misfit {
                tag: tag.to_owned(),
                reason,
            },
        };
    }
    let (tag, reason) = match (value.get("kind"), value.get("type")) {
        (None, None) => (None, "neither a `kind` nor a `type`".to_owned()),
        (Some(Value::String(kind)), _) => (Some(kind), format!("unknown kind {kind:?}")),
        (_, Some(Value::String(tag))) => (Some(tag), format!("unknown type {tag:?}")),
        (Some(_), _) => (None, "kind: not a string".to_owned()),
        (None, Some(_)) => (None, "type: not a string".to_owned()),
    };
    Recognized::Other {
        tag: tag.cloned(),
        reason,
    }
}

/// Tells whether a line, or what is behind other text on it, is meant as a published shape.
///
/// Text may quote such a line. So behind other text only what a program begins with is one.
pub(super) fn opens(line: &[u8]) -> bool {
    if !may_hold_ours(line) {
        return false;
    }
    if let Ok(decoded) = decode::<Value>(line) {
        return is_ours(&decoded.value);
    }
    let mut is_first = true;
    pieces(line).any(|piece| {
        let is_alone = std::mem::take(&mut is_first);
        let LinePart::Json(json) = piece else {
            return false;
        };
        let Ok(decoded) = decode::<Value>(json) else {
            return false;
        };
        let value = decoded.value;
        let tag = value.get("kind").or(value.get("type"));
        let begins = tag
            .and_then(Value::as_str)
            .is_some_and(|tag| OPENINGS.contains(&tag));
        is_ours(&value) && (is_alone || begins)
    })
}

/// Tells whether anything on a line is meant as a published shape.
pub(super) fn has_ours(line: &[u8]) -> bool {
    may_hold_ours(line)
        && pieces(line).any(|piece| match piece {
            LinePart::Json(json) => decode::<Value>(json).is_ok_and(|read| is_ours(&read.value)),
            LinePart::Text(_) => false,
        })
}

/// Tells whether an object is surely meant as a published shape, be it one that does not fit.
pub(super) fn is_ours(value: &Value) -> bool {
    let word = |key: &str| value.get(key).and_then(Value::as_str);
    let is_entry = word("kind").is_some_and(is_kind) && has_any(value, ENTRY_KEYS);
    let is_event = word("type").is_some_and(is_type) && has_any(value, EVENT_KEYS);
    is_entry || is_event
}

/// Tells whether a line can hold a published shape at all, at the cost of a search.
fn may_hold_ours(line: &[u8]) -> bool {
    memmem::find(line, b"\"kind\"").is_some() || memmem::find(line, b"\"type\"").is_some()
}

/// Returns why a line that begins like JSON is none.
pub(super) fn cut_json(line: &[u8]) -> Option<String> {
    match pieces(line).next() {
        Some(LinePart::Json(json)) => match decode::<IgnoredAny>(json) {
            Err(error @ (DecodeError::Syntax(_) | DecodeError::TooDeep)) => {
                Some(cut_reason(&error))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Says why a line is taken for cut JSON.
pub(super) fn cut_reason(error: &DecodeError) -> String {
    format!("begins like JSON and does not parse: {error}")
}
