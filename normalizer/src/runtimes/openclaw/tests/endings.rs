//! How runs end.

use serde_json::json;

use super::*;

fn error_of(tape: &Tape) -> (String, String, Option<runtape_core::ErrorFamily>) {
    let error = tape.summary().error.expect("a failure");
    (error.name, error.message, error.family)
}

#[test]
fn of_two_error_frames_the_one_with_the_reason_counts() {
    let mut tape = Tape::asked();
    tape.life("start").model();
    tape.agent(
        "lifecycle",
        &json!({"phase": "error", "error": "Authentication failed (HTTP 401)."}),
    );
    tape.chat(
        "error",
        &json!({"errorMessage": "Authentication failed (HTTP 401).",
        "errorDetail": {"failoverReason": "auth"}}),
    );
    tape.chat(
        "error",
        &json!({"errorMessage": "Agent failed before reply."}),
    );
    let (name, message, family) = error_of(&tape);
    assert_eq!(
        (name.as_str(), message.as_str()),
        ("ApiError", "Authentication failed (HTTP 401).")
    );
    assert_eq!(family, Some(runtape_core::ErrorFamily::Auth));
}

#[test]
fn an_empty_answer_is_a_failure_and_no_abort() {
    let mut tape = Tape::asked();
    tape.life("start").model();
    tape.agent(
        "lifecycle",
        &json!({"phase": "error", "aborted": false, "stopReason": "stop",
        "error": "Agent couldn't generate a response."}),
    );
    tape.chat("aborted", &json!({"stopReason": "stop"}));
    let before = error_of(&tape);
    assert_ne!(before.0, "Aborted");
    tape.chat(
        "error",
        &json!({"errorMessage": "Agent couldn't generate a response."}),
    );
    assert_eq!(error_of(&tape).1, "Agent couldn't generate a response.");
}

#[test]
fn a_run_that_is_still_at_work_was_cut() {
    let mut tape = Tape::asked();
    tape.life("start").model().text("i:1", "Working.").call("c");
    // A message that is steered into the run is over at once.
    tape.ask(ASKED, "run-2", "And this.");
    tape.event(
        "chat",
        json!({"runId": "run-2", "sessionKey": ASKED, "state": "final"}),
    );
    assert_eq!(error_of(&tape).0, "TruncatedOutput");
    tape.result("c", 0)
        .model()
        .text("i:2", "Both.")
        .life("end")
        .chat("final", &message("x"));
    let summary = tape.summary();
    assert_eq!(summary.status.as_str(), "completed");
    assert_eq!((summary.texts.len(), summary.steps), (2, 2));
    assert_eq!(notices(&summary, "result"), 0);
}

#[test]
fn the_last_run_decides_and_durations_add_up() {
    let mut tape = Tape::asked();
    let times = |phase: &str, start: u64, end: u64| json!({"phase": phase, "startedAt": start, "endedAt": end});
    tape.agent("lifecycle", &times("start", 1000, 0))
        .text("i:1", "One.");
    tape.agent("lifecycle", &times("end", 1000, 1300))
        .chat("final", &message("One."));
    tape.ask(ASKED, "run-2", "Again.");
    tape.agent_of(ASKED, "run-2", "lifecycle", &times("start", 5000, 0));
    assert_eq!(error_of(&tape).0, "TruncatedOutput");
    tape.agent_of(ASKED, "run-2", "lifecycle", &times("error", 5000, 5070));
    tape.event(
        "chat",
        json!({"runId": "run-2", "sessionKey": ASKED, "state": "error",
        "errorMessage": "429 slow down"}),
    );
    let summary = tape.summary();
    assert_eq!(summary.duration_ms, Some(370));
    assert_eq!(summary.error.unwrap().status_code, Some(429));
    assert_eq!(notices_of(&tape, "result"), 1);
}

fn notices_of(tape: &Tape, kind: &str) -> usize {
    notices(&tape.summary(), kind)
}

