//! Failures, from the gateway's own error fields only.

use runtape_core::{ErrorFamily, RunError};

use crate::failure::{api_error, error, network_error};

/// Returns the error of a run: what the gateway says of it, why it looked for another provider, and
/// the kind that it names.
pub(super) fn of_run(message: &str, reason: Option<&str>, kind: Option<&str>) -> RunError {
    let family = reason.and_then(family_of_reason);
    let Some(family) = family.or_else(|| kind.and_then(family_of_kind)) else {
        return of_message(message);
    };
    RunError {
        status_code: status_in(message),
        ..error("ApiError", message, family)
    }
}

/// Returns the family of a failure, from the gateway's reason to look for another provider.
fn family_of_reason(reason: &str) -> Option<ErrorFamily> {
    Some(match reason {
        "auth" | "auth_permanent" => ErrorFamily::Auth,
        "billing" => ErrorFamily::Billing,
        "rate_limit" => ErrorFamily::RateLimit,
        "server_error" | "overloaded" => ErrorFamily::Overload,
        "context_overflow" => ErrorFamily::ContextOverflow,
        "timeout" => ErrorFamily::Network,
        "model_not_found" => ErrorFamily::ModelNotFound,
        "session_expired" => ErrorFamily::UnknownSession,
        _ => return None,
    })
}

fn family_of_kind(kind: &str) -> Option<ErrorFamily> {
    Some(match kind {
        "refusal" => ErrorFamily::Refusal,
        "rate_limit" => ErrorFamily::RateLimit,
        "context_length" => ErrorFamily::ContextOverflow,
        "timeout" => ErrorFamily::Network,
        _ => return None,
    })
}

/// Returns the error that a message means.
fn of_message(message: &str) -> RunError {
    if let Some(status) = status_in(message) {
        return api_error(message, Some(status));
    }
    if let Some(error) = network_error(message) {
        return error;
    }
    // How the gateway begins what it says itself, before any model was asked.
    let family = if message.starts_with("No API key found") {
        ErrorFamily::Auth
    } else if message.starts_with("Unknown model") {
        ErrorFamily::ModelNotFound
    } else if message.starts_with("Context overflow") {
        ErrorFamily::ContextOverflow
    } else {
        ErrorFamily::Other
    };
    error("AgentError", message, family)
}

/// Returns the error of a request that was refused.
pub(super) fn of_request(code: &str, message: &str, retry_at: Option<i64>) -> RunError {
    let family = match code {
        "UNAVAILABLE" | "AGENT_TIMEOUT" => ErrorFamily::Overload,
        "NOT_LINKED" | "NOT_PAIRED" | "UNAUTHORIZED" => ErrorFamily::Auth,
        "SESSION_NOT_FOUND" => ErrorFamily::UnknownSession,
        _ if message.starts_with("session not found") => ErrorFamily::UnknownSession,
        _ => ErrorFamily::Other,
    };
    let name = if code.is_empty() {
        "RequestRefused"
    } else {
        code
    };
    RunError {
        retry_at,
        ..error(name, message, family)
    }
}

/// Returns the error of a run that was ended from outside.
pub(super) fn aborted(reason: Option<&str>) -> RunError {
    let message = match reason {
        Some(reason) => format!("the run was aborted: {reason}"),
        None => "the run was aborted".to_owned(),
    };
    error("Aborted", message, ErrorFamily::Other)
}

/// Finds `HTTP 429`, or a status that the message begins with, as in `429 Too Many Requests`.
fn status_in(message: &str) -> Option<u16> {
    let after = message.find("HTTP ").and_then(|at| message.get(at + 5..));
    let digits = after.unwrap_or(message).get(..3)?;
    let rest = after.unwrap_or(message).get(3..)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let ends = rest.is_empty() || rest.starts_with([' ', ':', ',', '.', ')']);
    let status = digits.parse().ok().filter(|_| is_number && ends)?;
    (400..600).contains(&status).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_family_that_the_gateway_names() {
        let table = [
            (
                "slow down",
                Some("rate_limit"),
                "ApiError",
                ErrorFamily::RateLimit,
            ),
            ("no", Some("refusal"), "ApiError", ErrorFamily::Refusal),
            (
                "too long",
                Some("context_length"),
                "ApiError",
                ErrorFamily::ContextOverflow,
            ),
            (
                "HTTP 401: bad key",
                Some("unknown"),
                "ApiError",
                ErrorFamily::Auth,
            ),
            ("529 overloaded", None, "ApiError", ErrorFamily::Overload),
            (
                "connect ECONNREFUSED 127.0.0.1",
                None,
                "NetworkError",
                ErrorFamily::Network,
            ),
            (
                "No API key found for provider x",
                None,
                "AgentError",
                ErrorFamily::Auth,
            ),
            (
                "5000 files were not found",
                None,
                "AgentError",
                ErrorFamily::Other,
            ),
            ("boom", None, "AgentError", ErrorFamily::Other),
        ];
        for (message, kind, name, family) in table {
            let error = of_run(message, None, kind);
            assert_eq!(
                (error.name.as_str(), error.family),
                (name, Some(family)),
                "{message}"
            );
        }
    }

    #[test]
    fn the_reason_to_look_for_another_provider_is_the_family() {
        let table = [
            ("auth", ErrorFamily::Auth),
            ("billing", ErrorFamily::Billing),
            ("server_error", ErrorFamily::Overload),
            ("timeout", ErrorFamily::Network),
        ];
        for (reason, family) in table {
            let error = of_run("failed (HTTP 500)", Some(reason), Some("unknown"));
            assert_eq!((error.family, error.status_code), (Some(family), Some(500)));
        }
        // A reason that says nothing of the kind of failure.
        let error = of_run("no answer", Some("format"), None);
        assert_eq!(error.family, Some(ErrorFamily::Other));
    }

    #[test]
    fn a_refused_request_is_named_by_its_code() {
        let error = of_request("UNAVAILABLE", "starting", Some(5));
        assert_eq!(error.name, "UNAVAILABLE");
        assert!(error.is_retryable);
        assert_eq!(error.retry_at, Some(5));
        let unknown = of_request("INVALID_REQUEST", "session not found: agent:a:b", None);
        assert_eq!(unknown.family, Some(ErrorFamily::UnknownSession));
    }
}
