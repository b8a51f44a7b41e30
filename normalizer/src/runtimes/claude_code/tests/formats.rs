//! What kind of output it is, and what each kind has.

use super::*;

#[test]
fn the_customer_s_result_line_is_an_answer() {
    let summary = text("{\"type\":\"result\",\"content\":\"Hello World\"}");
    assert_eq!(summary.final_text.as_deref(), Some("Hello World"));
    assert_eq!(summary.texts, ["Hello World"]);
    assert_eq!(summary.output_format.as_deref(), Some("json"));
    // It does not say whether the run went well.
    assert_eq!(summary.error.unwrap().name, "UnclearResult");
    assert_eq!(summary.unparsed.len(), 2);
}

#[test]
fn an_answer_may_look_like_a_message() {
    let session = format!("{{\"type\":\"result\",\"session_id\":\"{SESSION}\"}}");
    let answers = [
        "[]",
        "{}",
        "{\"is_error\":true}",
        "{\"name\":\"Ada\"}",
        "[{\"type\":\"text\",\"text\":\"x\"}]",
        "{\"type\":\"result\",\"result\":\"x\"}",
        "{\"type\":\"result\",\"value\":42}",
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\"}",
        "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":true}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}",
        "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/\"}",
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"ping\"}}",
        "{\n  \"type\": \"result\",\n  \"result\": \"x\"\n}",
        "{\"type\":\"result\",\"content\":\"x\"}\nand more",
        &session,
    ];
    let known: &[&str] = &["claude", "-p", "Hi"];
    for answer in answers {
        for argv in [&[][..], known] {
            let given = Given {
                argv,
                stdout: format!("{answer}\n"),
                ..Given::default()
            };
            let summary = given.summary();
            assert_eq!(summary.final_text.as_deref(), Some(answer), "{argv:?}");
            assert_eq!(summary.output_format.as_deref(), Some("text"), "{answer}");
            assert_eq!(summary.status, CheckpointStatus::Completed, "{answer}");
            assert!(summary.unparsed.is_empty(), "{answer}");
        }
    }
    // A known command line decides by itself.
    let forged = lines(&[init(), result("forged")]);
    let given = Given {
        argv: known,
        stdout: forged.clone(),
        ..Given::default()
    };
    let summary = given.summary();
    assert_eq!(summary.final_text.as_deref(), Some(forged.trim_end()));
}

#[test]
fn partial_messages_that_never_came_make_no_other_format() {
    let partial = &[
        "claude",
        "-p",
        "Hi",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
    ];
    let given = |stdout: String| Given {
        argv: partial,
        stdout,
        ..Given::default()
    };
    let format = |stdout: &[Value]| given(lines(stdout)).summary().output_format.unwrap();
    assert_eq!(
        format(&[init(), says("m1", "x"), result("x")]),
        "stream-json"
    );
    assert_eq!(format(&[result("x")]), "stream-json");
    let requesting = json!({"type": "system", "subtype": "status", "status": "requesting",
        "session_id": SESSION});
    assert_eq!(
        format(&[init(), requesting, result("x")]),
        "stream-json-partial"
    );
    let nothing = given(String::new()).summary();
    assert_eq!(
        nothing.output_format.as_deref(),
        Some("stream-json-partial")
    );
}

#[test]
fn the_json_format_has_nothing_but_the_answer() {
    let summary = stream(&[result("It is a.txt.")]);
    assert_eq!(summary.output_format.as_deref(), Some("json"));
    assert_eq!(summary.texts, ["It is a.txt."]);
    assert_eq!((summary.model.as_deref(), summary.steps), (Some("m"), 1));
    let structured = json!({"structured_output": {"age": 36}});
    let summary = stream(&[with(result("{\"age\":36}"), &structured)]);
    assert_eq!(summary.final_text.as_deref(), Some("{\"age\":36}"));
    let summary = stream(&[with(
        result("x"),
        &json!({"is_error": true, "result": "Invalid API key"}),
    )]);
    assert_eq!(
        (summary.final_text.as_deref(), summary.texts.len()),
        (None, 0)
    );
    assert_eq!(family(&summary), Some(ErrorFamily::Auth));
    let summary = stream(&[with(result("x"), &json!({"result": {"a": 1}}))]);
    assert_eq!(summary.final_text.as_deref(), Some("{\"a\":1}"));
}

#[test]
fn json_may_be_printed_over_many_lines() {
    let whole = [init(), says("m1", "one"), result("one")];
    let array = serde_json::to_string(&whole).unwrap();
    let pretty_array = serde_json::to_string_pretty(&whole).unwrap();
    let pretty: Vec<String> = whole
        .iter()
        .map(|line| serde_json::to_string_pretty(line).unwrap())
        .collect();
    let table = [
        (array.clone() + "\n", "json-verbose"),
        (format!("\u{feff}{array}"), "json-verbose"),
        (pretty_array, "json-verbose"),
        (pretty.join("\r\n"), "stream-json"),
        (
            whole.iter().map(Value::to_string).collect::<String>(),
            "stream-json",
        ),
        (format!("Loaded.{}", lines(&whole)), "stream-json"),
        (
            format!("\n[warn] something\n{}", lines(&whole)),
            "stream-json",
        ),
    ];
    for (stdout, format) in table {
        let summary = text(&stdout);
        assert_eq!(summary.output_format.as_deref(), Some(format), "{stdout}");
        assert_eq!(summary.texts, ["one"], "{stdout}");
        assert_eq!(summary.status, CheckpointStatus::Completed, "{stdout}");
        assert!(
            summary.unparsed.is_empty(),
            "{stdout}: {:?}",
            summary.unparsed
        );
    }
    let summary = text(&format!("Loaded.\n{}", lines(&whole)));
    assert_eq!(summary.notices[0].text, "Loaded.");
    let summary = text(array.get(..array.len() - 20).unwrap());
    assert_eq!(summary.error.unwrap().name, "TruncatedOutput");
    assert_eq!((summary.texts.len(), summary.unparsed.len()), (1, 1));
}

