//! Lines of the runtimes that print one message a line, made to order.

use runtape_core::{JobId, Record, RunId, Runtime, Stream};
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use serde_json::{Value, json};

/// The runtimes that print one message a line.
pub(crate) const RUNTIMES: [Dialect; 7] = [
    Dialect(Runtime::ClaudeCode),
    Dialect(Runtime::Cursor),
    Dialect(Runtime::Gemini),
    Dialect(Runtime::Openclaw),
    Dialect(Runtime::Codex),
    Dialect(Runtime::Opencode),
    Dialect(Runtime::Generic),
];

const UUID: &str = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";

/// How one runtime says things.
#[derive(Clone, Debug)]
pub(crate) struct Dialect(pub(crate) Runtime);

/// Creates a context that knows nothing.
pub(crate) fn context() -> Context {
    let id = RunId::parse("bounds").unwrap();
    Context::new(JobId::parse("bounds").unwrap(), id)
}

impl Dialect {
    pub(crate) fn normalize(&self, output: &str) -> Vec<Record> {
        let mut normalizer = Normalizer::new(self.0.clone(), context()).unwrap();
        let mut records = normalizer
            .push(Stream::Stdout, Kept::as_given(output), 1_800_000_000_000)
            .records;
        records.extend(normalizer.finish(&Exit::with_code(0)).records);
        records
    }

    /// What is printed first.
    pub(crate) fn opening(&self) -> Value {
        match self.0 {
            Runtime::ClaudeCode | Runtime::Cursor => {
                json!({"type": "system", "subtype": "init", "session_id": UUID, "model": "m", "cwd": "/w"})
            }
            Runtime::Gemini => json!({"type": "init", "session_id": UUID, "model": "m"}),
            Runtime::Codex => json!({"type": "thread.started", "thread_id": UUID}),
            Runtime::Opencode => opencode("step_start", &json!({"id": "prt_1"})),
            Runtime::Generic => entry("init", &json!({"model": "m", "sessionId": UUID})),
            _ => openclaw_agent("lifecycle", &json!({"phase": "start"})),
        }
    }

    /// A call of a shell; without an id where there is none.
    pub(crate) fn call(&self, id: Option<&str>, command: &str) -> Value {
        let mut line = match self.0 {
            Runtime::ClaudeCode => {
                let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
                self.said("m1", &[block])
            }
            Runtime::Cursor => json!({"type": "tool_call", "subtype": "started", "call_id": id,
                "model_call_id": "k1", "session_id": UUID,
                "tool_call": {"shellToolCall": {"args": {"command": command}}}}),
            Runtime::Gemini => {
                json!({"type": "tool_use", "tool_id": id, "tool_name": "run_shell_command",
                    "parameters": {"command": command}})
            }
            Runtime::Codex => {
                let item = json!({"status": "in_progress", "arguments": {"command": command}});
                codex_call("item.started", id, &item)
            }
            Runtime::Opencode => {
                let state = json!({"status": "running", "input": {"command": command}});
                opencode(
                    "tool_use",
                    &json!({"tool": "bash", "callID": id, "state": state}),
                )
            }
            Runtime::Generic => entry(
                "tool_call",
                &json!({"name": "shell", "toolUseId": id, "input": {"command": command}}),
            ),
            _ => match id {
                Some(id) => {
                    let data = json!({"phase": "start", "name": "exec", "toolCallId": id, "args": {"command": command}});
                    openclaw_agent("tool", &data)
                }
                None => self.calls(&[command]),
            },
        };
        drop_nulls(&mut line);
        line
    }

    /// Several calls without an id in one message, on one line where the runtime has such lines.
    pub(crate) fn calls(&self, commands: &[&str]) -> Value {
        match self.0 {
            Runtime::ClaudeCode => {
                let block = |command: &&str| json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
                self.said("m1", &commands.iter().map(block).collect::<Vec<_>>())
            }
            _ => {
                let part = |command: &&str| json!({"type": "toolCall", "name": "exec", "arguments": {"command": command}});
                let parts: Vec<Value> = commands.iter().map(part).collect();
                openclaw_row(&json!({"role": "assistant", "content": parts}))
            }
        }
    }

