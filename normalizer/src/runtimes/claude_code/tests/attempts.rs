//! Messages that were not finished: cut off, given up and repeated, or without a block.

use super::*;

fn thinking_delta(text: &str) -> Value {
    delta(&json!({"type": "thinking_delta", "thinking": text}))
}

fn text_start() -> Value {
    block_start(&json!({"type": "text", "text": ""}))
}

fn message_stop() -> Value {
    event(&json!({"type": "message_stop"}))
}

fn retry(attempt: u64) -> Value {
    json!({"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 2,
        "retry_delay_ms": 500, "error_status": null, "error": "server_error",
        "session_id": SESSION, "uuid": "u"})
}

fn interruption(what: &str) -> Value {
    user(&json!([{"type": "text", "text": format!("[Request interrupted by user{what}]")}]))
}

/// The result of an interrupted run, as versions without `aborted` print it.
fn stopped() -> Value {
    let mut line = with(
        result(""),
        &json!({"subtype": "error_during_execution", "is_error": true}),
    );
    line.as_object_mut().unwrap().remove("result");
    line
}

/// A message that was written to its end.
fn whole(id: &str, text: &str) -> Vec<Value> {
    let mut events = vec![message_start(id), text_start(), text_delta(text)];
    events.extend([says(id, text), block_stop()]);
    events.extend(message_end(8));
    events
}

fn after(first: &[Value], then: &[Value]) -> RunSummary {
    let all: Vec<Value> = [&[init()], first, then].concat();
    let summary = stream(&all);
    assert!(summary.unparsed.is_empty(), "{:?}", summary.unparsed);
    summary
}

#[test]
fn an_attempt_that_was_given_up_and_repeated_is_no_answer() {
    let begun = [
        message_start("m1"),
        text_start(),
        text_delta("Hel"),
        text_delta("lo wor"),
    ];
    let again = whole("m2", "Hello world.");
    let fallback = vec![says("m2", "Hello world.")];
    let mut same_id = whole("m1", "Hello world.");
    same_id.push(retry(2));
    let ways: [(&str, Vec<Value>, Vec<Value>); 6] = [
        ("begun anew", vec![], again.clone()),
        ("stopped", vec![message_stop()], again.clone()),
        ("ended", vec![block_stop(), message_stop()], again.clone()),
        ("whole at once", vec![], fallback.clone()),
        (
            "stopped, then whole at once",
            vec![message_stop()],
            fallback,
        ),
        ("under the same id", vec![], same_id),
    ];
    for (way, end, repeated) in ways {
        let mut rest = [end, repeated].concat();
        rest.push(result("Hello world."));
        let summary = after(&begun, &rest);
        assert_eq!(summary.texts, ["Hello world."], "{way}");
        assert_eq!(summary.final_text.as_deref(), Some("Hello world."), "{way}");
        assert_eq!(summary.status, CheckpointStatus::Completed, "{way}");
        let notice = &summary.notices[0];
        assert_eq!(notice.kind, "retry", "{way}");
        assert!(notice.text.contains("Hello wor"), "{way}: {}", notice.text);
        // The attempt is a message of which only the start was printed, unless its id came again.
        let steps = if way.ends_with("id") { 1 } else { 2 };
        assert_eq!(summary.steps, steps, "{way}");
    }
}

#[test]
fn a_retry_that_the_cli_tells_of_holds_what_was_given_up() {
    let begun = [message_start("m1"), text_start(), text_delta("Hello wor")];
    let rest: Vec<Value> = [
        vec![retry(1), retry(2)],
        whole("m2", "Hello world."),
        vec![result("Hello world.")],
    ]
    .concat();
    let summary = after(&begun, &rest);
    assert_eq!(kinds(&summary), ["retry", "retry"]);
    assert_eq!(
        summary.notices[0].text,
        "server_error (attempt 1 of 2, in 500 ms)"
    );
    assert_eq!(
        summary.notices[1].text,
        "server_error, after: Hello wor (attempt 2 of 2, in 500 ms)"
    );
    assert_eq!(summary.texts, ["Hello world."]);
    // A retry of something else, while the message goes on.
    let rest: Vec<Value> = [
        vec![
            retry(1),
            text_delta("ld."),
            says("m1", "Hello world."),
            block_stop(),
        ],
        message_end(4).to_vec(),
        vec![result("Hello world.")],
    ]
    .concat();
    let summary = after(&begun, &rest);
    assert_eq!(summary.texts, ["Hello world."]);
    assert_eq!(
        summary.notices[0].text,
        "server_error (attempt 1 of 2, in 500 ms)"
    );
    assert_eq!(summary.notices.len(), 1);
}

