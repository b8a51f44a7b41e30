//! The search that decides what is looked at.
//!
//! Every byte passes it, and nearly none is part of a secret: it has to be quicker than anything
//! that reads the bytes afterwards. [`Fingerprints`] tell the few places where a needle may begin, and only these
//! are compared with the needles. What nearly all needles begin is a long run without blanks, quotes or brackets, at the
//! beginning of a word: where the run is short nothing was found.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem::Finder;

use super::alphabet::is_word;
use super::delta::{DeltaFields, DeltaShape};
use super::fingerprints::{Fingerprints, frequency_of};
use super::piecewise::Piecewise;
use super::strides::{LEAST_RUN, Strides};
use super::text::Text;

const TABLE: usize = 4096;

/// Finds the next of many short texts.
#[derive(Debug)]
pub(super) struct Needles {
    fingerprints: Fingerprints,
    /// The texts that may stand anywhere: which owners each has, and what stands before it in their needles.
    texts: Vec<(NeedleText, Vec<TextOwner>)>,
    text_places: HashPlaces,
    /// The needles that begin long runs.
    words: Vec<(NeedleText, Owner)>,
    word_places: HashPlaces,
    /// All needles that secrets begin with, sorted, and which two bytes they begin with.
    sorted: Vec<Box<[u8]>>,
    beginnings: Pairs,
    /// The needles of rules that secrets do not begin with.
    placed: Vec<Box<[u8]>>,
    /// All of them for pieces of a text, made when the first piece comes that may pass quickly.
    piecewise: OnceLock<Option<Piecewise>>,
    /// Which two bytes a text can end with that is the beginning of a needle, and not all of it.
    inner: Pairs,
    /// Which two bytes are at the end of one piece of a text and at the beginning of the next, where a needle lies over both.
    crossings: Pairs,
    /// What stands in lines that hold pieces of a text, and where in them the pieces are, in the runtime's order.
    deltas: Vec<(Finder<'static>, DeltaFields)>,
}

/// A text, and how its first bytes are compared at once.
#[derive(Debug)]
struct NeedleText {
    bytes: Box<[u8]>,
    /// The first eight bytes, zeros behind a shorter text; and which bits of eight other bytes are to be the same.
    start: u64,
    mask: u64,
}

impl NeedleText {
    fn new(bytes: &[u8]) -> Self {
        let mask = match bytes.len() {
            length @ ..8 => !(u64::MAX << (8 * length)),
            _ => u64::MAX,
        };
        Self {
            bytes: bytes.into(),
            start: start_of(bytes),
            mask,
        }
    }

    /// Tells whether other bytes begin with the text, which start with eight.
    #[inline]
    fn begins(&self, bytes: &[u8], start: u64) -> bool {
        // Zeros that stand behind the last of the bytes are not of them.
        start & self.mask == self.start
            && bytes.len() >= self.bytes.len()
            && (self.bytes.len() <= 8 || bytes.starts_with(&self.bytes))
    }
}

/// Where texts are that are ordered by the hash of their first bytes: the first one for each hash, and one more than the last.
#[derive(Debug)]
struct HashPlaces(Vec<(u16, u16)>);

impl HashPlaces {
    fn new<'t>(texts: impl IntoIterator<Item = &'t NeedleText>) -> Self {
        let mut places = vec![(0, 0); TABLE];
        for (index, text) in (0_u16..).zip(texts) {
            if let Some(slot) = places.get_mut(hash(&text.bytes)) {
                let first = if slot.1 == 0 { index } else { slot.0 };
                *slot = (first, index + 1);
            }
        }
        Self(places)
    }

    #[inline]
    fn of(&self, hash: usize) -> Range<usize> {
        let (first, end) = self.0.get(hash).copied().unwrap_or_default();
        usize::from(first)..usize::from(end)
    }
}

/// Returns the first eight bytes, with zeros behind where there are fewer.
#[inline]
fn start_of(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_le_bytes(*first);
    }
    let bytes = bytes.iter().take(8).rev();
    bytes.fold(0, |start, byte| start << 8 | u64::from(*byte))
}

/// The owner of a text that is searched for, and what stands before that text in its needle.
type TextOwner = (Owner, Box<[u8]>);

