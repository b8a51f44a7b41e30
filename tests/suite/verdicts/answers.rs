//! Output without a verdict: text and JSON that may be an answer.

use runtape_core::{CheckpointStatus, Runtime};
use runtape_normalizer::Exit;

use super::{exits, fault, normalize, summary};

#[test]
fn text_ends_as_the_process_did() {
    let formats = [
        (
            Runtime::ClaudeCode,
            "claude -p x --output-format text",
            "Done.\n",
        ),
        (
            Runtime::Cursor,
            "cursor-agent -p --output-format text x",
            "Done.\n",
        ),
        (
            Runtime::Gemini,
            "gemini -p x --output-format text",
            "Done.\n",
        ),
        (Runtime::Codex, "codex exec x", "Done.\n"),
        (Runtime::Opencode, "opencode run x", "Done.\n"),
        (Runtime::Hermes, "hermes chat -Q -q x", "Done.\n"),
        (Runtime::Hermes, "hermes -z x", "Done.\n"),
        (Runtime::Generic, "./agent x", "Done.\n"),
        (Runtime::Hermes, "hermes chat -q x", HERMES_CHAT),
    ];
    let mut faults = Vec::new();
    for (runtime, argv, stdout) in formats {
        for exit in exits() {
            let records = normalize(&runtime, Some(argv), stdout, &exit);
            let is_success = exit.is_success() || exit.is_unknown();
            if let Some(fault) = fault(&records, is_success, &exit) {
                faults.push(format!("{argv} {exit:?}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A whole output of hermes' chat, with the summary that it prints at its end.
const HERMES_CHAT: &str = "Query: x
Initializing agent...
────────────────────────────────────────


╭─ ⚕ Hermes ───────────────────────────────────────────────────────────────────╮
    Done.
╰──────────────────────────────────────────────────────────────────────────────╯

Resume this session with:
  hermes --resume 20261115_234114_4aea7d

Session:        20261115_234114_4aea7d
Duration:       10s
Messages:       2 (1 user, 0 tool calls)
";

/// JSON that no format prints.
const OTHER_JSON: &[&str] = &[
    "[]",
    "{}",
    "[1, 2]",
    "{\"is_error\":true}",
    "{\"type\":\"result\",\"status\":\"error\"}",
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false}",
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}",
    "{\"response\":\"x\"}",
    "{\n  \"response\": \"x\"\n}",
    "{\"error\":{\"message\":\"boom\"}}",
    "{\"answer\":42}",
];

#[test]
fn json_that_no_format_prints_is_an_answer_unless_the_command_line_asks_for_json() {
    let runtimes = [
        (Runtime::ClaudeCode, "claude -p x --output-format"),
        (Runtime::Cursor, "cursor-agent -p x --output-format"),
        (Runtime::Gemini, "gemini -p x --output-format"),
    ];
    let mut faults = Vec::new();
    for (runtime, argv) in runtimes {
        for stdout in OTHER_JSON {
            let printed = format!("{stdout}\n");
            let text = format!("{argv} text");
            for argv in [None, Some(text.as_str())] {
                let summary = summary(&runtime, argv, &printed, &Exit::with_code(0));
                let is_answer = summary.status == CheckpointStatus::Completed
                    && summary.output_format.as_deref() == Some("text")
                    && summary.final_text.as_deref() == Some(*stdout)
                    && summary.unparsed.is_empty();
                if !is_answer {
                    faults.push(format!("{runtime} {argv:?} {stdout}: no answer"));
                }
            }
            for format in ["json", "stream-json"] {
                // The json format of gemini is an object with a response: these two are.
                if runtime == Runtime::Gemini && stdout.contains("\"response\"") {
                    continue;
                }
                let is_result = stdout.contains("\"subtype\":\"success\",\"is_error\":false");
                let is_documented = is_result && (runtime != Runtime::Gemini || format != "json");
                let argv = format!("{argv} {format}");
                let summary = summary(&runtime, Some(&argv), &printed, &Exit::with_code(0));
                let is_completed = summary.status == CheckpointStatus::Completed;
                if is_completed != is_documented {
                    faults.push(format!("{argv} {stdout}: completed {is_completed}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn codex_and_opencode_print_json_as_an_answer_unless_their_first_object_is_an_event() {
    let runtimes = [
        (Runtime::Codex, "codex exec x", "codex exec --json x"),
        (
            Runtime::Opencode,
            "opencode run x",
            "opencode run --format json x",
        ),
    ];
    for (runtime, text, json) in runtimes {
        for stdout in OTHER_JSON {
            let printed = format!("{stdout}\n");
            for argv in [None, Some(text)] {
                let summary = summary(&runtime, argv, &printed, &Exit::with_code(0));
                let case = format!("{runtime} {argv:?} {stdout}");
                assert_eq!(summary.final_text.as_deref(), Some(*stdout), "{case}");
                assert_eq!(summary.output_format.as_deref(), Some("text"), "{case}");
                assert_eq!(summary.status, CheckpointStatus::Completed, "{case}");
                assert!(summary.unparsed.is_empty(), "{case}");
            }
            let summary = summary(&runtime, Some(json), &printed, &Exit::with_code(0));
            let name = summary.error.map(|error| error.name);
            assert_eq!(
                name.as_deref(),
                Some("TruncatedOutput"),
                "{runtime} {stdout}"
            );
        }
    }
}

/// Objects that claim to be a result in words that no result has.
const CLAIMS: &[&str] = &[
    "{\"type\":\"result\"}",
    "{\"type\":\"result\",\"is_error\":\"true\",\"result\":\"x\"}",
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":1}",
    "{\"type\":\"result\",\"subtype\":\"cancelled\",\"is_error\":false}",
];

#[test]
fn what_claims_to_be_a_result_in_unknown_words_is_no_success() {
    let runtimes = [
        (Runtime::ClaudeCode, "claude -p x --output-format json"),
        (Runtime::Cursor, "cursor-agent -p x --output-format json"),
    ];
    for (runtime, argv) in runtimes {
        for stdout in CLAIMS {
            for argv in [None, Some(argv)] {
                for exit in [Exit::with_code(0), Exit::unknown()] {
                    let summary = summary(&runtime, argv, &format!("{stdout}\n"), &exit);
                    let name = summary.error.as_ref().map(|error| error.name.as_str());
                    assert_eq!(name, Some("UnclearResult"), "{runtime} {argv:?} {stdout}");
                }
            }
        }
    }
}

#[test]
fn a_line_that_begins_like_json_and_does_not_parse_is_no_answer() {
    let cut = [
        "{\"type\"x\"init\"}",
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_err",
        "{\"type\":\"result\",\"status\":\"suc",
        "{\"session_id\":\"5b0d6c1e\",\"response\":\"Hel",
        "[{\"type\":\"system\"",
        "{\"a\":1]}",
    ];
    for runtime in [
        Runtime::ClaudeCode,
        Runtime::Cursor,
        Runtime::Gemini,
        Runtime::Codex,
        Runtime::Opencode,
        Runtime::Generic,
    ] {
        for stdout in cut {
            for printed in [stdout.to_owned(), format!("{stdout}\n")] {
                let summary = summary(&runtime, None, &printed, &Exit::with_code(0));
                let case = format!("{runtime} {printed:?}");
                let name = summary.error.map(|error| error.name);
                assert_eq!(name.as_deref(), Some("TruncatedOutput"), "{case}");
                assert_eq!(summary.unparsed.len(), 1, "{case}");
            }
        }
    }
}
