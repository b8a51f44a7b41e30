//! What stands where a secret was.

use std::cell::RefCell;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use memchr::memmem::Finder;

use super::key::RedactionKey;
use super::rule_set::RuleSet;

pub(super) const OPENING: &[u8] = b"[REDACTED:";
/// The longest name of a rule.
pub(super) const LONGEST_NAME: usize = 80;
/// The digits of a commitment.
const COMMITMENT: usize = 16;

/// Writes the marker for a secret.
pub(super) fn marker(rule: &str, key: Option<&RedactionKey>, secret: &[u8]) -> String {
    let mut marker = String::with_capacity(OPENING.len() + rule.len() + COMMITMENT + 2);
    marker.push_str("[REDACTED:");
    marker.push_str(rule);
    if let Some(key) = key {
        marker.push(':');
        marker.push_str(&key.commitment(secret));
    }
    marker.push(']');
    marker
}

/// How many markers are remembered.
const REMEMBERED: usize = 256;

/// Markers that were made before: mostly the same secret is printed again and again, and its hash takes longer than all
/// else that is done with it.
#[derive(Debug, Default)]
pub(super) struct Markers(RefCell<Vec<Option<Box<Remembered>>>>);

#[derive(Default)]
struct Remembered {
    rule: u16,
    secret: Vec<u8>,
    marker: String,
}

/// Secrets stay out of logs.
impl fmt::Debug for Remembered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.marker)
    }
}

impl Markers {
    /// Returns the marker for a secret.
    pub(super) fn marker(&self, rules: &RuleSet, rule: u16, secret: &[u8]) -> String {
        let mut known = self.0.borrow_mut();
        if known.is_empty() {
            known.resize_with(REMEMBERED, || None);
        }
        let mut hasher = FixedState::default().build_hasher();
        hasher.write(secret);
        let place = usize::try_from(hasher.finish() % REMEMBERED as u64).unwrap_or_default();
        let Some(slot) = known.get_mut(place) else {
            return marker(rules.name(rule), rules.key(), secret);
        };
        let known = slot.get_or_insert_default();
        if known.rule != rule || known.secret != secret {
            known.rule = rule;
            known.secret.clear();
            known.secret.extend_from_slice(secret);
            known.marker = marker(rules.name(rule), rules.key(), secret);
        }
        known.marker.clone()
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
