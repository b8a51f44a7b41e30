//! What the agent says and does.

use serde_json::json;

use super::*;

#[test]
fn messages_are_told_one_by_one_and_the_joined_text_is_not() {
    let mut tape = Tape::asked();
    tape.life("start")
        .model()
        .text("i:1", "Fir")
        .chat("delta", &message("Fir"));
    tape.text("i:1", "First.").call("c1").result("c1", 0);
    tape.model().text("i:2", "Second.").life("end");
    tape.chat("delta", &message("First.\n\nSecond."))
        .chat("final", &message("First.\n\nSecond."));
    let summary = tape.summary();
    assert_eq!(summary.texts, ["First.", "Second."]);
    assert_eq!(summary.final_text.as_deref(), Some("Second."));
    assert_eq!((summary.steps, summary.tool_calls[0].step), (2, 1));
}

#[test]
fn without_names_a_message_ends_with_its_tools() {
    let mut tape = Tape::asked();
    let said = |tape: &mut Tape, text: &str| {
        tape.agent("assistant", &json!({"text": text, "delta": text}));
    };
    tape.life("start");
    said(&mut tape, "Same");
    said(&mut tape, "Same start.");
    tape.call("c1").call("c2").result("c2", 0).result("c1", 0);
    said(&mut tape, "Same");
    said(&mut tape, "Same start again.");
    tape.life("end").chat("final", &message("damaged"));
    let summary = tape.summary();
    assert_eq!(summary.texts, ["Same start.", "Same start again."]);
    assert_eq!(summary.steps, 2);
    assert!(summary.tool_calls.iter().all(|call| call.step == 1));
}

#[test]
fn text_before_a_call_is_told_once_whichever_frame_has_it() {
    for is_said in [false, true] {
        let mut tape = Tape::asked();
        tape.life("start").model();
        if is_said {
            tape.text("i:1", "I run\n  it now.");
        }
        for phase in ["update", "end"] {
            tape.agent(
                "item",
                &json!({"kind": "preamble", "phase": phase, "itemId": "p",
                "progressText": "I run it now."}),
            );
        }
        tape.call("c1").result("c1", 0).model().text("i:2", "Done.");
        tape.life("end").chat("final", &message("x"));
        let summary = tape.summary();
        let first = if is_said {
            "I run\n  it now."
        } else {
            "I run it now."
        };
        assert_eq!(summary.texts, [first, "Done."]);
        assert_eq!(summary.steps, 2);
    }
}

#[test]
fn an_attempt_that_failed_is_no_answer() {
    let mut tape = Tape::asked();
    tape.life("start").model().text("i:1", "Half of");
    tape.agent(
        "lifecycle",
        &json!({"phase": "finishing", "error": "LLM request timed out."}),
    );
    tape.agent(
        "run_status",
        &json!({"phase": "retrying", "retryAttempt": 1, "maxAttempts": 3,
        "delayMs": 834, "reason": "timeout"}),
    );
    tape.agent(
        "assistant",
        &json!({"text": "", "replace": true, "itemId": "i:1"}),
    );
    tape.life("start").model().chat("delta", &message("The wh"));
    tape.text("j:1", "The whole answer.")
        .life("end")
        .chat("final", &message("The whole answer."));
    let summary = tape.summary();
    assert_eq!(summary.texts, ["The whole answer."]);
    assert_eq!(notices(&summary, "retry"), 1);
    let notice = &summary.notices[0].text;
    assert!(
        notice.contains("timed out") && notice.contains("Half of"),
        "{notice}"
    );
    assert_eq!(summary.status.as_str(), "completed");
}

#[test]
fn an_empty_replacement_where_nothing_was_shown_is_nothing() {
    let mut tape = Tape::asked();
    tape.life("start").model();
    tape.agent(
        "lifecycle",
        &json!({"phase": "finishing", "error": "HTTP 500"}),
    );
    tape.agent(
        "assistant",
        &json!({"text": "", "replace": true, "itemId": "i:1"}),
    );
    tape.life("start")
        .model()
        .text("j:1", "Fine.")
        .life("end")
        .chat("final", &message("Fine."));
    let summary = tape.summary();
    assert_eq!((summary.steps, notices(&summary, "retry")), (1, 1));
    assert_eq!(summary.texts, ["Fine."]);
}

#[test]
fn reasoning_that_is_wrapped_anew_in_each_frame_is_one_text() {
    let mut tape = Tape::asked();
    tape.life("start");
    for text in ["_Let me_", "_Let me think._", "_Let me think._\n\n_So._"] {
        tape.agent("thinking", &json!({"text": format!("Reasoning:\n{text}")}));
    }
    tape.agent("assistant", &json!({"text": "Yes."}))
        .life("end")
        .chat("final", &message("Yes."));
    assert_eq!(tape.summary().thinking, ["Let me think.\n\nSo."]);
}