/// Whose needle it is: of which rule, and at what distance from its beginning; or of no rule, for what is
/// looked at for another reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) rule: Option<u16>,
    pub(super) distance: usize,
    /// What begins with the needle is a run of [`LEAST_RUN`] or more, at the beginning of a word.
    pub(super) begins_run: bool,
    /// It stands in lines of this one of the runtime's shapes, which have a piece of a text.
    pub(super) delta: Option<u8>,
}

impl Owner {
    /// Whoever wants a line to be read, for no rule.
    pub(super) const READER: Self = Self {
        rule: None,
        distance: 0,
        begins_run: false,
        delta: None,
    };
}

impl Needles {
    pub(super) fn new(
        needles: impl IntoIterator<Item = (Vec<u8>, Owner)>,
        deltas: &'static [DeltaShape],
    ) -> Self {
        let of_deltas = (0_u8..).zip(deltas).map(|(number, delta)| {
            let owner = Owner {
                delta: Some(number),
                ..Owner::READER
            };
            (delta.needle.as_bytes().to_vec(), owner)
        });
        let mut all: Vec<(Vec<u8>, Owner)> = needles.into_iter().chain(of_deltas).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        let mut words = Vec::new();
        let (mut sorted, mut placed) = (Vec::<Box<[u8]>>::new(), Vec::<Box<[u8]>>::new());
        let (mut beginnings, mut inner, mut crossings) = (Pairs::new(), Pairs::new(), Pairs::new());
        let mut searched: Vec<(Vec<u8>, TextOwner)> = Vec::new();
        for (text, mut owner) in all {
            let mut pairs = text.iter().zip(text.iter().skip(1)).peekable();
            if owner.distance == 0 && owner.rule.is_some() {
                sorted.push(text.as_slice().into());
                if let Some((first, second)) = pairs.peek() {
                    beginnings.insert(**first, **second);
                }
                let all_but_last = pairs.clone().take(text.len().saturating_sub(2));
                all_but_last.for_each(|(first, second)| inner.insert(*first, *second));
            } else if owner.rule.is_some() {
                placed.push(text.as_slice().into());
            }
            // Where a word begins it is known by two characters; other needles are not.
            let begins_word = text.first().copied().is_some_and(is_word);
            let is_word = owner.begins_run && begins_word && text.len() >= 3;
            let most = if is_word { 1 } else { text.len() };
            if owner.rule.is_some() {
                pairs
                    .take(most)
                    .for_each(|(first, second)| crossings.insert(*first, *second));
            }
            if is_word {
                words.push((NeedleText::new(&text), owner));
            } else {
                let skipped = rarest(&text);
                owner.distance += skipped;
                let (before, text) = text.split_at(skipped);
                searched.push((text.to_vec(), (owner, before.into())));
            }
        }
        searched.sort_by(|one, other| one.0.cmp(&other.0));
        let mut texts: Vec<(NeedleText, Vec<TextOwner>)> = Vec::new();
        for (text, owner) in searched {
            match texts.last_mut() {
                // In order, a text comes right after those that it begins with, and is wherever they are.
                Some((last, owners)) if text.starts_with(&last.bytes) => owners.push(owner),
                _ => texts.push((NeedleText::new(&text), vec![owner])),
            }
        }
        texts.sort_by_key(|(text, _)| hash(&text.bytes));
        words.sort_by_key(|(word, _)| hash(&word.bytes));
        Self {
            fingerprints: Fingerprints::new(
                texts.iter().map(|(text, _)| &*text.bytes),
                words.iter().map(|(word, _)| &*word.bytes),
            ),
            text_places: HashPlaces::new(texts.iter().map(|(text, _)| text)),
            word_places: HashPlaces::new(words.iter().map(|(word, _)| word)),
            texts,
            words,
            beginnings,
            inner,
            crossings,
            sorted,
            placed,
            piecewise: OnceLock::new(),
            deltas: deltas
                .iter()
                .map(|delta| (Finder::new(delta.needle), DeltaFields::new(delta)))
                .collect(),
        }
    }

    /// Begins a search in some bytes.
    pub(super) fn search<'n, 'b>(&'n self, bytes: &'b [u8]) -> NeedleSearch<'n, 'b> {
        NeedleSearch {
            needles: self,
            bytes,
            strides: Strides::default(),
            found: None,
            is_over: false,
        }
    }

