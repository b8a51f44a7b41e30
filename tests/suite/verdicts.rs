//! How a run ended: success is what its runtime says in its documented way, and nothing else.
//!
//! Every format with a verdict is given every value in every field that tells it, with every exit.
//! What is a success is in the tables; all else has to be a failure with a name.

use runtape_core::{
    CheckpointStatus, JobId, Record, RunId, RunSummary, Runtime, Stream, summarize,
};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_normalizer::{Context, Exit, Normalizer};
use serde_json::{Map, Value, json};

type Fields = Map<String, Value>;

/// A format that says how its run went.
struct Format {
    name: &'static str,
    runtime: Runtime,
    argv: &'static str,
    /// The fields that say it.
    fields: [&'static str; 2],
    /// Words that this format has in them, beside those that any may have.
    words: &'static [&'static str],
    /// Prints a run whose last word has these fields.
    print: fn(&Fields) -> String,
    /// Tells whether that is how the runtime is documented to report success.
    is_success: fn(&Fields) -> bool,
}

const SESSION: &str = "5b0d6c1e-0a5f-4c7e-9f53-2f1f6f9d1a01";

/// What a field may hold: `None` leaves it out, and `words` are those that its format knows.
fn values(words: &[&str]) -> Vec<Option<Value>> {
    let given = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(""),
        json!("true"),
        json!("success"),
        json!("Success"),
        json!("cancelled"),
        json!("error"),
        json!([]),
        json!(["error"]),
        json!({}),
        json!({"type": "unknown", "message": "boom"}),
    ];
    let words = words.iter().map(|word| json!(word));
    std::iter::once(None)
        .chain(given.into_iter().chain(words).map(Some))
        .collect()
}

fn exits() -> Vec<Exit> {
    vec![
        Exit::unknown(),
        Exit::with_code(0),
        Exit::with_code(1),
        Exit::with_code(130),
        Exit::with_signal("SIGKILL"),
    ]
}

/// Prints a line: what it always has, and the fields.
fn line(mut always: Value, fields: &Fields) -> String {
    let object = always.as_object_mut().unwrap();
    object.extend(fields.clone());
    format!("{always}\n")
}

fn is_absent(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_none_or(Value::is_null)
}

fn claude_result(fields: &Fields) -> String {
    let always = json!({"type": "result", "duration_ms": 5, "num_turns": 1, "result": "Done.",
        "session_id": SESSION, "uuid": SESSION, "total_cost_usd": 0.1, "usage": {}});
    line(always, fields)
}

fn claude_stream(fields: &Fields) -> String {
    let init = json!({"type": "system", "subtype": "init", "cwd": "/home/dev", "session_id": SESSION,
        "uuid": SESSION, "model": "m", "tools": [], "claude_code_version": "2.1.0"});
    let said = json!({"type": "assistant", "session_id": SESSION, "uuid": SESSION, "parent_tool_use_id": null,
        "message": {"id": "m1", "role": "assistant", "model": "m", "usage": {},
            "content": [{"type": "text", "text": "Done."}]}});
    format!("{init}\n{said}\n{}", claude_result(fields))
}

fn flag_and_word(fields: &Fields) -> bool {
    fields.get("is_error") == Some(&json!(false))
        && fields.get("subtype") == Some(&json!("success"))
}

fn cursor_result(fields: &Fields) -> String {
    let always = json!({"type": "result", "duration_ms": 5, "duration_api_ms": 5, "result": "Done.",
        "session_id": SESSION, "request_id": "r-1"});
    line(always, fields)
}

fn cursor_stream(fields: &Fields) -> String {
    let init = json!({"type": "system", "subtype": "init", "apiKeySource": "login",
        "cwd": "/home/dev", "session_id": SESSION, "model": "Auto", "permissionMode": "default"});
    let said = json!({"type": "assistant", "session_id": SESSION,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}});
    format!("{init}\n{said}\n{}", cursor_result(fields))
}

/// A result that is called a success and has something in a field for errors.
fn cursor_error(fields: &Fields) -> String {
    let mut fields = fields.clone();
    fields.insert("is_error".to_owned(), json!(false));
    cursor_stream(&fields)
}

fn gemini_report(fields: &Fields) -> String {
    line(
        json!({"session_id": SESSION, "stats": {"models": {}}}),
        fields,
    )
}

const GEMINI_TIME: &str = "2026-11-16T00:14:46.471Z";

