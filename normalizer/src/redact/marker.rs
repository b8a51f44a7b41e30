//! What stands where a secret was.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem::Finder;

use super::key::RedactionKey;

pub(super) const OPENING: &[u8] = b"[REDACTED:";
/// The longest name of a rule.
pub(super) const LONGEST_NAME: usize = 80;
/// The digits of a commitment.
const COMMITMENT: usize = 16;

/// Writes the marker for a secret.
pub(super) fn marker(rule: &str, key: Option<&RedactionKey>, secret: &[u8]) -> String {
    match key {
        Some(key) => format!("[REDACTED:{rule}:{}]", key.commitment(secret)),
        None => format!("[REDACTED:{rule}]"),
    }
}

/// Returns a search for markers, which is made once.
fn opening() -> &'static Finder<'static> {
    static FINDER: OnceLock<Finder<'static>> = OnceLock::new();
    FINDER.get_or_init(|| Finder::new(OPENING))
}

/// Returns where markers are in a text.
pub(super) fn markers(text: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut from = 0;
    let opening = opening();
    while let Some(start) = text.get(from..).and_then(|rest| opening.find(rest)) {
        let start = from + start;
        from = start + OPENING.len();
        if let Some(length) = marker_length(text.get(from..).unwrap_or_default()) {
            from += length;
            places.push(start..from);
        }
    }
    places
}

/// Tells whether a name can stand in a marker.
pub(super) fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Returns how long the rest of a marker is, after its opening.
fn marker_length(rest: &[u8]) -> Option<usize> {
    let rest = rest.get(..LONGEST_NAME + COMMITMENT + 2).unwrap_or(rest);
    let name = rest.iter().position(|byte| !is_name_byte(*byte))?;
    if !(1..=LONGEST_NAME).contains(&name) {
        return None;
    }
    match rest.get(name)? {
        b']' => Some(name + 1),
        b':' => {
            let digits = rest.get(name + 1..name + 1 + COMMITMENT)?;
            let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
            let is_closed = rest.get(name + 1 + COMMITMENT) == Some(&b']');
            (is_closed && digits.iter().all(is_digit)).then_some(name + COMMITMENT + 2)
        }
        _ => None,
    }
}
