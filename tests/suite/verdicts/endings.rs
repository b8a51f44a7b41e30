//! How runs of every runtime end, in one word: by what was printed, and by how the process ended.

use runtape_core::{Outcome, Runtime};
use runtape_normalizer::Exit;
use serde_json::{Value, json};

use super::{Fields, all_formats, summary};

/// What the output says of the end.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// All of it, whatever the exit.
    Outcome(Outcome),
    /// That there is an answer: the exit tells the rest.
    Answer,
    /// Nothing: it breaks off.
    Nothing,
}

/// Returns how a process ends, and how a run with an answer, and one that breaks off, goes then.
fn exits() -> Vec<(Exit, Outcome, Outcome)> {
    use Outcome::{Completed, Failed, Interrupted};
    let flagged = |timed_out, stopped, signal: &str| Exit {
        timed_out,
        stopped,
        ..Exit::with_signal(signal)
    };
    let stopped_with = |code| Exit {
        stopped: true,
        ..Exit::with_code(code)
    };
    vec![
        (Exit::unknown(), Completed, Failed),
        (Exit::with_code(0), Completed, Failed),
        (Exit::with_code(1), Failed, Failed),
        (Exit::with_code(130), Interrupted, Interrupted),
        (Exit::with_code(143), Interrupted, Interrupted),
        (Exit::with_code(137), Failed, Failed),
        (Exit::with_signal("SIGINT"), Interrupted, Interrupted),
        (Exit::with_signal("SIGTERM"), Interrupted, Interrupted),
        (Exit::with_signal("SIGHUP"), Interrupted, Interrupted),
        (Exit::with_signal("SIGKILL"), Failed, Failed),
        (Exit::with_signal("SIGSEGV"), Failed, Failed),
        // The time was up, and nobody stopped it.
        (flagged(true, false, "SIGTERM"), Failed, Failed),
        (flagged(true, false, "SIGKILL"), Failed, Failed),
        // Somebody stopped it through the recorder, which had to kill it.
        (flagged(false, true, "SIGKILL"), Interrupted, Interrupted),
        (stopped_with(1), Interrupted, Interrupted),
        (Exit::lost(), Failed, Failed),
    ]
}

