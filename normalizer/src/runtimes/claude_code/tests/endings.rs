//! How runs end, what they cost, and what the CLI says of itself.

use super::*;

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
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(1), None));
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
}

#[test]
fn an_unknown_session_is_not_one_to_resume() {
    let message = "No conversation found with session ID: 6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
    let line = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "session_id": SESSION, "errors": [message], "usage": {}, "modelUsage": {},
        "duration_ms": 0, "total_cost_usd": 0, "uuid": "af6bf486-3d7a-430d-b088-448e5f6b3843"});
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
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(5), None));

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
fn a_resumed_run_has_totals_of_its_own_unless_the_version_restores_them() {
    let old = |version: Value| with(init(), &json!({"claude_code_version": version}));
    let array = |first: Value, last: Value| format!("[{first},{last}]\n");
    let since = json!({"model_usage_since_last_result": {"m": {"inputTokens": 4,
        "outputTokens": 4, "cacheReadInputTokens": 0, "costUSD": 0.25}}});
    let free = json!({"total_cost_usd": 0, "modelUsage": {}, "usage": {}});
    let stream = |first: Value, last: Value| lines(&[first, says("m1", "x"), last]);
    let cases = [
        (stream(old(json!("2.1.179")), result("x")), Some(0.5)),
        (stream(old(json!("2.1.19")), result("x")), Some(0.5)),
        (stream(old(Value::Null), result("x")), Some(0.5)),
        (stream(init(), with(result("x"), &since)), Some(0.25)),
        (stream(init(), result("x")), None),
        (stream(init(), with(result("x"), &free)), Some(0.0)),
        (array(old(json!("2.1.179")), result("x")), Some(0.5)),
        (array(old(Value::Null), result("x")), Some(0.5)),
        (array(old(json!("2.1.180")), result("x")), None),
        (array(init(), result("x")), None),
        (array(init(), with(result("x"), &free)), Some(0.0)),
        // One result of two lacks what came since the last: the total has it all, but more.
        (
            lines(&[init(), with(result("x"), &since), init(), result("y")]),
            None,
        ),
    ];
    for (stdout, cost) in cases {
        let given = Given {
            argv: &[
                "claude",
                "-p",
                "x",
                "--resume",
                SESSION,
                "--output-format",
                "stream-json",
            ],
            stdout,
            ..Given::default()
        };
        assert_eq!(given.summary().cost_usd, cost, "{}", given.stdout);
    }
    let twice = lines(&[init(), with(result("x"), &since), init(), result("y")]);
    assert_eq!(text(&twice).cost_usd, Some(0.5));
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

fn system(fields: &Value) -> Value {
    let line = json!({"type": "system", "session_id": SESSION, "uuid": "u"});
    with(line, fields)
}

/// Checks that a message of the CLI becomes a notice of this kind, or none.
fn check_notice(fields: &Value, kind: Option<&str>) {
    let summary = stream(&[init(), system(fields), says("m1", "x"), result("x")]);
    assert_eq!(
        kinds(&summary),
        kind.into_iter().collect::<Vec<_>>(),
        "{fields}"
    );
    assert!(summary.unparsed.is_empty(), "{:?}", summary.unparsed);
}

#[test]
fn notices_have_their_kinds() {
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
        check_notice(&fields, kind);
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
fn what_is_nothing_but_a_text_is_a_notice() {
    let table = [
        (
            json!({"subtype": "notification", "key": "k", "text": "c", "priority": "low"}),
            Some("info"),
        ),
        (
            json!({"subtype": "notification", "key": "k", "text": "c", "priority": "high",
            "color": "warning", "timeout_ms": 8000}),
            Some("info"),
        ),
        (
            json!({"subtype": "brand_new", "message": "c", "kind": "x", "count": 3, "shown": true}),
            Some("info"),
        ),
        (json!({"subtype": "brand_new", "title": "c"}), Some("info")),
        (
            json!({"subtype": "brand_new", "content": "c", "level": "warning"}),
            Some("warning"),
        ),
        (
            json!({"subtype": "brand_new", "error": "c"}),
            Some("warning"),
        ),
        (
            json!({"subtype": "mirror_error", "error": "c", "key": {"projectKey": "p"}}),
            Some("warning"),
        ),
        (
            json!({"subtype": "plugin_install", "status": "failed", "name": "c", "error": "e"}),
            Some("warning"),
        ),
        (
            json!({"subtype": "plugin_install", "status": "started", "name": "c"}),
            Some("info"),
        ),
        (
            json!({"subtype": "worker_shutting_down", "reason": "c"}),
            Some("info"),
        ),
        (
            json!({"subtype": "model_refusal_fallback", "trigger": "refusal",
            "original_model": "a", "fallback_model": "c", "content": ""}),
            Some("modelFallback"),
        ),
        (json!({"subtype": "commands_changed", "commands": []}), None),
        (
            json!({"subtype": "ui_invalidate", "event": "ui.render"}),
            None,
        ),
        (json!({"subtype": "task_summary", "detail": null}), None),
        (
            json!({"subtype": "turn_preempted", "reason": "c", "preempted_message_uuids": []}),
            Some("info"),
        ),
        (
            json!({"subtype": "api_error", "error": {"message": "c"}, "retry_in_ms": 5}),
            Some("warning"),
        ),
    ];
    for (fields, kind) in table {
        check_notice(&fields, kind);
    }
    // What is more than a text has a meaning that is not known.
    for fields in [
        json!({"subtype": "brand_new"}),
        json!({"subtype": "brand_new", "message": ""}),
        json!({"subtype": "brand_new", "count": 3}),
        json!({"subtype": "brand_new", "message": "c", "changes": [1]}),
        json!({"subtype": "brand_new", "message": {"text": "c"}}),
    ] {
        let summary = stream(&[init(), system(&fields), says("m1", "x"), result("x")]);
        assert_eq!(
            (kinds(&summary).len(), summary.unparsed.len()),
            (0, 1),
            "{fields}"
        );
    }
}

#[test]
fn a_process_that_died_in_a_tool_has_the_text_of_its_call_or_none() {
    let call = calls("m1", "c1", "Bash", &json!({"command": "sleep 9"}));
    let answer = answers("c1", &json!("done"));
    let table = [
        (vec![call.clone()], None),
        (vec![says("m1", "I wait."), call.clone()], Some("I wait.")),
        // It died after the tool, before the next message.
        (vec![call, answer], Some("")),
    ];
    for (printed, expected) in table {
        let summary = Given {
            stdout: lines(&[vec![init()], printed].concat()),
            exit: Exit::with_code(137),
            ..Given::default()
        }
        .summary();
        assert_eq!(summary.final_text.as_deref(), expected);
    }
}
