//! Changes to a line.
//!
//! A line is JSON after its edits if and only if it was before. Where edits lie in the strings of a line, whose quotes and
//! brackets they leave alone, that is decided by what they take out; for other lines by what is left.

use std::ops::Range;

use serde_json::Value;

use super::marker::OPENING;
use super::walk::may_be_json;

/// Stands before what is left of a line of a private key, where that by itself would be JSON. Nothing that begins so is.
const NO_JSON: &[u8] = b"[REDACTED:private-key]";
/// No string of JSON holds it as it is.
const NO_STRING: &[u8] = b"\t";

/// What stands in place of a part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) place: Range<usize>,
    pub(super) text: String,
}

/// Returns a line with its edits, which do not overlap: JSON if it was JSON, and none if it was none.
pub(super) fn apply_to_line(line: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut edited = Vec::with_capacity(line.len() + 64);
    apply_to_line_into(line, edits, &mut edited);
    edited
}

/// Appends a line with its edits to others.
pub(super) fn apply_to_line_into(line: &[u8], edits: &[Edit], into: &mut Vec<u8>) {
    if may_be_json(line) {
        let is_proper =
            |line: &[u8], edit: &Edit| is_string(line.get(edit.place.clone()).unwrap_or_default());
        return applied(line, edits, is_proper, into);
    }
    let start = into.len();
    applied(line, edits, |_, _| true, into);
    let edited = into.get(start..).unwrap_or_default();
    let kept = match (is_json(line), is_json(edited)) {
        // Only a number or a word is JSON that does not begin with a quote or a bracket: it becomes a string.
        (true, false) => {
            let end = edited.trim_ascii_end().len();
            let (value, rest) = edited.split_at(end);
            [b"\"", value.trim_ascii_start(), b"\"", rest].concat()
        }
        (false, true) => [NO_JSON, edited].concat(),
        _ => return,
    };
    into.truncate(start);
    into.extend_from_slice(&kept);
}

fn is_json(line: &[u8]) -> bool {
    // Nothing else begins so.
    let first = line.trim_ascii_start();
    matches!(
        first,
        [
            b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n',
            ..
        ]
    ) && !first.starts_with(OPENING)
        && serde_json::from_slice::<Value>(line).is_ok()
}

/// Tells whether bytes may stand between the quotes of a string: what may not keeps its line from being JSON.
fn is_string(bytes: &[u8]) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    bytes.iter().all(is_plain)
        || serde_json::from_slice::<String>(&[b"\"", bytes, b"\""].concat()).is_ok()
}

/// Returns bytes with their edits, which do not overlap.
pub(super) fn apply(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut edited = Vec::with_capacity(bytes.len());
    applied(bytes, edits, |_, _| true, &mut edited);
    edited
}

/// Appends a line with its edits to others. Where one takes out what no string may hold, it leaves as much.
fn applied(line: &[u8], edits: &[Edit], is_proper: fn(&[u8], &Edit) -> bool, edited: &mut Vec<u8>) {
    let order = |edit: &Edit| (edit.place.start, edit.place.end);
    if !edits.is_sorted_by_key(order) {
        let mut sorted = edits.to_vec();
        sorted.sort_by_key(order);
        return applied(line, &sorted, is_proper, edited);
    }
    let mut from = 0;
    for edit in edits {
        // What overlaps an earlier edit is a mistake that must not bring a secret back.
        debug_assert!(edit.place.start >= from, "{edit:?} overlaps another");
        edited.extend_from_slice(line.get(from..edit.place.start).unwrap_or_default());
        edited.extend_from_slice(edit.text.as_bytes());
        if !is_proper(line, edit) {
            edited.extend_from_slice(NO_STRING);
        }
        from = edit.place.end.max(from);
    }
    edited.extend_from_slice(line.get(from..).unwrap_or_default());
}
