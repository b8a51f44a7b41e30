//! Frames as a gateway sends them, and what becomes of them.

mod endings;
mod messages;
mod sessions;

use runtape_core::{JobId, RunId, RunSummary, Runtime, Stream, summarize};
use serde_json::{Value, json};

use crate::{Context, Exit, Kept, Normalizer};

const ASKED: &str = "agent:main:asked";
const RUN: &str = "run-1";

/// A connection that is written down frame by frame, with numbers that rise.
#[derive(Clone, Default)]
struct Tape {
    lines: Vec<String>,
    seq: u64,
}

impl Tape {
    /// A connection that asked for a run.
    fn asked() -> Self {
        let mut tape = Self::default();
        tape.ask(ASKED, RUN, "Do it.");
        tape
    }

    fn line(&mut self, line: &Value) -> &mut Self {
        self.lines.push(line.to_string());
        self
    }

    fn ask(&mut self, session: &str, run: &str, text: &str) -> &mut Self {
        self.line(
            &json!({"type": "req", "id": run, "method": "chat.send", "params":
            {"sessionKey": session, "message": text, "idempotencyKey": run}}),
        );
        self.line(&json!({"type": "res", "id": run, "ok": true,
            "payload": {"runId": run, "status": "started"}}))
    }

    fn event(&mut self, event: &str, mut payload: Value) -> &mut Self {
        self.seq += 1;
        payload["seq"] = self.seq.into();
        let line = json!({"type": "event", "event": event, "payload": payload, "seq": self.seq});
        self.line(&line)
    }

    fn agent_of(&mut self, session: &str, run: &str, stream: &str, data: &Value) -> &mut Self {
        let ts = 1_790_000_000_000 + self.seq;
        self.event(
            "agent",
            json!({"runId": run, "sessionKey": session, "stream": stream, "ts": ts, "data": data}),
        )
    }

    fn agent(&mut self, stream: &str, data: &Value) -> &mut Self {
        self.agent_of(ASKED, RUN, stream, data)
    }

    fn life(&mut self, phase: &str) -> &mut Self {
        self.agent("lifecycle", &json!({"phase": phase}))
    }

    /// The next request to the model begins.
    fn model(&mut self) -> &mut Self {
        self.agent("lifecycle", &json!({"phase": "model", "model": "m1"}))
    }

    fn text(&mut self, item: &str, text: &str) -> &mut Self {
        self.agent("assistant", &json!({"text": text, "itemId": item}))
    }

    fn call(&mut self, id: &str) -> &mut Self {
        let args = json!({"command": "ls"});
        self.agent(
            "tool",
            &json!({"phase": "start", "name": "exec", "toolCallId": id, "args": args}),
        )
    }

    fn result(&mut self, id: &str, code: i64) -> &mut Self {
        let result =
            json!({"content": [{"type": "text", "text": "out"}], "details": {"exitCode": code}});
        self.agent(
            "tool",
            &json!({"phase": "result", "name": "exec", "toolCallId": id,
            "isError": false, "result": result}),
        )
    }

    fn chat(&mut self, state: &str, more: &Value) -> &mut Self {
        let mut payload = json!({"runId": RUN, "sessionKey": ASKED, "state": state});
        for (key, value) in more.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        self.event("chat", payload)
    }

    fn summary(&self) -> RunSummary {
        summary_of(&self.lines)
    }
}

fn message(text: &str) -> Value {
    json!({"message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
}

fn summary_of(lines: &[String]) -> RunSummary {
    let text = format!("{}\n", lines.join("\n"));
    let context = Context::new(JobId::parse("j").unwrap(), RunId::parse("r").unwrap());
    let mut normalizer = Normalizer::new(Runtime::Openclaw, context).unwrap();
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(&text), 1)
        .records;
    records.extend(normalizer.finish(&Exit::with_code(0)).records);
    summarize(&records).unwrap()
}

fn notices(summary: &RunSummary, kind: &str) -> usize {
    let notices = summary.notices.iter();
    notices.filter(|notice| notice.kind == kind).count()
}

#[test]
fn prose_is_no_session() {
    for key in [
        ASKED,
        "agent:main:telegram:dm:+4912",
        "agent:a:whatsapp:group:1@g.us",
    ] {
        assert!(super::is_session_id(key), "{key}");
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
        assert!(!super::is_session_id(text), "{text}");
    }
}

#[test]
fn what_is_not_understood_is_kept() {
    let mut tape = Tape::asked();
    tape.event("new.event", json!({}));
    tape.event("chat", json!({"state": "delta"}));
    tape.chat("maybe", &json!({}));
    tape.agent("new", &json!({}));
    tape.life("new");
    tape.agent("tool", &json!({"phase": "start"}));
    tape.event("agent", json!({"runId": 5}));
    tape.lines
        .push(r#"{"type":"event","event":"cha"#.to_owned());
    tape.lines.push("a banner".to_owned());
    let summary = tape.summary();
    // The frame whose `runId` is a number has no run, either.
    assert_eq!(summary.unparsed.len(), 9, "{:?}", summary.unparsed);
    assert!(
        summary
            .notices
            .iter()
            .any(|notice| notice.text == "a banner")
    );
}

#[test]
fn frames_that_come_twice_or_again_later_change_nothing() {
    let mut tape = Tape::asked();
    tape.life("start").model();
    tape.agent("thinking", &json!({"text": "Hm.", "delta": "Hm."}));
    tape.text("i:1", "One")
        .text("i:1", "One two.")
        .call("c")
        .result("c", 2);
    tape.agent("usage", &json!({"outputTokens": 7}));
    tape.model()
        .text("i:2", "Three.")
        .life("end")
        .chat("final", &message("One two.\n\nThree."));
    let once = tape.summary();
    assert_eq!(once.texts, ["One two.", "Three."]);
    let twice: Vec<String> = tape
        .lines
        .iter()
        .flat_map(|line| [line.clone(), line.clone()])
        .collect();
    assert_eq!(summary_of(&twice), once);
    // Read again, with other numbers of the connection.
    let (head, frames) = tape.lines.split_at(2);
    let again = frames
        .iter()
        .map(|line| line.replace("\"event\":", "\"again\":1,\"event\":"));
    let again: Vec<String> = head.iter().chain(frames).cloned().chain(again).collect();
    let again = summary_of(&again);
    assert_eq!((again.texts, again.thinking), (once.texts, once.thinking));
    assert_eq!(
        (again.tool_calls, again.usage),
        (once.tool_calls, once.usage)
    );
}
