//! What lines mean.

use runtape_core::{CheckpointStatus, ErrorFamily};
use serde_json::json;

use super::{SESSION, normalize, read, written};

fn notices(run: &runtape_core::RunSummary) -> Vec<&str> {
    run.notices
        .iter()
        .map(|notice| notice.kind.as_str())
        .collect()
}

#[test]
fn the_last_line_of_a_response_has_its_numbers() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let found = written("1.0.128")
        .prompt("Hi.")
        .block("m1", &text("a"), 1, &json!({}))
        .block("m1", &text("b"), 617, &json!({}))
        .read();
    let run = &found.runs[0];
    assert_eq!(
        (run.steps, run.usage.unwrap().output_tokens),
        (1, Some(617))
    );
    assert_eq!(found.session.segments[0].responses, ["m1"]);
}

#[test]
fn lines_that_come_twice_count_once() {
    let lines = written("2.1.325")
        .asked("Hi.")
        .text("m1", "a")
        .text("m2", "a");
    let found = lines.read();
    let mut twice = found.tapes[0].clone();
    twice.extend_from_slice(&found.tapes[0]);
    let (once, twice) = (normalize(&found.tapes[0]), normalize(&twice));
    // The same answer twice, in two responses, is two answers.
    assert_eq!(once.texts, ["a", "a"]);
    assert_eq!(
        (once.texts, once.usage, once.steps),
        (twice.texts, twice.usage, twice.steps)
    );
}

#[test]
fn an_api_error_is_no_answer() {
    let failed = json!({"isApiErrorMessage": true, "error": "rate_limit", "apiErrorStatus": 429,
        "apiErrorType": "rate_limit_error"});
    let attempt = json!({"subtype": "api_error", "error": {"status": 429, "formatted": "429 Slow"},
        "retryInMs": 500.5, "retryAttempt": 1, "maxRetries": 2});
    let found = written("2.1.325")
        .asked("Hi.")
        .chain("system", &attempt)
        .synthetic("API Error: 429", failed)
        .cost(0.0, 0, 0)
        .read();
    let run = &found.runs[0];
    let error = run.error.as_ref().unwrap();
    assert_eq!((run.steps, run.texts.len()), (0, 0));
    assert_eq!(
        (error.name.as_str(), error.status_code),
        ("ApiError", Some(429))
    );
    assert_eq!(error.family, Some(ErrorFamily::RateLimit));
    assert_eq!(notices(run), ["retry", "warning"]);
    assert!(found.session.segments[0].responses.is_empty());
}

#[test]
fn a_compaction_is_a_notice_and_its_summary_no_prompt() {
    let boundary = json!({"subtype": "compact_boundary", "content": "Conversation compacted",
        "parentUuid": null, "logicalParentUuid": "x", "level": "info",
        "compactMetadata": {"trigger": "auto", "preTokens": 9000, "postTokens": 90}});
    let found = written("2.1.325")
        .asked("Hi.")
        .text("m1", "a")
        .chain("system", &boundary)
        .user(
            &"This session is being continued …".into(),
            json!({"isCompactSummary": true}),
        )
        .text("m2", "b")
        .read();
    assert_eq!(found.prompts(), [Some("Hi.")]);
    assert_eq!(found.runs[0].texts, ["a", "b"]);
    assert_eq!(notices(&found.runs[0]), ["compaction", "info"]);
    assert_eq!(found.runs[0].unparsed, []);
}

#[test]
fn a_broken_line_in_the_middle_costs_itself() {
    let lines = written("2.1.325").asked("Hi.").text("m1", "a");
    let mut bytes = lines.bytes();
    bytes.extend_from_slice(b"{\"parentUuid\":\"00000000-0000-00\n");
    let rest = lines.text("m2", "b");
    bytes.extend_from_slice(format!("{}\n", rest.lines.last().unwrap()).as_bytes());
    let found = read(&[(&format!("p/{SESSION}.jsonl"), &bytes)]);
    assert_eq!(found.session.segments[0].unreadable, 1);
    assert_eq!(found.runs[0].texts, ["a", "b"]);
    assert_eq!(found.runs[0].unparsed.len(), 1);
}

#[test]
fn an_answer_that_was_interrupted_is_cut() {
    let block = json!({"type": "text", "text": "Half an"});
    let stopped = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
    let lines = written("2.1.325")
        .asked("Hi.")
        .block("m1", &block, 1, &json!({"isAbortedMidStream": true}))
        .user(&stopped, json!({"interruptedMessageId": "m1"}));
    let run = &lines.read().runs[0];
    assert_eq!(
        (run.texts.as_slice(), &run.final_text),
        (&["Half an".to_owned()][..], &None)
    );
    assert_eq!(run.status, CheckpointStatus::StoppedByError);
    assert_eq!(lines.read().session.segments[0].last_text, None);
    let went_on = lines.prompt("Never mind.").text("m2", "Fine.").read();
    assert_eq!(went_on.runs[0].status, CheckpointStatus::Completed);
    assert_eq!(went_on.prompts(), [Some("Hi.")]);
}

