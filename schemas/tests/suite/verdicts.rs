//! What the validator says, word for word.

use runtape_schemas::{SchemaKind, Validator, Verdict, validate_jsonl};
use serde_json::{Value, json};

fn call_tools() -> Value {
    json!({
        "id": "e1", "expertKey": "x", "timestamp": 1, "jobId": "job-123", "runId": "run-456",
        "stepNumber": 1, "type": "callTools",
        "newMessage": {
            "type": "expertMessage", "id": "m1",
            "contents": [{"type": "toolCallPart", "id": "p1", "toolCallId": "c1", "toolName": "ls", "args": {}}],
        },
        "toolCalls": [{"id": "c1", "skillName": "cursor", "toolName": "ls", "args": {}}],
        "usage": {
            "inputTokens": 1, "outputTokens": 1, "reasoningTokens": 0, "totalTokens": 2,
            "cachedInputTokens": 0,
        },
    })
}

/// Returns the faults of a value as lines, each with the path in the schema.
fn faults(kind: SchemaKind, value: &Value) -> Vec<String> {
    let verdict = Validator::for_kind(kind).validate(value);
    assert!(verdict.is_invalid(), "{verdict:?}");
    let faults = verdict.faults().iter();
    faults
        .map(|fault| format!("{fault} ({})", fault.schema_path))
        .collect()
}

/// Returns a value with something else at a path.
fn with(mut value: Value, path: &str, other: Value) -> Value {
    *value.pointer_mut(path).unwrap() = other;
    value
}

#[test]
fn every_schema_compiles() {
    for kind in SchemaKind::ALL {
        Validator::compile(*kind).unwrap();
    }
}

#[test]
fn faults_are_those_of_the_type_that_was_meant() {
    let long = "x".repeat(256);
    for (path, other, expected) in [
        (
            "/toolCalls/0/id",
            json!(5),
            "callTools: /toolCalls/0/id: expected string, found integer (/$defs/ToolCallId/type)",
        ),
        (
            "/toolCalls/0/toolName",
            json!(""),
            "callTools: /toolCalls/0/toolName: expected at least 1 characters, found \"\" (/$defs/ToolName/minLength)",
        ),
        (
            "/toolCalls/0/skillName",
            json!(long),
            "callTools: /toolCalls/0/skillName: expected at most 255 characters, found \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"… (/$defs/ToolName/maxLength)",
        ),
        (
            "/toolCalls/0/args",
            json!({"": 1}),
            "callTools: /toolCalls/0/args: a key is not allowed: expected at least 1 characters, found \"\" (/$defs/ToolCall/properties/args/propertyNames/minLength)",
        ),
        (
            "/newMessage/contents/0",
            json!({"type": "toolCallPart", "toolCallId": "c1", "toolName": "ls", "args": {}}),
            "callTools: /newMessage/contents/0: missing field `id` (/$defs/ToolCallPart/required)",
        ),
        (
            "/newMessage/contents/0/type",
            json!("imageUrlPart"),
            "callTools: /newMessage/contents/0/type: expected one of \"textPart\", \"toolCallPart\", \"thinkingPart\", found \"imageUrlPart\" (/$defs/ExpertPart/oneOf)",
        ),
        (
            "/usage/inputTokens",
            json!(1.5),
            "callTools: /usage/inputTokens: expected integer, found number (/$defs/Usage/properties/inputTokens/type)",
        ),
        (
            "/jobId",
            json!("../x"),
            "callTools: /jobId: expected text that matches ^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$, found \"../x\" (/$defs/JobId/pattern)",
        ),
        (
            "/timestamp",
            json!(null),
            "callTools: /timestamp: expected integer, found null (/$defs/CallToolsEvent/properties/timestamp/type)",
        ),
        (
            "/type",
            json!(7),
            "/type: expected string, found integer (/$defs/UnknownRunEvent/properties/type/type)",
        ),
    ] {
        let value = with(call_tools(), path, other);
        assert_eq!(faults(SchemaKind::RunEvent, &value), [expected]);
    }
}

#[test]
fn all_faults_are_reported_in_the_order_of_the_value() {
    let mut value = call_tools();
    let call = value["toolCalls"][0].clone();
    value["toolCalls"] = (0..12).map(|_| call.clone()).collect();
    for at in 0..12 {
        value["toolCalls"][at]["id"] = json!(null);
    }
    value["usage"] = json!({});
    let verdict = Validator::for_kind(SchemaKind::RunEvent).validate(&value);
    let paths: Vec<_> = verdict
        .faults()
        .iter()
        .map(|fault| fault.path.as_str())
        .collect();
    let calls: Vec<String> = (0..12).map(|at| format!("/toolCalls/{at}/id")).collect();
    assert_eq!(paths[..12], calls);
    assert_eq!(paths[12..], ["/usage"; 5]);
}

