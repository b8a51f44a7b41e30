//! What went wrong, from what the CLI says of it and from its exit code.
//!
//! Only error objects, error lines and the exit code come here. The model's words and the output of
//! tools never do, so that prose about quotas decides nothing.

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use crate::failure::{error, family_of_status, is_retryable};
use crate::json::is_too_much;
use crate::signal::Verdict;

const TURN_LIMIT: &str = "FatalTurnLimitedError";

/// The words of older versions for a turn limit.
const TURN_LIMIT_WORDS: &[&str] = &[
    "turn_limit",
    "max_turns",
    "max_turns_exhausted",
    "turn_limit_exhausted",
];

/// The CLI's exit code for a run that the user cancelled.
const CANCELLED: u16 = 130;

/// The CLI's name for it.
const CANCELLATION: &str = "FatalCancellationError";

/// An error as the CLI stated it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// Its type, in the CLI's words.
    pub(super) kind: Option<String>,
    /// Its message.
    pub(super) message: String,
    /// The HTTP status of the API, or an exit code of the CLI.
    pub(super) code: Option<u16>,
    /// When it was stated, in milliseconds since 1970.
    pub(super) at: i64,
}

impl Stated {
    /// Tells whether a word of a result stands for a turn limit.
    pub(super) fn is_turn_limit_word(word: &str) -> bool {
        word == TURN_LIMIT || TURN_LIMIT_WORDS.contains(&word)
    }

    /// Tells whether the turn limit was reached.
    pub(super) fn is_turn_limit(&self) -> bool {
        self.code == Some(53) || self.kind.as_deref().is_some_and(Self::is_turn_limit_word)
    }

    /// Judges the error, with the exit code where it is known.
    ///
    /// In the JSON formats the exit code is the HTTP status modulo 256, and for a 429 in stream-json
    /// that is the only place with the status (0.61.0).
    pub(super) fn verdict(&self, exit_code: Option<i32>) -> Verdict {
        let kind = self
            .kind
            .as_deref()
            .filter(|kind| !matches!(*kind, "" | "unknown"));
        if self.is_turn_limit() {
            let name = kind.unwrap_or(TURN_LIMIT);
            let message = self.message.as_str();
            return Verdict::TurnLimit(error(name, message, ErrorFamily::TurnLimit));
        }
        if self.code == Some(CANCELLED) || kind == Some(CANCELLATION) {
            let name = kind.unwrap_or(CANCELLATION);
            let message = self.message.as_str();
            return Verdict::Interrupted(error(name, message, ErrorFamily::Process));
        }
        let inner = inner_error(&self.message);
        let status = self
            .code
            .filter(|code| (400..600).contains(code))
            .or(inner.status)
            .or_else(|| says_not_found(&self.message).then_some(404));
        let is_api = self.message.starts_with("[API Error") || status.is_some();
        let status = status.or_else(|| status_of_exit(exit_code.filter(|_| is_api)?));
        let name = if is_api {
            "ApiError"
        } else {
            kind.unwrap_or("Error")
        };
        let family = self.family(status, is_api);
        let is_retryable = is_retryable(family);
        let delay = inner.retry_delay.or_else(|| suggested_delay(&self.message));
        Verdict::Error(RunError {
            name: name.to_owned(),
            message: self.message.clone(),
            status_code: status,
            is_retryable,
            family: Some(family),
            retry_at: delay
                .filter(|_| is_retryable)
                .map(|delay| self.at.saturating_add(delay)),
        })
    }

    fn family(&self, status: Option<u16>, is_api: bool) -> ErrorFamily {
        let says = |words: &[&str]| words.iter().any(|word| self.message.contains(word));
        match status {
            // The API answers 400 to a bad key and to a prompt that is too long.
            Some(400 | 403) | None if says(BAD_KEY) => ErrorFamily::Auth,
            Some(400) | None if says(TOO_LONG) => ErrorFamily::ContextOverflow,
            Some(403) if says(UNPAID) => ErrorFamily::Billing,
            Some(status) => family_of_status(status),
            None if self.code == Some(41) => ErrorFamily::Auth,
            None if says(NETWORK) => ErrorFamily::Network,
            None if is_api && says(EXHAUSTED) => ErrorFamily::RateLimit,
            None => ErrorFamily::Other,
        }
    }
}

const BAD_KEY: &[&str] = &["API key not valid", "API_KEY_INVALID", "API key expired"];
const TOO_LONG: &[&str] = &[
    "exceeds the maximum number of tokens",
    "input token count exceeds",
];
const UNPAID: &[&str] = &["billing to be enabled", "BILLING_DISABLED"];
const EXHAUSTED: &[&str] = &["exhausted", "quota", "rate limit"];
const NETWORK: &[&str] = &[
    "fetch failed",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "socket hang up",
];

/// A missing model ends with exit 1 and without its status (0.61.0), but in the API's words.
fn says_not_found(message: &str) -> bool {
    message.contains("is not found for API version")
        || message.contains("Requested entity was not found")
}

