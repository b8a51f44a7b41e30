//! What rollouts do that a plain run does not show.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]

use runtape_core::{CheckpointStatus, RunSummary, Runtime};
use serde_json::{Value, json};

use crate::history::{Framing, Session, SessionSource};
use crate::testing::{history_runs, history_summary};

const ROOT: &str = "01a1e411-5915-7861-aa3e-08ec0c7a5a8d";
const CHILD: &str = "01a1e411-b496-7ac3-90ba-01683f56ba93";

/// A rollout, line by line.
struct Rollout {
    thread: &'static str,
    lines: Vec<Value>,
}

impl Rollout {
    fn new(thread: &'static str, meta: Value) -> Self {
        let mut payload = json!({"id": thread, "session_id": ROOT, "cwd": "/ws",
            "timestamp": "2026-11-16T10:00:00.000Z", "originator": "codex_exec", "cli_version": "0.166.0"});
        let fields = payload.as_object_mut().unwrap();
        fields.extend(meta.as_object().unwrap().clone());
        let mut rollout = Self {
            thread,
            lines: Vec::new(),
        };
        rollout.line("session_meta", payload);
        rollout
    }

    fn at(&mut self, minute: usize, tag: &str, payload: Value) -> &mut Self {
        let ordinal = self.lines.len();
        let timestamp = format!("2026-11-16T10:{minute:02}:{:02}.000Z", ordinal % 60);
        self.lines.push(
            json!({"timestamp": timestamp, "ordinal": ordinal, "type": tag, "payload": payload}),
        );
        self
    }

    fn line(&mut self, tag: &str, payload: Value) -> &mut Self {
        self.at(0, tag, payload)
    }

    fn event(&mut self, mut payload: Value, kind: &str) -> &mut Self {
        payload["type"] = kind.into();
        self.line("event_msg", payload)
    }

    fn item(&mut self, payload: Value) -> &mut Self {
        self.line("response_item", payload)
    }

    fn completed(&mut self, item: Value) -> &mut Self {
        self.event(json!({ "item": item }), "item_completed")
    }

    fn begin(&mut self, turn: &str) -> &mut Self {
        self.event(
            json!({"turn_id": turn, "root_turn_id": "t1"}),
            "task_started",
        )
    }

    fn end(&mut self, turn: &str, answer: Value) -> &mut Self {
        self.event(
            json!({"turn_id": turn, "last_agent_message": answer}),
            "task_complete",
        )
    }

    fn ask(&mut self, text: &str) -> &mut Self {
        self.completed(
            json!({"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": text}]}),
        )
    }

    fn say(&mut self, id: &str, text: &str) -> &mut Self {
        self.completed(
            json!({"type": "AgentMessage", "id": id, "content": [{"type": "Text", "text": text}]}),
        );
        self.item(json!({"type": "message", "id": id, "role": "assistant",
            "content": [{"type": "output_text", "text": text}]}))
    }

    fn call(&mut self, id: &str, name: &str, arguments: &Value) -> &mut Self {
        self.item(json!({"type": "function_call", "call_id": id, "name": name,
            "arguments": arguments.to_string()}))
    }

    fn output(&mut self, id: &str, text: &str) -> &mut Self {
        self.item(json!({"type": "function_call_output", "call_id": id, "output": text}))
    }

    fn used(&mut self, response: &str, input: u64) -> &mut Self {
        let usage = json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": 1});
        self.line(
            "token_usage_record",
            json!({"response_id": response, "thread_id": self.thread, "usage": usage}),
        )
    }

    fn source(&self, directory: &str) -> SessionSource {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        SessionSource {
            name: format!(
                "{directory}/rollout-2026-11-16T10-00-00-{}.jsonl",
                self.thread
            ),
            framing: Framing::Lines,
            bytes: lines.collect::<String>().into_bytes(),
        }
    }
}

fn summary(tape: &[u8]) -> RunSummary {
    history_summary(Runtime::Codex, tape)
}

/// Reads a session and what its runs amount to.
fn read(sources: &[SessionSource]) -> (Session, Vec<RunSummary>) {
    history_runs(&Runtime::Codex, sources)
}

fn turn(rollout: &mut Rollout, key: &str, prompt: &str, answer: &str) {
    rollout.begin(key).ask(prompt).say("m", answer);
    rollout
        .used(&format!("resp-{key}"), 10)
        .end(key, answer.into());
}

