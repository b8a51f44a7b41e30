//! Where needles may begin: a look at many bytes at once.
//!
//! Vector instructions look the bytes of a [`STRIDE`] up in tables of [`Fingerprints`], so that a few of them tell for all of
//! it where a needle may begin. Nearly all needles begin a word, and what they begin is a long run without blanks, quotes
//! or brackets: elsewhere these are not looked for. What is found may be none: who asks compares it with the needles.

#![expect(
    clippy::inline_always,
    reason = "what is not within the one function for a kind of processor is made for all of them, and slow"
)]

use fearless_simd::prelude::*;
use fearless_simd::{i8x64, u8x16, u8x64, u64x8};

use super::alphabet::is_word;
use super::fingerprints::{BYTES, Fingerprints, Table, Tables, WORD};

/// How many bytes are looked at together.
const STRIDE: usize = 64;
/// How many strides are looked at in one go, at the most.
const MOST_STRIDES: usize = 16;
/// How many in the first go: the search may end soon, or go on elsewhere.
const FIRST_STRIDES: usize = 4;
/// What is known of so many is put together at once.
const TOGETHER: usize = 8;
/// A stride, and what is looked at of a needle that begins with its last byte.
const REACH: usize = STRIDE + BYTES - 1;
/// The least length of what a word begins.
pub(super) const LEAST_RUN: usize = 20;
/// Bytes up to this one, and those beyond ASCII, are in no run.
const LAST_OUTSIDE: i8 = b'*'.cast_signed();

/// Where needles may begin in some strides, one after the other.
#[derive(Debug)]
pub(super) struct Strides {
    /// Where the first of them begins.
    pub(super) start: usize,
    /// How many are looked at.
    count: usize,
    /// A bit for each stride in which one may begin.
    some: u64,
    /// For each stride a bit for each byte, the lowest for the first: where one may begin that stands anywhere.
    anywhere: [u64; MOST_STRIDES],
    /// The same for what begins a word.
    words: [u64; MOST_STRIDES],
}

/// A place where a needle may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beginning {
    pub(super) place: usize,
    pub(super) may_be_anywhere: bool,
    pub(super) may_be_word: bool,
}

impl Default for Strides {
    fn default() -> Self {
        Self {
            start: 0,
            count: 0,
            some: 0,
            anywhere: [0; MOST_STRIDES],
            words: [0; MOST_STRIDES],
        }
    }
}

impl Strides {
    /// Returns the next place from one on where a needle may begin. Places must not go back, and the bytes be the same.
    #[inline]
    pub(super) fn next(
        &mut self,
        fingerprints: &Fingerprints,
        bytes: &[u8],
        from: usize,
    ) -> Option<Beginning> {
        let mut from = from;
        loop {
            let passed = from - self.start;
            while passed / STRIDE < self.count {
                let first = passed / STRIDE;
                // What is before the place was passed.
                self.some &= u64::MAX << first;
                if self.some == 0 {
                    break;
                }
                let index = self.some.trailing_zeros() as usize;
                let anywhere = self.anywhere.get(index).copied().unwrap_or_default();
                let words = self.words.get(index).copied().unwrap_or_default();
                let within = if index == first { passed % STRIDE } else { 0 };
                let rest = (anywhere | words) & u64::MAX << within;
                if rest == 0 {
                    self.some &= self.some - 1;
                    continue;
                }
                let bit = rest & rest.wrapping_neg();
                return Some(Beginning {
                    place: self.start + index * STRIDE + rest.trailing_zeros() as usize,
                    may_be_anywhere: anywhere & bit != 0,
                    may_be_word: words & bit != 0,
                });
            }
            let end = self.start + self.count * STRIDE;
            // The longer it goes on, the further it looks ahead.
            self.count = if from <= end && self.count > 0 {
                from = end;
                (2 * self.count).min(MOST_STRIDES)
            } else {
                FIRST_STRIDES
            };
            if from >= bytes.len() {
                self.count = 0;
                self.start = from;
                return None;
            }
            self.start = from;
            fingerprints.look(bytes, self);
        }
    }
}

