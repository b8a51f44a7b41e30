//! Any bytes give runs: readers and parsers of histories are total, and take linear time.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use runtape_core::{RecordKind, Runtime};
use runtape_normalizer::history::{Framing, SessionSource, read_session, segment_bytes};
use runtape_normalizer::runtimes::entry_for;
use serde_json::{Value, json};

use crate::home::normalize;

const RUNTIMES: [Runtime; 4] = [
    Runtime::Codex,
    Runtime::Hermes,
    Runtime::Opencode,
    Runtime::Cursor,
];

/// Pieces of lines that each of the formats has.
const PIECES: &[&str] = &[
    r#"{"timestamp":"2026-11-16T10:00:00.000Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}"#,
    r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c","command":["#,
    r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"exec_command","arguments":"{"}}"#,
    r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":5}}"#,
    r#"{"type":"token_usage_record","payload":{"response_id":"r","usage":{"input_tokens":-1}}}"#,
    r#"{"table":"sessions","row":{"id":"s","parent_session_id":"s","started_at":1e300}}"#,
    r#"{"table":"messages","row":{"id":1,"session_id":"s","role":"assistant","tool_calls":"[{}]"}}"#,
    r#"{"table":"session","row":{"id":"s","time_created":99999999999999999999}}"#,
    r#"{"table":"message","row":{"id":"m","session_id":"s","data":"{\"role\":\"user\"}"}}"#,
    r#"{"table":"part","row":{"id":"p","message_id":"m","session_id":"s","data":"{\"type\":\"tool\"}"}}"#,
    r#"{"table":"meta","row":{"key":"0","value":"7b7d"}}"#,
    r#"{"table":"blobs","row":{"id":"00","data":{"hex":"0a20"}}}"#,
    "\n",
    "\"",
    "}",
    "{",
    "null",
    "é",
];

fn run_all(runtime: &Runtime, sources: &[SessionSource]) -> usize {
    let history = entry_for(runtime).unwrap().history.unwrap();
    let session = read_session(history, sources);
    let runs = session.segments.iter();
    runs.map(|segment| normalize(runtime, &segment_bytes(segment, sources)).len())
        .sum()
}

fn source(name: &str, bytes: Vec<u8>) -> SessionSource {
    SessionSource {
        name: name.to_owned(),
        framing: Framing::Lines,
        bytes,
    }
}

proptest! {
    #[test]
    fn whatever_the_files_hold_there_are_runs_and_each_has_one_end(
        pieces in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..20),
            3 => Just(b"\n".to_vec()),
        ], 0..40),
        cut in 0_usize..400,
    ) {
        let bytes = pieces.concat();
        let rest = bytes.get(cut..).unwrap_or_default().to_vec();
        for runtime in RUNTIMES {
            let name = "rollout-x-01a1e411-5915-7861-aa3e-08ec0c7a5a8d.jsonl";
            run_all(&runtime, &[source(name, bytes.clone()), source("s", rest.clone())]);
            let ends = normalize(&runtime, &bytes).iter().filter(|record| {
                matches!(&record.kind, RecordKind::Checkpoint(head) if head.status.is_terminal())
            }).count();
            prop_assert!(ends >= 1);
        }
    }
}

fn lines(lines: impl IntoIterator<Item = String>) -> Vec<u8> {
    let lines: Vec<String> = lines.into_iter().collect();
    lines.join("\n").into_bytes()
}

/// A row of a database as it is written.
fn row(table: &str, row: &Value) -> String {
    format!("{{\"table\":\"{table}\",\"row\":{row}}}")
}

