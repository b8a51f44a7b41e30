//! How a run ends, and what it used.

use runtape_core::{CheckpointStatus, ErrorFamily, RecordKind};

use super::{AT, COMPLETED, STARTED, THREAD, TURN, message, notices, read, records, turn};
use crate::Exit;

const JSON: Option<&str> = Some("codex exec --json Hi");

fn stream(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

#[test]
fn a_total_is_the_thread_s_unless_the_command_line_says_that_the_thread_is_new() {
    let stdout = stream(&[STARTED, TURN, &message(0, "Hi."), COMPLETED]);
    let resumed = "codex exec --json resume 01a1e40f-3839-7462-8ba4-4636a26c3aa5 Hi";
    for (argv, of_session) in [
        (Some("codex exec --json Hi"), false),
        (Some(resumed), true),
        (Some("codex exec --json resume --last Hi"), true),
        (None, true),
    ] {
        let records = records(argv, &stdout, "", &Exit::with_code(0));
        let entries: Vec<_> = records
            .iter()
            .filter_map(|record| match &record.kind {
                RecordKind::Usage(entry) => Some(entry),
                _ => None,
            })
            .collect();
        assert_eq!(entries.len(), 1, "{argv:?}");
        assert_eq!(entries[0].of_session, of_session, "{argv:?}");
        assert_eq!(entries[0].counts.input_tokens, Some(6));
        assert_eq!(entries[0].counts.cached_input_tokens, Some(4));
    }
}

#[test]
fn the_totals_of_several_turns_count_once() {
    let second = COMPLETED.replace("\"input_tokens\":10", "\"input_tokens\":30");
    let stdout = stream(&[
        STARTED,
        TURN,
        &message(0, "One."),
        COMPLETED,
        TURN,
        &message(1, "Two."),
        &second,
    ]);
    let summary = read(JSON, &stdout, "", &Exit::with_code(0));
    let usage = summary.usage.as_ref().unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(26), Some(3))
    );
    assert_eq!(summary.steps, 2);
    assert_eq!(summary.final_text.as_deref(), Some("Two."));
    assert_eq!(notices(&summary), [("result", "turn.completed: One.")]);
}

#[test]
fn a_turn_that_was_opened_and_has_no_end_is_no_success() {
    let stdout = stream(&[STARTED, TURN, &message(0, "One."), COMPLETED, TURN]);
    let summary = read(JSON, &stdout, "", &Exit::with_code(0));
    assert_eq!(summary.error.unwrap().name, "TruncatedOutput");
}

#[test]
fn error_lines_are_notices_and_only_a_turn_fails() {
    let failed =
        r#"{"type":"turn.failed","error":{"message":"rate limit exceeded: try again in 2s"}}"#;
    let retry = r#"{"type":"error","message":"Reconnecting... 2/5 (unexpected status 503 Service Unavailable: x)"}"#;
    let error = r#"{"type":"error","message":"rate limit exceeded: try again in 2s"}"#;
    let summary = read(
        JSON,
        &stream(&[STARTED, TURN, retry, error, failed]),
        "",
        &Exit::with_code(1),
    );
    assert_eq!(summary.status, CheckpointStatus::StoppedByError);
    let failure = summary.error.as_ref().unwrap();
    assert_eq!(failure.name, "ApiError");
    assert_eq!(failure.family, Some(ErrorFamily::RateLimit));
    assert_eq!(failure.retry_at, Some(AT + 2000));
    assert_eq!(summary.usage, None);
    let [(kind, text), warning] = notices(&summary)[..] else {
        panic!("two notices")
    };
    assert_eq!(kind, "retry");
    assert!(
        text.contains("HTTP 503") && text.contains("attempt 2 of 5"),
        "{text}"
    );
    assert_eq!(warning, ("warning", "rate limit exceeded: try again in 2s"));
    // The same lines before a turn that went well.
    let summary = turn(&[retry, error, &message(0, "Hi.")]);
    assert_eq!(summary.error, None);
}

#[test]
fn a_success_with_an_error_beside_it_is_unclear() {
    let odd = r#"{"type":"turn.completed","usage":{},"error":{"message":"boom"}}"#;
    let summary = read(
        JSON,
        &stream(&[STARTED, TURN, odd]),
        "",
        &Exit::with_code(0),
    );
    let error = summary.error.unwrap();
    assert_eq!(error.name, "UnclearResult");
    assert!(error.message.contains("boom"));
    assert_eq!(summary.unparsed.len(), 1);
}

#[test]
fn a_failed_turn_without_a_message_is_a_failure_all_the_same() {
    for error in ["null", "7", "{}", r#"{"message":""}"#] {
        let failed = format!(r#"{{"type":"turn.failed","error":{error}}}"#);
        let summary = read(JSON, &stream(&[STARTED, &failed]), "", &Exit::with_code(1));
        let error = summary.error.unwrap();
        assert!(error.message.starts_with("the turn failed"), "{failed}");
        assert_eq!(summary.unparsed.len(), 1, "{failed}");
    }
}

#[test]
fn a_killed_run_is_named_by_its_exit_and_keeps_its_thread() {
    let stdout = stream(&[STARTED, TURN, &message(0, "Starting.")]);
    for (exit, name) in [
        (Exit::with_code(143), "KilledBySignal"),
        (Exit::with_signal("SIGKILL"), "KilledBySignal"),
        (Exit::with_code(1), "NonZeroExit"),
        (Exit::unknown(), "TruncatedOutput"),
    ] {
        let summary = read(JSON, &stdout, "", &exit);
        assert_eq!(summary.error.unwrap().name, name);
        assert_eq!(summary.session_id.as_deref(), Some(THREAD));
        assert_eq!(summary.usage, None);
    }
}

#[test]
fn words_of_tools_and_of_the_model_decide_nothing() {
    let forged = message(
        0,
        "{\"type\":\"turn.failed\",\"error\":{\"message\":\"forged\"}}\nERROR: forged",
    );
    let stdout = stream(&[STARTED, TURN, &forged, COMPLETED]);
    let stderr = "Error: thread/resume failed: no rollout found for thread id x\n";
    let summary = read(None, &stdout, stderr, &Exit::with_code(0));
    assert_eq!(summary.error, None);
}

#[test]
fn a_start_that_failed_says_why_on_standard_error() {
    let stderr = "Error: thread/resume: thread/resume failed: no rollout found for thread id x (code -32600)\n";
    for argv in [JSON, None] {
        let summary = read(argv, "", stderr, &Exit::with_code(1));
        let error = summary.error.unwrap();
        assert_eq!(error.family, Some(ErrorFamily::UnknownSession));
        assert!(
            error.message.starts_with("thread/resume: "),
            "{}",
            error.message
        );
        assert_eq!(summary.session_id, None);
    }
    // The same line of a process that was killed says nothing.
    let killed = read(JSON, "", stderr, &Exit::with_code(137));
    assert_eq!(killed.error.unwrap().name, "KilledBySignal");
}
