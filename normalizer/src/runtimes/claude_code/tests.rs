//! Whole outputs, from bytes to the summary.

use runtape_core::summarize;
use runtape_core::{CheckpointStatus, ErrorFamily, JobId, RunId, RunSummary, Runtime, Stream};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::normalizer::Normalizer;

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
        let mut context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
        context.limit = self.limit.unwrap_or(context.limit);
        if !self.argv.is_empty() {
            context.argv = Some(self.argv.iter().map(|&word| word.to_owned()).collect());
        }
        let mut normalizer = Normalizer::new(Runtime::ClaudeCode, context).unwrap();
        let mut records = normalizer
            .push(Stream::Stdout, self.stdout.as_bytes(), 1)
            .records;
        records.extend(
            normalizer
                .push(Stream::Stderr, self.stderr.as_bytes(), 2)
                .records,
        );
        records.extend(normalizer.finish(&self.exit).records);
        summarize(&records).unwrap()
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
    values.iter().map(|value| format!("{value}\n")).collect()
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
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 2,
                "cache_read_input_tokens": 3, "output_tokens": 1}}})
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
        "session_id": SESSION, "duration_ms": 10, "total_cost_usd": 0.5,
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
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1}}}),
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
    let usage = json!({"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": output});
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

#[test]
fn the_customer_s_result_line_is_an_answer() {
    let summary = text("{\"type\":\"result\",\"content\":\"Hello World\"}");
    assert_eq!(summary.final_text.as_deref(), Some("Hello World"));
    assert_eq!(summary.texts, ["Hello World"]);
    assert_eq!(summary.output_format.as_deref(), Some("json"));
    assert_eq!(summary.status, CheckpointStatus::Completed);
}

#[test]
fn lines_with_the_same_id_are_one_message() {
    let summary = stream(&[
        init(),
        assistant(
            "m1",
            &json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
        ),
        says("m1", "one"),
        calls("m1", "t1", "Bash", &json!({"command": "ls"})),
        answers("t1", &json!("out")),
        calls("m1", "t2", "Read", &json!({"file_path": "/a"})),
        answers(
            "t2",
            &json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        ),
        says("m2", "two"),
        says("m2", "three"),
        result("three"),
    ]);
    assert_eq!(summary.steps, 2);
    assert_eq!(summary.texts, ["one", "two", "three"]);
    assert_eq!(summary.thinking, ["hm"]);
    assert_eq!(summary.final_text.as_deref(), Some("twothree"));
    let outputs: Vec<_> = summary
        .tool_calls
        .iter()
        .map(|call| call.output.as_deref())
        .collect();
    assert_eq!(outputs, [Some("out"), Some("a\nb")]);
    assert!(
        summary
            .tool_calls
            .iter()
            .all(|call| call.is_error == Some(false) && call.step == 1)
    );
    assert_eq!(summary.session_id.as_deref(), Some(SESSION));
    assert_eq!(summary.model.as_deref(), Some("m"));
    assert_eq!(summary.cli_version.as_deref(), Some("2.1.325"));
    assert_eq!(summary.cwd.as_deref(), Some("/p"));
    assert_eq!(summary.duration_ms, Some(10));
    assert_eq!(summary.cost_usd, Some(0.5));
    let usage = summary.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(5), Some(9))
    );
    assert_eq!(usage.cached_input_tokens, Some(3));
    assert!(summary.unparsed.is_empty(), "{:?}", summary.unparsed);
}

#[test]
fn a_run_without_a_result_has_no_final_output_count() {
    let mut given = Given {
        stdout: lines(&[init(), says("m1", "one")]),
        ..Given::default()
    };
    given.exit = Exit::with_code(143);
    let summary = given.summary();
    assert_eq!(summary.error.as_ref().unwrap().name, "KilledBySignal");
    assert_eq!(summary.final_text.as_deref(), Some("one"));
    let usage = summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(7), None));
}

