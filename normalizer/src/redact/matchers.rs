//! Secrets that a shape cannot tell: those known by what is around them.

use std::sync::LazyLock;

use super::alphabet::Alphabet;
use super::plausible::{entropy, is_password, is_secret_name, is_secret_value};
use super::scan::BLOT;
use super::shape::ShapeOutcome;
use super::text::Text;

/// The longest value, name or header that is looked at.
const LONGEST: usize = 4096;
/// How many backslashes may stand before a character: JSON within JSON, four times.
const MOST_ESCAPES: usize = 15;
/// The longest name.
const LONGEST_NAME: usize = 100;

/// What the authority of a URL may be made of.
static AUTHORITY: LazyLock<Alphabet> =
    LazyLock::new(|| Alphabet::of(b" \t\r\n\"'`<>/?#\\|,;()").inverted());
/// What credentials in an `Authorization` header are made of.
static CREDENTIALS: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::of(b"-._~+/=").with_words());
/// What the values of a cookie header may be made of.
static COOKIES: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::of(b"\r\n\t\"'`<>\\").inverted());
/// What the name of a private key is made of.
static LABEL: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::of(b" ").with_words());
/// What a value within quotes may be made of, and one without them.
static QUOTED_VALUE: LazyLock<Alphabet> =
    LazyLock::new(|| Alphabet::of(b" \t\r\n\"'`\\").inverted());
static BARE_VALUE: LazyLock<Alphabet> =
    LazyLock::new(|| Alphabet::of(b" \t\r\n\"'`\\;,()&|").inverted());

/// Looks for the password in the URL whose `://` is at a place: also with escapes, `:\/\/`.
pub(super) fn url_credentials(text: &Text<'_>, place: usize) -> ShapeOutcome {
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let before = text.slice(place.saturating_sub(1), place);
    if !before.iter().copied().all(is_scheme) || before.is_empty() {
        return ShapeOutcome::No;
    }
    let Some(start) = authority_start(text, place) else {
        return ShapeOutcome::No;
    };
    let end = text.run_end(&AUTHORITY, start);
    let authority = text.slice(start, end.min(start + 1024));
    let is_cut = end == text.len() && text.is_open;
    let Some(at) = memchr::memrchr(b'@', authority) else {
        let colon = memchr::memchr(b':', authority);
        return match colon {
            Some(colon) if is_cut && authority.len() < 1024 => {
                let start = start + colon + 1;
                ShapeOutcome::Undecided { start }
            }
            None if is_cut && authority.len() >= 16 && authority.len() < 1024 => {
                ShapeOutcome::Undecided { start }
            }
            _ => ShapeOutcome::No,
        };
    };
    let user = authority.get(..at).unwrap_or_default();
    let Some(colon) = memchr::memchr(b':', user) else {
        // A token in place of a name.
        let is_token = user.len() >= 20 && is_secret_value(user, 20);
        return found_if(is_token, start, start + at);
    };
    let (name, password) = (
        user.get(..colon).unwrap_or_default(),
        user.get(colon + 1..).unwrap_or_default(),
    );
    let is_password = !has_blot(name) && is_password(name, password);
    found_if(is_password, start + colon + 1, start + at)
}

/// Tells whether something was taken out of a text. What comes after it is not found through it: how far that is changes with
/// the marker, and it was looked at before.
fn has_blot(text: &[u8]) -> bool {
    memchr::memmem::find(text, BLOT).is_some()
}

/// Returns what is after a colon and two slashes, each of which may be escaped any number of times.
fn authority_start(text: &Text<'_>, colon: usize) -> Option<usize> {
    let mut place = colon + 1;
    for _ in 0..2 {
        let first = place;
        while place - first < MOST_ESCAPES && text.byte(place) == Some(b'\\') {
            place += 1;
        }
        if text.byte(place) != Some(b'/') {
            return None;
        }
        place += 1;
    }
    Some(place)
}

/// Looks for the value of a variable whose name ends with what is at a place: `DEPLOY_TOKEN=…`.
pub(super) fn environment(text: &Text<'_>, place: usize) -> ShapeOutcome {
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let (start, end) = name_around(text, place, is_name);
    if end == text.len() || !is_secret_name(text.slice(start, end)) || !text.begins_word(start) {
        return ShapeOutcome::No;
    }
    let Some((value, is_quoted)) = value_after(text, end) else {
        return ShapeOutcome::No;
    };
    valued(text, value, is_quoted, |value| is_secret_value(value, 8))
}

