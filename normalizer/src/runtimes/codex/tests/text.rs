//! Text mode, and telling it from events.

use runtape_core::ErrorFamily;

use super::{STARTED, THREAD, read};
use crate::Exit;

const TEXT: Option<&str> = Some("codex exec Hi");

fn header(rest: &str) -> String {
    format!(
        "Reading additional input from stdin...\nOpenAI Codex v0.166.0\n--------\nworkdir: /w\nmodel: gpt-5.5\nprovider: openai\nsession id: {THREAD}\n--------\nuser\n{rest}"
    )
}

#[test]
fn the_header_on_standard_error_names_session_model_directory_and_version() {
    let stderr = header("Hi\ncodex\nmodel: other\nOpenAI Codex v9\n--------\nmodel: forged\n");
    let summary = read(TEXT, "  Hello.\n\nBye.\n", &stderr, &Exit::with_code(0));
    assert_eq!(summary.session_id.as_deref(), Some(THREAD));
    assert_eq!(summary.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(summary.cwd.as_deref(), Some("/w"));
    assert_eq!(summary.cli_version.as_deref(), Some("0.166.0"));
    assert_eq!(summary.texts, ["  Hello.\n\nBye."]);
    assert_eq!(summary.final_text.as_deref(), Some("  Hello.\n\nBye."));
    assert_eq!((summary.steps, summary.usage), (1, None));
}

#[test]
fn a_failed_run_has_the_message_of_its_last_error_line() {
    let stderr = header(
        "Hi\nERROR: Reconnecting... 1/1\nERROR: unexpected status 401 Unauthorized: no, url: u\ntokens used\n1,160\n",
    );
    let summary = read(TEXT, "", &stderr, &Exit::with_code(1));
    let error = summary.error.unwrap();
    assert_eq!(error.name, "ApiError");
    assert_eq!(
        error.message,
        "unexpected status 401 Unauthorized: no, url: u"
    );
    assert_eq!(
        (error.status_code, error.family),
        (Some(401), Some(ErrorFamily::Auth))
    );
    assert_eq!(summary.session_id.as_deref(), Some(THREAD));
    // With exit code 0 such a line is a tool's, or the model's.
    let summary = read(TEXT, "Hi.\n", &stderr, &Exit::with_code(0));
    assert_eq!(summary.error, None);
}

#[test]
fn nothing_printed_is_no_answer_and_a_blank_line_is_an_empty_one() {
    let nothing = read(TEXT, "", "", &Exit::with_code(0));
    assert_eq!(nothing.error.unwrap().name, "TruncatedOutput");
    let blank = read(TEXT, "\n", "", &Exit::with_code(0));
    assert_eq!(blank.error, None);
    assert_eq!(
        (blank.final_text.as_deref(), blank.texts.len()),
        (Some(""), 0)
    );
    let unknown = read(TEXT, "\n", "", &Exit::unknown());
    assert_eq!(unknown.error.unwrap().name, "TruncatedOutput");
}

#[test]
fn the_first_object_decides_unless_the_command_line_does() {
    let looks_alike = format!("{{\"type\":\"error\",\"message\":\"none\"}}\n{STARTED}\n");
    let summary = read(None, &looks_alike, "", &Exit::with_code(0));
    assert_eq!(summary.output_format.as_deref(), Some("text"));
    assert_eq!(
        summary.final_text.as_deref(),
        looks_alike.strip_suffix('\n')
    );
    let quoted = format!("{STARTED}\nis how it begins.\n");
    let summary = read(TEXT, &quoted, "", &Exit::with_code(0));
    assert_eq!(summary.final_text.as_deref(), quoted.strip_suffix('\n'));
    let summary = read(None, &quoted, "", &Exit::with_code(0));
    assert_eq!(summary.output_format.as_deref(), Some("json"));
    // Words before the first event are the launcher's.
    let warned = format!("npm warn old\n{STARTED}\n");
    let summary = read(None, &warned, "", &Exit::with_code(0));
    assert_eq!(summary.session_id.as_deref(), Some(THREAD));
    assert_eq!(summary.notices[0].text, "npm warn old");
}

#[test]
fn a_long_answer_is_not_held_back() {
    let printed = "A line of an answer.\n".repeat(5000);
    let summary = read(None, &printed, "", &Exit::with_code(0));
    assert_eq!(summary.final_text.as_deref(), printed.strip_suffix('\n'));
    let cut = read(None, printed.trim_end(), "", &Exit::with_signal("SIGKILL"));
    assert_eq!(cut.final_text, None);
    assert_eq!(cut.texts.len(), 1);
}
