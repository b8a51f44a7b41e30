//! The headers that every answer has, also one that refuses.

use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, StatusCode};

use crate::gate::VERIFY;

/// Nothing may be loaded but what this server has, nothing may frame the page, and no form may leave it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

static ALWAYS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Adds them. Data is kept nowhere; the page's files are asked about each time.
pub(crate) fn add(headers: &mut HeaderMap, is_file: bool) {
    for (name, value) in &ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let caching = if is_file { "no-cache" } else { "no-store" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
}

/// Adds what HTTP asks a refusal to say: which method is taken, or how to say who asks.
pub(crate) fn add_hints(headers: &mut HeaderMap, status: StatusCode, path: &str) {
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let method = if path == VERIFY { "POST" } else { "GET" };
        headers.insert(header::ALLOW, HeaderValue::from_static(method));
    } else if status == StatusCode::UNAUTHORIZED {
        // Browsers ask nobody for a password because of this one.
        let scheme = HeaderValue::from_static("Bearer");
        headers.insert(header::WWW_AUTHENTICATE, scheme);
    }
}