fn gemini_stream(fields: &Fields) -> String {
    let init =
        json!({"type": "init", "timestamp": GEMINI_TIME, "session_id": SESSION, "model": "m"});
    let said = json!({"type": "message", "timestamp": GEMINI_TIME, "role": "assistant",
        "content": "Done.", "delta": true});
    let always = json!({"type": "result", "timestamp": GEMINI_TIME, "stats": {}});
    format!("{init}\n{said}\n{}", line(always, fields))
}

fn gemini_older(fields: &Fields) -> String {
    let init = json!({"type": "system", "subtype": "init", "session_id": SESSION});
    let said = json!({"type": "assistant", "message": "Done."});
    let ended = line(json!({"type": "result", "result": "Done."}), fields);
    format!("{init}\n{said}\n{ended}")
}

fn hermes_acp(fields: &Fields) -> String {
    let opened = json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": SESSION,
        "models": {"currentModelId": "m", "availableModels": []}}});
    let said = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION,
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done."}}}});
    let usage = json!({"inputTokens": 5, "outputTokens": 1, "cachedReadTokens": 0,
        "thoughtTokens": 0, "totalTokens": 6});
    let mut result = json!({"usage": usage});
    let mut ended = json!({"jsonrpc": "2.0", "id": 3});
    for (key, value) in fields {
        if key == "error" {
            ended["error"] = value.clone();
        } else {
            result[key] = value.clone();
        }
    }
    ended["result"] = result;
    format!("{opened}\n{said}\n{ended}\n")
}

const KEY: &str = "agent:main:main";

fn openclaw_said() -> String {
    let said = json!({"type": "event", "event": "agent", "payload": {"runId": "run-1", "sessionKey": KEY,
        "seq": 1, "stream": "assistant", "ts": 1_700_000_000_000_u64,
        "data": {"text": "Done.", "delta": "Done."}}});
    format!("{said}\n")
}

fn openclaw_chat(fields: &Fields) -> String {
    let payload = line(
        json!({"runId": "run-1", "sessionKey": KEY, "seq": 2}),
        fields,
    );
    let payload: Value = serde_json::from_str(&payload).unwrap();
    let ended = json!({"type": "event", "event": "chat", "payload": payload});
    format!("{}{ended}\n", openclaw_said())
}

/// A chat frame after a life cycle that ended well.
fn openclaw_chat_at_last(fields: &Fields) -> String {
    let mut lifecycle = Fields::new();
    lifecycle.insert("aborted".to_owned(), json!(false));
    let chat = openclaw_chat(fields);
    let chat = chat.strip_prefix(&openclaw_said()).unwrap();
    format!("{}{chat}", openclaw_lifecycle(&lifecycle))
}

fn openclaw_lifecycle(fields: &Fields) -> String {
    let data = line(
        json!({"phase": "end", "endedAt": 1_700_000_000_001_u64}),
        fields,
    );
    let data: Value = serde_json::from_str(&data).unwrap();
    let ended = json!({"type": "event", "event": "agent", "payload": {"runId": "run-1", "sessionKey": KEY,
        "seq": 2, "stream": "lifecycle", "ts": 1_700_000_000_000_u64, "data": data}});
    format!("{}{ended}\n", openclaw_said())
}

fn openclaw_response(fields: &Fields) -> String {
    let mut payload = json!({"runId": "run-1"});
    let mut ended = json!({"type": "res", "id": "2"});
    for (key, value) in fields {
        if key == "status" {
            payload["status"] = value.clone();
        } else {
            ended[key] = value.clone();
        }
    }
    ended["payload"] = payload;
    format!("{}{ended}\n", openclaw_said())
}

const THREAD: &str = "01a1e40f-3839-7462-8ba4-4636a26c3aa5";

fn codex_json(fields: &Fields) -> String {
    let started = json!({"type": "thread.started", "thread_id": THREAD});
    let turn = json!({"type": "turn.started"});
    let said = json!({"type": "item.completed",
        "item": {"id": "item_0", "type": "agent_message", "text": "Done."}});
    let ended = line(
        json!({"usage": {"input_tokens": 5, "cached_input_tokens": 0, "output_tokens": 1}}),
        fields,
    );
    format!("{started}\n{turn}\n{said}\n{ended}")
}

const OPENCODE_SESSION: &str = "ses_e1bed8f09ffecv3HScaUEK5EET";

