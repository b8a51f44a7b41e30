//! When a run is called completed: all words that a result can have, against all exits.

use super::*;

/// Values of `is_error`; the first two are documented. `None` leaves the field out.
fn is_error_values() -> Vec<Option<Value>> {
    vec![
        Some(json!(false)),
        Some(json!(true)),
        None,
        Some(json!(null)),
        Some(json!("true")),
        Some(json!("false")),
        Some(json!("")),
        Some(json!(0)),
        Some(json!(1)),
        Some(json!([])),
        Some(json!({"is_error": false})),
    ]
}

/// Values of `subtype`; the first five are documented.
fn subtype_values() -> Vec<Option<Value>> {
    vec![
        Some(json!("success")),
        Some(json!("error_max_turns")),
        Some(json!("error_max_budget_usd")),
        Some(json!("error_during_execution")),
        Some(json!("error_max_structured_output_retries")),
        None,
        Some(json!(null)),
        Some(json!("")),
        Some(json!("cancelled")),
        Some(json!("Success")),
        Some(json!("error_brand_new")),
        Some(json!(true)),
        Some(json!(["success"])),
    ]
}

fn exits() -> Vec<Exit> {
    vec![
        Exit::unknown(),
        Exit::with_code(0),
        Exit::with_code(1),
        Exit::with_code(143),
        Exit::with_signal("SIGKILL"),
    ]
}

/// A result as 2.1.325 prints it, with other words for how the run ended.
fn result_in_words(is_error: Option<&Value>, subtype: Option<&Value>) -> Value {
    let mut line = with(result("The text."), &json!({"result_index": 0}));
    let fields = line.as_object_mut().unwrap();
    for (key, value) in [("is_error", is_error), ("subtype", subtype)] {
        match value {
            Some(value) => fields.insert(key.to_owned(), value.clone()),
            None => fields.remove(key),
        };
    }
    line
}

const JSON: &[&str] = &["claude", "-p", "Hi", "--output-format", "json"];
const STREAM: &[&str] = &["claude", "-p", "Hi", "--output-format", "stream-json"];

