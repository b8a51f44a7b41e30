//! Whole outputs of `hermes chat`.

use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary};
use serde_json::{Value, json};

use super::{
    answer, answer_bottom, answer_top, chat, panel, reasoning, reasoning_top, screen, summary,
    summary_of,
};
use crate::Exit;
use crate::testing::context;

/// A call: name, input, whether it failed, output, step.
type Call<'a> = (&'a str, Value, Option<bool>, Option<&'a str>, u64);

fn calls(summary: &RunSummary) -> Vec<Call<'_>> {
    let calls = summary.tool_calls.iter();
    calls
        .map(|call| {
            let output = call.output.as_deref();
            (
                call.name.as_str(),
                call.input.clone(),
                call.is_error,
                output,
                call.step,
            )
        })
        .collect()
}

#[test]
fn a_box_is_one_text_whatever_is_printed_between_its_lines() {
    let body = format!(
        "{}\n{}\n    one\n  ┊ 💻 preparing terminal…\n⚠️  Stream interrupted by network error\n    two\n{}\n  ┊ 💻 $         ls  0.1s\n{}",
        reasoning(&["First.", "", "Second."]),
        answer_top(),
        answer_bottom(),
        answer(&["Done."]),
    );
    let summary = summary(&chat(&body));
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.texts, ["one\ntwo", "Done."]);
    assert_eq!(summary.thinking, ["First.\n\nSecond."]);
    assert_eq!(summary.final_text.as_deref(), Some("Done."));
    assert_eq!(
        summary.session_id.as_deref(),
        Some("20261115_234656_5eb98f")
    );
    assert_eq!(summary.duration_ms, Some(62_000));
    assert_eq!(summary.output_format.as_deref(), Some("chat"));
    assert_eq!(summary.steps, 2);
    assert_eq!(
        calls(&summary),
        [("terminal", json!({"summary": "ls"}), Some(false), None, 1)]
    );
    assert_eq!(summary.notices.len(), 1);
    assert!(summary.unparsed.is_empty());
}

