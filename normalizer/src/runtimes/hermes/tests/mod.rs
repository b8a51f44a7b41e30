//! Whole outputs, from bytes to the summary.

mod acp;
mod chat;
mod disguises;
mod endings;
mod library;
mod quiet;
mod steps;

use super::ENTRY;
use super::testing::{context, summary_of};
use crate::{Exit, detect};

#[test]
fn outputs_are_recognized_by_their_beginning() {
    let table = [
        ("chat", "Query: x\nInitializing agent...\r\n", true),
        (
            "terminal",
            "\u{1b}]11;?\u{1b}\\\u{1b}[1;34mQuery:\u{1b}[0m x\r\nInitializing agent...\r\r\n",
            true,
        ),
        ("leak", "\r\n┌─ Reasoning ────┐\r\n", true),
        ("library", "  ┊ 💬 Reading first.\n", true),
        ("sample", "[hermes] Session resumed: abc123\n", true),
        (
            "acp",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"agentInfo\":{\"name\":\"hermes-agent\"}}}\n",
            true,
        ),
        (
            "another agent",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
            false,
        ),
        ("text", "Hello.\n", false),
        ("prompt", "Query: what?\n", false),
        ("nothing", "", false),
    ];
    for (name, text, expected) in table {
        let found = detect(text.as_bytes());
        assert_eq!(
            found == Some(runtape_core::Runtime::Hermes),
            expected,
            "{name}"
        );
    }
}

#[test]
fn the_prompt_is_found_in_the_command_line() {
    let table: [(&[&str], Option<&str>); 3] = [
        (&["hermes", "chat", "-q", "Do it.", "-Q"], Some("Do it.")),
        (&["hermes", "-z", "Do it."], Some("Do it.")),
        (&["hermes", "acp"], None),
    ];
    for (argv, expected) in table {
        assert_eq!(
            (ENTRY.query)(&context(argv)).as_deref(),
            expected,
            "{argv:?}"
        );
    }
}

#[test]
fn the_command_line_decides_where_an_output_may_be_of_two_formats() {
    let exit = Exit::with_code(0);
    let text = "  ┊ 💻 $         ls  0.1s\nis what I saw.\n";
    let quiet = context(&["hermes", "chat", "-q", "x", "-Q"]);
    let summary = summary_of(quiet, text, "", &exit);
    assert_eq!(summary.final_text.as_deref(), text.strip_suffix('\n'));
    assert_eq!(summary.output_format.as_deref(), Some("quiet"));
    let library = context(&["drive_lib.py", "x"]);
    let summary = summary_of(library, "Plain.\n", "", &exit);
    assert_eq!(summary.output_format.as_deref(), Some("lib"));
    assert_eq!(summary.final_text.as_deref(), Some("Plain."));
}
