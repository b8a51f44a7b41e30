//! What the parser looks for in a message before it is heard.

use runtape_core::runtime_event::ApiRetry;
use serde_json::Value;

use super::super::content::{Content, TextOrOther};
use super::super::conversation::whole_millis;
use super::super::failure::ApiFailure;
use super::super::wire::ApiMessage;
use super::last_word::LastLine;
use super::wire::HistoryLine;

/// Returns the calls of a message: ids and names.
pub(super) fn calls_of(message: &ApiMessage<'_>) -> Vec<(Box<str>, Box<str>)> {
    let Content::Blocks(blocks) = &message.content else {
        return Vec::new();
    };
    let calls = blocks.iter().filter(|block| block.kind == "tool_use");
    calls
        .filter_map(|block| {
            let name = block.name.as_deref().unwrap_or_default();
            Some((block.id.as_deref()?.into(), name.into()))
        })
        .collect()
}

/// Returns the calls that results are of.
pub(super) fn results_of(content: &Content<'_>) -> Vec<String> {
    let Content::Blocks(blocks) = content else {
        return Vec::new();
    };
    let results = blocks.iter().filter(|block| block.kind == "tool_result");
    results
        .map(|block| block.tool_use_id.as_deref().unwrap_or_default().to_owned())
        .collect()
}

/// Returns how a text begins.
pub(super) fn beginning<'c>(content: &'c Content<'_>) -> &'c str {
    match content {
        Content::Text(text) => text,
        Content::Blocks(blocks) => {
            let mut texts = blocks.iter().filter_map(|block| block.text.as_deref());
            texts.next().unwrap_or_default()
        }
        _ => "",
    }
}

/// Tells what a line of a response leaves: an answer, or something that wants one.
pub(super) fn last_of(message: &ApiMessage<'_>, is_aborted: bool) -> LastLine {
    let last = match &message.content {
        Content::Blocks(blocks) => blocks.last().map_or("", |block| block.kind.as_str()),
        Content::Text(_) => "text",
        _ => "",
    };
    match message.stop_reason.as_deref() {
        _ if is_aborted => LastLine::Open,
        Some("refusal") => {
            let refused = ApiFailure {
                stop_reason: Some("refusal".to_owned()),
                ..ApiFailure::default()
            };
            let error = refused.into_error("the model refused".to_owned(), None);
            LastLine::Failure(Box::new(error))
        }
        Some("tool_use" | "pause_turn" | "max_tokens") => LastLine::Open,
        // Old versions have the reason on the last line only, or on none.
        _ if last == "text" => LastLine::Answer,
        _ => LastLine::Open,
    }
}

/// Returns what stands between two tags.
pub(super) fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside)
}

/// Makes the notice of an attempt that failed.
pub(super) fn api_retry(line: HistoryLine<'_>) -> ApiRetry {
    let (status, reason) = match line.error {
        TextOrOther::Other(value) => {
            let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
            let status = value.get("status").and_then(Value::as_u64);
            (status, text("formatted").or_else(|| text("message")))
        }
        TextOrOther::Text(text) => (None, Some(text.into_owned())),
    };
    ApiRetry {
        attempt: line.retry_attempt,
        max_attempts: line.max_retries,
        delay_ms: line.retry_in_ms.and_then(whole_millis),
        status_code: status.and_then(|status| u16::try_from(status).ok()),
        reason,
    }
}

/// Returns the text of the first result that has one.
pub(super) fn first_result(content: &Content<'_>) -> Option<String> {
    let Content::Blocks(blocks) = content else {
        return None;
    };
    blocks.iter().find_map(|block| match &block.content {
        Content::Text(text) => Some(text.as_str().to_owned()),
        _ => None,
    })
}