#[test]
fn only_what_was_not_printed_whole_is_given_up() {
    let begun = [
        message_start("m1"),
        block_start(&json!({"type": "thinking", "thinking": ""})),
        thinking_delta("Hm."),
        assistant("m1", &json!({"type": "thinking", "thinking": "Hm."})),
        block_stop(),
        text_start(),
        text_delta("First."),
        says("m1", "First."),
        block_stop(),
        block_start(&json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {}})),
        delta(&json!({"type": "input_json_delta", "partial_json": "{\"command\": \"l"})),
    ];
    let again = calls("m2", "t1", "Bash", &json!({"command": "ls"}));
    let rest = [message_stop(), message_start("m2"), again, result("First.")];
    let summary = after(&begun, &rest);
    assert_eq!(
        (summary.texts, summary.thinking),
        (vec!["First.".into()], vec!["Hm.".into()])
    );
    let ids: Vec<(&str, &Value)> = summary
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), &call.input))
        .collect();
    assert_eq!(ids, [("t1", &json!({"command": "ls"}))]);
    // Cut off for good, the call is kept as far as it is known.
    for end in [
        vec![],
        vec![message_stop()],
        vec![interruption(""), stopped()],
    ] {
        let given = Given {
            stdout: lines(&[vec![init()], begun.to_vec(), end].concat()),
            exit: Exit::with_code(143),
            ..Given::default()
        };
        let summary = given.summary();
        let call = &summary.tool_calls[0];
        assert_eq!(
            (&call.input, call.is_error, call.step),
            (&Value::Null, None, 1)
        );
        assert_eq!(summary.final_text, None);
    }
}

#[test]
fn what_was_cut_off_and_not_repeated_stays_among_the_texts() {
    let begun = [message_start("m1"), text_start(), text_delta("Hello wor")];
    let failed = with(
        result("API Error: 500"),
        &json!({"is_error": true, "terminal_reason": "api_error"}),
    );
    for end in [
        vec![failed.clone()],
        vec![message_stop(), failed.clone()],
        vec![],
    ] {
        let summary = after(&begun, &end);
        assert_eq!(summary.texts, ["Hello wor"]);
        assert_eq!((summary.final_text.as_deref(), summary.steps), (None, 1));
    }
    // A further turn does not repeat what an earlier one gave up.
    let rest: Vec<Value> = [
        vec![message_stop(), failed, init()],
        whole("m2", "Second."),
        vec![result("Second.")],
    ]
    .concat();
    let summary = after(&begun, &rest);
    assert_eq!(summary.texts, ["Hello wor", "Second."]);
    assert_eq!(kinds(&summary), ["result"]);
}

/// The case, what was printed after the first message, all texts, and the final one.
type Interrupted<'a> = (&'a str, Vec<Value>, &'a [&'a str], Option<&'a str>);

