//! Text mode: the answer, judged by the exit.

use super::{Told, parse, parse_as, parse_with_limit};
use crate::exit::Exit;

fn texts(told: &Told) -> Vec<&str> {
    told.texts.iter().map(String::as_str).collect()
}

#[test]
fn an_answer_is_kept_to_the_byte_but_for_its_newline() {
    let table = [
        ("pong\n", "pong"),
        ("no newline", "no newline"),
        ("  indented\n\n\tmore \n\n", "  indented\n\n\tmore \n"),
        ("\nfirst line empty\n", "\nfirst line empty"),
        ("a\r\nb\r\n", "a\r\nb"),
        ("a\r\nb\nc\n", "a\r\nb\nc"),
        (
            "{\"type\":\"result\",\"content\":\"mine\"}\n",
            "{\"type\":\"result\",\"content\":\"mine\"}",
        ),
        ("{\n  \"type\": \"x\"\n}\n", "{\n  \"type\": \"x\"\n}"),
        (
            "{ not json }\nbut an answer\n",
            "{ not json }\nbut an answer",
        ),
    ];
    for (printed, expected) in table {
        let told = parse(printed, "", &Exit::with_code(0));
        assert_eq!(texts(&told), [expected]);
        assert_eq!(told.format, Some("text"));
        assert_eq!(told.verdict(), "success");
        assert!(told.unparsed.is_empty());
    }
}

#[test]
fn a_lone_newline_is_an_empty_answer_and_nothing_is_none() {
    let told = parse("\n", "", &Exit::with_code(0));
    assert_eq!((texts(&told), told.verdict()), (vec![""], "success"));
    let told = parse("", "", &Exit::with_code(0));
    assert_eq!((texts(&told), told.verdict()), (vec![], "none"));
    let told = parse("\n", "", &Exit::unknown());
    assert_eq!(told.verdict(), "none");
}

#[test]
fn without_an_exit_the_answer_stands_and_says_so() {
    let told = parse("pong\n", "", &Exit::unknown());
    assert_eq!((texts(&told), told.verdict()), (vec!["pong"], "success"));
    assert_eq!(told.metadata["exitUnknown"], true);
}

#[test]
fn a_failed_or_killed_run_keeps_its_text_without_success() {
    let told = parse("half of it\n", "", &Exit::with_code(1));
    assert_eq!(
        (texts(&told), told.verdict(), told.cut),
        (vec!["half of it"], "none", false)
    );
    let told = parse("half of", "", &Exit::with_signal("SIGKILL"));
    assert_eq!(
        (texts(&told), told.verdict(), told.cut),
        (vec!["half of"], "none", true)
    );
}

#[test]
fn one_line_of_cut_json_is_no_answer() {
    let cut = "{\"type\":\"result\",\"subtype\":\"succ";
    let told = parse(cut, "", &Exit::with_code(0));
    assert_eq!((texts(&told), told.verdict()), (vec![], "none"));
    assert_eq!(told.unparsed.len(), 1);
    assert_eq!(told.unparsed[0].0.as_deref(), Some("result"));
    assert_eq!(told.format, Some("json"));
    let told = parse_as(
        "cursor-agent -p --output-format text",
        cut,
        "",
        &Exit::with_code(0),
    );
    assert_eq!((texts(&told), told.verdict()), (vec![cut], "success"));
}

#[test]
fn text_is_an_answer_only_where_no_events_were_asked_for() {
    for format in ["json", "stream-json"] {
        let argv = format!("cursor-agent -p --output-format {format}");
        let told = parse_as(&argv, "Oops\n", "", &Exit::with_code(0));
        assert_eq!((texts(&told), told.verdict()), (vec![], "none"));
        assert_eq!(told.notices, ["stdout: Oops"]);
    }
}

#[test]
fn an_answer_that_quotes_an_event_stays_an_answer_if_text_was_asked_for() {
    let line = "{\"type\":\"user\",\"session_id\":\"s1\",\"message\":{\"content\":\"x\"}}\n";
    let argv = "cursor-agent -p --output-format text";
    let told = parse_as(argv, line, "", &Exit::with_code(0));
    assert_eq!(texts(&told), [line.trim_end()]);
    assert_eq!(
        parse(line, "", &Exit::with_code(0)).format,
        Some("stream-json")
    );
}

#[test]
fn a_very_long_answer_is_streamed() {
    let line = "x".repeat(1000);
    let printed = format!("{line}\n").repeat(100);
    let told = parse_with_limit(10_000, &printed, &Exit::with_code(0));
    assert_eq!(told.texts, [printed.trim_end()]);
    assert_eq!(told.verdict(), "success");
}