fn opencode_event(tag: &str, rest: &Value) -> String {
    let always = json!({"type": tag, "timestamp": 1_794_827_797_451_u64,
        "sessionID": OPENCODE_SESSION});
    line(always, rest.as_object().unwrap())
}

/// A step that is finished for a reason, and perhaps an error line before it.
fn opencode_json(fields: &Fields) -> String {
    let part = |rest: Value| {
        let mut part = json!({"messageID": "msg_1", "sessionID": OPENCODE_SESSION});
        let object = part.as_object_mut().unwrap();
        object.extend(rest.as_object().unwrap().clone());
        json!({"part": part})
    };
    let mut printed = opencode_event("step_start", &part(json!({"id": "prt_1"})));
    printed += &opencode_event("text", &part(json!({"id": "prt_2", "text": "Done."})));
    if let Some(error) = fields.get("error") {
        printed += &opencode_event("error", &json!({"error": error}));
    }
    let mut finish = json!({"id": "prt_3", "cost": 0.5, "tokens": {"input": 5, "output": 1}});
    if let Some(reason) = fields.get("reason") {
        finish["reason"] = reason.clone();
    }
    printed + &opencode_event("step_finish", &part(finish))
}

/// A format that prints no verdict: the exit is a part of it.
struct FormatWithExit {
    runtime: Runtime,
    argv: &'static str,
    fields: [&'static str; 2],
    words: &'static [&'static str],
    print: fn(&Fields) -> String,
    is_success: fn(&Fields, &Exit) -> bool,
}

fn formats_with_exit() -> Vec<FormatWithExit> {
    vec![FormatWithExit {
        runtime: Runtime::Opencode,
        argv: "opencode run --format json x",
        fields: ["reason", "error"],
        words: &["stop", "length", "tool-calls", "content-filter"],
        print: opencode_json,
        is_success: |fields, exit| {
            let reason = fields.get("reason").and_then(Value::as_str);
            let is_over = match reason {
                Some("stop" | "length") => true,
                // What the process says of itself counts, whatever the last step ended for.
                Some(reason) => exit.is_success() && reason != "error",
                None => false,
            };
            is_over && !exit.is_failure() && !fields.contains_key("error")
        },
    }]
}

