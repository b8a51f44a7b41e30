//! Records.

use proptest::prelude::*;
use runtape_core::record::{
    CallNote, CheckpointHead, EventRecord, Initialize, MessageRecord, MetadataPatch, ResultNote,
    RunOpened, Start, UsageEntry, UsageSource,
};
use runtape_core::{Metadata, Record, RecordKind, RuntimeEventKind, Span, Stream, ToolClass};
use serde_json::{Value, json};

use super::leaf::{
    count, job_id, metadata, named_object, run_id, runtime, signed, text, tool_call_id,
};
use super::message::message;
use super::run::{delegated_by, entry_counts, expert, run_error, status, token_counts};
use super::runtime_event::runtime_event_kind;
use super::{add, any_tag, build, maybe, payloads, some, word};

/// Any record, now and then of an unknown type.
pub fn record() -> BoxedStrategy<Record> {
    any_tag(RecordKind::TAGS).prop_flat_map(record_of).boxed()
}

/// Records of one type.
pub fn record_of(tag: &'static str) -> BoxedStrategy<Record> {
    build!(Record {
        run_id: run_id(),
        seq: count(),
        at: signed(),
        span: maybe(build!(Span {
            stream: word(&[Stream::Stdout, Stream::Stderr]),
            start: count(),
            end: count(),
        })),
        kind: record_kind(tag),
    })
}

fn record_kind(tag: &'static str) -> BoxedStrategy<RecordKind> {
    payloads!(tag, RecordKind {
        "run" => build!(RunOpened {
            job_id: job_id(),
            runtime: runtime(),
            delegated_by: maybe(delegated_by().prop_map(Box::new)),
        }),
        "metadata" => build!(MetadataPatch { set: patch() }),
        "initialize" => build!(Initialize {
            expert: expert(),
            model: maybe(text()),
            query: maybe(text()),
        }),
        "start" => Just(Start {}),
        "message" => message_record(),
        "usage" => build!(UsageEntry {
            key: text(),
            source: word(&[UsageSource::Response, UsageSource::Total, UsageSource::Remainder]),
            step: maybe(count()),
            model: maybe(text()),
            of_session: any::<bool>(),
            counts: entry_counts(),
        }),
        "checkpoint" => head().prop_map(Box::new),
        "event" => build!(EventRecord {
            step: count(),
            event: any_tag(RuntimeEventKind::TAGS).prop_flat_map(runtime_event_kind),
        }),
    } else unknown_kind)
}

/// Metadata in which a null may stand for any key.
fn patch() -> BoxedStrategy<Metadata> {
    (metadata(), any::<bool>())
        .prop_map(|(mut metadata, removes)| {
            let keys: Vec<String> = metadata.iter().map(|(key, _)| key.to_owned()).collect();
            if let Some(key) = keys.into_iter().next().filter(|_| removes) {
                metadata.set(key, Value::Null);
            }
            metadata
        })
        .boxed()
}

fn message_record() -> BoxedStrategy<MessageRecord> {
    build!(MessageRecord {
        step: count(),
        message: message(),
        offsets: some(count()),
        calls: some(build!(CallNote {
            tool_call_id: tool_call_id(),
            printed_id: maybe(text()),
            class: maybe(word(&ToolClass::ALL)),
            command: maybe(text()),
            paths: some(text()),
            url: maybe(text()),
        })),
        results: some(build!(ResultNote {
            tool_call_id: tool_call_id(),
            duration_ms: maybe(count()),
            call_step: maybe(count()),
            unmatched: any::<bool>(),
        })),
        continued: any::<bool>(),
        cut: any::<bool>(),
    })
}

fn head() -> BoxedStrategy<CheckpointHead> {
    build!(CheckpointHead {
        step: count(),
        status: status(),
        messages: count(),
        usage: entry_counts(),
        step_usage: token_counts(),
        started_at: signed(),
        pending: some(tool_call_id()),
        text: maybe(text()),
        error: maybe(run_error()),
    })
}

fn unknown_kind(tag: &'static str) -> BoxedStrategy<RecordKind> {
    named_object()
        .prop_map(move |fields| {
            let mut record = json!({ "runId": "r", "seq": 0, "at": 0, "type": tag });
            add(&mut record, fields);
            let record: Record = serde_json::from_value(record).expect("an unknown type is read");
            record.kind
        })
        .boxed()
}