/// Looks for the value of anything whose name has a word such as `token` in it.
pub(super) fn named(text: &Text<'_>, place: usize) -> ShapeOutcome {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let (_, end) = name_around(text, place, is_name);
    let Some((value, is_quoted)) = value_after(text, end) else {
        return ShapeOutcome::No;
    };
    valued(text, value, is_quoted, |value| is_secret_value(value, 8))
}

/// Looks for what follows `Authorization:` or `Bearer`.
pub(super) fn authorization(text: &Text<'_>, place: usize) -> ShapeOutcome {
    if text.has(b"uthorization", place) {
        let end = place + b"uthorization".len();
        return match value_after(text, end) {
            Some((value, _)) => authorization_value(text, value),
            None => ShapeOutcome::No,
        };
    }
    // `earer `, of which the first letter may be of either size.
    match place.checked_sub(1) {
        Some(start) if matches!(text.byte(start), Some(b'B' | b'b')) => {
            authorization_value(text, start)
        }
        _ => ShapeOutcome::No,
    }
}

/// Looks for the credentials in the value of an `Authorization` header that begins at a place.
pub(super) fn authorization_value(text: &Text<'_>, place: usize) -> ShapeOutcome {
    let mut start = place;
    let mut least = 16;
    for scheme in [
        "Bearer", "bearer", "Basic", "basic", "Token", "token", "ApiKey", "Digest",
    ] {
        if text.has(scheme.as_bytes(), place) {
            start = place + scheme.len();
            while matches!(text.byte(start), Some(b' ' | b'=')) {
                start += 1;
            }
            if start == place + scheme.len() {
                return ShapeOutcome::No;
            }
            least = 8;
        }
    }
    let end = text.run_end(&CREDENTIALS, start);
    if end - start > LONGEST {
        return ShapeOutcome::Found { start, end };
    }
    let value = text.slice(start, end);
    if end == text.len() && text.is_open && !value.is_empty() {
        return ShapeOutcome::Undecided { start };
    }
    let is_mixed =
        value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    let is_secret = is_secret_value(value, least)
        || (is_mixed && value.len() >= 12 && entropy(value) >= 3.5 && value.ends_with(b"="));
    found_if(is_secret, start, end)
}

/// Looks for the values of a `Cookie:` or `Set-Cookie:` header whose `ookie:` is at a place.
pub(super) fn cookie(text: &Text<'_>, place: usize) -> ShapeOutcome {
    let is_set = place >= 5 && text.slice(place - 5, place).eq_ignore_ascii_case(b"set-c");
    let mut start = place + b"ookie:".len();
    while text.byte(start) == Some(b' ') {
        start += 1;
    }
    cookie_value(text, start, is_set)
}

