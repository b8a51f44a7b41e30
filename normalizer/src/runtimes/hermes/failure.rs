//! What hermes reports of failed model requests, on either stream.

use runtape_core::runtime_event::{ApiRetry, Info, Warning};
use runtape_core::{ErrorFamily, RunError};

use super::refusal::{DECLINED, FILTERED, refusal, refusal_of_text, refusal_reason};
use super::session::seconds;
use crate::failure;
use crate::parser::SignalSink;
use crate::signal::Verdict;

/// The longest error text that is kept.
const MOST: usize = 4096;

/// What hermes prints where the answer would be when the model said nothing.
pub(super) const NO_REPLY: &str = "⚠️ No reply: ";

/// Why a run failed or had to stop, as far as it was reported.
#[derive(Debug, Default)]
pub(super) struct FailureReport {
    /// The HTTP status of the last failed request.
    status: Option<u16>,
    /// The kind of the last failure, in Python's words.
    kind: Option<String>,
    /// What the last failed request said.
    error: Option<String>,
    /// What ended the run.
    fatal: Option<String>,
    cause: FatalCause,
    /// The turn limit was reached.
    limit: Option<String>,
    /// The model was asked for a closing summary because of it.
    summary_asked: bool,
    model: Option<String>,
    /// A response was cut by the token limit.
    truncated: bool,
}

/// What ended a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FatalCause {
    #[default]
    Request,
    /// The model answered with nothing until it was given up.
    NothingSaid,
    /// The model, or its provider's filter, refused.
    Refusal,
}

/// What a line of a report was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportLine {
    /// Nothing of a report.
    Nothing,
    /// A part of a report.
    Part,
}

