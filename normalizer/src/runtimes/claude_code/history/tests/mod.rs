//! The traps of the format, each with lines written by hand.

mod agents;
mod lines;
mod runs;

use runtape_core::{RunSummary, Runtime, Stream, summarize};
use serde_json::{Value, json};

use super::HISTORY;
use crate::history::{Framing, Session, SessionSource, read_session, segment_bytes};
use crate::testing;
use crate::{Exit, Kept, Normalizer, RunSource};

const SESSION: &str = "0d016c59-92c1-409d-b997-59d944458f48";

/// Lines of a session, written one by one.
#[derive(Clone)]
struct MaybeText {
    lines: Vec<Value>,
    version: &'static str,
    entrypoint: Option<&'static str>,
    /// When the next line is written, in seconds after the hour.
    second: u32,
}

/// Begins to write what print mode of a version writes.
fn written(version: &'static str) -> MaybeText {
    MaybeText {
        lines: Vec::new(),
        version,
        entrypoint: (!version.starts_with("1.") && !version.starts_with("2.0"))
            .then_some("sdk-cli"),
        second: 0,
    }
}

fn id(number: usize) -> String {
    format!("00000000-0000-0000-0000-{number:012x}")
}

impl MaybeText {
    fn time(&self) -> String {
        format!(
            "2026-01-01T10:{:02}:{:02}.000Z",
            self.second / 60,
            self.second % 60
        )
    }

    fn aside(mut self, line: Value) -> Self {
        self.second += 1;
        self.lines.push(line);
        self
    }

    fn queue(self, operation: &str, content: Option<&str>) -> Self {
        let line = json!({"type": "queue-operation", "operation": operation,
            "timestamp": self.time(), "sessionId": SESSION, "content": content});
        self.aside(line)
    }

    /// A prompt as print mode takes it.
    fn asked(self, prompt: &str) -> Self {
        let queued = self.queue("enqueue", Some(prompt)).queue("dequeue", None);
        queued.prompt(prompt)
    }

    /// A line of the conversation; `fields` come last.
    fn chain(mut self, kind: &str, fields: &Value) -> Self {
        self.second += 1;
        let parent = self.lines.iter().rev().find_map(|line| line.get("uuid"));
        let mut line = json!({"parentUuid": parent, "isSidechain": false, "type": kind,
            "uuid": id(self.lines.len() + 1), "timestamp": self.time(), "cwd": "/home/dev/proj",
            "sessionId": SESSION, "version": self.version});
        if let Some(entrypoint) = self.entrypoint {
            line["entrypoint"] = entrypoint.into();
        }
        for (key, value) in fields.as_object().unwrap() {
            line[key] = value.clone();
        }
        self.lines.push(line);
        self
    }

    fn user(self, content: &Value, mut fields: Value) -> Self {
        fields["message"] = json!({"role": "user", "content": content});
        self.chain("user", &fields)
    }

    fn prompt(self, text: &str) -> Self {
        self.user(&text.into(), json!({}))
    }

    fn result(self, call: &str, text: &str, fields: Value) -> Self {
        let block = json!([{"type": "tool_result", "tool_use_id": call, "content": text}]);
        self.user(&block, fields)
    }

    /// One block of a response.
    fn block(self, message: &str, block: &Value, output: u64, fields: &Value) -> Self {
        let mut line = json!({"message": {"id": message, "role": "assistant", "model": "claude-x",
            "content": [block], "stop_reason": null,
            "usage": {"input_tokens": 10, "output_tokens": output}}});
        for (key, value) in fields.as_object().unwrap() {
            line[key] = value.clone();
        }
        self.chain("assistant", &line)
    }

    fn text(self, message: &str, text: &str) -> Self {
        let block = json!({"type": "text", "text": text});
        self.block(message, &block, 5, &json!({}))
    }

    fn call(self, message: &str, id: &str, name: &str, input: &Value) -> Self {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.block(message, &block, 5, &json!({}))
    }

    /// What the CLI says in the model's place.
    fn synthetic(self, text: &str, mut fields: Value) -> Self {
        fields["message"] = json!({"id": id(999), "role": "assistant", "model": "<synthetic>",
            "content": [{"type": "text", "text": text}], "usage": {"output_tokens": 0}});
        self.chain("assistant", &fields)
    }

    fn cost(self, dollars: f64, input: u64, output: u64) -> Self {
        self.aside(
            json!({"type": "cost-state", "sessionId": SESSION, "totalCostUSD": dollars,
            "modelUsage": {"claude-x": {"inputTokens": input, "outputTokens": output,
                "costUSD": dollars}}, "hasUnknownModelCost": false}),
        )
    }

    fn bytes(&self) -> Vec<u8> {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        lines.collect::<String>().into_bytes()
    }

    fn read(&self) -> Found {
        read(&[(&format!("p/{SESSION}.jsonl"), &self.bytes())])
    }
}

/// A session that was read, with its runs.
struct Found {
    session: Session,
    tapes: Vec<Vec<u8>>,
    runs: Vec<RunSummary>,
}

impl Found {
    fn prompts(&self) -> Vec<Option<&str>> {
        let segments = self.session.segments.iter();
        segments.map(|segment| segment.prompt.as_deref()).collect()
    }
}

fn read(files: &[(&str, &[u8])]) -> Found {
    let mut sources: Vec<SessionSource> = files
        .iter()
        .map(|(name, bytes)| SessionSource {
            name: (*name).to_owned(),
            framing: if name.ends_with(".meta.json") {
                Framing::Document
            } else {
                Framing::Lines
            },
            bytes: bytes.to_vec(),
        })
        .collect();
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    let session = read_session(&HISTORY, &sources);
    let segments = session.segments.iter();
    let tapes: Vec<Vec<u8>> = segments
        .map(|segment| segment_bytes(segment, &sources))
        .collect();
    let runs = tapes.iter().map(|tape| normalize(tape)).collect();
    Found {
        session,
        tapes,
        runs,
    }
}

fn normalize(tape: &[u8]) -> RunSummary {
    let mut context = testing::context(&[]);
    context.source = RunSource::History;
    let mut normalizer = Normalizer::new(Runtime::ClaudeCode, context).unwrap();
    let mut records = normalizer
        .push(Stream::History, Kept::as_given(tape), 1)
        .records;
    records.extend(normalizer.finish(&Exit::unknown()).records);
    summarize(&records).unwrap()
}