#[test]
fn pieces_and_the_whole_block_are_one_text() {
    let mut values = vec![
        init(),
        message_start("m1"),
        block_start(&json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(&json!({"type": "thinking_delta", "thinking": "h"})),
        delta(&json!({"type": "thinking_delta", "thinking": "m"})),
        delta(&json!({"type": "signature_delta", "signature": "s"})),
        assistant(
            "m1",
            &json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
        ),
        block_stop(),
        block_start(&json!({"type": "text", "text": ""})),
        text_delta("on"),
        text_delta("e"),
        says("m1", "one"),
        block_stop(),
        block_start(&json!({"type": "text", "text": ""})),
        text_delta("one"),
        block_stop(),
        says("m1", "one"),
        block_start(&json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {}})),
        delta(&json!({"type": "input_json_delta", "partial_json": "{\"command\":"})),
        delta(&json!({"type": "input_json_delta", "partial_json": "\"ls\"}"})),
        calls("m1", "t1", "Bash", &json!({"command": "ls", "timeout": 5})),
        block_stop(),
    ];
    values.extend(message_end(7));
    values.extend([answers("t1", &json!("out")), message_start("m2")]);
    values.push(block_start(&json!({"type": "text", "text": ""})));
    values.push(text_delta("cut o"));
    let mut given = Given {
        stdout: lines(&values),
        ..Given::default()
    };
    given.exit = Exit::with_code(143);
    let summary = given.summary();
    assert_eq!(
        summary.output_format.as_deref(),
        Some("stream-json-partial")
    );
    assert_eq!(summary.texts, ["one", "one", "cut o"]);
    assert_eq!(summary.thinking, ["hm"]);
    assert_eq!(summary.final_text, None);
    assert_eq!(
        summary.tool_calls[0].input,
        json!({"command": "ls", "timeout": 5})
    );
    assert_eq!(summary.steps, 2);
    let usage = summary.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(10), Some(7))
    );
    assert!(summary.unparsed.is_empty(), "{:?}", summary.unparsed);
}

#[test]
fn a_call_that_was_cut_while_it_was_written_is_kept() {
    let mut given = Given::default();
    given.exit = Exit::with_signal("SIGKILL");
    given.stdout = lines(&[
        init(),
        message_start("m1"),
        block_start(&json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {}})),
        delta(&json!({"type": "input_json_delta", "partial_json": "{\"comm"})),
    ]);
    let summary = given.summary();
    assert_eq!(summary.tool_calls.len(), 1);
    assert_eq!(summary.tool_calls[0].input, Value::Null);
    assert_eq!(summary.tool_calls[0].is_error, None);
}

#[test]
fn a_message_that_began_and_showed_nothing_is_no_step() {
    let mut given = Given::default();
    given.exit = Exit::with_signal("SIGTERM");
    given.stdout = lines(&[init(), says("m1", "whole"), message_start("m2")]);
    let summary = given.summary();
    assert_eq!(
        (summary.steps, summary.final_text.as_deref()),
        (1, Some("whole"))
    );
    assert_eq!(summary.usage.unwrap().input_tokens, Some(12));
}

#[test]
fn withheld_and_empty_thinking_is_kept_and_not_listed() {
    let summary = stream(&[
        init(),
        assistant("m1", &json!({"type": "redacted_thinking", "data": "b3Bh"})),
        assistant(
            "m1",
            &json!({"type": "thinking", "thinking": "", "signature": "s"}),
        ),
        says("m1", "one"),
        with(
            result("one"),
            &json!({"modelUsage": {"m": {"inputTokens": 5, "outputTokens": 9,
            "thinkingTokens": 0, "cacheReadInputTokens": 3, "costUSD": 0.5}}}),
        ),
    ]);
    assert!(summary.thinking.is_empty());
    assert_eq!(summary.texts, ["one"]);
    assert_eq!(summary.usage.unwrap().reasoning_tokens, None);
}

