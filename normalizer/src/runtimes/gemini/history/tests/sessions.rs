//! Where a process begins, and what is a copy.

use super::*;

fn tool_turn() -> Value {
    with(
        answer("g1", 2, "Running."),
        &json!({"toolCalls": [call("t1", "ls", "a")]}),
    )
}

/// The records of the first run as resuming repeats them: the results once more, as a user's record
/// with the id of the message.
fn repeated() -> Vec<Value> {
    vec![
        context_record(0),
        user("u1", 1, "One."),
        with(
            tool_turn(),
            &json!({"content": [{"text": "Running."},
            {"functionCall": {"id": "t1", "name": "run_shell_command", "args": {"command": "ls"}}}]}),
        ),
        results("g1", 2, "t1", "a"),
        results("u2", 3, "t1", "a"),
        with(
            answer("g2", 4, "x"),
            &json!({"content": [{"text": "One done."}]}),
        ),
    ]
}

fn first_run() -> Vec<Value> {
    vec![
        header(0),
        list(&[context_record(0)]),
        user("u1", 1, "One."),
        tool_turn(),
        results("u2", 3, "t1", "a"),
        answer("g2", 4, "One done."),
    ]
}

fn second_run() -> Vec<Value> {
    vec![user("u3", 30, "Two."), answer("g3", 31, "Two done.")]
}

fn assert_two_runs(files: &Files) {
    let session = files.session();
    assert_eq!(session.id, SESSION);
    let [one, two] = &session.segments[..] else {
        panic!("{} segments", session.segments.len());
    };
    assert_eq!((one.key.as_str(), two.key.as_str()), ("u1", "u3"));
    assert_eq!(one.responses, ["g1", "g2"]);
    assert_eq!(two.responses, ["g3"]);
    assert_eq!(one.calls, ["t1"]);
    assert!(two.calls.is_empty());
    assert!(!one.is_resumed && two.is_resumed);
    assert!(one.is_over && !two.is_over);
    let runs = files.summaries();
    assert_eq!(runs[0].texts, ["Running.", "One done."]);
    assert_eq!(runs[1].texts, ["Two done."]);
    for (run, tokens) in runs.iter().zip([12, 6]) {
        assert_eq!(run.usage.as_ref().unwrap().input_tokens, Some(tokens));
        assert_eq!(run.session_id.as_deref(), Some(SESSION));
        assert!(run.unparsed.is_empty());
    }
    assert_eq!(said_calls(&runs[0]), [("t1", Some(false))]);
}

#[test]
fn a_resumed_session_has_a_run_more_and_counts_nothing_twice() {
    let lines = [
        first_run(),
        vec![resumed(), list(&repeated())],
        second_run(),
    ]
    .concat();
    let stub = "proj/chats/session-2026-01-01T00-01-11111111.jsonl";
    let files = Files::one(&lines).with(stub, &[header(29), list(&[context_record(29)])]);
    assert_two_runs(&files);
    let cwds: Vec<_> = files
        .session()
        .segments
        .into_iter()
        .map(|segment| segment.cwd)
        .collect();
    assert_eq!(
        cwds,
        [
            Some("/home/dev/proj".to_owned()),
            Some("/home/dev/proj".to_owned())
        ]
    );
    assert_eq!(files.summaries()[1].cwd.as_deref(), Some("/home/dev/proj"));
}

#[test]
fn resuming_in_the_same_minute_loses_nothing_that_was_said() {
    let bare: Vec<Value> = repeated()
        .into_iter()
        .map(|record| without(record, &["tokens", "model", "toolCalls", "thoughts"]))
        .map(|record| with(record, &json!({"timestamp": time(29)})))
        .collect();
    let marks = vec![
        header(29),
        list(&[context_record(29)]),
        resumed(),
        list(&bare),
    ];
    let files = Files::one(&[first_run(), marks, second_run()].concat());
    assert_two_runs(&files);
    assert_eq!(files.session().segments[0].last_at, Some(1_767_225_609_000));
}

