//! The search that decides what is looked at.
//!
//! Every byte passes it, and nearly none is part of a secret: it has to be quicker than anything
//! that reads the bytes afterwards. A vectorised search for many texts at once gets slow beyond some
//! twenty of them, so there are two. A few needles are searched for as they are. All others
//! begin a word, and what they begin is a long run without blanks, quotes or brackets: such runs are found in blocks
//! of bytes, by comparisons that compilers turn into vector instructions, and only where words begin in them a needle is
//! looked up.

use std::ops::Range;

use aho_corasick::packed::{Config, MatchKind, Searcher};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Span};
use memchr::memmem::Finder;

use super::delta::DeltaShape;

/// The least length of a run that is looked into.
pub(super) const LEAST_RUN: usize = 20;
/// How many bytes are judged at once.
const STRIDE: usize = 64;
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
    /// Which owners each text that is searched for has, and what stands before it in their needles.
    text_owners: Vec<Vec<TextOwner>>,
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
}

/// A needle whose owner may find something where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) place: usize,
    pub(super) owner: Owner,
}

/// Returns those hits of some, which are in order, that are in a part of a line.
pub(super) fn hits_in<'h>(hits: &'h [Hit], part: &Range<usize>) -> &'h [Hit] {
    let first = hits.partition_point(|hit| hit.place < part.start);
    let last = hits.partition_point(|hit| hit.place < part.end);
    hits.get(first..last).unwrap_or_default()
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
        let (mut words, mut sorted) = (Vec::new(), Vec::<Box<[u8]>>::new());
        let mut searched: Vec<(Vec<u8>, TextOwner)> = Vec::new();
        for (text, mut owner) in all {
            if owner.distance == 0 && owner.rule.is_some() {
                sorted.push(text.as_slice().into());
            }
            if owner.begins_run && text.len() >= 3 {
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
            runs: Runs::default(),
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
        // A word begins after what is no part of one; what an escape ends with is no part of a word, either.
        let word_after = |place: usize| {
            let escape = match place.checked_sub(1).and_then(|at| bytes.get(at)) {
                Some(b'\\') if bytes.get(place) == Some(&b'u') => 5,
                Some(b'\\') => 1,
                Some(b'%') => 2,
                _ => 0,
            };
            let after_escape = || (escape > 0).then_some(place + escape);
            let found = is_word(place).then_some(place);
            found.or_else(|| after_escape().filter(|place| is_word(*place)))
        };
        if from <= start
            && let Some(found) = word_after(start)
        {
            return Some(found);
        }
        let middle = if end - start > LONGEST_RUN {
            start + ENDS_OF_RUN..end - ENDS_OF_RUN
        } else {
            end..end
        };
        // An escape before the place may end after it.
        let mut base = from.saturating_sub(6).max(start);
        while base + 3 < end {
            if middle.contains(&base) {
                base = middle.end;
            }
            let mut ends = map_at(bytes, base, |byte| !is_word_byte(byte));
            while ends != 0 {
                let place = base + ends.trailing_zeros() as usize + 1;
                if place + 3 >= end {
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

/// Tells whether a byte is a letter, a digit or `_`, without a branch.
#[inline]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a branch would keep vectors out"
)]
fn is_word_byte(byte: u8) -> bool {
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    is_letter | (byte.wrapping_sub(b'0') < 10) | (byte == b'_')
}

/// Tells whether a run is a UUID: nothing begins in it that is long enough.
fn is_uuid(run: &[u8]) -> bool {
    let is_dash = |at: usize| run.get(at) == Some(&b'-');
    run.len() == 36 && is_dash(8) && is_dash(13) && is_dash(18) && is_dash(23)
}

/// A search in some bytes, which remembers what it has found ahead.
pub(super) struct Search<'n, 'b> {
    needles: &'n Needles,
    pub(super) bytes: &'b [u8],
    text: Next<(usize, usize)>,
    word: Next<usize>,
    runs: Runs,
    /// The run that was found last.
    run: (usize, usize),
}

enum Next<T> {
    Unknown,
    Known(T),
    Nothing,
}

impl Search<'_, '_> {
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

/// Tells whether a byte can be in a run that is looked into: one comparison that holds for all that [`ends_run`] does not
/// end, and little else.
#[inline]
fn is_of_long_run(byte: u8) -> bool {
    byte.cast_signed() >= b'+'.cast_signed()
}

/// The runs of [`LEAST_RUN`] or more bytes that [are of one](is_of_long_run), one after the other.
#[derive(Debug, Default)]
struct Runs {
    /// Where the stride begins that is looked at.
    place: usize,
    /// Its bytes, as bits that are set where a byte is of a run and not behind.
    map: Option<u64>,
    /// How long the run is that ends right before the stride.
    before: usize,
}

impl Runs {
    /// Returns the next run from a place on. Places must not go back.
    fn next(&mut self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        if from >= self.place + STRIDE || self.map.is_none() {
            *self = Self {
                place: from.max(self.place),
                ..Self::default()
            };
        } else if let Some(map) = &mut self.map
            && from > self.place
        {
            *map &= u64::MAX << (from - self.place);
            self.before = 0;
        }
        while self.place < bytes.len() {
            let map = self
                .map
                .unwrap_or_else(|| map_at(bytes, self.place, is_of_long_run));
            let first = map.trailing_ones() as usize;
            let found = if self.before + first >= LEAST_RUN {
                Some((self.place - self.before, first))
            } else {
                let starts = starts_of_runs(map);
                (starts != 0).then(|| {
                    let start = starts.trailing_zeros();
                    let length = (map >> start).trailing_ones();
                    (self.place + start as usize, (start + length) as usize)
                })
            };
            match found {
                Some((start, end)) if end < STRIDE => {
                    self.map = Some(map & u64::MAX << end);
                    self.before = 0;
                    return Some((start, self.place + end));
                }
                Some((start, _)) => {
                    let end = find_end(bytes, self.place + STRIDE);
                    *self = Self {
                        place: end,
                        ..Self::default()
                    };
                    return Some((start, end));
                }
                None => {
                    self.before = map.leading_ones() as usize;
                    self.place += STRIDE;
                    self.map = None;
                }
            }
        }
        None
    }
}

/// Returns a bit for each byte of the stride at a place, the lowest for the first: set where the byte is of a kind. What is
/// after the end is of none.
#[inline]
fn map_at(bytes: &[u8], place: usize, is_of_kind: impl Fn(u8) -> bool) -> u64 {
    let rest = bytes.get(place..).unwrap_or_default();
    if let Some(stride) = rest.first_chunk() {
        return map_of(stride, is_of_kind);
    }
    let mut stride = [0; STRIDE];
    for (byte, last) in stride.iter_mut().zip(rest) {
        *byte = *last;
    }
    let within = !(u64::MAX << rest.len());
    map_of(&stride, is_of_kind) & within
}

/// Returns a bit for each byte of a stride.
///
/// The comparisons become vector instructions, and a multiplication gathers eight of their results.
#[inline]
fn map_of(stride: &[u8; STRIDE], is_of_kind: impl Fn(u8) -> bool) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut marks = [0_u8; STRIDE];
    for (mark, byte) in marks.iter_mut().zip(stride) {
        *mark = u8::from(is_of_kind(*byte));
    }
    let mut map = 0;
    for block in marks.as_chunks::<8>().0.iter().rev() {
        map = map << 8 | u64::from_le_bytes(*block).wrapping_mul(GATHER) >> 56;
    }
    map
}

/// Returns where [`LEAST_RUN`] bits of a map are set from a place on.
#[inline]
fn starts_of_runs(map: u64) -> u64 {
    let two = map & map >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    let sixteen = eight & eight >> 8;
    // Four more make twenty.
    sixteen & four >> 16
}

/// Returns where the first byte from a place on is that ends a run.
fn find_end(bytes: &[u8], from: usize) -> usize {
    let mut place = from;
    while let Some(stride) = bytes.get(place..).and_then(<[u8]>::first_chunk) {
        let length = map_of(stride, is_of_long_run).trailing_ones() as usize;
        place += length;
        if length < STRIDE {
            return place;
        }
    }
    let rest = bytes.get(place..).unwrap_or_default();
    let length = rest.iter().position(|byte| !is_of_long_run(*byte));
    place + length.unwrap_or(rest.len())
}
