//! The search that decides what is looked at.
//!
//! Every byte passes it, and nearly none is part of a secret: it has to be quicker than anything
//! that reads the bytes afterwards. A vectorised search for many texts at once gets slow beyond some
//! twenty of them, so there are two. A few needles are searched for as they are. All others
//! begin a word, and what they begin is a long run without blanks, quotes or brackets: such runs are found in blocks
//! of bytes, by comparisons that compilers turn into vector instructions, and only where words begin in them a needle is
//! looked up.

use aho_corasick::packed::{Config, MatchKind, Searcher};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Span};
use memchr::memmem::Finder;

use super::delta::DeltaShape;

/// The least length of a run that is looked into: it holds two whole blocks, wherever it begins.
pub(super) const LEAST_RUN: usize = 3 * BLOCK - 1;
const BLOCK: usize = 8;
/// How many blocks are judged at once.
const STRIDE: usize = 8 * BLOCK;
/// A run that is longer is an image or another file: only its ends are looked into.
const LONGEST_RUN: usize = 16 * 1024;
const ENDS_OF_RUN: usize = 1024;
/// The most texts that the vectorised search takes.
const MOST_PACKED: usize = 128;
const TABLE: usize = 4096;

/// Finds the next of many short texts.
#[derive(Debug)]
pub(super) struct Needles {
    texts: Texts,
    /// Which owners each text that is searched for has.
    text_owners: Vec<Vec<Owner>>,
    /// The needles that begin long runs.
    words: Vec<(Box<[u8]>, Owner)>,
    /// The first word with the hash of its first bytes, and one more; words are ordered by hash.
    table: Vec<(u16, u16)>,
    /// All needles that secrets begin with, sorted, and which two bytes they begin with.
    sorted: Vec<Box<[u8]>>,
    beginnings: Vec<u64>,
    /// What stands in lines that hold pieces of a text, in the runtime's order.
    deltas: Vec<Finder<'static>>,
}

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
}

impl Owner {
    /// Whoever wants a line to be read, for no rule.
    pub(super) const READER: Self = Self {
        rule: None,
        distance: 0,
        begins_run: false,
    };
}

impl Needles {
    pub(super) fn new(
        needles: impl IntoIterator<Item = (Vec<u8>, Owner)>,
        deltas: &'static [DeltaShape],
    ) -> Self {
        let of_deltas = deltas.iter().map(|delta| delta.needle.as_bytes().to_vec());
        let of_deltas = of_deltas.map(|text| (text, Owner::READER));
        let mut all: Vec<(Vec<u8>, Owner)> = needles.into_iter().chain(of_deltas).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        let (mut texts, mut text_owners): (Vec<Vec<u8>>, Vec<Vec<Owner>>) = Default::default();
        let (mut words, mut sorted) = (Vec::new(), Vec::<Box<[u8]>>::new());
        for (text, owner) in all {
            if owner.distance == 0 && owner.rule.is_some() {
                sorted.push(text.as_slice().into());
            }
            if owner.begins_run && text.len() >= 3 {
                words.push((text.into_boxed_slice(), owner));
                continue;
            }
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
            beginnings: beginnings(&sorted),
            sorted,
            deltas: deltas
                .iter()
                .map(|delta| Finder::new(delta.needle))
                .collect(),
        }
    }

    /// Begins a search in some bytes.
    pub(super) fn search<'n, 'b>(&'n self, bytes: &'b [u8]) -> Search<'n, 'b> {
        Search {
            needles: self,
            bytes,
            text: Next::Unknown,
            word: Next::Unknown,
            run: (0, 0),
        }
    }

    /// Returns which of the runtime's shapes of pieces a line has.
    pub(super) fn delta_in(&self, line: &[u8]) -> Option<usize> {
        self.deltas
            .iter()
            .position(|delta| delta.find(line).is_some())
    }

