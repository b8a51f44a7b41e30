//! Holds the `OpenClaw` protocol to recorded calls and their results.

use runtape_openclaw_protocol::AGENT_FILE_NAMES;
use serde_json::{Value, json};

use super::answer_all;

/// Returns what the example prints, what it reports, and how many calls it could not answer.
fn answers(input: &str) -> (String, String, usize) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let failures =
        answer_all(input.as_bytes(), &mut output, &mut errors).expect("memory takes every write");
    let text = |bytes| String::from_utf8(bytes).expect("the example prints UTF-8");
    (text(output), text(errors), failures)
}

#[test]
fn every_recorded_call_has_the_recorded_result() {
    let cases = include_str!("../../tests/data/clawboo-cases.jsonl");
    let (output, errors, failures) = answers(cases);
    assert_eq!((errors.as_str(), failures), ("", 0));
    // Only LF ends a line: some texts hold other separators.
    let expected: Vec<_> = cases.split_terminator('\n').collect();
    let printed: Vec<_> = output.split_terminator('\n').collect();
    assert_eq!(printed.len(), expected.len());
    for (printed, expected) in printed.iter().zip(expected) {
        let value = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        assert_eq!(value(printed), value(expected), "{expected}");
    }
}

#[test]
fn constants_answer_like_functions_without_arguments() {
    let constant = |name: &str| {
        let (output, errors, failures) = answers(&json!({"fn": name, "args": []}).to_string());
        assert_eq!((errors.as_str(), failures), ("", 0));
        let answer: Value = serde_json::from_str(&output).unwrap();
        answer["result"].clone()
    };
    assert_eq!(constant("AGENT_FILE_NAMES"), json!(AGENT_FILE_NAMES));
    let names = AGENT_FILE_NAMES.map(|name| name.to_string());
    for record in ["AGENT_FILE_META", "AGENT_FILE_PLACEHOLDERS"] {
        let record = constant(record);
        let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
        assert_eq!(keys, names.iter().collect::<Vec<_>>());
    }
    assert_eq!(constant("AGENT_FILE_META")["SOUL.md"]["title"], "SOUL.md");
    let files = constant("AGENT_FILES");
    assert_eq!(files.as_array().unwrap().len(), 7);
    assert_eq!(files[6]["filename"], "MEMORY.md");
    assert_eq!(files[6]["editable"], false);
}

#[test]
fn rows_are_sorted_whatever_else_they_have_or_lack() {
    let calls = concat!(
        r#"{"fn":"sortTranscriptEntries","args":[[{"entryId":"b","sequenceKey":2},{"entryId":"a","sequenceKey":1,"more":{"x":[1]}},{"entryId":"b","sequenceKey":0}]]}"#,
        "\n",
        r#"{"fn":"sortTranscriptEntries","args":[[{"entryId":"b","timestampMs":9},{"entryId":"a","timestampMs":5,"text":5}]]}"#,
        "\n",
        r#"{"fn":"sortTranscriptEntries","args":[[{"text":"first"},{"text":"second"},{"entryId":null},{}]]}"#,
        "\n",
    );
    let (output, errors, failures) = answers(calls);
    assert_eq!((errors.as_str(), failures), ("", 0));
    let results: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].clone())
        .collect();
    let expected = [
        json!([{"entryId": "a", "sequenceKey": 1, "more": {"x": [1]}}, {"entryId": "b", "sequenceKey": 2}]),
        json!([{"entryId": "a", "timestampMs": 5, "text": 5}, {"entryId": "b", "timestampMs": 9}]),
        // In JavaScript an id that is null is another one than none.
        json!([{"text": "first"}, {"entryId": null}]),
    ];
    assert_eq!(results, expected);
}

#[test]
fn calls_that_cannot_be_answered_are_reported_in_their_place() {
    let cases = [
        (
            r#"{"fn":"nope","args":[]}"#,
            "line 1: nope: no such function\n",
        ),
        (
            r#"{"fn":"fnv1a","args":[5]}"#,
            "line 1: fnv1a: bad arguments: the first is not a string\n",
        ),
        (
            r#"{"fn":"fnv1a","args":{}}"#,
            "line 1: fnv1a: bad arguments: not an array\n",
        ),
        (
            r#"{"fn":"createTranscriptEntryFromLine","args":[{"line":"a"}]}"#,
            "line 1: createTranscriptEntryFromLine: bad arguments: sessionKey is not a string\n",
        ),
    ];
    for (call, report) in cases {
        let (output, errors, failures) = answers(call);
        assert_eq!((errors.as_str(), failures), (report, 1), "{call}");
        let answer: Value = serde_json::from_str(&output).unwrap();
        assert!(answer["error"].is_string() && answer.get("result").is_none());
    }
    for line in ["{", "[]", "\"x\"", "{\"fn\":1}", "\u{feff}{}"] {
        let (output, errors, failures) = answers(line);
        assert!(errors.starts_with("line 1: not a call: "), "{errors}");
        assert_eq!((output.lines().count(), failures), (1, 1), "{line}");
    }
}

#[test]
fn deep_arguments_are_refused_not_recursed_into() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let (_, errors, failures) = answers(&format!(r#"{{"fn":"parseMessage","args":{deep}}}"#));
    assert_eq!(failures, 1);
    assert!(errors.contains("nest deeper"), "{errors}");
}

#[test]
fn numbers_and_halves_of_characters_that_rust_cannot_hold_are_taken() {
    let calls = concat!(
        r#"{"fn":"extractText","args":[{"text":"\ud800a","x":1e999}]}"#,
        "\n\n",
        r#"{"fn":"parseMessage","args":[{"timestamp":1e999,"createdAt":2.0}]}"#,
        "\r\n",
    );
    let (output, errors, _) = answers(calls);
    assert_eq!(errors, "");
    assert!(output.contains("\"result\":\"\u{fffd}a\""), "{output}");
    assert!(output.contains(r#""metadata":{"timestamp":2}"#), "{output}");
}
