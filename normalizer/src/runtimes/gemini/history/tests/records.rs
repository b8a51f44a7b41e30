//! Records that are written again, and what counts of them.

use runtape_core::CheckpointStatus;

use super::*;

#[test]
fn a_message_that_is_written_again_with_its_calls_counts_once() {
    let said = answer("g1", 2, "Running.");
    let done = with(said.clone(), &json!({"toolCalls": [call("t1", "ls", "a")]}));
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        said,
        json!({"$set": {"lastUpdated": time(3)}}),
        done,
        results("u2", 4, "t1", "a"),
        answer("g2", 5, "Done."),
    ]);
    let run = files.summary();
    assert_eq!(run.texts, ["Running.", "Done."]);
    assert_eq!(said_calls(&run), [("t1", Some(false))]);
    assert_eq!(run.steps, 2);
    let usage = run.usage.unwrap();
    assert_eq!(usage.input_tokens, Some(12));
    assert_eq!(usage.cached_input_tokens, Some(8));
    assert_eq!(usage.output_tokens, Some(10));
    assert_eq!(usage.reasoning_tokens, Some(6));
    let segment = &files.session().segments[0];
    assert_eq!(segment.responses, ["g1", "g2"]);
    assert_eq!(segment.calls, ["t1"]);
    assert_eq!(segment.last_text.as_deref(), Some("Done."));
    assert_eq!(segment.prompt.as_deref(), Some("Go."));
}

#[test]
fn the_lines_of_a_run_may_come_twice_or_in_an_older_version_first() {
    let said = answer("g1", 2, "Running.");
    let done = with(said.clone(), &json!({"toolCalls": [call("t1", "ls", "a")]}));
    let old = Files::one(&[header(0), user("u1", 1, "Go."), said.clone()]);
    let new = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        said,
        done,
        answer("g2", 5, "Done."),
    ]);
    let (old, new) = (old.tapes().remove(0), new.tapes().remove(0));
    let expected = summary(&new);
    for tape in [
        [&old[..], &new].concat(),
        [&new[..], &new].concat(),
        [&new[..], &old].concat(),
    ] {
        let run = summary(&tape);
        assert_eq!(run.texts, expected.texts);
        assert_eq!(run.usage, expected.usage);
        assert_eq!(said_calls(&run), said_calls(&expected));
        assert_eq!(run.steps, expected.steps);
        assert_eq!(run.status, expected.status);
    }
}

#[test]
fn models_may_use_the_same_call_id_again() {
    let turn = |id: &str, second: u32, output: &str| {
        with(
            answer(id, second, ""),
            &json!({"toolCalls": [call("call_1", "ls", output)]}),
        )
    };
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        turn("g1", 2, "a"),
        turn("g2", 3, "b"),
        answer("g3", 4, "Done."),
    ]);
    let run = files.summary();
    let outputs: Vec<_> = run
        .tool_calls
        .iter()
        .map(|call| call.output.clone())
        .collect();
    assert_eq!(outputs, [Some("a".to_owned()), Some("b".to_owned())]);
}

#[test]
fn a_masked_result_does_not_unsay_what_the_model_got() {
    let calls =
        |output: &str| json!({"toolCalls": [call("t1", "ls", output), call("t2", "ls", "other")]});
    let done = with(answer("g1", 2, ""), &calls("all of it"));
    let masked = json!([response("t1", "[masked]"), response("t2", "other")]);
    let mut listed = with(answer("g1", 2, ""), &calls("x"));
    listed["toolCalls"][0]["result"] = masked.clone();
    listed["toolCalls"][1]["result"] = masked;
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        done,
        list(&[user("u1", 1, "Go."), listed.clone()]),
    ]);
    assert_eq!(
        files.summary().tool_calls[0].output.as_deref(),
        Some("all of it")
    );
    // Where nothing else is known, each call has its own result of the list.
    let files = Files::one(&[header(0), user("u1", 1, "Go."), listed]);
    let run = files.summary();
    let outputs: Vec<_> = run
        .tool_calls
        .iter()
        .map(|call| call.output.as_deref())
        .collect();
    assert_eq!(outputs, [Some("[masked]"), Some("other")]);
}

