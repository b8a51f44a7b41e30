//! In which words a result says how the run ended.
//!
//! Success is only what the CLI says in its documented words: `is_error` is the boolean false and
//! `subtype` is `success`. Everything else is a failure, and words that no version prints are a
//! failure that is unclear: a format that has changed must not turn failures into successes.

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use super::content::TextOrOther;
use super::wire::RunResult;
use crate::failure::error;

/// The subtypes that name a failure.
const FAILURES: &[&str] = &[
    "error_max_turns",
    "error_max_budget_usd",
    "error_during_execution",
    "error_max_structured_output_retries",
];

/// How much of a value that was not understood is repeated.
const LONGEST_WORD: usize = 100;

/// In which words a result says how the run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResultWords<'l> {
    /// It went well.
    Success,
    /// The model's API failed: `is_error` beside the subtype `success`.
    ApiError,
    /// The subtype names what failed.
    Failure(&'l str),
    /// No version prints these words. Each entry is a field and what is wrong with it.
    Unclear(Vec<String>),
}

impl<'l> ResultWords<'l> {
    /// Reads the words of a result.
    pub(super) fn of(line: &'l RunResult<'_>) -> Self {
        let subtype = match &line.subtype {
            TextOrOther::Text(word) => Some(word.as_str()),
            TextOrOther::Other(_) => None,
        };
        match (&line.is_error, subtype) {
            (Value::Bool(false), Some("success")) => Self::Success,
            (Value::Bool(true), Some("success")) => Self::ApiError,
            (Value::Bool(is_error), Some(word))
                if FAILURES.contains(&word) && (*is_error || is_older(line)) =>
            {
                Self::Failure(word)
            }
            _ => Self::Unclear(faults(line)),
        }
    }
}

/// Tells whether the line is of a version before results were numbered.
///
/// Those have `is_error: false` on results whose subtype names a failure.
fn is_older(line: &RunResult<'_>) -> bool {
    line.uuid.is_some() && line.duration_ms.is_some() && line.index.is_none()
}

fn faults(line: &RunResult<'_>) -> Vec<String> {
    let is_error = match &line.is_error {
        Value::Bool(_) => None,
        Value::Null => Some("is_error: missing".to_owned()),
        other => Some(format!("is_error: {} is no boolean", short(other))),
    };
    let subtype = match &line.subtype {
        TextOrOther::Text(word) if *word == "success" => None,
        TextOrOther::Text(word) if FAILURES.contains(&word.as_str()) => match &line.is_error {
            Value::Bool(false) => Some(format!("subtype: {word} beside is_error false")),
            _ => None,
        },
        TextOrOther::Text(word) => {
            let word = Value::from(word.as_str());
            Some(format!("subtype: unknown word {}", short(&word)))
        }
        TextOrOther::Other(Value::Null) => Some("subtype: missing".to_owned()),
        TextOrOther::Other(other) => Some(format!("subtype: {} is no word", short(other))),
    };
    is_error.into_iter().chain(subtype).collect()
}

fn short(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(LONGEST_WORD) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Makes the error for a result in words that no version prints; `said` is what else it says.
pub(super) fn unclear_result(faults: &[String], said: &str) -> RunError {
    let mut message = format!(
        "the result does not say in known words how the run ended ({})",
        faults.join(", ")
    );
    if !said.is_empty() {
        message.push_str(": ");
        message.push_str(said);
    }
    error("UnclearResult", message, ErrorFamily::Other)
}

/// Tells whether an object that is all of the output claims to be a result, though it has none of
/// the ids that results of the CLI have.
///
/// An answer in the text format may be an object with the type `result` as well. So it is taken
/// for a result only where that cannot hide a failure or lose an answer: if it is nothing but a
/// type and a content, as the customer's own writers have it, or if its words are not those of
/// any result, so that it is more likely a format that has changed.
pub(super) fn is_claimed(line: &RunResult<'_>) -> bool {
    if !line.unknown.is_empty() {
        return false;
    }
    let is_error = !matches!(line.is_error, Value::Null | Value::Bool(_));
    let subtype = match &line.subtype {
        TextOrOther::Text(word) => *word != "success" && !FAILURES.contains(&word.as_str()),
        TextOrOther::Other(value) => !value.is_null(),
    };
    let contradicts = matches!(ResultWords::of(line), ResultWords::Unclear(_))
        && matches!(line.is_error, Value::Bool(_))
        && matches!(line.subtype, TextOrOther::Text(_));
    let has_words = !line.is_error.is_null() || line.subtype != TextOrOther::default();
    let has_more = line.result != TextOrOther::default()
        || line.session.is_some()
        || line.uuid.is_some()
        || line.duration_ms.is_some()
        || line.usage.is_some();
    let is_bare = !has_words && !has_more;
    is_error || subtype || contradicts || is_bare
}