    /// Returns which of the runtime's shapes of pieces a line has.
    pub(super) fn delta_in(&self, line: &[u8]) -> Option<usize> {
        self.deltas
            .iter()
            .position(|(delta, _)| delta.find(line).is_some())
    }

    /// Returns where in lines of one of the runtime's shapes the pieces are.
    pub(super) fn fields(&self, shape: usize) -> Option<&DeltaFields> {
        self.deltas.get(shape).map(|(_, fields)| fields)
    }

    /// Returns the needles for pieces of a text.
    pub(super) fn piecewise(&self) -> Option<&Piecewise> {
        let made = self
            .piecewise
            .get_or_init(|| Piecewise::new(&self.sorted, &self.placed));
        made.as_ref()
    }

    /// Tells whether a needle may begin with two bytes.
    #[inline]
    pub(super) fn may_begin_with(&self, first: u8, second: u8) -> bool {
        self.beginnings.has(first, second)
    }

    /// Tells whether a text that ends with two bytes may end with the beginning of a needle.
    #[inline]
    pub(super) fn may_go_on_after(&self, last_but_one: u8, last: u8) -> bool {
        self.inner.has(last_but_one, last)
    }

    /// Tells whether a needle may lie over the end of one piece of a text and the beginning of the next, if it was not seen to
    /// begin in the first one: by the last byte of that and the first byte of this.
    #[inline]
    pub(super) fn may_cross(&self, last: u8, first: u8) -> bool {
        self.crossings.has(last, first)
    }

    /// Tells whether a needle begins with a text, and goes on.
    pub(super) fn begins_needle(&self, text: &[u8]) -> bool {
        let index = self.sorted.partition_point(|needle| **needle < *text);
        let rest = self.sorted.get(index..).unwrap_or_default();
        let mut longer = rest.iter().skip_while(|needle| needle.len() == text.len());
        longer.next().is_some_and(|needle| needle.starts_with(text))
    }

    /// Returns the needle words that a place begins with.
    #[inline]
    fn words_at(&self, bytes: &[u8], place: usize) -> (usize, usize) {
        let Some(first @ [_, _, _]) = bytes.get(place..place + 3) else {
            return (0, 0);
        };
        let slot = self.word_places.of(hash(first));
        if slot.is_empty() {
            return (0, 0);
        }
        let rest = bytes.get(place..).unwrap_or_default();
        let start = start_of(rest);
        let words = self.words.get(slot.clone()).unwrap_or_default();
        let is_there = words.iter().any(|(word, _)| word.begins(rest, start));
        if is_there {
            (slot.start, slot.end)
        } else {
            (0, 0)
        }
    }

    /// Calls `each` for the needles that begin a run which is still short, and goes on to the end: more of it may come.
    pub(super) fn at_end(&self, bytes: &[u8], mut each: impl FnMut(usize, Owner)) {
        let first = bytes.len().saturating_sub(LEAST_RUN - 1);
        let tail = bytes.get(first..).unwrap_or_default();
        let length = tail
            .iter()
            .rev()
            .take_while(|byte| !ends_run(**byte))
            .count();
        let text = Text::new(bytes);
        // The shortest needle has three characters.
        for place in bytes.len() - length..bytes.len().saturating_sub(2) {
            if !text.begins_word(place) {
                continue;
            }
            let (from, to) = self.words_at(bytes, place);
            let rest = bytes.get(place..).unwrap_or_default();
            for (word, owner) in self.words.get(from..to).unwrap_or_default() {
                if rest.starts_with(&word.bytes) {
                    each(place, *owner);
                }
            }
        }
    }

    /// Returns which text a place begins with.
    #[inline]
    fn text_at(&self, bytes: &[u8], place: usize) -> Option<usize> {
        let rest = bytes.get(place..)?;
        let start = start_of(rest);
        // Those that are too short for a hash are with those that have none of their own.
        let slots = [self.text_places.of(hash(rest)), self.text_places.of(0)];
        slots.into_iter().flatten().find(|index| {
            let text = self.texts.get(*index);
            text.is_some_and(|(text, _)| text.begins(rest, start))
        })
    }
}

/// Tells whether a byte can be in no run: blanks, quotes, brackets, `\\`, `,`, `;`, what is beyond ASCII.
#[inline]
pub(super) fn ends_run(byte: u8) -> bool {
    !matches!(byte, b'+' | b'-'..=b':' | b'=' | b'@'..=b'Z' | b'_' | b'a'..=b'z' | b'~')
}