/// A transcript that was read after connecting again, of a run whose end nobody saw.
fn openclaw_transcript(fields: &Fields) -> String {
    let mut row = json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}],
        "__openclaw": {"id": "row-1", "runId": "run-1"}});
    let mut info = json!({"lastRunId": "run-1"});
    for (key, value) in fields {
        let place = if key == "stopReason" {
            &mut row
        } else {
            &mut info
        };
        place[key] = value.clone();
    }
    let lines = [
        json!({"type": "req", "id": "2", "method": "chat.send", "params": {"sessionKey": KEY,
            "message": "x", "idempotencyKey": "run-1"}}),
        json!({"type": "res", "id": "2", "ok": true, "payload": {"runId": "run-1", "status": "started"}}),
        json!({"type": "req", "id": "3", "method": "chat.history", "params": {"sessionKey": KEY}}),
        json!({"type": "res", "id": "3", "ok": true, "payload": {"sessionKey": KEY,
            "messages": [row], "sessionInfo": info}}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    format!("{}\n", lines.join("\n"))
}

/// The documented successes, format by format.
#[expect(clippy::too_many_lines, reason = "one entry a format")]
fn formats() -> Vec<Format> {
    vec![
        Format {
            name: "claude-code json",
            runtime: Runtime::ClaudeCode,
            argv: "claude -p x --output-format json",
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: claude_result,
            is_success: flag_and_word,
        },
        Format {
            name: "claude-code stream-json",
            runtime: Runtime::ClaudeCode,
            argv: "claude -p x --output-format stream-json --verbose",
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: claude_stream,
            is_success: flag_and_word,
        },
        Format {
            name: "cursor json",
            runtime: Runtime::Cursor,
            argv: "cursor-agent -p --output-format json x",
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: cursor_result,
            is_success: flag_and_word,
        },
        Format {
            name: "cursor stream-json",
            runtime: Runtime::Cursor,
            argv: "cursor-agent -p --output-format stream-json x",
            fields: ["is_error", "subtype"],
            words: &["error_during_execution", "error_max_turns"],
            print: cursor_stream,
            is_success: flag_and_word,
        },
        Format {
            name: "cursor stream-json, with an error",
            runtime: Runtime::Cursor,
            argv: "cursor-agent -p --output-format stream-json x",
            fields: ["subtype", "error"],
            words: &[],
            print: cursor_error,
            is_success: |fields| {
                fields.get("subtype") == Some(&json!("success")) && is_absent(fields, "error")
            },
        },
        Format {
            name: "gemini json",
            runtime: Runtime::Gemini,
            argv: "gemini -p x --output-format json",
            fields: ["response", "error"],
            words: &[],
            print: gemini_report,
            is_success: |fields| {
                fields.get("response").is_some_and(Value::is_string) && is_absent(fields, "error")
            },
        },
        Format {
            name: "gemini stream-json",
            runtime: Runtime::Gemini,
            argv: "gemini -p x --output-format stream-json",
            fields: ["status", "error"],
            words: &["max_turns"],
            print: gemini_stream,
            is_success: |fields| {
                fields.get("status") == Some(&json!("success")) && is_absent(fields, "error")
            },
        },
        Format {
            name: "gemini stream-json until 0.36",
            runtime: Runtime::Gemini,
            argv: "gemini -p x --output-format stream-json",
            fields: ["subtype", "is_error"],
            words: &[],
            print: gemini_older,
            is_success: |fields| {
                let is_error = fields.get("is_error").unwrap_or(&Value::Null);
                fields.get("subtype") == Some(&json!("success"))
                    && matches!(is_error, Value::Null | Value::Bool(false))
            },
        },
        Format {
            name: "hermes acp",
            runtime: Runtime::Hermes,
            argv: "hermes acp",
            fields: ["stopReason", "error"],
            words: &["end_turn", "max_tokens"],
            print: hermes_acp,
            is_success: |fields| {
                let reason = fields.get("stopReason").and_then(Value::as_str);
                matches!(reason, Some("end_turn" | "max_tokens")) && is_absent(fields, "error")
            },
        },
        Format {
            name: "codex --json",
            runtime: Runtime::Codex,
            argv: "codex exec --json x",
            fields: ["type", "error"],
            words: &["turn.completed", "turn.failed", "turn.cancelled"],
            print: codex_json,
            is_success: |fields| {
                fields.get("type") == Some(&json!("turn.completed")) && is_absent(fields, "error")
            },
        },
        Format {
            name: "openclaw chat",
            runtime: Runtime::Openclaw,
            argv: "openclaw",
            fields: ["state", "errorMessage"],
            words: &["final", "delta", "aborted"],
            print: openclaw_chat,
            is_success: is_final,
        },
        Format {
            name: "openclaw chat after a life cycle that ended well",
            runtime: Runtime::Openclaw,
            argv: "openclaw",
            fields: ["state", "errorMessage"],
            words: &["final", "delta", "aborted"],
            print: openclaw_chat_at_last,
            // The last piece of the answer comes after the life cycle, and takes nothing back.
            is_success: |fields| is_final(fields) || fields.get("state") == Some(&json!("delta")),
        },
        Format {
            name: "openclaw life cycle",
            runtime: Runtime::Openclaw,
            argv: "openclaw",
            fields: ["aborted", "error"],
            words: &[],
            print: openclaw_lifecycle,
            is_success: |fields| {
                let aborted = fields.get("aborted").unwrap_or(&Value::Null);
                matches!(aborted, Value::Null | Value::Bool(false)) && is_absent(fields, "error")
            },
        },
        Format {
            name: "openclaw transcript",
            runtime: Runtime::Openclaw,
            argv: "openclaw",
            fields: ["stopReason", "hasActiveRun"],
            words: &["stop", "length", "toolUse", "aborted"],
            print: openclaw_transcript,
            is_success: |fields| {
                let reason = fields.get("stopReason").and_then(Value::as_str);
                let active = fields.get("hasActiveRun").unwrap_or(&Value::Null);
                let is_idle = matches!(active, Value::Null | Value::Bool(false));
                matches!(reason, Some("stop" | "length")) && is_idle
            },
        },
        Format {
            name: "generic transcript",
            runtime: Runtime::Generic,
            argv: "./agent",
            fields: ["isError", "subtype"],
            words: &["completed", "stoppedByError", "stoppedByExceededMaxSteps"],
            print: generic_result,
            is_success: |fields| {
                let word = fields.get("subtype").and_then(Value::as_str);
                fields.get("isError") == Some(&json!(false))
                    && matches!(word, Some("success" | "completed"))
            },
        },
        Format {
            name: "generic transcript with errors",
            runtime: Runtime::Generic,
            argv: "./agent",
            fields: ["errors", "subtype"],
            words: &["completed"],
            print: generic_errors,
            is_success: |fields| {
                let word = fields.get("subtype").and_then(Value::as_str);
                let is_empty = fields
                    .get("errors")
                    .is_none_or(|errors| *errors == json!([]));
                is_empty && matches!(word, Some("success" | "completed"))
            },
        },
        Format {
            name: "generic events",
            runtime: Runtime::Generic,
            argv: "./agent",
            fields: ["status", "error"],
            words: &["completed", "proceeding", "stoppedByError"],
            print: generic_event,
            is_success: |fields| {
                fields.get("status") == Some(&json!("completed")) && fields.get("error").is_none()
            },
        },
        Format {
            name: "openclaw response",
            runtime: Runtime::Openclaw,
            argv: "openclaw",
            fields: ["ok", "status"],
            words: &["ok", "accepted"],
            print: openclaw_response,
            is_success: |fields| {
                fields.get("ok") == Some(&json!(true)) && fields.get("status") == Some(&json!("ok"))
            },
        },
    ]
}

const ENTRY_TIME: &str = "2026-01-01T00:00:00.000Z";

fn generic_result(fields: &Fields) -> String {
    let said = json!({"ts": ENTRY_TIME, "kind": "assistant", "text": "Done."});
    let always = json!({"ts": ENTRY_TIME, "kind": "result", "text": "Done.", "inputTokens": 1,
        "outputTokens": 1, "cachedTokens": 0, "costUsd": 0, "errors": []});
    format!("{said}\n{}", line(always, fields))
}

/// A result that is called a success in one word, and has something in the field for errors.
fn generic_errors(fields: &Fields) -> String {
    let mut fields = fields.clone();
    fields.insert("isError".to_owned(), json!(false));
    generic_result(&fields)
}

/// The last event of a run, whose checkpoint has the fields.
fn generic_event(fields: &Fields) -> String {
    let usage = json!({"inputTokens": 1, "outputTokens": 1, "reasoningTokens": 0, "totalTokens": 2,
        "cachedInputTokens": 0});
    let said = json!({"type": "expertMessage", "id": "m",
        "contents": [{"type": "textPart", "id": "p", "text": "Done."}]});
    let mut checkpoint = json!({"id": "c", "jobId": "j", "runId": "r", "stepNumber": 1,
        "messages": [said], "usage": usage, "expert": {"key": "x", "name": "x", "version": "1"}});
    checkpoint.as_object_mut().unwrap().extend(fields.clone());
    let end = json!({"id": "e", "expertKey": "x", "timestamp": 1, "jobId": "j", "runId": "r",
        "stepNumber": 1, "type": "completeRun", "checkpoint": checkpoint, "text": "Done.",
        "step": {"stepNumber": 1, "newMessages": [said], "usage": usage, "startedAt": 1},
        "usage": usage});
    format!("{end}\n")
}

fn is_final(fields: &Fields) -> bool {
    let is_silent = is_absent(fields, "errorMessage") || fields["errorMessage"] == json!("");
    fields.get("state") == Some(&json!("final")) && is_silent
}

fn normalize(runtime: &Runtime, argv: Option<&str>, stdout: &str, exit: &Exit) -> Vec<Record> {
    let mut context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
    context.argv = argv.map(|argv| argv.split(' ').map(str::to_owned).collect());
    let mut normalizer = Normalizer::new(runtime.clone(), context).unwrap();
    let mut records = normalizer
        .push(Stream::Stdout, stdout.as_bytes(), 1)
        .records;
    records.extend(normalizer.finish(exit).records);
    records
}

fn summary(runtime: &Runtime, argv: Option<&str>, stdout: &str, exit: &Exit) -> RunSummary {
    summarize(&normalize(runtime, argv, stdout, exit)).unwrap()
}

/// Returns what is wrong with how a run was told to end.
fn fault(records: &[Record], is_success: bool, exit: &Exit) -> Option<String> {
    let ends = records.iter().filter(|record| record.terminal().is_some());
    if ends.count() != 1 {
        return Some("not exactly one terminal event".to_owned());
    }
    let summary = summarize(records).unwrap();
    let error = summary.error.as_ref();
    let name = error.map_or("", |error| error.name.as_str());
    let message = error.map_or("", |error| error.message.as_str());
    let is_completed = summary.status == CheckpointStatus::Completed;
    if is_completed != is_success {
        return Some(format!("{} {name}: {message}", summary.status.as_str()));
    }
    if is_completed {
        let has_notice = |notice: &runtape_core::SummaryNotice| notice.kind == "exitMismatch";
        let is_noted = summary.notices.iter().any(has_notice);
        return (is_noted != exit.is_failure() || error.is_some())
            .then(|| "completed, and the exit disagrees in silence".to_owned());
    }
    if name.is_empty() || message.is_empty() {
        return Some("a failure without a name or a message".to_owned());
    }
    let is_told = name != "UnclearResult" || !summary.unparsed.is_empty();
    (!is_told).then(|| "unclear, and no field is named".to_owned())
}

/// Gives every format of a runtime every value in each field, with every exit.
fn check_runtime(runtime: &Runtime) {
    let mut faults = Vec::new();
    for format in formats().iter().filter(|format| format.runtime == *runtime) {
        let found = check_format(format);
        let examples = found.iter().take(8).map(String::as_str);
        let examples: Vec<&str> = examples.collect();
        if !found.is_empty() {
            let count = found.len();
            faults.push(format!(
                "{}: {count}\n  {}",
                format.name,
                examples.join("\n  ")
            ));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn check_format(format: &Format) -> Vec<String> {
    let [first, second] = format.fields;
    let mut faults = Vec::new();
    let mut successes = 0;
    for one in values(format.words) {
        for other in values(format.words) {
            let mut fields = Fields::new();
            fields.extend(one.clone().map(|value| (first.to_owned(), value)));
            fields.extend(other.map(|value| (second.to_owned(), value)));
            let stdout = (format.print)(&fields);
            let is_success = (format.is_success)(&fields);
            successes += usize::from(is_success);
            for exit in exits() {
                let records = normalize(&format.runtime, Some(format.argv), &stdout, &exit);
                if let Some(fault) = fault(&records, is_success, &exit) {
                    let fields = Value::Object(fields.clone());
                    let exit = (exit.code, exit.signal.as_deref());
                    faults.push(format!("{fields} {exit:?}: {fault}"));
                }
            }
        }
    }
    assert!(successes > 0, "{} has no success", format.name);
    faults
}

#[test]
fn claude_code_succeeds_only_as_documented() {
    check_runtime(&Runtime::ClaudeCode);
}

#[test]
fn cursor_succeeds_only_as_documented() {
    check_runtime(&Runtime::Cursor);
}

#[test]
fn gemini_succeeds_only_as_documented() {
    check_runtime(&Runtime::Gemini);
}

#[test]
fn hermes_succeeds_only_as_documented() {
    check_runtime(&Runtime::Hermes);
}

#[test]
fn openclaw_succeeds_only_as_documented() {
    check_runtime(&Runtime::Openclaw);
}

#[test]
fn codex_succeeds_only_as_documented() {
    check_runtime(&Runtime::Codex);
}

#[test]
fn opencode_succeeds_only_as_documented() {
    let mut faults = Vec::new();
    let mut successes = 0;
    for format in formats_with_exit() {
        let [first, second] = format.fields;
        for one in values(format.words) {
            for other in values(format.words) {
                let mut fields = Fields::new();
                fields.extend(one.clone().map(|value| (first.to_owned(), value)));
                fields.extend(other.map(|value| (second.to_owned(), value)));
                let stdout = (format.print)(&fields);
                for exit in exits() {
                    let is_success = (format.is_success)(&fields, &exit);
                    successes += usize::from(is_success);
                    for argv in [None, Some(format.argv)] {
                        let records = normalize(&format.runtime, argv, &stdout, &exit);
                        if let Some(fault) = fault(&records, is_success, &exit) {
                            let fields = Value::Object(fields.clone());
                            let exit = (exit.code, exit.signal.as_deref());
                            faults.push(format!("{fields} {exit:?}: {fault}"));
                        }
                    }
                }
            }
        }
    }
    assert!(successes > 0);
    faults.truncate(8);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn generic_succeeds_only_as_documented() {
    check_runtime(&Runtime::Generic);
}

#[test]
fn every_runtime_of_the_registry_has_its_verdicts_in_the_table() {
    for entry in RUNTIMES {
        let is_there = |format: &Format| format.runtime == entry.runtime;
        let with_exit = |format: &FormatWithExit| format.runtime == entry.runtime;
        let is_listed = formats().iter().any(is_there) || formats_with_exit().iter().any(with_exit);
        assert!(is_listed, "{}", entry.runtime);
    }
}

#[test]
fn codex_and_opencode_print_json_as_an_answer_unless_their_first_object_is_an_event() {
    let runtimes = [
        (Runtime::Codex, "codex exec x", "codex exec --json x"),
        (
            Runtime::Opencode,
            "opencode run x",
            "opencode run --format json x",
        ),
    ];
    for (runtime, text, json) in runtimes {
        for stdout in OTHER_JSON {
            let printed = format!("{stdout}\n");
            for argv in [None, Some(text)] {
                let summary = summary(&runtime, argv, &printed, &Exit::with_code(0));
                let case = format!("{runtime} {argv:?} {stdout}");
                assert_eq!(summary.final_text.as_deref(), Some(*stdout), "{case}");
                assert_eq!(summary.output_format.as_deref(), Some("text"), "{case}");
                assert_eq!(summary.status, CheckpointStatus::Completed, "{case}");
                assert!(summary.unparsed.is_empty(), "{case}");
            }
            let summary = summary(&runtime, Some(json), &printed, &Exit::with_code(0));
            let name = summary.error.map(|error| error.name);
            assert_eq!(
                name.as_deref(),
                Some("TruncatedOutput"),
                "{runtime} {stdout}"
            );
        }
    }
}

#[test]
fn what_an_unclear_result_says_is_kept() {
    let cancelled = json!({"is_error": false, "subtype": "cancelled", "status": "cancelled"});
    let Value::Object(fields) = cancelled else {
        panic!("an object")
    };
    let named = ["json", "stream-json", "stream-json until 0.36"];
    let mut faults = Vec::new();
    for format in formats() {
        let is_named = named
            .iter()
            .any(|name| format.name.ends_with(&format!(" {name}")));
        if !is_named || format.name == "gemini json" {
            continue;
        }
        let mut fields = fields.clone();
        fields.retain(|key, _| format.fields.contains(&key.as_str()));
        let stdout = (format.print)(&fields);
        let exit = Exit::with_code(0);
        let summary = summary(&format.runtime, Some(format.argv), &stdout, &exit);
        let error = summary.error.as_ref();
        let is_unclear = error.is_some_and(|error| {
            error.name == "UnclearResult" && error.message.contains("cancelled")
        });
        let is_reported = summary.unparsed.iter().any(|unparsed| {
            unparsed.r#type.as_deref() == Some("result") && unparsed.reason.contains("cancelled")
        });
        let is_kept = summary.texts == ["Done."] && summary.final_text.as_deref() == Some("Done.");
        if !is_unclear || !is_reported || !is_kept {
            faults.push(format!("{}: {summary:?}", format.name));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn text_ends_as_the_process_did() {
    let formats = [
        (
            Runtime::ClaudeCode,
            "claude -p x --output-format text",
            "Done.\n",
        ),
        (
            Runtime::Cursor,
            "cursor-agent -p --output-format text x",
            "Done.\n",
        ),
        (
            Runtime::Gemini,
            "gemini -p x --output-format text",
            "Done.\n",
        ),
        (Runtime::Codex, "codex exec x", "Done.\n"),
        (Runtime::Opencode, "opencode run x", "Done.\n"),
        (Runtime::Hermes, "hermes chat -Q -q x", "Done.\n"),
        (Runtime::Hermes, "hermes -z x", "Done.\n"),
        (Runtime::Generic, "./agent x", "Done.\n"),
        (Runtime::Hermes, "hermes chat -q x", HERMES_CHAT),
    ];
    let mut faults = Vec::new();
    for (runtime, argv, stdout) in formats {
        for exit in exits() {
            let records = normalize(&runtime, Some(argv), stdout, &exit);
            let is_success = exit.is_success() || exit.is_unknown();
            if let Some(fault) = fault(&records, is_success, &exit) {
                faults.push(format!("{argv} {exit:?}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A whole output of hermes' chat, with the summary that it prints at its end.
const HERMES_CHAT: &str = "Query: x
Initializing agent...
────────────────────────────────────────


╭─ ⚕ Hermes ───────────────────────────────────────────────────────────────────╮
    Done.
╰──────────────────────────────────────────────────────────────────────────────╯

Resume this session with:
  hermes --resume 20261115_234114_4aea7d

Session:        20261115_234114_4aea7d
Duration:       10s
Messages:       2 (1 user, 0 tool calls)
";

/// JSON that no format prints.
const OTHER_JSON: &[&str] = &[
    "[]",
    "{}",
    "[1, 2]",
    "{\"is_error\":true}",
    "{\"type\":\"result\",\"status\":\"error\"}",
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false}",
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}",
    "{\"response\":\"x\"}",
    "{\n  \"response\": \"x\"\n}",
    "{\"error\":{\"message\":\"boom\"}}",
    "{\"answer\":42}",
];

#[test]
fn json_that_no_format_prints_is_an_answer_unless_the_command_line_asks_for_json() {
    let runtimes = [
        (Runtime::ClaudeCode, "claude -p x --output-format"),
        (Runtime::Cursor, "cursor-agent -p x --output-format"),
        (Runtime::Gemini, "gemini -p x --output-format"),
    ];
    let mut faults = Vec::new();
    for (runtime, argv) in runtimes {
        for stdout in OTHER_JSON {
            let printed = format!("{stdout}\n");
            let text = format!("{argv} text");
            for argv in [None, Some(text.as_str())] {
                let summary = summary(&runtime, argv, &printed, &Exit::with_code(0));
                let is_answer = summary.status == CheckpointStatus::Completed
                    && summary.output_format.as_deref() == Some("text")
                    && summary.final_text.as_deref() == Some(*stdout)
                    && summary.unparsed.is_empty();
                if !is_answer {
                    faults.push(format!("{runtime} {argv:?} {stdout}: no answer"));
                }
            }
            for format in ["json", "stream-json"] {
                // The json format of gemini is an object with a response: these two are.
                if runtime == Runtime::Gemini && stdout.contains("\"response\"") {
                    continue;
                }
                let is_result = stdout.contains("\"subtype\":\"success\",\"is_error\":false");
                let is_documented = is_result && (runtime != Runtime::Gemini || format != "json");
                let argv = format!("{argv} {format}");
                let summary = summary(&runtime, Some(&argv), &printed, &Exit::with_code(0));
                let is_completed = summary.status == CheckpointStatus::Completed;
                if is_completed != is_documented {
                    faults.push(format!("{argv} {stdout}: completed {is_completed}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Objects that claim to be a result in words that no result has.
const CLAIMS: &[&str] = &[
    "{\"type\":\"result\"}",
    "{\"type\":\"result\",\"is_error\":\"true\",\"result\":\"x\"}",
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":1}",
    "{\"type\":\"result\",\"subtype\":\"cancelled\",\"is_error\":false}",
];

#[test]
fn what_claims_to_be_a_result_in_unknown_words_is_no_success() {
    let runtimes = [
        (Runtime::ClaudeCode, "claude -p x --output-format json"),
        (Runtime::Cursor, "cursor-agent -p x --output-format json"),
    ];
    for (runtime, argv) in runtimes {
        for stdout in CLAIMS {
            for argv in [None, Some(argv)] {
                for exit in [Exit::with_code(0), Exit::unknown()] {
                    let summary = summary(&runtime, argv, &format!("{stdout}\n"), &exit);
                    let name = summary.error.as_ref().map(|error| error.name.as_str());
                    assert_eq!(name, Some("UnclearResult"), "{runtime} {argv:?} {stdout}");
                }
            }
        }
    }
}

#[test]
fn a_line_that_begins_like_json_and_does_not_parse_is_no_answer() {
    let cut = [
        "{\"type\"x\"init\"}",
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_err",
        "{\"type\":\"result\",\"status\":\"suc",
        "{\"session_id\":\"5b0d6c1e\",\"response\":\"Hel",
        "[{\"type\":\"system\"",
        "{\"a\":1]}",
    ];
    for runtime in [
        Runtime::ClaudeCode,
        Runtime::Cursor,
        Runtime::Gemini,
        Runtime::Codex,
        Runtime::Opencode,
        Runtime::Generic,
    ] {
        for stdout in cut {
            for printed in [stdout.to_owned(), format!("{stdout}\n")] {
                let summary = summary(&runtime, None, &printed, &Exit::with_code(0));
                let case = format!("{runtime} {printed:?}");
                let name = summary.error.map(|error| error.name);
                assert_eq!(name.as_deref(), Some("TruncatedOutput"), "{case}");
                assert_eq!(summary.unparsed.len(), 1, "{case}");
            }
        }
    }
}