#[test]
fn what_was_typed_while_the_model_worked_is_a_prompt() {
    let queued = json!({"attachment": {"type": "queued_command", "prompt": "And this."}});
    let task = json!({"attachment": {"type": "queued_command",
        "prompt": "<task-notification>\n<task-id>b1</task-id></task-notification>"}});
    let snapshot = json!({"attachment": {"type": "prompt_snapshot", "systemPrompt": ["…"]}});
    let found = written("2.1.325")
        .asked("Hi.")
        .call("m1", "t1", "Bash", &json!({"command": "ls"}))
        .result("t1", "a.txt", json!({}))
        .chain("attachment", &queued)
        .chain("attachment", &task)
        .chain("attachment", &snapshot)
        .text("m2", "Both.")
        .read();
    let users = String::from_utf8(found.tapes[0].clone()).unwrap();
    assert!(users.contains("And this.") && !users.contains("prompt_snapshot"));
    assert_eq!(found.runs[0].steps, 2);
    assert_eq!(found.runs[0].status, CheckpointStatus::Completed);
}

#[test]
fn the_turn_limit_and_a_structured_answer_end_a_run() {
    let call = json!({"name": "Ada"});
    let asked = written("2.1.325")
        .asked("Hi.")
        .call("m1", "t1", "StructuredOutput", &call);
    let answer = json!({"attachment": {"type": "structured_output", "data": {"name": "Ada"}}});
    let limit = json!({"attachment": {"type": "max_turns_reached", "maxTurns": 1}});
    let done = asked
        .clone()
        .chain("attachment", &answer)
        .result("t1", "ok", json!({}))
        .read();
    assert_eq!(
        done.runs[0].final_text.as_deref(),
        Some(r#"{"name":"Ada"}"#)
    );
    assert_eq!(done.runs[0].status, CheckpointStatus::Completed);
    let stopped = asked
        .result("t1", "ok", json!({}))
        .chain("attachment", &limit)
        .read();
    assert_eq!(
        stopped.runs[0].status,
        CheckpointStatus::StoppedByExceededMaxSteps
    );
}

#[test]
fn a_call_that_was_not_allowed_is_a_notice() {
    let found = written("2.1.325")
        .asked("Hi.")
        .call("m1", "t1", "Write", &json!({"file_path": "/x"}))
        .result(
            "t1",
            "not granted",
            json!({"toolDenialKind": "user-rejected"}),
        )
        .text("m2", "No.")
        .read();
    assert_eq!(notices(&found.runs[0]), ["permissionDenied"]);
    assert!(found.runs[0].notices[0].text.contains("Write"));
}

#[test]
fn how_a_run_without_a_mark_at_its_end_ended_is_not_known() {
    let lines = written("2.0.76")
        .queue("dequeue", None)
        .prompt("Hi.")
        .text("m1", "a");
    let tape = lines.read().tapes[0].clone();
    let is_unknown = |tape: &[u8]| {
        let mut context = crate::testing::context(&[]);
        context.source = crate::RunSource::History;
        let runtime = runtape_core::Runtime::ClaudeCode;
        let mut normalizer = crate::Normalizer::new(runtime, context).unwrap();
        let mut records = normalizer
            .push(
                runtape_core::Stream::History,
                crate::Kept::as_given(tape),
                1,
            )
            .records;
        records.extend(normalizer.finish(&crate::Exit::unknown()).records);
        records
            .iter()
            .any(|record| format!("{record:?}").contains("endUnknown"))
    };
    assert!(is_unknown(&tape));
    let ended = written("2.1.325")
        .asked("Hi.")
        .text("m1", "a")
        .cost(0.1, 10, 5)
        .read();
    assert!(!is_unknown(&ended.tapes[0]));
}

#[test]
fn a_title_is_the_sessions_own() {
    let named = |leaf: String| json!({"type": "summary", "summary": "Greeting", "leafUuid": leaf});
    let lines = written("1.0.128").prompt("Hi.").text("m1", "a");
    let own = lines.clone().aside(named(super::id(2))).read();
    assert_eq!(own.session.title.as_deref(), Some("Greeting"));
    let other = lines.aside(named(super::id(77))).read();
    assert_eq!(other.session.title, None);
}

#[test]
fn bookkeeping_is_silent_and_what_is_not_known_is_reported() {
    let blob = json!({"type": "api-request-blob", "hash": "x", "message": {"content": "…"}});
    let odd = json!({"type": "brand-new", "sessionId": SESSION});
    let found = written("2.1.325")
        .asked("Hi.")
        .aside(blob)
        .aside(json!({"type": "last-prompt", "lastPrompt": "Hi.", "leafUuid": "x"}))
        .aside(odd)
        .text("m1", "a")
        .read();
    let tape = String::from_utf8(found.tapes[0].clone()).unwrap();
    assert!(!tape.contains("api-request") && !tape.contains("last-prompt"));
    let unparsed: Vec<_> = found.runs[0]
        .unparsed
        .iter()
        .map(|line| line.r#type.as_deref())
        .collect();
    assert_eq!(unparsed, [Some("brand-new")]);
    assert_eq!(found.session.segments[0].unreadable, 0);
}