#[test]
fn server_tools_are_calls_with_results() {
    let summary = stream(&[
        init(),
        assistant(
            "m1",
            &json!({"type": "server_tool_use", "id": "s1", "name": "web_search",
            "input": {"query": "q"}}),
        ),
        assistant(
            "m1",
            &json!({"type": "web_search_tool_result", "tool_use_id": "s1",
            "content": [{"type": "web_search_result", "url": "u", "title": "t"}]}),
        ),
        assistant(
            "m1",
            &json!({"type": "mcp_tool_use", "id": "s2", "name": "look",
            "server_name": "x", "input": {}}),
        ),
        assistant(
            "m1",
            &json!({"type": "mcp_tool_result", "tool_use_id": "s2", "is_error": true,
            "content": [{"type": "text", "text": "no"}]}),
        ),
        assistant(
            "m1",
            &json!({"type": "server_tool_use", "id": "s3", "name": "web_fetch",
            "input": {"url": "u"}}),
        ),
        assistant(
            "m1",
            &json!({"type": "web_fetch_tool_result", "tool_use_id": "s3",
            "content": {"type": "web_fetch_tool_error", "error_code": "unavailable"}}),
        ),
        says("m1", "found"),
        result("found"),
    ]);
    let calls: Vec<_> = summary
        .tool_calls
        .iter()
        .map(|call| (call.name.as_str(), call.is_error))
        .collect();
    let expected = [
        ("web_search", Some(false)),
        ("look", Some(true)),
        ("web_fetch", Some(true)),
    ];
    assert_eq!(calls, expected);
    let found = summary.tool_calls[0].output.as_deref();
    assert_eq!(
        found,
        Some(r#"{"type":"web_search_result","url":"u","title":"t"}"#)
    );
    assert_eq!(summary.steps, 1);
    assert!(summary.unparsed.is_empty(), "{:?}", summary.unparsed);
}

#[test]
fn sub_agents_are_runs_of_their_own() {
    let agent = |id: &str| calls("m1", id, "Agent", &json!({"prompt": "go"}));
    let summary = stream(&[
        init(),
        agent("a1"),
        agent("a2"),
        in_child("a1", user(&json!([{"type": "text", "text": "go"}]))),
        in_child("a2", user(&json!("go"))),
        in_child("a1", calls("c1", "n1", "Bash", &json!({"command": "one"}))),
        in_child(
            "a2",
            calls("c2", "n2", "Agent", &json!({"prompt": "deeper"})),
        ),
        in_child(
            "n2",
            calls("d1", "n3", "Bash", &json!({"command": "three"})),
        ),
        in_child("n2", answers("n3", &json!("3"))),
        in_child("a1", answers("n1", &json!("1"))),
        in_child("a2", answers("n2", &json!("deep answer"))),
        answers("a2", &json!("two says")),
        with(
            answers("a1", &json!("wrapped: one says")),
            &json!({"tool_use_result": {
            "status": "completed", "agentId": "x", "harnessNoteCount": 1, "content": [
                {"type": "text", "text": "note"}, {"type": "text", "text": "one says"}]}}),
        ),
        says("m2", "done"),
        result("done"),
    ]);
    let runs: Vec<_> = summary
        .runs
        .iter()
        .map(|run| run.parent_tool_call_id.as_ref().map(|id| id.as_str()))
        .collect();
    assert_eq!(runs, [None, Some("a1"), Some("a2"), Some("n2")]);
    assert_eq!(summary.tool_calls.len(), 5);
    assert!(
        summary
            .tool_calls
            .iter()
            .all(|call| call.is_error == Some(false))
    );
    assert_eq!(summary.steps, 2);
    assert_eq!(summary.final_text.as_deref(), Some("done"));
}

#[test]
fn a_background_sub_agent_goes_on_after_its_call_s_result() {
    let notified = json!({"type": "system", "subtype": "task_notification", "task_id": "x",
        "tool_use_id": "a1", "status": "completed", "summary": "Agent completed",
        "session_id": SESSION});
    let summary = stream(&[
        init(),
        calls("m1", "a1", "Agent", &json!({"prompt": "go"})),
        in_child("a1", user(&json!("go"))),
        with(
            answers("a1", &json!("Async agent launched")),
            &json!({"tool_use_result": {"status": "async_launched", "agentId": "x"}}),
        ),
        says("m2", "started"),
        in_child("a1", says("c1", "working")),
        notified,
        result("started"),
    ]);
    assert_eq!(summary.texts, ["started", "working"]);
    assert_eq!(summary.final_text.as_deref(), Some("started"));
    assert!(kinds(&summary).contains(&"task"));
}

#[test]
fn a_denial_is_one_notice() {
    let summary = stream(&[
        init(),
        calls("m1", "t1", "Write", &json!({"file_path": "/a"})),
        json!({"type": "system", "subtype": "permission_denied", "tool_name": "Write",
            "tool_use_id": "t1", "message": "not granted", "session_id": SESSION}),
        user(
            &json!([{"type": "tool_result", "tool_use_id": "t1", "content": "no",
            "is_error": true}]),
        ),
        says("m2", "denied"),
        with(
            result("denied"),
            &json!({"permission_denials": [
            {"tool_name": "Write", "tool_use_id": "t1", "tool_input": {}},
            {"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {}}]}),
        ),
    ]);
    assert_eq!(kinds(&summary), ["permissionDenied", "permissionDenied"]);
    assert_eq!(summary.notices[0].text, "Write: not granted");
    assert_eq!(summary.tool_calls[0].is_error, Some(true));
    assert_eq!(summary.status, CheckpointStatus::Completed);
}

#[test]
fn what_the_cli_writes_itself_is_no_text() {
    let synthetic = |text: &str, more: &Value| {
        let mut line = says("1e8a8d7c-b21c-42ea-bc44-b3eff593098f", text);
        line["message"]["model"] = "<synthetic>".into();
        with(line, more)
    };
    let error = json!({"error": "rate_limit", "is_api_error_message": true,
        "api_error_status": 429, "api_error_type": "rate_limit_error"});
    let limits = json!({"type": "rate_limit_event", "session_id": SESSION,
        "rate_limit_info": {"status": "rejected", "resetsAt": 1_999_999_999,
            "rateLimitType": "five_hour", "utilization": 1}});
    let failed = json!({"is_error": true, "stop_reason": "stop_sequence",
        "terminal_reason": "api_error", "api_error_status": 429});
    let mut given = Given {
        exit: Exit::with_code(1),
        ..Given::default()
    };
    given.stdout = lines(&[
        init(),
        json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2,
            "retry_delay_ms": 526.4, "error_status": 429, "error": "rate_limit"}),
        limits,
        synthetic("You've hit your limit", &error),
        with(result("You've hit your limit"), &failed),
    ]);
    let summary = given.summary();
    assert!(summary.texts.is_empty());
    assert_eq!((summary.final_text.as_deref(), summary.steps), (None, 0));
    assert_eq!(kinds(&summary), ["retry", "rateLimit", "warning"]);
    let error = summary.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.status_code),
        ("ApiError", Some(429))
    );
    assert_eq!(error.family, Some(ErrorFamily::RateLimit));
    assert_eq!(error.retry_at, Some(1_999_999_999_000));
    assert!(error.is_retryable);

    let summary = stream(&[
        init(),
        synthetic("## Context", &json!({"local_command_source": "context"})),
        with(result("## Context"), &json!({"local_command": "context"})),
    ]);
    assert_eq!((summary.texts.len(), summary.final_text), (0, None));
    let summary = stream(&[with(
        result("## Context"),
        &json!({"local_command": "context"}),
    )]);
    assert_eq!((summary.texts.len(), summary.final_text), (0, None));
    assert_eq!(summary.notices[0].kind, "info");
}

#[test]
fn limits_have_names_and_families_of_their_own() {
    let ended = |subtype: &str, more: &Value| {
        let mut line = with(result(""), &json!({"subtype": subtype, "is_error": true}));
        line.as_object_mut().unwrap().remove("result");
        stream(&[init(), says("m1", "Working."), with(line, more)])
    };
    let summary = ended(
        "error_max_turns",
        &json!({"errors": ["Reached maximum number of turns (1)"]}),
    );
    assert_eq!(summary.status, CheckpointStatus::StoppedByExceededMaxSteps);
    assert_eq!(family(&summary), Some(ErrorFamily::TurnLimit));
    assert_eq!(summary.final_text.as_deref(), Some("Working."));
    assert_eq!(
        summary.error.unwrap().message,
        "Reached maximum number of turns (1)"
    );
    let summary = ended(
        "error_max_budget_usd",
        &json!({"errors": [{"message": "no money"}]}),
    );
    assert_eq!(family(&summary), Some(ErrorFamily::Budget));
    assert_eq!(summary.error.unwrap().message, "no money");
    let summary = ended(
        "error_during_execution",
        &json!({"terminal_reason": "aborted_streaming"}),
    );
    assert_eq!(family(&summary), Some(ErrorFamily::Process));
    assert_eq!(kinds(&summary), ["exitMismatch"]);
    let summary = ended("error_brand_new", &json!({}));
    assert_eq!(summary.status, CheckpointStatus::StoppedByError);
    assert_eq!(summary.unparsed.len(), 1);
}

#[test]
fn an_unknown_session_is_not_one_to_resume() {
    let message = "No conversation found with session ID: 6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
    let line = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "session_id": SESSION, "errors": [message], "usage": {}, "modelUsage": {}});
    let given = |stdout: String, argv| Given {
        argv,
        stdout,
        stderr: "No conversation found with session ID: 6baba7bc-061b-4fc8-9fe0-a222e7fee90d\n",
        exit: Exit::with_code(1),
        limit: None,
    };
    let json = &[
        "claude",
        "-p",
        "x",
        "--output-format",
        "json",
        "--resume",
        SESSION,
    ];
    for (stdout, argv, format) in [
        (lines(&[line]), &[][..], Some("stream-json")),
        (String::new(), &json[..], Some("json")),
        (String::new(), &[][..], None),
    ] {
        let summary = given(stdout, argv).summary();
        assert_eq!(summary.output_format.as_deref(), format);
        assert_eq!(family(&summary), Some(ErrorFamily::UnknownSession));
        assert_eq!(summary.session_id, None);
        assert_eq!(summary.error.unwrap().message, message);
    }
}

