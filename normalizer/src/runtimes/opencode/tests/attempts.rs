//! Attempts that were given up, texts of nothing, and calls that no model made.

use serde_json::json;

use super::{JSON, finish, notices, part, read, start, text, tool};
use crate::Exit;

#[test]
fn the_texts_of_an_attempt_that_was_given_up_are_a_notice() {
    let aborted = json!({"status": "error", "input": {}, "error": "Tool execution aborted"});
    let stdout = [
        start("m1"),
        text("m1", "Half an answer"),
        part("step_start", "m1", &json!({"id": "again"})),
        text("m1", "The whole answer."),
        finish("m1", "tool-calls"),
        tool("m1", "call_1", "bash", &aborted),
        start("m2"),
        text("m2", "Done."),
        finish("m2", "stop"),
    ];
    let run = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
    assert_eq!(run.texts, ["The whole answer.", "Done."]);
    assert_eq!(run.final_text.as_deref(), Some("Done."));
    assert_eq!(run.steps, 3);
    let told = notices(&run);
    let retries: Vec<_> = told.iter().filter(|(kind, _)| *kind == "retry").collect();
    assert_eq!(retries.len(), 1);
    assert!(retries[0].1.contains("Half an answer"), "{retries:?}");
}

#[test]
fn a_blank_text_is_none() {
    let stdout = [
        start("m1"),
        text("m1", "\n\n"),
        finish("m1", "tool-calls"),
        start("m2"),
        text("m2", "  \n"),
        finish("m2", "stop"),
    ];
    let run = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
    assert!(run.texts.is_empty());
    assert_eq!((run.final_text.as_deref(), run.steps), (Some(""), 2));
}

#[test]
fn a_command_that_is_a_subtask_counts_no_step() {
    let state = json!({"status": "completed", "input": {"prompt": "x"}, "output": "y"});
    let stdout = [
        tool("m0", "call_1", "task", &state),
        start("m1"),
        text("m1", "Done."),
        finish("m1", "stop"),
    ];
    let run = read(JSON, &stdout.concat(), "", &Exit::with_code(0));
    assert_eq!((run.steps, run.tool_calls.len()), (1, 1));
    assert_eq!(run.tool_calls[0].output.as_deref(), Some("y"));
    assert_eq!(run.final_text.as_deref(), Some("Done."));
}