/// Checks runs that were interrupted in their second message.
fn check_interrupted(cases: &[Interrupted<'_>]) {
    let first = [
        says("m1", "Step one."),
        calls("m1", "t1", "Bash", &json!({"command": "x"})),
        answers("t1", &json!("y")),
    ];
    for (case, rest, texts, answer) in cases {
        let summary = after(&first, rest);
        assert_eq!(summary.texts, *texts, "{case}");
        assert_eq!(summary.final_text.as_deref(), *answer, "{case}");
        assert_eq!(summary.status, CheckpointStatus::StoppedByError, "{case}");
        if !case.ends_with("result alone") {
            assert_eq!(family(&summary), Some(ErrorFamily::Process), "{case}");
        }
    }
}

#[test]
fn a_message_that_was_interrupted_is_no_answer() {
    let end = vec![interruption(""), stopped()];
    let pieces = vec![message_start("m2"), text_start(), text_delta("This is n")];
    let said = vec![says("m2", "This is n")];
    let marked = vec![with(says("m2", "This is n"), &json!({"aborted": true}))];
    let mut told = says("u1", "[Request interrupted by user]");
    told["message"]["model"] = "<synthetic>".into();
    let both = [pieces.clone(), said.clone()].concat();
    let alone = vec![stopped()];
    let ways = [
        ("line", [said.clone(), end.clone()].concat()),
        ("line, result alone", [said.clone(), alone.clone()].concat()),
        ("pieces", [pieces.clone(), end.clone()].concat()),
        ("pieces, result alone", [pieces, alone].concat()),
        ("pieces and line", [both, end.clone()].concat()),
        ("marked", [marked, end.clone()].concat()),
        (
            "in the model's place",
            [said, vec![told, stopped()]].concat(),
        ),
    ];
    for (way, rest) in ways {
        check_interrupted(&[(way, rest, &["Step one.", "This is n"], None)]);
    }
    let start = [vec![message_start("m2")], end].concat();
    check_interrupted(&[("start", start, &["Step one."], None)]);
}

#[test]
fn a_message_that_had_its_end_before_the_interruption_is_the_answer() {
    let end = vec![interruption(""), stopped()];
    let in_tool = vec![
        says("m2", "Now."),
        calls("m2", "t2", "Bash", &json!({"command": "z"})),
        interruption(" for tool use"),
        stopped(),
    ];
    check_interrupted(&[
        // Of the next message nothing was printed.
        ("before", end.clone(), &["Step one."], Some("Step one.")),
        ("in a tool", in_tool, &["Step one.", "Now."], Some("Now.")),
        (
            "after",
            [whole("m2", "Done."), end].concat(),
            &["Step one.", "Done."],
            Some("Done."),
        ),
    ]);
}

#[test]
fn a_message_without_a_block_is_a_step() {
    let bare = |id: &str| [vec![message_start(id)], message_end(3).to_vec()].concat();
    let nudge = with(
        user(&json!("No visible output.")),
        &json!({"isSynthetic": true}),
    );
    let end = vec![result("")];
    let summary = after(&whole("m1", "one"), &[bare("m2"), end.clone()].concat());
    assert_eq!(
        (summary.steps, summary.final_text.as_deref()),
        (2, Some(""))
    );
    assert_eq!(summary.texts, ["one"]);
    let nudged = [bare("m1"), vec![nudge.clone()], bare("m2"), end.clone()].concat();
    let summary = after(&[], &nudged);
    assert_eq!(
        (summary.steps, summary.final_text.as_deref()),
        (2, Some(""))
    );
    assert!(summary.texts.is_empty());
    let answered = [
        bare("m1"),
        vec![nudge],
        whole("m2", "two"),
        vec![result("two")],
    ]
    .concat();
    let summary = after(&[], &answered);
    assert_eq!(
        (summary.steps, summary.final_text.as_deref()),
        (2, Some("two"))
    );
    let mut empty = says("m2", "");
    empty["message"]["content"] = json!([]);
    let summary = after(&[says("m1", "one")], &[empty, result("")]);
    assert_eq!((summary.steps, summary.texts.len()), (2, 1));
    // Killed after the start of a message: what came before is not its answer.
    let given = Given {
        stdout: lines(&[vec![init()], whole("m1", "one"), vec![message_start("m2")]].concat()),
        exit: Exit::with_code(143),
        ..Given::default()
    };
    let summary = given.summary();
    assert_eq!((summary.steps, summary.final_text), (2, None));
}
