//! Who may ask: what every request passes before it is routed, in this order.
//!
//! 1. `Host` must be a name of this machine with our port. A page on the web can have its own name point
//!    to 127.0.0.1 and then talk to us as if we were its server; it cannot choose the `Host`.
//! 2. The method must be one of ours, an `Origin` must be ours, and what a browser says to come from
//!    another site, or another port of this machine, is refused.
//! 3. Data needs the token: a port is open to every user of this machine.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};

use crate::error::ServeError;
use crate::problem::Problem;
use crate::token::Token;

/// The only address that takes another method than GET.
pub(crate) const VERIFY: &str = "/api/v1/verify";

/// Where the token is fetched with a code that works once.
pub(crate) const TOKEN: &str = "/api/v1/token";

/// Checks requests.
#[derive(Debug)]
pub(crate) struct Gate {
    /// What `Host` may be, in lower case, the port included.
    hosts: Vec<String>,
    token: Token,
    /// The code that the token can be fetched with, until somebody does.
    code: Mutex<Option<Token>>,
}

/// Tells whether a text is a host name or an address.
fn is_host(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.parse::<IpAddr>().is_ok()
        || (!name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)))
}

impl Gate {
    /// Lets requests through that name this machine, or one of the hosts that were allowed.
    pub(crate) fn new(port: u16, allowed: &[String], token: Token) -> Result<Self, ServeError> {
        let names = ["127.0.0.1", "[::1]", "localhost"].map(str::to_owned);
        let mut hosts = Vec::new();
        for name in names.into_iter().chain(allowed.iter().cloned()) {
            if !is_host(&name) {
                return Err(ServeError::BadHost { name });
            }
            let name = if name.contains(':') && !name.starts_with('[') {
                format!("[{name}]")
            } else {
                name.to_ascii_lowercase()
            };
            // Browsers leave the port out where it is the usual one.
            if port == 80 {
                hosts.push(name.clone());
            }
            hosts.push(format!("{name}:{port}"));
        }
        let code = Mutex::new(None);
        Ok(Self { hosts, token, code })
    }

    /// Makes a code that the token can be fetched with once.
    pub(crate) fn make_code(&self) -> Result<String, ServeError> {
        let code = Token::random()?;
        let text = code.reveal().to_owned();
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Some(code);
        Ok(text)
    }

    /// Takes a code; it works no more then.
    fn take_code(&self, text: &str) -> bool {
        let mut code = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        code.take_if(|code| code.is(text.as_bytes())).is_some()
    }

    fn knows(&self, host: &str) -> bool {
        self.hosts
            .iter()
            .any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Checks a request.
    pub(crate) fn check(&self, request: &Parts) -> Result<(), Problem> {
        self.check_host(request)?;
        let path = request.uri.path();
        let is_expected = request.method == Method::GET && path != VERIFY
            || request.method == Method::POST && path == VERIFY;
        if !is_expected {
            let detail = "this address takes no such method: ask with GET, verify with POST";
            return Err(Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail));
        }
        self.check_origin(&request.headers)?;
        if path == "/api" || path.starts_with("/api/") {
            self.check_token(&request.headers, path == TOKEN)?;
        }
        Ok(())
    }

    fn check_host(&self, request: &Parts) -> Result<(), Problem> {
        let refused = || {
            Problem::forbidden(
                "this host is not ours: use 127.0.0.1 or localhost, or allow it with --allow-host",
            )
        };
        let host = single(&request.headers, &header::HOST).ok_or_else(refused)?;
        let authority = request.uri.authority();
        let is_known = authority.is_none_or(|authority| self.knows(authority.as_str()));
        if is_known && self.knows(host) {
            return Ok(());
        }
        Err(refused())
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if headers.contains_key(header::ORIGIN) {
            let origin = single(headers, &header::ORIGIN);
            let host = origin.and_then(|origin| origin.strip_prefix("http://"));
            if !host.is_some_and(|host| self.knows(host)) {
                return Err(Problem::forbidden("this request comes from another origin"));
            }
        }
        let sites = headers.get_all("sec-fetch-site");
        let is_ours = |site: &HeaderValue| site == "same-origin" || site == "none";
        if sites.iter().all(is_ours) {
            return Ok(());
        }
        Err(Problem::forbidden("this request comes from another site"))
    }

    fn check_token(&self, headers: &HeaderMap, by_code: bool) -> Result<(), Problem> {
        let given = single(headers, &header::AUTHORIZATION);
        let given = given.and_then(|given| given.strip_prefix("Bearer "));
        let detail = match given {
            Some(token) if self.token.is(token.as_bytes()) => return Ok(()),
            Some(code) if by_code && self.take_code(code) => return Ok(()),
            Some(_) if by_code => {
                "this address was used already: open the one that `runtape serve` printed"
            }
            Some(_) => "the token is not the one that `runtape serve` printed",
            None => "a token is needed: open the address that `runtape serve` printed",
        };
        Err(Problem::new(StatusCode::UNAUTHORIZED, detail))
    }
}

