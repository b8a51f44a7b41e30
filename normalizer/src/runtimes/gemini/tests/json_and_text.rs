//! The json and text formats, and standard error.

use super::*;

const REPORT: &str = "{
  \"session_id\": \"0f-1\",
  \"response\": \"Hello\\n{\\n\",
  \"stats\": {
    \"models\": {
      \"m\": {
        \"tokens\": { \"input\": 6, \"prompt\": 10, \"candidates\": 2, \"total\": 15, \"cached\": 4, \"thoughts\": 3 }
      }
    }
  },
  \"warnings\": [ \"careful\" ]
}";

#[test]
fn the_json_format_is_one_object_over_many_lines() {
    let expected = [
        "session 0f-1",
        "model m",
        "warning: careful",
        "step",
        "text \"Hello\\n{\\n\"",
        "total 6/4/5/3",
        "success",
    ];
    let json: &[&str] = &["gemini", "--output-format=json", "-p", "x"];
    for (argv, before) in [
        (&[][..], ""),
        (json, ""),
        (STREAM, ""),
        (&[][..], "Banner.\n"),
        (&[][..], "Banner."),
    ] {
        let stdout = format!("{before}{REPORT}");
        let said = Tape::new(argv)
            .push(Stream::Stdout, stdout.as_bytes())
            .finish(&Exit::with_code(0));
        let said: Vec<&str> = said
            .iter()
            .map(String::as_str)
            .filter(|said| !said.starts_with("format") && *said != "stdout: Banner.")
            .collect();
        assert_eq!(said, expected, "{argv:?} {before}");
    }
}

#[test]
fn a_cut_report_has_its_session_and_what_there_is_of_the_answer() {
    let cut = "{\n  \"session_id\": \"0f-1\",\n  \"response\": \"Hello\\u00";
    assert_eq!(
        read(cut, 0),
        [
            "format json",
            "unparsed None",
            "session 0f-1",
            "step",
            "+\"Hello\""
        ]
    );
    let later = "{\n  \"session_id\": \"0f-1\",\n  \"response\": \"Hello\",\n  \"stats\": {";
    assert_eq!(
        read(later, 0),
        [
            "format json",
            "unparsed None",
            "session 0f-1",
            "step",
            "text \"Hello\""
        ]
    );
}

#[test]
fn an_error_in_a_report_is_the_outcome_and_its_empty_answer_is_kept() {
    let stdout = "{\"session_id\":\"0f-1\",\"response\":\"\",\"error\":{\"type\":\"INVALID_STREAM\",\"message\":\"empty\"}}";
    assert_eq!(
        read(stdout, 0),
        [
            "session 0f-1",
            "step",
            "text \"\"",
            "format json",
            "error INVALID_STREAM 0 Other \"empty\""
        ]
    );
}

#[test]
fn a_stream_whose_first_line_is_broken_or_lost_is_no_answer() {
    let message = "{\"type\":\"message\",\"timestamp\":\"1970-01-01T00:00:01.000Z\",\"role\":\"assistant\",\"content\":\"Hi\",\"delta\":true}\n";
    let failed = "{\"type\":\"result\",\"timestamp\":\"1970-01-01T00:00:01.000Z\",\"status\":\"error\",\"error\":{\"message\":\"boom\"}}\n";
    let expected = [
        "step",
        "+\"Hi\"",
        "cut",
        "error Error 0 Other \"boom\"",
        "format stream-json",
    ];
    let mut said = read(&[message, failed].concat(), 0);
    said.sort_by_key(|said| (said.starts_with("error"), said.starts_with("format")));
    let mut sorted = expected;
    sorted.sort_by_key(|said| (said.starts_with("error"), said.starts_with("format")));
    assert_eq!(said, sorted);
    let broken = read(&["{\"type\"x\"init\"}\n", message, failed].concat(), 0);
    assert_eq!(broken[0], "unparsed None");
    assert_eq!(broken.len(), expected.len() + 1);
    // One line alone may be an answer, and so may lines without their times.
    for text in [message.to_owned(), fragment("Hi") + &fragment("you")] {
        let said = read(&text, 0);
        assert!(said.contains(&"format text".to_owned()), "{said:?}");
    }
}

#[test]
fn line_ends_inside_a_text_stay_as_they_are() {
    let text = |stdout: &str, argv: &[&str]| -> String {
        let said = Tape::new(argv)
            .push(Stream::Stdout, stdout.as_bytes())
            .finish(&Exit::with_code(0));
        let pieces = said.iter().filter_map(|said| said.strip_prefix('+'));
        pieces
            .map(|piece| serde_json::from_str::<String>(piece).unwrap())
            .collect()
    };
    let asked: &[&str] = &["gemini", "-p", "x", "-o", "text"];
    for argv in [&[][..], asked] {
        assert_eq!(text("a\r\nb\nc\r\r\nd\r\n", argv), "a\r\nb\nc\r\r\nd");
        assert_eq!(text("a\r\n\r\n", argv), "a\r\n");
        assert_eq!(text("a\rb\n", argv), "a\rb");
    }
}

const STDERR: &str = "Warning: x
Error when talking to Gemini API _ApiError: {\"error\":{\"code\":429}}
    at main (file:///x.js:1:5) {
  status: 429
}
{
  \"session_id\": \"0f-1\",
  \"error\": {
    \"type\": \"Error\",
    \"message\": \"slow down\",
    \"code\": 429
  }
}
[ERROR] {
  \"session_id\": \"0f-1\",
  \"error\": {
    \"type\": \"Error\",
    \"message\": \"slow down\",
    \"code\": 429
  }
}
";

