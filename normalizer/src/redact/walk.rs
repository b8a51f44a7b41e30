//! The strings of a JSON line, with the keys that they are under.

use std::ops::Range;

use super::marker::OPENING;
use crate::json::find_special;

/// Deeper than this, a line is read as text.
const DEEPEST: usize = 512;

/// What is further away is searched for with what is made for that.
const NEAR: usize = 32;

/// A value that is no container.
pub(super) struct Scalar<'w> {
    /// What is between the quotes of a string, or all of another value.
    pub(super) place: Range<usize>,
    pub(super) is_string: bool,
    /// The keys above it, as they are written, from the outside; `None` for an array.
    pub(super) path: &'w [Option<Range<usize>>],
}

impl Scalar<'_> {
    /// Returns the nearest key above it.
    pub(super) fn key<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let key = self.path.iter().rev().find_map(Option::as_ref)?;
        line.get(key.clone())
    }
}

/// The line is not JSON.
pub(super) struct NoJson;

/// Tells whether a text could be JSON with strings in it: an object, an array or a string. Text that begins with a marker
/// is none: it was none when a secret stood there.
pub(super) fn may_be_json(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let text = text.trim_ascii_start();
    matches!(text.first(), Some(b'{' | b'[' | b'"')) && !text.starts_with(OPENING)
}

/// Calls `each` for every value in a line that is no container: one JSON value, or several of them.
///
/// More is accepted than is JSON, but nothing between strings that could be a secret.
pub(super) fn walk(line: &[u8], mut each: impl FnMut(&Scalar<'_>)) -> Result<(), NoJson> {
    let mut place = if line.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let mut path: Vec<Option<Range<usize>>> = Vec::with_capacity(8);
    let mut is_key = false;
    while let Some(&byte) = line.get(place) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => place += 1,
            b'"' => {
                let start = place + 1;
                let end = string_end(line, start).ok_or(NoJson)?;
                place = end + 1;
                if is_key {
                    while line.get(place).is_some_and(u8::is_ascii_whitespace) {
                        place += 1;
                    }
                    if line.get(place) != Some(&b':') {
                        return Err(NoJson);
                    }
                    place += 1;
                    is_key = false;
                    if let Some(last) = path.last_mut() {
                        *last = Some(start..end);
                    }
                } else {
                    each(&Scalar {
                        place: start..end,
                        is_string: true,
                        path: &path,
                    });
                }
            }
            b'{' | b'[' => {
                if path.len() >= DEEPEST || is_key {
                    return Err(NoJson);
                }
                is_key = byte == b'{';
                // An object has an empty key until its first one is read.
                path.push(is_key.then_some(0..0));
                place += 1;
            }
            b'}' | b']' => {
                path.pop().ok_or(NoJson)?;
                is_key = false;
                place += 1;
            }
            b',' => {
                is_key = matches!(path.last(), Some(Some(_)));
                place += 1;
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if !is_key => {
                let rest = line.get(place..).unwrap_or_default();
                let is_part =
                    |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
                let length = rest
                    .iter()
                    .position(|byte| !is_part(byte))
                    .unwrap_or(rest.len());
                // No word of JSON is longer, and no number that is not all digits and signs, and a secret is.
                let written = rest.get(..length).unwrap_or_default();
                if length > 32 && !written.iter().copied().all(is_of_number) {
                    return Err(NoJson);
                }
                each(&Scalar {
                    place: place..place + length,
                    is_string: false,
                    path: &path,
                });
                place += length;
            }
            _ => return Err(NoJson),
        }
    }
    if path.is_empty() { Ok(()) } else { Err(NoJson) }
}

/// Tells whether a byte can be in a number.
pub(super) fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(&byte)
}

/// Whether a place in JSON is within a string, and right after a backslash.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StringState {
    pub(super) is_within: bool,
    is_escaped: bool,
}

impl StringState {
    /// Returns what holds after some more bytes.
    pub(super) fn after(mut self, bytes: &[u8]) -> Self {
        let mut from = 0;
        if self.is_escaped && !bytes.is_empty() {
            self.is_escaped = false;
            from = 1;
        }
        while let Some(found) = bytes
            .get(from..)
            .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
        {
            from += found + 1;
            if bytes.get(from - 1) == Some(&b'"') {
                self.is_within = !self.is_within;
            } else if self.is_within {
                self.is_escaped = from == bytes.len();
                from += 1;
            }
        }
        self
    }
}

/// Returns where the quote is that ends a string.
#[inline]
pub(super) fn string_end(line: &[u8], start: usize) -> Option<usize> {
    // Most strings are short, and end within a look.
    let near = line.get(..start + NEAR).unwrap_or(line);
    let found = find_special(near, start);
    if near.get(found) == Some(&b'"') {
        return Some(found);
    }
    long_string_end(line, found)
}

fn long_string_end(line: &[u8], start: usize) -> Option<usize> {
    let mut from = start;
    loop {
        let found = from + memchr::memchr2(b'"', b'\\', line.get(from..)?)?;
        if line.get(found) == Some(&b'"') {
            return Some(found);
        }
        from = found + 2;
    }
}
