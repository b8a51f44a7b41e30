//! Whole outputs: library.

use runtape_core::{CheckpointStatus, ToolCallId};
use serde_json::json;

use super::super::testing::{context, summary, summary_of};
use crate::Exit;

#[test]
fn from_the_first_unknown_line_on_everything_is_answer() {
    let summary = summary(
        "  ┊ 💬 One.\n[not hermes]\n\n  rest\n  ┊ 💻 $         ls  0.2s [exit 2]\nThe answer:\n  ┊ 💻 $         fake  0.1s\n\n  [done] ┊ no\n",
    );
    assert_eq!(summary.output_format.as_deref(), Some("lib"));
    assert_eq!(
        summary.texts,
        [
            "One.\n[not hermes]\n\n  rest",
            "The answer:\n  ┊ 💻 $         fake  0.1s\n\n  [done] ┊ no"
        ]
    );
    assert_eq!(summary.tool_calls.len(), 1);
    assert_eq!(summary.tool_calls[0].input, json!({"summary": "ls"}));
    assert_eq!(summary.steps, 2);
}

#[test]
fn spinners_are_dropped_but_a_call_that_never_ended_is_not() {
    let text = "  [tool] (◔_◔) synthesizing...\n  [tool] (★ω★) 💻 Running sleep 30\n";
    let summary = summary_of(context(&[]), text, "", &Exit::with_code(137));
    assert_eq!(summary.tool_calls.len(), 1);
    assert_eq!(summary.tool_calls[0].name, "terminal");
    assert_eq!(summary.tool_calls[0].is_error, None);
    assert!(summary.texts.is_empty());
    assert_eq!(summary.error.unwrap().name, "KilledBySignal");
}

#[test]
fn subagents_are_runs_of_their_own() {
    let summary = summary(
        "  ┊ 💬 I will delegate.\n  [tool] (★ω★) 🔀 count\n\r                                        \r   [1] ├─ 🔀 count the files\n   [2] ├─ 🔀 count the lines\n   [1] ├─ 💭 \"(◔_◔) pondering...\"\n   [1] ├─ 💭 \"Counting.\"\n   [1] ├─ 💻 terminal  \"ls | wc -l\"\n   [2] ├─ 💭 \"Lines.\"\n   [1] ├─ 💭 \"There is 1 file here.\"\n  [done] ┊ 🔀 delegate  2x: count | count  1.0s (1.5s)\nBoth are done.\n",
    );
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(
        summary.texts,
        [
            "I will delegate.",
            "Counting.",
            "Lines.",
            "There is 1 file here.",
            "Both are done."
        ]
    );
    assert_eq!(summary.runs.len(), 3);
    let delegate = &summary.tool_calls[0];
    assert_eq!(
        (delegate.name.as_str(), delegate.is_error),
        ("delegate_task", Some(false))
    );
    for child in &summary.runs[1..] {
        assert_eq!(
            child.parent_tool_call_id.as_ref().map(ToolCallId::as_str),
            Some(delegate.id.as_str())
        );
    }
    let inner = &summary.tool_calls[1];
    assert_eq!(
        (inner.name.as_str(), &inner.run_id),
        ("terminal", &summary.runs[1].run_id)
    );
    assert_eq!(summary.steps, 2);
    assert_eq!(summary.final_text.as_deref(), Some("Both are done."));
}

#[test]
fn one_subagent_has_no_number() {
    let summary = summary(
        "  [tool] (★ω★) 🔀 count\n   ├─ 🔀 count\n   ├─ 💭 \"Counting.\"\n  [done] ┊ 🔀 delegate  count  1.0s (1.5s)\nDone.\n",
    );
    assert_eq!((summary.runs.len(), summary.tool_calls.len()), (2, 1));
    assert_eq!(summary.tool_calls[0].input, json!({"summary": "count"}));
}

#[test]
fn a_failed_request_fails_the_run_though_the_exit_is_0() {
    let summary = summary(
        "🧾 Request debug dump written to: /tmp/x.json\n⚠️  API call failed (attempt 1/3): AuthenticationError [HTTP 401]\n   📝 Error: HTTP 401: no\n❌ Non-retryable error (HTTP 401): HTTP 401: no\nHTTP 401: no\n",
    );
    assert_eq!(summary.status, CheckpointStatus::StoppedByError);
    assert!(summary.texts.is_empty());
    assert_eq!(summary.error.unwrap().status_code, Some(401));
}

#[test]
fn the_customers_sample_is_read() {
    let summary = summary(
        "[hermes] Session resumed: abc123\n┊ 💬 Thinking...\n┊ $ ls /p\n┊ [done] $ ls /p — /src /README.md  0.3s\n┊ 💬 I see.\n┊ read /p/README.md\n┊ [done] read — Project Overview: A CLI tool for...  1.2s\nThe project is a CLI tool.\n- It uses TypeScript\n",
    );
    assert_eq!(summary.session_id, None);
    assert_eq!(summary.steps, 3);
    assert_eq!(summary.texts.len(), 3);
    let calls: Vec<_> = summary.tool_calls.iter().collect();
    assert_eq!(
        (calls[0].name.as_str(), calls[0].output.as_deref()),
        ("terminal", Some("/src /README.md"))
    );
    assert_eq!(calls[0].input, json!({"summary": "ls /p"}));
    assert_eq!(
        (calls[1].name.as_str(), calls[1].is_error),
        ("read_file", Some(false))
    );
}
