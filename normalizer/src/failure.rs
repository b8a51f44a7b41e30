//! Errors that several runtimes report in the same way.

use runtape_core::{ErrorFamily, RunError};

/// Returns what kind of failure an HTTP status of a model's API is.
#[must_use]
pub fn family_of_status(status: u16) -> ErrorFamily {
    match status {
        401 | 403 => ErrorFamily::Auth,
        402 => ErrorFamily::Billing,
        404 => ErrorFamily::ModelNotFound,
        413 => ErrorFamily::ContextOverflow,
        429 => ErrorFamily::RateLimit,
        408 | 500..=599 => ErrorFamily::Overload,
        _ => ErrorFamily::Other,
    }
}

/// Codes that Node programs print of a network that failed.
const NETWORK_CODES: &[&str] = &[
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
];

/// Creates the error for a network that failed, if a message of an error channel names its code.
#[must_use]
pub fn network_error(message: &str) -> Option<RunError> {
    let is_network = NETWORK_CODES.iter().any(|code| message.contains(code));
    is_network.then(|| error("NetworkError", message, ErrorFamily::Network))
}

/// Tells whether the same run may succeed later, for a kind of failure.
#[must_use]
pub fn is_retryable(family: ErrorFamily) -> bool {
    matches!(
        family,
        ErrorFamily::RateLimit | ErrorFamily::Overload | ErrorFamily::Network
    )
}

/// Creates an error of a family; whether it is retryable follows from that.
#[must_use]
pub fn error(name: &str, message: impl Into<String>, family: ErrorFamily) -> RunError {
    RunError {
        name: name.to_owned(),
        message: message.into(),
        status_code: None,
        is_retryable: is_retryable(family),
        family: Some(family),
        retry_at: None,
    }
}

/// Creates the error for a refusal of the model's API with an HTTP status.
#[must_use]
pub fn api_error(message: impl Into<String>, status: Option<u16>) -> RunError {
    let family = status.map_or(ErrorFamily::Other, family_of_status);
    RunError {
        status_code: status,
        ..error("ApiError", message, family)
    }
}