/// Many calls in one response, which end in the reverse order.
fn many_calls(count: usize) -> Vec<SessionSource> {
    let calls = (0..count).map(|at| {
        json!({"ordinal": at, "type": "response_item", "payload": {"type": "function_call",
            "call_id": format!("c{at}"), "name": "exec_command", "arguments": "{}"}})
    });
    let ends = (0..count).rev().map(|at| {
        json!({"ordinal": count + at, "type": "event_msg", "payload": {"type": "item_completed",
            "item": {"type": "CommandExecution", "id": format!("c{at}"), "command": ["ls"],
                "status": "completed", "exit_code": 0}}})
    });
    let bytes = lines(calls.chain(ends).map(|line| line.to_string()));
    let name = "rollout-x-01a1e411-5915-7861-aa3e-08ec0c7a5a8d.jsonl";
    vec![source(name, bytes)]
}

/// Many sub-agents, each with a call of its own.
fn many_children(count: usize) -> Vec<SessionSource> {
    let ask = |id: usize, session: &str, text: &str| {
        row(
            "messages",
            &json!({"id": id, "session_id": session, "role": "user", "content": text}),
        )
    };
    let delegates = (0..count).map(|at| {
        let arguments = json!({"goal": format!("g{at}")}).to_string();
        let calls = json!([{"id": "c", "function": {"name": "delegate_task", "arguments": arguments}}]);
        row(
            "messages",
            &json!({"id": at + 2, "session_id": "root", "role": "assistant", "tool_calls": calls.to_string()}),
        )
    });
    let first = [
        row("sessions", &json!({"id": "root"})),
        ask(1, "root", "go"),
    ];
    let mut sources = vec![source("root", lines(first.into_iter().chain(delegates)))];
    sources.extend((0..count).map(|at| {
        let id = format!("child{at}");
        let session = row("sessions", &json!({"id": id, "parent_session_id": "root"}));
        let goal = ask(count + at + 2, &id, &format!("g{at}"));
        source(&id, lines([session, goal]))
    }));
    sources
}

/// Many messages of one part each.
fn many_messages(count: usize) -> Vec<SessionSource> {
    let session = row("session", &json!({"id": "root"}));
    let messages = (0..count).map(|at| {
        row(
            "message",
            &json!({"id": format!("m{at:08}"), "session_id": "root", "data": "{\"role\":\"assistant\"}"}),
        )
    });
    let parts = (0..count).map(|at| {
        row(
            "part",
            &json!({"id": format!("p{at:08}"), "message_id": format!("m{at:08}"), "session_id": "root",
                "data": "{\"type\":\"text\",\"text\":\"x\"}"}),
        )
    });
    let all = std::iter::once(session).chain(messages).chain(parts);
    vec![source("root", lines(all))]
}

/// Many blobs, each of which refers twice to the one before it.
fn many_blobs(count: usize) -> Vec<SessionSource> {
    let id = |at: usize| format!("{at:064x}");
    let meta = json!({"latestRootBlobId": id(count - 1)}).to_string();
    let digits = meta.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
    let meta = json!({"key": "0", "value": digits.collect::<String>()});
    let blobs = (0..count).map(|at| {
        let before = id(at.saturating_sub(1));
        let data = format!("0a20{before}1220{before}");
        row("blobs", &json!({"id": id(at), "data": {"hex": data}}))
    });
    let all = std::iter::once(row("meta", &meta)).chain(blobs);
    vec![source("root", lines(all))]
}

fn many(runtime: &Runtime, count: usize) -> Vec<SessionSource> {
    match runtime {
        Runtime::Codex => many_calls(count),
        Runtime::Hermes => many_children(count),
        Runtime::Opencode => many_messages(count),
        _ => many_blobs(count),
    }
}

#[test]
fn time_grows_with_what_there_is_and_not_faster() {
    for runtime in RUNTIMES {
        let measure = |count: usize| {
            let sources = many(&runtime, count);
            let times = (0..3).map(|_| {
                let start = Instant::now();
                run_all(&runtime, &sources);
                start.elapsed()
            });
            times.min().unwrap().max(Duration::from_millis(1))
        };
        let (once, four_times) = (measure(2_000), measure(8_000));
        assert!(
            four_times < once * 12,
            "{runtime}: {once:?} for 2000, {four_times:?} for 8000"
        );
    }
}