#[test]
fn only_the_documented_words_of_success_complete_a_run() {
    let mut cases = 0;
    for is_error in is_error_values() {
        for subtype in subtype_values() {
            let line = result_in_words(is_error.as_ref(), subtype.as_ref());
            let streamed = lines(&[init(), says("m1", "The text."), line.clone()]);
            let outputs = [
                (&[][..], format!("{line}\n")),
                (JSON, format!("{line}\n")),
                (&[][..], streamed.clone()),
                (STREAM, streamed.clone()),
                (&[][..], format!("[{},{}]\n", init(), line)),
            ];
            for (argv, stdout) in outputs {
                for exit in exits() {
                    let given = Given {
                        argv,
                        stdout: stdout.clone(),
                        exit: exit.clone(),
                        ..Given::default()
                    };
                    let summary = given.summary();
                    let case = format!("{is_error:?} {subtype:?} {exit:?} {argv:?}\n{stdout}");
                    judge(&summary, is_error.as_ref(), subtype.as_ref(), &case);
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 11 * 13 * 5 * 5);
}

fn judge(summary: &RunSummary, is_error: Option<&Value>, subtype: Option<&Value>, case: &str) {
    let word = subtype.and_then(Value::as_str);
    let is_known = word.is_some_and(|word| {
        word == "success"
            || matches!(
                word,
                "error_max_turns"
                    | "error_max_budget_usd"
                    | "error_during_execution"
                    | "error_max_structured_output_retries"
            )
    });
    let name = summary.error.as_ref().map(|error| error.name.as_str());
    match (is_error, word) {
        (Some(Value::Bool(false)), Some("success")) => {
            assert_eq!(summary.status, CheckpointStatus::Completed, "{case}");
            assert!(
                summary.error.is_none() && summary.unparsed.is_empty(),
                "{case}"
            );
        }
        (Some(Value::Bool(true)), Some("success")) => {
            assert_eq!(summary.status, CheckpointStatus::StoppedByError, "{case}");
            assert_eq!(name, Some("ApiError"), "{case}");
            assert!(summary.unparsed.is_empty(), "{case}");
        }
        (Some(Value::Bool(true)), Some(word)) if is_known => {
            let status = match word {
                "error_max_turns" => CheckpointStatus::StoppedByExceededMaxSteps,
                _ => CheckpointStatus::StoppedByError,
            };
            assert_eq!(summary.status, status, "{case}");
            assert_eq!(name, Some(word), "{case}");
            assert!(summary.unparsed.is_empty(), "{case}");
        }
        _ => {
            assert_eq!(summary.status, CheckpointStatus::StoppedByError, "{case}");
            assert_eq!(name, Some("UnclearResult"), "{case}");
            let faults = usize::from(!matches!(is_error, Some(Value::Bool(_))))
                + usize::from(!is_known)
                + usize::from(is_known && is_error == Some(&json!(false)));
            assert_eq!(summary.unparsed.len(), faults, "{case}");
            assert!(
                summary
                    .unparsed
                    .iter()
                    .all(|line| line.r#type.as_deref() == Some("result"))
            );
            let message = &summary.error.as_ref().unwrap().message;
            if let Some(word) = word.filter(|_| !is_known) {
                assert!(message.contains(&format!("{word:?}")), "{case}: {message}");
            }
            if is_error != Some(&json!(true)) {
                assert_eq!(
                    summary.texts.last().map(String::as_str),
                    Some("The text."),
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn the_words_of_an_unclear_result_are_kept() {
    let line = result_in_words(Some(&json!("true")), Some(&json!("cancelled")));
    let summary = stream(&[init(), says("m1", "The text."), line]);
    let error = summary.error.unwrap();
    assert_eq!(
        error.message,
        "the result does not say in known words how the run ended \
         (is_error: \"true\" is no boolean, subtype: unknown word \"cancelled\")"
    );
    let reasons: Vec<&str> = summary
        .unparsed
        .iter()
        .map(|line| line.reason.as_str())
        .collect();
    assert_eq!(
        reasons,
        [
            "is_error: \"true\" is no boolean",
            "subtype: unknown word \"cancelled\""
        ]
    );
    assert_eq!(summary.final_text.as_deref(), Some("The text."));
    // What fails in its own words says more than that the words are new.
    let line = result_in_words(Some(&json!(true)), Some(&json!("error_brand_new")));
    let summary = stream(&[with(line, &json!({"result": "It broke."}))]);
    assert!(summary.error.unwrap().message.ends_with(": It broke."));
    assert_eq!((summary.texts.len(), summary.final_text), (0, None));
    let long = result_in_words(Some(&json!("x".repeat(10_000))), None);
    assert!(stream(&[long]).error.unwrap().message.len() < 500);
}

#[test]
fn older_versions_have_no_error_beside_a_subtype_that_names_one() {
    let mut line = result_in_words(Some(&json!(false)), Some(&json!("error_max_turns")));
    line.as_object_mut().unwrap().remove("result_index");
    let summary = stream(&[init(), says("m1", "Working."), line.clone()]);
    assert_eq!(summary.status, CheckpointStatus::StoppedByExceededMaxSteps);
    assert!(summary.unparsed.is_empty());
    line["subtype"] = "error_during_execution".into();
    let summary = stream(&[init(), says("m1", "Working."), line]);
    assert_eq!(summary.error.unwrap().name, "error_during_execution");
    assert!(summary.unparsed.is_empty());
}

#[test]
fn a_result_without_a_single_word_is_no_success() {
    for (stdout, answer) in [
        ("{\"type\":\"result\"}\n", None),
        ("{\"type\":\"result\",\"is_error\":1}\n", None),
        (
            "{\"type\":\"result\",\"is_error\":\"true\",\"result\":\"x\"}\n",
            Some("x"),
        ),
        (
            "{\"type\":\"result\",\"subtype\":\"cancelled\",\"result\":\"x\"}\n",
            Some("x"),
        ),
        (
            "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":false}\n",
            None,
        ),
        (
            "{\n  \"type\": \"result\",\n  \"content\": \"x\"\n}\n",
            Some("x"),
        ),
    ] {
        for exit in exits() {
            let given = Given {
                stdout: stdout.to_owned(),
                exit: exit.clone(),
                ..Given::default()
            };
            let summary = given.summary();
            let name = summary.error.as_ref().map(|error| error.name.as_str());
            assert_eq!(name, Some("UnclearResult"), "{exit:?} {stdout}");
            assert_eq!(summary.final_text.as_deref(), answer, "{exit:?} {stdout}");
        }
    }
}

#[test]
fn json_that_is_no_result_completes_nothing_where_a_result_was_asked_for() {
    let looks = [
        "[]",
        "{}",
        "{\"is_error\":true}",
        "{\"is_error\":false}",
        "{\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\"}",
        "{\"type\":\"success\"}",
        "[1]",
        "[{}]",
        "42",
        "null",
        "\"success\"",
    ];
    for stdout in looks {
        for argv in [JSON, STREAM] {
            let given = Given {
                argv,
                stdout: stdout.to_owned() + "\n",
                ..Given::default()
            };
            let summary = given.summary();
            assert_eq!(
                summary.status,
                CheckpointStatus::StoppedByError,
                "{argv:?} {stdout}"
            );
            let kept = summary.unparsed.len() + summary.notices.len();
            assert!(kept > 0, "{argv:?} {stdout}");
        }
    }
}
