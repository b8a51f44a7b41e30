//! The open door: what the schemas of the published shapes take is understood, and what they refuse
//! is reported.
//!
//! The parser of a generic program has no validator; it reads core's types strictly. Here both are
//! given the same lines: valid ones of every type, and the same with something changed anywhere.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use runtape_core::published::{read_event, read_transcript_entry};
use runtape_core::{
    JobId, RecordKind, RunEventKind, RunId, Runtime, RuntimeEventKind, Stream, TranscriptKind,
    summarize,
};
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use runtape_schemas::{SchemaKind, Validator};
use runtape_tests::strategies::{run_event_of, runtime_event_of, transcript_entry_of};
use serde_json::{Value, json};

/// How many values of each type are drawn, and how often each is changed.
const VALUES: usize = 12;
const CHANGES: usize = 40;

/// Draws values of one type, as JSON.
macro_rules! draw {
    ($values:ident, $runner:ident, $tags:expr, $of:ident) => {
        for tag in $tags {
            let strategy = $of(tag).prop_map(|value| serde_json::to_value(value).unwrap());
            let drawn = (0..VALUES).map(|_| strategy.new_tree($runner).unwrap().current());
            $values.extend(drawn);
        }
    };
}

/// Returns values of every type of a shape.
fn samples(kind: SchemaKind, runner: &mut TestRunner) -> Vec<Value> {
    let mut values = Vec::new();
    if kind == SchemaKind::TranscriptEntry {
        draw!(values, runner, TranscriptKind::TAGS, transcript_entry_of);
    } else {
        draw!(values, runner, RunEventKind::TAGS, run_event_of);
        draw!(values, runner, RuntimeEventKind::TAGS, runtime_event_of);
    }
    values
}

/// Returns the places of everything in a value, as JSON pointers.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let path = format!("{path}/{}", escaped(key));
                found.push(path.clone());
                places(member, &path, found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let path = format!("{path}/{at}");
                found.push(path.clone());
                places(item, &path, found);
            }
        }
        _ => {}
    }
}

/// Values that something may be replaced by.
fn others() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(7),
        json!(7.0),
        json!(-3),
        json!(1.5),
        json!(1e30),
        json!(u64::MAX),
        json!(""),
        json!("no such word"),
        json!("completed"),
        json!([]),
        json!([1, 1, 1, 1, 1]),
        json!({}),
        json!({"completed": null}),
    ]
}

/// Drops, replaces or adds something anywhere in a value.
fn changed(value: &Value, runner: &mut TestRunner) -> Value {
    let mut found = Vec::new();
    places(value, "", &mut found);
    let draw = (any::<Index>(), any::<Index>(), any::<u8>());
    let (place, other, how) = draw.new_tree(runner).unwrap().current();
    let place = place.get(&found);
    let other = other.get(&others()).clone();
    let mut value = value.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/").replace("~0", "~");
    match (how % 4, value.pointer_mut(parent).unwrap()) {
        (0, Value::Object(members)) => {
            members.shift_remove(&key);
        }
        (1, Value::Object(members)) => {
            members.insert("aFieldOfSomebodyElse".to_owned(), other);
        }
        _ => *value.pointer_mut(place).unwrap() = other,
    }
    value
}

fn accepts(kind: SchemaKind, value: &Value) -> bool {
    Validator::for_kind(kind).accepts(value)
}

fn misfit(kind: SchemaKind, value: &Value) -> Option<String> {
    if kind == SchemaKind::TranscriptEntry {
        read_transcript_entry(value).err()
    } else {
        read_event(value).err()
    }
}

/// Returns what is reported of one line among lines of ours.
fn reported(value: &Value) -> Vec<String> {
    let opening = json!({"ts": "2026-01-01T00:00:00.000Z", "kind": "system", "text": "up"});
    let context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
    let mut normalizer = Normalizer::new(Runtime::Generic, context).unwrap();
    let stdout = format!("{opening}\n{value}\n");
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(&stdout), 5)
        .records;
    records.extend(normalizer.finish(&Exit::with_code(0)).records);
    let summary = summarize(&records).unwrap();
    let unparsed = summary.unparsed.into_iter();
    unparsed.map(|unparsed| unparsed.reason).collect()
}