/// Looks at as many strides as are asked for, or there are.
#[inline(always)]
pub(super) fn look<S: Simd>(
    simd: S,
    tables: &Tables,
    bytes: &[u8],
    before: Ends,
    strides: &mut Strides,
) {
    let [[a1, b1, c1], [a2, b2, c2], [a3, b3, c3]] = tables;
    let anywhere = Buckets::new(simd, [a1, a2, a3]);
    let (one, other) = (
        Buckets::new(simd, [b1, b2, b3]),
        Buckets::new(simd, [c1, c2, c3]),
    );
    let word = VectorTable::new(simd, &WORD);
    // One more, for what was before.
    let mut no_word = [before.no_word; MOST_STRIDES + 1];
    let mut backslash = [before.backslash; MOST_STRIDES + 1];
    let mut percent = [before.percent; MOST_STRIDES + 1];
    // One more, for what is behind.
    let mut runs = [0; MOST_STRIDES + 1];
    let mut rest = bytes;
    let mut count = 0;
    while count < strides.count && count < MOST_STRIDES && !rest.is_empty() {
        // What is after the end is no needle.
        let mut last = [0; REACH];
        let reach = if let Some(reach) = rest.first_chunk::<REACH>() {
            reach
        } else {
            for (byte, own) in last.iter_mut().zip(rest) {
                *byte = *own;
            }
            &last
        };
        let first = Halves::new(simd, reach.first_chunk());
        let second = Halves::new(simd, reach.get(1..).and_then(<[u8]>::first_chunk));
        let third = Halves::new(simd, reach.last_chunk());
        let words = one.of(first, second, third) | other.of(first, second, third);
        put(
            &mut strides.anywhere,
            count,
            set(anywhere.of(first, second, third)),
        );
        put(&mut strides.words, count, set(words));
        put(&mut no_word, count + 1, !set(word.buckets(first)));
        put(
            &mut backslash,
            count + 1,
            first.bytes.simd_eq(b'\\').to_bitmask(),
        );
        put(
            &mut percent,
            count + 1,
            first.bytes.simd_eq(b'%').to_bitmask(),
        );
        put(&mut runs, count, of_runs(first.bytes));
        rest = rest.get(STRIDE..).unwrap_or_default();
        count += 1;
    }
    let behind = (0..LEAST_RUN).zip(rest).fold(0, |behind, (bit, byte)| {
        behind | u64::from(byte.cast_signed() > LAST_OUTSIDE) << bit
    });
    put(&mut runs, count, behind);
    strides.count = count;
    strides.some = 0;
    let mut first = 0;
    while first < count {
        let runs = starts_of_runs(of_some(simd, &runs, first), of_some(simd, &runs, first + 1));
        let words = of_some(simd, &strides.words, first) & runs;
        // A word may begin after what is no part of one, and after an escape (`\n`, `\u000a`, `%20`), the last
        // character of which is no part of one.
        let (before, here) = (
            of_some(simd, &no_word, first),
            of_some(simd, &no_word, first + 1),
        );
        let after_no_word = here << 1 | before >> 63;
        let (before, here) = (
            of_some(simd, &backslash, first),
            of_some(simd, &backslash, first + 1),
        );
        let after_escape = here << 2 | before >> 62 | here << 6 | before >> 58;
        let (before, here) = (
            of_some(simd, &percent, first),
            of_some(simd, &percent, first + 1),
        );
        let after_percent = here << 3 | before >> 61;
        let words = words & (after_no_word | after_escape | after_percent);
        if let Some(own) = strides.words.get_mut(first..first + TOGETHER) {
            words.store_slice(own);
        }
        let any = words | of_some(simd, &strides.anywhere, first);
        let some = !any.simd_eq(0).to_bitmask() & ((1 << TOGETHER) - 1);
        strides.some |= some << first;
        first += TOGETHER;
    }
    if count < MOST_STRIDES {
        strides.some &= (1 << count) - 1;
    }
}

/// Takes note of what is known of a stride.
#[inline(always)]
fn put(all: &mut [u64], stride: usize, known: u64) {
    if let Some(own) = all.get_mut(stride) {
        *own = known;
    }
}

/// Returns what is known of some strides from one on.
#[inline(always)]
fn of_some<S: Simd>(simd: S, all: &[u64], first: usize) -> u64x8<S> {
    let some = all.get(first..).and_then(<[u64]>::first_chunk::<TOGETHER>);
    u64x8::simd_from(simd, *some.unwrap_or(&[0; TOGETHER]))
}