impl FailureReport {
    /// Tells whether the run has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.fatal.is_some()
    }

    /// Tells whether it failed because the model said nothing.
    pub(super) fn was_empty(&self) -> bool {
        self.fatal.is_some() && self.cause == FatalCause::NothingSaid
    }

    /// Returns the model that a failed request named, once.
    pub(super) fn take_model(&mut self) -> Option<String> {
        self.model.take()
    }

    /// Tells, once, that a response was cut by the token limit.
    pub(super) fn take_truncated(&mut self) -> bool {
        std::mem::take(&mut self.truncated)
    }

    /// Forgets a failure because the run went on.
    pub(super) fn recover(&mut self) {
        if self.fatal.is_some() {
            self.fatal = None;
            self.cause = FatalCause::Request;
        }
    }

    /// Takes a line, if it is one of a report.
    pub(super) fn take(&mut self, line: &str, out: &mut SignalSink<'_>) -> ReportLine {
        match line.chars().next() {
            Some(' ') => self.take_detail(line),
            Some('⚠' | '⏳' | '⏱' | '❌' | '🧾') => self.take_head(line, out),
            _ => ReportLine::Nothing,
        }
    }

    fn take_head(&mut self, line: &str, out: &mut SignalSink<'_>) -> ReportLine {
        // The emoji may or may not have a variation selector, and one space or two.
        let (emoji, text) = line.split_once(' ').unwrap_or((line, ""));
        let text = text.trim_start();
        match emoji.trim_end_matches('\u{fe0f}') {
            "⚠" if text.starts_with("API call failed (attempt ") => self.on_failed_call(text),
            "⚠" if is_limit(text) => {
                self.limit.get_or_insert_with(|| shorten(text));
                self.summary_asked |= !text.starts_with(BUDGET_REACHED);
                out.event(Warning {
                    message: text.to_owned(),
                });
            }
            "⚠" if text == DECLINED => {
                self.fatal = Some(text.to_owned());
                self.cause = FatalCause::Refusal;
            }
            "⚠" if text.starts_with("Empty response from model") => {
                let retry = ApiRetry {
                    reason: Some(text.to_owned()),
                    ..retry_of(text)
                };
                out.event(retry);
            }
            "⚠" => {
                self.truncated = text.starts_with(TRUNCATED);
                let message = text.to_owned();
                out.event(Warning { message });
            }
            "⏳" if text.starts_with("Retrying in ") => self.on_wait(text, "Retrying in ", out),
            "⏱" if text.starts_with("Rate limited. Waiting ") => {
                self.on_wait(text, "Rate limited. Waiting ", out);
            }
            "❌" => self.on_fatal(text),
            "🧾" => {
                let topic = Some("debugDump".to_owned());
                out.event(Info {
                    topic,
                    message: text.to_owned(),
                });
            }
            _ => return ReportLine::Nothing,
        }
        ReportLine::Part
    }

    fn take_detail(&mut self, line: &str) -> ReportLine {
        let text = line.trim_start();
        match line.len() - text.len() {
            6 if text.starts_with("• ") => return ReportLine::Part,
            // A command that such a line proposes.
            8 if self.has_failed() && text.starts_with("hermes ") => return ReportLine::Part,
            _ => {}
        }
        if line.len() - text.len() != 3 {
            return ReportLine::Nothing;
        }
        let (emoji, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim_start();
        match emoji.trim_end_matches('\u{fe0f}') {
            "📝" => {
                if let Some(error) = rest.strip_prefix("Error: ") {
                    self.error = Some(shorten(error));
                    self.status = status_in(error).or(self.status);
                }
            }
            "💀" => {
                if let Some(error) = rest.strip_prefix("Final error: ") {
                    self.error = Some(shorten(error));
                    self.status = status_in(error).or(self.status);
                }
            }
            "🔌" => {
                if let Some((_, model)) = rest.split_once("  Model: ") {
                    self.model = Some(shorten(model.trim()));
                }
            }
            "🌐" | "📋" | "⏱" | "💡" => {}
            _ => return ReportLine::Nothing,
        }
        ReportLine::Part
    }

    /// `API call failed (attempt 1/3): RateLimitError [HTTP 429]`
    fn on_failed_call(&mut self, text: &str) {
        self.status = status_in(text);
        let kind = text.split_once("): ").map(|(_, kind)| kind);
        let kind = kind.map(|kind| kind.split(' ').next().unwrap_or(kind));
        self.kind = kind.map(shorten);
        self.error = None;
    }

    /// `Retrying in 2.6s (attempt 1/3)...`
    fn on_wait(&self, text: &str, lead: &str, out: &mut SignalSink<'_>) {
        let wait = text
            .strip_prefix(lead)
            .and_then(|rest| rest.split(' ').next());
        let retry = ApiRetry {
            delay_ms: wait.and_then(seconds),
            status_code: self.status,
            reason: self.error.clone().or_else(|| self.kind.clone()),
            ..retry_of(text)
        };
        out.event(retry);
    }

    fn on_fatal(&mut self, text: &str) {
        self.status = status_in(text).or(self.status);
        if text.starts_with(FILTERED) {
            self.cause = FatalCause::Refusal;
        } else if text.starts_with("Model returned no content") {
            self.cause = FatalCause::NothingSaid;
        } else if self.cause == FatalCause::NothingSaid {
            self.cause = FatalCause::Request;
        }
        self.fatal = Some(shorten(text));
    }

    /// Returns the error that ended the run; `text` is what was printed in the answer's place.
    pub(super) fn error(&self, text: Option<&str>) -> RunError {
        let fatal = self.fatal.as_deref();
        let message = if self.cause == FatalCause::NothingSaid {
            fatal
        } else {
            self.error.as_deref().or(text).or(fatal)
        };
        let message = message.unwrap_or_default().to_owned();
        if self.cause == FatalCause::Refusal {
            let said = text.and_then(refusal_reason);
            return refusal(said.as_deref().unwrap_or(&message), self.status);
        }
        if self.cause == FatalCause::NothingSaid {
            return failure::error("EmptyResponse", message, ErrorFamily::Other);
        }
        if fatal.is_some_and(|text| text.starts_with(CONTEXT_EXCEEDED)) {
            return failure::error("ApiError", message, ErrorFamily::ContextOverflow);
        }
        let mut error = failure::api_error(message, self.status);
        if self.status.is_none() {
            let family = self
                .kind
                .as_deref()
                .map_or(ErrorFamily::Other, family_of_kind);
            error.family = Some(family);
            error.is_retryable = failure::is_retryable(family);
        }
        error
    }

    /// Tells whether a text is what hermes prints of this failure where the answer would be.
    pub(super) fn is_told_by(&self, text: &str) -> bool {
        let told = self
            .error
            .as_deref()
            .is_some_and(|error| text.contains(error));
        self.has_failed() && (told || looks_like_failure(text) || text.starts_with(NO_REPLY))
    }

    /// Returns the verdict for a reached turn limit.
    ///
    /// 0.16 says that the budget is reached also when the model finished in its last turn: then an
    /// answer is there that was not asked for, and the limit ended nothing.
    pub(super) fn limit_verdict(&self, has_answer: bool) -> Option<Verdict> {
        if has_answer && !self.summary_asked {
            return None;
        }
        let message = self.limit.clone()?;
        let error = failure::error("MaxIterations", message, ErrorFamily::TurnLimit);
        Some(Verdict::TurnLimit(error))
    }
}

