//! Answers: JSON, problems, files.

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, ETAG, HeaderValue};
use axum::http::{Response, StatusCode};
use serde::Serialize;

use crate::problem::Problem;

fn with_type(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// Answers with JSON.
pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(bytes) => with_type(StatusCode::OK, "application/json", bytes.into()),
        Err(error) => problem(&error.into()),
    }
}

/// Answers with a problem.
pub(crate) fn problem(problem: &Problem) -> Response<Body> {
    let bytes = serde_json::to_vec(problem).unwrap_or_default();
    with_type(problem.status(), "application/problem+json", bytes.into())
}

/// Answers with what was asked for, or with why not.
pub(crate) fn of<T: Serialize>(result: Result<T, Problem>) -> Response<Body> {
    match result {
        Ok(value) => json(&value),
        Err(error) => problem(&error),
    }
}

/// Answers with a file that never changes while this process runs.
pub(crate) fn file(content_type: &'static str, bytes: &'static [u8], tag: &str) -> Response<Body> {
    let body = Body::from(Bytes::from_static(bytes));
    let mut response = with_type(StatusCode::OK, content_type, body);
    tagged(&mut response, tag);
    response
}

/// Answers that the file is the one that the asker has.
pub(crate) fn unchanged(tag: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    tagged(&mut response, tag);
    response
}

fn tagged(response: &mut Response<Body>, tag: &str) {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
}

/// Answers with a stream of events.
pub(crate) fn events(body: Body) -> Response<Body> {
    with_type(StatusCode::OK, "text/event-stream", body)
}