    /// A result; without an id where there is none.
    pub(crate) fn result(&self, id: Option<&str>, output: &str) -> Value {
        let mut line = match self.0 {
            Runtime::ClaudeCode => {
                let block = json!({"type": "tool_result", "tool_use_id": id, "content": output});
                json!({"type": "user", "session_id": UUID, "message": {"role": "user", "content": [block]}})
            }
            Runtime::Cursor => json!({"type": "tool_call", "subtype": "completed", "call_id": id,
                "model_call_id": "k1", "session_id": UUID,
                "tool_call": {"shellToolCall": {"result": {"success": {"stdout": output, "exitCode": 0}}}}}),
            Runtime::Gemini => {
                json!({"type": "tool_result", "tool_id": id, "status": "success", "output": output})
            }
            Runtime::Codex => {
                let content = json!([{"type": "text", "text": output}]);
                let item = json!({"status": "completed", "result": {"content": content}});
                codex_call("item.completed", id, &item)
            }
            Runtime::Opencode => {
                let state =
                    json!({"status": "completed", "output": output, "metadata": {"exit": 0}});
                opencode(
                    "tool_use",
                    &json!({"tool": "bash", "callID": id, "state": state}),
                )
            }
            Runtime::Generic => entry(
                "tool_result",
                &json!({"toolUseId": id.unwrap_or_default(), "content": output, "isError": false}),
            ),
            _ => match id {
                Some(id) => {
                    let data = json!({"phase": "result", "name": "exec", "toolCallId": id, "result": output});
                    openclaw_agent("tool", &data)
                }
                None => openclaw_row(
                    &json!({"role": "toolResult", "toolName": "exec", "content": output}),
                ),
            },
        };
        drop_nulls(&mut line);
        line
    }