#[test]
fn the_error_object_on_stderr_is_the_outcome_if_stdout_has_none() {
    let notices = [
        "stderr: Warning: x",
        "stderr: Error when talking to Gemini API _ApiError: {\"error\":{\"code\":429}}",
        "stderr:     at main (file:///x.js:1:5) {",
        "stderr:   status: 429",
        "stderr: }",
    ];
    let said = Tape::new(&[])
        .push(Stream::Stderr, STDERR.as_bytes())
        .finish(&Exit::with_code(173));
    assert_eq!(said[..5], notices);
    assert_eq!(
        said[5..],
        [
            "format json",
            "session 0f-1",
            "error ApiError 429 RateLimit \"slow down\""
        ]
    );
    let answered = Tape::new(&[])
        .push(Stream::Stdout, REPORT.as_bytes())
        .push(Stream::Stderr, STDERR.as_bytes())
        .finish(&Exit::with_code(0));
    assert_eq!(answered.last().unwrap(), notices[4]);
}

#[test]
fn retries_on_stderr_are_notices_of_their_own() {
    let stderr = "Attempt 1 failed: exhausted.\nSuggested retry after 1s.. Retrying after 5456ms...
Attempt 1 failed with status 503. Retrying with backoff... _ApiError: {}
Attempt 2 failed: exhausted.\nSuggested retry after 1s.. Max attempts reached
";
    let said = Tape::new(&[])
        .push(Stream::Stderr, stderr.as_bytes())
        .finish(&Exit::with_code(1));
    assert_eq!(
        said,
        [
            "retry: Attempt 1 failed: exhausted.\nSuggested retry after 1s.. Retrying after 5456ms... (attempt 1, in 5456 ms)",
            "retry: Attempt 1 failed with status 503. Retrying with backoff... _ApiError: {} (HTTP 503, attempt 1)",
            "stderr: Attempt 2 failed: exhausted.",
            "stderr: Suggested retry after 1s.. Max attempts reached",
        ]
    );
}

#[test]
fn text_is_kept_exactly_but_for_its_last_newline() {
    let table: [(&str, &[&str]); 5] = [
        (
            " Hello World \n",
            &[
                "step",
                "+\" Hello World \"",
                "end",
                "success",
                "format text",
            ],
        ),
        (
            "a\n\n  b\n\n",
            &[
                "step",
                "+\"a\"",
                "+\"\\n\"",
                "+\"\"",
                "+\"\\n\"",
                "+\"  b\"",
                "+\"\\n\"",
                "+\"\"",
                "end",
                "success",
                "format text",
            ],
        ),
        ("\n", &["step", "+\"\"", "end", "success", "format text"]),
        (
            "{\"answer\": 42}\n",
            &[
                "step",
                "+\"{\\\"answer\\\": 42}\"",
                "end",
                "success",
                "format text",
            ],
        ),
        ("", &[]),
    ];
    for (stdout, expected) in table {
        let mut said = read(stdout, 0);
        said.sort_by_key(|said| said.starts_with("format"));
        assert_eq!(said, expected, "{stdout:?}");
    }
}

#[test]
fn text_ends_as_its_exit_tells() {
    let tape = |stdout: &str, exit: &Exit| {
        let argv = ["gemini", "-p", "x", "--output-format", "text"];
        let said = Tape::new(&argv)
            .push(Stream::Stdout, stdout.as_bytes())
            .finish(exit);
        said[2..].to_vec()
    };
    assert_eq!(
        tape("A\n", &Exit::with_code(0)),
        ["format text", "end", "success"]
    );
    assert_eq!(
        tape("A\n", &Exit::unknown()),
        ["format text", "end", "exitUnknown true", "success"]
    );
    assert_eq!(tape("A\n", &Exit::with_code(1)), ["format text", "end"]);
    assert_eq!(tape("A", &Exit::with_code(1)), ["format text"]);
    assert_eq!(tape("A", &Exit::with_signal("SIGKILL")), ["format text"]);
    assert_eq!(
        tape("A\n", &Exit::with_code(53)),
        [
            "format text",
            "end",
            "turn limit \"reached the turn limit\""
        ]
    );
}

#[test]
fn json_that_was_cut_is_no_text() {
    for stdout in ["{\"sess", "{", "{\n  \"sess", "{\"answer\": \"a"] {
        assert_eq!(read(stdout, 0), ["unparsed None"], "{stdout}");
    }
    assert_eq!(read("[error] no", 0).last().unwrap(), "success");
    assert_eq!(read("{braces} are text", 0).last().unwrap(), "success");
}

#[test]
fn a_failure_that_only_the_exit_tells_has_the_last_words() {
    let said = Tape::new(&["gemini", "-p", "x", "-r", "ab-12", "-o", "stream-json"])
        .push(Stream::Stderr, b"Error resuming session: none.\n")
        .finish(&Exit::with_code(42));
    assert_eq!(
        said[1..],
        [
            "error NonZeroExit 0 UnknownSession \"Error resuming session: none. (session ab-12)\"",
            "format stream-json",
        ]
    );
    assert!(!Tape::new(&[]).parser.exit_is_signal(143));
}

#[test]
fn prose_is_no_session() {
    for id in [
        "",
        "latest",
        "5",
        "not found 1",
        "-rf1",
        "a/b1",
        "unknown",
        &"a1".repeat(65),
    ] {
        assert_eq!(session_id(id), None, "{id}");
    }
    let uuid = "f24450f7-891d-4e71-9b6a-9c445509b9d1";
    assert_eq!(session_id(uuid), Some(uuid));
}
