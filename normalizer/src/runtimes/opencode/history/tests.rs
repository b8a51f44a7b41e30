//! What sessions do that a plain run does not show.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]

use runtape_core::{CheckpointStatus, RunSummary, Runtime};
use serde_json::{Value, json};

use super::{HISTORY, typed};
use crate::history::{Framing, Session, SessionSource, read_session, segment_bytes};
use crate::testing::{history_runs, history_summary};

const ROOT: &str = "ses_e1bd22968ffeeoXb97kksY8ye5";
const CHILD: &str = "ses_e1bd22968ffeeoXb97kksY8ye6";

struct Rows {
    session: &'static str,
    row: Value,
    messages: Vec<Value>,
    parts: Vec<Value>,
}

impl Rows {
    fn new(session: &'static str, row: Value) -> Self {
        let mut all = json!({"id": session, "directory": "/ws", "title": "T", "version": "1.18.33",
            "time_created": 1000});
        let fields = all.as_object_mut().unwrap();
        fields.extend(row.as_object().unwrap().clone());
        Self {
            session,
            row: all,
            messages: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn message(&mut self, id: &str, at: u64, data: &Value) -> &mut Self {
        self.messages.push(
            json!({"id": id, "session_id": self.session, "time_created": at,
            "time_updated": at, "data": data.to_string()}),
        );
        self
    }

    fn part(&mut self, id: &str, message: &str, data: &Value) -> &mut Self {
        self.parts.push(
            json!({"id": id, "message_id": message, "session_id": self.session,
            "time_created": 2000, "time_updated": 2000, "data": data.to_string()}),
        );
        self
    }

    fn ask(&mut self, id: &str, at: u64, text: &str) -> &mut Self {
        self.message(id, at, &json!({"role": "user", "time": {"created": at}}));
        self.part(
            &format!("prt_{id}"),
            id,
            &json!({"type": "text", "text": text}),
        )
    }

    /// An answer of one step.
    fn say(&mut self, id: &str, at: u64, text: &str) -> &mut Self {
        self.begin(id, at, &json!({"finish": "stop"}));
        self.part(
            &format!("prt_{id}b"),
            id,
            &json!({"type": "text", "text": text, "time": {"start": 1, "end": 2}}),
        );
        self.done(id, "stop")
    }

    fn begin(&mut self, id: &str, at: u64, more: &Value) -> &mut Self {
        let mut data = json!({"role": "assistant", "modelID": "m", "path": {"cwd": "/ws"},
            "time": {"created": at, "completed": at + 1}});
        let fields = data.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.message(id, at, &data);
        self.part(&format!("prt_{id}a"), id, &json!({"type": "step-start"}))
    }

    fn done(&mut self, id: &str, reason: &str) -> &mut Self {
        self.part(&format!("prt_{id}z"), id, &json!({"type": "step-finish", "reason": reason, "cost": 0.5,
            "tokens": {"input": 10, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}}))
    }

    fn source(&self) -> SessionSource {
        let rows = [
            ("session", std::slice::from_ref(&self.row)),
            ("message", &self.messages),
            ("part", &self.parts),
        ];
        let lines = rows.iter().flat_map(|(table, rows)| {
            rows.iter()
                .map(move |row| format!("{{\"table\":\"{table}\",\"row\":{row}}}\n"))
        });
        SessionSource {
            name: self.session.to_owned(),
            framing: Framing::Database,
            bytes: lines.collect::<String>().into_bytes(),
        }
    }
}

fn summary(tape: &[u8]) -> RunSummary {
    history_summary(Runtime::Opencode, tape)
}

fn read(sources: &[SessionSource]) -> (Session, Vec<RunSummary>) {
    history_runs(&Runtime::Opencode, sources)
}

#[test]
fn a_prompt_is_what_was_typed() {
    let table = [
        ("\"Say hello\"", "Say hello"),
        (r#""Say \"hello\" now""#, "Say \"hello\" now"),
        ("hello", "hello"),
        ("\"hello\"", "\"hello\""),
        (r#""a b" "c d""#, r#""a b" "c d""#),
        ("\"", "\""),
    ];
    for (stored, expected) in table {
        assert_eq!(typed(stored), expected, "{stored}");
    }
}

#[test]
fn each_message_of_the_user_s_begins_a_run() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "\"go on now\"")
        .say("m2", 1200, "1")
        .ask("m3", 1300, "two")
        .say("m4", 1400, "2");
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 2);
    let first = &session.segments[0];
    assert_eq!(
        (first.key.as_str(), first.prompt.as_deref()),
        ("m1", Some("go on now"))
    );
    assert_eq!(first.responses, ["prt_m2z"]);
    assert!(first.is_over && session.segments[1].is_resumed);
    for (run, text) in runs.iter().zip(["1", "2"]) {
        assert_eq!(run.final_text.as_deref(), Some(text));
        assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(10));
        assert_eq!(run.cost_usd, Some(0.5));
    }
}

