//! Chats in the shapes that public readers of these files describe.

use std::fmt::Write;

use runtape_core::{CheckpointStatus, RunSummary, Runtime};
use serde_json::{Value, json};

use super::HISTORY;
use crate::history::{Framing, Session, SessionSource, read_session};
use crate::testing::history_runs;

const CHAT: &str = "6f1e2d3c-aaaa-4bbb-8ccc-0123456789ab";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").unwrap();
        digits
    })
}

#[derive(Default)]
struct Chat {
    blobs: Vec<([u8; 32], Vec<u8>)>,
    root: [u8; 32],
}

impl Chat {
    fn blob(&mut self, data: Vec<u8>) -> [u8; 32] {
        let mut id = [0xee; 32];
        // Rows are sorted by id, which is not the order of the conversation.
        id[0] = 255 - u8::try_from(self.blobs.len()).unwrap();
        self.blobs.push((id, data));
        id
    }

    fn message(&mut self, value: &Value) -> [u8; 32] {
        self.blob(value.to_string().into_bytes())
    }

    fn user(&mut self, text: &str) -> [u8; 32] {
        let text = format!("<context>\n<user_query>\n{text}\n</user_query>");
        self.message(&json!({"role": "user", "content": [{"type": "text", "text": text}]}))
    }

    fn say(&mut self, parts: &Value) -> [u8; 32] {
        let text = json!({"id": "m", "role": "assistant", "content": parts}).to_string();
        // Some messages follow a few bytes that are no text.
        self.blob([b"\x08\x01\x22\x7f", text.as_bytes()].concat())
    }

    fn node(&mut self, children: &[[u8; 32]]) -> [u8; 32] {
        let mut data = vec![0x08, 0x02];
        for (at, child) in children.iter().enumerate() {
            data.extend([if at % 2 == 0 { 0x0a } else { 0x12 }, 0x20]);
            data.extend(child);
        }
        self.root = self.blob(data);
        self.root
    }

    fn source(&self) -> SessionSource {
        let meta = json!({"agentId": CHAT, "latestRootBlobId": hex(&self.root), "name": "T",
            "createdAt": 1_788_000_000_000_u64, "lastUsedModel": "sonnet"});
        let meta = hex(meta.to_string().as_bytes());
        let mut lines = vec![format!(
            "{{\"table\":\"meta\",\"row\":{{\"key\":\"0\",\"value\":\"{meta}\"}}}}\n"
        )];
        let mut blobs = self.blobs.clone();
        blobs.sort();
        lines.extend(blobs.iter().map(|(id, data)| {
            let (id, data) = (hex(id), hex(data));
            format!("{{\"table\":\"blobs\",\"row\":{{\"id\":\"{id}\",\"data\":{{\"hex\":\"{data}\"}}}}}}\n")
        }));
        SessionSource {
            name: CHAT.to_owned(),
            framing: Framing::Database,
            bytes: lines.concat().into_bytes(),
        }
    }
}

fn read(source: SessionSource) -> (Session, Vec<RunSummary>) {
    history_runs(&Runtime::Cursor, &[source])
}