#[test]
fn prose_about_sessions_and_limits_changes_nothing() {
    let summary = stream(&[
        init(),
        calls("m1", "t1", "Bash", &json!({"command": "x"})),
        answers(
            "t1",
            &json!("No conversation found with session ID: usage limit reached"),
        ),
        says("m2", "API Error: 429 rate limit. Invalid API key"),
        result("API Error: 429 rate limit. Invalid API key"),
    ]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert!(summary.error.is_none());
}

#[test]
fn the_last_of_several_results_decides() {
    let turns = [
        init(),
        says("m1", "First."),
        with(
            result("First."),
            &json!({"model_usage_since_last_result":
            {"m": {"inputTokens": 4, "outputTokens": 4, "cacheReadInputTokens": 0, "costUSD": 1}}}),
        ),
        init(),
        says("m2", "Second."),
        with(
            result("Second."),
            &json!({"model_usage_since_last_result":
            {"m": {"inputTokens": 6, "outputTokens": 5, "cacheReadInputTokens": 0, "costUSD": 2}}}),
        ),
    ];
    let summary = stream(&turns);
    assert_eq!(summary.final_text.as_deref(), Some("Second."));
    assert_eq!(
        (summary.duration_ms, summary.cost_usd),
        (Some(20), Some(3.0))
    );
    assert_eq!(kinds(&summary), ["result"]);
    let usage = summary.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(10), Some(9))
    );

    let summary = stream(&turns[..5]);
    assert_eq!(summary.error.as_ref().unwrap().name, "TruncatedOutput");
    assert_eq!(summary.final_text.as_deref(), Some("Second."));
    let usage = summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(11), None));

    let cut = lines(&turns[..3]) + "{\"type\":\"system\",\"subt";
    let summary = text(&cut);
    assert_eq!(summary.error.unwrap().name, "TruncatedOutput");
    assert_eq!(summary.unparsed.len(), 1);
}

