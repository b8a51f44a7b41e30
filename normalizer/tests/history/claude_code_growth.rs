//! Whatever a session file of claude-code may have many of.

use std::collections::BTreeMap;

use runtape_core::Runtime;
use serde_json::{Value, json};

use crate::growth::{self, Make};

const SESSION: &str = "0d016c59-92c1-409d-b997-59d944458f48";

/// Returns a line of the conversation.
fn chain(number: usize, kind: &str, fields: &Value) -> Value {
    let mut line = json!({"parentUuid": null, "isSidechain": false, "type": kind,
        "uuid": format!("00000000-0000-0000-0000-{number:012x}"),
        "timestamp": format!("2026-01-01T{:02}:{:02}:{:02}.000Z", number / 3600 % 24, number / 60 % 60, number % 60),
        "cwd": "/home/dev/proj", "sessionId": SESSION, "version": "2.1.325", "entrypoint": "sdk-cli"});
    for (key, value) in fields.as_object().unwrap() {
        line[key] = value.clone();
    }
    line
}

fn user(number: usize, content: &Value) -> Value {
    chain(
        number,
        "user",
        &json!({"message": {"role": "user", "content": content}}),
    )
}

fn said(number: usize, blocks: &Value) -> Value {
    let message = json!({"id": format!("m{number}"), "model": "x", "content": blocks,
        "usage": {"input_tokens": 1, "output_tokens": 1}});
    chain(number, "assistant", &json!({"message": message}))
}

fn text(number: usize) -> Value {
    said(number, &json!([{"type": "text", "text": "ok"}]))
}

fn queue(operation: &str) -> Value {
    json!({"type": "queue-operation", "operation": operation, "content": "Hi.",
        "timestamp": "2026-01-01T00:00:00.000Z", "sessionId": SESSION})
}

fn bytes(lines: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        bytes.extend_from_slice(line.to_string().as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

fn session(lines: impl IntoIterator<Item = Value>) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(format!("p/{SESSION}.jsonl"), bytes(lines))])
}

fn answers(count: usize) -> BTreeMap<String, Vec<u8>> {
    session(
        [user(0, &"Hi.".into())]
            .into_iter()
            .chain((1..count).map(text)),
    )
}

fn calls(count: usize) -> BTreeMap<String, Vec<u8>> {
    session((0..count).flat_map(|index| {
        let id = format!("t{index}");
        let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        [said(2 * index, &call), user(2 * index + 1, &result)]
    }))
}

fn processes(count: usize) -> BTreeMap<String, Vec<u8>> {
    session((0..count).flat_map(|index| {
        let cost = json!({"type": "cost-state", "totalCostUSD": index, "modelUsage": {}});
        [
            queue("enqueue"),
            queue("dequeue"),
            user(2 * index, &"Hi.".into()),
            text(2 * index + 1),
            cost,
        ]
    }))
}

fn copied_prompts(count: usize) -> BTreeMap<String, Vec<u8>> {
    let mut late = queue("enqueue");
    late["timestamp"] = "2026-02-01T00:00:00.000Z".into();
    let prompts = (0..count).flat_map(|index| {
        let prompt = user(2 * index, &"Hi.".into());
        [prompt, text(2 * index + 1)]
    });
    session([late].into_iter().chain(prompts))
}

fn sub_agents(count: usize) -> BTreeMap<String, Vec<u8>> {
    let count = count / 2;
    let delegated = |index: usize| {
        let id = format!("t{index}");
        let call = json!([{"type": "tool_use", "id": id, "name": "Agent",
            "input": {"prompt": format!("Do {index}.")}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        [said(4 * index, &call), user(4 * index + 1, &result)]
    };
    let mut files = session((0..count).flat_map(delegated));
    for index in 0..count {
        let lines = [
            user(4 * index + 2, &format!("Do {index}.").into()),
            text(4 * index + 3),
        ];
        let name = format!("p/{SESSION}/subagents/agent-a{index}.jsonl");
        files.insert(name, bytes(lines));
    }
    files
}

fn side_chains(count: usize) -> BTreeMap<String, Vec<u8>> {
    let first = [user(1_000_000, &"Hi.".into()), text(1_000_001)];
    session(first.into_iter().chain((0..count).map(|index| {
        let mut line = text(index);
        line["isSidechain"] = true.into();
        let parent = index / 10 * 10;
        if index > parent {
            line["parentUuid"] = format!("00000000-0000-0000-0000-{:012x}", index - 1).into();
        }
        line
    })))
}

fn asides(count: usize) -> BTreeMap<String, Vec<u8>> {
    let odd = (0..count).map(|index| json!({"type": "brand-new", "number": index}));
    session([user(0, &"Hi.".into())].into_iter().chain(odd))
}

fn queued_prompts(count: usize) -> BTreeMap<String, Vec<u8>> {
    session((0..count).flat_map(|index| [queue("enqueue"), text(index)]))
}

const CASES: &[(&str, Make)] = &[
    ("answers", answers),
    ("calls", calls),
    ("processes", processes),
    ("copied prompts", copied_prompts),
    ("sub-agents", sub_agents),
    ("side chains", side_chains),
    ("asides", asides),
    ("queued prompts", queued_prompts),
];

#[test]
fn four_times_as_much_takes_four_times_as_long() {
    for (name, make) in CASES {
        growth::check_time(&Runtime::ClaudeCode, name, *make);
    }
}

#[test]
fn little_is_held_of_each_line() {
    // Each process takes more than a line does, and each has several lines.
    for name in ["answers", "calls", "side chains", "asides"] {
        growth::check_memory("claude_code_growth::in_a_process_of_its_own", name);
    }
}

#[test]
#[ignore = "what the test above starts in a process of its own"]
fn in_a_process_of_its_own() {
    growth::hold(&Runtime::ClaudeCode, CASES);
}
