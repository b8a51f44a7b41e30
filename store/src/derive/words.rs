//! Words of a text, as the search index knows them: without case and accents.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use unicode_normalization::char::decompose_canonical;

/// Longest word, in bytes; of a longer one the index knows the beginning.
pub(crate) const LONGEST_WORD: usize = 64;

/// Tells whether a letter is a word by itself: scripts that put no spaces between words, and pictures.
/// So what stands inside a sentence is found there.
pub(crate) fn stands_alone(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2190..=0x2BFF | 0x2E80..=0x2FFF
        | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0xA4CF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9D | 0x1F000..=0x3FFFF)
}

/// Tells whether a letter belongs to the word that the letters beside it are part of.
pub(crate) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() && !stands_alone(letter)
}

/// Tells whether a letter is an accent on the one before.
fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// Calls `each` with what a letter is without case and accents.
fn fold(letter: char, mut each: impl FnMut(char)) {
    if letter.is_ascii() {
        each(letter.to_ascii_lowercase());
    } else if stands_alone(letter) {
        each(letter);
    } else {
        for lower in letter.to_lowercase() {
            decompose_canonical(lower, |part| {
                if !is_accent(part) {
                    each(part);
                }
            });
        }
    }
}

/// A text without case and accents, and where its letters came from.
#[derive(Debug)]
pub(crate) struct Folded {
    pub(crate) text: String,
    /// Where in the text each byte came from, if not from the same place.
    places: Option<Vec<usize>>,
}

impl Folded {
    pub(crate) fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self {
                text: text.to_ascii_lowercase(),
                places: None,
            };
        }
        let mut folded = String::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (place, letter) in text.char_indices() {
            fold(letter, |part| {
                folded.push(part);
                places.resize(folded.len(), place);
            });
        }
        places.push(text.len());
        Self {
            text: folded,
            places: Some(places),
        }
    }

    /// Returns where in the text something came from that stands here.
    pub(crate) fn place(&self, at: usize) -> usize {
        match &self.places {
            None => at,
            Some(places) => places
                .get(at)
                .or_else(|| places.last())
                .copied()
                .unwrap_or(0),
        }
    }
}

/// Returns a text without case and accents.
pub(crate) fn folded(text: &str) -> Cow<'_, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if text.bytes().all(is_folded) {
        return text.into();
    }
    Folded::new(text).text.into()
}

/// Calls `each` with the words of a text without case and accents, and where they begin.
pub(crate) fn each_word<'a>(text: &'a str, mut each: impl FnMut(usize, &'a str)) {
    let mut rest = text;
    while let Some(start) = rest.find(|letter| is_word(letter) || stands_alone(letter)) {
        let (_, from) = rest.split_at(start);
        let length = match from.chars().next() {
            Some(letter) if stands_alone(letter) => letter.len_utf8(),
            _ => from.find(|letter| !is_word(letter)).unwrap_or(from.len()),
        };
        let (word, after) = from.split_at(length);
        each(text.len() - from.len(), word);
        rest = after;
    }
}

/// Returns the beginning of a word that the index knows.
pub(crate) fn cut(word: &str) -> &str {
    let mut length = word.len().min(LONGEST_WORD);
    while !word.is_char_boundary(length) {
        length -= 1;
    }
    word.split_at(length).0
}

/// The words of a stretch of records, each once.
///
/// Nearly all words of a stretch were in it before: a word is read into one buffer and looked up there, and only a new one
/// costs anything more.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Where each of them is in the text.
    known: HashTable<Range<usize>>,
    /// All of them, with spaces between.
    text: String,
    /// The word that is being read.
    word: String,
}

impl Words {
    /// Adds the words of a text.
    pub(crate) fn add(&mut self, text: &str) {
        let mut rest = text;
        loop {
            // What is not ASCII is read letter by letter.
            let length = rest.bytes().position(|byte| !byte.is_ascii());
            let (plain, other) = rest.split_at(length.unwrap_or(rest.len()));
            self.add_ascii(plain);
            let mut letters = other.chars();
            let Some(letter) = letters.next() else {
                break;
            };
            fold(letter, |part| self.add_letter(part));
            rest = letters.as_str();
        }
        self.end_word();
    }