#[test]
fn a_command_that_exits_with_a_code_failed_whatever_its_status() {
    let calls = json!({"toolCalls": [
        call("t1", "false", "Output: (empty)\nExit Code: 1\nProcess Group PGID: 7"),
        with(call("t2", "x", ""), &json!({"status": "cancelled"})),
        with(call("t3", "x", ""), &json!({"status": "error"})),
        call("t4", "true", "Output: ok\nProcess Group PGID: 8"),
        without(call("t5", "sleep", ""), &["result", "status"]),
    ]});
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        with(answer("g1", 2, ""), &calls),
    ]);
    let run = files.summary();
    let expected = [Some(true), Some(true), Some(true), Some(false), None];
    let found: Vec<_> = run.tool_calls.iter().map(|call| call.is_error).collect();
    assert_eq!(found, expected);
    assert_eq!(run.status, CheckpointStatus::StoppedByError);
}

#[test]
fn a_tool_that_may_not_run_was_denied() {
    let mut denied = with(call("t1", "ls", ""), &json!({"status": "error"}));
    let error = "Tool \"run_shell_command\" not found. Did you mean one of: \"glob\"?";
    denied["result"][0]["functionResponse"]["response"] = json!({"error": error});
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        with(answer("g1", 2, ""), &json!({"toolCalls": [denied]})),
        answer("g2", 3, "No."),
    ]);
    let run = files.summary();
    assert_eq!(run.tool_calls[0].output.as_deref(), Some(error));
    assert!(
        notices(&run)[0].contains("permissionDenied"),
        "{:?}",
        notices(&run)
    );
}

#[test]
fn results_may_hold_images_and_whatever_json_says() {
    let mut seen = call("t1", "x", "");
    seen["result"] = json!([
        {"functionResponse": {"id": "t1", "name": "read_file", "response": {"output": "one image"}}},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
    ]);
    let mut odd = call("t2", "x", "");
    odd["result"] =
        json!([{"functionResponse": {"id": "t2", "name": "x", "response": {"a": [1]}}}]);
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        with(answer("g1", 2, ""), &json!({"toolCalls": [seen, odd]})),
    ]);
    let text = String::from_utf8(serde_json::to_vec(&records(&files.tapes()[0])).unwrap()).unwrap();
    assert!(text.contains("image/png") && text.contains("AAAA"));
    assert_eq!(
        files.summary().tool_calls[1].output.as_deref(),
        Some(r#"{"a":[1]}"#)
    );
}

#[test]
fn what_no_model_said_is_no_response() {
    let unsaid = without(answer("g1", 2, "Got it."), &["tokens", "model", "thoughts"]);
    let files = Files::one(&[header(0), user("u1", 1, "Go."), unsaid]);
    let run = files.summary();
    assert!(run.texts.is_empty());
    assert!(files.session().segments[0].responses.is_empty());
    assert_eq!(run.status, CheckpointStatus::StoppedByError);
}

#[test]
fn a_response_whose_tokens_are_unknown_is_one_all_the_same() {
    let said = with(answer("g1", 2, "Half."), &json!({"tokens": null}));
    let files = Files::one(&[header(0), user("u1", 1, "Go."), said.clone()]);
    assert_eq!(files.session().segments[0].responses, ["g1"]);
    assert_eq!(counted(&files.tapes()[0]), ["g1"]);
    assert_eq!(files.summary().usage, None);
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        said,
        answer("g1", 2, "Half."),
    ]);
    assert_eq!(counted(&files.tapes()[0]), ["g1"]);
    assert_eq!(files.summary().usage.unwrap().input_tokens, Some(6));
}

#[test]
fn a_message_of_calls_alone_that_was_cut_off_is_no_answer() {
    let files = Files::one(&[header(0), user("u1", 1, "Go."), answer("g1", 2, "")]);
    let run = files.summary();
    assert_eq!(run.error.unwrap().name, "Unfinished");
    assert_eq!(run.usage.unwrap().input_tokens, Some(6));
    assert_eq!(run.steps, 1);
}

