//! Whole outputs, from bytes to the summary.

mod attempts;
mod endings;
mod formats;
mod messages;
mod verdicts;

use runtape_core::{CheckpointStatus, ErrorFamily, Record, RunSummary, Runtime};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::testing::{PrintedRun, context};

const SESSION: &str = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";

/// An output, and what is known around it.
struct Given<'a> {
    argv: &'a [&'a str],
    stdout: String,
    stderr: &'a str,
    exit: Exit,
    limit: Option<usize>,
}

impl Default for Given<'_> {
    fn default() -> Self {
        let (argv, stderr, limit) = (&[][..], "", None);
        Self {
            argv,
            stdout: String::new(),
            stderr,
            exit: Exit::with_code(0),
            limit,
        }
    }
}

impl Given<'_> {
    fn summary(&self) -> RunSummary {
        self.printed().summary()
    }

    fn records(&self) -> Vec<Record> {
        self.printed().records()
    }

    fn printed(&self) -> PrintedRun<'_> {
        let mut context = context(self.argv);
        context.limit = self.limit.unwrap_or(context.limit);
        PrintedRun {
            runtime: Runtime::ClaudeCode,
            context,
            stdout: &self.stdout,
            stderr: self.stderr,
            exit: self.exit.clone(),
        }
    }
}

fn text(stdout: &str) -> RunSummary {
    Given {
        stdout: stdout.to_owned(),
        ..Given::default()
    }
    .summary()
}

/// Prints values a line each.
fn lines(values: &[Value]) -> String {
    let lines: Vec<String> = values.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn stream(values: &[Value]) -> RunSummary {
    text(&lines(values))
}

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": SESSION, "model": "m",
        "claude_code_version": "2.1.325", "mcp_servers": [], "permissionMode": "default"})
}

fn assistant(id: &str, block: &Value) -> Value {
    json!({"type": "assistant", "session_id": SESSION, "parent_tool_use_id": null,
        "message": {"id": id, "model": "m", "role": "assistant", "content": [block],
            "usage": {"input_tokens": 1, "output_tokens": 1}}})
}

fn in_child(call: &str, mut line: Value) -> Value {
    line["parent_tool_use_id"] = call.into();
    line
}

fn says(id: &str, said: &str) -> Value {
    assistant(id, &json!({"type": "text", "text": said}))
}

fn calls(id: &str, call: &str, name: &str, input: &Value) -> Value {
    assistant(
        id,
        &json!({"type": "tool_use", "id": call, "name": name, "input": input}),
    )
}

fn user(content: &Value) -> Value {
    json!({"type": "user", "session_id": SESSION, "parent_tool_use_id": null,
        "message": {"role": "user", "content": content}})
}

fn answers(call: &str, content: &Value) -> Value {
    user(&json!([{"type": "tool_result", "tool_use_id": call, "content": content}]))
}

fn result(said: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": said,
        "session_id": SESSION, "uuid": "0f1c7a52-97a4-4a2b-8a3f-0a1f6f1f2a11", "duration_ms": 10, "total_cost_usd": 0.5,
        "usage": {"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": 3},
        "modelUsage": {"m": {"inputTokens": 5, "outputTokens": 9, "cacheReadInputTokens": 3,
            "costUSD": 0.5}}})
}

fn with(mut value: Value, changes: &Value) -> Value {
    let changes = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(changes);
    value
}

fn event(event: &Value) -> Value {
    json!({"type": "stream_event", "event": event, "session_id": SESSION,
        "parent_tool_use_id": null})
}

fn message_start(id: &str) -> Value {
    event(
        &json!({"type": "message_start", "message": {"id": id, "model": "m", "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1}}}),
    )
}

fn block_start(block: &Value) -> Value {
    event(&json!({"type": "content_block_start", "index": 0, "content_block": block}))
}

fn delta(delta: &Value) -> Value {
    event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

fn text_delta(text: &str) -> Value {
    delta(&json!({"type": "text_delta", "text": text}))
}

fn block_stop() -> Value {
    event(&json!({"type": "content_block_stop", "index": 0}))
}

fn message_end(output: u64) -> [Value; 2] {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 3, "output_tokens": output});
    [
        event(
            &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
        ),
        event(&json!({"type": "message_stop"})),
    ]
}

fn kinds(summary: &RunSummary) -> Vec<&str> {
    summary
        .notices
        .iter()
        .map(|notice| notice.kind.as_str())
        .collect()
}

fn family(summary: &RunSummary) -> Option<ErrorFamily> {
    summary.error.as_ref().and_then(|error| error.family)
}