#[test]
fn plain_text_is_the_answer_exactly() {
    let table = [
        ("one\n", "one"),
        ("  one\n\n two \n\n", "  one\n\n two \n"),
        ("one", "one"),
        ("\n", ""),
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("a\r\nb\n", "a\r\nb"),
        (
            "{\"name\":\"Ada\",\"age\":36}\n",
            "{\"name\":\"Ada\",\"age\":36}",
        ),
        ("{\n  \"age\": 36\n}\n", "{\n  \"age\": 36\n}"),
        ("{\n not json\n", "{\n not json"),
        ("[1] a footnote\n", "[1] a footnote"),
        (
            "see:\n{\"type\":\"result\",\"result\":\"x\"}\n",
            "see:\n{\"type\":\"result\",\"result\":\"x\"}",
        ),
    ];
    for (stdout, expected) in table {
        let summary = text(stdout);
        assert_eq!(summary.final_text.as_deref(), Some(expected), "{stdout:?}");
        assert_eq!(summary.output_format.as_deref(), Some("text"), "{stdout:?}");
        assert_eq!(summary.status, CheckpointStatus::Completed, "{stdout:?}");
    }
}

#[test]
fn text_with_a_failed_exit_is_the_error_s_message() {
    let mut given = Given {
        stdout: "Error: Reached max turns (1)".to_owned(),
        ..Given::default()
    };
    given.exit = Exit::with_code(1);
    let summary = given.summary();
    assert_eq!(summary.status, CheckpointStatus::StoppedByError);
    assert_eq!(
        (summary.final_text.as_deref(), summary.texts.len()),
        (None, 0)
    );
    let error = summary.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.message.as_str()),
        ("NonZeroExit", "Error: Reached max turns (1)")
    );
    given.exit = Exit::unknown();
    let summary = given.summary();
    assert_eq!(summary.status, CheckpointStatus::Completed);
    given.stdout = String::new();
    given.exit = Exit::with_code(0);
    assert_eq!(given.summary().error.unwrap().name, "TruncatedOutput");
}

#[test]
fn one_line_of_cut_json_is_no_answer() {
    for stdout in [
        "{\"type\":\"result\",\"resu",
        "{\"duration_api_ms\":4",
        "[{\"type\":\"system\"",
    ] {
        let summary = text(stdout);
        assert_eq!(
            summary.error.as_ref().unwrap().name,
            "TruncatedOutput",
            "{stdout}"
        );
        assert_eq!(
            (summary.texts.len(), summary.unparsed.len()),
            (0, 1),
            "{stdout}"
        );
    }
}

#[test]
fn what_is_new_is_unparsed_and_costs_nothing_else() {
    let mut odd = says("m1", "one");
    odd["message"]["usage"]["input_tokens"] = "five".into();
    let summary = stream(&[
        init(),
        json!({"type": "brand_new", "session_id": SESSION}),
        json!({"type": "system", "subtype": "brand_new", "session_id": SESSION}),
        assistant("m1", &json!({"type": "brand_new_block"})),
        odd,
        json!({"no": "type"}),
        result("one"),
    ]);
    let tags: Vec<_> = summary
        .unparsed
        .iter()
        .map(|line| (line.r#type.as_deref(), line.line))
        .collect();
    let expected = [
        (Some("brand_new"), 2),
        (Some("system"), 3),
        (Some("assistant.brand_new_block"), 4),
        (Some("assistant"), 5),
        (None, 6),
    ];
    assert_eq!(tags, expected);
    assert_eq!(summary.texts, ["one"]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
}

#[test]
fn text_over_the_limit_is_not_held() {
    let mut given = Given {
        limit: Some(16),
        ..Given::default()
    };
    given.stdout = "12345678\n".repeat(10);
    let summary = given.summary();
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.texts.concat(), given.stdout.trim_end());
}

#[test]
fn what_is_inside_a_cut_line_is_no_message() {
    let inner = json!({"type": "result", "result": "forged"});
    let line = calls("m1", "t1", "Write", &inner).to_string();
    let cut = line.get(..line.len() - 30).unwrap();
    for stdout in [
        format!("{}\n{cut}", init()),
        format!("{}\n{cut}\n{}\n", init(), says("m2", "more")),
        format!("{}\nbanner {cut}\n", init()),
    ] {
        let summary = text(&stdout);
        assert_eq!(summary.error.unwrap().name, "TruncatedOutput", "{stdout}");
        let unparsed = summary.unparsed.len() + summary.notices.len();
        assert_eq!(unparsed, 1, "{stdout}");
    }
}

#[test]
fn the_output_may_be_of_another_format_than_the_default() {
    let mut given = Given {
        argv: &["wrapper", "-p", "Hi"],
        stdout: lines(&[init(), says("m1", "one"), result("one")]),
        ..Given::default()
    };
    let summary = given.summary();
    assert_eq!(summary.output_format.as_deref(), Some("stream-json"));
    assert_eq!(summary.texts, ["one"]);
    given.argv = &["claude", "-p", "Hi", "--output-format", "text"];
    let summary = given.summary();
    assert_eq!(summary.output_format.as_deref(), Some("text"));
    assert_eq!(summary.texts, [given.stdout.trim_end()]);
}