/// Returns a bit for each byte that can be in a run.
#[inline(always)]
fn of_runs<S: Simd>(bytes: u8x64<S>) -> u64 {
    let signed: i8x64<S> = bytes.bitcast();
    signed.simd_gt(LAST_OUTSIDE).to_bitmask()
}

/// Returns where [`LEAST_RUN`] bits are set from a place on, in a stride and the one behind it.
#[inline(always)]
fn starts_of_runs<S: Simd>(strides: u64x8<S>, behind: u64x8<S>) -> u64x8<S> {
    // Both as one number, which is shifted to its lower end.
    let (mut low, mut high) = (strides, behind);
    // Twice as many each time: 2, 4, 8, 16; and four more.
    for by in [1, 2, 4, 8, 4] {
        low &= low >> by | high << (64 - by);
        high &= high >> by;
    }
    low
}

/// Returns a bit for each byte that is not zero.
#[inline(always)]
fn set<S: Simd>(bytes: u8x64<S>) -> u64 {
    !bytes.simd_eq(0).to_bitmask()
}

/// The tables of some buckets, for each of the first bytes.
#[derive(Clone, Copy)]
struct Buckets<S: Simd> {
    first: VectorTable<S>,
    second: VectorTable<S>,
    third: VectorTable<S>,
}

impl<S: Simd> Buckets<S> {
    #[inline(always)]
    fn new(simd: S, [first, second, third]: [&Table; BYTES]) -> Self {
        Self {
            first: VectorTable::new(simd, first),
            second: VectorTable::new(simd, second),
            third: VectorTable::new(simd, third),
        }
    }

    /// Returns in which buckets something may be that begins with some bytes.
    #[inline(always)]
    fn of(self, first: Halves<S>, second: Halves<S>, third: Halves<S>) -> u8x64<S> {
        self.first.buckets(first) & self.second.buckets(second) & self.third.buckets(third)
    }
}

/// A table, as often as there are places in a vector.
#[derive(Clone, Copy)]
struct VectorTable<S: Simd> {
    low: u8x64<S>,
    high: u8x64<S>,
}

impl<S: Simd> VectorTable<S> {
    #[inline(always)]
    fn new(simd: S, table: &Table) -> Self {
        Self {
            low: u8x64::block_splat(u8x16::simd_from(simd, table.low)),
            high: u8x64::block_splat(u8x16::simd_from(simd, table.high)),
        }
    }

    /// Returns in which buckets bytes are.
    #[inline(always)]
    fn buckets(self, halves: Halves<S>) -> u8x64<S> {
        let low = self.low.swizzle_dyn_within_blocks(halves.low);
        low & self.high.swizzle_dyn_within_blocks(halves.high)
    }
}

/// The halves of some bytes.
#[derive(Clone, Copy)]
struct Halves<S: Simd> {
    bytes: u8x64<S>,
    low: u8x64<S>,
    high: u8x64<S>,
}

impl<S: Simd> Halves<S> {
    #[inline(always)]
    fn new(simd: S, bytes: Option<&[u8; STRIDE]>) -> Self {
        let bytes = u8x64::simd_from(simd, *bytes.unwrap_or(&[0; STRIDE]));
        Self {
            bytes,
            low: bytes & 0x0F,
            high: bytes >> 4,
        }
    }
}

/// What a word may begin after: a bit for each byte of a stride.
#[derive(Clone, Copy, Default)]
pub(super) struct Ends {
    no_word: u64,
    backslash: u64,
    percent: u64,
}