    /// A message of the model of its own.
    pub(crate) fn text(&self, number: usize) -> Value {
        let text = format!("text {number}");
        match self.0 {
            Runtime::ClaudeCode => self.said(
                &format!("t{number}"),
                &[json!({"type": "text", "text": text})],
            ),
            Runtime::Cursor => json!({"type": "assistant", "session_id": UUID,
                "model_call_id": format!("k{number}"),
                "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}),
            Runtime::Gemini => {
                json!({"type": "message", "role": "assistant", "content": text, "delta": true})
            }
            Runtime::Codex => json!({"type": "item.completed",
                "item": {"id": format!("item_{number}"), "type": "agent_message", "text": text}}),
            Runtime::Opencode => opencode(
                "text",
                &json!({"id": format!("prt_{number}"), "text": text}),
            ),
            Runtime::Generic => entry("assistant", &json!({"text": text})),
            _ => openclaw_row(
                &json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
            ),
        }
    }

    /// What the user says.
    pub(crate) fn user(&self, text: &str) -> Value {
        match self.0 {
            Runtime::ClaudeCode | Runtime::Cursor => {
                json!({"type": "user", "session_id": UUID,
                    "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
            }
            Runtime::Gemini => json!({"type": "message", "role": "user", "content": text}),
            // These two print nothing of it. What comes nearest: a turn begins, somebody thinks.
            Runtime::Codex => json!({"type": "turn.started"}),
            Runtime::Opencode => opencode("reasoning", &json!({"text": text})),
            Runtime::Generic => entry("user", &json!({"text": text})),
            _ => openclaw_row(&json!({"role": "user", "content": text})),
        }
    }

    /// Something that is a notice.
    pub(crate) fn notice(&self, number: usize) -> Value {
        match self.0 {
            Runtime::ClaudeCode => {
                json!({"type": "system", "subtype": "api_retry", "session_id": UUID, "attempt": number})
            }
            Runtime::Cursor => {
                json!({"type": "connection", "subtype": "reconnecting", "session_id": UUID, "attempt": number})
            }
            Runtime::Gemini => {
                json!({"type": "error", "severity": "warning", "message": format!("notice {number}")})
            }
            Runtime::Codex => json!({"type": "error", "message": format!("notice {number}")}),
            Runtime::Opencode => {
                let data = json!({"message": format!("notice {number}")});
                let mut line = opencode("error", &json!({}));
                line["error"] = json!({"name": "Notice", "data": data});
                line
            }
            Runtime::Generic => entry("system", &json!({"text": format!("notice {number}")})),
            _ => openclaw_agent("error", &json!({"error": format!("notice {number}")})),
        }
    }

    /// What is printed last.
    pub(crate) fn ending(&self) -> Value {
        match self.0 {
            Runtime::ClaudeCode | Runtime::Cursor => json!({"type": "result", "subtype": "success",
                "is_error": false, "result": "done", "session_id": UUID, "uuid": UUID, "duration_ms": 1}),
            Runtime::Gemini => {
                json!({"type": "result", "status": "success", "stats": {"input_tokens": 1, "output_tokens": 1}})
            }
            Runtime::Codex => {
                json!({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}})
            }
            Runtime::Opencode => {
                let tokens = json!({"input": 1, "output": 1, "reasoning": 0});
                opencode(
                    "step_finish",
                    &json!({"id": "prt_3", "reason": "stop", "tokens": tokens}),
                )
            }
            Runtime::Generic => entry(
                "result",
                &json!({"text": "done", "inputTokens": 1, "outputTokens": 1, "cachedTokens": 0,
                    "costUsd": 0, "subtype": "completed", "isError": false, "errors": []}),
            ),
            _ => openclaw_chat("final", &json!({"role": "assistant", "content": "done"})),
        }
    }

    /// One message of claude-code.
    pub(crate) fn said(&self, id: &str, blocks: &[Value]) -> Value {
        json!({"type": "assistant", "session_id": UUID,
            "message": {"id": id, "role": "assistant", "model": "m", "content": blocks}})
    }
}

/// Joins lines as they are printed.
pub(crate) fn lines(values: impl IntoIterator<Item = Value>) -> String {
    let mut text = String::new();
    for value in values {
        text.push_str(&value.to_string());
        text.push('\n');
    }
    text
}

/// A call of codex, which an item is.
fn codex_call(tag: &str, id: Option<&str>, fields: &Value) -> Value {
    let mut item = json!({"id": id, "type": "mcp_tool_call", "server": "s", "tool": "shell"});
    let object = item.as_object_mut().unwrap();
    object.extend(fields.as_object().unwrap().clone());
    json!({"type": tag, "item": item})
}

/// An event of opencode, whose part has these fields.
pub(crate) fn opencode(tag: &str, fields: &Value) -> Value {
    let mut part = json!({"messageID": "msg_1"});
    let object = part.as_object_mut().unwrap();
    object.extend(fields.as_object().unwrap().clone());
    json!({"type": tag, "timestamp": 1_800_000_000_000_u64,
        "sessionID": "ses_e1bed8f09ffecv3HScaUEK5EET", "part": part})
}

/// An entry of a transcript, in the published shape.
fn entry(kind: &str, fields: &Value) -> Value {
    let mut entry = json!({"ts": "2026-01-01T00:00:00.000Z", "kind": kind});
    if let (Value::Object(entry), Value::Object(fields)) = (&mut entry, fields) {
        entry.extend(fields.clone());
    }
    entry
}

pub(crate) fn openclaw_agent(stream: &str, data: &Value) -> Value {
    json!({"type": "event", "event": "agent", "payload": {"runId": "run-1",
        "sessionKey": "agent:main:main", "stream": stream, "data": data}})
}

pub(crate) fn openclaw_row(message: &Value) -> Value {
    json!({"type": "event", "event": "session.message",
        "payload": {"sessionKey": "agent:main:main", "message": message}})
}

pub(crate) fn openclaw_chat(state: &str, message: &Value) -> Value {
    json!({"type": "event", "event": "chat", "payload": {"runId": "run-1",
        "sessionKey": "agent:main:main", "state": state, "message": message}})
}

/// Takes out what was not printed: a call without an id has none, rather than a null.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