#[test]
fn a_resumed_session_s_total_is_not_this_run_s() {
    let mut given = Given {
        stdout: lines(&[result("x")]),
        ..Given::default()
    };
    given.argv = &[
        "claude",
        "-p",
        "x",
        "--output-format",
        "json",
        "--resume",
        SESSION,
    ];
    given.stdout = given
        .stdout
        .replace("\"inputTokens\":5", "\"inputTokens\":500");
    let summary = given.summary();
    assert_eq!(summary.cost_usd, None);
    assert_eq!(summary.usage.unwrap().input_tokens, Some(5));
    given.argv = &["claude", "-p", "x", "--output-format", "json"];
    let summary = given.summary();
    assert_eq!(summary.cost_usd, Some(0.5));
    assert_eq!(summary.usage.unwrap().input_tokens, Some(500));
}

#[test]
fn the_json_format_has_nothing_but_the_answer() {
    let summary = stream(&[result("It is a.txt.")]);
    assert_eq!(summary.output_format.as_deref(), Some("json"));
    assert_eq!(summary.texts, ["It is a.txt."]);
    assert_eq!((summary.model.as_deref(), summary.steps), (Some("m"), 1));
    let structured = json!({"structured_output": {"age": 36}});
    let summary = stream(&[with(result("{\"age\":36}"), &structured)]);
    assert_eq!(summary.final_text.as_deref(), Some("{\"age\":36}"));
    let summary = stream(&[with(
        result("x"),
        &json!({"is_error": true, "result": "Invalid API key"}),
    )]);
    assert_eq!(
        (summary.final_text.as_deref(), summary.texts.len()),
        (None, 0)
    );
    assert_eq!(family(&summary), Some(ErrorFamily::Auth));
    let summary = stream(&[with(result("x"), &json!({"result": {"a": 1}}))]);
    assert_eq!(summary.final_text.as_deref(), Some("{\"a\":1}"));
}

