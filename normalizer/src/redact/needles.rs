//! The search that decides what is looked at.
//!
//! Every byte passes it, and nearly none is part of a secret: it has to be quicker than anything
//! that reads the bytes afterwards. A vectorised search for many texts at once gets slow beyond some
//! twenty of them, so there are two. A few needles are searched for as they are. All others
//! begin a word, and what they begin is a long run without blanks, quotes or brackets: such runs are found in blocks
//! of bytes, by comparisons that compilers turn into vector instructions, and only where words begin in them a needle is
//! looked up.

use std::sync::OnceLock;

use aho_corasick::packed::{Config, MatchKind, Searcher};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Span};
use memchr::memmem::Finder;

use super::alphabet::is_word;
use super::delta::{DeltaFields, DeltaShape};
use super::piecewise::Piecewise;
use super::runs::{LEAST_RUN, LongRuns, STRIDE, ends_run, map_at, of_no_word};
use super::text::Text;

/// So few bytes are judged one by one.
const SHORT: usize = 16;
/// The most texts that the vectorised search takes.
const MOST_PACKED: usize = 128;
const TABLE: usize = 4096;

/// Finds the next of many short texts.
#[derive(Debug)]
pub(super) struct Needles {
    texts: Texts,
    /// Which owners each text that is searched for has, and what stands before it in their needles.
    text_owners: Vec<Vec<TextOwner>>,
    /// The needles that begin long runs.
    words: Vec<(Box<[u8]>, Owner)>,
    /// The first word with the hash of its first bytes, and one more; words are ordered by hash.
    table: Vec<(u16, u16)>,
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

/// The owner of a text that is searched for, and what stands before that text in its needle.
type TextOwner = (Owner, Box<[u8]>);

#[derive(Debug)]
enum Texts {
    Packed(Searcher),
    Plain(Box<AhoCorasick>),
    Nothing,
}

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
                words.push((text.into_boxed_slice(), owner));
            } else {
                let skipped = rarest(&text);
                owner.distance += skipped;
                let (before, text) = text.split_at(skipped);
                searched.push((text.to_vec(), (owner, before.into())));
            }
        }
        searched.sort_by(|one, other| one.0.cmp(&other.0));
        let (mut texts, mut text_owners): (Vec<Vec<u8>>, Vec<Vec<_>>) = Default::default();
        for (text, owner) in searched {
            match (texts.last(), text_owners.last_mut()) {
                // In order, a text comes right after those that it begins with, and is wherever they are.
                (Some(last), Some(owners)) if text.starts_with(last) => owners.push(owner),
                _ => {
                    texts.push(text);
                    text_owners.push(vec![owner]);
                }
            }
        }
        words.sort_by_key(|(word, _)| hash(word));
        let mut table = vec![(0, 0); TABLE];
        for (index, (word, _)) in (0_u16..).zip(&words) {
            if let Some(slot) = table.get_mut(hash(word)) {
                let first = if slot.1 == 0 { index } else { slot.0 };
                *slot = (first, index + 1);
            }
        }
        Self {
            texts: Texts::new(&texts),
            text_owners,
            words,
            table,
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
            text: Next::Unknown,
            word: Next::Unknown,
            runs: LongRuns::default(),
            run: (0, 0),
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
        let (from, to) = self.table.get(hash(first)).copied().unwrap_or_default();
        let rest = bytes.get(place..).unwrap_or_default();
        let slot = usize::from(from)..usize::from(to);
        let words = self.words.get(slot.clone()).unwrap_or_default();
        let is_there = words.iter().any(|(word, _)| rest.starts_with(word));
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
                if rest.starts_with(word) {
                    each(place, *owner);
                }
            }
        }
    }

    /// Looks for the first needle word in a run, from a place on.
    fn word_in_run(&self, bytes: &[u8], run: (usize, usize), from: usize) -> Option<usize> {
        let (start, end) = run;
        if is_uuid(bytes.get(start..end).unwrap_or_default()) {
            return None;
        }
        let has_word = |place: usize| {
            let (first, last) = self.words_at(bytes, place);
            place >= from && last > first
        };
        // A word begins after what is no part of one; what an escape ends with is no part of a word, either.
        let word_after = |place: usize| {
            let escape = match place.checked_sub(1).and_then(|at| bytes.get(at)) {
                Some(b'\\') if bytes.get(place) == Some(&b'u') => 5,
                Some(b'\\') => 1,
                Some(b'%') => 2,
                _ => 0,
            };
            let after_escape = || (escape > 0).then_some(place + escape);
            let found = has_word(place).then_some(place);
            found.or_else(|| after_escape().filter(|place| has_word(*place)))
        };
        if from <= start
            && let Some(found) = word_after(start)
        {
            return Some(found);
        }
        // What begins later is too short.
        let last = end.saturating_sub(LEAST_RUN);
        if last <= start + SHORT {
            let first = from.saturating_sub(6).max(start);
            let before = bytes.get(first..last).unwrap_or_default();
            let mut places = (first + 1..).zip(before);
            return places
                .find_map(|(place, before)| (!is_word(*before)).then(|| word_after(place))?);
        }
        // An escape before the place may end after it.
        let mut base = from.saturating_sub(6).max(start);
        while base < last {
            let ends = map_at(bytes, base, of_no_word);
            // Words begin where what is of none is followed by what is; what follows the last one is not known yet.
            let mut ends = ends & !(ends >> 1);
            while ends != 0 {
                let place = base + ends.trailing_zeros() as usize + 1;
                if place > last {
                    return None;
                }
                if let Some(found) = word_after(place) {
                    return Some(found);
                }
                ends &= ends - 1;
            }
            base += STRIDE;
        }
        None
    }
}

