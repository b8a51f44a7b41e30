//! Attempts that a runtime gave up and repeated, and messages that were cut off.

use runtape_core::{JobId, RunId, RunSummary, Runtime, Stream, summarize};
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use serde_json::{Value, json};

const SESSION: &str = "5b0d6c1e-0a5f-4c7e-9f53-2f1f6f9d1a01";

fn summary(runtime: Runtime, lines: &[Value], exit: &Exit) -> RunSummary {
    let context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
    let mut normalizer = Normalizer::new(runtime, context).unwrap();
    let mut records = Vec::new();
    for line in lines {
        let line = format!("{line}\n");
        records.extend(
            normalizer
                .push(Stream::Stdout, Kept::as_given(&line), 1)
                .records,
        );
    }
    records.extend(normalizer.finish(exit).records);
    summarize(&records).unwrap()
}

fn event(mut fields: Value) -> Value {
    fields["session_id"] = SESSION.into();
    fields
}

fn init() -> Value {
    event(
        json!({"type": "system", "subtype": "init", "apiKeySource": "login",
        "cwd": "/home/dev/proj", "model": "Auto", "permissionMode": "default"}),
    )
}

fn assistant(text: &str) -> Value {
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    event(json!({"type": "assistant", "message": message}))
}

fn delta(text: &str) -> Value {
    let mut delta = assistant(text);
    delta["timestamp_ms"] = 5.into();
    delta
}

fn thinking(text: &str) -> Value {
    event(json!({"type": "thinking", "subtype": "delta", "text": text, "timestamp_ms": 5}))
}

fn call(subtype: &str, id: &str) -> Value {
    let tool = json!({"shellToolCall": {"args": {"command": "ls"}, "result": "ok"}});
    event(
        json!({"type": "tool_call", "subtype": subtype, "call_id": id, "tool_call": tool,
        "model_call_id": format!("r-{id}"), "timestamp_ms": 5}),
    )
}

fn retry(is_resume: bool) -> Value {
    event(
        json!({"type": "retry", "subtype": "starting", "attempt": 1, "is_resume": is_resume,
        "timestamp_ms": 5}),
    )
}

fn result(text: &str) -> Value {
    event(
        json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 5,
        "duration_api_ms": 5, "result": text, "request_id": "r-1"}),
    )
}

fn of(lines: &[Value]) -> RunSummary {
    summary(Runtime::Cursor, lines, &Exit::with_code(0))
}

fn retries(summary: &RunSummary) -> Vec<&str> {
    let notices = summary.notices.iter();
    let retries = notices.filter(|notice| notice.kind == "retry");
    retries.map(|notice| notice.text.as_str()).collect()
}

#[test]
fn what_cursor_said_in_an_attempt_that_it_began_anew_is_kept_by_the_notice_alone() {
    let table: [(&str, Vec<Value>, &[&str], &str); 4] = [
        (
            "the first message",
            vec![
                thinking("hm"),
                delta("Half of"),
                retry(false),
                delta("Whole."),
                assistant("Whole."),
            ],
            &["Whole."],
            "Half of",
        ),
        (
            "a message after a call",
            vec![
                assistant("Look."),
                call("started", "a"),
                call("completed", "a"),
                delta("Half of"),
                retry(false),
                delta("Whole."),
                assistant("Whole."),
            ],
            &["Look.", "Whole."],
            "Half of",
        ),
        (
            "a message while a call runs, which waits for its step",
            vec![
                call("started", "a"),
                delta("Half "),
                delta("of"),
                retry(false),
                call("completed", "a"),
                delta("Whole."),
                assistant("Whole."),
            ],
            &["Whole."],
            "Half of",
        ),
        (
            "twice",
            vec![
                delta("One"),
                retry(false),
                delta("Two"),
                retry(false),
                delta("Three"),
            ],
            &["Three"],
            "Two",
        ),
    ];
    for (name, lines, texts, given_up) in table {
        let lines = [vec![init()], lines, vec![result("…")]].concat();
        let summary = of(&lines);
        assert_eq!(summary.texts, texts, "{name}");
        assert_eq!(
            summary.final_text.as_deref(),
            texts.last().copied(),
            "{name}"
        );
        assert!(
            summary.thinking.is_empty(),
            "{name}: {:?}",
            summary.thinking
        );
        let retries = retries(&summary);
        let last = retries.last().unwrap();
        assert!(
            last.contains(&format!(", after: {given_up} (")),
            "{name}: {last}"
        );
        assert!(summary.unparsed.is_empty(), "{name}");
    }
}

#[test]
fn what_cursor_resumes_goes_on_and_nothing_is_taken_back_where_nothing_was_said() {
    let summary = of(&[
        init(),
        delta("Half "),
        retry(true),
        delta("whole."),
        result("…"),
    ]);
    assert_eq!(summary.texts, ["Half whole."]);
    assert_eq!(retries(&summary), ["retrying, resuming (attempt 1)"]);
    let summary = of(&[init(), assistant("Whole."), result("Whole."), retry(false)]);
    assert_eq!(summary.texts, ["Whole."]);
    assert_eq!(retries(&summary), ["retrying, from the start (attempt 1)"]);
    let summary = of(&[init(), retry(false), delta("Whole."), result("Whole.")]);
    assert_eq!((summary.steps, summary.texts.len()), (1, 1));
}

#[test]
fn an_attempt_that_was_given_up_and_never_repeated_is_no_answer() {
    let summary = of(&[init(), delta("Half of"), retry(false)]);
    assert_eq!((summary.final_text.as_deref(), summary.steps), (None, 0));
    assert!(summary.texts.is_empty());
    assert_eq!(summary.error.unwrap().name, "TruncatedOutput");
}

#[test]
fn a_message_that_was_cut_off_is_a_text_and_no_final_one() {
    let kill = Exit::with_signal("SIGTERM");
    let cut = summary(Runtime::Cursor, &[init(), delta("Half of")], &kill);
    assert_eq!(
        (cut.texts, cut.final_text),
        (vec!["Half of".to_owned()], None)
    );
    let time = "2026-11-16T00:14:46.471Z";
    let lines = [
        json!({"type": "init", "timestamp": time, "session_id": SESSION, "model": "m"}),
        json!({"type": "message", "timestamp": time, "role": "assistant", "content": "Half of", "delta": true}),
    ];
    for exit in [kill, Exit::with_code(0)] {
        let cut = summary(Runtime::Gemini, &lines, &exit);
        assert_eq!(
            (cut.texts, cut.final_text),
            (vec!["Half of".to_owned()], None)
        );
    }
}

#[test]
fn a_run_that_ended_within_a_call_has_no_answer_however_it_ended() {
    for exit in [
        Exit::with_code(0),
        Exit::with_code(143),
        Exit::with_signal("SIGKILL"),
    ] {
        let lines = [
            init(),
            assistant("Look."),
            call("started", "a"),
            call("completed", "b"),
        ];
        let summary = summary(Runtime::Cursor, &lines, &exit);
        assert_eq!(summary.final_text, None, "{exit:?}");
        assert_eq!(summary.texts, ["Look."]);
    }
}