#[test]
fn json_may_be_printed_over_many_lines() {
    let whole = [init(), says("m1", "one"), result("one")];
    let array = serde_json::to_string(&whole).unwrap();
    let pretty_array = serde_json::to_string_pretty(&whole).unwrap();
    let pretty: Vec<String> = whole
        .iter()
        .map(|line| serde_json::to_string_pretty(line).unwrap())
        .collect();
    let table = [
        (array.clone() + "\n", "json-verbose"),
        (format!("\u{feff}{array}"), "json-verbose"),
        (pretty_array, "json-verbose"),
        (pretty.join("\r\n"), "stream-json"),
        (
            whole.iter().map(Value::to_string).collect::<String>(),
            "stream-json",
        ),
        (format!("Loaded.{}", lines(&whole)), "stream-json"),
        (
            format!("\n[warn] something\n{}", lines(&whole)),
            "stream-json",
        ),
    ];
    for (stdout, format) in table {
        let summary = text(&stdout);
        assert_eq!(summary.output_format.as_deref(), Some(format), "{stdout}");
        assert_eq!(summary.texts, ["one"], "{stdout}");
        assert_eq!(summary.status, CheckpointStatus::Completed, "{stdout}");
        assert!(
            summary.unparsed.is_empty(),
            "{stdout}: {:?}",
            summary.unparsed
        );
    }
    let summary = text(&format!("Loaded.\n{}", lines(&whole)));
    assert_eq!(summary.notices[0].text, "Loaded.");
    let summary = text(array.get(..array.len() - 20).unwrap());
    assert_eq!(summary.error.unwrap().name, "TruncatedOutput");
    assert_eq!((summary.texts.len(), summary.unparsed.len()), (1, 1));
}

#[test]
fn plain_text_is_the_answer_exactly() {
    let table = [
        ("one\n", "one"),
        ("  one\n\n two \n\n", "  one\n\n two \n"),
        ("one", "one"),
        ("\n", ""),
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("a\r\nb\n", "a\r\nb"),
        (
            "{\"name\":\"Ada\",\"age\":36}\n",
            "{\"name\":\"Ada\",\"age\":36}",
        ),
        ("{\n  \"age\": 36\n}\n", "{\n  \"age\": 36\n}"),
        ("{\n not json\n", "{\n not json"),
        ("[1] a footnote\n", "[1] a footnote"),
        (
            "see:\n{\"type\":\"result\",\"result\":\"x\"}\n",
            "see:\n{\"type\":\"result\",\"result\":\"x\"}",
        ),
    ];
    for (stdout, expected) in table {
        let summary = text(stdout);
        assert_eq!(summary.final_text.as_deref(), Some(expected), "{stdout:?}");
        assert_eq!(summary.output_format.as_deref(), Some("text"), "{stdout:?}");
        assert_eq!(summary.status, CheckpointStatus::Completed, "{stdout:?}");
    }
}

