//! URLs of images and files.

use schemars::json_schema;

use crate::id::id_type;

/// Tells whether Perstack would take `text` for a URL.
///
/// It asks JavaScript's `new URL`: a scheme and something behind it, and for the schemes of the
/// web also a host.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let scheme_ok = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let rest_ok = !rest.is_empty() && !rest.contains(|c: char| c.is_whitespace() || c.is_control());
    let needs_host = ["http", "https", "ws", "wss", "ftp"]
        .iter()
        .any(|s| scheme.eq_ignore_ascii_case(s));
    let host_ok = !needs_host
        || rest.strip_prefix("//").is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[' || !c.is_ascii())
        });
    scheme_ok && rest_ok && host_ok
}

/// Returns the regular expression (ECMA-262) of what [`is_url`] takes.
///
/// No `format: uri` beside it: that is narrower than what JavaScript takes for a URL, and a reader
/// that enforces it would refuse what we write. White space is spelled out because engines differ.
fn url_pattern() -> String {
    let web = "(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?|[fF][tT][pP]):";
    let visible = r"[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";
    let host = r"(?=[A-Za-z0-9\[]|[^\u0000-\u007f])";
    format!("^(?:{web}//{host}|(?!{web})[A-Za-z][A-Za-z0-9+.-]*:){visible}+$")
}

id_type!(
    /// Where an image or file is.
    MediaUrl, "url", is_url, "expected an absolute url such as https://host/path or file:///path",
    json_schema!({
        "type": "string",
        "description": "An absolute URL: a scheme and something behind it, without white space; for http, https, ws, wss and ftp with a host.",
        "pattern": url_pattern()
    })
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_urls_are_taken() {
        for good in [
            "https://a.b/c?d",
            "file:///x",
            "data:image/png;base64,AA==",
            "http://[::1]/",
        ] {
            assert!(MediaUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "not a url",
            "",
            "/path",
            "http:",
            "https://",
            "http:///x",
            "1x:y",
            "a: b",
        ] {
            assert!(MediaUrl::parse(bad).is_err(), "{bad}");
        }
    }
}