#[test]
fn what_a_fork_copied_is_left_out() {
    let mut rows = Rows::new(ROOT, json!({"title": "T (fork #1)", "time_created": 5000}));
    rows.ask("m1", 1100, "one")
        .say("m2", 1200, "1")
        .ask("m3", 5300, "two")
        .say("m4", 5400, "2");
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 1);
    assert!(!session.segments[0].is_resumed);
    assert_eq!(runs[0].texts, ["2"]);
}

#[test]
fn messages_of_the_cli_s_own_begin_no_run() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "one").say("m2", 1200, "1");
    rows.message("m3", 1300, &json!({"role": "user"}));
    rows.part("prt_m3", "m3", &json!({"type": "compaction", "auto": true}));
    rows.say("m4", 1400, "a summary");
    rows.message("m5", 1500, &json!({"role": "user"}));
    rows.part(
        "prt_m5",
        "m5",
        &json!({"type": "text", "text": "Continue", "synthetic": true}),
    );
    rows.say("m6", 1600, "2");
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(runs[0].texts, ["1", "a summary", "2"]);
    assert_eq!(runs[0].steps, 3);
    let compactions = runs[0]
        .notices
        .iter()
        .filter(|notice| notice.kind == "compaction");
    assert_eq!(compactions.count(), 1);
}

#[test]
fn a_killed_run_leaves_calls_that_run_and_texts_that_are_not_whole() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "go").begin("m2", 1200, &json!({}));
    rows.part(
        "prt_m2b",
        "m2",
        &json!({"type": "text", "text": "Half a", "time": {"start": 5}}),
    );
    rows.part(
        "prt_m2c",
        "m2",
        &json!({"type": "tool", "tool": "bash", "callID": "c1",
        "state": {"status": "running", "input": {"command": "sleep 60"}, "time": {"start": 5}}}),
    );
    let (_, runs) = read(&[rows.source()]);
    let run = &runs[0];
    assert_eq!(run.error.as_ref().unwrap().name, "Unfinished");
    assert_eq!(run.texts, ["Half a"]);
    let call = &run.tool_calls[0];
    assert_eq!((call.is_error, call.output.as_deref()), (None, None));
    assert_eq!(call.input, json!({"command": "sleep 60"}));
}

