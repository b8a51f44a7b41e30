//! What hermes itself says where the model, or its provider's safety filter, refused.

use runtape_core::{ErrorFamily, RunError};

use super::failure::{shorten, status_in};
use crate::failure;

/// The line that tells of a refusal by the model (`content_filter`).
pub(super) const DECLINED: &str = "The model declined to respond to this request (safety refusal).";

/// The beginning of the line that tells of a refusal by the provider.
pub(super) const FILTERED: &str = "Provider safety filter blocked this request: ";

/// The first sentences of the texts that are printed where the answer would be after a refusal.
const REFUSALS: [&str; 2] = [
    "⚠️ The model declined to respond to this request (safety refusal — not a Hermes/gateway failure).",
    "⚠️ The model provider's safety filter blocked this request (not a Hermes/gateway failure).",
];

/// Tells whether a line tells of a refusal.
pub(super) fn is_refusal_line(line: &str) -> bool {
    let is = |mark: &str| line.strip_prefix(mark).map(str::trim_start);
    is("⚠️") == Some(DECLINED) || is("❌").is_some_and(|text| text.starts_with(FILTERED))
}

/// Returns the error of a text in which hermes itself says that the model or its provider refused.
/// An answer that declines in the model's own words is an answer.
pub(super) fn refusal_of_text(text: &str) -> Option<RunError> {
    refusal_reason(text).map(|said| refusal(&said, status_in(&said)))
}

/// Returns the reason that such a text gives, else its first sentence. Panels wrap the text at the
/// width of the screen.
pub(super) fn refusal_reason(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let (first, rest) = REFUSALS
        .iter()
        .find_map(|first| Some((*first, text.strip_prefix(first)?.trim_start())))?;
    let said = ["Model's explanation: ", "Provider message: "]
        .iter()
        .find_map(|label| rest.strip_prefix(label));
    let said = said.map(|said| {
        said.rsplit_once(" Try rephrasing ")
            .map_or(said, |(said, _)| said)
    });
    let first = first.trim_start_matches(['⚠', '\u{fe0f}', ' ']);
    Some(shorten(said.unwrap_or(first)))
}

/// Returns the error of a refusal.
pub(super) fn refusal(message: &str, status: Option<u16>) -> RunError {
    let mut error = match status {
        Some(_) => failure::api_error(message, status),
        None => failure::error("Refusal", message, ErrorFamily::Refusal),
    };
    error.family = Some(ErrorFamily::Refusal);
    error.is_retryable = false;
    error
}

#[cfg(test)]
mod tests {
    use super::super::failure::{FailureReport, ReportLine, is_head};
    use super::*;
    use crate::testing::collect;

    #[test]
    fn a_refusal_is_what_hermes_says_itself() {
        let own = "⚠️  The model declined to respond to this request (safety refusal — not a Hermes/gateway failure).\n\nModel's explanation: I can't.\n\nTry rephrasing the request, or so.";
        let blocked = "⚠️  The model provider's safety filter blocked this\nrequest (not a Hermes/gateway failure).\n\nProvider message: HTTP 400: content_filter\n\nTry rephrasing it.";
        let table = [
            (own, Some(("Refusal", "I can't.", None))),
            (
                blocked,
                Some(("ApiError", "HTTP 400: content_filter", Some(400))),
            ),
            ("I can't help with that.", None),
            ("The model declined to respond to this request.", None),
        ];
        for (text, expected) in table {
            let error = refusal_of_text(text);
            let told = error.as_ref().map(|error| {
                (
                    error.name.as_str(),
                    error.message.as_str(),
                    error.status_code,
                )
            });
            assert_eq!(told, expected, "{text}");
            if let Some(error) = error {
                assert_eq!(error.family, Some(ErrorFamily::Refusal));
                assert!(!error.is_retryable);
            }
        }
        for line in [
            "⚠️ The model declined to respond to this request (safety refusal).",
            "❌ Provider safety filter blocked this request: HTTP 400: no",
        ] {
            let mut report = FailureReport::default();
            collect(|out| assert_eq!(report.take(line, out), ReportLine::Part));
            assert!(report.has_failed() && is_head(line) && is_refusal_line(line));
            assert_eq!(report.error(Some(own)).family, Some(ErrorFamily::Refusal));
            report.recover();
            assert!(!report.has_failed());
        }
    }
}
