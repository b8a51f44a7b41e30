//! Frames against what they mean.

use runtape_core::{CheckpointStatus, ErrorFamily, JobId, RunId, RunSummary, Stream, summarize};

use super::is_session_id;
use crate::{Context, Exit, Normalizer};
use runtape_core::Runtime;

const SESSION: &str = "agent:main:main";

fn run(lines: &[&str]) -> RunSummary {
    let context = Context::new(JobId::parse("j").unwrap(), RunId::parse("r").unwrap());
    let mut normalizer = Normalizer::new(Runtime::Openclaw, context).unwrap();
    let text = lines.join("\n") + "\n";
    let mut records = normalizer.push(Stream::Stdout, text.as_bytes(), 1).records;
    records.extend(normalizer.finish(&Exit::with_code(0)).records);
    summarize(&records).unwrap()
}

fn chat(state: &str, rest: &str) -> String {
    chat_of("run-1", SESSION, state, rest)
}

fn chat_of(run: &str, session: &str, state: &str, rest: &str) -> String {
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!(",{rest}")
    };
    format!(
        r#"{{"type":"event","event":"chat","payload":{{"runId":"{run}","sessionKey":"{session}","seq":1,"state":"{state}"{rest}}}}}"#
    )
}

fn says(text: &str) -> String {
    format!(r#""message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#)
}

fn agent(stream: &str, data: &str) -> String {
    format!(
        r#"{{"type":"event","event":"agent","payload":{{"runId":"run-1","sessionKey":"{SESSION}","seq":1,"stream":"{stream}","ts":1700000000000,"data":{data}}}}}"#
    )
}

fn of(lines: &[String]) -> RunSummary {
    run(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn an_answer_is_told_once_however_often_it_is_restated() {
    let summary = of(&[
        agent("lifecycle", r#"{"phase":"start"}"#),
        agent("assistant", r#"{"text":"Hel","delta":"Hel"}"#),
        chat("delta", &says("Hel")),
        agent("assistant", r#"{"text":"Hello","delta":"lo"}"#),
        chat("delta", &says("Hello")),
        agent("lifecycle", r#"{"phase":"end"}"#),
        chat("final", &says("Hello")),
        chat("final", &says("Hello")),
    ]);
    assert_eq!(summary.texts, ["Hello"]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.session_id.as_deref(), Some(SESSION));
    assert_eq!(summary.output_format.as_deref(), Some("frames"));
    assert!(summary.notices.is_empty(), "{:?}", summary.notices);
}

#[test]
fn pieces_are_joined_and_the_last_frame_adds_what_was_dropped() {
    let lines = [
        chat("delta", &says("Hel")),
        chat("delta", &says("lo")),
        chat("final", &says("Hello")),
    ];
    assert_eq!(of(&lines).texts, ["Hello"]);
    let lines = [
        chat("delta", &says("Hel")),
        chat("final", &says("Hello there")),
    ];
    assert_eq!(of(&lines).texts, ["Hello there"]);
    let lines = [chat("final", &says("Only here"))];
    assert_eq!(of(&lines).texts, ["Only here"]);
    let lines = [
        chat("delta", r#""deltaText":"a""#),
        chat("delta", r#""deltaText":"a""#),
        chat("final", ""),
    ];
    assert_eq!(of(&lines).texts, ["aa"]);
}

#[test]
fn a_final_text_that_differs_is_the_answer() {
    let summary = of(&[chat("delta", &says("Draft")), chat("final", &says("Other"))]);
    assert_eq!(summary.texts, ["Draft"]);
    assert_eq!(summary.final_text.as_deref(), Some("Other"));
}

#[test]
fn reasoning_is_a_stream_by_name_or_in_the_message() {
    let summary = of(&[
        agent("thinking", r#"{"text":"Hm","delta":"Hm"}"#),
        agent("thinking", r#"{"text":"Hm, so","delta":", so"}"#),
        agent("assistant", r#"{"text":"Yes","delta":"Yes"}"#),
        chat("final", &says("Yes")),
    ]);
    assert_eq!(summary.thinking, ["Hm, so"]);
    assert_eq!(summary.steps, 1);
    let block = r#""message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm "},{"type":"text","text":"Yes"}]}"#;
    let summary = of(&[chat("delta", block), chat("final", block)]);
    assert_eq!(
        (summary.thinking, summary.texts),
        (vec!["Hm ".into()], vec!["Yes".into()])
    );
    let tags = says("<think>Hm</think>Yes");
    let half = says("<think>H");
    let summary = of(&[
        chat("delta", &half),
        chat("delta", &tags),
        chat("final", &tags),
    ]);
    assert_eq!(
        (summary.thinking, summary.texts),
        (vec!["Hm".into()], vec!["Yes".into()])
    );
}

#[test]
fn calls_have_their_results_and_steps() {
    let summary = of(&[
        agent("assistant", r#"{"text":"Look.","delta":"Look."}"#),
        agent(
            "tool",
            r#"{"phase":"start","name":"exec","toolCallId":"c1","args":{"command":"ls"}}"#,
        ),
        agent(
            "tool",
            r#"{"phase":"start","name":"read","toolCallId":"c2","args":{"path":"a"}}"#,
        ),
        agent(
            "tool",
            r#"{"phase":"update","name":"exec","toolCallId":"c1","partialResult":"x"}"#,
        ),
        agent(
            "tool",
            r#"{"phase":"result","name":"exec","toolCallId":"c1","isError":false,"result":{"content":[{"type":"text","text":"a\n"}],"details":{"exitCode":0}}}"#,
        ),
        agent(
            "tool",
            r#"{"phase":"result","name":"read","toolCallId":"c2","isError":true,"result":"ENOENT"}"#,
        ),
        agent("assistant", r#"{"text":"Done.","delta":"Done."}"#),
        chat("final", &says("Look.Done.")),
    ]);
    assert_eq!(summary.texts, ["Look.", "Done."]);
    assert_eq!(summary.final_text.as_deref(), Some("Done."));
    assert_eq!(summary.steps, 2);
    let calls: Vec<_> = summary
        .tool_calls
        .iter()
        .map(|call| {
            (
                call.id.as_str(),
                call.output.as_deref(),
                call.is_error,
                call.step,
            )
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("c1", Some("a\n"), Some(false), 1),
            ("c2", Some("ENOENT"), Some(true), 1)
        ]
    );
}

#[test]
fn calls_inside_messages_count_once() {
    let message = r#""message":{"role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"toolCall","name":"read","arguments":{"path":"a"}}]}"#;
    let result = r#""message":{"role":"toolResult","toolName":"read","content":[{"type":"text","text":"data"}]}"#;
    let summary = of(&[
        chat("delta", message),
        chat("delta", message),
        chat("delta", result),
        chat("final", message),
    ]);
    assert_eq!(summary.tool_calls.len(), 1);
    assert_eq!(summary.tool_calls[0].output.as_deref(), Some("data"));
    assert_eq!(summary.texts, ["Hi"]);
}

#[test]
fn a_run_ends_as_the_gateway_says() {
    let failed = of(&[
        agent(
            "lifecycle",
            r#"{"phase":"error","error":" ","message":"boom"}"#,
        ),
        chat(
            "error",
            r#""errorMessage":"slow down","errorKind":"rate_limit""#,
        ),
    ]);
    let error = failed.error.unwrap();
    assert_eq!(
        (error.message.as_str(), error.family),
        ("slow down", Some(ErrorFamily::RateLimit))
    );
    assert!(error.is_retryable);
    assert!(
        failed
            .notices
            .iter()
            .all(|notice| notice.kind == "exitMismatch")
    );

    let aborted = of(&[
        chat("delta", &says("Half")),
        chat("aborted", r#""stopReason":"rpc""#),
    ]);
    let error = aborted.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.message.as_str()),
        ("Aborted", "the run was aborted: rpc")
    );
    assert_eq!(aborted.texts, ["Half"]);
    assert_eq!(aborted.final_text.as_deref(), Some("Half"));

    let cut = of(&[chat("delta", &says("Half"))]);
    assert_eq!(cut.error.unwrap().name, "TruncatedOutput");
}

#[test]
fn prose_about_limits_changes_nothing() {
    let summary = of(&[
        agent(
            "tool",
            r#"{"phase":"start","name":"exec","toolCallId":"c","args":{}}"#,
        ),
        agent(
            "tool",
            r#"{"phase":"result","name":"exec","toolCallId":"c","isError":true,"result":"429 rate limit: session not found"}"#,
        ),
        chat("final", &says("HTTP 401: session not found, not logged in")),
    ]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert!(summary.error.is_none());
}

#[test]
fn a_run_that_is_tried_again_is_not_over() {
    let summary = of(&[
        agent("lifecycle", r#"{"phase":"start"}"#),
        agent(
            "lifecycle",
            r#"{"phase":"error","error":"HTTP 529 overloaded"}"#,
        ),
        agent("lifecycle", r#"{"phase":"start"}"#),
        agent("assistant", r#"{"text":"Ok","delta":"Ok"}"#),
        chat("final", &says("Ok")),
    ]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.notices.len(), 1);
    assert_eq!(summary.notices[0].kind, "result");
}

#[test]
fn the_last_of_several_runs_decides_and_other_sessions_do_not_count() {
    let summary = of(&[
        chat("final", &says("One")),
        chat_of("run-x", "agent:other:main", "final", &says("Foreign")),
        chat_of("run-2", SESSION, "delta", &says("Two")),
        chat_of("run-2", SESSION, "error", r#""errorMessage":"boom""#),
        chat("final", &says("One")),
    ]);
    assert_eq!(summary.texts, ["One", "Two"]);
    assert_eq!(summary.error.unwrap().message, "boom");
    let kinds: Vec<_> = summary
        .notices
        .iter()
        .map(|notice| notice.kind.as_str())
        .collect();
    assert_eq!(kinds, ["info", "result", "exitMismatch"]);
}

#[test]
fn every_run_of_a_session_is_paid_for() {
    let usage = r#""usage":{"input":10,"output":2,"cacheRead":4,"cost":{"total":0.5}}"#;
    let summary = of(&[
        chat("final", usage),
        chat("final", usage),
        chat_of("run-2", SESSION, "final", usage),
    ]);
    let used = summary.usage.unwrap();
    assert_eq!((used.input_tokens, used.output_tokens), (Some(20), Some(4)));
    assert_eq!(used.cached_input_tokens, Some(8));
    assert_eq!(summary.cost_usd, Some(1.0));
}

#[test]
fn a_sub_agent_has_a_run_of_its_own() {
    let child = "agent:main:subagent:7c1";
    let summary = of(&[
        agent(
            "tool",
            r#"{"phase":"start","name":"sessions_spawn","toolCallId":"c","args":{"task":"look"}}"#,
        ),
        agent(
            "tool",
            r#"{"phase":"result","name":"sessions_spawn","toolCallId":"c","isError":false,"result":{"content":[{"type":"text","text":"accepted"}],"details":{"status":"accepted","childSessionKey":"agent:main:subagent:7c1"}}}"#,
        ),
        chat_of("run-c", child, "delta", &says("Child")),
        chat_of("run-c", child, "final", &says("Child")),
        chat("final", &says("Parent")),
    ]);
    assert_eq!(summary.runs.len(), 2);
    assert_eq!(summary.texts, ["Child", "Parent"]);
    assert_eq!(summary.final_text.as_deref(), Some("Parent"));
    assert_eq!(summary.session_id.as_deref(), Some(SESSION));
}

#[test]
fn requests_and_answers_are_read() {
    let summary = run(&[
        r#"{"type":"event","event":"connect.challenge","payload":{"nonce":"x"}}"#,
        r#"{"type":"res","id":"1","ok":true,"payload":{"type":"hello-ok","server":{"version":"2026.4.1"}}}"#,
        r#"{"type":"req","id":"2","method":"chat.send","params":{"sessionKey":"main","message":"Hi"}}"#,
        r#"{"type":"res","id":"2","ok":false,"error":{"code":"UNAVAILABLE","message":"starting","retryable":true,"retryAfterMs":500}}"#,
    ]);
    assert_eq!(summary.cli_version.as_deref(), Some("2026.4.1"));
    let error = summary.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.retry_at),
        ("UNAVAILABLE", Some(501))
    );
}

#[test]
fn rows_of_the_history_tell_what_no_stream_told() {
    let row = |message: &str| {
        format!(
            r#"{{"type":"event","event":"session.message","payload":{{"sessionKey":"{SESSION}","message":{message}}}}}"#
        )
    };
    let first = row(
        r#"{"role":"assistant","content":[{"type":"text","text":"One"},{"type":"toolCall","id":"c","name":"read","arguments":{}}]}"#,
    );
    let summary = of(&[
        row(r#"{"role":"user","content":"Hi"}"#),
        first.clone(),
        row(
            r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"x"}],"isError":false}"#,
        ),
        row(r#"{"role":"assistant","content":[{"type":"text","text":"Two"}]}"#),
        chat("final", &says("Two")),
    ]);
    assert_eq!(summary.texts, ["One", "Two"]);
    assert_eq!(summary.tool_calls.len(), 1);
    assert_eq!(summary.steps, 2);
    // What a stream has told, the history does not tell again.
    let summary = of(&[
        chat("delta", &says("One")),
        first,
        chat("final", &says("One")),
    ]);
    assert_eq!(summary.texts, ["One"]);
}

#[test]
fn what_is_not_understood_is_kept() {
    let summary = run(&[
        r#"{"type":"event","event":"new.event","payload":{}}"#,
        r#"{"type":"event","event":"chat","payload":{"state":"delta"}}"#,
        r#"{"type":"event","event":"chat","payload":{"runId":"r","sessionKey":"a:b","state":"maybe"}}"#,
        r#"{"type":"event","event":"agent","payload":{"runId":"r","stream":"new","data":{}}}"#,
        r#"{"type":"event","event":"agent","payload":{"runId":5}}"#,
        r#"{"type":"event","event":"cha"#,
        "a banner",
    ]);
    assert_eq!(summary.unparsed.len(), 7, "{:?}", summary.unparsed);
    assert_eq!(summary.notices[0].text, "a banner");
}

#[test]
fn twenty_thousand_frames_take_linear_time() {
    let mut lines = Vec::new();
    for _ in 0..20_000 {
        lines.push(chat("delta", &says("<think>a")));
    }
    let started = std::time::Instant::now();
    of(&lines);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn prose_is_no_session() {
    for key in [
        SESSION,
        "agent:main:telegram:dm:+4912",
        "agent:a:whatsapp:group:1@g.us",
    ] {
        assert!(is_session_id(key), "{key}");
    }
    for text in [
        "",
        "main",
        "from a previous run",
        "session: from",
        "a:",
        ":a",
        "--x:y",
        "a::b",
    ] {
        assert!(!is_session_id(text), "{text}");
    }
}
