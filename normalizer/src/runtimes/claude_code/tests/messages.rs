//! Messages: whole, in pieces, and of sub-agents.

use runtape_core::{Message, RecordKind, ToolCallId};

use super::*;

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
        (Some(4), Some(7))
    );
    assert!(summary.unparsed.is_empty(), "{:?}", summary.unparsed);
}

#[test]
fn what_is_interrupted_was_reported_in_pieces() {
    for id in ["m1", "1e8a8d7c-b21c-42ea-bc44-b3eff593098f"] {
        let summary = stream(&[
            init(),
            message_start("m1"),
            block_start(&json!({"type": "text", "text": ""})),
            text_delta("This answer is n"),
            with(says(id, "This answer is n"), &json!({"aborted": true})),
            user(&json!([{"type": "text", "text": "[Request interrupted by user]"}])),
        ]);
        assert_eq!(summary.texts, ["This answer is n"]);
        assert_eq!((summary.steps, summary.final_text), (1, None));
    }
}

#[test]
fn a_call_that_was_cut_while_it_was_written_is_kept() {
    let mut given = Given {
        exit: Exit::with_signal("SIGKILL"),
        ..Given::default()
    };
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
fn a_message_that_began_and_showed_nothing_is_a_step_that_was_cut() {
    let mut given = Given {
        exit: Exit::with_signal("SIGTERM"),
        ..Given::default()
    };
    given.stdout = lines(&[init(), says("m1", "whole"), message_start("m2")]);
    let summary = given.summary();
    assert_eq!((summary.steps, summary.final_text.as_deref()), (2, None));
    assert_eq!(summary.texts, ["whole"]);
    assert_eq!(summary.usage.unwrap().input_tokens, Some(2));
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
        .map(|run| run.parent_tool_call_id.as_ref().map(ToolCallId::as_str))
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
fn a_result_printed_before_its_call_is_tied_to_it() {
    let given = Given {
        stdout: lines(&[
            init(),
            says("m1", "Look."),
            answers("t1", &json!("out")),
            calls("m1", "t1", "Bash", &json!({"command": "ls"})),
            result("Look."),
        ]),
        ..Given::default()
    };
    let records = given.records();
    let results: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.kind {
            RecordKind::Message(message) => match &message.message {
                Message::ToolMessage(tool) => Some((tool.results().next()?, &message.results)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let [(part, notes)] = results.as_slice() else {
        panic!("{results:?}");
    };
    assert_eq!(part.tool_name.as_str(), "Bash");
    assert!(notes.iter().all(|note| !note.unmatched), "{notes:?}");
    let unanswered = records.iter().any(|record| match &record.kind {
        RecordKind::Checkpoint(head) => !head.pending.is_empty(),
        _ => false,
    });
    assert!(!unanswered);
}
