//! Secrets that are cut over the pieces of a text.

use std::sync::Arc;

use runtape_core::{Runtime, Stream};
use serde_json::{Value, json};

use super::{KEY, filter, secret_of};
use crate::redact::*;

fn definite() -> Arc<RuleSet> {
    Arc::new(RuleSet::new(Tier::Definite).with_key(RedactionKey::new(KEY)))
}

/// How a runtime prints a piece: the piece, and the text so far.
type Print = fn(&str, &str) -> Value;

/// How each runtime prints pieces.
const PRINTS: [(Runtime, &str, Print); 11] = [
    (
        Runtime::ClaudeCode,
        "text",
        |piece, _| json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}, "session_id": "s", "parent_tool_use_id": null}),
    ),
    (
        Runtime::ClaudeCode,
        "thinking",
        |piece, _| json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 1, "delta": {"type": "thinking_delta", "thinking": piece}}, "session_id": "s", "parent_tool_use_id": "t"}),
    ),
    (
        Runtime::ClaudeCode,
        "arguments",
        |piece, _| json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": piece}}, "session_id": "s", "parent_tool_use_id": null}),
    ),
    (
        Runtime::Gemini,
        "text",
        |piece, _| json!({"type": "message", "timestamp": "t", "role": "assistant", "content": piece, "delta": true}),
    ),
    (
        Runtime::Cursor,
        "text",
        |piece, _| json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": piece}]}, "session_id": "s", "timestamp_ms": 1}),
    ),
    (
        Runtime::Cursor,
        "thinking",
        |piece, _| json!({"type": "thinking", "subtype": "delta", "text": piece, "session_id": "s", "timestamp_ms": 1}),
    ),
    (
        Runtime::Openclaw,
        "agent",
        |piece, so_far| json!({"type": "event", "event": "agent", "payload": {"runId": "r", "stream": "assistant", "data": {"text": so_far, "delta": piece, "itemId": "i"}, "seq": 1}}),
    ),
    (
        Runtime::Openclaw,
        "chat",
        |piece, so_far| json!({"type": "event", "event": "chat", "payload": {"runId": "r", "sessionKey": "k", "state": "delta", "deltaText": piece, "message": {"role": "assistant", "content": [{"type": "text", "text": so_far}]}}}),
    ),
    (
        Runtime::Openclaw,
        "output",
        |piece, _| json!({"type": "event", "event": "agent", "payload": {"runId": "r", "stream": "command_output", "data": {"phase": "delta", "toolCallId": "c", "output": piece}}}),
    ),
    (
        Runtime::Hermes,
        "acp",
        |piece, _| json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {"content": {"text": piece, "type": "text"}, "sessionUpdate": "agent_message_chunk"}}}),
    ),
    (
        Runtime::Generic,
        "events",
        |piece, _| json!({"type": "streamRunResult", "runId": "r", "stepNumber": 1, "delta": piece}),
    ),
];

fn print(print: Print, pieces: &[&str]) -> String {
    let mut so_far = String::new();
    let mut lines = String::new();
    for piece in pieces {
        so_far.push_str(piece);
        lines.push_str(&format!("{}\n", print(piece, &so_far)));
    }
    lines
}

/// Joins the pieces again.
fn joined(kept: &str) -> String {
    let mut text = String::new();
    for line in kept.lines() {
        let value: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for pointer in [
            "/event/delta/text",
            "/event/delta/thinking",
            "/event/delta/partial_json",
            "/content",
            "/message/content/0/text",
            "/text",
            "/payload/data/delta",
            "/payload/deltaText",
            "/payload/data/output",
            "/params/update/content/text",
            "/delta",
        ] {
            if let Some(piece) = value.pointer(pointer).and_then(Value::as_str) {
                text.push_str(piece);
                break;
            }
        }
    }
    text
}

#[test]
fn a_secret_cut_at_any_place_is_found_in_every_runtime() {
    cut_after("Look: ");
}

/// The end of a long piece is looked at like that of a short one.
#[test]
fn a_secret_that_a_long_piece_ends_with_is_found() {
    cut_after(&"Look at https://example.com/a, and on; ".repeat(6));
}

