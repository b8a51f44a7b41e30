//! Where strings in JSON need a closer look.

use memchr::memchr;

/// How many bytes are looked at together in a long string.
const BLOCK: usize = 64;

/// Returns where the next quote, backslash or control character is, from `at` on; the length of
/// the bytes if there is none.
#[inline]
pub(crate) fn find_special(bytes: &[u8], at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    // Names and most values are short.
    for _ in 0..BLOCK / 8 {
        let Some((word, tail)) = rest.split_first_chunk::<8>() else {
            break;
        };
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return bytes.len() - rest.len() + found.trailing_zeros() as usize / 8;
        }
        rest = tail;
    }
    find_in_long(bytes, rest)
}

/// Returns where a string ends that has a backslash at `first`: at the first quote that none escapes.
///
/// What tools print has a line break every few letters, and a stop at each would take longer than to
/// look for quotes alone. What is in between is not looked at.
#[inline(never)]
pub(super) fn find_end(bytes: &[u8], first: usize) -> Option<usize> {
    let mut at = first;
    loop {
        let quote = at + memchr(b'"', bytes.get(at..)?)?;
        let before = bytes.get(first..quote)?.iter().rev();
        let backslashes = before.take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(quote);
        }
        at = quote + 1;
    }
}

/// Goes on where the string has not ended after a while, or the bytes are about to end.
#[inline(never)]
fn find_in_long(bytes: &[u8], mut rest: &[u8]) -> usize {
    while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
        if has_special(block) {
            break;
        }
        rest = tail;
    }
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return bytes.len() - rest.len() + found.trailing_zeros() as usize / 8;
        }
        rest = tail;
    }
    let found = rest.iter().position(|byte| is_special(*byte));
    bytes.len() - rest.len() + found.unwrap_or(rest.len())
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Marks the highest bit of bytes that are special. The lowest mark is right; those above it may
/// be wrong.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let quote_or_control = below(word ^ (ONES * u64::from(FLIPPED)), b' ' + 1);
    let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
    (quote_or_control | backslash) & (ONES << 7)
}

/// A quote is so far from a space that with this bit flipped it is next to the control characters, and
/// the space is not: one comparison finds both.
const FLIPPED: u8 = b'"' ^ b' ';

/// Tells whether a byte of the block is special: without leaving early, so that it can be done for
/// many at once.
fn has_special(block: &[u8; BLOCK]) -> bool {
    let found = block.iter().fold(0, |found, byte| {
        found | u8::from(*byte ^ FLIPPED <= b' ') | u8::from(*byte == b'\\')
    });
    found != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(
            before in "[ -!#-\\[\\]-~é€\u{1f600}]{0,300}", after in "[\"\\\\\n\u{1}\u{1f}a]{0,3}",
        ) {
            let text = before.clone() + &after;
            let expected = text.bytes().position(is_special).unwrap_or(text.len());
            prop_assert_eq!(find_special(text.as_bytes(), 0), expected);
        }

        #[test]
        fn a_string_ends_at_the_first_quote_that_is_not_escaped(text in "\\\\[\"\\\\an]{0,12}") {
            let (mut at, bytes) = (0, text.as_bytes());
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            prop_assert_eq!(find_end(bytes, 0), (at < bytes.len()).then_some(at));
        }
    }
}