    /// Tells whether a needle begins with a text, and goes on.
    pub(super) fn begins_needle(&self, text: &[u8]) -> bool {
        // Nearly always the first two bytes tell.
        let [first, second, ..] = *text else {
            return false;
        };
        let (word, bit) = beginning(first, second);
        if self.beginnings.get(word).is_none_or(|word| word & bit == 0) {
            return false;
        }
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
        let start = tail.iter().rposition(|byte| ends_run(*byte));
        for place in first + start.map_or(0, |start| start + 1)..bytes.len() {
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
        let is_word = |place: usize| {
            let (first, last) = self.words_at(bytes, place);
            place >= from && last > first
        };
        if from <= start {
            if is_word(start) {
                return Some(start);
            }
            // What an escape ends with is no part of a word.
            let escape = match start.checked_sub(1).and_then(|at| bytes.get(at)) {
                Some(b'\\') if bytes.get(start) == Some(&b'u') => 5,
                Some(b'\\') => 1,
                Some(b'%') => 2,
                _ => 0,
            };
            if escape > 0 && is_word(start + escape) {
                return Some(start + escape);
            }
        }
        let middle = if end - start > LONGEST_RUN {
            start + ENDS_OF_RUN..end - ENDS_OF_RUN
        } else {
            end..end
        };
        let mut place = from.max(start + 1);
        while place + 3 < end {
            if middle.contains(&place) {
                place = middle.end;
            }
            // The next place after what is no part of a word.
            let before = bytes.get(place - 1..end).unwrap_or_default();
            place += before.iter().position(|byte| !is_word_byte(*byte))?;
            if is_word(place) {
                return Some(place);
            }
            place += 1;
        }
        None
    }
}

/// Which bytes are letters, digits or `_`.
static IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        #[expect(clippy::indexing_slicing, reason = "a byte is less than 256")]
        {
            table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        }
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

#[inline]
fn is_word_byte(byte: u8) -> bool {
    IS_WORD.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Tells whether a run is a UUID: nothing begins in it that is long enough.
fn is_uuid(run: &[u8]) -> bool {
    let is_dash = |at: usize| run.get(at) == Some(&b'-');
    run.len() == 36 && is_dash(8) && is_dash(13) && is_dash(18) && is_dash(23)
}

/// A search in some bytes, which remembers what it has found ahead.
pub(super) struct Search<'n, 'b> {
    needles: &'n Needles,
    bytes: &'b [u8],
    text: Next<(usize, usize)>,
    word: Next<usize>,
    /// The run that was found last.
    run: (usize, usize),
}

enum Next<T> {
    Unknown,
    Known(T),
    Nothing,
}

impl<'n> Search<'n, '_> {
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
            self.run = next_run(self.bytes, from.max(self.run.1))?;
        }
    }

    /// Calls `each` for the owners of the needles at a place that was found.
    pub(super) fn owners(&self, place: usize, mut each: impl FnMut(Owner)) {
        if let Next::Known((text, pattern)) = self.text
            && text == place
        {
            let owners: &'n [Owner] = self
                .needles
                .text_owners
                .get(pattern)
                .map_or(&[], Vec::as_slice);
            owners.iter().copied().for_each(&mut each);
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

/// Returns which pairs of bytes needles begin with, as a set of bits.
fn beginnings(needles: &[Box<[u8]>]) -> Vec<u64> {
    let mut set = vec![0; 1024];
    for needle in needles {
        if let [first, second, ..] = **needle {
            let (word, bit) = beginning(first, second);
            if let Some(word) = set.get_mut(word) {
                *word |= bit;
            }
        }
    }
    set
}

/// Returns the place of a pair of bytes in such a set.
fn beginning(first: u8, second: u8) -> (usize, u64) {
    let place = usize::from(first) << 8 | usize::from(second);
    (place >> 6, 1 << (place & 63))
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

/// Tells whether a byte can be in no run: blanks, quotes, brackets, `\\`, `,`, `;`, what is beyond ASCII.
///
/// Without a branch, so that many bytes are judged at once.
#[inline]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a branch would keep vectors out"
)]
pub(super) fn ends_run(byte: u8) -> bool {
    // `+` to `z` and `~`, but for `,` `;` `<` `>` `?` and `[` `\\` `]` `^` and the grave accent.
    let is_within = (byte.wrapping_sub(b'+') <= b'z' - b'+') | (byte == b'~');
    let is_bracket = byte.wrapping_sub(b'[') <= 3;
    let is_compared = (byte == b'<') | (byte.wrapping_sub(b'>') <= 1);
    let is_other = (byte == b',') | (byte == b';') | (byte == b'`');
    !is_within | is_bracket | is_compared | is_other
}

/// Returns the next run of [`LEAST_RUN`] or more from a place on.
fn next_run(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut place = from;
    // Where the run begins that the place is in.
    let mut start = from;
    while let Some(stride) = bytes.get(place..place + STRIDE) {
        let mut marks = [0_u8; STRIDE];
        for (mark, byte) in marks.iter_mut().zip(stride) {
            *mark = u8::from(ends_run(*byte));
        }
        let mut words = [0_u64; STRIDE / BLOCK];
        for (word, block) in words.iter_mut().zip(marks.as_chunks::<BLOCK>().0) {
            *word = u64::from_le_bytes(*block);
        }
        for (index, word) in words.iter().enumerate() {
            if *word == 0 {
                continue;
            }
            let block = place + index * BLOCK;
            let end = block + word.trailing_zeros() as usize / 8;
            if end >= start + LEAST_RUN {
                return Some((start, end));
            }
            start = block + BLOCK - word.leading_zeros() as usize / 8;
        }
        place += STRIDE;
    }
    // What is left is too short for a stride.
    let rest = bytes.get(place..).unwrap_or_default();
    for (index, byte) in rest.iter().enumerate() {
        if ends_run(*byte) {
            let end = place + index;
            if end >= start + LEAST_RUN {
                return Some((start, end));
            }
            start = end + 1;
        }
    }
    (bytes.len() >= start + LEAST_RUN).then_some((start, bytes.len()))
}
