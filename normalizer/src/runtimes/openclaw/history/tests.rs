//! What sessions do that a plain run does not show.

use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary, Runtime};
use serde_json::{Value, json};

use crate::history::{Framing, Session, SessionSource};
use crate::testing::history_runs;

const PARENT: &str = "agent:main:a";
const CHILD: &str = "agent:main:subagent:1";

/// The rows of a window.
struct Rows {
    id: &'static str,
    window: Value,
    events: Vec<Value>,
}

impl Rows {
    fn new(id: &'static str, key: &str, more: &Value) -> Self {
        let mut window = json!({"session_id": id, "session_key": key, "created_at": 1_000_000});
        let fields = window.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let mut rows = Self {
            id,
            window,
            events: Vec::new(),
        };
        rows.event(&json!({"type": "session", "id": id, "cwd": "/ws"}));
        rows
    }

    fn event(&mut self, event: &Value) -> &mut Self {
        let seq = self.events.len();
        let mut event = event.clone();
        let fields = event.as_object_mut().unwrap();
        let time = format!("1970-01-01T00:20:{seq:02}.000Z");
        fields.entry("timestamp").or_insert(time.into());
        self.events.push(
            json!({"session_id": self.id, "seq": seq, "created_at": 1_200_000,
            "event_json": event.to_string()}),
        );
        self
    }

    fn message(&mut self, id: &str, message: &Value) -> &mut Self {
        self.event(&json!({"type": "message", "id": id, "message": message}))
    }

    fn ask(&mut self, id: &str, text: &str) -> &mut Self {
        self.message(id, &json!({"role": "user", "content": text}))
    }

    fn say(&mut self, id: &str, reason: &str, blocks: &Value) -> &mut Self {
        self.message(
            id,
            &json!({"role": "assistant", "content": blocks, "model": "m", "stopReason": reason,
            "usage": {"input": 10, "output": 1, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}}),
        )
    }

    fn source(&self) -> SessionSource {
        let window = std::iter::once(("session_windows", &self.window));
        let events = self.events.iter().map(|row| ("transcript_events", row));
        let lines = window
            .chain(events)
            .map(|(table, row)| format!("{{\"table\":\"{table}\",\"row\":{row}}}\n"));
        SessionSource {
            name: self.id.to_owned(),
            framing: Framing::Database,
            bytes: lines.collect::<String>().into_bytes(),
        }
    }
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn read(sources: &[SessionSource]) -> (Session, Vec<RunSummary>) {
    history_runs(&Runtime::Openclaw, sources)
}

#[test]
fn each_message_of_the_user_s_begins_a_run() {
    let mut rows = Rows::new("w1", PARENT, &json!({}));
    rows.ask("e1", "one")
        .say("e2", "stop", &text("1"))
        .ask("e3", "two")
        .say("e4", "stop", &text("2"));
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.id, PARENT);
    assert_eq!(session.segments.len(), 2);
    let first = &session.segments[0];
    assert_eq!(
        (first.key.as_str(), first.prompt.as_deref()),
        ("e1", Some("one"))
    );
    assert_eq!(first.responses, ["e2"]);
    assert!(first.is_over && session.segments[1].is_resumed);
    for (run, text) in runs.iter().zip(["1", "2"]) {
        assert_eq!(run.final_text.as_deref(), Some(text));
        assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(10));
        assert_eq!(run.cost_usd, Some(0.5));
        assert_eq!(run.cwd.as_deref(), Some("/ws").filter(|_| text == "1"));
        assert!(run.unparsed.is_empty(), "{:?}", run.unparsed);
    }
}