#[test]
fn the_gateway_s_own_words_count_and_its_notices_do_not() {
    let mut tape = Tape::asked();
    tape.life("start")
        .model()
        .call("c")
        .result("c", 0)
        .model()
        .life("end");
    tape.chat("final", &json!({}));
    let mut own = message("The tool run finished.");
    own["message"]["text"] = "The tool run finished.".into();
    tape.chat("final", &own);
    let mut notice = message("Model Fallback");
    notice["message"]["content"][0]["openclawStatusNotice"] = true.into();
    tape.chat("final", &notice);
    let summary = tape.summary();
    assert_eq!(summary.texts, ["The tool run finished."]);
    assert_eq!(
        summary.final_text.as_deref(),
        Some("The tool run finished.")
    );
    assert_eq!(notices(&summary, "info"), 1);
}

#[test]
fn calls_that_are_seen_as_items_only_have_a_summary_and_their_output() {
    let mut tape = Tape::asked();
    let item = |phase: &str, status: &str| {
        json!({"kind": "tool", "phase": phase, "toolCallId": "c",
        "name": "exec", "meta": "print text", "status": status, "commandBearing": true})
    };
    tape.life("start")
        .model()
        .agent("item", &item("start", "running"));
    tape.agent("item", &item("end", "completed"));
    tape.agent(
        "command_output",
        &json!({"phase": "end", "toolCallId": "c", "output": "oops",
        "exitCode": 2, "status": "completed"}),
    );
    tape.model()
        .text("i:2", "It failed.")
        .life("end")
        .chat("final", &message("x"));
    let summary = tape.summary();
    let call = &summary.tool_calls[0];
    assert_eq!(call.input, json!({"summary": "print text"}));
    assert_eq!(
        (call.is_error, call.output.as_deref()),
        (Some(true), Some("oops"))
    );
}

#[test]
fn a_command_that_exits_with_2_failed_and_results_after_an_abort_are_kept() {
    let mut tape = Tape::asked();
    tape.life("start")
        .model()
        .call("c1")
        .result("c1", 2)
        .call("c2");
    tape.chat("aborted", &json!({"stopReason": "rpc"}));
    tape.agent(
        "lifecycle",
        &json!({"phase": "end", "aborted": true, "stopReason": "rpc"}),
    );
    tape.result("c2", 0);
    tape.agent(
        "lifecycle",
        &json!({"phase": "error", "aborted": true, "error": "aborted"}),
    );
    let summary = tape.summary();
    let failed: Vec<_> = summary
        .tool_calls
        .iter()
        .map(|call| call.is_error)
        .collect();
    assert_eq!(failed, [Some(true), Some(false)]);
    assert_eq!(summary.error.unwrap().name, "Aborted");
}

#[test]
fn output_tokens_are_those_of_the_run_so_far() {
    let mut tape = Tape::asked();
    tape.life("start")
        .model()
        .text("i:1", "a")
        .agent("usage", &json!({"outputTokens": 20}));
    tape.model()
        .agent("usage", &json!({"outputTokens": 43}))
        .text("i:2", "b");
    tape.life("end").chat("final", &json!({}));
    let usage = tape.summary().usage.unwrap();
    assert_eq!((usage.output_tokens, usage.input_tokens), (Some(43), None));
}

#[test]
fn a_model_that_took_over_is_one_notice() {
    let mut tape = Tape::asked();
    tape.life("start").model();
    for outcome in ["next_fallback", "succeeded"] {
        tape.agent(
            "lifecycle",
            &json!({"phase": "fallback_step", "fallbackStepFromModel": "m1",
            "fallbackStepToModel": "m2", "fallbackStepFinalOutcome": outcome}),
        );
    }
    tape.text("i:1", "a").life("end").chat("final", &json!({}));
    let summary = tape.summary();
    assert_eq!(notices(&summary, "modelFallback"), 1);
    assert_eq!(summary.model.as_deref(), Some("m1"));
}

#[test]
fn a_client_that_sees_chat_frames_only_has_the_answer() {
    let mut tape = Tape::asked();
    tape.chat("delta", &message("Half"))
        .chat("delta", &message("Half of it"));
    assert_eq!(tape.summary().texts, ["Half of it"]);
    tape.chat("final", &message("All of it."));
    assert_eq!(tape.summary().texts, ["All of it."]);
}

#[test]
fn rows_tell_what_no_frame_tells() {
    let mut tape = Tape::asked();
    let row = |content: serde_json::Value| {
        json!({"sessionKey": ASKED, "message":
        {"role": "assistant", "content": content, "usage": {"input": 5, "output": 2, "cacheRead": 0}}})
    };
    let mut first = row(json!([{"type": "text", "text": "One"},
        {"type": "toolCall", "id": "t1", "name": "exec", "arguments": {"command": "ls"}}]));
    first["messageId"] = "a".into();
    tape.event("session.message", first);
    tape.event(
        "session.message",
        json!({"sessionKey": ASKED, "message": {"role": "toolResult",
        "toolCallId": "t1", "content": [{"type": "text", "text": "x"}], "isError": false}}),
    );
    let mut second = row(json!([{"type": "text", "text": "Two"}]));
    second["messageId"] = "b".into();
    tape.event("session.message", second);
    tape.chat("final", &json!({}));
    let summary = tape.summary();
    assert_eq!(summary.status.as_str(), "completed");
    assert_eq!(summary.texts, ["One", "Two"]);
    assert_eq!(summary.tool_calls[0].output.as_deref(), Some("x"));
    let usage = summary.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(10), Some(4))
    );
}
