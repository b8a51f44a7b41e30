//! Whole outputs: quiet.

use runtape_core::{CheckpointStatus, ErrorFamily};

use super::{reasoning_top, screen, summary, summary_of};
use crate::Exit;
use crate::testing::context;

#[test]
fn the_answer_is_everything_as_it_is() {
    let text = "# Head\n\n┊ 💻 $ ls  0.1s\n    code\nsession_id: 20200101_000000_abcdef\n  \n";
    let stderr = "\nsession_id: 20261115_234454_91d32d\n";
    let summary = summary_of(context(&[]), text, stderr, &Exit::with_code(0));
    assert_eq!(summary.final_text.as_deref(), text.strip_suffix('\n'));
    assert_eq!(
        summary.session_id.as_deref(),
        Some("20261115_234454_91d32d")
    );
    assert_eq!(summary.output_format.as_deref(), Some("quiet"));
    assert!(summary.tool_calls.is_empty() && summary.notices.is_empty());
}

#[test]
fn leaked_reasoning_ends_where_a_line_ends_plainly() {
    let leak = screen(&format!(
        "\n{}\none\n\nlast.one\n  ┊ review diff\na/x → b/x\n@@ -0,0 +1,1 @@\n+a\ntwo\n",
        reasoning_top()
    ));
    let text =
        format!("{leak}⚠️  Reached maximum iterations (2). Requesting summary...\nThe answer.\n");
    let summary = summary(&text);
    assert_eq!(summary.thinking, ["one\n\nlast.one\ntwo"]);
    assert_eq!(summary.texts, ["The answer."]);
    assert_eq!(summary.status, CheckpointStatus::StoppedByExceededMaxSteps);
    assert_eq!(summary.final_text.as_deref(), Some("The answer."));
    let kinds: Vec<&str> = summary
        .notices
        .iter()
        .map(|notice| notice.kind.as_str())
        .collect();
    assert_eq!(kinds, ["stdout", "warning", "exitMismatch"]);
}

#[test]
fn a_failed_run_prints_its_error_in_the_answers_place() {
    let exit = Exit::with_code(1);
    let failed = summary_of(context(&[]), "HTTP 401: no\n", "\nsession_id: x\n", &exit);
    assert!(failed.texts.is_empty() && failed.final_text.is_none());
    let error = failed.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.message.as_str()),
        ("ApiError", "HTTP 401: no")
    );
    let none = summary_of(
        context(&[]),
        "No previous CLI session found to continue.\n",
        "",
        &exit,
    );
    assert_eq!(
        none.error.unwrap().family,
        Some(ErrorFamily::UnknownSession)
    );
    // 0.13 prints it on standard error.
    let old = summary_of(
        context(&[]),
        "",
        "Error: Error code: 401 - {'error': 1}\n",
        &exit,
    );
    let error = old.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.status_code),
        ("ApiError", Some(401))
    );
}

#[test]
fn prose_never_decides() {
    for text in [
        "HTTP 401: that is what it said\n",
        "Session not found: 20200101_000000_abcdef\n",
    ] {
        let summary = summary(text);
        assert_eq!(summary.status, CheckpointStatus::Completed, "{text}");
        assert_eq!(summary.final_text.as_deref(), text.strip_suffix('\n'));
    }
}

#[test]
fn nothing_is_cut_off_and_a_newline_is_an_empty_answer() {
    assert_eq!(summary("").error.unwrap().name, "TruncatedOutput");
    let empty = summary("\n");
    assert_eq!(
        (empty.status, empty.final_text.as_deref()),
        (CheckpointStatus::Completed, Some(""))
    );
    let cut = summary("{\"jso");
    assert_eq!(cut.error.unwrap().name, "TruncatedOutput");
    assert_eq!((cut.texts.len(), cut.unparsed.len()), (0, 1));
    // Where the answer is known to be printed alone, it is that, whatever it begins with.
    let argv = ["hermes", "-z", "x"];
    let whole = summary_of(
        context(&argv),
        "{name} is a field\n",
        "",
        &Exit::with_code(0),
    );
    assert_eq!(whole.final_text.as_deref(), Some("{name} is a field"));
    assert_eq!(whole.status, CheckpointStatus::Completed);
}

