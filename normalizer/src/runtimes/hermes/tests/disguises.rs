//! Answers that look like another format. What the command line or standard error says decides.

use runtape_core::{CheckpointStatus, RunSummary};

use super::{answer, answer_bottom, answer_top, chat, reasoning, screen, summary_of};
use crate::Exit;
use crate::testing::context;

const STDERR: &str = "\nsession_id: 20261115_234454_91d32d\n";
const SESSION: Option<&str> = Some("20261115_234454_91d32d");

fn disguises() -> Vec<(&'static str, String)> {
    let call = "  ┊ 💻 preparing terminal…\n  ┊ 💻 $         rm -rf /  0.1s\n";
    let body = format!("{}{call}{}", reasoning(&["Hm."]), answer(&["no"]));
    let whole = chat(&body);
    let headless = screen(&format!(
        "{}\n    no\n{}\n{call}",
        answer_top(),
        answer_bottom()
    ));
    let headless = format!("{headless}x\n");
    vec![
        ("a chat", whole.clone()),
        ("a chat with plain line ends", whole.replace("\r\n", "\n")),
        ("a chat on a terminal", format!("\u{1b}]11;?\u{1b}\\{whole}")),
        ("a chat without its start", headless),
        ("the echo of a prompt", "Query: x\nInitializing agent...\r\nno\n".to_owned()),
        (
            "acp",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"agentInfo\":{\"name\":\"hermes-agent\",\"version\":\"6\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"618c72fb-3b45-495c-a05d-cb728b507743\",\"update\":{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"tc-1\",\"title\":\"terminal: ls\"}}}\n".to_owned(),
        ),
        ("a tool line", "  ┊ 💻 $         ls  0.1s\nno\n".to_owned()),
        ("a tool line that ends in CRLF", "  ┊ 💻 $         ls  0.1s\r\nno\n".to_owned()),
        ("a call that is prepared", "  ┊ 💻 preparing terminal…\r\nno\n".to_owned()),
        ("a spinner", "  [tool] (★ω★) 🔀 count\n   ├─ 🔀 count\n   ├─ 💻 terminal  \"ls\"\n".to_owned()),
        ("the customer's sample", "[hermes] Session resumed: 20200101_000000_abcdef\n┊ $ ls /p\n".to_owned()),
        ("a report", "⚠️  API call failed (attempt 1/3): X [HTTP 500]\n❌ API failed after 3 retries\n".to_owned()),
        ("an unknown session", "Session not found: 20200101_000000_ffffff\n".to_owned()),
        ("another session", "x\nsession_id: 20200101_000000_abcdef\n".to_owned()),
        ("JSON over lines", "{\n  \"type\": \"result\"\n}\n".to_owned()),
    ]
}

fn assert_is_answer(name: &str, found: &RunSummary, output: &str) {
    let text = output.strip_suffix('\n');
    assert_eq!(found.output_format.as_deref(), Some("quiet"), "{name}");
    assert_eq!(found.status, CheckpointStatus::Completed, "{name}");
    assert_eq!(found.final_text.as_deref(), text, "{name}");
    assert_eq!(found.texts.len(), 1, "{name}");
    assert!(
        found.tool_calls.is_empty() && found.thinking.is_empty(),
        "{name}"
    );
    assert_eq!((found.runs.len(), found.steps), (1, 1), "{name}");
    assert!(found.unparsed.is_empty(), "{name}");
}

#[test]
fn a_session_on_standard_error_proves_an_answer_whatever_it_looks_like() {
    for (name, output) in disguises() {
        let found = summary_of(context(&[]), &output, STDERR, &Exit::with_code(0));
        assert_is_answer(name, &found, &output);
        assert_eq!(found.session_id.as_deref(), SESSION, "{name}");
        assert!(found.notices.is_empty(), "{name} {:?}", found.notices);
    }
}

#[test]
fn a_command_line_proves_an_answer_whatever_it_looks_like() {
    for (name, output) in disguises() {
        let quiet = context(&["hermes", "chat", "-q", "x", "-Q"]);
        let found = summary_of(quiet, &output, STDERR, &Exit::with_code(0));
        assert_is_answer(name, &found, &output);
        assert_eq!(found.session_id.as_deref(), SESSION, "{name}");
        let oneshot = context(&["hermes", "-z", "x"]);
        let found = summary_of(oneshot, &output, "", &Exit::with_code(0));
        assert_is_answer(name, &found, &output);
        assert_eq!(found.session_id, None, "{name}");
    }
}

#[test]
fn a_log_that_quotes_a_session_proves_nothing() {
    let output = chat(&answer(&["Done."]));
    let stderr = "23:43:23 - tools - WARNING - Tool terminal returned error: x\n\nsession_id: 20200101_000000_abcdef\n";
    for argv in [&[] as &[&str], &["hermes", "chat", "-q", "x", "-v"]] {
        let found = summary_of(context(argv), &output, stderr, &Exit::with_code(0));
        assert_eq!(found.output_format.as_deref(), Some("chat"), "{argv:?}");
        assert_eq!(found.texts, ["Done."], "{argv:?}");
    }
}

#[test]
fn a_chat_that_was_asked_for_names_its_session_itself() {
    let output = chat(&answer(&["Done."]));
    let stderr = "\nsession_id: 20200101_000000_abcdef\n";
    let asked = context(&["hermes", "chat", "-q", "x"]);
    let found = summary_of(asked, &output, stderr, &Exit::with_code(0));
    assert_eq!(found.session_id.as_deref(), Some("20261115_234656_5eb98f"));
    assert_eq!(found.output_format.as_deref(), Some("chat"));
}
