//! Steps, texts, calls, tokens.

use runtape_core::RecordKind;
use serde_json::json;

use super::{AT, JSON, SESSION, event, finish, notices, part, read, records, start, text, tool};
use crate::Exit;

#[test]
fn a_step_has_its_texts_calls_and_tokens() {
    let state = json!({"status": "completed", "input": {"command": "echo 1"}, "output": "1\n",
        "metadata": {"exit": 0}, "time": {"start": 5, "end": 25}});
    let thought = part("reasoning", "m1", &json!({"text": "Hm."}));
    let stdout = [
        start("m1"),
        thought,
        text("m1", "One."),
        tool("m1", "call_1", "bash", &state),
        finish("m1", "tool-calls"),
        start("m2"),
        text("m2", "Two."),
        finish("m2", "stop"),
        finish("m2", "stop"),
    ];
    let records = records(None, &stdout.concat(), "", &Exit::with_code(0));
    let summary = runtape_core::summarize(&records).unwrap();
    assert_eq!(summary.output_format.as_deref(), Some("json"));
    assert_eq!(summary.session_id.as_deref(), Some(SESSION));
    assert_eq!((summary.steps, summary.error), (2, None));
    assert_eq!(summary.texts, ["One.", "Two."]);
    assert_eq!(summary.thinking, ["Hm."]);
    assert_eq!(summary.final_text.as_deref(), Some("Two."));
    // Printed twice, the last step counts once.
    let usage = summary.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_input_tokens),
        (Some(26), Some(48))
    );
    assert_eq!(
        (usage.output_tokens, usage.reasoning_tokens),
        (Some(120), Some(80))
    );
    assert_eq!(summary.cost_usd, Some(0.5));
    let call = &summary.tool_calls[0];
    assert_eq!(
        (call.id.as_str(), call.name.as_str(), call.step),
        ("call_1", "bash", 1)
    );
    assert_eq!(
        (call.is_error, call.output.as_deref()),
        (Some(false), Some("1\n"))
    );
    let messages = records.iter().filter_map(|record| match &record.kind {
        RecordKind::Message(message) => Some(message),
        _ => None,
    });
    let (mut commands, mut durations) = (Vec::new(), Vec::new());
    for message in messages {
        commands.extend(message.calls.iter().map(|note| note.command.as_deref()));
        durations.extend(message.results.iter().map(|note| note.duration_ms));
    }
    assert_eq!(
        (commands, durations),
        (vec![Some("echo 1")], vec![Some(20)])
    );
    assert!(
        records
            .iter()
            .all(|record| record.span.is_none() || record.at == AT)
    );
}

#[test]
fn a_step_without_a_word_is_a_step_and_its_answer_is_empty() {
    let stdout = [
        start("m1"),
        text("m1", "Said."),
        finish("m1", "tool-calls"),
        start("m2"),
        finish("m2", "stop"),
    ];
    let summary = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
    assert_eq!(
        (summary.steps, summary.final_text.as_deref()),
        (2, Some(""))
    );
}

#[test]
fn a_text_of_the_cli_s_own_is_not_the_answer() {
    let own =
        json!({"text": "Continue.", "synthetic": true, "metadata": {"compaction_continue": true}});
    let stdout = [
        start("m1"),
        text("m1", "Summary."),
        finish("m1", "stop"),
        start("m3"),
        text("m3", "Done."),
        part("text", "m2", &own),
        finish("m3", "stop"),
    ];
    let summary = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
    assert_eq!(summary.texts, ["Summary.", "Done.", "Continue."]);
    assert_eq!(summary.final_text.as_deref(), Some("Done."));
    assert_eq!(
        notices(&summary),
        [("compaction", "conversation compacted")]
    );
}

#[test]
fn a_call_of_an_unknown_tool_is_an_error_under_the_name_that_was_asked_for() {
    let input = json!({"tool": "nosuch", "error": "no such tool"});
    let state = json!({"status": "completed", "input": input, "output": "invalid"});
    let stdout = [
        start("m"),
        tool("m", "c", "invalid", &state),
        finish("m", "stop"),
    ];
    let summary = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
    let call = &summary.tool_calls[0];
    assert_eq!((call.name.as_str(), call.is_error), ("nosuch", Some(true)));
    assert_eq!(call.input, input);
}

#[test]
fn a_refused_call_is_a_denial_and_a_sub_agent_a_task() {
    let rejected = "The user rejected permission to use this specific tool call.";
    let refused = json!({"status": "error", "input": {"command": "rm"}, "error": rejected});
    let delegated = json!({"status": "completed", "input": {"prompt": "p"},
        "output": "<task id=\"ses_x\" state=\"completed\">", "metadata": {"sessionId": "ses_x"}});
    let stdout = [
        start("m"),
        tool("m", "c1", "bash", &refused),
        tool("m", "c2", "task", &delegated),
        finish("m", "tool-calls"),
    ];
    let summary = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
    assert_eq!(summary.error, None, "a refusal ends a run with exit code 0");
    let outcomes: Vec<_> = summary
        .tool_calls
        .iter()
        .map(|call| call.is_error)
        .collect();
    assert_eq!(outcomes, [Some(true), Some(false)]);
    let [(kind, text), task] = notices(&summary)[..] else {
        panic!("two notices")
    };
    assert_eq!(
        (kind, text),
        ("permissionDenied", &*format!("bash: {rejected}"))
    );
    assert_eq!(task, ("task", "completed"));
    assert_eq!(summary.runs.len(), 1);
}

#[test]
fn what_is_not_known_is_kept_under_its_name() {
    let odd_state = json!({"status": "paused", "input": {}});
    let table = [
        (event("session", &json!({"x": 1})), Some("session")),
        (event("text", &json!({"part": {"text": 7}})), Some("text")),
        (event("text", &json!({})), Some("text")),
        (tool("m", "c", "bash", &odd_state), Some("tool_use")),
        ("{\"message\":\"x\"}\n".to_owned(), None),
        (
            event("text", &json!({"timestamp": "now", "part": {"text": "x"}})),
            Some("text"),
        ),
        (
            event("text", &json!({"sessionID": "mine", "part": {"text": "x"}})),
            Some("text"),
        ),
    ];
    for (line, tag) in table {
        let stdout = [
            start("m"),
            line.clone(),
            text("m", "Hi."),
            finish("m", "stop"),
        ];
        let summary = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
        let first = summary.unparsed.first().expect(&line);
        assert_eq!(first.r#type.as_deref(), tag, "{line}");
        assert_eq!(first.line, 2, "{line}");
        assert_eq!(summary.error, None, "{line}");
        assert_eq!(summary.session_id.as_deref(), Some(SESSION), "{line}");
    }
}

#[test]
fn keys_that_are_not_known_are_counted() {
    let tokens = json!({"input": 1, "new": 2, "cache": {"read": 0, "write": 0, "hit": 1}});
    let stdout = [
        start("m"),
        event(
            "text",
            &json!({"part": {"text": "x", "tone": 1}, "trace": 1}),
        ),
        part(
            "step_finish",
            "m",
            &json!({"reason": "stop", "tokens": tokens}),
        ),
    ];
    let records = records(JSON, &stdout.concat(), "", &Exit::with_code(0));
    let unknown = records.iter().find_map(|record| match &record.kind {
        RecordKind::Metadata(patch) => patch.set.get("unknownKeys").cloned(),
        _ => None,
    });
    let expected = json!({"text.tone": 1, "text.trace": 1, "tokens.hit": 1, "tokens.new": 1});
    assert_eq!(unknown, Some(expected));
}