#[test]
fn a_document_and_its_copies_are_one_session() {
    let document = |records: &[Value]| {
        let document = json!({"sessionId": SESSION, "projectHash": "h", "startTime": time(0),
            "lastUpdated": time(4), "messages": records});
        serde_json::to_vec_pretty(&document).unwrap()
    };
    let old = [
        json!({"id": "u1", "timestamp": time(1), "type": "user", "content": "One."}),
        tool_turn(),
        answer("g2", 4, "One done."),
    ];
    let copied = [
        vec![
            header(29),
            list(&[context_record(29)]),
            without(header(0), &["kind"]),
        ],
        old.to_vec(),
        vec![resumed(), list(&repeated())],
        second_run(),
    ]
    .concat();
    let name = "chats/session-2026-01-01T00-00-11111111.json";
    for slug in ["proj", "aaa"] {
        let files = Files::default()
            .with_bytes(&format!("bb97/{name}"), document(&old))
            .with_bytes(&format!("{slug}/{name}"), document(&old))
            .with(&format!("{slug}/{name}l"), &copied);
        assert_two_runs(&files);
    }
    // The copy alone, and without a part of the document.
    assert_two_runs(&Files::default().with(&format!("proj/{name}l"), &copied));
    let files = Files::default()
        .with_bytes(&format!("bb97/{name}"), document(&old[..2]))
        .with(&format!("proj/{name}l"), &copied);
    assert_two_runs(&files);
}

#[test]
fn prompts_of_a_document_are_processes_unless_it_was_shown_in_a_terminal() {
    let old = |more: &[Value]| {
        let mut records = vec![
            json!({"id": "u1", "timestamp": time(1), "type": "user", "content": "One."}),
            answer("g1", 2, "One done."),
            json!({"id": "u3", "timestamp": time(30), "type": "user", "content": "Two."}),
            answer("g3", 31, "Two done."),
        ];
        records.extend_from_slice(more);
        let document = json!({"sessionId": SESSION, "projectHash": "h", "messages": records});
        let name = "bb97/chats/session-2026-01-01T00-00-11111111.json";
        Files::default().with_bytes(name, serde_json::to_vec_pretty(&document).unwrap())
    };
    let runs = old(&[]).summaries();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].texts, ["Two done."]);
    assert_eq!(runs[1].session_id.as_deref(), Some(SESSION));
    let mut shown = call("t1", "ls", "a");
    shown["resultDisplay"] = json!([[{"text": "a"}]]);
    let table = [
        json!({"id": "i1", "timestamp": time(32), "type": "info", "content": "Request cancelled."}),
        with(answer("g4", 32, ""), &json!({"toolCalls": [shown]})),
    ];
    for record in table {
        let files = old(&[record]);
        assert_eq!(files.summary().texts, ["One done.", "Two done."]);
        assert_eq!(files.session().segments[0].key, "u1");
    }
}

#[test]
fn a_document_that_is_cut_waits_and_its_copy_is_read() {
    let document = json!({"sessionId": SESSION, "messages": [user("u1", 1, "One."), answer("g1", 2, "Done.")]});
    let whole = serde_json::to_vec_pretty(&document).unwrap();
    let name = "chats/session-2026-01-01T00-00-11111111.json";
    for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
        let files = Files::default()
            .with_bytes(&format!("a/{name}"), whole[..cut].to_vec())
            .with_bytes(&format!("b/{name}"), whole.clone());
        assert_eq!(files.summary().texts, ["Done."], "{cut}");
        let alone = Files::default().with_bytes(&format!("a/{name}"), whole[..cut].to_vec());
        assert!(alone.session().segments.is_empty());
    }
}

#[test]
fn a_terminal_with_many_prompts_is_one_run() {
    let files = Files::one(&[
        header(0),
        list(&[context_record(0)]),
        user("u1", 1, "First."),
        answer("g1", 2, "First done."),
        user("u2", 3, "Talk for long."),
        json!({"id": "i1", "timestamp": time(4), "type": "info", "content": "Request cancelled."}),
        // The cancelled prompt is no longer in the list: it was asked all the same.
        list(&[
            context_record(0),
            user("u1", 1, "First."),
            answer("g1", 2, "First done."),
        ]),
        user("u3", 5, "Never mind."),
        answer("g3", 6, "Fine."),
    ]);
    let run = files.summary();
    assert_eq!(run.texts, ["First done.", "Fine."]);
    let text = serde_json::to_string(&records(&files.tapes()[0])).unwrap();
    assert!(text.contains("Talk for long.") && text.contains("Request cancelled."));
}

