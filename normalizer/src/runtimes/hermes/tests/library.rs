//! Whole outputs: library.

use runtape_core::{CheckpointStatus, Record, ToolCallId};
use serde_json::json;

use super::{records_of, summary, summary_of};
use crate::Exit;
use crate::testing::context;

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

#[test]
fn calls_at_once_are_counted_before_they_are_listed() {
    let found = summary(
        "  [tool] (◔_◔) musing...\n  [tool] (★ω★) ⚡ running 2 tools concurrently\n  [done] ⚡ 2/2 tools completed in 1.0s total (0.5s)\n  ┊ 📖 read      a  0.4s\n  ┊ 💻 $         ls  0.6s [exit 2]\n  [tool] (◔_◔) musing...\nDone.\n",
    );
    let calls: Vec<_> = found
        .tool_calls
        .iter()
        .map(|call| (call.name.as_str(), call.is_error))
        .collect();
    assert_eq!(
        calls,
        [("read_file", Some(false)), ("terminal", Some(true))]
    );
    assert_eq!(found.texts, ["Done."]);
}

/// Puts before a line what 0.16 writes to clear the spinner.
fn cleared(line: &str) -> String {
    format!("\r{}\r{line}", " ".repeat(40))
}

#[test]
fn subagents_in_the_background_go_on_after_their_call() {
    let started = "  [tool] (★ω★) 🔀 2x: one | two\n   [1] ├─ 🔀 one\n  [done] ┊ 🔀 delegate  2x: one | two  0.1s (0.5s)\n";
    let later = "  [tool] (◔_◔) musing...\n   [2] ├─ 🔀 two\n   [1] ├─ 💻 terminal  \"ls\"\n  [tool] (★ω★) 💻 Running pwd\n   [2] ├─ 📖 read_file  \"x\"\n  [done] ┊ 💻 $         pwd  0.1s (0.5s)\n";
    let ended = "  ✓ [1/2] one  (6.7s)\n  ✗ [2/2] two  (7.16s)\n";
    for ended in [
        ended.to_owned(),
        ended.lines().map(|line| cleared(line) + "\n").collect(),
    ] {
        let found = summary(&format!("{started}{later}{ended}Done.\n"));
        assert_eq!(found.texts, ["Done."]);
        assert_eq!(found.runs.len(), 3);
        let main = &found.runs[0].run_id;
        let (own, inner): (Vec<_>, Vec<_>) = found
            .tool_calls
            .iter()
            .partition(|call| call.run_id == *main);
        let names = |calls: &[&runtape_core::SummaryToolCall]| -> Vec<String> {
            calls.iter().map(|call| call.name.clone()).collect()
        };
        assert_eq!(names(&own), ["delegate_task", "terminal"]);
        assert_eq!(names(&inner), ["terminal", "read_file"]);
        assert_eq!(
            endings(&format!("{started}{later}{ended}Done.\n")),
            [None, Some("SubagentFailed"), None]
        );
        let tasks = found.notices.iter().filter(|notice| notice.kind == "task");
        assert_eq!(tasks.count(), 2);
    }
}

/// Returns what the runs of an output ended with, in the order in which they ended.
fn endings(output: &str) -> Vec<Option<&'static str>> {
    let records = records_of(context(&[]), output, "", &Exit::with_code(0));
    let ended = records.iter().filter_map(Record::terminal);
    let names = ended.map(|head| head.error.as_ref().map(|error| error.name.clone()));
    let known = ["SubagentFailed", "ParentEnded"];
    names
        .map(|name| name.map(|name| known.into_iter().find(|known| *known == name).unwrap()))
        .collect()
}

#[test]
fn a_subagent_ends_with_its_call_or_when_it_says_so_or_with_the_run() {
    let call = "  [tool] (★ω★) 🔀 one\n   ├─ 🔀 one\n";
    let over = "  [done] ┊ 🔀 delegate  one  0.1s (0.5s)\n";
    let failed = "  [done] ┊ 🔀 delegate  one  0.1s [error] (0.5s)\n";
    let work = "   ├─ 💻 terminal  \"ls\"\n";
    let table = [
        (format!("{call}{work}{over}Done.\n"), [None, None]),
        (
            format!("{call}{work}{failed}Done.\n"),
            [Some("SubagentFailed"), None],
        ),
        (
            format!("{call}{over}{work}Done.\n"),
            [Some("ParentEnded"), None],
        ),
    ];
    for (output, expected) in table {
        assert_eq!(endings(&output), expected, "{output}");
    }
}

