//! Any bytes give runs: readers and parsers of histories are total, and take linear time.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use runtape_core::{RecordKind, Runtime};
use runtape_normalizer::history::{Framing, SessionSource, read_session, segment_bytes};
use runtape_normalizer::runtimes::entry_for;

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

/// A session with many calls in one response, none of which has ended, and many sub-agents.
fn many(runtime: &Runtime, count: usize) -> Vec<SessionSource> {
    let mut text = String::new();
    match runtime {
        Runtime::Codex => {
            for at in 0..count {
                text.push_str(&format!("{{\"ordinal\":{at},\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call\",\"call_id\":\"c{at}\",\"name\":\"exec_command\",\"arguments\":\"{{}}\"}}}}\n"));
            }
            for at in (0..count).rev() {
                let ordinal = count + at;
                text.push_str(&format!("{{\"ordinal\":{ordinal},\"type\":\"event_msg\",\"payload\":{{\"type\":\"item_completed\",\"item\":{{\"type\":\"CommandExecution\",\"id\":\"c{at}\",\"command\":[\"ls\"],\"status\":\"completed\",\"exit_code\":0}}}}}}\n"));
            }
            vec![source(
                "rollout-x-01a1e411-5915-7861-aa3e-08ec0c7a5a8d.jsonl",
                text.into_bytes(),
            )]
        }
        Runtime::Hermes => {
            let mut sources = vec![];
            text.push_str("{\"table\":\"sessions\",\"row\":{\"id\":\"root\"}}\n{\"table\":\"messages\",\"row\":{\"id\":1,\"session_id\":\"root\",\"role\":\"user\",\"content\":\"go\"}}\n");
            for at in 0..count {
                let id = at + 2;
                text.push_str(&format!("{{\"table\":\"messages\",\"row\":{{\"id\":{id},\"session_id\":\"root\",\"role\":\"assistant\",\"tool_calls\":\"[{{\\\"id\\\":\\\"c\\\",\\\"function\\\":{{\\\"name\\\":\\\"delegate_task\\\",\\\"arguments\\\":\\\"{{\\\\\\\"goal\\\\\\\":\\\\\\\"g{at}\\\\\\\"}}\\\"}}}}]\"}}}}\n"));
                sources.push(source(&format!("child{at}"), format!("{{\"table\":\"sessions\",\"row\":{{\"id\":\"child{at}\",\"parent_session_id\":\"root\"}}}}\n{{\"table\":\"messages\",\"row\":{{\"id\":9{at},\"session_id\":\"child{at}\",\"role\":\"user\",\"content\":\"g{at}\"}}}}\n").into_bytes()));
            }
            sources.insert(0, source("root", text.into_bytes()));
            sources
        }
        Runtime::Opencode => {
            text.push_str("{\"table\":\"session\",\"row\":{\"id\":\"root\"}}\n");
            for at in 0..count {
                text.push_str(&format!("{{\"table\":\"message\",\"row\":{{\"id\":\"m{at:08}\",\"session_id\":\"root\",\"data\":\"{{\\\"role\\\":\\\"assistant\\\"}}\"}}}}\n"));
            }
            for at in 0..count {
                text.push_str(&format!("{{\"table\":\"part\",\"row\":{{\"id\":\"p{at:08}\",\"message_id\":\"m{at:08}\",\"session_id\":\"root\",\"data\":\"{{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"x\\\"}}\"}}}}\n"));
            }
            vec![source("root", text.into_bytes())]
        }
        _ => {
            let id = |at: usize| format!("{at:064x}");
            let meta = format!("{{\"latestRootBlobId\":\"{}\"}}", id(count - 1));
            let hex: String = meta.bytes().map(|byte| format!("{byte:02x}")).collect();
            text.push_str(&format!(
                "{{\"table\":\"meta\",\"row\":{{\"key\":\"0\",\"value\":\"{hex}\"}}}}\n"
            ));
            for at in 0..count {
                // Each blob refers twice to the one before it.
                let before = id(at.saturating_sub(1));
                text.push_str(&format!("{{\"table\":\"blobs\",\"row\":{{\"id\":\"{}\",\"data\":{{\"hex\":\"0a20{before}1220{before}\"}}}}}}\n", id(at)));
            }
            vec![source("root", text.into_bytes())]
        }
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