#[test]
fn an_unknown_type_is_unknown_and_not_thirty_failed_variants() {
    let newer = with(call_tools(), "/type", json!("callMoon"));
    let unknown = Verdict::Unknown {
        tag: "callMoon".to_owned(),
    };
    for kind in [
        SchemaKind::RunEvent,
        SchemaKind::RuntimeEvent,
        SchemaKind::Event,
    ] {
        assert_eq!(
            Validator::for_kind(kind).validate(&newer),
            unknown,
            "{kind}"
        );
    }
    let within = json!({
        "runId": "r", "seq": 0, "at": 0, "type": "event", "step": 0, "event": {"type": "callMoon"},
    });
    assert_eq!(
        Validator::for_kind(SchemaKind::Record).validate(&within),
        unknown
    );
    // What every event has, an unknown one has too.
    let broken = with(newer, "/timestamp", json!("now"));
    let expected = "/timestamp: expected integer, found string (/$defs/UnknownRunEvent/properties/timestamp/type)";
    assert_eq!(faults(SchemaKind::RunEvent, &broken), [expected]);
}

#[test]
fn a_known_type_of_one_kind_is_no_unknown_type_of_the_other() {
    let mut value = call_tools();
    value.as_object_mut().unwrap().shift_remove("expertKey");
    let expected = "callTools: missing field `expertKey` (/$defs/CallToolsEvent/required)";
    assert_eq!(faults(SchemaKind::Event, &value), [expected]);
    let warning = json!({
        "id": "e1", "timestamp": 1, "jobId": "j", "runId": "r", "type": "warning",
        "expertKey": "x", "stepNumber": 1,
    });
    let expected = "warning: missing field `message` (/$defs/WarningEvent/required)";
    assert_eq!(faults(SchemaKind::Event, &warning), [expected]);
}

#[test]
fn objects_are_open() {
    let mut value = call_tools();
    value["mine"] = json!({"a": null});
    value["toolCalls"][0]["mine"] = json!(null);
    assert!(
        Validator::for_kind(SchemaKind::RunEvent)
            .validate(&value)
            .is_valid()
    );
}

#[test]
fn values_that_are_no_objects_are_faults() {
    for kind in SchemaKind::ALL {
        for value in [json!(null), json!([]), json!("x"), json!(1)] {
            let faults = faults(*kind, &value);
            assert!(
                faults[0].starts_with("expected object, found "),
                "{kind}: {faults:?}"
            );
        }
    }
}

#[test]
fn lines_have_numbers() {
    let broken = with(call_tools(), "/stepNumber", json!(-1));
    let newer = with(call_tools(), "/type", json!("callMoon"));
    let text = format!("{}\n\n{broken}\n{newer}\n{{\n", call_tools());
    let mut seen = Vec::new();
    let counts = validate_jsonl(text.as_bytes(), SchemaKind::Event, |line| {
        let words = match line.verdict {
            Verdict::Valid => "valid".to_owned(),
            Verdict::Unknown { tag } => format!("unknown {tag}"),
            Verdict::Invalid(faults) => faults[0].to_string(),
        };
        seen.push((line.line, words));
    });
    let counts = counts.unwrap();
    assert_eq!(
        (counts.valid, counts.unknown, counts.invalid, counts.blank),
        (1, 1, 2, 1)
    );
    let expected = [
        (1, "valid"),
        (3, "callTools: /stepNumber: expected at least 0, found -1"),
        (4, "unknown callMoon"),
        (5, "not JSON: EOF while parsing an object at column 1"),
    ];
    assert_eq!(seen, expected.map(|(line, words)| (line, words.to_owned())));
}

#[test]
fn urls_are_those_that_the_type_takes() {
    let validator = Validator::for_kind(SchemaKind::Message);
    for url in [
        "https://a.b/c?d",
        "file:///x",
        "data:image/png;base64,AA==",
        "http://[::1]/",
        "HTTP://é/",
        "not a url",
        "",
        "/path",
        "http:",
        "https://",
        "http:///x",
        "Https:/x",
        "1x:y",
        "a: b",
        "x:\u{85}",
        "x:\u{feff}",
        "x:\u{2003}",
        "ftp://\u{3000}x",
        "ws://-",
        "wss://x\u{7f}",
        "httpx:y",
    ] {
        let message = json!({
            "type": "userMessage", "id": "m",
            "contents": [{"type": "fileUrlPart", "id": "p", "url": url, "mimeType": "x"}],
        });
        let parses = runtape_core::MediaUrl::parse(url).is_ok();
        assert_eq!(validator.validate(&message).is_valid(), parses, "{url:?}");
    }
}