#[test]
fn rows_that_changed_add_what_is_new_and_nothing_doubles() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "go").begin("m2", 1200, &json!({}));
    let tool = |status: &str, more: Value| {
        let mut state = json!({"status": status, "input": {"command": "ls"}});
        state
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"type": "tool", "tool": "bash", "callID": "c1", "state": state})
    };
    rows.part(
        "prt_m2b",
        "m2",
        &json!({"type": "text", "text": "Ha", "time": {"start": 5}}),
    );
    rows.part("prt_m2c", "m2", &tool("running", json!({})));
    let early = [rows.source()];
    let before = read_session(&HISTORY, &early);
    let mut tape = segment_bytes(&before.segments[0], &early);
    rows.parts.truncate(2);
    rows.part(
        "prt_m2b",
        "m2",
        &json!({"type": "text", "text": "Half", "time": {"start": 5, "end": 6}}),
    );
    rows.part(
        "prt_m2c",
        "m2",
        &tool("completed", json!({"output": "a", "metadata": {"exit": 1}})),
    );
    rows.done("m2", "tool-calls").say("m3", 1300, "done");
    let late = [rows.source()];
    let after = read_session(&HISTORY, &late);
    tape.extend(segment_bytes(&after.segments[0], &late));
    let (union, whole) = (summary(&tape), read(&late).1.remove(0));
    assert_eq!(union.texts, ["Half", "done"]);
    assert_eq!(union.tool_calls.len(), 1);
    assert_eq!(union.tool_calls[0].is_error, Some(true));
    assert_eq!((union.steps, union.usage), (whole.steps, whole.usage));
}

#[test]
fn a_part_that_changed_is_known_without_its_message() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "go").begin("m2", 1200, &json!({}));
    let sources = [rows.source()];
    let session = read_session(&HISTORY, &sources);
    let mut tape = segment_bytes(&session.segments[0], &sources);
    rows.parts.clear();
    rows.part(
        "prt_m2b",
        "m2",
        &json!({"type": "text", "text": "Late", "time": {"start": 5, "end": 6}}),
    );
    let part = json!({"table": "part", "row": rows.parts[0]});
    tape.extend_from_slice(format!("{part}\n").as_bytes());
    let run = summary(&tape);
    assert_eq!(run.texts, ["Late"]);
    assert!(run.unparsed.is_empty(), "{:?}", run.unparsed);
}

#[test]
fn an_error_of_a_message_is_why_the_run_failed() {
    let mut rows = Rows::new(ROOT, json!({}));
    let error = |status: u16| {
        json!({"error": {"name": "APIError", "data": {"message": format!("no {status}"),
        "statusCode": status, "isRetryable": false}}})
    };
    rows.ask("m1", 1100, "go")
        .begin("m2", 1200, &error(500))
        .begin("m3", 1300, &error(401));
    rows.part("prt_m3r", "m3", &json!({"type": "retry", "attempt": 2, "error": {"data": {"message": "slow", "statusCode": 429}}}));
    let (_, runs) = read(&[rows.source()]);
    let failed = runs[0].error.as_ref().unwrap();
    assert_eq!(
        (failed.name.as_str(), failed.status_code),
        ("ApiError", Some(401))
    );
    let kinds: Vec<&str> = runs[0]
        .notices
        .iter()
        .map(|notice| notice.kind.as_str())
        .collect();
    assert!(
        kinds.contains(&"retry") && kinds.contains(&"warning"),
        "{kinds:?}"
    );
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "go")
        .begin("m2", 1200, &json!({"finish": "strange"}));
    assert_eq!(
        read(&[rows.source()]).1[0].error.as_ref().unwrap().name,
        "UnclearResult"
    );
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "go")
        .begin("m2", 1200, &json!({"finish": "tool-calls"}));
    assert_eq!(
        read(&[rows.source()]).1[0].status,
        CheckpointStatus::StoppedByError
    );
}

#[test]
fn a_sub_agent_is_a_child_of_the_call_that_started_it() {
    let mut root = Rows::new(ROOT, json!({}));
    root.ask("m1", 1100, "delegate")
        .begin("m2", 1200, &json!({"finish": "tool-calls"}));
    root.part("prt_m2c", "m2", &json!({"type": "tool", "tool": "task", "callID": "c1", "state": {"status": "completed",
        "input": {"prompt": "count"}, "output": "<task_result>3</task_result>", "metadata": {"sessionId": CHILD}}}));
    root.done("m2", "tool-calls")
        .say("m3", 1300, "3 files")
        .ask("m8", 1900, "more")
        .say("m9", 1950, "ok");
    let mut child = Rows::new(CHILD, json!({"parent_id": ROOT, "time_created": 1210}));
    child.ask("m4", 1220, "count").say("m5", 1230, "three");
    let (session, runs) = read(&[root.source(), child.source()]);
    assert_eq!(session.segments.len(), 2);
    assert_eq!(
        session.segments[0].responses,
        ["prt_m2z", "prt_m3z", "prt_m5z"]
    );
    let run = &runs[0];
    assert_eq!(run.runs.len(), 2);
    assert_eq!(
        run.runs[1].parent_tool_call_id.as_ref().unwrap().as_str(),
        "c1"
    );
    assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(30));
    assert_eq!(run.status, CheckpointStatus::Completed);
    assert!(run.unparsed.is_empty(), "{:?}", run.unparsed);
}

