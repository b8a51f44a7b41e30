//! Long runs without blanks, quotes and brackets: what nearly all secrets are.
//!
//! They are found in strides of bytes, by a few vector instructions for each.

use wide::{i8x64, u8x64};

/// The least length of a run that is looked into.
pub(super) const LEAST_RUN: usize = 20;
/// How many bytes are judged at once.
pub(super) const STRIDE: usize = 64;
/// Bytes up to this one, and those beyond ASCII, are in no run.
const LAST_OUTSIDE: i8 = b'*'.cast_signed();

/// Tells whether a byte can be in no run: blanks, quotes, brackets, `\\`, `,`, `;`, what is beyond ASCII.
#[inline]
pub(super) fn ends_run(byte: u8) -> bool {
    !matches!(byte, b'+' | b'-'..=b':' | b'=' | b'@'..=b'Z' | b'_' | b'a'..=b'z' | b'~')
}

/// The runs of [`LEAST_RUN`] or more bytes that [are of one](of_long_runs), one after the other.
#[derive(Debug, Default)]
pub(super) struct LongRuns {
    /// Where the stride begins that is looked at.
    place: usize,
    /// Its bytes, as bits that are set where a byte is of a run and not behind.
    map: Option<u64>,
    /// How long the run is that ends right before the stride.
    before: usize,
}

impl LongRuns {
    /// Returns the next run from a place on. Places must not go back.
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
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
                .unwrap_or_else(|| map_at(bytes, self.place, of_long_runs));
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
pub(super) fn map_at(bytes: &[u8], place: usize, map_of: impl Fn(&[u8; STRIDE]) -> u64) -> u64 {
    let rest = bytes.get(place..).unwrap_or_default();
    if let Some(stride) = rest.first_chunk() {
        return map_of(stride);
    }
    let mut stride = [0; STRIDE];
    for (byte, last) in stride.iter_mut().zip(rest) {
        *byte = *last;
    }
    let within = !(u64::MAX << rest.len());
    map_of(&stride) & within
}

/// Returns a bit for each byte of a stride that can be in a run that is looked into: one comparison that holds for all that
/// [`ends_run`] does not end, and little else.
#[inline]
fn of_long_runs(stride: &[u8; STRIDE]) -> u64 {
    let signed = i8x64::new(stride.map(u8::cast_signed));
    let last_outside = i8x64::splat(LAST_OUTSIDE);
    signed.simd_gt(last_outside).to_bitmask()
}

/// Returns a bit for each byte of a stride that is no letter, digit or `_`.
#[inline]
pub(super) fn of_no_word(stride: &[u8; STRIDE]) -> u64 {
    let bytes = u8x64::new(*stride);
    let is_within = |bytes: u8x64, first: u8, last: u8| {
        let beyond = bytes - u8x64::splat(first);
        beyond.min(u8x64::splat(last - first)).simd_eq(beyond)
    };
    let letters = is_within(bytes | u8x64::splat(0x20), b'a', b'z');
    let digits = is_within(bytes, b'0', b'9');
    let lines = bytes.simd_eq(u8x64::splat(b'_'));
    !(letters | digits | lines).to_bitmask()
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
    loop {
        let length = map_at(bytes, place, of_long_runs).trailing_ones() as usize;
        place += length;
        if length < STRIDE {
            return place;
        }
    }
}
