//! The path that a derived id is the hash of.

use std::io::Write as _;

use twox_hash::XxHash3_128;

use crate::id_text::IdText;

/// Digits of a derived id, 5 bits each: base 32 of RFC 4648 in lower case.
///
/// A real cuid2 has four digits more, but a power of two of them takes no division.
const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// How many digits a derived id has.
const LENGTH: usize = 24;
/// How long most paths are, at the most.
const USUAL_PATH: usize = 64;

/// A path without its last word, the ordinal. `id.rs` says what the words are.
///
/// Most derived ids of a run differ in their ordinals alone, so the words before it are written once.
#[derive(Clone, Debug)]
pub(crate) struct IdPath {
    text: Vec<u8>,
    /// How much of the text stays when the next ordinal is written.
    kept: usize,
}

impl IdPath {
    /// Begins a path with words, of which none holds a slash.
    pub(crate) fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut text = Vec::with_capacity(USUAL_PATH);
        for word in words {
            debug_assert!(!word.contains('/'), "{word} would be two words of a path");
            text.extend_from_slice(word.as_bytes());
            text.push(b'/');
        }
        let kept = text.len();
        Self { text, kept }
    }

    /// Derives the id of the path that ends in an ordinal.
    pub(crate) fn derive(&mut self, ordinal: u64) -> IdText {
        self.text.truncate(self.kept);
        self.end_in(ordinal)
    }

    /// Derives the id of the path that ends in a word and an ordinal.
    pub(crate) fn derive_of(&mut self, word: &str, ordinal: u64) -> IdText {
        self.text.truncate(self.kept);
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b'/');
        self.end_in(ordinal)
    }

    fn end_in(&mut self, ordinal: u64) -> IdText {
        match u8::try_from(ordinal) {
            // Most runs are short, and one digit needs no formatting.
            Ok(digit @ 0..=9) => self.text.push(b'0' + digit),
            _ => {
                // Writing to memory cannot fail.
                let _ = write!(self.text, "{ordinal}");
            }
        }
        self.hash()
    }

    /// Derives the id of the path that ends in two ordinals.
    pub(crate) fn derive_nested(&mut self, ordinal: u64, nested: u64) -> IdText {
        self.text.truncate(self.kept);
        // Writing to memory cannot fail.
        let _ = write!(self.text, "{ordinal}/{nested}");
        self.hash()
    }

    fn hash(&self) -> IdText {
        IdText::from_ascii(&digits(XxHash3_128::oneshot(&self.text)))
    }
}

/// Writes the highest 120 bits of a hash, the very highest one as 0.
fn digits(hash: u128) -> [u8; LENGTH] {
    const HALF: u128 = (1 << 60) - 1;
    let mut text = [0; LENGTH];
    let (high, low) = text.split_at_mut(LENGTH / 2);
    write_digits((hash >> 68) & (HALF >> 1), high);
    write_digits((hash >> 8) & HALF, low);
    text
}

/// Writes 60 bits, the highest digit first.
fn write_digits(bits: u128, places: &mut [u8]) {
    let mut bits = u64::try_from(bits).unwrap_or_default();
    for place in places.iter_mut().rev() {
        let digit = usize::try_from(bits & 31).unwrap_or_default();
        *place = DIGITS.get(digit).copied().unwrap_or_default();
        bits >>= 5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with xxHash 0.8.4: lengths that XXH3 treats each in another way.
    #[test]
    fn the_hash_is_xxh3_with_128_bits() {
        let cases = [
            (String::new(), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f),
            (
                "run-456/checkpoint/1".to_owned(),
                0x42f9_9ed2_3d81_571d_ed6b_68d2_f289_566f,
            ),
            (
                "r".repeat(128) + "/part/1000000",
                0x881a_068c_7809_078e_37b1_1fe7_9cad_4928,
            ),
            ("a".repeat(300), 0x5e56_3f2c_b28d_2005_c1d1_7581_d8eb_7e21),
        ];
        for (text, expected) in cases {
            assert_eq!(XxHash3_128::oneshot(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn digits_begin_with_a_letter_and_leave_the_lowest_byte_out() {
        let text = |hash| String::from_utf8(digits(hash).to_vec()).unwrap();
        assert_eq!(text(0), "a".repeat(24));
        assert_eq!(text(255), "a".repeat(24));
        assert_eq!(text(256), "a".repeat(23) + "b");
        assert_eq!(text(u128::MAX), "p".to_owned() + &"7".repeat(23));
        assert_eq!(text(31 << 63), "aaaaaaaaaaaa7aaaaaaaaaaa");
        assert_eq!(text(31 << 68), "aaaaaaaaaaa7aaaaaaaaaaaa");
    }
}