#[test]
fn odd_rows_are_told() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "go").say("m2", 1200, "1");
    rows.part("prt_m2y", "m2", &json!({"type": "new"}));
    let sources = [rows.source()];
    let session = read_session(&HISTORY, &sources);
    let mut tape = segment_bytes(&session.segments[0], &sources);
    tape.extend_from_slice(
        b"{\"table\":\"new\",\"row\":{}}\nno json\n{\"table\":\"part\",\"row\":{\"id\":\"p\",\"data\":\"{\"}}\n",
    );
    let run = summary(&tape);
    assert_eq!(run.unparsed.len(), 4, "{:?}", run.unparsed);
    assert_eq!(run.texts, ["1"]);
}

#[test]
fn an_attempt_that_was_given_up_is_a_notice() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.ask("m1", 1100, "go")
        .begin("m2", 1200, &json!({"finish": "stop"}));
    let said = |text: &str| json!({"type": "text", "text": text, "time": {"start": 1, "end": 2}});
    rows.part("prt_m2b", "m2", &said("Half an answer"));
    rows.part(
        "prt_m2c",
        "m2",
        &json!({"type": "tool", "tool": "bash", "callID": "c1",
        "state": {"status": "error", "input": {}, "error": "Tool execution aborted"}}),
    );
    rows.part("prt_m2d", "m2", &json!({"type": "step-start"}));
    rows.part("prt_m2e", "m2", &said("All of it."));
    rows.part("prt_m2f", "m2", &said(" \n"));
    rows.done("m2", "stop");
    let (_, runs) = read(&[rows.source()]);
    let run = &runs[0];
    assert_eq!(run.texts, ["All of it."]);
    assert_eq!(run.final_text.as_deref(), Some("All of it."));
    assert_eq!((run.steps, run.tool_calls.len()), (2, 1));
    let retries = run.notices.iter().filter(|notice| notice.kind == "retry");
    let told: Vec<&str> = retries.map(|notice| notice.text.as_str()).collect();
    assert!(
        told.len() == 1 && told[0].contains("Half an answer"),
        "{told:?}"
    );
}

#[test]
fn a_command_that_is_a_subtask_counts_no_step() {
    let mut rows = Rows::new(ROOT, json!({}));
    rows.message("m1", 1100, &json!({"role": "user"}));
    rows.part("prt_m1", "m1", &json!({"type": "subtask", "prompt": "x"}));
    rows.message(
        "m2",
        1200,
        &json!({"role": "assistant", "modelID": "m", "finish": "tool-calls"}),
    );
    rows.part(
        "prt_m2",
        "m2",
        &json!({"type": "tool", "tool": "task", "callID": "c1", "state": {"status": "completed",
        "input": {"prompt": "x"}, "output": "y"}}),
    );
    rows.message("m3", 1300, &json!({"role": "user"}));
    rows.part(
        "prt_m3",
        "m3",
        &json!({"type": "text", "text": "Go on", "synthetic": true}),
    );
    rows.say("m4", 1400, "Done.");
    let (session, runs) = read(&[rows.source()]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!((runs[0].steps, runs[0].tool_calls.len()), (1, 1));
    assert_eq!(runs[0].final_text.as_deref(), Some("Done."));
}
