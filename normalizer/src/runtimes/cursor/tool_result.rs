//! What came of a tool call: whether it failed, and what it gave back, as text.
//!
//! A result has one outcome key, sometimes beside `isBackground`. `success` may still hide a
//! failure (`exitCode` in older builds, `isError` of MCP tools); every other key is one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::call_wire::{Body, CallAnswer, LeanPayload};
use crate::json::Str;
use crate::signal::Block;

/// Outcomes that are known by name; any other key that holds an object is taken for one, too.
const FAILURES: &[&str] = &[
    "failure",
    "error",
    "rejected",
    "spawnError",
    "timeout",
    "permissionDenied",
    "cancelled",
    "canceled",
    "aborted",
];

/// Words for a failed call beside its result.
const FAILED: &[&str] = &[
    "error",
    "failed",
    "failure",
    "cancelled",
    "canceled",
    "rejected",
];

/// What came of a call.
#[derive(Debug, Default)]
pub(super) struct Judged<'a> {
    pub(super) content: Vec<Block<'a>>,
    /// `None` where the runtime did not tell.
    pub(super) is_error: Option<bool>,
    /// It was not allowed to run.
    pub(super) denied: Option<Denied>,
    pub(super) duration_ms: Option<u64>,
}

/// A refusal, with its reason if one was given.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Denied(pub(super) Option<String>);

/// Tells whether a call was reported as failed by a word beside its result.
pub(super) fn is_failed(word: &str) -> bool {
    FAILED.contains(&word)
}

/// Reads milliseconds, which are printed as numbers or as strings.
pub(super) fn millis(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Judges a completed call. `None` if it was read lean and has to be read in full.
pub(super) fn judge<'a>(body: &mut Body<'a>, is_error: Option<bool>) -> Option<Judged<'a>> {
    let measured = body.completed_at.zip(body.started_at);
    let measured = measured.and_then(|(end, start)| end.checked_sub(start));
    let mut judged = match std::mem::take(&mut body.payload.result) {
        CallAnswer::Odd => return None,
        CallAnswer::Absent => Judged::default(),
        CallAnswer::Lean(key, lean) => judge_lean(body.name(), &key, *lean)?,
        CallAnswer::Whole(result) => judge_whole(body.name(), result),
    };
    let error = std::mem::take(&mut body.payload.error);
    if !error.is_null() {
        judged.is_error = Some(true);
        if judged.content.is_empty() {
            judged.content = failure_blocks(error);
        }
    }
    let flagged = is_error == Some(true)
        || body.payload.is_error == Some(true)
        || body.payload.status.as_deref().is_some_and(is_failed);
    if flagged {
        judged.is_error = Some(true);
    }
    judged.duration_ms = measured.or(judged.duration_ms);
    Some(judged)
}

fn text(text: impl Into<Cow<'static, str>>) -> Block<'static> {
    Block::Text(text.into())
}

fn is_denial(outcome: &str) -> bool {
    matches!(outcome, "rejected" | "permissionDenied")
}

fn is_nonzero(exit_code: &Value) -> bool {
    match exit_code {
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.as_str(), "" | "0"),
        _ => false,
    }
}

/// Judges a call by the fields that matter; `None` if they are not there.
fn judge_lean<'a>(name: &str, outcome: &str, lean: LeanPayload<'a>) -> Option<Judged<'a>> {
    let succeeded = outcome == "success";
    let is_error = !succeeded || is_nonzero(&lean.exit_code);
    let duration_ms = millis(&lean.execution_time);
    let filled = |text: Option<Str<'a>>| text.filter(|text| !text.is_empty());
    let message = filled(lean.message);
    let reason = filled(lean.error_message)
        .or(filled(lean.error))
        .or(filled(lean.reason))
        .or_else(|| message.clone());
    let mut content: Vec<Str<'a>> = match name {
        "read" if succeeded => vec![lean.content?],
        "edit" | "write" if succeeded => vec![filled(lean.diff).or(message)?],
        _ => {
            let silent = [&lean.interleaved, &lean.stdout, &lean.stderr];
            let silent = silent.into_iter().any(Option::is_some).then(Str::default);
            let both = [filled(lean.stdout), filled(lean.stderr)];
            let both: Vec<Str<'a>> = both.into_iter().flatten().collect();
            match filled(lean.interleaved) {
                Some(printed) => vec![printed],
                None if both.is_empty() => silent.into_iter().collect(),
                None => both,
            }
        }
    };
    if !succeeded {
        content.retain(|text| !text.is_empty());
        content.extend(reason.clone());
    }
    if content.is_empty() {
        return None;
    }
    Some(Judged {
        content: content
            .into_iter()
            .map(|text| Block::Text(text.into_cow()))
            .collect(),
        is_error: Some(is_error),
        denied: is_denial(outcome).then(|| Denied(reason.map(Str::into_owned))),
        duration_ms,
    })
}

