//! How runs of every runtime end of which nothing but a session file is left.

use runtape_core::{JobId, Outcome, RunId, Runtime, Stream, summarize};
use runtape_normalizer::{Context, Exit, Kept, Normalizer, RunSource};
use serde_json::{Value, json};

/// Returns how a run went of which nothing but these lines of history is known.
fn outcome_of_history(runtime: &Runtime, lines: &[Value]) -> (Outcome, Option<String>) {
    let mut context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
    context.source = RunSource::History;
    let mut normalizer = Normalizer::new(runtime.clone(), context).unwrap();
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let lines = lines.join("\n") + "\n";
    let mut records = normalizer
        .push(Stream::History, Kept::as_given(&lines), 1)
        .records;
    records.extend(normalizer.finish(&Exit::unknown()).records);
    let summary = summarize(&records).unwrap();
    (summary.outcome, summary.error.map(|error| error.name))
}

const SESSION: &str = "01a1e411-5915-7861-aa3e-08ec0c7a5a8d";
const TIME: &str = "2026-11-16T10:00:00.000Z";

fn claude(number: u32, message: &Value, more: &Value) -> Value {
    let mut line = json!({"type": message["role"], "uuid": format!("00000000-0000-0000-0000-{number:012}"),
        "timestamp": TIME, "cwd": "/ws", "sessionId": SESSION, "version": "2.1.325", "isSidechain": false,
        "message": message});
    let fields = line.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    line
}

fn claude_said(number: u32, block: &Value, stop: &Value) -> Value {
    let message = json!({"id": "m1", "role": "assistant", "model": "claude-x", "content": [block],
        "stop_reason": stop, "usage": {"input_tokens": 10, "output_tokens": 5}});
    claude(number, &message, &json!({}))
}

fn codex(tag: &str, payload: &Value) -> Value {
    json!({"timestamp": TIME, "type": tag, "payload": payload})
}

fn row(table: &str, row: &Value) -> Value {
    json!({"table": table, "row": row})
}

fn hermes(id: i64, role: &str, content: &str, more: &Value) -> Value {
    let mut fields = json!({"id": id, "session_id": "20261116_115010_80104d", "role": role,
        "content": content, "timestamp": 100 + id});
    let object = fields.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    row("messages", &fields)
}

fn opencode(id: &str, data: &Value) -> Value {
    row(
        "message",
        &json!({"id": id, "session_id": "ses_e1bd22968ffeeoXb97kksY8ye5", "time_created": 1,
        "time_updated": 2, "data": data.to_string()}),
    )
}