/// Tells whether a type is one that this version knows: others are valid and reported.
fn is_known(kind: SchemaKind, value: &Value) -> bool {
    let key = if kind == SchemaKind::TranscriptEntry {
        "kind"
    } else {
        "type"
    };
    value[key].as_str().is_some_and(|tag| {
        TranscriptKind::TAGS.contains(&tag)
            || RunEventKind::TAGS.contains(&tag)
            || RuntimeEventKind::TAGS.contains(&tag)
    })
}

fn check(kind: SchemaKind) {
    let mut runner = TestRunner::deterministic();
    let (mut taken, mut refused) = (0, 0);
    for sample in samples(kind, &mut runner) {
        let changes = (0..CHANGES).map(|_| changed(&sample, &mut runner));
        let changes: Vec<Value> = changes.collect();
        for value in std::iter::once(&sample).chain(&changes) {
            let (is_valid, misfit) = (accepts(kind, value), misfit(kind, value));
            assert_eq!(is_valid, misfit.is_none(), "{misfit:?}: {value}");
            let reported = reported(value);
            match misfit {
                None if is_known(kind, value) => {
                    taken += 1;
                    // What is understood may still hold a time or a number that cannot be.
                    let is_about_shape = |reason: &String| {
                        reason.contains("invalid") || reason.contains("missing field")
                    };
                    assert!(
                        !reported.iter().any(is_about_shape),
                        "{reported:?}: {value}"
                    );
                }
                None => assert!(!reported.is_empty(), "{value}"),
                Some(_) => {
                    refused += 1;
                    assert!(!reported.is_empty(), "{value}");
                }
            }
        }
    }
    println!("{kind}: {taken} lines understood, {refused} refused");
    assert!(taken > 1000 && refused > 1000, "{taken} and {refused}");
}

#[test]
fn entries_of_a_transcript_are_understood_as_their_schema_takes_them() {
    check(SchemaKind::TranscriptEntry);
}

#[test]
fn events_are_understood_as_their_schema_takes_them() {
    check(SchemaKind::Event);
}

#[test]
fn the_reason_of_a_refusal_names_the_field() {
    let table = [
        (
            json!({"ts": "t", "kind": "assistant", "text": 5}),
            "text: invalid type",
        ),
        (
            json!({"ts": "t", "kind": "assistant"}),
            "missing field `text`",
        ),
        (json!({"kind": "stdout", "text": "x"}), "missing field `ts`"),
        (
            json!({"ts": "t", "kind": "tool_result", "toolUseId": "a", "content": "x", "isError": 1}),
            "isError: invalid type",
        ),
        (
            json!({"type": "warning", "id": "e", "timestamp": 1, "jobId": "j", "runId": "a b", "message": "x"}),
            "runId: invalid run id",
        ),
    ];
    for (value, expected) in table {
        let reported = reported(&value);
        assert!(
            reported.iter().any(|reason| reason.contains(expected)),
            "{reported:?}"
        );
    }
}

/// A line that does not fit means nothing, wherever it stands.
#[test]
fn a_line_that_is_refused_leaves_no_message_behind() {
    let refused = json!({"ts": "t", "kind": "assistant", "text": "x", "delta": null});
    let opening = json!({"ts": "2026-01-01T00:00:00.000Z", "kind": "system", "text": "up"});
    let context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
    let mut normalizer = Normalizer::new(Runtime::Generic, context).unwrap();
    let stdout = format!("{opening}\n{refused}\n");
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(&stdout), 5)
        .records;
    records.extend(normalizer.finish(&Exit::with_code(0)).records);
    let is_message = |kind: &RecordKind| matches!(kind, RecordKind::Message(_));
    assert!(!records.iter().any(|record| is_message(&record.kind)));
}