#[test]
fn text_with_a_failed_exit_is_the_error_s_message() {
    let mut given = Given {
        stdout: "Error: Reached max turns (1)".to_owned(),
        ..Given::default()
    };
    given.exit = Exit::with_code(1);
    let summary = given.summary();
    assert_eq!(summary.status, CheckpointStatus::StoppedByError);
    assert_eq!(
        (summary.final_text.as_deref(), summary.texts.len()),
        (None, 0)
    );
    let error = summary.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.message.as_str()),
        ("NonZeroExit", "Error: Reached max turns (1)")
    );
    given.exit = Exit::unknown();
    let summary = given.summary();
    assert_eq!(summary.status, CheckpointStatus::Completed);
    given.stdout = String::new();
    given.exit = Exit::with_code(0);
    assert_eq!(given.summary().error.unwrap().name, "TruncatedOutput");
}

#[test]
fn one_line_of_cut_json_is_no_answer() {
    for stdout in [
        "{\"type\":\"result\",\"resu",
        "{\"duration_api_ms\":4",
        "[{\"type\":\"system\"",
    ] {
        let summary = text(stdout);
        assert_eq!(
            summary.error.as_ref().unwrap().name,
            "TruncatedOutput",
            "{stdout}"
        );
        assert_eq!(
            (summary.texts.len(), summary.unparsed.len()),
            (0, 1),
            "{stdout}"
        );
    }
}

#[test]
fn an_empty_last_message_is_the_answer_only_after_a_nudge() {
    let nudge = with(
        user(&json!("Your response had no visible output.")),
        &json!({"isSynthetic": true}),
    );
    let summary = stream(&[init(), says("m1", "one"), nudge.clone(), result("")]);
    assert_eq!(summary.final_text.as_deref(), Some(""));
    assert_eq!(kinds(&summary), ["info"]);
    let summary = stream(&[init(), says("m1", "one"), result("")]);
    assert_eq!(summary.final_text.as_deref(), Some("one"));
    let summary = stream(&[
        init(),
        says("m1", "one"),
        nudge,
        says("m2", "two"),
        result("two"),
    ]);
    assert_eq!(summary.final_text.as_deref(), Some("two"));
    let compacted = json!({"type": "system", "subtype": "compact_boundary", "session_id": SESSION,
        "compact_metadata": {"trigger": "manual", "pre_tokens": 9, "post_tokens": 2}});
    let told = with(
        user(&json!("This session is continued …")),
        &json!({"isSynthetic": true}),
    );
    let summary = stream(&[init(), compacted, told, result("")]);
    assert_eq!(summary.final_text, None);
    assert_eq!(kinds(&summary), ["compaction", "info"]);
}

#[test]
fn an_interrupted_message_is_cut() {
    let aborted = with(says("m1", "This answer is n"), &json!({"aborted": true}));
    let mut ended = with(
        result(""),
        &json!({"subtype": "error_during_execution",
        "is_error": true, "terminal_reason": "aborted_streaming"}),
    );
    ended.as_object_mut().unwrap().remove("result");
    let summary = stream(&[
        init(),
        aborted,
        user(&json!([{"type": "text", "text": "[Request interrupted by user]"}])),
        ended,
    ]);
    assert_eq!(summary.texts, ["This answer is n"]);
    assert_eq!(summary.final_text, None);
    assert_eq!(kinds(&summary), ["info", "exitMismatch"]);
}

#[test]
fn a_message_cut_by_the_api_is_followed_by_another() {
    let mut values = vec![
        init(),
        message_start("m1"),
        block_start(&json!({"type": "text", "text": ""})),
        text_delta("half"),
        says("m1", "half"),
        block_stop(),
        event(&json!({"type": "message_stop"})),
        with(
            user(&json!("Your response above was cut off mid-stream")),
            &json!({"isSynthetic": true}),
        ),
        message_start("m2"),
        block_start(&json!({"type": "text", "text": ""})),
        text_delta("whole"),
        says("m2", "whole"),
        block_stop(),
    ];
    values.extend(message_end(7));
    values.push(result("whole"));
    let summary = stream(&values);
    assert_eq!(summary.texts, ["half", "whole"]);
    assert_eq!(summary.final_text.as_deref(), Some("whole"));
}

