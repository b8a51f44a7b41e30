//! Failures in the CLI's own words: of an error line, or on standard error.

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use crate::failure::{error, family_of_status, is_retryable};

/// Codes that an API gives with its refusal, in the order in which they count.
const CODES: &[(&[&str], ErrorFamily)] = &[
    (&["insufficient_quota"], ErrorFamily::Billing),
    (&["context_length_exceeded"], ErrorFamily::ContextOverflow),
    (&["model_not_found"], ErrorFamily::ModelNotFound),
    (&["rate_limit", "usage_limit"], ErrorFamily::RateLimit),
    (&["content_filter"], ErrorFamily::Refusal),
];

/// The CLI's names for failures.
const NAMES: &[(&str, ErrorFamily)] = &[
    ("ContextOverflowError", ErrorFamily::ContextOverflow),
    ("ContentFilterError", ErrorFamily::Refusal),
    ("ProviderAuthError", ErrorFamily::Auth),
    ("ProviderModelNotFoundError", ErrorFamily::ModelNotFound),
];

/// The CLI's name for what somebody stopped.
const ABORTED: &str = "MessageAbortedError";

/// Tells whether an error says that somebody stopped the run.
pub(super) fn is_abort(error: &RunError) -> bool {
    error.name == ABORTED
}

/// Returns the error of an error line, and whether the line has the shape of one; `at` is when it was
/// printed.
pub(super) fn of_line(line: &Value, at: i64) -> (RunError, bool) {
    let data = line.get("data").unwrap_or(&Value::Null);
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let said = text(data, "message").or_else(|| text(line, "message"));
    let name = text(line, "name").filter(|name| !name.is_empty());
    let is_sound = said.is_some() && name.is_some();
    let name = match name.as_deref() {
        Some("APIError") => "ApiError",
        Some(name) => name,
        None => "UnknownError",
    };
    let status = data.get("statusCode").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let body = text(data, "responseBody").unwrap_or_default();
    let family = family(name, status, &body);
    let message = said.filter(|said| !said.trim().is_empty());
    let message = message.unwrap_or_else(|| format!("the run failed: {line}"));
    let retryable = data.get("isRetryable").and_then(Value::as_bool);
    let wait = data.get("responseHeaders").and_then(wait_in);
    let error = RunError {
        status_code: status,
        is_retryable: retryable.unwrap_or_else(|| is_retryable(family)),
        retry_at: wait.map(|wait| at.saturating_add(wait)),
        ..error(name, message, family)
    };
    (error, is_sound)
}

fn family(name: &str, status: Option<u16>, body: &str) -> ErrorFamily {
    let has = |codes: &[&str]| codes.iter().any(|code| body.contains(code));
    let by_code = CODES.iter().find(|(codes, _)| has(codes));
    let by_name = NAMES.iter().find(|(known, _)| *known == name);
    by_code
        .map(|(_, family)| *family)
        .or(by_name.map(|(_, family)| *family))
        .or(status.map(family_of_status))
        .unwrap_or(ErrorFamily::Other)
}

/// Finds how long the API asks to wait, in milliseconds.
fn wait_in(headers: &Value) -> Option<i64> {
    /// A year: what is longer is no time to wait.
    const LONGEST: f64 = 366.0 * 24.0 * 3_600_000.0;
    let number = |key: &str| headers.get(key)?.as_str()?.trim().parse::<f64>().ok();
    let millis = number("retry-after-ms").or_else(|| Some(number("retry-after")? * 1_000.0))?;
    #[expect(clippy::cast_possible_truncation, reason = "within a year")]
    (0.0..LONGEST)
        .contains(&millis)
        .then(|| millis.round() as i64)
}

/// Returns the error of a process that failed, as standard error has it: without a code, so that
/// nothing but a session that is not known can be told from other failures.
pub(super) fn of_process(message: &str) -> RunError {
    let family = if message == "Session not found" {
        ErrorFamily::UnknownSession
    } else {
        ErrorFamily::Process
    };
    error("NonZeroExit", message, family)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_family_is_that_of_the_code_then_the_name_then_the_status() {
        let api = |status: u16, body: &str| {
            json!({"name": "APIError", "data": {"message": "no", "statusCode": status,
                "isRetryable": false, "responseBody": body}})
        };
        let named = |name: &str| json!({"name": name, "data": {"message": "no"}});
        let table = [
            (api(401, ""), "ApiError", ErrorFamily::Auth),
            (
                api(429, "rate_limit_exceeded"),
                "ApiError",
                ErrorFamily::RateLimit,
            ),
            (
                api(429, "insufficient_quota"),
                "ApiError",
                ErrorFamily::Billing,
            ),
            (
                api(400, "context_length_exceeded"),
                "ApiError",
                ErrorFamily::ContextOverflow,
            ),
            (
                api(404, "model_not_found"),
                "ApiError",
                ErrorFamily::ModelNotFound,
            ),
            (api(500, ""), "ApiError", ErrorFamily::Overload),
            (api(418, ""), "ApiError", ErrorFamily::Other),
            (
                named("ContextOverflowError"),
                "ContextOverflowError",
                ErrorFamily::ContextOverflow,
            ),
            (
                named("ContentFilterError"),
                "ContentFilterError",
                ErrorFamily::Refusal,
            ),
            (named("UnknownError"), "UnknownError", ErrorFamily::Other),
        ];
        for (line, name, family) in table {
            let (error, is_sound) = of_line(&line, 0);
            assert!(is_sound, "{line}");
            assert_eq!(error.name, name, "{line}");
            assert_eq!(error.family, Some(family), "{line}");
            assert_eq!(error.message, "no");
        }
    }

    #[test]
    fn whether_and_when_to_try_again_is_as_printed() {
        let line = json!({"name": "APIError", "data": {"message": "slow", "statusCode": 429,
            "isRetryable": false, "responseHeaders": {"retry-after": "2"}}});
        let (error, _) = of_line(&line, 1_000);
        assert_eq!((error.is_retryable, error.retry_at), (false, Some(3_000)));
        let headers = |value: Value| wait_in(&value);
        assert_eq!(headers(json!({"retry-after-ms": "250"})), Some(250));
        assert_eq!(headers(json!({"retry-after": "Mon, 16 Nov 2026"})), None);
        assert_eq!(headers(json!({"retry-after": "-1"})), None);
        assert_eq!(headers(json!({"retry-after": "NaN"})), None);
    }

    #[test]
    fn whatever_an_error_holds_is_a_failure_with_a_message() {
        for line in [
            json!(null),
            json!("no"),
            json!({}),
            json!({"name": 5, "data": []}),
        ] {
            let (error, is_sound) = of_line(&line, 0);
            assert!(!is_sound && !error.message.is_empty(), "{line}");
            assert_eq!(error.name, "UnknownError");
        }
        let (error, _) = of_line(&json!({"name": "X", "message": "flat"}), 0);
        assert_eq!((error.name.as_str(), error.message.as_str()), ("X", "flat"));
    }
}
