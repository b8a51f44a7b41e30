//! What sessions do that a plain run does not show.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]

use runtape_core::{CheckpointStatus, RunSummary, Runtime};
use serde_json::{Value, json};

use super::HISTORY;
use crate::history::{Framing, Session, SessionSource, read_session, segment_bytes};
use crate::testing::{history_runs, history_summary};

const ROOT: &str = "20261116_115010_80104d";
const CHILD: &str = "20261116_115020_a849e8";

struct Rows {
    session: &'static str,
    lines: Vec<Value>,
}

impl Rows {
    fn new(session: &'static str, row: Value) -> Self {
        let mut all = json!({"id": session, "source": "cli", "model": "m", "started_at": 100.0,
            "input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 5, "cache_write_tokens": 1,
            "reasoning_tokens": 0, "cwd": "/ws"});
        let fields = all.as_object_mut().unwrap();
        fields.extend(row.as_object().unwrap().clone());
        Self {
            session,
            lines: vec![json!({"table": "sessions", "row": all})],
        }
    }

    fn row(&mut self, id: i64, role: &str, content: &str, more: Value) -> &mut Self {
        let mut row = json!({"id": id, "session_id": self.session, "role": role, "content": content,
            "timestamp": 100 + id});
        let fields = row.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.lines.push(json!({"table": "messages", "row": row}));
        self
    }

    fn ask(&mut self, id: i64, text: &str) -> &mut Self {
        self.row(id, "user", text, json!({}))
    }

    fn say(&mut self, id: i64, text: &str) -> &mut Self {
        self.row(id, "assistant", text, json!({"finish_reason": "stop"}))
    }

    fn call(&mut self, id: i64, call: &str, name: &str, arguments: &Value) -> &mut Self {
        let calls = json!([{"id": call, "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()}}]);
        let calls = calls.to_string();
        self.row(
            id,
            "assistant",
            "",
            json!({"finish_reason": "tool_calls", "tool_calls": calls}),
        )
    }

    fn result(&mut self, id: i64, call: &str, text: &str) -> &mut Self {
        self.row(
            id,
            "tool",
            text,
            json!({"tool_call_id": call, "tool_name": "terminal"}),
        )
    }

    fn source(&self) -> SessionSource {
        let lines = self.lines.iter().map(|line| {
            // As the rows of a database are written.
            let (table, row) = (&line["table"], &line["row"]);
            format!("{{\"table\":{table},\"row\":{row}}}\n")
        });
        SessionSource {
            name: self.session.to_owned(),
            framing: Framing::Database,
            bytes: lines.collect::<String>().into_bytes(),
        }
    }
}

fn summary(tape: &[u8]) -> RunSummary {
    history_summary(Runtime::Hermes, tape)
}

fn read(sources: &[SessionSource]) -> (Session, Vec<RunSummary>) {
    history_runs(&Runtime::Hermes, sources)
}

#[test]
fn each_row_of_the_user_s_begins_a_run_and_the_last_has_the_session_s_total() {
    let mut rows = Rows::new(ROOT, json!({"title": "T"}));
    rows.ask(1, "one").say(2, "1").ask(3, "two").say(4, "2");
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(
        (session.id.as_str(), session.title.as_deref()),
        (ROOT, Some("T"))
    );
    assert_eq!(session.segments.len(), 2);
    assert!(session.segments[0].is_over && !session.segments[1].is_over);
    assert!(!session.segments[0].is_resumed && session.segments[1].is_resumed);
    assert_eq!(session.segments[1].prompt.as_deref(), Some("two"));
    assert!(runs[0].usage.is_none());
    assert_eq!(runs[1].usage.as_ref().unwrap().input_tokens, Some(11));
    assert_eq!(runs[1].texts, ["2"]);
    // Alone, the run is the session.
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask(1, "one").say(2, "1");
    let (_, runs) = read(&[rows.source()]);
    let usage = runs[0].usage.as_ref().unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_input_tokens),
        (Some(11), Some(5))
    );
}

#[test]
fn what_was_read_before_a_session_was_resumed_stays_known() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask(1, "one").say(2, "1");
    let early = [rows.source()];
    let before = read_session(&HISTORY, &early);
    let mut tape = segment_bytes(&before.segments[0], &early);
    rows.lines[0]["row"]["input_tokens"] = 100.into();
    rows.ask(3, "two").say(4, "2");
    let late = [rows.source()];
    let after = read_session(&HISTORY, &late);
    assert_eq!(before.segments[0].key, after.segments[0].key);
    tape.extend(segment_bytes(&after.segments[0], &late));
    let run = summary(&tape);
    assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(11));
    assert_eq!((run.texts.len(), run.steps), (1, 1));
}

#[test]
fn prompts_over_acp_are_one_run() {
    let mut rows = Rows::new(
        ROOT,
        json!({"source": "acp", "model_config": "{\"cwd\":\"/acp\"}", "cwd": null}),
    );
    rows.ask(1, "one").say(2, "1").ask(3, "two").say(4, "2");
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(runs[0].texts, ["1", "2"]);
    assert_eq!(runs[0].cwd.as_deref(), Some("/acp"));
}

#[test]
fn what_the_cli_asks_in_the_user_s_place_begins_no_run() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask(1, "[brackets] are mine").say(2, "1");
    rows.ask(3, "[ASYNC DELEGATION COMPLETE] deleg_1")
        .say(4, "2");
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(
        session.segments[0].prompt.as_deref(),
        Some("[brackets] are mine")
    );
    assert_eq!(runs[0].texts, ["1", "2"]);
}