/// Looks for what is secret in the value of a cookie header that begins at a place.
pub(super) fn cookie_value(text: &Text<'_>, place: usize, is_set: bool) -> ShapeOutcome {
    let mut end = text.run_end(&COOKIES, place).min(place + LONGEST);
    // A character is taken out whole, or stays whole.
    while end > place && text.byte(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    let header = text.slice(place, end);
    let Some(equals) = memchr::memchr(b'=', header) else {
        return ShapeOutcome::No;
    };
    if has_blot(header.get(..equals).unwrap_or_default()) {
        return ShapeOutcome::No;
    }
    let start = place + equals + 1;
    if is_set {
        let rest = header.get(equals + 1..).unwrap_or_default();
        let length = memchr::memchr2(b';', b' ', rest);
        if length.is_none() && end == text.len() && text.is_open {
            return ShapeOutcome::Undecided { start };
        }
        let value = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
        return found_if(is_secret_value(value, 16), start, start + value.len());
    }
    if end == text.len() && text.is_open {
        return ShapeOutcome::Undecided { start };
    }
    // One secret among them is enough for all: which of them opens the door is not known.
    let is_secret = header.split(|byte| *byte == b';').any(|pair| {
        memchr::memchr(b'=', pair)
            .and_then(|equals| pair.get(equals + 1..))
            .is_some_and(|value| is_secret_value(value.trim_ascii(), 16))
    });
    found_if(is_secret, start, place + header.trim_ascii_end().len())
}

/// Tells whether the values of a `Cookie:` header begin at a place of a text that goes on, and are not over before its end.
/// Returns how long the text may get until they are, unless one of [their ends](ends_cookie) comes before.
pub(super) fn open_cookie(text: &[u8], start: usize) -> Option<usize> {
    let before = text.get(..start)?.strip_suffix(b"=")?;
    let named = memchr::memmem::rfind(before, b"ookie:")? + b"ookie:".len();
    let name = before.get(named..)?;
    let place = named + name.iter().take_while(|byte| **byte == b' ').count();
    let rest = text.get(place..)?;
    let is_open = memchr::memchr(b'=', name).is_none() && !rest.iter().copied().any(ends_cookie);
    let header = named.checked_sub(b"set-cookie:".len());
    let is_set = header
        .and_then(|start| text.get(start..named))
        .is_some_and(|header| header.eq_ignore_ascii_case(b"set-cookie:"));
    (is_open && !is_set).then_some(place + LONGEST)
}

/// Tells whether a byte ends the values of a cookie header.
pub(super) fn ends_cookie(byte: u8) -> bool {
    matches!(
        byte,
        0..b' ' | 0x7F | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\'
    )
}

/// The longest private key, with all that is around it.
const LONGEST_KEY: usize = 64 * 1024;
/// Where a private key's text must have begun, after the line that announces it.
const KEY_HEAD: usize = 400;
/// A run this long is of a key rather than of words.
const KEY_RUN: usize = 40;

/// Looks for a private key whose `-----BEGIN` is at a place.
pub(super) fn private_key(text: &Text<'_>, place: usize) -> ShapeOutcome {
    let start = place;
    let label_start = place + b"-----BEGIN".len();
    let label_end = text.run_end(&LABEL, label_start);
    if label_end == text.len() && text.is_open && label_end - label_start < LONGEST_NAME {
        return ShapeOutcome::Undecided { start };
    }
    let name = text.slice(label_start, label_end);
    if name.len() > LONGEST_NAME || memchr::memmem::find(name, b"PRIVATE KEY").is_none() {
        return ShapeOutcome::No;
    }
    let body = label_end + 5;
    if !text.has(b"-----", label_end) {
        let is_cut = text.is_open && text.len() < body;
        return if is_cut {
            ShapeOutcome::Undecided { start }
        } else {
            ShapeOutcome::No
        };
    }
    // What is blotted out is no part of a key, and nothing after it is: something else stands there, or will.
    let blot = text.find(BLOT, body);
    let last = blot.unwrap_or(text.len());
    let end = text.find(b"-----END", body).filter(|end| *end < last);
    // Nor is what comes after its end: that may be of the next key.
    let head = text.slice(body, end.unwrap_or(last).min(body + KEY_HEAD));
    if !has_key_run(head) {
        let may_go_on = end.is_none() && blot.is_none() && head.len() < KEY_HEAD;
        return if text.is_open && may_go_on {
            ShapeOutcome::Undecided { start }
        } else {
            ShapeOutcome::No
        };
    }
    match end {
        Some(end) if end - start <= LONGEST_KEY => {
            let end_label = end + b"-----END".len();
            let end_name = text.run_end(&LABEL, end_label);
            if text.has(b"-----", end_name) {
                return ShapeOutcome::Found {
                    start,
                    end: end_name + 5,
                };
            }
            if text.is_open && text.len() < end_name + 5 {
                return ShapeOutcome::Undecided { start };
            }
            ShapeOutcome::Found {
                start,
                end: end_name,
            }
        }
        None if text.is_open && blot.is_none() => ShapeOutcome::Undecided { start },
        // Its end is missing, or somewhere else: what is there of it goes.
        _ => ShapeOutcome::Found {
            start,
            end: key_end(text.slice(body, last.min(body + LONGEST_KEY)), body),
        },
    }
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

pub(super) fn has_key_run(head: &[u8]) -> bool {
    head.split(|byte| !is_key_byte(*byte))
        .any(|run| run.len() >= KEY_RUN)
}

/// Tells whether a line is the short one with which the text of a key ends, and no words.
pub(super) fn is_last_of_key(line: &[u8]) -> bool {
    // Before it there may be the number of the line, or a sign.
    let mut words = line
        .split(|byte| !is_key_byte(*byte))
        .filter(|word| word.iter().any(u8::is_ascii_alphabetic));
    let (Some(word), None) = (words.next(), words.next()) else {
        return false;
    };
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    let is_mixed =
        has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    line.trim_ascii_end().ends_with(word) && (word.ends_with(b"=") || is_mixed)
}

/// Returns where the text of a key ends that has no last line, and begins at a place.
fn key_end(text: &[u8], body: usize) -> usize {
    let (mut end, mut has_begun) = (0, false);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // Before its text there may be lines that say how it is encrypted.
        let is_head = !has_begun && line.len() < LONGEST_NAME;
        let is_run = has_key_run(line);
        if !(is_run || is_head || line.trim_ascii().is_empty()) {
            if is_last_of_key(line) {
                end += line.len();
            }
            break;
        }
        has_begun |= is_run;
        end += line.len();
    }
    // Quotes and escapes after it are not of it.
    let of_key = text.get(..end).unwrap_or_default();
    let last = of_key.iter().rposition(|byte| is_key_byte(*byte));
    body + last.map_or(0, |last| last + 1)
}

/// Returns the name that a place is part of.
fn name_around(text: &Text<'_>, place: usize, is_name: impl Fn(u8) -> bool) -> (usize, usize) {
    let before = text.slice(place.saturating_sub(LONGEST_NAME), place);
    let length = before
        .iter()
        .rev()
        .take_while(|byte| is_name(**byte))
        .count();
    let after = text.slice(place, text.len().min(place + LONGEST_NAME));
    let end = after.iter().take_while(|byte| is_name(**byte)).count();
    (place - length, place + end)
}

/// Returns where the value begins after a name, and whether it is within quotes: after `=`, `:`, `:=` or `=>`.
fn value_after(text: &Text<'_>, name_end: usize) -> Option<(usize, bool)> {
    let mut place = name_end;
    let mut skip = |bytes: &[u8], most: usize| {
        let first = place;
        while place - first < most && text.byte(place).is_some_and(|byte| bytes.contains(&byte)) {
            place += 1;
        }
        place > first
    };
    skip(b"\\\"'`]", 8);
    skip(b" \t", 8);
    if !skip(b"=:>", 2) {
        return None;
    }
    skip(b" \t", 8);
    let is_quoted = skip(b"\\\"'`", 8);
    Some((place, is_quoted))
}

/// Judges the value that begins at a place.
fn valued(
    text: &Text<'_>,
    start: usize,
    is_quoted: bool,
    is_secret: impl Fn(&[u8]) -> bool,
) -> ShapeOutcome {
    let alphabet: &Alphabet = if is_quoted {
        &QUOTED_VALUE
    } else {
        &BARE_VALUE
    };
    let end = text.run_end(alphabet, start);
    let value = text.slice(start, end.min(start + LONGEST));
    if end == text.len() && text.is_open && !value.is_empty() && value.len() < LONGEST {
        return ShapeOutcome::Undecided { start };
    }
    found_if(is_secret(value), start, end)
}

fn found_if(is_secret: bool, start: usize, end: usize) -> ShapeOutcome {
    if is_secret {
        ShapeOutcome::Found { start, end }
    } else {
        ShapeOutcome::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_cookies_are_not_decided_until_something_ends_them() {
        let texts = [
            "Cookie: sid=abc",
            "cookie:   a=1; b=2 and = words",
            "Set-Cookie: sid=abc",
            "Cookie: sid",
            "Cookie: sid=a\"b",
            "Cookie: a=b\nCookie: c=d",
            "Cookie: a=Cookie: c=d",
            "cookie=a Cookie: \u{e4}=\u{e4}",
            "no header: a=b",
        ];
        let (mut open, mut closed) = (0, 0);
        for text in texts {
            for start in 0..=text.len() {
                let Some(longest) = open_cookie(text.as_bytes(), start) else {
                    closed += 1;
                    continue;
                };
                open += 1;
                let place = memchr::memmem::rfind(&text.as_bytes()[..start], b"ookie:").unwrap();
                for more in ["", " ", "x=y; z", "=", "\u{e4}", "ghp_"] {
                    let longer = format!("{text}{more}");
                    let outcome = cookie(&Text::new(longer.as_bytes()).open(true), place);
                    assert!(
                        matches!(outcome, ShapeOutcome::Undecided { start: at } if at == start),
                        "{longer}"
                    );
                }
                let full = format!("{text:x<longest$}");
                let outcome = cookie(&Text::new(full.as_bytes()).open(true), place);
                assert!(full.len() > longest || matches!(outcome, ShapeOutcome::Undecided { .. }));
            }
        }
        assert!(open >= 5 && closed > open, "{open} {closed}");
    }
}
