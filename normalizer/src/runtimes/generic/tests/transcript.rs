use runtape_core::{CheckpointStatus, RecordKind};
use serde_json::json;

use super::{entry, error_name, notices, printed, records, result, summary, told};
use crate::Exit;

#[test]
fn entries_are_taken_at_their_word() {
    let lines = [
        entry("init", json!({"model": "m-1", "sessionId": "s-1"})),
        entry("user", json!({"text": "Look."})),
        entry("thinking", json!({"text": "Hm", "delta": true})),
        entry("thinking", json!({"text": "m.", "delta": true})),
        entry("assistant", json!({"text": "I look."})),
        entry(
            "tool_call",
            json!({"name": "shell", "input": {"command": "ls"}, "toolUseId": "c1"}),
        ),
        entry(
            "tool_call",
            json!({"name": "read", "input": {"path": "a"}, "toolUseId": "c2"}),
        ),
        entry(
            "tool_result",
            json!({"toolUseId": "c1", "content": "a", "isError": false}),
        ),
        entry(
            "tool_result",
            json!({"toolUseId": "c2", "content": "no", "isError": true}),
        ),
        entry("assistant", json!({"text": "It is", "delta": true})),
        entry("assistant", json!({"text": " there.", "delta": true})),
        entry("system", json!({"text": "nearly done"})),
        result(
            json!({"text": "It is there.", "inputTokens": 7, "outputTokens": 3, "costUsd": 0.5}),
        ),
    ];
    let told = told(&lines);
    assert_eq!(told.status, CheckpointStatus::Completed);
    assert_eq!(told.output_format.as_deref(), Some("transcript"));
    assert_eq!(told.model.as_deref(), Some("m-1"));
    assert_eq!(told.session_id.as_deref(), Some("s-1"));
    assert_eq!(told.thinking, ["Hmm."]);
    assert_eq!(told.texts, ["I look.", "It is there."]);
    assert_eq!(told.final_text.as_deref(), Some("It is there."));
    assert_eq!((told.steps, told.cost_usd), (2, Some(0.5)));
    let usage = told.usage.as_ref().unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(7), Some(3))
    );
    assert_eq!(
        (usage.cached_input_tokens, usage.reasoning_tokens),
        (Some(0), None)
    );
    let calls: Vec<_> = told.tool_calls.iter().collect();
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2"]);
    assert_eq!(
        [calls[0].is_error, calls[1].is_error],
        [Some(false), Some(true)]
    );
    assert_eq!(calls[1].output.as_deref(), Some("no"));
    assert_eq!(notices(&told, "info"), ["nearly done"]);
    assert!(told.unparsed.is_empty(), "{:?}", told.unparsed);
}

#[test]
fn a_run_is_opened_with_the_model_and_what_was_asked_for() {
    let lines = [
        entry("init", json!({"model": "m", "sessionId": "s1"})),
        entry("user", json!({"text": "Look."})),
        result(json!({"text": "x"})),
    ];
    let records = records(&printed(&lines), "", &Exit::with_code(0));
    let opened = records.iter().find_map(|record| match &record.kind {
        RecordKind::Initialize(initialize) => Some(initialize),
        _ => None,
    });
    let opened = opened.unwrap();
    assert_eq!(opened.model.as_deref(), Some("m"));
    assert_eq!(opened.query.as_deref(), Some("Look."));
}

#[test]
fn the_times_of_the_lines_are_used() {
    let lines = [
        entry("assistant", json!({"text": "Hi."})),
        result(json!({})),
    ];
    let records = records(&printed(&lines), "", &Exit::with_code(0));
    let said = records
        .iter()
        .find(|record| matches!(record.kind, RecordKind::Message(_)));
    assert_eq!(said.unwrap().at, 1_767_225_601_000);
    let mut odd = entry("assistant", json!({"text": "Hi."}));
    odd["ts"] = json!("noon");
    let told = told(&[odd, result(json!({}))]);
    assert_eq!(told.texts, ["Hi."]);
    assert_eq!(told.unparsed[0].reason, "timestamp: noon is no time");
}

#[test]
fn calls_and_results_without_each_other_are_kept() {
    let call = |id: &str| {
        entry(
            "tool_call",
            json!({"name": "t", "input": null, "toolUseId": id}),
        )
    };
    let answer = |id: &str| {
        entry(
            "tool_result",
            json!({"toolUseId": id, "toolName": "t", "content": "x", "isError": false}),
        )
    };
    let told = told(&[
        call("a"),
        answer("b"),
        call(""),
        answer(""),
        result(json!({})),
    ]);
    let answered: Vec<_> = told
        .tool_calls
        .iter()
        .map(|call| call.output.is_some())
        .collect();
    assert_eq!(told.tool_calls.len(), 3);
    assert_eq!(answered, [false, true, true]);
}

#[test]
fn calls_made_one_after_another_are_steps() {
    let call = |id: &str| {
        entry(
            "tool_call",
            json!({"name": "t", "input": {}, "toolUseId": id}),
        )
    };
    let answer = |id: &str| {
        entry(
            "tool_result",
            json!({"toolUseId": id, "content": "", "isError": false}),
        )
    };
    let one_by_one = told(&[
        call("a"),
        answer("a"),
        call("b"),
        answer("b"),
        result(json!({})),
    ]);
    assert_eq!(one_by_one.steps, 2);
    let together = told(&[
        call("a"),
        call("b"),
        answer("b"),
        call("c"),
        answer("a"),
        result(json!({})),
    ]);
    assert_eq!(together.steps, 1);
}

