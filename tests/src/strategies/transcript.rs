//! Transcript entries.

use proptest::prelude::*;
use runtape_core::transcript::{
    Assistant, Diff, Init, RunResult, Stderr, Stdout, System, Thinking, ToolCall, ToolResult, User,
};
use runtape_core::{TranscriptEntry, TranscriptKind};
use serde_json::json as object;

use super::leaf::{count, finite, json, named_object, text};
use super::{add, any_tag, build, maybe, payloads, some};

/// Any transcript entry, now and then of an unknown kind.
pub fn transcript_entry() -> BoxedStrategy<TranscriptEntry> {
    any_tag(TranscriptKind::TAGS)
        .prop_flat_map(transcript_entry_of)
        .boxed()
}

/// Transcript entries of one kind.
pub fn transcript_entry_of(tag: &'static str) -> BoxedStrategy<TranscriptEntry> {
    build!(TranscriptEntry {
        ts: text(),
        kind: kind(tag)
    })
}

fn kind(tag: &'static str) -> BoxedStrategy<TranscriptKind> {
    payloads!(tag, TranscriptKind {
        "assistant" => build!(Assistant {
            text: text(),
            delta: maybe(any::<bool>()),
            channel: maybe(text()),
        }),
        "thinking" => build!(Thinking { text: text(), delta: maybe(any::<bool>()) }),
        "user" => build!(User { text: text() }),
        "tool_call" => build!(ToolCall { name: text(), input: json(), tool_use_id: maybe(text()) }),
        "tool_result" => build!(ToolResult {
            tool_use_id: text(),
            tool_name: maybe(text()),
            content: text(),
            is_error: any::<bool>(),
            duration_ms: maybe(count()),
        }),
        "init" => build!(Init { model: text(), session_id: text() }),
        "result" => build!(RunResult {
            text: text(),
            input_tokens: count(),
            output_tokens: count(),
            cached_tokens: count(),
            cost_usd: finite(),
            subtype: text(),
            is_error: any::<bool>(),
            errors: some(text()),
        }),
        "stderr" => build!(Stderr { text: text() }),
        "system" => build!(System { text: text() }),
        "stdout" => build!(Stdout { text: text() }),
        "diff" => build!(Diff { change_type: text(), text: text() }),
    } else unknown_kind)
}

fn unknown_kind(tag: &'static str) -> BoxedStrategy<TranscriptKind> {
    named_object()
        .prop_map(move |fields| {
            let mut entry = object!({ "ts": "", "kind": tag });
            add(&mut entry, fields);
            let entry: TranscriptEntry =
                serde_json::from_value(entry).expect("an unknown kind is read");
            entry.kind
        })
        .boxed()
}
