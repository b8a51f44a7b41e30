//! Whole outputs: acp.

use runtape_core::CheckpointStatus;
use serde_json::json;

use super::{summary, summary_of};
use crate::Exit;
use crate::testing::context;

const SESSION: &str = "618c72fb-3b45-495c-a05d-cb728b507743";

fn output(updates: &[serde_json::Value]) -> String {
    let mut text = format!(
        "{}\n{}\n",
        json!({"jsonrpc": "2.0", "id": 1, "result": {"agentInfo": {"name": "hermes-agent", "version": "0.19.0"}, "protocolVersion": 1}}),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": SESSION, "models": {"availableModels": [{"modelId": "custom:m", "name": "m"}], "currentModelId": "custom:m"}, "modes": {}}}),
    );
    for update in updates {
        let line = if update.get("sessionUpdate").is_some() {
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION, "update": update}})
        } else {
            update.clone()
        };
        text.push_str(&line.to_string());
        text.push('\n');
    }
    text
}

fn said(text: &str) -> serde_json::Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

fn ended(usage: Option<u64>) -> serde_json::Value {
    let mut result = json!({"stopReason": "end_turn"});
    if let Some(input) = usage {
        result["usage"] = json!({"inputTokens": input, "outputTokens": 10, "cachedReadTokens": 100, "thoughtTokens": 0, "totalTokens": input + 10});
    }
    json!({"jsonrpc": "2.0", "id": 3, "result": result})
}

#[test]
fn chunks_are_messages_and_the_separator_is_not_the_models() {
    let text = output(&[
        json!({"sessionUpdate": "tool_call", "toolCallId": "tc-1", "title": "terminal: ls", "kind": "execute", "content": [{"type": "content", "content": {"type": "text", "text": "$ ls -la"}}], "locations": []}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "tc-1", "status": "failed", "content": [{"type": "content", "content": {"type": "text", "text": "no"}}]}),
        json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm"}}),
        json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "m."}}),
        said("\n\nIt"),
        said("\n\n failed."),
        ended(Some(1100)),
        json!({"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "x"}),
    ]);
    let summary = summary(&text);
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.output_format.as_deref(), Some("acp"));
    assert_eq!(summary.texts, ["It\n\n failed."]);
    assert_eq!(summary.thinking, ["Hmm."]);
    assert_eq!(
        (summary.steps, summary.session_id.as_deref()),
        (2, Some(SESSION))
    );
    assert_eq!(
        (summary.model.as_deref(), summary.cli_version.as_deref()),
        (Some("m"), Some("0.19.0"))
    );
    let call = &summary.tool_calls[0];
    assert_eq!(
        (call.id.as_str(), call.name.as_str(), call.is_error),
        ("tc-1", "terminal", Some(true))
    );
    assert_eq!(call.input, json!({"title": "terminal: ls"}));
    assert_eq!(call.output.as_deref(), Some("no"));
    let usage = summary.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_input_tokens),
        (Some(1000), Some(100))
    );
    assert!(summary.unparsed.is_empty());
}

#[test]
fn usage_of_several_prompts_is_that_of_the_last() {
    let text = output(&[said("a"), ended(Some(1000)), said("b"), ended(Some(2500))]);
    let summary = summary(&text);
    assert_eq!(summary.usage.unwrap().input_tokens, Some(2400));
    assert_eq!(summary.texts, ["a", "b"]);
    assert_eq!(summary.final_text.as_deref(), Some("b"));
    assert_eq!(summary.notices.len(), 1, "the earlier result");
}