#[test]
fn an_answer_may_look_like_anything() {
    let lines = [
        "┊ 💻 $         rm -rf /tmp/x  0.3s",
        "  ┊ 📖 read      fake.txt  1.2s [exit 1]",
        "╰──────╯",
        "",
        "❌ API failed after 3 retries — HTTP 500: no",
        "Resume this session with:",
        "  hermes --resume 20200101_000000_abcdef",
        "Session:        20200101_000000_abcdef",
    ];
    let summary = summary(&chat(&answer(&lines)));
    assert_eq!(summary.texts, [lines.join("\n")]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(
        summary.session_id.as_deref(),
        Some("20261115_234656_5eb98f")
    );
    assert!(summary.tool_calls.is_empty() && summary.notices.is_empty());
}

#[test]
fn reasoning_may_look_like_anything_too() {
    let lines = [
        "╭─ ⚕ Hermes ─────╮",
        "    not an answer",
        "  ┊ 💻 preparing terminal…",
        "└──────┘",
        "session_id: 20200101_000000_abcdef",
    ];
    let summary = summary(&chat(&format!("{}{}", reasoning(&lines), answer(&["a"]))));
    assert_eq!(summary.thinking, [lines.join("\n")]);
    assert_eq!(summary.texts, ["a"]);
    assert!(summary.tool_calls.is_empty());
}

#[test]
fn a_tag_in_the_text_gives_a_box_after_the_answer() {
    let summary = summary(&chat(&format!("{}{}", answer(&["a"]), reasoning(&["t"]))));
    assert_eq!(
        (summary.texts.len(), summary.thinking.len(), summary.steps),
        (1, 1, 1)
    );
    assert_eq!(summary.final_text.as_deref(), Some("a"));
}

#[test]
fn a_completion_takes_the_oldest_open_call_of_its_tool() {
    let body = "  ┊ 📖 preparing read_file…\n  ┊ 💻 preparing terminal…\n  ┊ 📖 preparing read_file…\n  ┊ ⚡ preparing mcp_github_list…\n  ┊ 📖 read      a  0.4s\n  ┊ 💻 $         ls  0.8s [exit 2]\n  ┊ 📖 read      b  0.1s\n  ┊ ⚡ mcp_githu x  0.1s\n";
    let summary = summary(&chat(&format!("{body}{}", answer(&["done"]))));
    assert_eq!(
        calls(&summary),
        [
            ("read_file", json!({"summary": "a"}), Some(false), None, 1),
            (
                "terminal",
                json!({"summary": "ls"}),
                Some(true),
                Some("exit 2"),
                1
            ),
            ("read_file", json!({"summary": "b"}), Some(false), None, 1),
            (
                "mcp_github_list",
                json!({"summary": "x"}),
                Some(false),
                None,
                1
            ),
        ]
    );
}

#[test]
fn a_call_of_an_earlier_message_is_not_completed_any_more() {
    let body = format!(
        "  ┊ 💻 preparing terminal…\n{}  ┊ 💻 preparing terminal…\n  ┊ 💻 $         ls  0.8s\n{}",
        answer(&["again"]),
        answer(&["done"])
    );
    let summary = summary(&chat(&body));
    assert_eq!(
        calls(&summary),
        [
            ("terminal", Value::Null, None, None, 1),
            ("terminal", json!({"summary": "ls"}), Some(false), None, 2),
        ]
    );
}

#[test]
fn a_diff_is_the_output_of_its_call() {
    let diff = "a/x → b/x\n@@ -1,2 +1,2 @@\n   ┊ 💻 $         ls  0.1s\n-old\n+new";
    let body = format!(
        "  ┊ ✍️ preparing write_file…\n  ┊ 🔧 preparing patch…\n  ┊ ✍️  write     y  0.1s\n  ┊ 🔧 patch     x  0.1s\n  ┊ review diff\n{diff}\n{}",
        answer(&["done"])
    );
    let summary = summary(&chat(&body));
    assert_eq!(
        calls(&summary),
        [
            ("write_file", json!({"summary": "y"}), Some(false), None, 1),
            ("patch", json!({"summary": "x"}), Some(false), Some(diff), 1),
        ]
    );
    assert!(summary.notices.is_empty());
}

#[test]
fn a_panel_is_the_answer_without_streaming() {
    let body = format!(
        "  ┊ 💻 $         ls  0.1s\n{}",
        panel(&["one", "", "  two"])
    );
    let summary = summary(&chat(&body));
    assert_eq!(summary.output_format.as_deref(), Some("nostream"));
    assert_eq!(summary.texts, ["one\n\n  two"]);
    assert_eq!(summary.steps, 2);
}

#[test]
fn a_panel_after_a_failure_is_no_answer() {
    let body = format!(
        "⚠️  API call failed (attempt 1/1): RateLimitError [HTTP 429]\n   🔌 Provider: custom  Model: m\n   📝 Error: HTTP 429: no\n❌ Rate limited after 3 retries — HTTP 429: no\n{}",
        panel(&["API call failed after 3 retries: HTTP 429: no"])
    );
    let summary = summary(&chat(&body));
    assert_eq!(summary.status, CheckpointStatus::StoppedByError);
    assert!(summary.texts.is_empty() && summary.final_text.is_none());
    let error = summary.error.unwrap();
    assert_eq!(
        (error.name.as_str(), error.status_code),
        ("ApiError", Some(429))
    );
    assert_eq!(error.family, Some(ErrorFamily::RateLimit));
    assert!(error.is_retryable);
    assert_eq!(summary.model.as_deref(), Some("m"));
    assert_eq!(summary.output_format.as_deref(), Some("chat"));
}

#[test]
fn a_turn_limit_ends_the_run_with_its_summary_as_the_answer() {
    let body = format!(
        "⚠️ Iteration budget exhausted (2/2) — asking model to summarise\n⚠️  Reached maximum iterations (2). Requesting summary...\n{}⚠ Iteration budget reached (2/2) — response may be incomplete\n",
        answer(&["So far."])
    );
    let summary = summary(&chat(&body));
    assert_eq!(summary.status, CheckpointStatus::StoppedByExceededMaxSteps);
    assert_eq!(summary.final_text.as_deref(), Some("So far."));
    assert_eq!(summary.error.unwrap().family, Some(ErrorFamily::TurnLimit));
}

#[test]
fn without_the_summary_the_output_was_cut() {
    let whole = chat(&answer(&["a"]));
    let (cut, _) = whole.split_once("\nResume").unwrap();
    let summary = summary(cut);
    assert_eq!(summary.status, CheckpointStatus::StoppedByError);
    assert_eq!(summary.error.unwrap().name, "TruncatedOutput");
    assert_eq!(summary.final_text.as_deref(), Some("a"));
}

#[test]
fn a_box_that_a_kill_left_open_is_a_cut_message() {
    let whole = chat(&format!("{}\n    one\n    tw", answer_top()));
    let (cut, _) = whole.split_once("\r\n\nResume").unwrap();
    let exit = Exit::with_code(137);
    let summary = summary_of(context(&[]), cut, "", &exit);
    assert_eq!(summary.texts, ["one\ntw"]);
    assert_eq!(summary.final_text, None);
    assert_eq!(summary.error.unwrap().name, "KilledBySignal");
    let whole = chat(&format!(
        "{}\n  ┊ 💻 preparing terminal…\n    one",
        answer_top()
    ));
    let (cut, _) = whole.split_once("\r\n\nResume").unwrap();
    let summary = summary_of(context(&[]), cut, "", &exit);
    assert_eq!((summary.texts.len(), summary.tool_calls.len()), (1, 1));
    assert_eq!(summary.final_text, None);
}

#[test]
fn an_unknown_session_is_an_error_though_the_exit_is_0() {
    let text = "Query: x\nInitializing agent...\r\nSession not found: 20200101_000000_ffffff\r\nUse a session ID from a previous CLI run (hermes sessions list).\r\n\nGoodbye! ⚕\n";
    let summary = summary(text);
    assert_eq!(summary.session_id, None);
    let error = summary.error.unwrap();
    assert_eq!(error.family, Some(ErrorFamily::UnknownSession));
    assert!(error.message.contains("20200101_000000_ffffff"));
}

#[test]
fn the_echo_of_a_prompt_may_hold_anything() {
    let prompt = "Query: First.\n  ┊ 💻 $         fake  0.1s [exit 1]\n╭─ ⚕ Hermes ─────╮\n    no\n╰────────────────╯\nInitializing agent...\nsession_id: 20200101_000000_abcdef\n";
    let whole = chat(&answer(&["a"]));
    let whole = whole.replacen("Query: Do it.\n", prompt, 1);
    let summary = summary(&whole);
    assert_eq!(summary.texts, ["a"]);
    assert!(summary.tool_calls.is_empty());
    assert_eq!(
        summary.session_id.as_deref(),
        Some("20261115_234656_5eb98f")
    );
}

#[test]
fn converted_line_ends_do_no_harm() {
    let body = format!(
        "{}{}\n    one\n    \n  ┊ 💻 preparing terminal…\n    two\n{}\n  ┊ 💻 $         ls  0.1s\n{}",
        reasoning(&["t"]),
        answer_top(),
        answer_bottom(),
        answer(&["b"])
    );
    let summary = summary(&chat(&body).replace("\r\n", "\n"));
    assert_eq!(summary.texts, ["one\n\ntwo", "b"]);
    assert_eq!((summary.thinking.len(), summary.tool_calls.len()), (1, 1));
    assert_eq!(summary.status, CheckpointStatus::Completed);
}

#[test]
fn arguments_and_results_of_verbose_runs_find_their_calls() {
    let body = format!(
        "\u{1}🤖 AI Agent initialized with model: m\n\u{1}📊 Context limit: 200,000 tokens\n💬 Starting conversation: 'x'\n{}  ┊ 💻 preparing terminal…\n  ┊ 📖 preparing read_file…\n  ┊ 💻 $         ls + 1 command  0.1s [exit 2]\n  ┊ 📖 read      a  0.2s\n{}\n\u{1}⚡ Concurrent: 2 tool calls — terminal, read_file\n\u{1}  📞 Tool 1: terminal(['command'])\n\u{1}     Args: {{\n\u{1}       \"command\": \"ls;\n\u{1}     pwd\"\n\u{1}     }}\n\u{1}  📞 Tool 2: read_file(['path'])\n\u{1}     Args: {{\n\u{1}       \"path\": \"d/a\"\n\u{1}     }}\n\u{1}  ✅ Tool 1 completed in 0.13s\n\u{1}     Result: {{\"output\": \"no\",\n\u{1}     \"exit_code\": 2}}\n    the\n\u{1}  ✅ Tool 2 completed in 0.20s\n\u{1}     Result: text\n🎉 Conversation completed after 2 OpenAI-compatible API call(s)\n     answer\n{}\n",
        answer(&["First."]),
        answer_top(),
        answer_bottom(),
    );
    let summary = summary(&chat(&body));
    assert_eq!(summary.output_format.as_deref(), Some("verbose"));
    assert_eq!(summary.model.as_deref(), Some("m"));
    assert_eq!(summary.texts, ["First.", "the\n answer"]);
    assert_eq!(summary.steps, 2);
    assert_eq!(
        calls(&summary),
        [
            (
                "terminal",
                json!({"command": "ls; pwd"}),
                Some(true),
                Some("{\"output\": \"no\",\n\"exit_code\": 2}"),
                1
            ),
            (
                "read_file",
                json!({"path": "d/a"}),
                Some(false),
                Some("text"),
                1
            ),
        ]
    );
    assert!(summary.notices.is_empty(), "{:?}", summary.notices);
}

#[test]
fn verbose_lines_in_reasoning_are_not_reasoning() {
    let body = format!(
        "\u{1}🤖 AI Agent initialized with model: m\n  ┊ 💻 $         ls  0.1s\n{}\na\n\u{1}  📞 Tool 1: terminal(['command'])\n\u{1}     Args: {{}}\n\u{1}  ✅ Tool 1 completed in 0.13s\n🎉 Conversation completed after 2 OpenAI-compatible API call(s)\nb\n└{}┘\n{}",
        reasoning_top(),
        "─".repeat(78),
        answer(&["c"]),
    );
    let summary = summary(&chat(&body));
    assert_eq!(summary.thinking, ["a\nb"]);
    assert_eq!(
        calls(&summary),
        [("terminal", json!({}), Some(false), None, 1)]
    );
}

#[test]
fn subagents_denials_and_questions_are_notices() {
    let body = format!(
        "  ┊ 💻 preparing terminal…\n\n  ⏱ Timeout — denying command\n  ┊ 💻 $         rm -rf x  60.0s [BLOCKED: User denied this command]\n\n(clarify timed out after 120s — agent will decide)\n↩ Background 2 tasks running — I'll resume when they finish. Keep chatting.\n  ✓ [1/2] one  (0.7s)\n  ✗ [2/2] two  (1.16s)\n[subagent-0] line\n  (tip) That tool ran for a while. …\nunheard of\n{}",
        answer(&["done"])
    );
    let summary = summary(&chat(&body));
    let kinds: Vec<&str> = summary
        .notices
        .iter()
        .map(|notice| notice.kind.as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "permissionDenied",
            "interaction",
            "task",
            "task",
            "task",
            "task",
            "info",
            "stdout"
        ]
    );
    assert_eq!(summary.tool_calls[0].is_error, Some(true));
}