/// A search in some bytes, which remembers what it has found ahead.
pub(super) struct NeedleSearch<'n, 'b> {
    needles: &'n Needles,
    pub(super) bytes: &'b [u8],
    strides: Strides,
    /// What was found last.
    found: Option<FoundNeedle>,
    /// There is nothing more.
    is_over: bool,
}

/// A place with a needle.
#[derive(Clone, Copy)]
struct FoundNeedle {
    place: usize,
    /// The text that it begins with.
    text: Option<usize>,
    /// It begins a long run with a word.
    is_word: bool,
}

impl NeedleSearch<'_, '_> {
    /// Returns the next place with a needle from a place on. Places must not go back.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        if let Some(found) = self.found.filter(|found| found.place >= from) {
            return Some(found.place);
        }
        if self.is_over {
            return None;
        }
        let mut from = from;
        while let Some(may_be) = self
            .strides
            .next(&self.needles.fingerprints, self.bytes, from)
        {
            let place = may_be.place;
            let text = may_be
                .may_be_anywhere
                .then(|| self.needles.text_at(self.bytes, place));
            let words = may_be
                .may_be_word
                .then(|| self.needles.words_at(self.bytes, place));
            let is_word = words.is_some_and(|(first, last)| last > first);
            let text = text.flatten();
            if text.is_some() || is_word {
                self.found = Some(FoundNeedle {
                    place,
                    text,
                    is_word,
                });
                return Some(place);
            }
            from = place + 1;
        }
        self.is_over = true;
        None
    }

    /// Calls `each` for the owners of the needles at a place that was found.
    pub(super) fn owners(&self, place: usize, mut each: impl FnMut(Owner)) {
        let Some(found) = self.found.filter(|found| found.place == place) else {
            return;
        };
        if let Some((_, owners)) = found.text.and_then(|text| self.needles.texts.get(text)) {
            let before = self.bytes.get(..place).unwrap_or_default();
            for (owner, beginning) in owners {
                // To compare with nothing, which is nowhere, takes processors long.
                if beginning.is_empty() || before.ends_with(beginning) {
                    each(*owner);
                }
            }
        }
        if found.is_word {
            let (first, last) = self.needles.words_at(self.bytes, place);
            let rest = self.bytes.get(place..).unwrap_or_default();
            for (word, owner) in self.needles.words.get(first..last).unwrap_or_default() {
                if rest.starts_with(&word.bytes) {
                    each(*owner);
                }
            }
        }
    }
}

/// Returns where the part of a text begins that is looked for first: the search goes by its first three bytes,
/// which should be rare.
fn rarest(text: &[u8]) -> usize {
    let is_escape = text.first() == Some(&b'\\');
    let most = if is_escape {
        0
    } else {
        text.len().saturating_sub(3)
    };
    let frequency = |place: &usize| -> u64 {
        let first = text.get(*place..).unwrap_or_default().iter().take(3);
        first.map(|byte| 1 + frequency_of(*byte)).product()
    };
    // Of several the last: ends of words are rarer than beginnings.
    (0..=most).rev().min_by_key(frequency).unwrap_or_default()
}

/// A set of pairs of bytes.
#[derive(Debug)]
struct Pairs(Vec<u64>);

impl Pairs {
    fn new() -> Self {
        Self(vec![0; 1024])
    }

    fn insert(&mut self, first: u8, second: u8) {
        let (word, bit) = Self::place(first, second);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    fn has(&self, first: u8, second: u8) -> bool {
        let (word, bit) = Self::place(first, second);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    #[inline]
    fn place(first: u8, second: u8) -> (usize, u64) {
        let place = usize::from(first) << 8 | usize::from(second);
        (place >> 6, 1 << (place & 63))
    }
}

/// Returns a number below [`TABLE`] for the first three bytes of a text; zero if there are fewer.
#[inline]
fn hash(word: &[u8]) -> usize {
    let [one, two, three, ..] = *word else {
        return 0;
    };
    let joined = u32::from(one) << 16 | u32::from(two) << 8 | u32::from(three);
    (joined.wrapping_mul(0x9E37_79B1) >> 20) as usize
}