#[test]
fn a_line_that_does_not_fit_is_reported_with_its_field() {
    let misfits = [
        (json!({"kind": "user", "text": "x"}), "missing field `ts`"),
        (entry("assistant", json!({"text": 5})), "text: invalid type"),
        (
            entry("assistant", json!({"text": "x", "delta": null})),
            "delta: null",
        ),
        (
            entry("hologram", json!({"text": "x"})),
            "unknown kind \"hologram\"",
        ),
        (json!({"level": "info"}), "neither a `kind` nor a `type`"),
    ];
    for (line, reason) in misfits {
        let lines = [
            entry("system", json!({"text": "up"})),
            line,
            result(json!({"text": "Done."})),
        ];
        let told = told(&lines);
        assert_eq!(told.status, CheckpointStatus::Completed, "{reason}");
        assert_eq!(told.unparsed.len(), 1, "{reason}");
        assert!(
            told.unparsed[0].reason.contains(reason),
            "{:?}",
            told.unparsed
        );
        assert_eq!(told.texts, ["Done."]);
    }
}

#[test]
fn only_the_documented_words_are_a_success() {
    for subtype in ["completed", "success"] {
        let told = told(&[result(json!({"text": "x", "subtype": subtype}))]);
        assert_eq!(told.status, CheckpointStatus::Completed);
    }
    let table = [
        (result(json!({"subtype": ""})), "UnclearResult"),
        (result(json!({"subtype": "cancelled"})), "UnclearResult"),
        (result(json!({"errors": ["x"]})), "UnclearResult"),
        (result(json!({"isError": "false"})), "UnclearResult"),
        (
            result(json!({"isError": true, "errors": ["no"]})),
            "AgentError",
        ),
        (
            result(json!({"isError": true, "subtype": "rate_limit"})),
            "rate_limit",
        ),
        (
            json!({"kind": "result", "isError": false, "subtype": "success"}),
            "UnclearResult",
        ),
    ];
    for (line, name) in table {
        let told = told(&[entry("assistant", json!({"text": "x"})), line.clone()]);
        assert_eq!(error_name(&told), Some(name), "{line}");
    }
    let limit = told(&[result(
        json!({"isError": true, "subtype": "error_max_turns"}),
    )]);
    assert_eq!(limit.status, CheckpointStatus::StoppedByExceededMaxSteps);
    let said = told(&[result(json!({"isError": true, "errors": ["no", "never"]}))]);
    assert_eq!(said.error.unwrap().message, "no\nnever");
}

#[test]
fn without_a_result_a_run_did_not_end() {
    let said = printed(&[entry("assistant", json!({"text": "x"}))]);
    for (exit, name) in [
        (Exit::with_code(0), "TruncatedOutput"),
        (Exit::unknown(), "TruncatedOutput"),
        (Exit::with_code(2), "NonZeroExit"),
        (Exit::with_signal("SIGKILL"), "KilledBySignal"),
    ] {
        assert_eq!(error_name(&summary(&said, &exit)), Some(name));
    }
    let ended = printed(&[result(json!({"text": "x"}))]);
    let contradicted = summary(&ended, &Exit::with_code(2));
    assert_eq!(contradicted.status, CheckpointStatus::Completed);
    assert_eq!(notices(&contradicted, "exitMismatch").len(), 1);
    for more in [said.as_str(), r#"{"kind":"assistant","te"#] {
        let reopened = summary(&format!("{ended}{more}"), &Exit::with_code(0));
        assert_eq!(error_name(&reopened), Some("TruncatedOutput"), "{more}");
    }
}

#[test]
fn zeros_are_counts_only_beside_others() {
    let told_zero = told(&[result(json!({"text": "x"}))]);
    assert_eq!((told_zero.usage, told_zero.cost_usd), (None, None));
    let twice = told(&[
        result(json!({"text": "x", "inputTokens": 5})),
        result(json!({"text": "y", "inputTokens": 9})),
    ]);
    assert_eq!(twice.usage.unwrap().input_tokens, Some(9));
    assert_eq!(twice.final_text.as_deref(), Some("y"));
}

#[test]
fn values_behind_a_banner_and_behind_each_other_are_read() {
    let init = entry("init", json!({"model": "m", "sessionId": "s1"}));
    let said = entry("assistant", json!({"text": "x"}));
    let stdout = format!("loading...{init}\n{said}{}\n", result(json!({"text": "x"})));
    let told = summary(&stdout, &Exit::with_code(0));
    assert_eq!(told.status, CheckpointStatus::Completed);
    assert_eq!(told.session_id.as_deref(), Some("s1"));
    assert_eq!(notices(&told, "stdout"), ["loading..."]);
}

#[test]
fn a_session_that_is_prose_is_none() {
    let told = told(&[
        entry("init", json!({"model": "", "sessionId": "the latest one"})),
        result(json!({"text": "x"})),
    ]);
    assert_eq!(told.session_id, None);
    assert!(
        told.unparsed[0].reason.contains("sessionId"),
        "{:?}",
        told.unparsed
    );
}