fn judge_whole(name: &str, result: Value) -> Judged<'static> {
    let fields = match result {
        Value::Object(fields) => fields,
        // A plain string, and anything else that can tell no failure.
        Value::String(plain) => {
            return Judged {
                content: vec![text(plain)],
                is_error: Some(false),
                ..Judged::default()
            };
        }
        other => {
            return Judged {
                content: vec![text(other.to_string())],
                is_error: Some(false),
                ..Judged::default()
            };
        }
    };
    let Some(outcome) = outcome_of(&fields) else {
        let is_error = fields
            .get("isError")
            .or(fields.get("is_error"))
            .and_then(Value::as_bool);
        let content = success_blocks(name, Value::Object(fields));
        return Judged {
            content,
            is_error,
            ..Judged::default()
        };
    };
    let outcome = outcome.to_owned();
    let mut fields = fields;
    let value = fields.remove(&outcome).unwrap_or_default();
    let duration_ms = value
        .get("executionTime")
        .or(value.get("durationMs"))
        .and_then(millis);
    if outcome == "success" {
        let is_error = value.get("exitCode").is_some_and(is_nonzero)
            || value.get("isError").and_then(Value::as_bool) == Some(true);
        let content = success_blocks(name, value);
        return Judged {
            content,
            is_error: Some(is_error),
            denied: None,
            duration_ms,
        };
    }
    let denied = is_denial(&outcome).then(|| Denied(reason_of(&value).map(str::to_owned)));
    let content = failure_blocks(value);
    Judged {
        content,
        is_error: Some(true),
        denied,
        duration_ms,
    }
}

/// Returns the key that says how it went.
fn outcome_of(fields: &Map<String, Value>) -> Option<&str> {
    if fields.contains_key("success") {
        return Some("success");
    }
    let known = FAILURES
        .iter()
        .copied()
        .find(|key| fields.contains_key(*key));
    known.or_else(|| {
        let mut objects = fields.iter().filter(|(_, value)| value.is_object());
        match (objects.next(), objects.next()) {
            (Some((key, _)), None) => Some(key.as_str()),
            _ => None,
        }
    })
}

/// Takes a field that is a string with something in it.
fn take(fields: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match fields.get_mut(*key) {
        Some(Value::String(text)) if !text.is_empty() => Some(std::mem::take(text)),
        _ => None,
    })
}

/// Returns what a successful call gave back: the one text it is about, where the tool is known to
/// have one, else all of it as JSON.
fn success_blocks(name: &str, value: Value) -> Vec<Block<'static>> {
    let mut fields = match value {
        Value::Object(fields) => fields,
        Value::String(plain) => return vec![text(plain)],
        Value::Null => return Vec::new(),
        other => return vec![text(other.to_string())],
    };
    let main = match name {
        "shell" => {
            let printed = take(&mut fields, &["interleavedOutput"]);
            let printed = printed.map(|printed| vec![text(printed)]).or_else(|| {
                let both = ["stdout", "stderr"].map(|key| take(&mut fields, &[key]));
                let both: Vec<_> = both.into_iter().flatten().map(text).collect();
                (!both.is_empty()).then_some(both)
            });
            let silent = ["interleavedOutput", "stdout", "stderr"];
            printed.or_else(|| {
                let silent = silent.iter().any(|key| fields.contains_key(*key));
                silent.then(|| vec![text("")])
            })
        }
        "edit" | "write" => {
            take(&mut fields, &["diffString", "message"]).map(|main| vec![text(main)])
        }
        "delete" => take(&mut fields, &["message"]).map(|main| vec![text(main)]),
        "webFetch" => take(&mut fields, &["markdown"]).map(|main| vec![text(main)]),
        "semSearch" => take(&mut fields, &["results"]).map(|main| vec![text(main)]),
        "task" => fields.get_mut("conversationSteps").and_then(steps),
        _ => None,
    };
    main.or_else(|| fields.get_mut("content").and_then(content_blocks))
        .unwrap_or_else(|| vec![text(Value::Object(fields).to_string())])
}

/// Returns what a sub-agent said, if that is all its steps are.
fn steps(steps: &mut Value) -> Option<Vec<Block<'static>>> {
    let said = |step: &Value| {
        let step = step.as_object().filter(|step| step.len() == 1)?;
        Some(text(
            step.get("assistantMessage")?
                .get("text")?
                .as_str()?
                .to_owned(),
        ))
    };
    let said: Option<Vec<_>> = steps.as_array()?.iter().map(said).collect();
    said.filter(|said| !said.is_empty())
}