/// Tells whether a run is a UUID: nothing begins in it that is long enough.
fn is_uuid(run: &[u8]) -> bool {
    let is_dash = |at: usize| run.get(at) == Some(&b'-');
    run.len() == 36 && is_dash(8) && is_dash(13) && is_dash(18) && is_dash(23)
}

/// A search in some bytes, which remembers what it has found ahead.
pub(super) struct NeedleSearch<'n, 'b> {
    needles: &'n Needles,
    pub(super) bytes: &'b [u8],
    text: Next<(usize, usize)>,
    word: Next<usize>,
    runs: LongRuns,
    /// The run that was found last.
    run: (usize, usize),
}

enum Next<T> {
    Unknown,
    Known(T),
    Nothing,
}

impl NeedleSearch<'_, '_> {
    /// Returns the next place with a needle from a place on. Places must not go back.
    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        if matches!(self.text, Next::Unknown)
            || matches!(self.text, Next::Known((place, _)) if place < from)
        {
            self.text = match self.needles.texts.find(self.bytes, from) {
                Some(found) => Next::Known(found),
                None => Next::Nothing,
            };
        }
        if matches!(self.word, Next::Unknown)
            || matches!(self.word, Next::Known(place) if place < from)
        {
            self.word = match self.next_word(from) {
                Some(place) => Next::Known(place),
                None => Next::Nothing,
            };
        }
        match (&self.text, &self.word) {
            (Next::Known((text, _)), Next::Known(word)) => Some(*text.min(word)),
            (Next::Known((place, _)), _) | (_, Next::Known(place)) => Some(*place),
            _ => None,
        }
    }

    fn next_word(&mut self, from: usize) -> Option<usize> {
        loop {
            if from < self.run.1
                && let Some(found) = self.needles.word_in_run(self.bytes, self.run, from)
            {
                return Some(found);
            }
            self.run = self.runs.next(self.bytes, from.max(self.run.1))?;
        }
    }

    /// Calls `each` for the owners of the needles at a place that was found.
    pub(super) fn owners(&self, place: usize, mut each: impl FnMut(Owner)) {
        if let Next::Known((text, pattern)) = self.text
            && text == place
        {
            let owners = self.needles.text_owners.get(pattern);
            let before = self.bytes.get(..place).unwrap_or_default();
            for (owner, beginning) in owners.map_or(&[][..], Vec::as_slice) {
                if before.ends_with(beginning) {
                    each(*owner);
                }
            }
        }
        if matches!(self.word, Next::Known(word) if word == place) {
            let (first, last) = self.needles.words_at(self.bytes, place);
            let rest = self.bytes.get(place..).unwrap_or_default();
            for (word, owner) in self.needles.words.get(first..last).unwrap_or_default() {
                if rest.starts_with(word) {
                    each(*owner);
                }
            }
        }
    }
}

impl Texts {
    fn new(texts: &[Vec<u8>]) -> Self {
        if texts.is_empty() {
            return Self::Nothing;
        }
        if texts.len() < MOST_PACKED {
            let mut config = Config::new();
            config.match_kind(MatchKind::LeftmostFirst);
            config.heuristic_pattern_limits(false);
            if let Some(searcher) = config.builder().extend(texts).build() {
                return Self::Packed(searcher);
            }
        }
        let plain = AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostFirst)
            .kind(Some(AhoCorasickKind::DFA))
            .build(texts);
        plain.map_or(Self::Nothing, |plain| Self::Plain(Box::new(plain)))
    }

    #[inline]
    fn find(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        if from >= bytes.len() {
            return None;
        }
        match self {
            Self::Packed(searcher) => {
                let found = searcher.find_in(bytes, Span::from(from..bytes.len()))?;
                Some((found.start(), found.pattern().as_usize()))
            }
            Self::Plain(plain) => {
                let found = plain.find(Input::new(bytes).range(from..))?;
                Some((found.start(), found.pattern().as_usize()))
            }
            Self::Nothing => None,
        }
    }
}

/// Returns where the part of a text begins that is looked for first: the vectorised search goes by its first three bytes,
/// which should be rare.
fn rarest(text: &[u8]) -> usize {
    let is_escape = text.first() == Some(&b'\\');
    let most = if is_escape {
        0
    } else {
        text.len().saturating_sub(3)
    };
    let frequency = |place: &usize| -> u32 {
        let first = text.get(*place..).unwrap_or_default().iter().take(3);
        first.map(|byte| frequency_of(*byte)).sum()
    };
    (0..=most).min_by_key(frequency).unwrap_or_default()
}

/// Returns how often a byte is met in what agents print, roughly.
fn frequency_of(byte: u8) -> u32 {
    match byte {
        b' ' | b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b'"' => 8,
        b'l' | b'd' | b'u' | b'h' | b'c' | b'm' | b'p' | b':' | b',' | b'_' => 6,
        b'f' | b'g' | b'y' | b'w' | b'b' | b'.' | b'-' | b'0'..=b'9' => 4,
        b'v' | b'k' | b'/' | b'\\' | b'{' | b'}' => 2,
        _ => 1,
    }
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

/// Returns a number below [`TABLE`] for the first three bytes of a word.
#[inline]
fn hash(word: &[u8]) -> usize {
    let [one, two, three, ..] = *word else {
        return 0;
    };
    let joined = u32::from(one) << 16 | u32::from(two) << 8 | u32::from(three);
    (joined.wrapping_mul(0x9E37_79B1) >> 20) as usize
}
