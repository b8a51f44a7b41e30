//! cursor's chats, in the shapes that public readers of these files describe: nothing recorded.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use runtape_recorder::core::{CheckpointStatus, Runtime};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::sessions::{runs, sessions};

const CHAT: &str = "6f1e2d3c-aaaa-4bbb-8ccc-0123456789ab";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").unwrap();
        digits
    })
}

/// Writes a chat whose messages hang below one root.
fn chat(directory: &Path, messages: &[Value]) -> PathBuf {
    let directory = directory
        .join("0cc175b9c0f1b6a831c399e269772661")
        .join(CHAT);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("store.db");
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
             CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);",
        )
        .unwrap();
    let add = |number: usize, data: &[u8]| {
        let id = [200 - u8::try_from(number).unwrap(); 32];
        let added = "INSERT INTO blobs VALUES (?1, ?2)";
        database.execute(added, params![hex(&id), data]).unwrap();
        id
    };
    let mut root = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let id = add(number, message.to_string().as_bytes());
        root.extend([0x0a, 0x20]);
        root.extend(id);
    }
    let root = add(messages.len(), &root);
    let draft = json!({"role": "assistant", "content": "a draft that was given up"});
    add(messages.len() + 1, draft.to_string().as_bytes());
    let meta = json!({"agentId": CHAT, "latestRootBlobId": hex(&root), "name": "T",
        "createdAt": 1_788_000_000_000_u64});
    let meta = hex(meta.to_string().as_bytes());
    database
        .execute("INSERT INTO meta VALUES ('0', ?1)", [meta])
        .unwrap();
    path
}

#[test]
fn a_chat_is_read_from_its_database() {
    let directory = tempfile::tempdir().unwrap();
    let ask = |text: &str| json!({"role": "user", "content": format!("<user_query>\n{text}\n</user_query>")});
    let messages = [
        json!({"role": "system", "content": "You are"}),
        ask("list files"),
        json!({"id": "1", "role": "assistant", "content": [{"type": "text", "text": "Looking."},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "Shell", "args": {"command": "ls"}}]}),
        json!({"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "Shell", "result": "a"}]}),
        json!({"id": "2", "role": "assistant", "content": "One file."}),
        ask("and now?"),
        json!({"id": "3", "role": "assistant", "content": "Still one."}),
    ];
    let path = chat(directory.path(), &messages);
    let found = sessions(&Runtime::Cursor, &path);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].session.id, CHAT);
    let runs = runs(&Runtime::Cursor, &found[0]);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].summary.texts, ["Looking.", "One file."]);
    assert_eq!(runs[0].summary.tool_calls[0].output.as_deref(), Some("a"));
    assert_eq!(runs[1].prompt.as_deref(), Some("and now?"));
    assert_eq!(runs[1].summary.final_text.as_deref(), Some("Still one."));
    for run in &runs {
        assert_eq!(run.summary.status, CheckpointStatus::Completed);
        assert!(
            run.summary.unparsed.is_empty(),
            "{:?}",
            run.summary.unparsed
        );
    }
}