#[test]
fn failures_are_inside_results_and_an_end_without_an_answer_is_one() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask(1, "go");
    let table = [
        (r#"{"output":"","exit_code":7,"error":null}"#, Some(true)),
        (r#"{"output":"","exit_code":0,"error":null}"#, Some(false)),
        (r#"{"success":false,"error":"no"}"#, Some(true)),
        (r#"{"content":"","error":"missing"}"#, Some(true)),
        (
            r#"{"exit_code":-1,"error":"BLOCKED: User denied this command."}"#,
            Some(true),
        ),
        ("Tool 'x' does not exist.", Some(true)),
        ("plain words", None),
    ];
    for (at, (text, _)) in table.iter().enumerate() {
        let id = 10 * (i64::try_from(at).unwrap() + 1);
        let call = format!("call_{at}");
        rows.call(id, &call, "terminal", &json!({"command": "ls"}));
        rows.result(id + 1, &call, text);
    }
    let (_, runs) = read(&[rows.source()]);
    let errors: Vec<Option<bool>> = runs[0]
        .tool_calls
        .iter()
        .map(|call| call.is_error)
        .collect();
    assert_eq!(errors, table.map(|(_, is_error)| is_error));
    assert_eq!(runs[0].status, CheckpointStatus::StoppedByError);
    assert_eq!(runs[0].error.as_ref().unwrap().name, "Unfinished");
    let denials = runs[0]
        .notices
        .iter()
        .filter(|notice| notice.kind == "permissionDenied");
    assert_eq!(denials.count(), 1);
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask(1, "go")
        .row(2, "assistant", "Operation interrupted.", json!({}));
    let (_, runs) = read(&[rows.source()]);
    assert_eq!(runs[0].status, CheckpointStatus::StoppedByError);
    assert!(runs[0].texts.is_empty());
}

#[test]
fn sub_agents_are_tied_to_their_calls_by_their_goals() {
    let mut root = Rows::new(ROOT, json!({}));
    root.ask(1, "delegate").call(
        2,
        "call_1",
        "delegate_task",
        &json!({"tasks": [{"goal": "a"}, {"goal": "b"}]}),
    );
    root.result(3, "call_1", "{\"status\":\"dispatched\"}")
        .say(9, "done")
        .ask(20, "more")
        .say(21, "ok");
    let child = |id: &'static str, goal: &str, at: i64| {
        let row = json!({"parent_session_id": ROOT, "started_at": 104.0, "ended_at": 105.0,
            "model_config": format!("{{\"_delegate_from\":\"{ROOT}\"}}")});
        let mut rows = Rows::new(id, row);
        // The same id as the parent's call.
        rows.ask(at, goal)
            .call(at + 1, "call_1", "terminal", &json!({"command": "ls"}));
        rows.result(at + 2, "call_1", "{\"exit_code\":0}")
            .say(at + 3, "found");
        rows.source()
    };
    let other = "20261116_115021_a849e9";
    // However they are sorted, the root is the one that nobody started.
    let sources = [child(CHILD, "b", 30), root.source(), child(other, "a", 40)];
    let (session, runs) = read(&sources);
    assert_eq!(session.id, ROOT);
    assert_eq!(session.segments.len(), 2);
    assert_eq!(session.segments[0].responses.len(), 2);
    let run = &runs[0];
    assert_eq!(run.runs.len(), 3);
    for child in &run.runs[1..] {
        assert_eq!(
            child.parent_tool_call_id.as_ref().unwrap().as_str(),
            "call_1"
        );
    }
    assert_eq!(run.tool_calls.len(), 3);
    assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(22));
    assert_eq!(runs[1].runs.len(), 1);
}

#[test]
fn a_session_after_a_compaction_goes_on_and_repeats_nothing() {
    let mut old = Rows::new(ROOT, json!({}));
    old.ask(1, "one").say(2, "1").ask(3, "two").say(4, "2");
    let mut new = Rows::new(
        CHILD,
        json!({"parent_session_id": ROOT, "started_at": 110.0}),
    );
    new.ask(11, "[CONTEXT COMPACTION] so far")
        .ask(12, "two")
        .say(13, "2")
        .ask(14, "three")
        .say(15, "3");
    let (session, runs) = read(&[old.source(), new.source()]);
    let prompts: Vec<Option<&str>> = session
        .segments
        .iter()
        .map(|run| run.prompt.as_deref())
        .collect();
    assert_eq!(prompts, [Some("one"), Some("two"), Some("three")]);
    assert_eq!(runs[2].texts, ["3"]);
    assert!(
        runs[2]
            .notices
            .iter()
            .any(|notice| notice.kind == "compaction")
    );
}

#[test]
fn rows_that_come_twice_say_nothing_twice_and_odd_ones_are_told() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask(1, "one").say(2, "1");
    let source = rows.source();
    let doubled = [source.clone(), source.clone()];
    assert_eq!(read(&doubled).1, read(std::slice::from_ref(&source)).1);
    let tape = [source.bytes.as_slice(), &source.bytes].concat();
    assert_eq!(summary(&tape).texts, ["1"]);
    let odd = b"{\"table\":\"new\",\"row\":{}}\nno json\n{\"table\":\"messages\",\"row\":{\"role\":\"new\"}}\n";
    let tape = [source.bytes.as_slice(), odd].concat();
    assert_eq!(summary(&tape).unparsed.len(), 3);
}