#[test]
fn what_was_said_before_a_summary_or_a_rewind_was_spent() {
    let files = Files::one(&[
        header(0),
        user("u1", 1, "First."),
        answer("g1", 2, "First done."),
        list(&[
            context_record(3),
            user("s1", 3, "<state_snapshot>So far.</state_snapshot>"),
            json!({"id": "s2", "timestamp": time(3), "type": "gemini",
                "content": [{"text": "Got it. Thanks for the additional context!"}]}),
        ]),
        user("u2", 5, "Second."),
        answer("g2", 6, "Wrong."),
        json!({"$rewindTo": "u2"}),
        user("u3", 7, "Third."),
        answer("g3", 8, "Right."),
    ]);
    let run = files.summary();
    assert_eq!(run.texts, ["First done.", "Wrong.", "Right."]);
    assert_eq!(files.session().segments[0].responses, ["g1", "g2", "g3"]);
    assert_eq!(counted(&files.tapes()[0]), ["g1", "g2", "g3"]);
    let found = notices(&run);
    assert!(
        found
            .iter()
            .any(|text| text.contains("compaction") && text.contains("So far.")),
        "{found:?}"
    );
    assert!(
        found.iter().any(|text| text.contains("rewound")),
        "{found:?}"
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(run.unparsed.is_empty());
}

#[test]
fn prompts_are_what_was_typed() {
    let typed = with(
        user("u1", 1, "Sum up @a.txt\nContent of a.txt"),
        &json!({"displayContent": [{"text": "Sum up @a.txt"}]}),
    );
    let nudge = with(
        user("u2", 2, "System: Potential loop detected."),
        &json!({"displayContent": [{"text": "Sum up @a.txt"}]}),
    );
    let files = Files::one(&[header(0), typed, nudge]);
    let segment = &files.session().segments[0];
    assert_eq!(segment.prompt.as_deref(), Some("Sum up @a.txt"));
    let text = serde_json::to_string(&records(&files.tapes()[0])).unwrap();
    assert_eq!(text.matches("\"userMessage\"").count(), 1, "{text}");
    assert!(notices(&files.summary())[0].contains("Potential loop"));
}

#[test]
fn a_stub_is_no_run_and_neither_are_notices_alone() {
    let notice = json!({"id": "i1", "timestamp": time(1), "type": "info", "content": "Welcome."});
    let files = Files::one(&[header(0), list(&[context_record(0)]), notice.clone()]);
    assert!(files.session().segments.is_empty());
    // A process that says nothing but a notice leaves it with the one before.
    let files = Files::one(&[first_run(), vec![resumed(), notice]].concat());
    assert_eq!(files.session().segments.len(), 1);
    assert!(notices(&files.summary())[0].contains("Welcome."));
}

#[test]
fn only_what_stands_in_no_line_is_made() {
    let lines = [
        first_run(),
        vec![resumed(), list(&repeated())],
        second_run(),
    ]
    .concat();
    let session = Files::one(&lines).session();
    let made = session.segments.iter().flat_map(|segment| &segment.lines);
    let made: Vec<_> = made
        .filter_map(|line| match line {
            crate::history::SegmentLine::Made(bytes) => {
                Some(String::from_utf8(bytes.clone()).unwrap())
            }
            crate::history::SegmentLine::Kept { .. } => None,
        })
        .collect();
    assert!(
        made.iter()
            .all(|line| line.starts_with("{\"$note\"") && line.len() < 200),
        "{made:?}"
    );
}

#[test]
fn the_title_is_the_last_summary() {
    let files = Files::one(&[
        header(0),
        user("u1", 1, "Go."),
        answer("g1", 2, "Done."),
        json!({"$set": {"summary": "A first title"}}),
        json!({"$set": {"summary": "What it was about", "lastUpdated": time(5)}}),
    ]);
    assert_eq!(files.session().title.as_deref(), Some("What it was about"));
}