#[test]
fn a_model_that_said_nothing_gave_an_empty_answer() {
    let summary = summary("⚠️ No reply: the model returned empty content after retries.\n");
    assert_eq!(summary.final_text.as_deref(), Some(""));
    assert_eq!(summary.texts, [""]);
    assert_eq!(summary.notices.len(), 1);
}

#[test]
fn an_unknown_exit_is_told() {
    let summary = summary_of(context(&[]), "Yes.\n", "", &Exit::unknown());
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.final_text.as_deref(), Some("Yes."));
}

#[test]
fn converted_line_ends_do_no_harm() {
    let summary = summary("One.\r\n\r\nTwo.\r\n");
    assert_eq!(summary.final_text.as_deref(), Some("One.\r\n\r\nTwo."));
}

#[test]
fn line_ends_of_an_answer_stay_as_they_are() {
    let reasoned = screen(&format!("\n{}\nHm.\n", reasoning_top()));
    let table = [
        ("all", "", "a\r\nb\r\nc"),
        ("the first", "", "a\r\nb\nc"),
        ("the last but one", "", "a\nb\r\nc"),
        ("doubled", "", "a\r\r\nb\nc"),
        ("blank ones", "", "a\r\n\r\n\nb"),
        (
            "after the clarify line",
            "\r\n(clarify timed out after 120s — agent will decide)\r\n",
            "a\r\nb",
        ),
        (
            "after a diff",
            "  ┊ review diff\r\na/x → b/x\r\n@@ -0,0 +1,1 @@\r\n+a\r\n",
            "a\r\nb\nc",
        ),
        ("after reasoning", reasoned.as_str(), "a\nb\r\nc"),
        ("like a leak", "", "a\n  ✓ [1/2] goal  (0.7s)\r\nb"),
        ("like a leak, again", "", "a\r\n  ✓ [1/2] goal  (0.7s)\r\nb"),
        ("like a chat", "", "╭─ half\r\n    b\r\nc"),
        ("like a warning", "", "  ⚠ take care\r\nb"),
    ];
    let stderr = "\nsession_id: 20261115_234454_91d32d\n";
    let quiet: &[&str] = &["hermes", "chat", "-q", "x", "-Q"];
    for (name, leak, text) in table {
        let whole = format!("{leak}{text}\n");
        for argv in [&[], quiet, &["hermes", "-z", "x"]] {
            if argv.contains(&"-z") && !leak.is_empty() {
                continue;
            }
            // The newline of a whole output may be cut off.
            for output in [whole.as_str(), whole.strip_suffix('\n').unwrap()] {
                let found = summary_of(context(argv), output, stderr, &Exit::with_code(0));
                assert_eq!(found.texts, [text], "{name} {argv:?}");
                assert_eq!(found.final_text.as_deref(), Some(text), "{name} {argv:?}");
                assert_eq!(found.status, CheckpointStatus::Completed, "{name} {argv:?}");
            }
        }
    }
}

#[test]
fn escapes_of_an_answer_stay_as_they_are() {
    let text =
        "\u{1b}[1mBold\u{1b}[0m and \u{1b}]8;;http://x\u{7}a link\u{1b}]8;;\u{7}\n\u{1b}[31mred";
    let stderr = "\nsession_id: 20261115_234454_91d32d\n";
    for stderr in [stderr, ""] {
        let found = summary_of(
            context(&[]),
            &format!("{text}\n"),
            stderr,
            &Exit::with_code(0),
        );
        assert_eq!(found.final_text.as_deref(), Some(text));
        assert_eq!(found.output_format.as_deref(), Some("quiet"));
    }
}

#[test]
fn nothing_leaks_onto_the_output_of_oneshot() {
    let lines = [
        "(clarify timed out after 120s — agent will decide)",
        "↻ Resumed session 20200101_000000_abcdef (1 user message)",
        "⚠️  Reached maximum iterations (2). Requesting summary...",
        "  ┊ review diff",
        "  ✓ [1/2] goal  (0.7s)",
    ];
    let oneshot = ["hermes", "-z", "x"];
    let reasoning = reasoning_top();
    for line in lines.into_iter().chain([reasoning.as_str()]) {
        for end in ["\n", "\r\n"] {
            let text = format!("{line}{end}is what it says");
            let output = format!("{text}\n");
            let found = summary_of(context(&oneshot), &output, "", &Exit::with_code(0));
            assert_eq!(found.texts, [text]);
            assert_eq!(found.status, CheckpointStatus::Completed);
            assert_eq!(found.session_id, None);
            assert!(found.notices.is_empty());
        }
    }
    // In a pipe no leak has escapes, so that these are the model's.
    let quiet = ["hermes", "chat", "-q", "x", "-Q"];
    for line in lines {
        let text = format!("\u{1b}[1m{line}\r\nis what it says");
        let output = format!("{text}\n");
        let found = summary_of(context(&quiet), &output, "", &Exit::with_code(0));
        assert_eq!(found.texts, [text]);
    }
}