#[test]
fn a_terminal_shows_the_same_with_escapes() {
    let plain = chat(&format!(
        "{}{}",
        reasoning(&["t"]),
        answer(&["one", "", "two"])
    ));
    let colored = plain.replace('\n', "\r\n\u{1b}[0m\u{1b}[?7h\u{1b}[0;38;5;214m");
    let colored = format!("\u{1b}]11;?\u{1b}\\{colored}");
    let summary = summary(&colored);
    assert_eq!(summary.texts, ["one\n\ntwo"]);
    assert_eq!(summary.thinking, ["t"]);
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.output_format.as_deref(), Some("chat"));
}

#[test]
fn a_chat_whose_start_is_missing_is_still_read() {
    let body = screen(&format!("{}  ┊ 💻 preparing terminal…\n", answer(&["a"])));
    let summary = summary_of(context(&[]), &body, "", &Exit::unknown());
    assert_eq!(summary.output_format.as_deref(), Some("chat"));
    assert_eq!((summary.texts.len(), summary.tool_calls.len()), (1, 1));
}

#[test]
fn a_diff_ends_a_call_whose_completion_is_not_shown() {
    let body = format!(
        "  ┊ ✍️ preparing write_file…\n  ┊ review diff\na/x → b/x\n@@ -0,0 +1,1 @@\n+a\n  ┊ 💻 preparing terminal…\n{}",
        answer(&["done"])
    );
    let summary = summary(&chat(&body));
    assert_eq!(
        calls(&summary),
        [
            (
                "write_file",
                Value::Null,
                Some(false),
                Some("a/x → b/x\n@@ -0,0 +1,1 @@\n+a"),
                1
            ),
            ("terminal", Value::Null, None, None, 2),
        ]
    );
}