/// Returns the content of a file or of an MCP tool: text, or a list of text and images.
fn content_blocks(content: &mut Value) -> Option<Vec<Block<'static>>> {
    match content {
        Value::String(content) => Some(vec![text(std::mem::take(content))]),
        Value::Array(items) if !items.is_empty() => Some(items.iter().map(content_block).collect()),
        _ => None,
    }
}

fn content_block(item: &Value) -> Block<'static> {
    let plain = item
        .as_str()
        .or(item.pointer("/text/text").and_then(Value::as_str));
    if let Some(plain) = plain.or(item.get("text").and_then(Value::as_str)) {
        return text(plain.to_owned());
    }
    let image = item
        .get("image")
        .or(Some(item).filter(|item| item.get("type") == Some(&"image".into())));
    let field = |keys: [&str; 2]| {
        let image = image?;
        keys.iter()
            .find_map(|key| image.get(*key)?.as_str())
            .map(str::to_owned)
    };
    match (field(["mimeType", "mime_type"]), field(["data", "data"])) {
        (Some(mime_type), Some(data)) => Block::Image {
            mime_type: mime_type.into(),
            data: data.into(),
        },
        _ => text(item.to_string()),
    }
}

/// Returns why it failed, if that was said.
fn reason_of(value: &Value) -> Option<&str> {
    if let Value::String(plain) = value {
        return Some(plain.as_str()).filter(|plain| !plain.is_empty());
    }
    let keys = ["errorMessage", "error", "reason", "message"];
    keys.iter().find_map(|key| match value.get(*key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.as_str()),
        Some(nested @ Value::Object(_)) => reason_of(nested),
        _ => None,
    })
}