#[test]
fn a_refused_request_is_the_end_and_another_refusal_is_not() {
    let mut tape = Tape::default();
    tape.line(&json!({"type": "req", "id": "2", "method": "chat.send",
        "params": {"sessionKey": ASKED, "message": "x", "idempotencyKey": RUN}}));
    let mut other = tape.clone();
    tape.line(&json!({"type": "res", "id": "2", "ok": false,
        "error": {"code": "INVALID_REQUEST", "message": "no such agent"}}));
    let (name, message, _) = error_of(&tape);
    assert_eq!(
        (name.as_str(), message.as_str()),
        ("INVALID_REQUEST", "no such agent")
    );
    other.line(&json!({"type": "res", "id": "2", "ok": true, "payload": {"runId": RUN, "status": "started"}}));
    other.line(
        &json!({"type": "req", "id": "3", "method": "sessions.patch", "params": {"key": ASKED}}),
    );
    other.line(
        &json!({"type": "res", "id": "3", "ok": false, "error": {"code": "X", "message": "y"}}),
    );
    other
        .life("start")
        .text("i:1", "Fine.")
        .life("end")
        .chat("final", &super::message("Fine."));
    assert_eq!(other.summary().status.as_str(), "completed");
    assert_eq!(notices(&other.summary(), "warning"), 1);
}

#[test]
fn a_run_that_ended_while_nobody_listened_is_in_the_transcript() {
    let mut tape = Tape::asked();
    tape.line(&json!({"type": "req", "id": "9", "method": "chat.history", "params": {"sessionKey": ASKED}}));
    let own = |id: &str| json!({"id": id, "runId": RUN});
    let messages = json!([
        {"role": "user", "content": "An older question.", "__openclaw": {"id": "u0", "runId": "run-0"}},
        {"role": "assistant", "content": [{"type": "text", "text": "An older answer."}],
            "stopReason": "stop", "__openclaw": {"id": "a0", "runId": "run-0"}},
        {"role": "user", "content": "Do it.", "idempotencyKey": format!("{RUN}:user")},
        {"role": "assistant", "content": [{"type": "text", "text": "First."}], "__openclaw": own("a")},
        {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "exec",
            "arguments": {"command": "ls"}}], "stopReason": "toolUse", "__openclaw": own("a")},
        {"role": "toolResult", "toolCallId": "c", "toolName": "exec", "isError": false,
            "content": [{"type": "text", "text": "x"}], "__openclaw": own("r")},
        {"role": "assistant", "content": [{"type": "text", "text": "The end."}],
            "stopReason": "stop", "__openclaw": own("b")},
    ]);
    let mut at_work = tape.clone();
    let payload = json!({"sessionKey": ASKED, "messages": messages});
    tape.line(&json!({"type": "res", "id": "9", "ok": true, "payload": payload}));
    let summary = tape.summary();
    assert_eq!(summary.texts, ["First.", "The end."]);
    assert_eq!((summary.steps, summary.tool_calls[0].step), (2, 1));
    assert_eq!(summary.status.as_str(), "completed");
    let mut payload = payload;
    payload["inFlightRun"] = json!({"runId": RUN, "text": "x", "events": []});
    at_work.line(&json!({"type": "res", "id": "9", "ok": true, "payload": payload}));
    assert_eq!(error_of(&at_work).0, "TruncatedOutput");
}

#[test]
fn the_answer_to_agent_has_every_counter() {
    let mut tape = Tape::default();
    tape.line(&json!({"type": "req", "id": "2", "method": "agent",
        "params": {"sessionKey": ASKED, "message": "x", "idempotencyKey": RUN}}));
    tape.line(&json!({"type": "res", "id": "2", "ok": true,
        "payload": {"runId": RUN, "sessionKey": ASKED, "status": "accepted"}}));
    tape.life("start")
        .model()
        .text("i:1", "Done.")
        .agent("usage", &json!({"outputTokens": 30}));
    tape.life("end").chat("final", &super::message("Done."));
    tape.line(
        &json!({"type": "res", "id": "2", "ok": true, "payload": {"runId": RUN, "status": "ok",
        "result": {"meta": {"agentMeta": {"usage": {"input": 266, "output": 30, "cacheRead": 64,
            "cacheWrite": 1, "cost": {"total": 0.25}}}}}}}),
    );
    let summary = tape.summary();
    let usage = summary.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_input_tokens),
        (Some(267), Some(64))
    );
    assert_eq!(
        (usage.output_tokens, summary.cost_usd),
        (Some(30), Some(0.25))
    );
    assert_eq!(summary.texts, ["Done."]);
}