impl Ends {
    /// Returns those right before a place.
    pub(super) fn before(bytes: &[u8], place: usize) -> Self {
        let mut ends = Self::default();
        if place == 0 {
            // A word may begin where everything does.
            ends.no_word = 1 << 63;
        }
        let last = bytes
            .get(place.saturating_sub(6)..place)
            .unwrap_or_default();
        for (bit, byte) in (0..64).rev().zip(last.iter().rev()) {
            ends.no_word |= u64::from(!is_word(*byte)) << bit;
            ends.backslash |= u64::from(*byte == b'\\') << bit;
            ends.percent |= u64::from(*byte == b'%') << bit;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::Level;

    use super::*;

    /// Tells, byte by byte, whether a word begins a long run at a place.
    fn begins_run_and_word(bytes: &[u8], place: usize) -> bool {
        let back = |place: usize, back: usize| place.checked_sub(back).map(|at| bytes[at]);
        let begins_word = back(place, 1).is_none_or(|byte| !is_word(byte))
            || back(place, 2) == Some(b'\\')
            || back(place, 3) == Some(b'%')
            || back(place, 6) == Some(b'\\');
        let run = bytes.get(place..place + LEAST_RUN);
        let is_run = |run: &[u8]| run.iter().all(|byte| (b'+'..=0x7F).contains(byte));
        begins_word && run.is_some_and(is_run)
    }

    /// Returns where needles are: anywhere, or where a word begins a long run.
    fn beginnings(bytes: &[u8], needles: &[&[u8]], are_words: bool) -> Vec<usize> {
        let has = |place: &usize| {
            let mut needles = needles.iter();
            needles.any(|needle| bytes[*place..].starts_with(needle))
        };
        let places = (0..bytes.len()).filter(has);
        places
            .filter(|place| !are_words || begins_run_and_word(bytes, *place))
            .collect()
    }

    #[test]
    fn every_needle_is_found_wherever_it_stands() {
        let anywhere: [&[u8]; 4] = [b"://", b"_TOKEN", b"Q~", b"&"];
        let words: [&[u8]; 5] = [b"ghp_", b"sk-", b"AKIA", b"eyJ", b"4b1d"];
        let best = Level::new();
        // Whatever a processor can do, the same is found.
        let levels = [
            Some(Level::baseline()),
            Some(best),
            #[cfg(target_arch = "x86_64")]
            best.as_sse4_2().map(Level::Sse4_2),
            #[cfg(target_arch = "x86_64")]
            best.as_avx2().map(Level::Avx2),
        ];
        for level in levels.into_iter().flatten() {
            let fingerprints = Fingerprints::new(anywhere, words).with_level(level);
            find_in_random_texts(&fingerprints, &anywhere, &words);
        }
    }

    fn find_in_random_texts(fingerprints: &Fingerprints, anywhere: &[&[u8]], words: &[&[u8]]) {
        let mut random = 7_u64;
        let mut next = |below: usize| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(random >> 33).unwrap() % below
        };
        let pieces: [&[u8]; 13] = [
            b" ",
            b"a/long-run_of=bytes",
            b"x",
            b"\\",
            b"\\n",
            b"%20",
            b"\\u000a",
            b"://",
            b"_TOKEN",
            b"Q~",
            b"\xC3\xA9",
            b"&",
            b"0",
        ];
        let mut found_any = 0;
        for _ in 0..2_000 {
            let mut bytes = Vec::new();
            for _ in 0..next(200) {
                let all = pieces.len() + words.len();
                let number = next(all);
                let piece = pieces
                    .get(number)
                    .or_else(|| words.get(number - pieces.len()));
                bytes.extend_from_slice(piece.unwrap());
            }
            let mut strides = Strides::default();
            let (mut in_anywhere, mut in_words) = (Vec::new(), Vec::new());
            // Now and then the search goes on elsewhere.
            let mut from = 0;
            let mut skipped = Vec::new();
            while let Some(found) = strides.next(fingerprints, &bytes, from) {
                assert!(found.place >= from);
                if found.may_be_anywhere {
                    in_anywhere.push(found.place);
                }
                if found.may_be_word {
                    assert!(begins_run_and_word(&bytes, found.place));
                    in_words.push(found.place);
                }
                from = found.place + 1;
                if next(20) == 0 {
                    let to = from + next(700);
                    skipped.push(from..to);
                    from = to;
                }
            }
            let is_passed = |place: &usize| !skipped.iter().any(|range| range.contains(place));
            for (needles, found, are_words) in
                [(anywhere, &in_anywhere, false), (words, &in_words, true)]
            {
                for place in beginnings(&bytes, needles, are_words) {
                    found_any += 1;
                    let text = bytes.escape_ascii();
                    assert!(
                        !is_passed(&place) || found.contains(&place),
                        "{place} in {text}"
                    );
                }
            }
        }
        assert!(found_any > 10_000, "{found_any}");
    }
}