#[test]
fn a_subagent_may_begin_after_its_call_is_over() {
    let found = summary(
        "  [tool] (★ω★) 🔀 one\n  [done] ┊ 🔀 delegate  one  0.1s (0.5s)\n   ├─ 🔀 one\n   ├─ 💻 terminal  \"ls\"\n  [tool] (◔_◔) musing...\nDone.\n",
    );
    assert_eq!((found.runs.len(), found.tool_calls.len()), (2, 2));
    assert_eq!(found.texts, ["Done."]);
}

#[test]
fn two_calls_have_a_subagent_each() {
    let found = summary(
        "  [tool] (★ω★) ⚡ running 2 tools concurrently\n   ├─ 🔀 one\n   ├─ 🔀 two\n   ├─ 💻 terminal  \"ls\"\n  [done] ⚡ 2/2 tools completed in 1.0s total (0.5s)\n  ┊ 🔀 delegate  one  0.5s\n  ┊ 🔀 delegate  two  0.5s\nDone.\n",
    );
    let parents: Vec<_> = found.runs[1..]
        .iter()
        .map(|run| run.parent_tool_call_id.as_ref().map(ToolCallId::as_str))
        .collect();
    let main = &found.runs[0].run_id;
    let own = found.tool_calls.iter().filter(|call| call.run_id == *main);
    let own: Vec<_> = own.map(|call| Some(call.id.as_str())).collect();
    assert_eq!(parents, own);
    assert_eq!(own.len(), 2);
}

#[test]
fn commands_of_several_lines_are_not_the_answer() {
    // 0.16, with and without a spinner.
    let spinner = "  [tool] (★ω★) 💻 cat > x <<EOF\nnot the answer\nEOF\n  [done] ┊ 💻 $         cat > x <<EOF\nnot the answer\nEOF  0.1s [exit 1] (0.5s)\n";
    let plain = "  ┊ 💻 $         cat > x <<EOF\nnot the answer\nEOF  0.1s [exit 1]\n";
    for lines in [spinner, plain] {
        let found = summary(&format!("{lines}Done.\n"));
        assert_eq!(found.texts, ["Done."], "{lines}");
        assert_eq!(found.tool_calls.len(), 1, "{lines}");
        let call = &found.tool_calls[0];
        assert_eq!(
            call.input,
            json!({"summary": "cat > x <<EOF\nnot the answer\nEOF"})
        );
        assert_eq!(
            (call.is_error, call.output.as_deref()),
            (Some(true), Some("exit 1"))
        );
    }
}

#[test]
fn a_preview_of_several_lines_is_not_the_answer() {
    let found = summary(
        "  [tool] (★ω★) 🔀 one\n   ├─ 🔀 one\n  [done] ┊ 🔀 delegate  one  0.1s (0.5s)\n   ├─ 💻 terminal  \"ls\npwd\nid\"\n   ├─ 💭 \"Seen.\"\nDone.\n",
    );
    assert_eq!(found.texts, ["Seen.", "Done."]);
    assert_eq!(found.tool_calls.len(), 2);
}

#[test]
fn an_answer_may_begin_with_the_marks_of_a_report() {
    for text in [
        "⚠️ Take care.",
        "❌ No.\n   📝 Error: none",
        "   📝 Notes",
        "⏳ Soon.",
        "🧾 A receipt",
    ] {
        let found = summary(&format!("  ┊ 💻 $         ls  0.2s\n{text}\n"));
        assert_eq!(found.texts, [text]);
        assert_eq!(found.status, CheckpointStatus::Completed, "{text}");
    }
    let warned = summary(
        "  ┊ 💻 $         ls  0.2s\n🗜️ Compacting context — 9 messages\nContext limit detected from API: 9,000 tokens\nDone.\n",
    );
    assert_eq!(warned.texts, ["Done."]);
    let kinds: Vec<_> = warned
        .notices
        .iter()
        .map(|notice| notice.kind.as_str())
        .collect();
    assert_eq!(kinds, ["compaction", "info"]);
}