fn cut_after(before: &str) {
    let rules = definite();
    let kinds = [
        "github-pat",
        "anthropic-api-key",
        "jwt",
        "private-key",
        "url-credentials",
        "environment-secret",
        "authorization",
        "aws-access-key-id",
        "slack-webhook",
    ];
    for example in examples(21)
        .iter()
        .filter(|example| kinds.contains(&example.rule))
    {
        let text = format!("{before}{} and so on.", example.text);
        for (runtime, name, how) in PRINTS {
            for cut in before.len().saturating_sub(6).max(1)..text.len() {
                let next = (cut + 5).min(text.len());
                let lines = print(how, &[&text[..cut], &text[cut..next], &text[next..]]);
                let kept = String::from_utf8(filter(&rules, &runtime, lines.as_bytes())).unwrap();
                let context = || format!("{runtime} {name} {} cut at {cut}:\n{kept}", example.rule);
                let secret = secret_of(example);
                assert_eq!(kept.lines().count(), lines.lines().count(), "{}", context());
                let joined = joined(&kept);
                assert!(!joined.contains(&secret), "{}", context());
                assert_eq!(joined.matches("[REDACTED:").count(), 1, "{}", context());
                assert!(
                    joined.starts_with(before) && joined.ends_with(" and so on."),
                    "{}",
                    context()
                );
                // Nowhere more of it than what makes it known.
                let tail = &secret[secret.len() - 8..];
                assert!(!kept.contains(tail), "{}", context());
                let most = 8.max(
                    example
                        .secret
                        .find(|c: char| c.is_ascii_digit())
                        .unwrap_or(0),
                );
                let inside = example
                    .secret
                    .lines()
                    .next()
                    .unwrap()
                    .chars()
                    .skip(most)
                    .take(9)
                    .collect::<String>();
                assert!(
                    inside.len() < 9 || !kept.contains(&inside),
                    "{} {inside}",
                    context()
                );
            }
        }
    }
}

#[test]
fn a_secret_in_many_pieces_among_others_is_found() {
    let rules = definite();
    for example in examples(22).iter().filter(|example| {
        matches!(
            example.rule,
            "github-pat" | "private-key" | "openai-api-key"
        )
    }) {
        let text = format!("a {} b", example.text);
        let (_, _, how) = PRINTS[0];
        let (_, _, other) = PRINTS[1];
        let mut lines = String::new();
        for piece in text.as_bytes().chunks(3) {
            let piece = std::str::from_utf8(piece).unwrap();
            lines.push_str(&format!(
                "{}\n{}\n{{\"type\":\"system\"}}\n",
                how(piece, ""),
                other("thought ", "")
            ));
        }
        let kept =
            String::from_utf8(filter(&rules, &Runtime::ClaudeCode, lines.as_bytes())).unwrap();
        assert_eq!(kept.lines().count(), lines.lines().count());
        assert_eq!(kept.matches("[REDACTED:").count(), 1, "{kept}");
        assert_eq!(
            kept.matches("thought ").count(),
            lines.matches("thought ").count()
        );
        assert!(kept.matches("\"type\":\"system\"").count() > 3);
    }
}

#[test]
fn pieces_without_a_secret_pass_byte_for_byte() {
    let rules = definite();
    let text = "The key is in ~/.ssh; see https://example.com and sk is no key, API_KEY= is empty, -----BEGIN nothing, ghp_short eyJ.";
    for (runtime, name, how) in PRINTS {
        for size in [1, 2, 3, 7, 20] {
            let pieces: Vec<&str> = text
                .as_bytes()
                .chunks(size)
                .map(|piece| std::str::from_utf8(piece).unwrap())
                .collect();
            let lines = print(how, &pieces);
            let kept = filter(&rules, &runtime, lines.as_bytes());
            assert_eq!(
                String::from_utf8(kept).unwrap(),
                lines,
                "{runtime} {name} {size}"
            );
        }
    }
}

#[test]
fn what_waits_is_let_go_after_two_seconds_and_counted() {
    let rules = definite();
    let (_, _, how) = PRINTS[3];
    let mut redactor = Redactor::new(&rules, &Runtime::Gemini);
    let mut kept = Vec::new();
    let line = format!("{}\n", how("the token is ghp_abcdef", ""));
    redactor.push(Stream::Stdout, line.as_bytes(), 1_000, |_, bytes, at| {
        kept.push((bytes.bytes().to_vec(), at))
    });
    assert!(kept.is_empty());
    assert_eq!(redactor.expires_at(), Some(3_000));
    redactor.expire(2_999, |_, bytes, at| {
        kept.push((bytes.bytes().to_vec(), at))
    });
    assert!(kept.is_empty());
    redactor.expire(3_000, |_, bytes, at| {
        kept.push((bytes.bytes().to_vec(), at))
    });
    assert_eq!(kept, [(line.into_bytes(), 1_000)]);
    assert_eq!(redactor.expires_at(), None);
    assert_eq!(redactor.counts().unfinished, 1);
}

#[test]
fn what_waits_is_bounded() {
    let rules = definite();
    let (_, _, how) = PRINTS[3];
    let mut redactor = Redactor::new(&rules, &Runtime::Gemini);
    let mut kept = 0;
    let mut most = 0;
    let begin = format!("{}\n", how("-----BEGIN PRIVATE KEY-----\n", ""));
    redactor.push(Stream::Stdout, begin.as_bytes(), 0, |_, bytes, _| {
        kept += bytes.bytes().len()
    });
    let body = format!(
        "{}\n",
        how(
            &"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".repeat(8),
            ""
        )
    );
    for _ in 0..2_000 {
        redactor.push(Stream::Stdout, body.as_bytes(), 0, |_, bytes, _| {
            kept += bytes.bytes().len()
        });
        most = most.max(redactor.held());
    }
    assert!(most < 1024 * 1024, "{most}");
    assert!(kept > 0);
    assert!(redactor.counts().unfinished > 0);
}
