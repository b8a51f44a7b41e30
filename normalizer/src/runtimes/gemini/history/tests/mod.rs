//! Sessions written by hand: one for each trap of the format.

mod any_bytes;
mod records;
mod sessions;
mod subagents;

use runtape_core::{Record, RecordKind, RunSummary, Runtime};
use serde_json::{Value, json};

use super::HISTORY;
use crate::history::{Session, SessionSource, read_session, segment_bytes};
use crate::testing::{history_records, history_summary};

const SESSION: &str = "11111111-aaaa-4bbb-8ccc-dddddddddddd";
const MAIN: &str = "proj/chats/session-2026-01-01T00-00-11111111.jsonl";

/// The files of one session.
#[derive(Default)]
struct Files(Vec<SessionSource>);

impl Files {
    /// Returns a session with one file.
    fn one(lines: &[Value]) -> Self {
        Self::default().with(MAIN, lines)
    }

    fn with(self, name: &str, lines: &[Value]) -> Self {
        let lines = lines.iter().map(|line| format!("{line}\n"));
        self.with_bytes(name, lines.collect::<String>().into_bytes())
    }

    fn with_bytes(mut self, name: &str, bytes: Vec<u8>) -> Self {
        let source = (HISTORY.source)(name, &bytes).expect("it is a source");
        self.0.push(SessionSource {
            name: name.to_owned(),
            framing: source.framing,
            bytes,
        });
        self.0.sort_by(|one, other| one.name.cmp(&other.name));
        self
    }

    fn session(&self) -> Session {
        read_session(&HISTORY, &self.0)
    }

    /// Returns the lines of each run.
    fn tapes(&self) -> Vec<Vec<u8>> {
        let session = self.session();
        let segments = session.segments.iter();
        segments
            .map(|segment| segment_bytes(segment, &self.0))
            .collect()
    }

    fn summaries(&self) -> Vec<RunSummary> {
        let tapes = self.tapes();
        tapes.iter().map(|tape| summary(tape)).collect()
    }

    /// Returns the summary of the only run.
    fn summary(&self) -> RunSummary {
        let mut summaries = self.summaries();
        assert_eq!(summaries.len(), 1);
        summaries.remove(0)
    }
}

fn records(tape: &[u8]) -> Vec<Record> {
    history_records(Runtime::Gemini, tape)
}

fn summary(tape: &[u8]) -> RunSummary {
    history_summary(Runtime::Gemini, tape)
}

/// Returns the keys of the responses that count.
fn counted(tape: &[u8]) -> Vec<String> {
    let records = records(tape).into_iter();
    let keys = records.filter_map(|record| match record.kind {
        RecordKind::Usage(entry) => Some(entry.key),
        _ => None,
    });
    keys.collect()
}

/// Returns the kinds and texts of the notices.
fn notices(summary: &RunSummary) -> Vec<String> {
    let notices = summary.notices.iter();
    notices
        .map(|notice| serde_json::to_string(notice).unwrap())
        .collect()
}

fn time(second: u32) -> String {
    format!("2026-01-01T00:00:{second:02}.000Z")
}

fn header(second: u32) -> Value {
    json!({"sessionId": SESSION, "projectHash": "h", "startTime": time(second), "lastUpdated": time(second),
        "kind": "main"})
}

fn context_record(second: u32) -> Value {
    json!({"id": "c0", "timestamp": time(second), "type": "user", "content": [{"text":
        "<session_context>\n- **Workspace Directories:**\n  - /home/dev/proj\n</session_context>"}]})
}

fn list(records: &[Value]) -> Value {
    json!({"$set": {"messages": records, "lastUpdated": time(59)}})
}

fn resumed() -> Value {
    json!({"$set": {"sessionId": SESSION}})
}

fn user(id: &str, second: u32, text: &str) -> Value {
    json!({"id": id, "timestamp": time(second), "type": "user", "content": [{"text": text}]})
}

fn answer(id: &str, second: u32, text: &str) -> Value {
    json!({"id": id, "timestamp": time(second), "type": "gemini", "content": text, "thoughts": [],
        "tokens": {"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 0, "total": 15}, "model": "m"})
}

fn call(id: &str, command: &str, output: &str) -> Value {
    json!({"id": id, "name": "run_shell_command", "args": {"command": command},
        "result": [response(id, output)], "status": "success", "timestamp": time(9), "resultDisplay": output,
        "displayName": "Shell", "description": "", "renderOutputAsMarkdown": false})
}

fn response(id: &str, output: &str) -> Value {
    json!({"functionResponse": {"id": id, "name": "run_shell_command", "response": {"output": output}}})
}

fn results(id: &str, second: u32, call: &str, output: &str) -> Value {
    json!({"id": id, "timestamp": time(second), "type": "user", "content": [response(call, output)]})
}

/// Returns a record with more fields.
fn with(mut record: Value, fields: &Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        record[key] = value.clone();
    }
    record
}

fn without(mut record: Value, fields: &[&str]) -> Value {
    for key in fields {
        record.as_object_mut().unwrap().shift_remove(*key);
    }
    record
}

fn said_calls(summary: &RunSummary) -> Vec<(&str, Option<bool>)> {
    let calls = summary.tool_calls.iter();
    calls
        .map(|call| (call.id.as_str(), call.is_error))
        .collect()
}
