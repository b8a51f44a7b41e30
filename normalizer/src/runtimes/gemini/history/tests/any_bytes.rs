//! Whatever lies in the files: segments and signals, never a panic.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn any_id() -> impl Strategy<Value = String> {
    "[ab][12]?"
}

fn any_record() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        Just("user"),
        Just("gemini"),
        Just("gemini"),
        Just("info"),
        Just("error"),
        Just("odd")
    ];
    let content = prop_oneof![
        Just(json!("text")),
        Just(json!([{"text": "part"}, {"functionCall": {"id": "c1", "name": "x"}}])),
        any_id().prop_map(|id| json!([response(&id, "out")])),
        Just(json!([{"text": "<session_context>\n- **Workspace Directories:**\n  - /x"}])),
        Just(json!(7)),
        Just(Value::Null),
    ];
    let calls = proptest::collection::vec(
        any_id().prop_map(|id| with(call(&id, "ls", "o"), &json!({"agentId": "ag1"}))),
        0..3,
    );
    (any_id(), kind, content, calls, any::<bool>(), 0..60_u32).prop_map(
        |(id, kind, content, calls, has_tokens, second)| {
            let mut record =
                json!({"id": id, "type": kind, "timestamp": time(second), "content": content});
            if has_tokens {
                record["tokens"] = json!({"input": 3, "output": second, "total": 9});
            }
            if !calls.is_empty() {
                record["toolCalls"] = calls.into();
            }
            record
        },
    )
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => any_record().prop_map(|record| record.to_string()),
        1 => proptest::collection::vec(any_record(), 0..4).prop_map(|records| list(&records).to_string()),
        1 => Just(header(5).to_string()),
        1 => Just(resumed().to_string()),
        1 => any_id().prop_map(|id| json!({"$rewindTo": id}).to_string()),
        1 => any_id().prop_map(|id| json!({"$note": {"record": id, "agent": "ag1"}}).to_string()),
        1 => "[{}\\[\\]\",:a-z$0-9 ]{0,30}",
    ];
    (line, any::<Option<(usize, u8)>>(), 0..8_u8).prop_map(|(line, damage, chance)| {
        let mut line = line.into_bytes();
        if let (Some((at, byte)), 0, false) = (damage, chance, line.is_empty()) {
            let at = at % line.len();
            line[at] = byte;
        }
        line
    })
}

fn any_file() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any_line(), 0..14).prop_map(|lines| lines.join(&b'\n'))
}

proptest! {
    #[test]
    fn any_files_give_runs_in_which_each_response_counts_once(
        main in any_file(), copy in any_file(), agent in any_file(), document in any_file(),
    ) {
        let files = Files::default()
            .with_bytes(MAIN, main)
            .with_bytes("other/chats/session-2026-01-01T00-00-11111111.jsonl", copy)
            .with_bytes("other/chats/session-2026-01-01T00-00-11111111.json", document)
            .with_bytes("proj/chats/11111111-aaaa-4bbb-8ccc-dddddddddddd/ag1.jsonl", agent);
        let session = files.session();
        let mut seen = HashSet::new();
        for (segment, tape) in session.segments.iter().zip(files.tapes()) {
            for key in &segment.responses {
                prop_assert!(seen.insert(key.clone()), "{} twice", key);
            }
            let mut counted = counted(&tape);
            let mut named = segment.responses.clone();
            counted.sort_unstable();
            named.sort_unstable();
            prop_assert_eq!(counted, named);
        }
    }

    #[test]
    fn lines_that_come_twice_change_nothing(file in any_file()) {
        for tape in Files::default().with_bytes(MAIN, file).tapes() {
            let twice = [&tape[..], &tape].concat();
            let (one, two) = (summary(&tape), summary(&twice));
            prop_assert_eq!(&one.texts, &two.texts);
            prop_assert_eq!(said_calls(&one), said_calls(&two), "{}", String::from_utf8_lossy(&tape));
            prop_assert_eq!(counted(&tape), counted(&twice));
        }
    }

    #[test]
    fn any_line_is_read_by_the_parser(lines in proptest::collection::vec(any_line(), 0..20)) {
        let _ = summary(&lines.join(&b'\n'));
    }
}