#[test]
fn each_turn_of_exec_is_a_run_and_counts_what_it_used_itself() {
    let mut rollout = Rollout::new(ROOT, json!({}));
    turn(&mut rollout, "t1", "one", "1");
    rollout.event(json!({}), "thread_settings_applied");
    turn(&mut rollout, "t2", "two", "2");
    let (session, runs) = read(&[rollout.source("sessions")]);
    assert_eq!(session.id, ROOT);
    let keys: Vec<&str> = session
        .segments
        .iter()
        .map(|run| run.key.as_str())
        .collect();
    assert_eq!(keys, ["t1", "t2"]);
    let resumed: Vec<bool> = session.segments.iter().map(|run| run.is_resumed).collect();
    assert_eq!(resumed, [false, true]);
    for (run, answer) in runs.iter().zip(["1", "2"]) {
        assert_eq!(run.texts, [answer]);
        assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(10));
        assert_eq!(run.session_id.as_deref(), Some(ROOT));
        assert!(run.unparsed.is_empty(), "{:?}", run.unparsed);
    }
}

#[test]
fn the_turns_of_a_terminal_are_one_run_with_a_step_for_each_prompt() {
    let mut rollout = Rollout::new(ROOT, json!({"originator": "codex-tui"}));
    turn(&mut rollout, "t1", "one", "1");
    turn(&mut rollout, "t2", "two", "2");
    let (session, runs) = read(&[rollout.source("sessions")]);
    assert_eq!(session.segments.len(), 1);
    assert!(!session.segments[0].is_over);
    assert_eq!(session.segments[0].prompt.as_deref(), Some("one"));
    assert_eq!((runs[0].steps, runs[0].texts.len()), (2, 2));
    assert_eq!(runs[0].final_text.as_deref(), Some("2"));
}

#[test]
fn what_a_fork_copied_is_a_copy() {
    let mut rollout = Rollout::new(
        ROOT,
        json!({"forked_from_id": CHILD, "timestamp": "2026-11-16T10:05:00.000Z"}),
    );
    turn(&mut rollout, "t1", "one", "1");
    rollout.at(
        6,
        "event_msg",
        json!({"type": "task_started", "turn_id": "t2"}),
    );
    rollout
        .say("m", "2")
        .used("resp-t2", 5)
        .end("t2", "2".into());
    let (session, runs) = read(&[rollout.source("sessions")]);
    let copies: Vec<bool> = session.segments.iter().map(|run| run.is_copy).collect();
    assert_eq!(copies, [true, false]);
    assert_eq!(session.segments[1].responses, ["resp-t2"]);
    assert_eq!(runs[1].texts, ["2"]);
}

#[test]
fn a_thread_in_the_archive_and_in_its_place_counts_once() {
    let mut rollout = Rollout::new(ROOT, json!({}));
    turn(&mut rollout, "t1", "one", "1");
    let archived = rollout.source("archived_sessions");
    turn(&mut rollout, "t2", "two", "2");
    let sources = [archived, rollout.source("sessions/2026/11/16")];
    let (session, runs) = read(&sources);
    assert_eq!(session.segments.len(), 2);
    assert_eq!(session.segments[0].responses, ["resp-t1"]);
    assert_eq!(session.segments[1].responses, ["resp-t2"]);
    assert_eq!(runs[1].texts, ["2"]);
}

#[test]
fn a_killed_run_has_no_end_and_is_no_success() {
    let mut rollout = Rollout::new(ROOT, json!({}));
    rollout.begin("t1").ask("go").say("m", "Running.");
    rollout.call("c1", "exec_command", &json!({"cmd": "sleep 60"}));
    rollout.used("r1", 10);
    let (_, runs) = read(&[rollout.source("sessions")]);
    let run = &runs[0];
    assert_eq!(run.status, CheckpointStatus::StoppedByError);
    assert_eq!(run.error.as_ref().unwrap().name, "Unfinished");
    let call = &run.tool_calls[0];
    assert_eq!(
        (call.name.as_str(), call.is_error),
        ("command_execution", None)
    );
    assert_eq!(call.input, json!({"command": "sleep 60"}));
    assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(10));
}

#[test]
fn a_turn_that_failed_says_why() {
    let mut rollout = Rollout::new(ROOT, json!({}));
    rollout.begin("t1").ask("go");
    let error = json!({"message": "unexpected status 503 Service Unavailable: no"});
    rollout.event(
        json!({"turn_id": "t1", "last_agent_message": null, "error": error}),
        "task_complete",
    );
    let (_, runs) = read(&[rollout.source("sessions")]);
    let error = runs[0].error.as_ref().unwrap();
    assert_eq!(
        (error.name.as_str(), error.status_code),
        ("ApiError", Some(503))
    );
    let mut rollout = Rollout::new(ROOT, json!({}));
    rollout.begin("t1").ask("go");
    rollout.event(json!({"message": "Quota exceeded."}), "error");
    rollout.end("t1", Value::Null);
    let (_, runs) = read(&[rollout.source("sessions")]);
    assert_eq!(runs[0].error.as_ref().unwrap().message, "Quota exceeded.");
    let mut rollout = Rollout::new(ROOT, json!({}));
    rollout.begin("t1").event(
        json!({"turn_id": "t1", "reason": "interrupted"}),
        "turn_aborted",
    );
    let (_, runs) = read(&[rollout.source("sessions")]);
    assert_eq!(runs[0].error.as_ref().unwrap().name, "TurnAborted");
}