fn print(name: &str, fields: &Value) -> (Runtime, Option<&'static str>, String) {
    let formats = all_formats().into_iter();
    let mut formats = formats.flat_map(|(runtime, formats)| {
        formats
            .into_iter()
            .map(move |format| (runtime.clone(), format))
    });
    let (runtime, format) = formats.find(|(_, format)| format.name == name).expect(name);
    let fields: Fields = fields.as_object().unwrap().clone();
    (runtime, format.argv, (format.print)(&fields))
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn what_was_printed_and_the_exit_make_one_outcome() {
    use Outcome::{Completed, Failed, Interrupted, Limit};
    use Told::{Answer, Nothing, Outcome as Said};
    let boom = json!({"type": "Error", "message": "boom"});
    let cases = [
        (
            "claude-code json",
            json!({"is_error": false, "subtype": "success"}),
            Said(Completed),
        ),
        (
            "claude-code stream-json",
            json!({"is_error": false, "subtype": "success"}),
            Said(Completed),
        ),
        (
            "claude-code stream-json",
            json!({"is_error": true, "subtype": "error_during_execution"}),
            Said(Failed),
        ),
        (
            "claude-code stream-json",
            json!({"is_error": true, "subtype": "success"}),
            Said(Failed),
        ),
        (
            "claude-code json",
            json!({"is_error": true, "subtype": "error_max_turns"}),
            Said(Limit),
        ),
        (
            "claude-code json",
            json!({"is_error": true, "subtype": "error_max_budget_usd"}),
            Said(Limit),
        ),
        (
            "claude-code stream-json",
            json!({"is_error": true, "subtype": "error_during_execution", "terminal_reason": "aborted_streaming"}),
            Said(Interrupted),
        ),
        (
            "codex --json",
            json!({"type": "turn.completed"}),
            Said(Completed),
        ),
        (
            "codex --json",
            json!({"type": "turn.failed", "error": {"message": "boom"}}),
            Said(Failed),
        ),
        ("codex --json", json!({"type": "turn.unheard.of"}), Nothing),
        (
            "cursor stream-json",
            json!({"is_error": false, "subtype": "success"}),
            Said(Completed),
        ),
        (
            "cursor stream-json",
            json!({"is_error": true, "subtype": "error_during_execution"}),
            Said(Failed),
        ),
        ("gemini json", json!({"response": "Done."}), Said(Completed)),
        (
            "gemini stream-json",
            json!({"status": "success"}),
            Said(Completed),
        ),
        (
            "gemini stream-json",
            json!({"status": "error", "error": boom}),
            Said(Failed),
        ),
        (
            "gemini stream-json",
            json!({"status": "error", "error": {"type": "FatalTurnLimitedError", "message": "boom"}}),
            Said(Limit),
        ),
        (
            "gemini stream-json",
            json!({"status": "error", "error": {"type": "FatalCancellationError", "message": "Operation cancelled."}}),
            Said(Interrupted),
        ),
        (
            "generic transcript",
            json!({"isError": false, "subtype": "completed"}),
            Said(Completed),
        ),
        (
            "generic transcript",
            json!({"isError": true, "subtype": "boom"}),
            Said(Failed),
        ),
        (
            "generic transcript",
            json!({"isError": true, "subtype": "error_max_turns"}),
            Said(Limit),
        ),
        (
            "hermes acp",
            json!({"stopReason": "end_turn"}),
            Said(Completed),
        ),
        ("hermes acp", json!({"stopReason": "refusal"}), Said(Failed)),
        (
            "hermes acp",
            json!({"stopReason": "max_turn_requests"}),
            Said(Limit),
        ),
        (
            "hermes acp",
            json!({"stopReason": "cancelled"}),
            Said(Interrupted),
        ),
        ("openclaw chat", json!({"state": "final"}), Said(Completed)),
        (
            "openclaw chat",
            json!({"state": "error", "errorMessage": "boom"}),
            Said(Failed),
        ),
        (
            "openclaw chat",
            json!({"state": "aborted", "stopReason": "rpc"}),
            Said(Interrupted),
        ),
        (
            "openclaw chat",
            json!({"state": "aborted", "stopReason": "timeout"}),
            Said(Failed),
        ),
        ("openclaw chat", json!({"state": "delta"}), Nothing),
        // The exit has a say in how its steps ended.
        ("opencode events", json!({"reason": "stop"}), Answer),
        (
            "opencode events",
            json!({"reason": "stop", "error": {"name": "UnknownError", "data": {"message": "boom"}}}),
            Said(Failed),
        ),
        (
            "opencode events",
            json!({"reason": "stop", "error": {"name": "MessageAbortedError", "data": {"message": "boom"}}}),
            Said(Interrupted),
        ),
    ];
    let cases = cases.map(|(name, fields, told)| {
        let (runtime, argv, stdout) = print(name, &fields);
        (format!("{name} {fields}"), runtime, argv, stdout, told)
    });
    let texts = [
        (Runtime::ClaudeCode, "claude -p x --output-format text"),
        (Runtime::Codex, "codex exec x"),
        (Runtime::Cursor, "cursor-agent -p --output-format text x"),
        (Runtime::Gemini, "gemini -p x --output-format text"),
        (Runtime::Generic, "./agent x"),
        (Runtime::Hermes, "hermes chat -Q -q x"),
        (Runtime::Opencode, "opencode run x"),
    ];
    let answers = [("Done.\n", Answer), ("", Nothing)];
    let texts = texts.into_iter().flat_map(|(runtime, argv)| {
        answers.map(|(stdout, told)| {
            let name = format!("{argv} {stdout:?}");
            (name, runtime.clone(), Some(argv), stdout.to_owned(), told)
        })
    });
    let mut faults = Vec::new();
    for (name, runtime, argv, stdout, told) in cases.into_iter().chain(texts) {
        for (exit, answered, broken) in exits() {
            let expected = match told {
                // What is missing of the output may have said something else.
                Said(outcome) => outcome,
                Answer => answered,
                Nothing => broken,
            };
            let found = summary(&runtime, argv, &stdout, &exit);
            if found.outcome != expected {
                let error = found.error.map(|error| error.name);
                let found = found.outcome.as_str();
                faults.push(format!(
                    "{name} {exit:?}: {found} {error:?}, not {}",
                    expected.as_str()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}
