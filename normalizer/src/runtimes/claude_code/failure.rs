//! What kind of failure a result tells of.
//!
//! Everything here is the CLI's own word: fields of a result, or text that it wrote itself into a
//! result with `is_error` or a synthetic message. What the model or a tool said never gets here.

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use crate::exit::{Exit, code_is_signal};
use crate::failure::{api_error, error, family_of_status, is_retryable};

/// Returns the error of a run in the text format that failed: what was printed is its message. What
/// kind of error it is, only prose could tell.
pub(super) fn error_of_text(text: String, exit: &Exit) -> RunError {
    let (name, cause) = exit.failure(code_is_signal);
    let message = if text.trim().is_empty() { cause } else { text };
    error(name, message, ErrorFamily::Process)
}

/// What is known of a failed request to the model's API.
#[derive(Clone, Debug, Default)]
pub(super) struct ApiFailure {
    /// The CLI's word for it, on the synthetic message: `authentication_failed`, `rate_limit` …
    pub(super) kind: Option<String>,
    /// The API's word for it: `rate_limit_error` …
    pub(super) api_type: Option<String>,
    /// Another word of the CLI: `usage_limit_reached`, `max_output_tokens`.
    pub(super) api_error: Option<String>,
    /// The HTTP status.
    pub(super) status: Option<u16>,
    /// When it may be tried again, in milliseconds since 1970.
    pub(super) retry_at: Option<i64>,
    /// How the last message stopped.
    pub(super) stop_reason: Option<String>,
    /// Why the run ended.
    pub(super) terminal_reason: Option<String>,
}

impl ApiFailure {
    /// Takes from `earlier` what is not known here: the synthetic message says more than the result.
    pub(super) fn or(mut self, earlier: Option<Self>) -> Self {
        if let Some(earlier) = earlier {
            self.kind = self.kind.or(earlier.kind);
            self.api_type = self.api_type.or(earlier.api_type);
            self.api_error = self.api_error.or(earlier.api_error);
            self.status = self.status.or(earlier.status);
            self.retry_at = self.retry_at.or(earlier.retry_at);
        }
        self
    }

    /// Makes the error; `message` is the text that the CLI wrote about it.
    pub(super) fn into_error(self, message: String, limit_resets_at: Option<i64>) -> RunError {
        let status = self.status.or_else(|| status_in(&message));
        let family = self.family(&message, status);
        let retry_at = self
            .retry_at
            .or_else(|| old_usage_limit(&message))
            .or(limit_resets_at);
        RunError {
            family: Some(family),
            is_retryable: is_retryable(family),
            retry_at: retry_at.filter(|_| family == ErrorFamily::RateLimit),
            ..api_error(message, status)
        }
    }

    fn family(&self, message: &str, status: Option<u16>) -> ErrorFamily {
        if self.stop_reason.as_deref() == Some("refusal") {
            return ErrorFamily::Refusal;
        }
        if self.terminal_reason.as_deref() == Some("prompt_too_long") {
            return ErrorFamily::ContextOverflow;
        }
        if status.is_none() && NETWORK.iter().any(|words| message.contains(words)) {
            return ErrorFamily::Network;
        }
        let words = [&self.kind, &self.api_error, &self.api_type];
        let by_word = words
            .into_iter()
            .flatten()
            .find_map(|word| family_of_word(word));
        by_word
            .or_else(|| family_of_text(message))
            .or_else(|| status.map(family_of_status))
            .unwrap_or(ErrorFamily::Other)
    }
}

/// Errors of the connection, which have no word of their own in the result.
const NETWORK: &[&str] = &[
    "Connection error",
    "Unable to connect",
    "Request timed out",
    "ECONNREFUSED",
    "ECONNRESET",
    "ENOTFOUND",
    "ETIMEDOUT",
    "fetch failed",
    "socket hang up",
];

/// `invalid_request` is many things; what it is, other fields tell, or the text.
fn family_of_word(word: &str) -> Option<ErrorFamily> {
    Some(match word {
        "authentication_failed"
        | "authentication_error"
        | "permission_error"
        | "oauth_org_not_allowed" => ErrorFamily::Auth,
        "rate_limit" | "rate_limit_error" | "usage_limit_reached" => ErrorFamily::RateLimit,
        "billing_error" => ErrorFamily::Billing,
        "overloaded" | "overloaded_error" | "server_error" | "api_error" | "timeout_error" => {
            ErrorFamily::Overload
        }
        "model_not_found" | "not_found_error" => ErrorFamily::ModelNotFound,
        "request_too_large" => ErrorFamily::ContextOverflow,
        "max_output_tokens" => ErrorFamily::Other,
        _ => return None,
    })
}