#[test]
fn calls_stay_in_the_model_s_order_and_unrouted_ones_are_failed() {
    let mut rollout = Rollout::new(ROOT, json!({}));
    rollout.begin("t1").ask("go");
    rollout.call("c1", "exec_command", &json!({"cmd": "slow"}));
    rollout.call("c2", "exec_command", &json!({"cmd": "fast"}));
    rollout.call("c3", "nosuch", &json!({"a": 1})).used("r1", 1);
    for (id, code) in [("c2", 0), ("c1", 3)] {
        rollout.completed(
            json!({"type": "CommandExecution", "id": id, "command": ["/bin/sh", "-c", "x y"],
            "aggregated_output": "out", "exit_code": code, "status": "completed"}),
        );
    }
    rollout.output("c3", "unsupported call: nosuch");
    rollout.output("c1", "Exit code: 3\nOutput:\nout");
    rollout
        .say("m", "done")
        .used("r2", 1)
        .end("t1", "done".into());
    let (_, runs) = read(&[rollout.source("sessions")]);
    let calls: Vec<(&str, &str, Option<bool>)> = runs[0]
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.is_error))
        .collect();
    let command = "command_execution";
    assert_eq!(
        calls,
        [
            ("c1", command, Some(true)),
            ("c2", command, Some(false)),
            ("c3", "nosuch", Some(true))
        ]
    );
    assert_eq!(
        runs[0].tool_calls[0].input,
        json!({"command": "/bin/sh -c 'x y'"})
    );
    assert_eq!(runs[0].tool_calls[0].output.as_deref(), Some("out"));
    assert_eq!(runs[0].steps, 2);
}

#[test]
fn a_command_that_goes_on_has_its_result_when_it_has_ended() {
    let running = "Chunk ID: x\nProcess running with session ID 5\nOutput:\n";
    let mut rollout = Rollout::new(ROOT, json!({}));
    rollout
        .begin("t1")
        .ask("go")
        .call("c1", "exec_command", &json!({"cmd": "long"}))
        .used("r1", 1);
    rollout.output("c1", running);
    rollout.say("m", "Waiting.").used("r2", 1);
    let mut forever = Rollout {
        thread: ROOT,
        lines: rollout.lines.clone(),
    };
    rollout.completed(
        json!({"type": "CommandExecution", "id": "c1", "command": ["long"],
        "aggregated_output": "all", "exit_code": 0, "status": "completed"}),
    );
    rollout.end("t1", "Waiting.".into());
    let (_, runs) = read(&[rollout.source("sessions")]);
    let call = &runs[0].tool_calls[0];
    assert_eq!(
        (call.output.as_deref(), call.is_error),
        (Some("all"), Some(false))
    );
    forever.end("t1", "Waiting.".into());
    let (_, runs) = read(&[forever.source("sessions")]);
    let call = &runs[0].tool_calls[0];
    assert_eq!(
        (call.output.as_deref(), call.is_error),
        (Some(running), None)
    );
}

#[test]
fn a_sub_agent_is_a_child_of_the_call_that_started_it() {
    let mut root = Rollout::new(ROOT, json!({}));
    root.begin("t1").ask("delegate");
    root.call("c1", "spawn_agent", &json!({"message": "count"}))
        .used("r1", 4);
    root.completed(
        json!({"type": "CollabAgentToolCall", "id": "c1", "tool": "spawnAgent",
        "status": "completed", "receiver_thread_ids": [CHILD], "prompt": "count"}),
    );
    root.say("m", "Counted.")
        .used("r2", 5)
        .end("t1", "Counted.".into());
    turn(&mut root, "t9", "again", "later");
    let mut child = Rollout::new(CHILD, json!({"parent_thread_id": ROOT}));
    child.begin("k1").ask("count");
    // The model counts its calls anew in each thread.
    child
        .call("c1", "exec_command", &json!({"cmd": "ls"}))
        .used("k-r1", 7);
    child.say("m", "3 files").end("k1", "3 files".into());
    let sources = [root.source("sessions"), child.source("sessions")];
    let (session, runs) = read(&sources);
    assert_eq!(session.segments.len(), 2);
    assert_eq!(session.segments[0].responses, ["r1", "r2", "k-r1"]);
    let run = &runs[0];
    assert_eq!(run.runs.len(), 2);
    let parent = run.runs[1].parent_tool_call_id.as_ref();
    assert_eq!(parent.map(runtape_core::ToolCallId::as_str), Some("c1"));
    assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(16));
    assert!(run.texts.contains(&"3 files".to_owned()), "{:?}", run.texts);
    assert_eq!(run.tool_calls.len(), 2);
    assert_eq!(run.tool_calls[0].name, "spawn_agent");
    assert!(run.unparsed.is_empty(), "{:?}", run.unparsed);
}