    /// Goes on with letters of which none is beyond ASCII.
    fn add_ascii(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let is_part = u8::is_ascii_alphanumeric;
            let length = rest.bytes().position(|byte| !is_part(&byte));
            let (part, after) = rest.split_at(length.unwrap_or(rest.len()));
            let room = LONGEST_WORD.saturating_sub(self.word.len());
            let start = self.word.len();
            self.word.push_str(part.get(..room).unwrap_or(part));
            if let Some(new) = self.word.get_mut(start..) {
                new.make_ascii_lowercase();
            }
            if after.is_empty() {
                return;
            }
            self.end_word();
            let next = after.bytes().position(|byte| is_part(&byte));
            rest = after.split_at(next.unwrap_or(after.len())).1;
        }
    }

    /// Goes on with a letter that has neither case nor accent.
    fn add_letter(&mut self, letter: char) {
        if is_word(letter) {
            // Of a long word the beginning is known.
            if self.word.len() < LONGEST_WORD {
                self.word.push(letter);
            }
            return;
        }
        self.end_word();
        if stands_alone(letter) {
            self.word.push(letter);
            self.end_word();
        }
    }

    /// Ends the word that is being read, if there is one.
    fn end_word(&mut self) {
        let Self { known, text, word } = self;
        if word.is_empty() {
            return;
        }
        let new = cut(word);
        let hash = |word: &str| FixedState::default().hash_one(word);
        let word_at = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default();
        let entry = known.entry(
            hash(new),
            |place| word_at(place) == new,
            |place| hash(word_at(place)),
        );
        if let Entry::Vacant(entry) = entry {
            let start = text.len() + usize::from(!text.is_empty());
            entry.insert(start..start + new.len());
            if start > 0 {
                text.push(' ');
            }
            text.push_str(new);
        }
        word.clear();
    }

    /// Tells whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns all of them with spaces between.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns each of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.text.split_terminator(' ')
    }

    /// Forgets all of them, and keeps the room for others.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_no_case_and_no_accents() {
        let cases = [
            ("Hello, World!", "hello world"),
            ("it's a_b-c.d/e", "it s a b c d e"),
            ("Größe NAÏVE nai\u{308}ve", "große naive"),
            ("全文検索は", "全 文 検 索 は"),
            ("done 🎉🎉 ok", "done 🎉 ok"),
            ("Война и мир", "воина и мир"),
            ("a a A", "a"),
            ("-- * %", ""),
            ("Ünder_scored…Mixed", "under scored mixed"),
            ("naïVE", "naive"),
        ];
        for (text, expected) in cases {
            let mut words = Words::default();
            words.add(text);
            assert_eq!(words.text(), expected, "{text}");
        }
    }

    #[test]
    fn a_long_word_is_cut_between_letters() {
        let mut words = Words::default();
        words.add(&"ж".repeat(100));
        words.add(&"x".repeat(100));
        let lengths: Vec<usize> = words.text().split(' ').map(str::len).collect();
        assert_eq!(lengths, [LONGEST_WORD, LONGEST_WORD]);
    }

    /// Reading in one go finds what folding a text and taking it apart afterwards finds.
    #[test]
    fn words_are_those_of_the_folded_text() {
        let letters = [
            "a", "Z", "7", "é", "e\u{301}", "ß", "İ", "語", "🎉", " ", "_", "-", "…", "\u{308}",
            "ǆ", "ﬁ", "가",
        ];
        let mut random = 7_usize;
        for _ in 0..2_000 {
            let mut text = String::new();
            for _ in 0..40 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let letter = letters[(random >> 33) % letters.len()];
                // Also long words, which are cut.
                text.push_str(
                    &letter.repeat(1 + 40 * usize::from((random >> 50).is_multiple_of(29))),
                );
            }
            let mut expected: Vec<String> = Vec::new();
            each_word(&folded(&text), |_, word| {
                if !expected.iter().any(|known| known == cut(word)) {
                    expected.push(cut(word).to_owned());
                }
            });
            let mut words = Words::default();
            words.add(&text);
            assert_eq!(words.iter().collect::<Vec<_>>(), expected, "{text:?}");
            assert_eq!(words.len(), expected.len());
        }
    }

    #[test]
    fn places_are_those_of_the_text_as_it_was() {
        let text = "x É é y";
        let folded = Folded::new(text);
        assert_eq!(folded.text, "x e e y");
        let at = folded.text.find('y').unwrap();
        assert_eq!(folded.place(at), text.find('y').unwrap());
        assert_eq!(folded.place(folded.text.len()), text.len());
    }
}
