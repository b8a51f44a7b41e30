//! Whole outputs: refusals, and what is printed around a run or by others.

use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary};
use serde_json::json;

use super::{chat, panel, screen, summary, summary_of};
use crate::Exit;
use crate::testing::context;

const DECLINED: &str = "⚠️ The model declined to respond to this request (safety refusal).";
const OWN: &str = "⚠️  The model declined to respond to this request (safety refusal — not a Hermes/gateway failure).\n\nModel's explanation: I can't.\n\nTry rephrasing the request, or so.";
const CREATED: &str = "\u{1b}[32m✓ Worktree created:\u{1b}[0m /ws/.worktrees/hermes-1\n  Branch: hermes/hermes-1\n  Base:   HEAD (local)\n";
const CLEANED: &str = "\u{1b}[32m✓ Worktree cleaned up: /ws/.worktrees/hermes-1\u{1b}[0m\n";

fn is_refused(summary: &RunSummary, what: &str) {
    assert_eq!(summary.status, CheckpointStatus::StoppedByError, "{what}");
    let error = summary.error.as_ref().unwrap();
    assert_eq!(error.family, Some(ErrorFamily::Refusal), "{what}");
    let all = summary.texts.iter().chain(&summary.final_text);
    let own = all.filter(|text| text.contains("declined to respond"));
    assert_eq!(own.count(), 0, "{what}");
}

#[test]
fn a_refusal_fails_the_run_in_every_format_whatever_the_exit() {
    let body = format!(
        "{}\n{DECLINED}\n    I can't.\n{}\n{}",
        super::answer_top(),
        super::answer_bottom(),
        panel(&[
            "⚠️  The model declined to respond to this request (safety refusal —",
            "not a Hermes/gateway failure).",
            "",
            "Model's explanation: I can't."
        ])
    );
    let printed = summary(&chat(&body));
    is_refused(&printed, "chat");
    assert_eq!(printed.texts, ["I can't."]);
    for (words, code) in [("hermes chat -q x -Q", 1), ("hermes -z x", 0)] {
        let words: Vec<&str> = words.split(' ').collect();
        let text = format!("{OWN}\n");
        let exit = Exit::with_code(code);
        is_refused(&summary_of(context(&words), &text, "", &exit), words[1]);
    }
    is_refused(&summary(&format!("{DECLINED}\n{OWN}\n")), "lib");
    let answer = "I won't respond to this request (safety refusal).\n";
    assert_eq!(summary(answer).status, CheckpointStatus::Completed);
}

#[test]
fn lines_about_a_worktree_are_around_the_run() {
    let text = format!("{CREATED}{}{CLEANED}", chat(""));
    let words = ["hermes", "chat", "-q", "x", "-w"];
    for context in [context(&[]), context(&words)] {
        let run = summary_of(context, &text, "", &Exit::with_code(0));
        assert_eq!(run.output_format.as_deref(), Some("chat"));
        assert_eq!(run.session_id.as_deref(), Some("20261115_234656_5eb98f"));
        assert!(run.texts.is_empty());
        assert!(run.notices.iter().all(|notice| notice.kind == "info"));
    }
    let stderr = "\nsession_id: 20261115_234454_91d32d\n";
    let text = format!("{CREATED}The answer.\n{CLEANED}");
    let run = summary_of(context(&[]), &text, stderr, &Exit::with_code(0));
    assert_eq!(run.texts, ["The answer."]);
    let failed = "\u{1b}[31m✗ --worktree requires being inside a git repository.\u{1b}[0m\n  cd into your project repo first, then run hermes -w\n";
    let run = summary_of(context(&words), failed, "", &Exit::with_code(0));
    assert_eq!(run.error.unwrap().name, "WorktreeFailed");
}

#[test]
fn what_comes_before_the_echo_is_a_notice_where_the_command_line_is_known() {
    let words = ["hermes", "chat", "-q", "x"];
    let warning = "⚠️  Normalized model 'a' to 'b' for c.\n";
    let text = format!("{warning}{}", chat(""));
    let run = summary_of(context(&words), &text, "", &Exit::with_code(0));
    assert_eq!(run.output_format.as_deref(), Some("chat"));
    assert!(run.texts.is_empty());
    assert!(
        run.notices
            .iter()
            .any(|notice| notice.text.contains("Normalized"))
    );
    let run = summary_of(context(&words), "Only\nthis.\n", "", &Exit::with_code(0));
    assert_eq!(run.texts, ["Only\nthis."]);
}

#[test]
fn an_error_of_two_lines_does_not_swallow_the_answer() {
    let body = format!(
        "  ┊ 🐍 preparing execute_code…\n  ┊ 🐍 exec      import sys  0.1s [Traceback (most recent call last):\n\u{1}  File \"/t...]\n{}\n    It failed.\n{}\n",
        super::answer_top(),
        super::answer_bottom()
    );
    let body = body.replace('\u{1}', "");
    let run = summary(&chat(&body));
    assert_eq!(run.texts, ["It failed."]);
    assert_eq!(run.tool_calls[0].is_error, Some(true));
    let library = "  [tool] (x) 🐍 Running code\n  [done] ┊ 🐍 exec      import sys  0.1s [Traceback (most recent call last):\n  File \"/t...] (0.5s)\nIt failed.\n";
    let run = summary(library);
    assert_eq!(run.texts, ["It failed."]);
    assert_eq!(run.tool_calls[0].is_error, Some(true));
}

#[test]
fn lines_of_sub_agents_in_the_library_are_no_answer() {
    let text = "  ┊ 💬 I delegate.\n  ┊ 🔀 delegate  count  0.1s\n[subagent-0] ⚠️  API call failed (attempt 1/3): AuthenticationError [HTTP 401]\n[subagent-0]    🔌 Provider: custom  Model: m\n  ┊ 💬 Waiting.\n[subagent-1] ❌ Non-retryable error (HTTP 401): no\n  ┊ 💻 $         sleep 6  6.0s\nDone.\n";
    let run = summary(text);
    assert_eq!(run.texts, ["I delegate.", "Waiting.", "Done."]);
    assert_eq!((run.status, run.model), (CheckpointStatus::Completed, None));
    let tasks = run.notices.iter().filter(|notice| notice.kind == "task");
    assert_eq!(tasks.count(), 3);
}

#[test]
fn lines_of_a_leaked_diff_may_have_a_carriage_return_of_their_own() {
    let leak = screen(
        "  ┊ review diff\na/x → b/x\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+TWO\r\n  ┊ review diff\na/y → b/y\n@@ -0,0 +1,1 @@\n+a",
    );
    let run = summary(&format!("{leak}The answer.\n"));
    assert_eq!(run.texts, ["The answer."]);
}

#[test]
fn a_cancelled_prompt_has_no_final_text() {
    let session = "618c72fb-3b45-495c-a05d-cb728b507743";
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "result": {"agentInfo": {"version": "0.19.0"}}}),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": session}}),
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session,
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "One."}}}}),
        json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled"}}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n");
    let run = summary(&text);
    assert_eq!(run.texts, ["One."]);
    assert_eq!(run.final_text, None);
    assert_eq!(run.error.unwrap().name, "Cancelled");
}
