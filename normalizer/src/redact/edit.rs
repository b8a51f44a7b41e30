//! Changes to a line.

use std::ops::Range;

/// What stands in place of a part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) place: Range<usize>,
    pub(super) text: String,
}

/// Returns a line with its edits, which do not overlap.
pub(super) fn apply(line: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.place.start, edit.place.end));
    let mut edited = Vec::with_capacity(line.len());
    let mut from = 0;
    for edit in sorted {
        // What overlaps an earlier edit is a mistake that must not bring a secret back.
        debug_assert!(edit.place.start >= from, "{edit:?} overlaps another");
        edited.extend_from_slice(line.get(from..edit.place.start).unwrap_or_default());
        edited.extend_from_slice(edit.text.as_bytes());
        from = edit.place.end.max(from);
    }
    edited.extend_from_slice(line.get(from..).unwrap_or_default());
    edited
}