fn conversation(chat: &mut Chat) -> Vec<[u8; 32]> {
    let system = chat.message(&json!({"role": "system", "content": "You are"}));
    let context = chat.message(&json!({"role": "user", "content": "<user_info>\nOS"}));
    let ask = chat.user("list files");
    let call = chat.say(&json!([{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Looking."},
        {"type": "tool-call", "toolCallId": "c\n1", "toolName": "Shell", "args": {"command": "ls"}}]));
    let result = chat.message(
        &json!({"role": "tool", "id": "c", "content": [{"type": "tool-result",
        "toolCallId": "c\n1", "toolName": "Shell", "result": "a.txt {\"role\": \"user\"}"}]}),
    );
    let answer = chat.say(&json!([{"type": "text", "text": "One file."}]));
    vec![system, context, ask, call, result, answer]
}

#[test]
fn the_conversation_is_what_is_reached_from_the_latest_root() {
    let mut chat = Chat::default();
    let messages = conversation(&mut chat);
    // A left-over of an earlier root, with the same words.
    let draft = chat
        .say(&json!([{"type": "text", "text": "One file."}, {"type": "text", "text": "Draft."}]));
    chat.node(&[messages[0], draft]);
    chat.node(&messages);
    let (session, runs) = read(chat.source());
    assert_eq!(
        (session.id.as_str(), session.title.as_deref()),
        (CHAT, Some("T"))
    );
    assert_eq!(session.segments.len(), 1);
    let segment = &session.segments[0];
    assert_eq!(segment.prompt.as_deref(), Some("list files"));
    assert_eq!(segment.last_text.as_deref(), Some("One file."));
    assert_eq!(segment.calls, ["c\n1"]);
    assert_eq!(segment.started_at, Some(1_788_000_000_000));
    let run = &runs[0];
    assert_eq!(run.texts, ["Looking.", "One file."]);
    assert_eq!(run.thinking, ["Hm."]);
    assert_eq!((run.steps, run.model.as_deref()), (2, Some("sonnet")));
    assert_eq!(
        (run.status, run.usage.is_none()),
        (CheckpointStatus::Completed, true)
    );
    let call = &run.tool_calls[0];
    assert_eq!((call.name.as_str(), call.is_error), ("shell", None));
    assert_eq!(call.output.as_deref(), Some("a.txt {\"role\": \"user\"}"));
    assert!(run.unparsed.is_empty(), "{:?}", run.unparsed);
}

#[test]
fn each_prompt_begins_a_run_also_where_the_same_words_are_the_same_blob() {
    let mut chat = Chat::default();
    let mut messages = conversation(&mut chat);
    let (ask, answer) = (messages[2], messages[5]);
    let first = chat.node(&messages);
    messages = vec![first, ask, answer];
    chat.node(&messages);
    let (session, runs) = read(chat.source());
    assert_eq!(session.segments.len(), 2);
    assert_ne!(session.segments[0].key, session.segments[1].key);
    assert!(session.segments[0].is_over && session.segments[1].is_resumed);
    assert_eq!(runs[1].texts, ["One file."]);
}

#[test]
fn what_was_written_as_bytes_or_ends_with_a_call_is_read_as_well() {
    let mut chat = Chat::default();
    let messages = conversation(&mut chat);
    chat.node(&messages[..4]);
    let mut source = chat.source();
    let text = String::from_utf8(source.bytes).unwrap();
    let (start, rest) = text.split_once("\"value\":\"").unwrap();
    let (value, rest) = rest.split_once('"').unwrap();
    let value = hex(value.as_bytes());
    source.bytes = format!("{start}\"value\":{{\"hex\":\"{value}\"}}{rest}").into_bytes();
    let (session, runs) = read(source);
    assert_eq!(session.segments.len(), 1);
    assert_eq!(runs[0].status, CheckpointStatus::StoppedByError);
}

#[test]
fn blobs_that_refer_to_each_other_or_to_nothing_are_walked_once() {
    let mut chat = Chat::default();
    let messages = conversation(&mut chat);
    let missing = [7; 32];
    let first = chat.node(&messages);
    let mut last = first;
    for _ in 0..60 {
        last = chat.node(&[last, last, missing]);
    }
    // The first node refers to the last one.
    let at = chat.blobs.iter().position(|(id, _)| *id == first).unwrap();
    chat.blobs[at].1.extend([0x0a, 0x20]);
    chat.blobs[at].1.extend(last);
    let (session, _) = read(chat.source());
    assert_eq!(session.segments.len(), 1);
    let empty = read_session(&HISTORY, &[SessionSource {
        name: CHAT.to_owned(),
        framing: Framing::Database,
        bytes: b"{\"table\":\"meta\",\"row\":{\"key\":\"0\",\"value\":\"zz\"}}\n{\"table\":\"blobs\",\"row\":{}}\nx\n".to_vec(),
    }]);
    assert_eq!((empty.id.as_str(), empty.segments.len()), (CHAT, 0));
}
