//! Errors as `application/problem+json`, in the words of the command line.

use axum::http::StatusCode;
use runtape_core::CoreError;
use runtape_recorder::RecordError;
use runtape_store::{DatabaseFault, StoreError};
use serde::Serialize;

/// Why a request is not answered (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    /// What kind of problem in general: the words of the status.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What is wrong with this request.
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
        }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// There is nothing of this name: `record 7 of run r` and the like.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} not found"))
    }

    pub(crate) fn unknown_run(text: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("no run {text:?}"))
    }

    pub(crate) fn forbidden(detail: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    pub(crate) fn busy(detail: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    #[cfg(test)]
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::UnknownRun { run } => Self::unknown_run(run),
            StoreError::BadPageMark { .. } | StoreError::BadHead { .. } => {
                Self::bad_request(error.to_string())
            }
            StoreError::Database {
                fault: DatabaseFault::Busy,
                ..
            }
            | StoreError::Gone { .. } => Self::busy(&error.to_string()),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

impl From<RecordError> for Problem {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Store(error) => error.into(),
            other => Self::new(StatusCode::INTERNAL_SERVER_ERROR, other.to_string()),
        }
    }
}

impl From<CoreError> for Problem {
    fn from(error: CoreError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        let detail = format!("failed to write JSON: {error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }
}