#[test]
fn an_answer_ends_the_run_and_nothing_proves_it() {
    let files = Files::one(&[header(0), user("u1", 1, "Go."), answer("g1", 2, "Done.")]);
    let run = files.summary();
    assert_eq!(run.status, CheckpointStatus::Completed);
    let text = serde_json::to_string(&records(&files.tapes()[0])).unwrap();
    assert!(text.contains("\"endUnknown\":true"));
    assert!(!files.session().segments[0].is_over);
}

#[test]
fn thoughts_have_their_subject_as_a_heading_and_no_thoughts_are_not_none() {
    let thoughts = json!({"thoughts": [
        {"subject": "Plan", "description": "Go on.", "timestamp": time(2)},
        {"subject": "", "description": "Only this."},
        {"subject": "Only that", "description": ""},
    ], "tokens": {"input": 5, "output": 1, "cached": 0, "thoughts": 0, "total": 6}});
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        with(answer("g1", 2, "A."), &thoughts),
    ]);
    let run = files.summary();
    assert_eq!(
        run.thinking,
        ["**Plan**\n\nGo on.", "Only this.", "**Only that**"]
    );
    assert_eq!(run.usage.unwrap().reasoning_tokens, None);
}

#[test]
fn an_error_without_an_answer_is_how_it_ended() {
    let error = json!({"id": "e1", "timestamp": time(3), "type": "error",
        "content": "[API Error: {\"error\":{\"code\":429,\"message\":\"slow down\"}}]"});
    let files = Files::one(&[header(0), user("u1", 1, "Go."), error.clone()]);
    let run = files.summary();
    let found = run.error.unwrap();
    assert_eq!(found.name, "ApiError");
    assert_eq!(found.status_code, Some(429));
    // The terminal says so of an unknown command, too: after an answer it is about something else.
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        answer("g1", 2, "Done."),
        error,
    ]);
    assert_eq!(files.summary().status, CheckpointStatus::Completed);
}

#[test]
fn lines_that_are_not_understood_are_named_and_the_others_read() {
    let lines = [
        header(0).to_string(),
        user("u1", 1, "Go.").to_string(),
        r#"{"id":"g0","type":"gemini","cont{"id":"g9","type":"gemini"}"#.to_owned(),
        r#"{"id":"x1","type":"hologram","timestamp":"2026-01-01T00:00:02.000Z"}"#.to_owned(),
        r#"{"something":"else"}"#.to_owned(),
        "[]".to_owned(),
        with(answer("g1", 3, "Done."), &json!({"novelty": 1})).to_string(),
    ];
    let files = Files::default().with_bytes(MAIN, (lines.join("\n") + "\n").into_bytes());
    let run = files.summary();
    assert_eq!(run.texts, ["Done."]);
    assert_eq!(run.unparsed.len(), 4, "{:?}", run.unparsed);
    assert_eq!(files.session().segments[0].unreadable, 3);
    let text = serde_json::to_string(&records(&files.tapes()[0])).unwrap();
    assert!(text.contains("history.novelty"));
}

#[test]
fn words_beside_results_and_results_without_a_call_are_kept() {
    let done = with(
        answer("g1", 2, ""),
        &json!({"toolCalls": [call("t1", "ls", "a")]}),
    );
    let mut hinted = results("u2", 3, "t1", "a");
    hinted["content"] = json!([response("t1", "a"), {"text": "A hint."}]);
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        done,
        hinted,
        results("u3", 4, "t9", "late"),
        answer("g2", 5, "Done."),
    ]);
    let run = files.summary();
    assert!(notices(&run)[0].contains("A hint."), "{:?}", notices(&run));
    let outputs: Vec<_> = run
        .tool_calls
        .iter()
        .map(|call| call.output.as_deref())
        .collect();
    assert_eq!(outputs, [Some("a"), Some("late")]);
    assert_eq!(run.steps, 2);
}