#[test]
fn endings_are_what_the_last_message_says() {
    let error = json!({"role": "assistant", "content": [], "stopReason": "error",
        "errorMessage": "401 Incorrect API key"});
    let abort = json!({"role": "assistant", "content": [{"type": "text", "text": "One."}], "stopReason": "stop",
        "provider": "openclaw", "model": "gateway-injected", "openclawAbort": {"aborted": true}});
    let call = json!({"role": "assistant", "stopReason": "toolUse", "content":
        [{"type": "toolCall", "id": "c1", "name": "exec", "arguments": {"command": "ls"}}]});
    let table = [
        (error, "ApiError", ErrorFamily::Auth, 0, None),
        (abort, "Aborted", ErrorFamily::Other, 1, None),
        // A process that is gone within a call said nothing.
        (call, "", ErrorFamily::Process, 0, None),
    ];
    for (message, name, family, texts, answer) in table {
        let mut rows = Rows::new("w1", PARENT, &json!({}));
        rows.ask("e1", "go").message("e2", &message);
        let (_, runs) = read(&[rows.source()]);
        let run = &runs[0];
        assert_eq!(run.status, CheckpointStatus::StoppedByError);
        let failed = run.error.as_ref().unwrap();
        assert_eq!(failed.family, Some(family), "{name}");
        // How an end without a proof is called is the history's own affair.
        assert!(name.is_empty() || failed.name == name);
        assert_eq!(
            (run.texts.len(), run.final_text.as_deref()),
            (texts, answer),
            "{name}"
        );
    }
}

#[test]
fn what_the_gateway_says_itself_is_a_notice() {
    let mut rows = Rows::new("w1", PARENT, &json!({}));
    rows.ask("e1", "go").say("e2", "stop", &text("done"));
    rows.message(
        "e3",
        &json!({"role": "user", "content": "A sub-agent is done.",
        "provenance": {"kind": "inter_session"}}),
    );
    rows.message(
        "e4",
        &json!({"role": "assistant", "content": "Sent.", "provider": "openclaw",
        "model": "delivery-mirror", "stopReason": "stop"}),
    );
    rows.say("e5", "stop", &text("really done"));
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(runs[0].texts, ["done", "really done"]);
    let told = runs[0]
        .notices
        .iter()
        .filter(|notice| notice.kind == "info");
    assert_eq!(told.count(), 2);
}

#[test]
fn a_sub_agent_is_a_child_of_the_call_that_started_it() {
    let mut parent = Rows::new("w1", PARENT, &json!({}));
    parent.ask("e1", "delegate").say(
        "e2",
        "toolUse",
        &json!([{"type": "toolCall", "id": "c1", "name": "sessions_spawn", "arguments": {"task": "count"}}]),
    );
    parent.message("e3", &json!({"role": "toolResult", "toolCallId": "c1", "toolName": "sessions_spawn",
        "content": [{"type": "text", "text": "{}"}], "isError": false, "details": {"childSessionKey": CHILD}}));
    parent.say("e4", "stop", &text("at work"));
    let mut child = Rows::new("w2", CHILD, &json!({"spawned_by": PARENT}));
    child.ask("f1", "count").say("f2", "stop", &text("three"));
    let (session, runs) = read(&[parent.source(), child.source()]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(session.segments[0].responses, ["e2", "e4", "f2"]);
    let run = &runs[0];
    assert_eq!(run.runs.len(), 2);
    let caller = run.runs[1].parent_tool_call_id.as_ref().unwrap();
    assert_eq!(caller.as_str(), "c1");
    assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(30));
    assert_eq!(run.final_text.as_deref(), Some("at work"));
    assert!(run.unparsed.is_empty(), "{:?}", run.unparsed);
}

#[test]
fn what_a_fork_copied_is_left_out() {
    let fork = json!({"reason": "fork", "created_at": 1_203_500});
    let mut rows = Rows::new("w1", PARENT, &fork);
    rows.ask("e1", "one").say("e2", "stop", &text("1"));
    for _ in 0..3 {
        rows.event(&json!({"type": "custom", "id": "x"}));
    }
    rows.ask("e3", "two").say("e4", "stop", &text("2"));
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(runs[0].texts, ["2"]);
}

#[test]
fn odd_rows_are_told() {
    let mut rows = Rows::new("w1", PARENT, &json!({}));
    rows.ask("e1", "go")
        .event(&json!({"type": "new", "id": "e2"}));
    rows.message("e3", &json!({"role": "new"}));
    rows.say(
        "e4",
        "stop",
        &json!([{"type": "new"}, {"type": "text", "text": "1"}]),
    );
    rows.events
        .push(json!({"session_id": "w1", "seq": 9, "event_zstd": {"hex": "00"}}));
    let (_, runs) = read(&[rows.source()]);
    assert_eq!(runs[0].texts, ["1"]);
    assert_eq!(runs[0].unparsed.len(), 4, "{:?}", runs[0].unparsed);
}