/// What the API's own error object, quoted in a message, says.
#[derive(Default)]
struct Inner {
    status: Option<u16>,
    retry_delay: Option<i64>,
}

fn inner_error(message: &str) -> Inner {
    let (Some(start), Some(end)) = (message.find('{'), message.rfind('}')) else {
        return Inner::default();
    };
    let object = message.get(start..=end).unwrap_or_default();
    if is_too_much(object.as_bytes()) {
        return Inner::default();
    }
    let Ok(value) = serde_json::from_str::<Value>(object) else {
        return Inner::default();
    };
    let inner = value.get("error").unwrap_or(&value);
    let code = inner
        .get("code")
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    let details = inner
        .get("details")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut delays = details.filter_map(|detail| detail.get("retryDelay")?.as_str());
    Inner {
        status: code.filter(|code| (400..600).contains(code)),
        retry_delay: delays.next().and_then(duration_millis),
    }
}

/// Returns the wait that a message suggests, in milliseconds.
fn suggested_delay(message: &str) -> Option<i64> {
    ["retry after ", "retry in ", "reset after "]
        .iter()
        .find_map(|phrase| {
            let (_, rest) = message.split_once(phrase)?;
            duration_millis(rest)
        })
}

/// Reads a duration such as `1s`, `34.07s`, `500ms` or `3h20m12s` at the start of a text.
fn duration_millis(text: &str) -> Option<i64> {
    let mut total = 0.0;
    let mut rest = text;
    let mut found = false;
    loop {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let number = number.trim_end_matches('.').parse::<f64>().ok();
        let units = [
            ("ms", 1.0),
            ("s", 1e3),
            ("m", 60e3),
            ("h", 3600e3),
            ("d", 86_400e3),
        ];
        let unit = units
            .iter()
            .find_map(|(unit, size)| Some((tail.strip_prefix(unit)?, size)));
        let (Some(number), Some((tail, size))) = (number, unit) else {
            break;
        };
        total += number * size;
        rest = tail;
        found = true;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a duration out of range saturates"
    )]
    found.then_some(total.ceil() as i64)
}

/// Returns the HTTP status that an exit code stands for: the CLI exits with it, modulo 256.
///
/// Codes of statuses that no API sends are left alone; 255 is what many programs exit with.
pub(super) fn status_of_exit(code: i32) -> Option<u16> {
    let status = u16::try_from(code).ok()?.checked_add(256)?;
    matches!(status, 400..=431 | 451 | 499..=510).then_some(status)
}

/// What is known for an error that only the exit code tells.
pub(super) struct ExitEvidence<'a> {
    /// The last words on standard error.
    pub(super) last_words: &'a str,
    /// Whether a session was to be resumed, and which.
    pub(super) resume: &'a Resume,
    /// Whether anything was on standard output: login and session are looked at before that.
    pub(super) has_begun: bool,
}

/// Whether the command line asks for an earlier session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resume {
    /// The command line is not known.
    Unknown,
    /// It does not.
    No,
    /// It does, for this one if it names one.
    Yes(Option<String>),
}

