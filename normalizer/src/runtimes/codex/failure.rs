//! Failures in the CLI's own words: of a turn that failed, or on standard error.

use runtape_core::{ErrorFamily, RunError};

use crate::failure::{api_error, error, family_of_status, is_retryable};

/// Words of the CLI and of the API, in the order in which they count.
const WORDS: &[(&[&str], ErrorFamily)] = &[
    (
        &["quota exceeded", "insufficient_quota"],
        ErrorFamily::Billing,
    ),
    (
        &["context window", "context_length_exceeded"],
        ErrorFamily::ContextOverflow,
    ),
    (&["model_not_found"], ErrorFamily::ModelNotFound),
    (
        &["rate limit", "rate_limit", "usage limit", "usage_limit"],
        ErrorFamily::RateLimit,
    ),
    (&["content_filter"], ErrorFamily::Refusal),
];

/// Returns the error of a turn that failed; `at` is when that was said.
pub(super) fn of_turn(message: &str, at: i64) -> RunError {
    let status = status_in(message);
    let family = family(message, status);
    let is_retryable = is_retryable(family);
    let wait = is_retryable.then(|| wait_in(message)).flatten();
    RunError {
        family: Some(family),
        is_retryable,
        retry_at: wait.map(|wait| at.saturating_add(wait)),
        ..api_error(message, status)
    }
}

/// Returns the error of a process that failed before its first turn, as standard error has it.
pub(super) fn of_start(message: &str) -> RunError {
    let family = if message.contains("no rollout found") {
        ErrorFamily::UnknownSession
    } else {
        ErrorFamily::Process
    };
    error("NonZeroExit", message, family)
}

fn family(message: &str, status: Option<u16>) -> ErrorFamily {
    let lower = if message.is_ascii() {
        message.to_ascii_lowercase()
    } else {
        message.to_lowercase()
    };
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if let Some((_, family)) = WORDS.iter().find(|(words, _)| has(words)) {
        return *family;
    }
    if has(&["model"]) && has(&["does not exist"]) {
        return ErrorFamily::ModelNotFound;
    }
    if has(&["no rollout found"]) {
        return ErrorFamily::UnknownSession;
    }
    if let Some(status) = status {
        return family_of_status(status);
    }
    if has(&["high demand"]) {
        ErrorFamily::Overload
    } else if has(&["stream disconnected"]) {
        ErrorFamily::Network
    } else {
        ErrorFamily::Other
    }
}

/// Finds `status 401` or `status: 429`.
pub(super) fn status_in(message: &str) -> Option<u16> {
    let mut rest = message;
    while let Some((_, after)) = rest.split_once("status") {
        let number = after.strip_prefix(':').unwrap_or(after).strip_prefix(' ');
        let digits = number.and_then(|number| number.get(..3));
        if let Some(digits) = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())) {
            return digits.parse().ok();
        }
        rest = after;
    }
    None
}

/// Finds how long to wait, in milliseconds: `try again in 1.5s`, `… in 6m0s`, `… in 3 days 4 hours`.
fn wait_in(message: &str) -> Option<i64> {
    /// A year: what is longer is no time to wait.
    const LONGEST: f64 = 366.0 * 24.0 * 3_600_000.0;
    let at = message.to_ascii_lowercase().find("try again in ")?;
    let mut rest = message.get(at + "try again in ".len()..)?;
    let mut millis: Option<f64> = None;
    loop {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(digits)?;
        let Ok(number) = number.parse::<f64>() else {
            break;
        };
        let after = after.trim_start();
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(letters)?;
        let Some(length) = unit_millis(unit) else {
            break;
        };
        millis = Some(millis.unwrap_or(0.0) + number * length);
        rest = after.trim_start_matches([' ', ',']);
    }
    let millis = millis.filter(|millis| (0.0..LONGEST).contains(millis))?;
    #[expect(clippy::cast_possible_truncation, reason = "within a year")]
    Some(millis.round() as i64)
}

fn unit_millis(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 1.0,
        "s" | "second" | "seconds" => 1_000.0,
        "m" | "minute" | "minutes" => 60_000.0,
        "h" | "hour" | "hours" => 3_600_000.0,
        "d" | "day" | "days" => 86_400_000.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_failed_has_the_family_of_its_message() {
        let table = [
            (
                "unexpected status 401 Unauthorized: Incorrect API key, url: http://x",
                Some(401),
                ErrorFamily::Auth,
            ),
            (
                "unexpected status 403 Forbidden: no, url: http://x",
                Some(403),
                ErrorFamily::Auth,
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                Some(429),
                ErrorFamily::RateLimit,
            ),
            (
                "rate limit exceeded: slow down",
                None,
                ErrorFamily::RateLimit,
            ),
            (
                "You’ve hit your usage limit. Upgrade to Pro",
                None,
                ErrorFamily::RateLimit,
            ),
            (
                "Quota exceeded. Check your plan and billing details.",
                None,
                ErrorFamily::Billing,
            ),
            (
                "We’re currently experiencing high demand, which may …",
                None,
                ErrorFamily::Overload,
            ),
            (
                "unexpected status 503 Service Unavailable: overloaded, url: u",
                Some(503),
                ErrorFamily::Overload,
            ),
            (
                "Codex ran out of room in the model's context window. Start a new thread",
                None,
                ErrorFamily::ContextOverflow,
            ),
            (
                "{\"error\": {\"message\": \"too long\", \"code\": \"context_length_exceeded\"}}",
                None,
                ErrorFamily::ContextOverflow,
            ),
            (
                "The model `m` does not exist or you do not have access to it.",
                None,
                ErrorFamily::ModelNotFound,
            ),
            (
                "Incomplete response returned, reason: content_filter",
                None,
                ErrorFamily::Refusal,
            ),
            (
                "Incomplete response returned, reason: max_output_tokens",
                None,
                ErrorFamily::Other,
            ),
            (
                "stream disconnected before completion: eof",
                None,
                ErrorFamily::Network,
            ),
        ];
        for (message, status, family) in table {
            let error = of_turn(message, 0);
            assert_eq!(error.name, "ApiError", "{message}");
            assert_eq!(error.message, message);
            assert_eq!(error.status_code, status, "{message}");
            assert_eq!(error.family, Some(family), "{message}");
        }
    }

    #[test]
    fn the_time_to_wait_is_counted_from_when_it_was_said() {
        let table = [
            ("rate limit: try again in 1.5s.", Some(1_500)),
            ("rate limit: Please try again in 6m0s", Some(360_000)),
            ("rate limit: try again in 20ms", Some(20)),
            (
                "usage limit. Try again in 3 days 4 hours 5 minutes.",
                Some(273_900_000),
            ),
            ("usage limit. try again later.", None),
            ("usage limit. try again in a while", None),
            ("usage limit. try again in 99999999 days", None),
            ("no such model, try again in 5s", None),
        ];
        for (message, wait) in table {
            let expected = wait.map(|wait| 1_000 + wait);
            assert_eq!(of_turn(message, 1_000).retry_at, expected, "{message}");
        }
    }

    #[test]
    fn a_start_that_failed_is_the_process_s_failure() {
        let error = of_start("thread/resume failed: no rollout found for thread id x");
        assert_eq!(error.family, Some(ErrorFamily::UnknownSession));
        assert!(!error.is_retryable);
        let error = of_start("unexpected argument '--no-such-flag' found");
        assert_eq!(error.name, "NonZeroExit");
        assert_eq!(error.family, Some(ErrorFamily::Process));
    }
}
