//! Failures in the CLI's own words: on standard error, or in a result that reports one.

use runtape_core::{ErrorFamily, RunError};

use crate::failure::{error, network_error};
use crate::signal::{Outcome, Verdict};

/// What the CLI prints before it exits with code 1, without any event. The beginning of a line,
/// after `Error: ` if that is there.
const REFUSALS: &[(&str, &str, ErrorFamily)] = &[
    (
        "Authentication required",
        "AuthenticationRequired",
        ErrorFamily::Auth,
    ),
    ("Not logged in", "AuthenticationRequired", ErrorFamily::Auth),
    (
        "The provided API key is invalid",
        "InvalidApiKey",
        ErrorFamily::Auth,
    ),
    ("Invalid API key", "InvalidApiKey", ErrorFamily::Auth),
    (
        "Workspace Trust Required",
        "WorkspaceTrustRequired",
        ErrorFamily::Other,
    ),
    (
        "Cannot use this model",
        "CannotUseThisModel",
        ErrorFamily::ModelNotFound,
    ),
    (
        "You've hit your usage limit",
        "UsageLimit",
        ErrorFamily::RateLimit,
    ),
];

/// Codes of the service's protocol, as in `ConnectError: [resource_exhausted] Error`.
const CODES: &[(&str, ErrorFamily)] = &[
    ("[unauthenticated]", ErrorFamily::Auth),
    ("[permission_denied]", ErrorFamily::Auth),
    ("[resource_exhausted]", ErrorFamily::RateLimit),
    ("[unavailable]", ErrorFamily::Overload),
    ("[internal]", ErrorFamily::Overload),
    ("[deadline_exceeded]", ErrorFamily::Network),
];

/// Returns the error that the CLI means, if its words are known.
pub(super) fn classify(message: &str) -> Option<RunError> {
    let message = message.trim();
    let words = message.strip_prefix("Error: ").unwrap_or(message);
    if let Some((_, name, family)) = REFUSALS.iter().find(|(start, ..)| words.starts_with(start)) {
        return Some(error(name, message, *family));
    }
    if let Some((_, family)) = CODES.iter().find(|(code, _)| words.contains(code)) {
        return Some(error("ApiError", message, *family));
    }
    network_error(message)
}

/// What standard error says of a run that failed without a result.
#[derive(Debug, Default)]
pub(super) struct Diagnosis {
    error: Option<RunError>,
    is_refusal: bool,
}

impl Diagnosis {
    /// Reads a line of standard error. A refusal counts for more than trouble with the network
    /// before it, and otherwise the last word counts.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(error) = classify(line) {
            let is_refusal = !matches!(error.name.as_str(), "ApiError" | "NetworkError");
            if is_refusal || !self.is_refusal {
                self.is_refusal = is_refusal;
                self.error = Some(error);
            }
        }
    }

    /// Returns how the run ended, if that was said.
    pub(super) fn outcome(&mut self) -> Option<Outcome<'static>> {
        let error = self.error.take()?;
        Some(Outcome::of(Verdict::Error(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::parse;
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn the_words_of_the_cli_have_names_and_families() {
        let table = [
            (
                "Error: Authentication required. Run 'agent login', …",
                "AuthenticationRequired",
                "auth",
            ),
            (
                "Workspace Trust Required",
                "WorkspaceTrustRequired",
                "other",
            ),
            (
                "Cannot use this model: x. Available models: auto",
                "CannotUseThisModel",
                "modelNotFound",
            ),
            (
                "ConnectError: [resource_exhausted] Error",
                "ApiError",
                "rateLimit",
            ),
            ("S: [unavailable] upstream", "ApiError", "overload"),
            (
                "getaddrinfo ENOTFOUND api.example.com",
                "NetworkError",
                "network",
            ),
        ];
        for (line, name, family) in table {
            let error = classify(line).unwrap();
            assert_eq!(
                (error.name.as_str(), error.family.unwrap().as_str()),
                (name, family)
            );
            assert_eq!(error.message, line);
        }
        for line in [
            "(node:14293) ExperimentalWarning: 429",
            "the model said: Authentication required",
            "",
        ] {
            assert_eq!(classify(line), None, "{line}");
        }
    }

    #[test]
    fn a_failure_on_standard_error_alone_ends_the_run() {
        let stderr = "Workspace Trust Required\n\nPass --trust, --yolo, or -f\n";
        let told = parse("", stderr, &Exit::with_code(1));
        assert_eq!(
            told.verdict(),
            "WorkspaceTrustRequired: Workspace Trust Required"
        );
        assert_eq!(told.notices.len(), 2);
        // Unknown words, a signal and success are judged by the exit alone.
        assert_eq!(
            parse("", "Segmentation fault\n", &Exit::with_code(1)).verdict(),
            "none"
        );
        assert_eq!(
            parse("", stderr, &Exit::with_signal("SIGTERM")).verdict(),
            "none"
        );
        assert_eq!(parse("", stderr, &Exit::with_code(143)).verdict(), "none");
        assert_eq!(parse("", stderr, &Exit::with_code(0)).verdict(), "none");
        assert_eq!(
            parse("pong\n", stderr, &Exit::with_code(0)).verdict(),
            "success"
        );
        assert_eq!(
            parse("pong\n", stderr, &Exit::unknown()).verdict(),
            "success"
        );
    }

    #[test]
    fn a_refusal_counts_for_more_than_the_network() {
        let stderr = "read ECONNRESET\nError: Authentication required.\nread ECONNRESET\n";
        let told = parse("", stderr, &Exit::with_code(1));
        assert!(told.verdict().starts_with("AuthenticationRequired"));
    }
}