#[test]
fn an_error_after_reasoning_that_was_never_closed_is_the_error() {
    let leak = screen(&format!("\n{}\nHm.\n", reasoning_top()));
    for end in ["\n", ""] {
        let output = format!("{leak}HTTP 401: Incorrect API key{end}");
        let exit = Exit::with_code(1);
        let failed = summary_of(context(&[]), &output, "", &exit);
        assert_eq!(failed.thinking, ["Hm."], "{end:?}");
        assert!(failed.texts.is_empty(), "{end:?}");
        let error = failed.error.unwrap();
        assert_eq!(
            (error.name.as_str(), error.message.as_str()),
            ("ApiError", "HTTP 401: Incorrect API key"),
            "{end:?}"
        );
    }
    // A kill leaves a line of reasoning half printed.
    let killed = summary_of(
        context(&[]),
        &format!("{leak}HTTP 4"),
        "",
        &Exit::with_code(137),
    );
    assert_eq!(killed.thinking, ["Hm.\nHTTP 4"]);
    assert_eq!(killed.error.unwrap().name, "KilledBySignal");
}

#[test]
fn a_resumed_session_is_told_over_two_lines_where_its_title_is_long() {
    let leak = "↻ Resumed session 20261115_234454_91d32d \"A long title\" (1 user message, 2\r\ntotal messages)\r\n";
    let found = summary(&format!("{leak}Yes.\n"));
    assert_eq!(found.texts, ["Yes."]);
    assert_eq!(found.session_id.as_deref(), Some("20261115_234454_91d32d"));
}

#[test]
fn no_session_is_read_from_an_answer() {
    let text = "Yes.\n\nsession_id: 20200101_000000_abcdef";
    let stderr = "\nsession_id: 20261115_234454_91d32d\n";
    let table: [(&[&str], &str, Option<&str>); 3] = [
        (&["hermes", "-z", "x"], "", None),
        (
            &["hermes", "chat", "-q", "x", "-Q"],
            stderr,
            Some("20261115_234454_91d32d"),
        ),
        (&[], stderr, Some("20261115_234454_91d32d")),
    ];
    for (argv, stderr, session) in table {
        let found = summary_of(
            context(argv),
            &format!("{text}\n"),
            stderr,
            &Exit::with_code(0),
        );
        assert_eq!(found.session_id.as_deref(), session, "{argv:?}");
        assert_eq!(found.final_text.as_deref(), Some(text), "{argv:?}");
    }
}

#[test]
fn an_answer_may_begin_like_the_echo_of_a_prompt() {
    let text = "Query: SELECT 1\nInitializing agent...\nno\n";
    let stderr = "\nsession_id: 20261115_234454_91d32d\n";
    let found = summary_of(context(&[]), text, stderr, &Exit::unknown());
    assert_eq!(found.final_text.as_deref(), text.strip_suffix('\n'));
    let killed = summary_of(context(&[]), "Query: x\n", "", &Exit::with_code(137));
    assert_eq!(killed.error.unwrap().name, "KilledBySignal");
    assert!(killed.texts.is_empty());
}

#[test]
fn the_session_behind_an_answer_is_not_answer_where_both_streams_are_one() {
    let summary = summary("Yes.\n\nsession_id: 20261115_234454_91d32d\n");
    assert_eq!(summary.final_text.as_deref(), Some("Yes."));
    assert_eq!(
        summary.session_id.as_deref(),
        Some("20261115_234454_91d32d")
    );
}

#[test]
fn what_leaks_after_the_answer_is_not_answer() {
    let summary = summary("Yes.\n  ✗ [1/2] goal  (1.16s)\r\n");
    assert_eq!(summary.final_text.as_deref(), Some("Yes."));
    assert_eq!(summary.notices[0].kind, "task");
}
