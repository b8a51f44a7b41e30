//! How a run ends, in either format.

use runtape_core::ErrorFamily;
use serde_json::json;

use super::{AT, JSON, SESSION, TEXT, event, finish, notices, read, start, text};
use crate::Exit;
use crate::runtimes::opencode::is_session_id;

fn name(argv: Option<&str>, stdout: &str, exit: &Exit) -> Option<String> {
    read(argv, stdout, "", exit).error.map(|error| error.name)
}

#[test]
fn a_finished_step_is_a_success_if_the_exit_or_its_reason_says_so() {
    let ended = |reason: &str| [start("m"), text("m", "Hi."), finish("m", reason)].concat();
    let (zero, unknown) = (Exit::with_code(0), Exit::unknown());
    let table = [
        ("stop", &zero, None),
        ("length", &zero, None),
        ("tool-calls", &zero, None),
        ("other", &zero, None),
        ("error", &zero, Some("UnclearResult")),
        ("stop", &unknown, None),
        ("length", &unknown, None),
        ("tool-calls", &unknown, Some("TruncatedOutput")),
        ("content-filter", &unknown, Some("UnclearResult")),
        ("other", &unknown, Some("UnclearResult")),
    ];
    for (reason, exit, expected) in table {
        for argv in [JSON, None] {
            let name = name(argv, &ended(reason), exit);
            assert_eq!(name.as_deref(), expected, "{reason} {exit:?}");
        }
    }
    let failed = name(JSON, &ended("stop"), &Exit::with_code(1));
    assert_eq!(failed.as_deref(), Some("NonZeroExit"));
    let open = name(JSON, &(ended("stop") + &start("n")), &zero);
    assert_eq!(open.as_deref(), Some("TruncatedOutput"));
    let cut = ended("stop") + "{\"type\":\"step_st";
    assert_eq!(name(JSON, &cut, &zero).as_deref(), Some("TruncatedOutput"));
}

#[test]
fn an_error_line_is_a_failure_also_if_steps_follow() {
    let data = json!({"message": "Slow down.", "statusCode": 429, "isRetryable": true,
        "responseHeaders": {"retry-after": "1"}});
    let error = event(
        "error",
        &json!({"error": {"name": "APIError", "data": data}}),
    );
    let stdout = [
        error.clone(),
        start("m"),
        text("m", "Hi."),
        finish("m", "stop"),
    ]
    .concat();
    let summary = read(JSON, &stdout, "", &Exit::with_code(1));
    let failure = summary.error.as_ref().unwrap();
    assert_eq!(
        (failure.name.as_str(), failure.status_code),
        ("ApiError", Some(429))
    );
    assert_eq!(failure.family, Some(ErrorFamily::RateLimit));
    assert_eq!(failure.retry_at, Some(AT + 1000));
    assert_eq!(summary.texts, ["Hi."]);
    let other = error.replace("Slow down.", "Stop.");
    let summary = read(JSON, &(error + &other), "", &Exit::with_code(1));
    assert_eq!(summary.error.as_ref().unwrap().message, "Stop.");
    assert_eq!(notices(&summary), [("warning", "Slow down.")]);
}

#[test]
fn a_session_that_is_not_known_is_told_on_standard_error() {
    let stderr = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n";
    for argv in [JSON, TEXT, None] {
        let summary = read(argv, "", stderr, &Exit::with_code(1));
        let error = summary.error.unwrap();
        assert_eq!(error.message, "Session not found");
        assert_eq!(error.family, Some(ErrorFamily::UnknownSession));
        assert_eq!(summary.session_id, None);
    }
    // A tool's error of a run that went well is none of the run's.
    let summary = read(TEXT, "Hi.\n", stderr, &Exit::with_code(0));
    assert_eq!(summary.error, None);
}

#[test]
fn text_is_all_of_standard_output_and_the_model_stands_in_the_header() {
    let stderr =
        "\u{1b}[0m\n> build · gpt-5.5\n\u{1b}[0m\n\u{1b}[0m$ \u{1b}[0mecho '> x · y'\n> x · y\n";
    let stdout = "Thinking: Hm.\nOne.\n{\"type\":\"text\"}\n";
    let summary = read(TEXT, stdout, stderr, &Exit::with_code(0));
    assert_eq!(summary.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(summary.texts, [stdout.trim_end()]);
    assert_eq!(
        (summary.steps, summary.session_id, summary.usage),
        (1, None, None)
    );
    let blank = read(TEXT, "\n", stderr, &Exit::with_code(0));
    assert_eq!((blank.final_text.as_deref(), blank.steps), (Some(""), 1));
    let json = read(JSON, &start("m"), stderr, &Exit::with_code(0));
    assert_eq!(json.model, None);
}

#[test]
fn only_the_form_of_an_id_is_one() {
    assert!(is_session_id(SESSION));
    for text in [
        "ses_",
        "ses_x",
        "ses_e1bed8f09ffecv3HScaUEK5EE",
        "ses_e1bed8f09ffecv3HScaUEK5EETT",
        "ses_g1bed8f09ffecv3HScaUEK5EET",
        "ses_e1bed8f09ffecv3HScaUEK5E T",
        "msg_e1bed8f09ffecv3HScaUEK5EET",
        "ses_é1bed8f09ffecv3HScaUEK5EE",
    ] {
        assert!(!is_session_id(text), "{text}");
    }
}