impl ExitEvidence<'_> {
    /// Judges a run without a result by its exit code, where that says more than that it failed.
    pub(super) fn verdict(&self, code: i32) -> Option<Verdict> {
        let message = |fallback: &str| match self.last_words {
            "" => fallback.to_owned(),
            words => words.to_owned(),
        };
        let family = match (code, self.resume) {
            (53, _) => {
                let message = message("reached the turn limit");
                return Some(Verdict::TurnLimit(error(
                    TURN_LIMIT,
                    message,
                    ErrorFamily::TurnLimit,
                )));
            }
            (41, _) if !self.has_begun => ErrorFamily::Auth,
            (42, Resume::Unknown | Resume::Yes(_)) if !self.has_begun => {
                ErrorFamily::UnknownSession
            }
            _ => {
                let status = status_of_exit(code)?;
                let stated = Stated {
                    message: message("the model's API refused the request"),
                    code: Some(status),
                    ..Stated::default()
                };
                return Some(stated.verdict(None));
            }
        };
        let mut message = message(&format!("exited with code {code}"));
        if let (42, Resume::Yes(Some(session))) = (code, self.resume)
            && !message.contains(session.as_str())
        {
            message = format!("{message} (session {session})");
        }
        Some(Verdict::Error(error("NonZeroExit", message, family)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(kind: &str, message: &str) -> Stated {
        Stated {
            kind: Some(kind.to_owned()),
            message: message.to_owned(),
            code: None,
            at: 1000,
        }
    }

    fn judged(
        stated: &Stated,
        exit: Option<i32>,
    ) -> (String, Option<u16>, &'static str, Option<i64>) {
        match stated.verdict(exit) {
            Verdict::Error(error) | Verdict::TurnLimit(error) | Verdict::Interrupted(error) => {
                let family = error.family.unwrap().as_str();
                assert_eq!(error.message, stated.message);
                (error.name, error.status_code, family, error.retry_at)
            }
            Verdict::Success => panic!("an error is no success"),
        }
    }

    #[test]
    fn api_errors_have_their_status_and_family() {
        let table = [
            (
                r#"[API Error: {"error":{"code":401,"message":"no","status":"UNAUTHENTICATED"}}]"#,
                Some(145),
                (Some(401), "auth", None),
            ),
            (
                "[API Error: Resource has been exhausted (e.g. check quota).\nSuggested retry after 1s.]\nPlease wait",
                Some(173),
                (Some(429), "rateLimit", Some(2000)),
            ),
            (
                "[API Error: Resource has been exhausted.]",
                None,
                (None, "rateLimit", None),
            ),
            (
                r#"[API Error: {"error":{"code":500,"message":"An internal error has occurred."}}]"#,
                Some(244),
                (Some(500), "overload", None),
            ),
            (
                "[API Error: models/x is not found for API version v1beta.]",
                Some(1),
                (Some(404), "modelNotFound", None),
            ),
            (
                r#"[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]"#,
                Some(144),
                (Some(400), "auth", None),
            ),
            (
                "[API Error: The input token count (9) exceeds the maximum number of tokens allowed (8).]",
                Some(144),
                (Some(400), "contextOverflow", None),
            ),
            (
                "[API Error: exception TypeError: fetch failed sending request]",
                Some(1),
                (None, "network", None),
            ),
            ("[API Error: something]", Some(1), (None, "other", None)),
        ];
        for (message, exit, (status, family, retry_at)) in table {
            let expected = ("ApiError".to_owned(), status, family, retry_at);
            assert_eq!(
                judged(&stated("unknown", message), exit),
                expected,
                "{message}"
            );
        }
    }

    #[test]
    fn errors_of_the_cli_keep_their_name() {
        let limit = stated("FatalTurnLimitedError", "Reached max session turns");
        assert!(matches!(limit.verdict(Some(53)), Verdict::TurnLimit(_)));
        assert_eq!(
            judged(&limit, None),
            ("FatalTurnLimitedError".to_owned(), None, "turnLimit", None)
        );
        let empty = stated("INVALID_STREAM", "The model returned an empty response");
        assert_eq!(
            judged(&empty, Some(0)),
            ("INVALID_STREAM".to_owned(), None, "other", None)
        );
        let login = Stated {
            code: Some(41),
            ..stated("Error", "you must specify the GEMINI_API_KEY")
        };
        assert_eq!(
            judged(&login, Some(41)),
            ("Error".to_owned(), None, "auth", None)
        );
        // An exit code says nothing of the API if the error is not the API's.
        assert_eq!(judged(&empty, Some(173)).1, None);
    }

    #[test]
    fn durations_are_read_as_they_are_written() {
        let table = [
            ("1s", Some(1000)),
            ("1s.. more", Some(1000)),
            ("34.074824224s.", Some(34075)),
            ("500ms", Some(500)),
            ("3h20m12s", Some(12_012_000)),
            ("soon", None),
            ("5", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(duration_millis(text), expected, "{text}");
        }
    }

    #[test]
    fn an_exit_code_may_be_a_status() {
        let table = [
            (144, Some(400)),
            (173, Some(429)),
            (244, Some(500)),
            (255, None),
            (1, None),
            (137, None),
            (-1, None),
        ];
        for (code, status) in table {
            assert_eq!(status_of_exit(code), status, "{code}");
        }
    }

    #[test]
    fn an_exit_code_alone_tells_login_session_and_turn_limit() {
        let ending = |resume, code| {
            ExitEvidence {
                last_words: "last words",
                resume: &resume,
                has_begun: false,
            }
            .verdict(code)
            .map(|verdict| match verdict {
                Verdict::Error(error) | Verdict::TurnLimit(error) | Verdict::Interrupted(error) => {
                    (error.name, error.message, error.family.unwrap().as_str())
                }
                Verdict::Success => panic!("an error is no success"),
            })
        };
        let some =
            |name: &str, message: &str, family| Some((name.to_owned(), message.to_owned(), family));
        assert_eq!(
            ending(Resume::No, 41),
            some("NonZeroExit", "last words", "auth")
        );
        let asked = Resume::Yes(Some("abc-1".to_owned()));
        assert_eq!(
            ending(asked, 42),
            some(
                "NonZeroExit",
                "last words (session abc-1)",
                "unknownSession"
            )
        );
        assert_eq!(ending(Resume::No, 42), None);
        assert_eq!(
            ending(Resume::No, 53),
            some("FatalTurnLimitedError", "last words", "turnLimit")
        );
        assert_eq!(
            ending(Resume::No, 173),
            some("ApiError", "last words", "rateLimit")
        );
        assert_eq!(ending(Resume::No, 1), None);
    }
}