/// The json format, and versions before 2.1 altogether, have nothing but the text.
fn family_of_text(text: &str) -> Option<ErrorFamily> {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|words| text.starts_with(words));
    if begins(&[
        "Invalid API key",
        "Not logged in",
        "Failed to authenticate",
        "OAuth token",
    ]) || text.contains("Please run /login")
    {
        Some(ErrorFamily::Auth)
    } else if begins(&["Credit balance is too low"]) {
        Some(ErrorFamily::Billing)
    } else if begins(&["Prompt is too long"]) {
        Some(ErrorFamily::ContextOverflow)
    } else if begins(&["There's an issue with the selected model"]) {
        Some(ErrorFamily::ModelNotFound)
    } else if begins(&[
        "Claude AI usage limit reached",
        "Claude usage limit reached",
        "You've hit your",
    ]) || begins(&[
        "5-hour limit reached",
        "Weekly limit reached",
        "Session limit reached",
    ]) {
        Some(ErrorFamily::RateLimit)
    } else {
        None
    }
}

/// Reads the status from `API Error: 500 …`, as versions before 2.1 have it nowhere else, or from
/// `API Error (500 …`.
fn status_in(text: &str) -> Option<u16> {
    let rest = text
        .strip_prefix("API Error")?
        .trim_start_matches([':', ' ', '(']);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits
        .parse()
        .ok()
        .filter(|status| (400..600).contains(status))
}

/// Reads the time from `Claude AI usage limit reached|1749924000`, as 1.0 printed it.
fn old_usage_limit(text: &str) -> Option<i64> {
    let (words, seconds) = text.split_once('|')?;
    words.ends_with("usage limit reached").then_some(())?;
    epoch_millis(seconds.trim().parse().ok()?)
}

/// Turns a time since 1970 into milliseconds: the CLI prints seconds.
pub(super) fn epoch_millis(time: f64) -> Option<i64> {
    /// The year 5138 in seconds, 1973 in milliseconds: between the two there is no doubt.
    const MILLIS_FROM: f64 = 1e11;
    let millis = if time < MILLIS_FROM {
        time * 1000.0
    } else {
        time
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is too large saturates, and is refused later on"
    )]
    (millis >= 1.0).then(|| millis.round() as i64)
}

/// Returns the time in the parameters of an error, where there is one.
pub(super) fn retry_time(params: &Value) -> Option<i64> {
    let keys = ["resetsAt", "resets_at", "reset_at"];
    keys.iter()
        .find_map(|key| epoch_millis(params.get(key)?.as_f64()?))
}

/// Tells whether the CLI says that there is no such session.
pub(super) fn is_unknown_session(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "No conversation found with session ID",
        "--resume requires a valid session",
        "does not match any session title",
        "is not a valid UUID",
        "is not a UUID",
    ];
    WORDS.iter().any(|words| text.contains(words))
}

/// Makes the error for a session that does not exist.
pub(super) fn unknown_session(message: String) -> RunError {
    error(
        "error_during_execution",
        message,
        ErrorFamily::UnknownSession,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(failure: ApiFailure, text: &str) -> ErrorFamily {
        failure.into_error(text.to_owned(), None).family.unwrap()
    }

    #[test]
    fn the_cli_s_words_come_before_the_status() {
        let credit = ApiFailure {
            kind: Some("billing_error".into()),
            api_type: Some("invalid_request_error".into()),
            status: Some(400),
            ..ApiFailure::default()
        };
        assert_eq!(
            family(credit, "Credit balance is too low"),
            ErrorFamily::Billing
        );
        let failed = ApiFailure {
            status: Some(529),
            ..ApiFailure::default()
        };
        let error = failed.into_error("API Error: 529 Overloaded".into(), None);
        assert_eq!(
            (error.family, error.status_code),
            (Some(ErrorFamily::Overload), Some(529))
        );
        assert!(error.is_retryable && error.name == "ApiError");
    }

    #[test]
    fn text_alone_tells_what_older_versions_mean() {
        let table = [
            ("Invalid API key · Fix external API key", ErrorFamily::Auth),
            ("Credit balance is too low", ErrorFamily::Billing),
            ("Prompt is too long", ErrorFamily::ContextOverflow),
            ("API Error: 500 {\"type\":\"error\"}", ErrorFamily::Overload),
            ("API Error (429 x) · Retrying", ErrorFamily::RateLimit),
            ("API Error: Connection error.", ErrorFamily::Network),
            ("Something else about a rate limit", ErrorFamily::Other),
        ];
        for (text, expected) in table {
            assert_eq!(family(ApiFailure::default(), text), expected, "{text}");
        }
    }

    #[test]
    fn a_rate_limit_has_the_time_it_ends() {
        let limited = || ApiFailure {
            kind: Some("rate_limit".into()),
            ..ApiFailure::default()
        };
        let error = limited().into_error("You've hit your limit".into(), Some(5));
        assert_eq!(error.retry_at, Some(5));
        let old = "Claude AI usage limit reached|1749924000".to_owned();
        let error = ApiFailure::default().into_error(old, None);
        assert_eq!(error.retry_at, Some(1_749_924_000_000));
        assert_eq!(
            retry_time(&serde_json::json!({"resetsAt": 1e12})),
            Some(1_000_000_000_000)
        );
        let auth = ApiFailure {
            status: Some(401),
            ..ApiFailure::default()
        };
        assert_eq!(auth.into_error(String::new(), Some(5)).retry_at, None);
    }
}