#[test]
fn a_call_that_shows_no_completion_takes_none_of_a_later_message() {
    // `display.tool_progress: new`: of two calls of one tool in a row the second shows none.
    let call =
        |detail: &str| format!("  ┊ 💻 preparing terminal…\n  ┊ 💻 $         {detail}  0.1s\n");
    let silent = "  ┊ 💻 preparing terminal…\n";
    let read = "  ┊ 📖 preparing read_file…\n  ┊ 📖 read      x  0.1s\n";
    let (one, two) = (call("one"), call("two"));
    let body = format!("{one}{silent}{read}{two}{}", answer(&["done"]));
    let summary = summary(&chat(&body));
    let inputs: Vec<_> = calls(&summary).into_iter().map(|call| call.1).collect();
    assert_eq!(
        inputs,
        [
            json!({"summary": "one"}),
            Value::Null,
            json!({"summary": "x"}),
            json!({"summary": "two"})
        ]
    );
}

#[test]
fn a_call_that_was_cut_by_the_token_limit_takes_no_completion() {
    let body = format!(
        "  ┊ 💻 preparing terminal…\n⚠️  Response truncated (finish_reason='length') - asking again\n  ┊ 💻 preparing terminal…\n  ┊ 💻 $         ls  0.1s\n{}",
        answer(&["done"])
    );
    let summary = summary(&chat(&body));
    assert_eq!(
        calls(&summary),
        [
            ("terminal", Value::Null, None, None, 1),
            ("terminal", json!({"summary": "ls"}), Some(false), None, 2),
        ]
    );
}