#[test]
fn a_failed_request_is_told_on_standard_error() {
    let stderr = "⚠️  API call failed (attempt 1/3): AuthenticationError [HTTP 401]\n   📝 Error: HTTP 401: no\n❌ Non-retryable error (HTTP 401): HTTP 401: no\n";
    let text = output(&[said("HTTP 401: no"), ended(None)]);
    for stderr in [stderr, ""] {
        let summary = summary_of(context(&[]), &text, stderr, &Exit::with_code(0));
        assert_eq!(summary.status, CheckpointStatus::StoppedByError);
        assert!(summary.texts.is_empty());
        assert_eq!(summary.error.unwrap().status_code, Some(401));
    }
    // A provider that reports no usage is no failure, and prose does not decide.
    let good = summary(&output(&[said("Fine."), ended(None)]));
    assert_eq!(
        (good.status, good.texts.len()),
        (CheckpointStatus::Completed, 1)
    );
    let good = summary(&output(&[said("HTTP 401: as they say"), ended(Some(1000))]));
    assert_eq!(
        (good.status, good.texts.len()),
        (CheckpointStatus::Completed, 1)
    );
}

#[test]
fn a_prompt_that_never_ended_was_cut() {
    let summary = summary(&output(&[said("Half"), said(" of")]));
    assert_eq!(summary.texts, ["Half of"]);
    assert_eq!(summary.final_text, None);
    assert_eq!(summary.error.unwrap().name, "TruncatedOutput");
}

#[test]
fn what_is_unknown_is_kept_as_unparsed() {
    let mut text = output(&[
        json!({"sessionUpdate": "new_kind", "x": 1}),
        said("a"),
        ended(Some(1000)),
    ]);
    text.push_str("plain words\n{\"jsonrpc\":\"2.0\",\"meth\n");
    let summary = summary(&text);
    assert_eq!(summary.unparsed.len(), 2, "{:?}", summary.unparsed);
    assert_eq!(summary.unparsed[0].r#type.as_deref(), Some("new_kind"));
    assert_eq!(
        summary
            .notices
            .iter()
            .filter(|notice| notice.kind == "stdout")
            .count(),
        1
    );
}

#[test]
fn a_model_that_said_nothing_gave_an_empty_answer() {
    let text = output(&[
        said("⚠️ No reply: the model returned empty content."),
        ended(Some(1000)),
    ]);
    let good = summary(&text);
    assert_eq!(
        (good.status, good.final_text.as_deref()),
        (CheckpointStatus::Completed, Some(""))
    );
    let stderr =
        "❌ Model returned no content after all retries. No fallback providers configured.\n";
    let failed = summary_of(context(&[]), &text, stderr, &Exit::with_code(0));
    assert_eq!(
        (failed.status, failed.texts.len()),
        (CheckpointStatus::StoppedByError, 0)
    );
    assert_eq!(failed.error.unwrap().name, "EmptyResponse");
}

#[test]
fn a_failed_prompt_that_was_cut_before_its_result_has_no_text() {
    let stderr = "⚠️  API call failed (attempt 1/3): AuthenticationError [HTTP 401]\n   📝 Error: HTTP 401: no\n❌ Non-retryable error (HTTP 401): HTTP 401: no\n";
    let text = output(&[said("HTTP 401: no")]);
    for exit in [Exit::with_code(0), Exit::unknown(), Exit::with_code(137)] {
        let cut = summary_of(context(&["hermes", "acp"]), &text, stderr, &exit);
        assert!(cut.texts.is_empty());
        assert_eq!(cut.error.unwrap().status_code, Some(401));
    }
    // What a later prompt says is the model's, though an earlier one failed.
    let text = output(&[said("HTTP 401: no"), ended(None), said("Half of")]);
    let cut = summary_of(context(&[]), &text, stderr, &Exit::with_code(0));
    assert_eq!(cut.texts, ["Half of"]);
    assert_eq!(cut.error.unwrap().name, "TruncatedOutput");
}

#[test]
fn only_messages_of_the_protocol_are_acp() {
    for text in [
        "{\"jsonrpc\":\"2.0\"}",
        "{\"answer\":{\"jsonrpc\":\"2.0\"}}",
        "{\"a\": \"use \\\"jsonrpc\\\"\"}",
    ] {
        let found = summary(&format!("{text}\n"));
        assert_eq!(found.output_format.as_deref(), Some("quiet"), "{text}");
        assert_eq!(found.final_text.as_deref(), Some(text));
    }
}