/// What is said of the turn limit also where nothing was left to do.
const BUDGET_REACHED: &str = "Iteration budget reached (";

/// What is said of a response that the token limit cut.
const TRUNCATED: &str = "Response truncated (finish_reason=";

/// What is said where the conversation is too long for the model.
const CONTEXT_EXCEEDED: &str = "Context length exceeded";

/// Tells whether a line is one that only a report begins with.
///
/// In the output of the library an answer may begin with the same marks.
pub(super) fn is_head(line: &str) -> bool {
    let Some((emoji, text)) = line.split_once(' ') else {
        return false;
    };
    let text = text.trim_start();
    let starts: &[&str] = match emoji.trim_end_matches('\u{fe0f}') {
        "⚠" => &[
            "API call failed (attempt ",
            "Non-retryable error (HTTP ",
            TRUNCATED,
            "Stream interrupted by network error",
            "Empty response from model",
            "Iteration budget exhausted (",
            "Reached maximum iterations (",
            BUDGET_REACHED,
            CONTEXT_EXCEEDED,
            DECLINED,
        ],
        "⏳" => &["Retrying in "],
        "⏱" => &["Rate limited. Waiting "],
        "❌" => &[
            "Non-retryable error (HTTP ",
            "Non-retryable client error (HTTP ",
            "Rate limited after ",
            "API failed after ",
            "Model returned no content",
            CONTEXT_EXCEEDED,
            FILTERED,
        ],
        "🧾" => &["Request debug dump written to: "],
        _ => return false,
    };
    starts.iter().any(|start| text.starts_with(start))
}

