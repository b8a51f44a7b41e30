//! The text around what was found.

use std::ops::Range;

use runtape_core::report::SnippetPart;

/// Letters shown before the first place, and from there on.
const BEFORE: usize = 60;
const FROM: usize = 180;

/// Longest part that was found, in bytes; of a longer one the beginning is shown.
const LONGEST: usize = 2000;

/// Cuts out the text around the first place, with all places in it marked.
pub(super) fn around(text: &str, places: &mut [Range<usize>]) -> Vec<SnippetPart> {
    places.sort_unstable_by_key(|place| (place.start, place.end));
    let Some(first) = places.first() else {
        return Vec::new();
    };
    let letter_before = |at: usize, letters: usize| {
        let before = text.get(..at).unwrap_or(text);
        let mut starts = before.char_indices().rev().map(|(start, _)| start);
        starts.nth(letters - 1).unwrap_or(0)
    };
    let letter_after = |at: usize, letters: usize| {
        let after = text.get(at..).unwrap_or_default();
        let end = after.char_indices().nth(letters);
        end.map_or(text.len(), |(offset, _)| at + offset)
    };
    let begin = letter_before(first.start, BEFORE);
    let mut end = letter_after(first.start, FROM).max(first.end.min(first.start + LONGEST));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut snippet = Snippet::default();
    if begin > 0 {
        snippet.push("…", false);
    }
    let mut at = begin;
    for place in places.iter().take_while(|place| place.start < end) {
        let (start, stop) = (place.start.max(at), place.end.min(end));
        if start >= stop {
            continue;
        }
        snippet.push(text.get(at..start).unwrap_or_default(), false);
        snippet.push(text.get(start..stop).unwrap_or_default(), true);
        at = stop;
    }
    snippet.push(text.get(at..end).unwrap_or_default(), false);
    if end < text.len() {
        snippet.push("…", false);
    }
    snippet.parts
}

#[derive(Default)]
struct Snippet {
    parts: Vec<SnippetPart>,
}

impl Snippet {
    fn push(&mut self, text: &str, is_match: bool) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.is_match == is_match => last.text.push_str(text),
            _ => self.parts.push(SnippetPart {
                text: text.to_owned(),
                is_match,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, word: &str) -> String {
        let mut places: Vec<Range<usize>> = text
            .match_indices(word)
            .map(|(start, _)| start..start + word.len())
            .collect();
        let parts = around(text, &mut places).into_iter();
        let parts = parts.map(|part| {
            if part.is_match {
                format!("[{}]", part.text)
            } else {
                part.text
            }
        });
        parts.collect()
    }

    #[test]
    fn what_was_found_is_marked() {
        assert_eq!(marked("a b a", "a"), "[a] b [a]");
        assert_eq!(marked("ä ö ü", "ö"), "ä [ö] ü");
        assert_eq!(marked("none", "x"), "");
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        let text = format!("{}x{}", "ä".repeat(500), "ö".repeat(500));
        let cut = marked(&text, "x");
        let expected = format!("…{}[x]{}…", "ä".repeat(BEFORE), "ö".repeat(FROM - 1));
        assert_eq!(cut, expected);
        let long = "é".repeat(5000);
        let shown = marked(&long, &long);
        assert!(shown.len() < LONGEST + 20, "{}", shown.len());
    }
}