fn cursor(number: u8, message: &Value) -> Value {
    let hex = |bytes: &[u8]| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.concat()
    };
    row(
        "blobs",
        &json!({"id": hex(&[number; 32]), "data": {"hex": hex(message.to_string().as_bytes())}}),
    )
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn what_is_left_in_a_session_file_makes_one_outcome() {
    use Outcome::{Completed, Failed, Interrupted, Limit, Unfinished};
    let text = |text: &str| json!({"type": "text", "text": text});
    let asked = claude(1, &json!({"role": "user", "content": "Go."}), &json!({}));
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}});
    let claude_called = claude_said(2, &call, &json!("tool_use"));
    let refused = json!({"id": "m2", "role": "assistant", "model": "<synthetic>", "content": [text("API Error: 500 no")]});
    let meta = codex(
        "session_meta",
        &json!({"id": SESSION, "session_id": SESSION, "cwd": "/ws", "timestamp": TIME,
        "originator": "codex_exec", "cli_version": "0.166.0"}),
    );
    let event = |payload: Value| codex("event_msg", &payload);
    let begun = event(json!({"type": "task_started", "turn_id": "t1"}));
    let header = json!({"sessionId": SESSION, "projectHash": "h", "startTime": TIME, "lastUpdated": TIME, "kind": "main"});
    let gemini = |id: &str, kind: &str, content: Value| json!({"id": id, "timestamp": TIME, "type": kind, "content": content});
    let typed = gemini("u1", "user", json!([{"text": "Go."}]));
    let mut answer = gemini("g1", "gemini", json!("Done."));
    answer["tokens"] =
        json!({"input": 10, "output": 2, "cached": 0, "thoughts": 0, "tool": 0, "total": 12});
    answer["thoughts"] = json!([]);
    answer["model"] = "m".into();
    let session = row(
        "sessions",
        &json!({"id": "20261116_115010_80104d", "source": "cli", "model": "m",
        "started_at": 100.0, "cwd": "/ws"}),
    );
    let wanted = hermes(1, "user", "Go.", &json!({}));
    let calls = json!([{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}]).to_string();
    let home = row(
        "session",
        &json!({"id": "ses_e1bd22968ffeeoXb97kksY8ye5", "directory": "/ws", "title": "T",
        "version": "1.18.33", "time_created": 1}),
    );
    let prompt = opencode("msg_1", &json!({"role": "user", "time": {"created": 1}}));
    let reply = |more: Value| {
        let mut data =
            json!({"role": "assistant", "modelID": "m", "time": {"created": 1, "completed": 2}});
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        opencode("msg_2", &data)
    };
    let query = cursor(
        1,
        &json!({"role": "user", "content": "<user_query>\nGo.\n</user_query>"}),
    );
    let interrupted = json!({"role": "user", "content": [text("[Request interrupted by user]")]});
    let cases: Vec<(Runtime, &str, Vec<Value>, Outcome)> = vec![
        (
            Runtime::ClaudeCode,
            "an answer",
            vec![
                asked.clone(),
                claude_said(2, &text("Done."), &json!("end_turn")),
            ],
            Completed,
        ),
        (
            Runtime::ClaudeCode,
            "a prompt",
            vec![asked.clone()],
            Unfinished,
        ),
        (
            Runtime::ClaudeCode,
            "a call",
            vec![asked.clone(), claude_called.clone()],
            Unfinished,
        ),
        (
            Runtime::ClaudeCode,
            "a result",
            vec![
                asked.clone(),
                claude_called,
                claude(
                    3,
                    &json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a"}]}),
                    &json!({}),
                ),
            ],
            Unfinished,
        ),
        (
            Runtime::ClaudeCode,
            "an error",
            vec![
                asked.clone(),
                claude(2, &refused, &json!({"isApiErrorMessage": true})),
            ],
            Failed,
        ),
        (
            Runtime::ClaudeCode,
            "an interrupt",
            vec![asked, claude(2, &interrupted, &json!({}))],
            Interrupted,
        ),
        (
            Runtime::Codex,
            "a whole turn",
            vec![
                meta.clone(),
                begun.clone(),
                event(json!({"type": "task_complete", "last_agent_message": "Done."})),
            ],
            Completed,
        ),
        (
            Runtime::Codex,
            "an open turn",
            vec![meta.clone(), begun.clone()],
            Unfinished,
        ),
        (
            Runtime::Codex,
            "an error",
            vec![
                meta.clone(),
                begun.clone(),
                event(json!({"type": "error", "message": "boom"})),
                event(json!({"type": "task_complete", "last_agent_message": null})),
            ],
            Failed,
        ),
        (
            Runtime::Codex,
            "an interrupt",
            vec![
                meta.clone(),
                begun.clone(),
                event(json!({"type": "turn_aborted", "reason": "interrupted"})),
            ],
            Interrupted,
        ),
        (
            Runtime::Codex,
            "a budget",
            vec![
                meta,
                begun,
                event(json!({"type": "turn_aborted", "reason": "budget_limited"})),
            ],
            Limit,
        ),
        (
            Runtime::Gemini,
            "an answer",
            vec![header.clone(), typed.clone(), answer],
            Completed,
        ),
        (
            Runtime::Gemini,
            "a prompt",
            vec![header.clone(), typed.clone()],
            Unfinished,
        ),
        (
            Runtime::Gemini,
            "an error",
            vec![
                header.clone(),
                typed.clone(),
                gemini("e1", "error", json!("[API Error: boom]")),
            ],
            Failed,
        ),
        (
            Runtime::Gemini,
            "a cancel",
            vec![
                header,
                typed,
                gemini("i1", "info", json!("Request cancelled.")),
            ],
            Interrupted,
        ),
        (
            Runtime::Hermes,
            "an answer",
            vec![
                session.clone(),
                wanted.clone(),
                hermes(2, "assistant", "Done.", &json!({"finish_reason": "stop"})),
            ],
            Completed,
        ),
        (
            Runtime::Hermes,
            "a prompt",
            vec![session.clone(), wanted.clone()],
            Unfinished,
        ),
        (
            Runtime::Hermes,
            "a call",
            vec![
                session.clone(),
                wanted.clone(),
                hermes(
                    2,
                    "assistant",
                    "",
                    &json!({"finish_reason": "tool_calls", "tool_calls": calls}),
                ),
            ],
            Unfinished,
        ),
        (
            Runtime::Hermes,
            "an interrupt",
            vec![
                session,
                wanted,
                hermes(
                    2,
                    "assistant",
                    "Operation interrupted: waiting for model response.",
                    &json!({}),
                ),
            ],
            Interrupted,
        ),
        (
            Runtime::Opencode,
            "an answer",
            vec![
                home.clone(),
                prompt.clone(),
                reply(json!({"finish": "stop"})),
            ],
            Completed,
        ),
        (
            Runtime::Opencode,
            "a prompt",
            vec![home.clone(), prompt.clone()],
            Unfinished,
        ),
        (
            Runtime::Opencode,
            "a call",
            vec![
                home.clone(),
                prompt.clone(),
                reply(json!({"finish": "tool-calls"})),
            ],
            Unfinished,
        ),
        (
            Runtime::Opencode,
            "an error",
            vec![
                home.clone(),
                prompt.clone(),
                reply(json!({"error": {"name": "UnknownError", "data": {"message": "boom"}}})),
            ],
            Failed,
        ),
        (
            Runtime::Opencode,
            "an abort",
            vec![
                home,
                prompt,
                reply(
                    json!({"error": {"name": "MessageAbortedError", "data": {"message": "boom"}}}),
                ),
            ],
            Interrupted,
        ),
        (
            Runtime::Cursor,
            "an answer",
            vec![
                query.clone(),
                cursor(2, &json!({"role": "assistant", "content": [text("Done.")]})),
            ],
            Completed,
        ),
        (Runtime::Cursor, "a prompt", vec![query.clone()], Unfinished),
        (
            Runtime::Cursor,
            "a call",
            vec![
                query,
                cursor(
                    2,
                    &json!({"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "t1", "toolName": "Shell", "args": {}}]}),
                ),
            ],
            Unfinished,
        ),
    ];
    let mut faults = Vec::new();
    for (runtime, name, lines, expected) in cases {
        let (found, error) = outcome_of_history(&runtime, &lines);
        let is_named = (expected == Unfinished) == (error.as_deref() == Some("Unfinished"));
        if found != expected || !is_named {
            faults.push(format!(
                "{runtime} {name}: {} {error:?}, not {}",
                found.as_str(),
                expected.as_str()
            ));
        }
    }
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}