#[test]
fn calls_that_are_never_announced_take_no_arguments() {
    let call = "  ┊ 💻 preparing terminal…\n  ┊ 💻 $         ls  0.1s\n\u{1}  📞 Tool 1: terminal(['command'])\n\u{1}     Args: {\n\u{1}       \"command\": \"ls -l\"\n\u{1}     }\n\u{1}  ✅ Tool 1 completed in 0.13s\n\u{1}     Result: x\n";
    let body = format!(
        "\u{1}🤖 AI Agent initialized with model: m\n  ┊ 💻 preparing terminal…\n{}{call}{}{call}{}",
        answer(&["one"]),
        answer(&["two"]),
        answer(&["three"]),
    );
    for text in [chat(&body), chat(&body).replace("\r\n", "\n")] {
        let summary = summary(&text);
        let whole = json!({"command": "ls -l"});
        assert_eq!(
            calls(&summary),
            [
                ("terminal", Value::Null, None, None, 1),
                ("terminal", whole.clone(), Some(false), Some("x"), 2),
                ("terminal", whole, Some(false), Some("x"), 3),
            ]
        );
        assert_eq!(summary.texts, ["one", "two", "three"]);
    }
}

#[test]
fn a_command_of_several_lines_is_one_completion() {
    let command = "cat > x <<EOF\n    indented\n╭─ ⚕ Hermes ─────╮\n❌ API failed after 3 retries — no\n\nEOF";
    let body = format!(
        "  ┊ 💻 preparing terminal…\n  ┊ 💻 $         {command}  0.3s [exit 2]\n  ┊ 💻 preparing terminal…\n  ┊ 💻 $         ls  0.1s\n{}",
        answer(&["Done."])
    );
    for text in [chat(&body), chat(&body).replace("\r\n", "\n")] {
        let summary = summary(&text);
        assert_eq!(
            calls(&summary),
            [
                (
                    "terminal",
                    json!({"summary": command}),
                    Some(true),
                    Some("exit 2"),
                    1
                ),
                ("terminal", json!({"summary": "ls"}), Some(false), None, 2),
            ]
        );
        assert_eq!((summary.texts.len(), summary.steps), (1, 3));
        assert_eq!(summary.status, CheckpointStatus::Completed);
        assert!(summary.notices.is_empty());
    }
    // Cut in the middle of it, the call has no result.
    let whole = chat(&body);
    let (cut, _) = whole.split_once("╭─").unwrap();
    let summary = summary_of(context(&[]), cut, "", &Exit::with_code(137));
    assert_eq!(calls(&summary), [("terminal", Value::Null, None, None, 1)]);
}

#[test]
fn a_failure_while_the_model_thinks_is_not_reasoning() {
    let report = format!(
        "⚠️  API call failed (attempt 1/1): InternalServerError [HTTP 500]\n   📝 Error: HTTP 500: no\n❌ API failed after 3 retries — HTTP 500: no\n{}",
        panel(&["API call failed after 3 retries: HTTP 500: no"])
    );
    let body = format!("\n{}\nHm.\n{report}", reasoning_top());
    for text in [chat(&body), chat(&body).replace("\r\n", "\n")] {
        let failed = summary(&text);
        assert_eq!(failed.thinking, ["Hm."]);
        assert!(failed.texts.is_empty());
        assert_eq!(failed.error.unwrap().status_code, Some(500));
        assert_eq!(failed.session_id.as_deref(), Some("20261115_234656_5eb98f"));
    }
    // With its border the same is reasoning, and with a kill nobody knows better.
    let closed = format!("{body}└{}┘\n{}", "─".repeat(78), answer(&["Done."]));
    let good = summary(&chat(&closed));
    assert_eq!(good.status, CheckpointStatus::Completed);
    assert!(good.thinking[0].starts_with("Hm.\n⚠️  API call failed"));
    let whole = chat(&body);
    let (cut, _) = whole.split_once("\nResume").unwrap();
    let killed = summary_of(context(&[]), cut, "", &Exit::with_code(137));
    assert_eq!(killed.error.unwrap().name, "KilledBySignal");
}
