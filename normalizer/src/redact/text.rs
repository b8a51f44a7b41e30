//! The text that rules look at.

use std::cell::RefCell;

use memchr::memmem;

use super::alphabet::{Alphabet, is_word};

/// A run shorter than this is read again rather than remembered.
const SHORT: usize = 128;

/// A text in which secrets are looked for.
///
/// It remembers where long runs end: a hostile text may have a keyword at every few bytes of a long
/// run, and all of them would look for the same end.
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    /// More of the text may come: what reaches its end is not decided yet.
    pub(super) is_open: bool,
    /// The text stands for itself, and may be a damaged JSON line: what is found in it must not span quotes.
    pub(super) is_raw: bool,
    runs: RefCell<Vec<KnownRun>>,
    found: RefCell<Vec<FoundWord>>,
}

/// A word that was looked for: from where, and where it is next.
type FoundWord = (&'static [u8], usize, Option<usize>);

struct KnownRun {
    alphabet: Alphabet,
    start: usize,
    end: usize,
}

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            is_open: false,
            is_raw: false,
            runs: RefCell::default(),
            found: RefCell::default(),
        }
    }

    /// Says that the text goes on.
    pub(super) fn open(mut self, is_open: bool) -> Self {
        self.is_open = is_open;
        self
    }

    /// Says that the text may be a damaged line.
    pub(super) fn raw(mut self, is_raw: bool) -> Self {
        self.is_raw = is_raw;
        self
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    pub(super) fn has(&self, word: &[u8], at: usize) -> bool {
        self.bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(word))
    }

    /// Returns where a run ends.
    pub(super) fn run_end(&self, alphabet: &Alphabet, from: usize) -> usize {
        let mut runs = self.runs.borrow_mut();
        if let Some(known) = runs.iter_mut().find(|run| run.alphabet == *alphabet) {
            if !(known.start..known.end).contains(&from) {
                known.start = from;
                known.end = alphabet.run_end(self.bytes, from);
            }
            return known.end;
        }
        let end = alphabet.run_end(self.bytes, from);
        if end - from > SHORT {
            runs.push(KnownRun {
                alphabet: alphabet.clone(),
                start: from,
                end,
            });
        }
        end
    }

    /// Returns where a word is next.
    pub(super) fn find(&self, word: &'static [u8], from: usize) -> Option<usize> {
        let mut found = self.found.borrow_mut();
        let known = found.iter().position(|(known, ..)| *known == word);
        if let Some((_, start, place)) = known.and_then(|index| found.get(index)) {
            let is_before = |place: &Option<usize>| place.is_none_or(|place| from <= place);
            if *start <= from && is_before(place) {
                return *place;
            }
        }
        let rest = self.bytes.get(from..).unwrap_or_default();
        let place = memmem::find(rest, word).map(|place| from + place);
        if let Some(index) = known {
            found.swap_remove(index);
        }
        found.push((word, from, place));
        place
    }

    /// Tells whether a word could begin at a place: what is before it is no part of one.
    ///
    /// An escape is no part of a word, though it ends with a letter: `\n` in text that was
    /// escaped twice, or `%3D` in a URL.
    #[inline]
    pub(super) fn begins_word(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.byte(at));
        before.is_none_or(|byte| !is_word(byte) || self.follows_escape(at))
    }

    fn follows_escape(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.byte(at));
        match before(1) {
            None => false,
            Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
            Some(byte) => {
                byte.is_ascii_hexdigit()
                    && before(2).is_some_and(|byte| byte.is_ascii_hexdigit())
                    && before(3) == Some(b'%')
            }
        }
    }
}