/// Returns a header that is there exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn gate() -> Gate {
        let allowed = ["box.lan".to_owned(), "fe80::1".to_owned()];
        Gate::new(7777, &allowed, Token::parse(SECRET).unwrap()).unwrap()
    }

    fn status(method: &str, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        match gate().check(&parts) {
            Ok(()) => 200,
            Err(problem) => problem.status().as_u16(),
        }
    }

    #[test]
    fn only_names_of_this_machine_with_our_port_are_hosts() {
        for good in [
            "127.0.0.1:7777",
            "localhost:7777",
            "LOCALHOST:7777",
            "[::1]:7777",
            "box.lan:7777",
            "[fe80::1]:7777",
        ] {
            assert_eq!(status("GET", "/", &[("host", good)]), 200, "{good}");
        }
        for bad in [
            "",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost",
            "evil.test:7777",
            "127.0.0.1:7777.evil.test",
            "127.0.0.1.evil.test:7777",
            "user@127.0.0.1:7777",
            "127.1:7777",
            "0.0.0.0:7777",
            "[::]:7777",
            " 127.0.0.1:7777",
        ] {
            assert_eq!(status("GET", "/", &[("host", bad)]), 403, "{bad}");
        }
        assert_eq!(status("GET", "/", &[]), 403);
        let twice = [("host", "127.0.0.1:7777"), ("host", "evil.test:7777")];
        assert_eq!(status("GET", "/", &twice), 403);
        let ours = [("host", "127.0.0.1:7777")];
        assert_eq!(status("GET", "http://evil.test:7777/", &ours), 403);
        assert_eq!(status("GET", "http://127.0.0.1:7777/", &ours), 200);
    }

    #[test]
    fn the_host_is_looked_at_before_anything_else() {
        let evil = [("host", "evil.test"), ("origin", "http://evil.test")];
        assert_eq!(status("DELETE", "/api/v1/runs", &evil), 403);
    }

    #[test]
    fn methods_origins_and_sites_are_ours() {
        let host = ("host", "127.0.0.1:7777");
        for method in ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            assert_eq!(status(method, "/api/v1/runs", &[host]), 405, "{method}");
        }
        assert_eq!(status("GET", VERIFY, &[host]), 405);
        for origin in ["http://127.0.0.1:7777", "http://localhost:7777"] {
            assert_eq!(
                status("GET", "/", &[host, ("origin", origin)]),
                200,
                "{origin}"
            );
        }
        for origin in [
            "null",
            "http://evil.test",
            "http://127.0.0.1:8888",
            "https://127.0.0.1:7777",
            "http://127.0.0.1:7777/",
        ] {
            assert_eq!(
                status("GET", "/", &[host, ("origin", origin)]),
                403,
                "{origin}"
            );
        }
        for (site, expected) in [
            ("same-origin", 200),
            ("none", 200),
            ("same-site", 403),
            ("cross-site", 403),
            ("else", 403),
        ] {
            let headers = [host, ("sec-fetch-site", site)];
            assert_eq!(status("GET", "/", &headers), expected, "{site}");
        }
    }

    #[test]
    fn data_needs_the_token_and_the_page_does_not() {
        let host = ("host", "127.0.0.1:7777");
        assert_eq!(status("GET", "/app.js", &[host]), 200);
        for uri in ["/api", "/api/v1/runs", "/api/v1/openapi.json", "/api/../x"] {
            assert_eq!(status("GET", uri, &[host]), 401, "{uri}");
        }
        let good = format!("Bearer {SECRET}");
        assert_eq!(
            status("GET", "/api/v1/runs", &[host, ("authorization", &good)]),
            200
        );
        assert_eq!(
            status("POST", VERIFY, &[host, ("authorization", &good)]),
            200
        );
        for bad in [
            "",
            "Bearer",
            "Bearer ",
            SECRET,
            &format!("bearer {SECRET}x"),
            &format!("{good}x"),
        ] {
            let headers = [host, ("authorization", bad)];
            assert_eq!(status("GET", "/api/v1/runs", &headers), 401, "{bad}");
        }
    }

    #[test]
    fn a_code_fetches_the_token_once_and_nothing_else() {
        let gate = gate();
        let code = gate.make_code().unwrap();
        let is_let_through = |uri: &str, code: &str| {
            let request = Request::builder().uri(uri).header("host", "127.0.0.1:7777");
            let request = request.header("authorization", format!("Bearer {code}"));
            gate.check(&request.body(()).unwrap().into_parts().0)
                .is_ok()
        };
        assert!(!is_let_through("/api/v1/runs", &code));
        assert!(!is_let_through(super::TOKEN, "else"));
        assert!(is_let_through(super::TOKEN, &code));
        assert!(!is_let_through(super::TOKEN, &code));
    }

    #[test]
    fn what_cannot_be_a_host_is_refused_at_once() {
        for bad in ["", "a b", "http://x", "x:1", "*"] {
            let gate = Gate::new(1, &[bad.to_owned()], Token::parse(SECRET).unwrap());
            assert!(gate.is_err(), "{bad}");
        }
    }
}
