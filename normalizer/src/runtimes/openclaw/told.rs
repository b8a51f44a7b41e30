//! Text that is told again and again, each time a little longer.

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::FixedState;

/// How much of what was told is kept to compare with. Of a longer text only the length is known.
const KEPT: usize = 64 << 10;

/// What was told of a run, one text after the other; the last one may go on.
#[derive(Debug, Default)]
pub(super) struct ToldTexts {
    kept: String,
    /// Where the last text begins.
    start: usize,
    /// The length of the last text, also where it is not kept.
    length: usize,
}

impl ToldTexts {
    /// Another run begins.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Another text begins.
    pub(super) fn begin(&mut self) {
        self.start = self.kept.len();
        self.length = 0;
    }

    /// The last text goes on.
    pub(super) fn push(&mut self, piece: &str) {
        if self.is_kept() && self.kept.len() + piece.len() <= KEPT {
            self.kept.push_str(piece);
        }
        self.length += piece.len();
    }

    /// The last text is taken back.
    pub(super) fn take_back(&mut self) {
        self.kept.truncate(self.start);
        self.length = 0;
    }

    /// Tells whether nothing was told of the last text.
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the last text, if all of it is kept.
    pub(super) fn last(&self) -> Option<&str> {
        self.kept.get(self.start..).filter(|_| self.is_kept())
    }

    /// Returns what a text has beyond the last one; `None` if it does not go on from there.
    pub(super) fn rest_of<'t>(&self, whole: &'t str) -> Option<&'t str> {
        match self.last() {
            Some(last) => whole.strip_prefix(last),
            None => whole.get(self.length..),
        }
    }

    /// Tells whether a text stands in what was told.
    pub(super) fn contains(&self, text: &str) -> bool {
        memchr::memmem::find(self.kept.as_bytes(), text.as_bytes()).is_some()
    }

    fn is_kept(&self) -> bool {
        self.kept.len() - self.start == self.length
    }
}

/// Returns the characters of a text with its white space collapsed, as items have it.
fn collapsed(text: &str) -> impl Iterator<Item = char> {
    text.split_whitespace()
        .flat_map(|word| std::iter::once(' ').chain(word.chars()))
}

/// Tells whether a text begins with another, white space aside.
pub(super) fn begins_with(text: &str, beginning: &str) -> bool {
    let mut characters = collapsed(text);
    collapsed(beginning).all(|wanted| characters.next() == Some(wanted))
}

/// Returns a number that two texts share if they differ in white space only.
pub(super) fn collapsed_hash(text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    for word in text.split_whitespace() {
        hasher.write(word.as_bytes());
        hasher.write_u8(b' ');
    }
    hasher.finish()
}

/// Returns a number that stands for a key.
pub(super) fn key_hash(parts: &[&str]) -> u64 {
    FixedState::default().hash_one(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_on_where_it_was_or_is_another_one() {
        let mut told = ToldTexts::default();
        told.begin();
        told.push("one");
        assert_eq!(told.rest_of("one two"), Some(" two"));
        assert_eq!(told.rest_of("one"), Some(""));
        assert_eq!(told.rest_of("on"), None);
        assert_eq!(told.rest_of("two"), None);
        told.begin();
        told.push("two");
        assert_eq!(told.last(), Some("two"));
        assert!(told.contains("onetwo"));
        told.take_back();
        assert!(told.is_empty() && !told.contains("two") && told.contains("one"));
    }

    #[test]
    fn of_a_long_text_only_the_length_is_kept() {
        let mut told = ToldTexts::default();
        told.begin();
        let long = "é".repeat(KEPT);
        told.push(&long);
        assert_eq!(told.last(), None);
        assert_eq!(told.rest_of(&format!("{long}!")), Some("!"));
        assert_eq!(told.rest_of("é"), None);
        told.begin();
        told.push("next");
        assert_eq!(told.last(), Some("next"));
    }

    #[test]
    fn white_space_is_no_difference_for_items() {
        assert!(begins_with("First\n  I list.", "First I"));
        assert!(begins_with(" a", "a") && begins_with("a", ""));
        assert!(!begins_with("First", "First I"));
        assert_eq!(collapsed_hash(" a\nb "), collapsed_hash("a b"));
        assert_ne!(collapsed_hash("ab"), collapsed_hash("a b"));
    }
}