/// Tells whether a warning says that the turn limit was reached.
fn is_limit(text: &str) -> bool {
    [
        "Iteration budget exhausted (",
        "Reached maximum iterations (",
        BUDGET_REACHED,
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

/// Returns the error of a text that hermes printed where the answer would be.
pub(super) fn error_of_text(text: &str) -> RunError {
    if text.trim() == "No previous CLI session found to continue." {
        return unknown_session(text.trim());
    }
    if let Some(error) = refusal_of_text(text) {
        return error;
    }
    if text.starts_with(CONTEXT_EXCEEDED) {
        return failure::error("ApiError", shorten(text), ErrorFamily::ContextOverflow);
    }
    match status_in(text) {
        Some(status) => failure::api_error(shorten(text), Some(status)),
        None if looks_like_failure(text) => failure::api_error(shorten(text), None),
        None => failure::error("NonZeroExit", shorten(text), ErrorFamily::Process),
    }
}

/// Tells whether a text has the form in which hermes prints the failure of a model request.
pub(super) fn looks_like_failure(text: &str) -> bool {
    let http = text.strip_prefix("HTTP ").and_then(|rest| rest.get(..5));
    let http = http
        .is_some_and(|code| status_in(&format!("HTTP {code}")).is_some() && code.ends_with(": "));
    http || text.starts_with("API call failed after ")
        || text.starts_with("Error: Error code: ")
        || text.starts_with("Context length exceeded (")
        || refusal_reason(text).is_some()
}

/// Creates the error for a session that does not exist.
pub(super) fn unknown_session(message: &str) -> RunError {
    failure::error(
        "SessionNotFound",
        shorten(message),
        ErrorFamily::UnknownSession,
    )
}

fn family_of_kind(kind: &str) -> ErrorFamily {
    match kind {
        "RateLimitError" => ErrorFamily::RateLimit,
        "AuthenticationError" | "PermissionDeniedError" => ErrorFamily::Auth,
        "NotFoundError" => ErrorFamily::ModelNotFound,
        "InternalServerError" => ErrorFamily::Overload,
        kind if kind.contains("Connect") || kind.contains("Timeout") => ErrorFamily::Network,
        kind if kind.contains("Protocol") || kind == "ReadError" => ErrorFamily::Network,
        _ => ErrorFamily::Other,
    }
}

/// Reads the status after the first `HTTP ` or `Error code: `.
pub(super) fn status_in(text: &str) -> Option<u16> {
    let after = |lead: &str| text.split_once(lead).map(|(_, rest)| rest);
    let rest = after("HTTP ").or_else(|| after("Error code: "))?;
    let code = rest.get(..3)?;
    let ends = !rest
        .get(3..4)
        .is_some_and(|next| next.bytes().all(|byte| byte.is_ascii_digit()));
    code.parse()
        .ok()
        .filter(|status| ends && (100..600).contains(status))
}

/// Reads `(attempt 1/3)` or `(1/3)`.
fn retry_of(text: &str) -> ApiRetry {
    let numbers = text
        .rsplit_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    let numbers = numbers.and_then(|(numbers, _)| {
        numbers
            .strip_prefix("attempt ")
            .unwrap_or(numbers)
            .split_once('/')
    });
    ApiRetry {
        attempt: numbers.and_then(|(attempt, _)| attempt.parse().ok()),
        max_attempts: numbers.and_then(|(_, most)| most.parse().ok()),
        delay_ms: None,
        status_code: None,
        reason: None,
    }
}

pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((at, _)) => text.get(..at).unwrap_or_default().to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::collect;

    fn reported(lines: &[&str]) -> (FailureReport, Vec<String>) {
        let mut report = FailureReport::default();
        let signals = collect(|out| {
            for line in lines {
                assert_eq!(report.take(line, out), ReportLine::Part, "{line}");
            }
        });
        (report, signals)
    }

    #[test]
    fn a_refused_request_is_an_api_error() {
        let (mut report, signals) = reported(&[
            "⚠️  API call failed (attempt 1/3): AuthenticationError [HTTP 401]",
            "   🔌 Provider: custom  Model: fake-model",
            "   🌐 Endpoint: http://127.0.0.1:8399/v1",
            "   📝 Error: HTTP 401: Incorrect API key provided: dummy.",
            "   ⏱️  Elapsed: 0.77s  Context: 2 msgs, ~1,701 tokens",
            "❌ Non-retryable error (HTTP 401): HTTP 401: Incorrect API key provided: dummy.",
            "   💡 Your API key was rejected by the provider. Check:",
            "      • Is the key valid? Run: hermes setup",
        ]);
        assert!(report.has_failed() && signals.is_empty());
        assert_eq!(report.take_model().as_deref(), Some("fake-model"));
        let error = report.error(Some("wrapped\ntext"));
        assert_eq!(
            (error.name.as_str(), error.status_code),
            ("ApiError", Some(401))
        );
        assert_eq!(error.family, Some(ErrorFamily::Auth));
        assert_eq!(
            error.message,
            "HTTP 401: Incorrect API key provided: dummy."
        );
    }

    #[test]
    fn waits_are_retries() {
        let (report, signals) = reported(&[
            "⚠️  API call failed (attempt 1/3): APIConnectionError",
            "⏳ Retrying in 2.6s (attempt 1/3)...",
            "⏱️ Rate limited. Waiting 1.0s (attempt 2/3)...",
            "⚠️ Empty response from model — retrying (1/3)",
        ]);
        assert!(!report.has_failed());
        assert_eq!(signals.len(), 3);
        assert!(signals[0].contains("delay_ms: Some(2600)"), "{signals:?}");
        assert!(
            signals[1].contains("attempt: Some(2), max_attempts: Some(3)"),
            "{signals:?}"
        );
        assert!(signals[2].contains("attempt: Some(1)"), "{signals:?}");
    }

    #[test]
    fn a_turn_limit_is_no_failure() {
        let (report, _) = reported(&["⚠️  Reached maximum iterations (2). Requesting summary..."]);
        assert!(!report.has_failed());
        let Some(Verdict::TurnLimit(error)) = report.limit_verdict(true) else {
            panic!("a limit")
        };
        assert_eq!(error.family, Some(ErrorFamily::TurnLimit));
    }

    #[test]
    fn a_budget_that_was_just_enough_is_no_limit() {
        let reached = "⚠ Iteration budget reached (2/2) — response may be incomplete";
        let asked = "⚠️ Iteration budget exhausted (2/2) — asking model to summarise";
        let table: [(&[&str], bool, bool); 4] = [
            (&[reached], true, false),
            (&[reached], false, true),
            (&[asked, reached], true, true),
            (&[asked], false, true),
        ];
        for (lines, has_answer, is_limit) in table {
            let (report, signals) = reported(lines);
            let verdict = report.limit_verdict(has_answer);
            assert_eq!(verdict.is_some(), is_limit, "{lines:?} {has_answer}");
            assert_eq!(signals.len(), lines.len(), "each is a warning");
        }
    }

    #[test]
    fn a_conversation_that_does_not_fit_is_told_without_a_status() {
        let (report, _) = reported(&[
            "⚠️  Context length exceeded — compressing",
            "❌ Context length exceeded and cannot compress further.",
        ]);
        let text = "Context length exceeded (9,000 tokens). Cannot compress further.";
        let error = report.error(Some(text));
        assert_eq!(error.family, Some(ErrorFamily::ContextOverflow));
        assert_eq!(error.message, text);
        assert_eq!(error_of_text(text).family, error.family);
    }

    #[test]
    fn only_known_lines_begin_a_report_in_the_library() {
        for line in [
            "⚠️  API call failed (attempt 1/3): APIConnectionError",
            "❌ API failed after 3 retries — no",
            "⚠ Iteration budget reached (2/2) — response may be incomplete",
            "🧾 Request debug dump written to: /tmp/x",
        ] {
            assert!(is_head(line), "{line}");
        }
        for line in ["⚠️ Take care.", "❌ No, that is wrong.", "⏳", "⚠️"] {
            assert!(!is_head(line), "{line}");
        }
    }

    #[test]
    fn texts_in_the_answers_place_are_classified_by_their_status() {
        let table = [
            ("HTTP 429: slow down", "ApiError", ErrorFamily::RateLimit),
            (
                "API call failed after 3 retries: HTTP 500: no",
                "ApiError",
                ErrorFamily::Overload,
            ),
            (
                "API call failed after 3 retries: gone",
                "ApiError",
                ErrorFamily::Other,
            ),
            ("Error code: 401 - {}", "ApiError", ErrorFamily::Auth),
            (
                "No previous CLI session found to continue.",
                "SessionNotFound",
                ErrorFamily::UnknownSession,
            ),
            ("I broke", "NonZeroExit", ErrorFamily::Process),
            ("HTTP 4291", "NonZeroExit", ErrorFamily::Process),
        ];
        for (text, name, family) in table {
            let error = error_of_text(text);
            assert_eq!(
                (error.name.as_str(), error.family),
                (name, Some(family)),
                "{text}"
            );
        }
        assert!(looks_like_failure("HTTP 400: messages.3: invalid content"));
        assert!(!looks_like_failure("HTTP 400 means that"));
        assert!(!looks_like_failure("HTTP é"));
    }
}
