//! What needles begin with, made ready to be looked up many bytes at once.
//!
//! A needle is known by its first bytes. Which bytes those are is told by two tables of sixteen, one for either half of
//! a byte, with a bit for each bucket of needles: a byte is in the buckets that both of its halves are in. So many more
//! are in a bucket than its needles have, and needles are put where that does least harm.

use std::cmp::Reverse;

use fearless_simd::{Level, dispatch};

use super::strides::{Ends, Strides, look};

/// How many bytes of a needle are looked at.
pub(super) const BYTES: usize = 3;
/// How many buckets have a bit in a table.
const BUCKETS: usize = 8;
/// How many tables there are for each byte of a needle: the first is for needles that may stand anywhere.
pub(super) const TABLES: usize = 3;

/// What needles begin with.
#[derive(Debug)]
pub(super) struct Fingerprints {
    level: Level,
    tables: Tables,
}

/// For each of the first bytes.
pub(super) type Tables = [[Table; TABLES]; BYTES];

/// In which buckets a byte is: in those that both of its halves are in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Table {
    pub(super) low: [u8; 16],
    pub(super) high: [u8; 16],
}

/// Letters, digits and `_`: a bit for each kind of line of the ASCII table.
pub(super) const WORD: Table = Table {
    low: [13, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14, 2, 2, 2, 2, 6],
    high: [0, 0, 0, 1, 2, 4, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0],
};

impl Fingerprints {
    /// Takes needles that may stand anywhere, and those that begin a word.
    pub(super) fn new<'n>(
        anywhere: impl IntoIterator<Item = &'n [u8]>,
        words: impl IntoIterator<Item = &'n [u8]>,
    ) -> Self {
        let mut buckets = [Bucket::default(); BUCKETS * TABLES];
        // The first table is for what may stand anywhere.
        let (first, rest) = buckets.split_at_mut(BUCKETS);
        spread(anywhere, first);
        spread(words, rest);
        let mut tables = [[Table::default(); TABLES]; BYTES];
        for (number, bucket) in buckets.iter().enumerate() {
            for (halves, tables) in bucket.bytes.iter().zip(&mut tables) {
                if let Some(table) = tables.get_mut(number / BUCKETS) {
                    halves.write(table, 1 << (number % BUCKETS));
                }
            }
        }
        Self {
            level: Level::new(),
            tables,
        }
    }

    /// Takes what a processor can do for all of it; for tests.
    #[cfg(test)]
    pub(super) fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Looks at some strides from a place on.
    pub(super) fn look(&self, bytes: &[u8], strides: &mut Strides) {
        let before = Ends::before(bytes, strides.start);
        let rest = bytes.get(strides.start..).unwrap_or_default();
        dispatch!(self.level, simd => look(simd, &self.tables, rest, before, strides));
    }
}

/// Which halves the bytes have that stand at one place of the needles of a bucket.
#[derive(Clone, Copy, Debug, Default)]
struct HalvesOf {
    low: u16,
    high: u16,
    /// How often such a byte is met.
    frequency: u64,
}

impl HalvesOf {
    fn with(self, byte: Option<&u8>) -> Self {
        let (low, high) = match byte {
            Some(byte) => (self.low | 1 << (byte & 15), self.high | 1 << (byte >> 4)),
            // Behind a short needle anything may stand.
            None => (u16::MAX, u16::MAX),
        };
        if (low, high) == (self.low, self.high) {
            return self;
        }
        let of_high = bits(high).flat_map(|high| bits(low).map(move |low| high << 4 | low));
        Self {
            low,
            high,
            frequency: 1 + of_high.map(frequency_of).sum::<u64>(),
        }
    }

    fn write(self, table: &mut Table, bit: u8) {
        for (number, (low, high)) in table.low.iter_mut().zip(&mut table.high).enumerate() {
            if self.low >> number & 1 != 0 {
                *low |= bit;
            }
            if self.high >> number & 1 != 0 {
                *high |= bit;
            }
        }
    }
}

/// Needles that are not told apart.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    bytes: [HalvesOf; BYTES],
    /// How often what looks like one of them is met.
    frequency: u64,
}

impl Bucket {
    fn with(mut self, needle: &[u8]) -> Self {
        self.frequency = 1;
        for (place, halves) in self.bytes.iter_mut().enumerate() {
            *halves = halves.with(needle.get(place));
            self.frequency *= halves.frequency;
        }
        self
    }
}

/// Puts each needle where it adds least to what looks like one; what is met most often first.
fn spread<'n>(needles: impl IntoIterator<Item = &'n [u8]>, buckets: &mut [Bucket]) {
    let mut needles: Vec<&[u8]> = needles.into_iter().collect();
    for needle in &mut needles {
        *needle = needle.get(..BYTES).unwrap_or(needle);
    }
    needles.sort_unstable();
    needles.dedup();
    needles.sort_by_cached_key(|needle| Reverse(Bucket::default().with(needle).frequency));
    for needle in needles {
        let added = |bucket: &&mut Bucket| bucket.with(needle).frequency - bucket.frequency;
        if let Some(bucket) = buckets.iter_mut().min_by_key(added) {
            *bucket = bucket.with(needle);
        }
    }
}

/// Returns the numbers of the bits that are set.
fn bits(mut set: u16) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then_some(set.trailing_zeros())?;
        set &= set - 1;
        u8::try_from(bit).ok()
    })
}

/// Returns how often a byte is met in a thousand of those that agents print, roughly.
pub(super) fn frequency_of(byte: u8) -> u64 {
    let known = FREQUENCIES.get(usize::from(byte)).copied();
    u64::from(known.unwrap_or_default())
}

/// How often bytes are met. It is asked for so many times that it has to be at hand.
#[expect(
    clippy::indexing_slicing,
    reason = "a place that is not there does not compile"
)]
const FREQUENCIES: [u8; 256] = {
    let often: [(&[u8], u8); 5] = [
        (b"!#$%&'()*+/;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^`jqxz|~", 1),
        (b"hbykv\\{}\n", 7),
        (b"pumwfg_.-0123456789", 14),
        (b"nardilc,:", 28),
        (b"\" etso", 50),
    ];
    let mut frequencies = [0; 256];
    let mut kind = 0;
    while kind < often.len() {
        let (bytes, frequency) = often[kind];
        let mut place = 0;
        while place < bytes.len() {
            frequencies[bytes[place] as usize] = frequency;
            place += 1;
        }
        kind += 1;
    }
    frequencies
};

#[cfg(test)]
mod tests {
    use super::super::alphabet::is_word;
    use super::*;

    #[test]
    fn bytes_of_words_are_known_by_their_halves() {
        for byte in 0..=u8::MAX {
            let low = WORD.low[usize::from(byte & 15)];
            let high = WORD.high[usize::from(byte >> 4)];
            assert_eq!(low & high != 0, is_word(byte), "{byte}");
        }
    }
}
