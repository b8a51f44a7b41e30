//! The ground truth of a capture in one shape, whichever runtime it is of.

use serde_json::Value;

use crate::captures::Capture;

/// A tool call that was really made.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) is_error: Option<bool>,
    /// What its output must contain.
    pub(super) contains: Option<String>,
}

/// Tokens that were really charged, in our counters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: i64,
    pub(super) cached: i64,
    pub(super) output: i64,
    /// `None` where the API did not report it.
    pub(super) reasoning: Option<i64>,
}

/// What really happened.
#[derive(Debug)]
pub(super) struct Truth {
    pub(super) status: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) texts: Vec<Value>,
    /// Sent, but cut off by a kill, an error or the CLI.
    pub(super) cut_texts: Vec<Value>,
    pub(super) thinking: Vec<Value>,
    pub(super) calls: Vec<Call>,
    pub(super) final_text: Value,
    pub(super) tokens: Option<Tokens>,
    pub(super) has_subagents: bool,
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn number(value: &Value, key: &str) -> i64 {
    value[key].as_i64().unwrap_or(0)
}

impl Truth {
    pub(super) fn of(capture: &Capture) -> Self {
        let truth = capture.truth();
        // The shape is that of the recorder that wrote it, not the runtime's.
        if truth.get("usage_totals_sent").is_some() {
            Self::of_sent(truth, capture.runtime == "gemini")
        } else if truth.get("turns").is_some() {
            Self::of_turns(truth)
        } else {
            Self::of_list(truth)
        }
    }

    fn of_sent(truth: &Value, is_gemini: bool) -> Self {
        let calls = list(&truth["tool_calls"]);
        let usage = &truth["usage_totals_sent"];
        let tokens = if is_gemini {
            let cached = number(usage, "cachedContentTokenCount");
            let thoughts = number(usage, "thoughtsTokenCount");
            Tokens {
                input: number(usage, "promptTokenCount") - cached,
                cached,
                output: number(usage, "candidatesTokenCount") + thoughts,
                reasoning: Some(thoughts),
            }
        } else {
            Tokens {
                input: number(usage, "input_tokens") + number(usage, "cache_creation_input_tokens"),
                cached: number(usage, "cache_read_input_tokens"),
                output: number(usage, "output_tokens"),
                reasoning: None,
            }
        };
        Self {
            status: text(&truth["status"]),
            session_id: text(&truth["session_id"]),
            texts: list(&truth["texts"]),
            cut_texts: list(&truth["cut_texts"]),
            thinking: list(&truth["thinking"]),
            has_subagents: calls
                .iter()
                .any(|call| call["queue"].as_str() != Some("main")),
            calls: calls.iter().map(sent_call).collect(),
            final_text: truth["final_text"].clone(),
            tokens: Some(tokens),
        }
    }

    fn of_list(truth: &Value) -> Self {
        let usage = &truth["usage"];
        let calls = list(&truth["tool_calls"]);
        Self {
            status: text(&truth["status"]),
            session_id: text(&truth["session_id"]),
            texts: list(&truth["texts"]),
            cut_texts: list(&truth["cut_texts"]),
            thinking: list(&truth["reasoning"]),
            has_subagents: false,
            calls: calls.iter().map(listed_call).collect(),
            final_text: truth["final_text"].clone(),
            tokens: usage.is_object().then(|| Tokens {
                input: number(usage, "inputTokens") + number(usage, "cacheWriteTokens"),
                cached: number(usage, "cacheReadTokens"),
                output: number(usage, "outputTokens"),
                reasoning: None,
            }),
        }
    }

    fn of_turns(truth: &Value) -> Self {
        let turns = list(&truth["turns"]);
        let filled = |key: &str| {
            let texts = turns.iter().map(|turn| turn[key].clone());
            texts
                .filter(|text| text.as_str().is_some_and(|text| !text.is_empty()))
                .collect()
        };
        let calls = turns.iter().flat_map(|turn| list(&turn["tool_calls"]));
        let usage = &truth["usage_total"];
        let cached = number(usage, "cached_tokens");
        Self {
            status: text(&truth["status"]),
            session_id: text(&truth["session_id"]),
            texts: filled("text"),
            cut_texts: Vec::new(),
            thinking: filled("reasoning"),
            has_subagents: !list(&truth["subagent_turns"]).is_empty(),
            calls: calls
                .map(|call| Call {
                    id: None,
                    name: text(&call["name"]).unwrap_or_default(),
                    input: call["arguments"].clone(),
                    // Without a result nobody knows how the call ended.
                    is_error: call["is_error"]
                        .as_bool()
                        .filter(|_| call["result"].is_string()),
                    contains: None,
                })
                .collect(),
            final_text: truth["final_text"].clone(),
            tokens: usage.is_object().then(|| Tokens {
                input: number(usage, "input_tokens") - cached,
                cached,
                output: number(usage, "output_tokens"),
                reasoning: Some(number(usage, "reasoning_tokens")),
            }),
        }
    }
}

fn sent_call(call: &Value) -> Call {
    let expect = &call["expect"];
    let status = expect["status"].as_str().map(|status| status == "error");
    Call {
        id: text(&call["id"]),
        name: text(&call["name"]).unwrap_or_default(),
        input: call["input"].clone(),
        is_error: expect["is_error"].as_bool().or(status),
        contains: text(&expect["contains"]),
    }
}

/// Names a cursor call as the issue has it: the key without `ToolCall`, or a function's own name.
fn listed_call(call: &Value) -> Call {
    let kind = text(&call["kind"]).unwrap_or_default();
    let name = match text(&call["name"]) {
        Some(name) => name,
        None => kind.strip_suffix("ToolCall").unwrap_or(&kind).to_owned(),
    };
    Call {
        id: text(&call["call_id"]),
        name,
        input: call["args"].clone(),
        is_error: call["is_error"].as_bool(),
        contains: None,
    }
}
