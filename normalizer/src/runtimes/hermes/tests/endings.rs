//! How runs end: every format, every exit, with and without the exit summary.

use runtape_core::CheckpointStatus;

use super::{answer, chat, panel, summary_of};
use crate::Exit;
use crate::testing::context;

/// The exits, and what a process that ended so is called.
fn exits() -> [(&'static str, Exit, Option<&'static str>); 9] {
    let timed_out = Exit {
        timed_out: true,
        ..Exit::with_signal("SIGTERM")
    };
    [
        ("unknown", Exit::unknown(), None),
        ("0", Exit::with_code(0), None),
        ("1", Exit::with_code(1), Some("NonZeroExit")),
        ("2", Exit::with_code(2), Some("NonZeroExit")),
        ("130", Exit::with_code(130), Some("KilledBySignal")),
        ("137", Exit::with_code(137), Some("KilledBySignal")),
        (
            "SIGKILL",
            Exit::with_signal("SIGKILL"),
            Some("KilledBySignal"),
        ),
        ("time-out", timed_out, Some("TimedOut")),
        ("recorder lost", Exit::lost(), Some("RecorderLost")),
    ]
}

fn without_summary(output: &str) -> &str {
    output.split_once("\nResume").unwrap().0
}

/// Returns what a terminal shows: the same lines with escapes.
fn on_terminal(output: &str) -> String {
    let output = output.replace('\n', "\r\n\u{1b}[0m\u{1b}[?7h");
    format!("\u{1b}]11;?\u{1b}\\{output}")
}

#[test]
fn the_exit_summary_is_no_verdict() {
    let plain = chat(&answer(&["Done."]));
    let verbose = chat(&format!(
        "\u{1}🤖 AI Agent initialized with model: m\n{}",
        answer(&["Done."])
    ));
    let formats = [
        ("chat", plain.clone()),
        ("chat", on_terminal(&plain)),
        ("verbose", verbose),
        ("nostream", chat(&panel(&["Done."]))),
    ];
    let argv: [&[&str]; 2] = [&[], &["hermes", "chat", "-q", "Do it."]];
    for (format, whole) in &formats {
        for (exit_name, exit, process) in exits() {
            for argv in argv {
                let name = format!("{format} {exit_name} {argv:?}");
                let ended = summary_of(context(argv), whole, "", &exit);
                assert_eq!(ended.output_format.as_deref(), Some(*format), "{name}");
                assert_eq!(ended.duration_ms, Some(62_000), "{name}");
                assert_eq!(ended.final_text.as_deref(), Some("Done."), "{name}");
                let error = ended.error.as_ref().map(|error| error.name.as_str());
                assert_eq!(error, process, "{name}");
                let completed = ended.status == CheckpointStatus::Completed;
                assert_eq!(completed, process.is_none(), "{name}");
            }
        }
    }
}

#[test]
fn without_the_exit_summary_nothing_is_completed() {
    let whole = chat(&answer(&["Done."]));
    let cut = without_summary(&whole);
    for (name, exit, process) in exits() {
        let ended = summary_of(context(&[]), cut, "", &exit);
        assert_eq!(ended.status, CheckpointStatus::StoppedByError, "{name}");
        let error = ended.error.unwrap().name;
        assert_eq!(error, process.unwrap_or("TruncatedOutput"), "{name}");
        assert_eq!(ended.texts, ["Done."], "{name}");
    }
}

#[test]
fn an_answer_alone_is_judged_by_the_exit() {
    let argv: [&[&str]; 3] = [
        &["hermes", "-z", "x"],
        &["hermes", "chat", "-q", "x", "-Q"],
        &["drive_lib.py", "x"],
    ];
    for argv in argv {
        for (exit_name, exit, process) in exits() {
            let name = format!("{argv:?} {exit_name}");
            let ended = summary_of(context(argv), "Done.\n", "", &exit);
            let completed = ended.status == CheckpointStatus::Completed;
            assert_eq!(completed, process.is_none(), "{name}");
            let error = ended.error.as_ref().map(|error| error.name.as_str());
            assert_eq!(error, process, "{name}");
            // Zero bytes are no answer, whatever the exit.
            let nothing = summary_of(context(argv), "", "", &exit);
            let error = nothing.error.unwrap().name;
            assert_eq!(error, process.unwrap_or("TruncatedOutput"), "{name}");
        }
    }
}

#[test]
fn a_failure_that_hermes_reports_wins_over_the_exit() {
    let report = "❌ API failed after 3 retries — HTTP 500: no\n   💀 Final error: HTTP 500: no\n";
    let whole = chat(&format!("{report}{}", panel(&["HTTP 500: no"])));
    for (name, exit, _) in exits() {
        let ended = summary_of(context(&[]), &whole, "", &exit);
        let error = ended.error.unwrap();
        assert_eq!(
            (error.name.as_str(), error.status_code),
            ("ApiError", Some(500)),
            "{name}"
        );
        assert!(ended.texts.is_empty(), "{name}");
    }
}

#[test]
fn the_turn_limit_ended_a_run_only_where_a_summary_was_asked_for_or_no_answer_came() {
    let called = "  ┊ 💻 preparing terminal…\n  ┊ 💻 $         ls  0.1s\n";
    let asked = "⚠️ Iteration budget exhausted (2/2) — asking model to summarise\n";
    let reached = "⚠ Iteration budget reached (2/2) — response may be incomplete\n";
    let done = answer(&["Done."]);
    let table = [
        (
            "finished in its last turn",
            format!("{called}{done}{reached}"),
            false,
        ),
        ("no answer", format!("{done}{called}{reached}"), true),
        ("asked for", format!("{called}{asked}{done}{reached}"), true),
    ];
    for (name, body, is_limit) in table {
        let ended = summary_of(context(&[]), &chat(&body), "", &Exit::with_code(0));
        let expected = if is_limit {
            CheckpointStatus::StoppedByExceededMaxSteps
        } else {
            CheckpointStatus::Completed
        };
        assert_eq!(ended.status, expected, "{name}");
        assert!(
            ended.notices.iter().any(|notice| notice.kind == "warning"),
            "{name}"
        );
    }
}

#[test]
fn oneshot_tells_its_failure_on_standard_error() {
    let argv = ["hermes", "-z", "x"];
    for stdout in ["", "HTTP 401: Incorrect API key\n"] {
        let stderr = "hermes -z: HTTP 401: Incorrect API key\n";
        for code in [1, 2] {
            let exit = Exit::with_code(code);
            let failed = summary_of(context(&argv), stdout, stderr, &exit);
            let error = failed.error.unwrap();
            assert_eq!(
                (error.name.as_str(), error.status_code),
                ("ApiError", Some(401)),
                "{stdout:?} {code}"
            );
            assert!(failed.texts.is_empty(), "{stdout:?} {code}");
        }
    }
    // A remark there is no failure.
    let stderr = "hermes -z: ignoring unknown --toolsets entries: x\n";
    let good = summary_of(context(&argv), "Done.\n", stderr, &Exit::with_code(0));
    assert_eq!(good.status, CheckpointStatus::Completed);
}
