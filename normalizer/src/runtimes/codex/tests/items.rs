//! Messages, reasoning and calls.

use runtape_core::RecordKind;
use serde_json::json;

use super::{AT, STARTED, item, message, notices, records, turn};
use crate::Exit;

const COMMAND: &str = r#""id":"item_1","type":"command_execution","command":"/bin/bash -lc 'echo 1'","aggregated_output":"#;

#[test]
fn a_message_after_a_call_opens_the_next_step_and_one_after_a_message_does_not() {
    let started = item(
        "started",
        &format!(r#"{COMMAND}"","exit_code":null,"status":"in_progress""#),
    );
    let ended = item(
        "completed",
        &format!(r#"{COMMAND}"1\n","exit_code":0,"status":"completed""#),
    );
    let thought = item(
        "completed",
        r#""id":"item_5","type":"reasoning","text":"Hm.""#,
    );
    let summary = turn(&[
        &message(0, "One."),
        &message(9, "Two."),
        &started,
        &ended,
        &thought,
        &message(6, "Three."),
    ]);
    assert_eq!(summary.steps, 2);
    assert_eq!(summary.texts, ["One.", "Two.", "Three."]);
    assert_eq!(summary.thinking, ["Hm."]);
    assert_eq!(summary.final_text.as_deref(), Some("Three."));
    let call = &summary.tool_calls[0];
    assert_eq!((call.id.as_str(), call.step), ("item_1", 1));
    assert_eq!(call.input, json!({"command": "/bin/bash -lc 'echo 1'"}));
    assert_eq!(call.output.as_deref(), Some("1\n"));
    assert_eq!(call.is_error, Some(false));
}

#[test]
fn the_answer_is_the_last_message_also_if_only_reasoning_followed() {
    let ended = item(
        "completed",
        &format!(r#"{COMMAND}"","exit_code":0,"status":"completed""#),
    );
    let thought = item(
        "completed",
        r#""id":"item_5","type":"reasoning","text":"Hm.""#,
    );
    let summary = turn(&[
        &message(0, "First."),
        &message(2, "Last."),
        &ended,
        &thought,
    ]);
    assert_eq!(summary.final_text.as_deref(), Some("Last."));
    assert_eq!(turn(&[]).final_text, None);
    assert_eq!(turn(&[]).steps, 0);
}

#[test]
fn the_command_paths_and_url_of_a_call_are_noted_in_neutral_words() {
    let lines = [
        STARTED.to_owned(),
        item("started", &format!(r#"{COMMAND}"","status":"in_progress""#)),
        item(
            "completed",
            r#""id":"item_2","type":"file_change","changes":[{"path":"/w/a","kind":"add"}],"status":"completed""#,
        ),
        item(
            "completed",
            r#""id":"item_3","type":"web_search","id":"ws_1","query":"q","action":{"type":"open_page","url":"http://x"}"#,
        ),
    ];
    let records = records(None, &lines.join("\n"), "", &Exit::unknown());
    let notes = records.iter().filter_map(|record| match &record.kind {
        RecordKind::Message(message) => Some(&message.calls),
        _ => None,
    });
    let notes: Vec<_> = notes.flatten().collect();
    assert_eq!(notes[0].command.as_deref(), Some("echo 1"));
    assert_eq!(notes[1].paths, ["/w/a"]);
    assert_eq!(notes[2].url.as_deref(), Some("http://x"));
    assert!(records.iter().all(|record| record.at == AT));
}

#[test]
fn a_search_has_the_id_of_its_item_and_the_words_it_ended_with() {
    let started = item(
        "started",
        r#""id":"item_2","type":"web_search","id":"ws_call_1","query":"","action":{"type":"other"}"#,
    );
    let ended = item(
        "completed",
        r#""id":"item_2","type":"web_search","id":"ws_call_1","query":"rust","action":{"type":"search","query":"rust"}"#,
    );
    let summary = turn(&[&started, &ended]);
    assert_eq!(summary.tool_calls.len(), 1);
    let call = &summary.tool_calls[0];
    assert_eq!(
        (call.id.as_str(), call.name.as_str()),
        ("item_2", "web_search")
    );
    let action = json!({"type": "search", "query": "rust"});
    assert_eq!(call.input, json!({"query": "rust", "action": action}));
    assert_eq!((call.is_error, call.output.as_deref()), (Some(false), None));
}

#[test]
fn a_plan_is_one_call_and_what_became_of_it_is_a_notice() {
    let list = |phase: &str, done: bool| {
        item(
            phase,
            &format!(
                r#""id":"item_1","type":"todo_list","items":[{{"text":"read","completed":{done}}},{{"text":"write","completed":false}}]"#
            ),
        )
    };
    let summary = turn(&[
        &list("started", false),
        &list("updated", true),
        &list("completed", true),
    ]);
    assert_eq!(summary.tool_calls.len(), 1);
    assert_eq!(summary.tool_calls[0].input["items"][0]["completed"], false);
    assert_eq!(summary.tool_calls[0].is_error, Some(false));
    assert_eq!(
        notices(&summary),
        [("info", "todo_list: [x] read\n[ ] write")]
    );
}

#[test]
fn sub_agents_stay_calls_and_their_states_are_notices() {
    let spawn = item(
        "completed",
        r#""id":"item_1","type":"collab_tool_call","tool":"wait","sender_thread_id":"a","receiver_thread_ids":["b"],"prompt":"Look.","agents_states":{"b":{"status":"completed","message":"Seen."}},"status":"completed""#,
    );
    let summary = turn(&[&spawn]);
    let call = &summary.tool_calls[0];
    assert_eq!((call.name.as_str(), call.is_error), ("wait", Some(false)));
    assert_eq!(call.input["prompt"], "Look.");
    assert_eq!(call.output, None);
    assert_eq!(summary.runs.len(), 1);
    assert_eq!(notices(&summary), [("task", "completed: Seen.")]);
}

#[test]
fn mcp_calls_are_named_after_their_server_and_a_declined_one_is_a_denial() {
    let failed = item(
        "completed",
        r#""id":"item_1","type":"mcp_tool_call","server":"echo","tool":"fail","arguments":{"message":"boom"},"result":{"content":[{"type":"text","text":"Failed: boom"}],"structured_content":null},"error":null,"status":"failed""#,
    );
    let declined = item(
        "completed",
        &format!(r#"{COMMAND}"","exit_code":null,"status":"declined""#),
    );
    let summary = turn(&[&failed, &declined.replace("item_1", "item_2")]);
    let [call, other] = &summary.tool_calls[..] else {
        panic!("two calls")
    };
    assert_eq!(call.name, "mcp__echo__fail");
    assert_eq!(call.input, json!({"message": "boom"}));
    assert_eq!(call.output.as_deref(), Some("Failed: boom"));
    assert_eq!((call.is_error, other.is_error), (Some(true), Some(true)));
    assert_eq!(
        notices(&summary),
        [("permissionDenied", "command_execution")]
    );
}

#[test]
fn a_call_that_is_open_at_the_end_of_the_turn_has_no_outcome() {
    let started = item(
        "started",
        &format!(r#"{COMMAND}"","exit_code":null,"status":"in_progress""#),
    );
    let summary = turn(&[&started]);
    assert_eq!(summary.tool_calls[0].is_error, None);
    assert_eq!(summary.tool_calls[0].output, None);
    assert!(summary.error.is_none());
}

#[test]
fn a_call_that_ends_late_belongs_to_the_step_that_made_it() {
    let started = item(
        "started",
        &format!(r#"{COMMAND}"","exit_code":null,"status":"in_progress""#),
    );
    let ended = item(
        "completed",
        &format!(r#"{COMMAND}"1","exit_code":0,"status":"completed""#),
    );
    let summary = turn(&[
        &started,
        &message(2, "Meanwhile."),
        &ended,
        &message(3, "Done."),
    ]);
    assert_eq!((summary.steps, summary.tool_calls[0].step), (2, 1));
    assert_eq!(summary.tool_calls[0].output.as_deref(), Some("1"));
    assert_eq!(summary.final_text.as_deref(), Some("Done."));
}

#[test]
fn what_is_not_known_is_kept_under_its_name() {
    let table = [
        (
            r#"{"type":"item.completed","item":{"id":"i","type":"plan","text":"x"}}"#,
            Some("plan"),
        ),
        (r#"{"type":"turn.paused"}"#, Some("turn.paused")),
        (r#"{"message":"x"}"#, None),
        (r#"{"type":"item.completed"}"#, Some("item.completed")),
        (
            r#"{"type":"item.completed","item":7}"#,
            Some("item.completed"),
        ),
        (
            r#"{"type":"item.updated","item":{"id":"i","type":"agent_message","text":"x"}}"#,
            Some("agent_message"),
        ),
        (
            r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":7}}"#,
            Some("agent_message"),
        ),
        (
            r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls","status":"odd"}}"#,
            Some("command_execution"),
        ),
        (
            r#"{"type":"thread.started","thread_id":"mine"}"#,
            Some("thread.started"),
        ),
        (r#"{"type":"error"}"#, Some("error")),
    ];
    for (line, tag) in table {
        let summary = turn(&[line]);
        let first = summary.unparsed.first().expect(line);
        assert_eq!(first.r#type.as_deref(), tag, "{line}");
        assert_eq!(first.line, 3, "{line}");
        assert!(summary.error.is_none(), "{line}");
    }
}

#[test]
fn keys_that_are_not_known_are_counted() {
    let lines = [
        STARTED.to_owned(),
        item(
            "completed",
            r#""id":"i","type":"agent_message","text":"x","phase":"final""#,
        ),
        r#"{"type":"turn.completed","usage":{"input_tokens":1,"new_tokens":2},"model":"m"}"#
            .to_owned(),
    ];
    let records = records(None, &lines.join("\n"), "", &Exit::with_code(0));
    let unknown = records.iter().find_map(|record| match &record.kind {
        RecordKind::Metadata(patch) => patch.set.get("unknownKeys").cloned(),
        _ => None,
    });
    let expected =
        json!({"agent_message.phase": 1, "turn.completed.model": 1, "usage.new_tokens": 1});
    assert_eq!(unknown, Some(expected));
}