#[test]
fn replayed_messages_are_the_user_s() {
    let replay = |said: &str| with(user(&json!(said)), &json!({"isReplay": true}));
    let summary = stream(&[
        init(),
        replay("First question."),
        says("m1", "First."),
        result("First."),
        replay("<local-command-stdout>x</local-command-stdout>"),
        replay("Second question."),
        init(),
        says("m2", "Second."),
        result("Second."),
    ]);
    assert_eq!(summary.texts, ["First.", "Second."]);
    assert_eq!(summary.final_text.as_deref(), Some("Second."));
    assert_eq!(kinds(&summary), ["info", "result"]);
}

#[test]
fn notices_have_their_kinds() {
    let system = |fields: &Value| {
        with(
            json!({"type": "system", "session_id": SESSION, "uuid": "u"}),
            fields,
        )
    };
    let table = [
        (
            json!({"subtype": "hook_started", "hook_name": "Stop", "hook_event": "Stop"}),
            Some("hook"),
        ),
        (
            json!({"subtype": "hook_response", "hook_name": "Stop", "output": "x\n", "exit_code": 0,
            "outcome": "success"}),
            Some("hook"),
        ),
        (
            json!({"subtype": "model_fallback", "trigger": "overloaded", "original_model": "a",
            "fallback_model": "b", "content": "c"}),
            Some("modelFallback"),
        ),
        (
            json!({"subtype": "informational", "content": "c", "level": "notice"}),
            Some("info"),
        ),
        (
            json!({"subtype": "informational", "content": "c", "level": "warning"}),
            Some("warning"),
        ),
        (
            json!({"subtype": "model_refusal_no_fallback", "original_model": "a", "content": ""}),
            Some("warning"),
        ),
        (
            json!({"subtype": "task_started", "task_id": "t", "description": "d",
            "task_type": "local_bash"}),
            Some("task"),
        ),
        (json!({"subtype": "status", "status": "compacting"}), None),
        (
            json!({"subtype": "status", "status": null, "compact_result": "failed"}),
            Some("compaction"),
        ),
        (
            json!({"subtype": "background_tasks_changed", "tasks": []}),
            None,
        ),
        (
            json!({"subtype": "thinking_tokens", "estimated_tokens": 4}),
            None,
        ),
    ];
    for (fields, kind) in table {
        let summary = stream(&[init(), system(&fields), says("m1", "x"), result("x")]);
        assert_eq!(
            kinds(&summary),
            kind.into_iter().collect::<Vec<_>>(),
            "{fields}"
        );
        assert!(summary.unparsed.is_empty(), "{:?}", summary.unparsed);
    }
    let asked = json!({"type": "control_request", "request_id": "r",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash"}});
    let mut failed = init();
    failed["mcp_servers"] =
        json!([{"name": "a", "status": "connected"}, {"name": "b", "status": "failed"}]);
    let summary = stream(&[failed.clone(), asked, failed, says("m1", "x"), result("x")]);
    assert_eq!(kinds(&summary), ["warning", "interaction"]);
    assert_eq!(summary.notices[0].text, "MCP server b: failed");
}

#[test]
fn what_is_new_is_unparsed_and_costs_nothing_else() {
    let mut odd = says("m1", "one");
    odd["message"]["usage"]["input_tokens"] = "five".into();
    let summary = stream(&[
        init(),
        json!({"type": "brand_new", "session_id": SESSION}),
        json!({"type": "system", "subtype": "brand_new", "session_id": SESSION}),
        assistant("m1", &json!({"type": "brand_new_block"})),
        odd,
        json!({"no": "type"}),
        result("one"),
    ]);
    let tags: Vec<_> = summary
        .unparsed
        .iter()
        .map(|line| (line.r#type.as_deref(), line.line))
        .collect();
    let expected = [
        (Some("brand_new"), 2),
        (Some("system"), 3),
        (Some("assistant.brand_new_block"), 4),
        (Some("assistant"), 5),
        (None, 6),
    ];
    assert_eq!(tags, expected);
    assert_eq!(summary.texts, ["one"]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
}

#[test]
fn text_over_the_limit_is_not_held() {
    let mut given = Given {
        limit: Some(16),
        ..Given::default()
    };
    given.stdout = "12345678\n".repeat(10);
    let summary = given.summary();
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.texts.concat(), given.stdout.trim_end());
}