#[test]
fn a_call_that_was_refused_is_a_call_a_failure_and_a_denial() {
    let rejected = r#"exec_command failed: CreateProcess { message: "Rejected(\"`touch x` rejected: No.\")" }"#;
    let table = [
        (rejected, 1),
        ("approval policy is Never; reject command", 1),
        ("patch rejected: writing outside of the project", 1),
        ("Command blocked by PreToolUse hook: no", 1),
        // What a command itself says refuses nothing.
        (
            "Exit code: 1\nOutput:\nRejected(\"x\") failed: CreateProcess",
            0,
        ),
        ("exec_command failed: no such session", 0),
    ];
    for (told, denials) in table {
        let mut rollout = Rollout::new(ROOT, json!({}));
        rollout.begin("t1").ask("touch");
        rollout
            .call("c1", "exec_command", &json!({"cmd": "touch x"}))
            .used("r1", 4);
        rollout.item(json!({"type": "function_call_output", "call_id": "c1", "output": told}));
        rollout
            .say("m", "Refused.")
            .used("r2", 5)
            .end("t1", "Refused.".into());
        let (_, runs) = read(&[rollout.source("sessions")]);
        let call = &runs[0].tool_calls[0];
        assert_eq!(
            (call.name.as_str(), call.is_error),
            ("command_execution", Some(true)),
            "{told}"
        );
        let denied = runs[0]
            .notices
            .iter()
            .filter(|it| it.kind == "permissionDenied");
        assert_eq!(denied.count(), denials, "{told}");
    }
}

#[test]
fn older_versions_have_no_records_of_responses_and_events_instead_of_items() {
    let mut rollout = Rollout::new(ROOT, json!({}));
    rollout.begin("t1");
    rollout.item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}));
    rollout.event(json!({"message": "go"}), "user_message");
    rollout.item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}));
    rollout.event(json!({"message": "ok"}), "agent_message");
    let usage = |total: u64| {
        json!({"total_token_usage": {"total_tokens": total},
        "last_token_usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}})
    };
    rollout.event(json!({"info": usage(10)}), "token_count");
    rollout.event(json!({"info": usage(10)}), "token_count");
    rollout.end("t1", "ok".into());
    let (session, runs) = read(&[rollout.source("sessions")]);
    let segment = &session.segments[0];
    assert_eq!(segment.responses, [format!("{ROOT}:10")]);
    assert_eq!(
        (segment.prompt.as_deref(), segment.last_text.as_deref()),
        (Some("go"), Some("ok"))
    );
    assert_eq!(runs[0].usage.as_ref().unwrap().input_tokens, Some(9));
    assert_eq!(
        (runs[0].steps, runs[0].texts.as_slice()),
        (1, &["ok".to_owned()][..])
    );
}

#[test]
fn lines_without_an_envelope_are_items() {
    let lines = [
        json!({"id": ROOT, "timestamp": "2025-05-01T00:00:00.000Z", "instructions": null}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
        json!({"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{\"command\":[\"ls\"]}"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "Exit code: 0\nOutput:\na"}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}),
    ];
    let rollout = Rollout {
        thread: ROOT,
        lines: lines.to_vec(),
    };
    let (session, runs) = read(&[rollout.source("sessions")]);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(runs[0].texts, ["yes"]);
    assert_eq!(runs[0].tool_calls[0].is_error, Some(false));
    assert_eq!(runs[0].status, CheckpointStatus::Completed);
    assert!(runs[0].unparsed.is_empty(), "{:?}", runs[0].unparsed);
}

#[test]
fn lines_that_come_twice_say_nothing_twice_and_odd_ones_are_told() {
    let mut rollout = Rollout::new(ROOT, json!({}));
    turn(&mut rollout, "t1", "one", "1");
    let bytes = rollout.source("s").bytes;
    let run = summary(&[bytes.as_slice(), &bytes].concat());
    assert_eq!((run.texts.len(), run.steps), (1, 1));
    rollout
        .line("new_thing", json!({}))
        .event(json!({}), "new_event");
    rollout
        .item(json!({"type": "new_item"}))
        .completed(json!({"type": "NewItem"}));
    let bytes = [rollout.source("s").bytes.as_slice(), b"no json\n"].concat();
    assert_eq!(summary(&bytes).unparsed.len(), 5);
}