/// Returns what a failed call said: what it printed and why it failed, else all of it as JSON.
fn failure_blocks(value: Value) -> Vec<Block<'static>> {
    let reason = reason_of(&value).map(str::to_owned);
    let mut blocks = Vec::new();
    if let Value::Object(mut fields) = value {
        let printed = take(&mut fields, &["interleavedOutput"]).map(|printed| vec![printed]);
        let printed = printed.unwrap_or_else(|| {
            let both = ["stdout", "stderr"].map(|key| take(&mut fields, &[key]));
            both.into_iter().flatten().collect()
        });
        blocks.extend(printed.into_iter().map(text));
        let tells = |value: &Value| !matches!(value, Value::Null) && value.as_str() != Some("");
        if blocks.is_empty() && reason.is_none() && fields.values().any(tells) {
            blocks.push(text(Value::Object(fields).to_string()));
        }
    }
    blocks.extend(reason.map(text));
    blocks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Judges one call both ways; they must agree.
    fn judged(kind: &str, result: &Value) -> (Option<bool>, Vec<String>, Option<Denied>) {
        let printed = json!({ kind: { "args": {}, "result": result } }).to_string();
        let event = format!("{{\"tool_call\":{printed}}}");
        let mut full: super::super::call_wire::FullEvent<'_> =
            serde_json::from_str(&event).unwrap();
        let lean: super::super::call_wire::LeanEvent<'_> = serde_json::from_str(&event).unwrap();
        let mut lean = super::super::call_wire::FullEvent::from(lean);
        let tell = |judged: Judged<'_>| {
            let texts = judged.content.into_iter().map(|block| match block {
                Block::Text(text) => text.into_owned(),
                other => format!("{other:?}"),
            });
            (judged.is_error, texts.collect::<Vec<_>>(), judged.denied)
        };
        let whole = tell(judge(&mut full.body, None).unwrap());
        if let Some(lean) = judge(&mut lean.body, None) {
            assert_eq!(tell(lean), whole, "{kind} {result}");
        }
        whole
    }

    #[expect(clippy::too_many_lines, reason = "a table")]
    #[test]
    fn everything_but_success_is_a_failure_and_success_may_hide_one() {
        let table = [
            (
                "shellToolCall",
                json!({"success": {"exitCode": 0, "stdout": "ok\n"}}),
                Some(false),
                "ok\n",
            ),
            (
                "shellToolCall",
                json!({"success": {"exitCode": 3, "stdout": "no\n"}}),
                Some(true),
                "no\n",
            ),
            (
                "shellToolCall",
                json!({"failure": {"exitCode": 1, "stdout": "o", "stderr": "e", "interleavedOutput": "oe"}, "isBackground": false}),
                Some(true),
                "oe",
            ),
            (
                "shellToolCall",
                json!({"failure": {"exitCode": 1, "stdout": "o", "stderr": "e"}}),
                Some(true),
                "o|e",
            ),
            (
                "shellToolCall",
                json!({"spawnError": {"command": "", "error": "no shell"}}),
                Some(true),
                "no shell",
            ),
            (
                "shellToolCall",
                json!({"timeout": {"timeoutMs": 5}}),
                Some(true),
                "{\"timeoutMs\":5}",
            ),
            (
                "shellToolCall",
                json!({"timeout": {"stdout": "so far", "message": "too slow"}}),
                Some(true),
                "so far|too slow",
            ),
            (
                "shellToolCall",
                json!({"success": {"stdout": "", "stderr": ""}}),
                Some(false),
                "",
            ),
            (
                "shellToolCall",
                json!({"success": {"pid": 7}, "isBackground": true}),
                Some(false),
                "{\"pid\":7}",
            ),
            (
                "readToolCall",
                json!({"success": {"content": "  a\n", "totalLines": 1}}),
                Some(false),
                "  a\n",
            ),
            (
                "readToolCall",
                json!({"error": {"errorMessage": "gone"}}),
                Some(true),
                "gone",
            ),
            (
                "readToolCall",
                json!({"fileNotFound": {"path": "/x"}}),
                Some(true),
                "{\"path\":\"/x\"}",
            ),
            (
                "editToolCall",
                json!({"success": {"diffString": "+a", "message": "Wrote"}}),
                Some(false),
                "+a",
            ),
            (
                "writeToolCall",
                json!({"success": {"path": "a", "linesCreated": 2}}),
                Some(false),
                "{\"path\":\"a\",\"linesCreated\":2}",
            ),
            (
                "globToolCall",
                json!({"success": {"files": ["a"]}}),
                Some(false),
                "{\"files\":[\"a\"]}",
            ),
            (
                "globToolCall",
                json!({"error": {"error": "bad pattern"}}),
                Some(true),
                "bad pattern",
            ),
            (
                "mcpToolCall",
                json!({"success": {"content": [{"text": {"text": "t"}}], "isError": false}}),
                Some(false),
                "t",
            ),
            (
                "mcpToolCall",
                json!({"success": {"content": [{"text": {"text": "t"}}], "isError": true}}),
                Some(true),
                "t",
            ),
            (
                "webFetchToolCall",
                json!({"success": {"url": "u", "markdown": "# T"}}),
                Some(false),
                "# T",
            ),
            (
                "taskToolCall",
                json!({"success": {"conversationSteps": [{"assistantMessage": {"text": "10"}}], "durationMs": "5"}}),
                Some(false),
                "10",
            ),
            ("novelToolCall", json!("plain"), Some(false), "plain"),
            (
                "novelToolCall",
                json!({"answer": 5}),
                None,
                "{\"answer\":5}",
            ),
            ("novelToolCall", json!({"success": {}}), Some(false), "{}"),
            ("novelToolCall", json!({"success": null}), Some(false), ""),
        ];
        for (kind, result, is_error, output) in table {
            let (error, texts, _) = judged(kind, &result);
            assert_eq!(
                (error, texts.join("|").as_str()),
                (is_error, output),
                "{kind} {result}"
            );
        }
    }

    #[test]
    fn a_completed_call_without_a_result_tells_nothing() {
        let mut event: super::super::call_wire::FullEvent<'_> =
            serde_json::from_str(r#"{"tool_call":{"shellToolCall":{"args":{}}}}"#).unwrap();
        let judged = judge(&mut event.body, None).unwrap();
        assert_eq!((judged.is_error, judged.content.len()), (None, 0));
    }

    #[test]
    fn a_refused_call_is_denied_with_its_reason_if_there_is_one() {
        let result = json!({"rejected": {"command": "rm -rf /", "reason": "not allowed"}});
        let (error, texts, denied) = judged("shellToolCall", &result);
        assert_eq!(
            (error, denied),
            (Some(true), Some(Denied(Some("not allowed".to_owned()))))
        );
        assert_eq!(texts, ["not allowed"]);
        let (error, _, denied) = judged("editToolCall", &json!({"rejected": {"reason": ""}}));
        assert_eq!((error, denied), (Some(true), Some(Denied(None))));
        let result = json!({"permissionDenied": {"error": "read only"}});
        let (_, _, denied) = judged("writeToolCall", &result);
        assert_eq!(denied, Some(Denied(Some("read only".to_owned()))));
    }

    #[test]
    fn images_of_mcp_tools_are_images() {
        let content = json!([{"text": {"text": "t"}}, {"image": {"data": "aGk=", "mimeType": "image/png"}}, {"odd": 1}]);
        let result = json!({"success": {"content": content, "isError": false}});
        let Judged { content, .. } = judge_whole("mcp", result);
        assert_eq!(
            content,
            [
                text("t"),
                Block::Image {
                    mime_type: "image/png".into(),
                    data: "aGk=".into()
                },
                text("{\"odd\":1}"),
            ]
        );
    }
}
