//! Whose frames they are.

use serde_json::json;

use super::*;

fn answer(tape: &mut Tape, session: &str, run: &str, text: &str) {
    tape.agent_of(
        session,
        run,
        "lifecycle",
        &json!({"phase": "start", "startedAt": 1}),
    );
    tape.agent_of(
        session,
        run,
        "assistant",
        &json!({"text": text, "itemId": format!("{run}:1")}),
    );
    tape.agent_of(
        session,
        run,
        "lifecycle",
        &json!({"phase": "end", "endedAt": 2}),
    );
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    tape.event(
        "chat",
        json!({"runId": run, "sessionKey": session, "state": "final", "message": message}),
    );
}

#[test]
fn frames_of_other_sessions_are_left_out_also_before_the_request() {
    let mut tape = Tape::default();
    answer(&mut tape, "agent:main:other", "run-x", "Not ours.");
    tape.ask(ASKED, RUN, "Do it.");
    answer(&mut tape, "agent:main:other", "run-y", "Nor this.");
    answer(&mut tape, ASKED, RUN, "Ours.");
    answer(&mut tape, "agent:main:third", "run-z", "Nor that.");
    let summary = tape.summary();
    assert_eq!(summary.session_id.as_deref(), Some(ASKED));
    assert_eq!(summary.texts, ["Ours."]);
    assert_eq!(notices(&summary, "info"), 2);
    assert_eq!(summary.status.as_str(), "completed");
}

#[test]
fn without_requests_the_answer_names_the_run() {
    let mut tape = Tape::default();
    answer(&mut tape, "agent:main:other", "run-x", "Not ours.");
    tape.line(&json!({"type": "res", "id": "2", "ok": true, "payload": {"runId": RUN, "status": "started"}}));
    answer(&mut tape, ASKED, RUN, "Ours.");
    let summary = tape.summary();
    assert_eq!(
        (summary.session_id.as_deref(), summary.texts.len()),
        (Some(ASKED), 1)
    );
    // Nothing names it: the first one that is no sub-agent's.
    let mut tape = Tape::default();
    answer(&mut tape, "agent:main:subagent:1", "run-c", "A child's.");
    answer(&mut tape, ASKED, RUN, "Ours.");
    let summary = tape.summary();
    assert_eq!(summary.session_id.as_deref(), Some(ASKED));
    assert_eq!(
        (summary.runs.len(), summary.final_text.as_deref()),
        (2, Some("Ours."))
    );
}

#[test]
fn a_session_that_was_asked_for_by_a_short_key_has_its_whole_one() {
    let mut tape = Tape::default();
    tape.ask("main", RUN, "Do it.");
    answer(&mut tape, "agent:main:main", RUN, "Ours.");
    let summary = tape.summary();
    assert_eq!(summary.session_id.as_deref(), Some("agent:main:main"));
    assert_eq!(summary.texts, ["Ours."]);
}

#[test]
fn a_sub_agent_is_a_run_of_its_own_and_the_session_goes_on() {
    const CHILD: &str = "agent:main:subagent:11";
    let mut tape = Tape::asked();
    tape.life("start").model().text("i:1", "I delegate.");
    tape.agent(
        "tool",
        &json!({"phase": "start", "name": "sessions_spawn", "toolCallId": "s",
        "args": {"task": "count"}}),
    );
    tape.agent(
        "tool",
        &json!({"phase": "result", "name": "sessions_spawn", "toolCallId": "s",
        "isError": false, "result": {"content": [], "details": {"childSessionKey": CHILD}}}),
    );
    tape.model()
        .text("i:2", "It works.")
        .life("end")
        .chat("final", &message("x"));
    answer(&mut tape, CHILD, "child-run", "There are 12.");
    answer(
        &mut tape,
        ASKED,
        &format!("announce:v1:{CHILD}:child-run"),
        "It found 12.",
    );
    let summary = tape.summary();
    assert_eq!(summary.runs.len(), 2);
    let parent = summary.runs[1].parent_tool_call_id.as_ref().unwrap();
    assert_eq!(parent.as_str(), "s");
    assert_eq!(
        summary.texts,
        ["I delegate.", "It works.", "There are 12.", "It found 12."]
    );
    assert_eq!(summary.final_text.as_deref(), Some("It found 12."));
    assert_eq!((summary.steps, summary.status.as_str()), (3, "completed"));
}

#[test]
fn approvals_stand_with_their_session() {
    let mut tape = Tape::asked();
    tape.life("start").model().call("c");
    for (session, id) in [(ASKED, "a"), ("agent:main:other", "b")] {
        let request = json!({"sessionKey": session, "toolCallId": "c", "command": "ls"});
        tape.event(
            "exec.approval.requested",
            json!({"id": id, "request": request}),
        );
        tape.event(
            "exec.approval.resolved",
            json!({"id": id, "decision": "deny", "request": request}),
        );
    }
    tape.result("c", 1)
        .model()
        .text("i:1", "No.")
        .life("end")
        .chat("final", &message("No."));
    let summary = tape.summary();
    assert_eq!(notices(&summary, "interaction"), 2);
    assert_eq!(notices(&summary, "permissionDenied"), 1);
    assert_eq!(notices(&summary, "info"), 1);
}
