//! Strings in JSON: where they end, and what they mean.

/// How many bytes are looked at, and copied, together.
const WORD: usize = 8;

/// Returns what a string means, of which the first `plain` bytes are sound and no escapes; nothing if an
/// escape is none, or there are control characters.
///
/// What tools print has a line break every few letters, so that nothing here may cost much for each:
/// bytes are copied a word at a time, and what of a word is beyond an escape is overwritten.
#[inline(never)]
pub(super) fn unescape(written: &str, plain: usize) -> Option<String> {
    let bytes = written.as_bytes();
    // Nothing is longer as it is meant than as it is written.
    let mut text = vec![0; bytes.len()];
    text.get_mut(..plain)?.copy_from_slice(bytes.get(..plain)?);
    let (mut from, mut to) = (plain, plain);
    while let Some(word) = bytes.get(from..).and_then(<[u8]>::first_chunk::<WORD>) {
        *text.get_mut(to..)?.first_chunk_mut()? = *word;
        let plain = plain_bytes(*word);
        (from, to) = (from + plain, to + plain);
        if plain < WORD {
            (from, to) = write_escaped(bytes, from, &mut text, to)?;
        }
    }
    while let Some(byte) = bytes.get(from) {
        if is_plain(*byte) {
            *text.get_mut(to)? = *byte;
            (from, to) = (from + 1, to + 1);
        } else {
            (from, to) = write_escaped(bytes, from, &mut text, to)?;
        }
    }
    text.truncate(to);
    String::from_utf8(text).ok()
}

/// Writes what the escape at `from` means to `to`, and returns what is past both; nothing if there is none.
#[inline]
fn write_escaped(bytes: &[u8], from: usize, text: &mut [u8], to: usize) -> Option<(usize, usize)> {
    if bytes.get(from) != Some(&b'\\') {
        return None;
    }
    if let Some(byte) = escaped_byte(*bytes.get(from + 1)?) {
        *text.get_mut(to)? = byte;
        return Some((from + 2, to + 1));
    }
    let (character, length) = escaped_unit(bytes.get(from..)?)?;
    let room = text.get_mut(to..to + character.len_utf8())?;
    character.encode_utf8(room);
    Some((from + length, to + character.len_utf8()))
}

/// Returns how many bytes of a word come before a backslash or a control character.
#[inline]
fn plain_bytes(word: [u8; WORD]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let word = u64::from_le_bytes(word);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
    // The highest bit of the first byte that is one of them; those above it may be wrong.
    let found = (backslash | below(word, b' ')) & (ONES << 7);
    found.trailing_zeros() as usize / 8
}

fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'\\'
}

/// Tells whether a string is sound, of which the first `plain` bytes are, and no escapes: every escape is
/// one, and there are no control characters.
#[inline(never)]
pub(super) fn is_sound(written: &str, plain: usize) -> bool {
    let bytes = written.as_bytes();
    let mut at = plain;
    loop {
        while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<WORD>) {
            let plain = plain_bytes(*word);
            at += plain;
            if plain < WORD {
                break;
            }
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(plain) = rest.iter().position(|byte| !is_plain(*byte)) else {
            return true;
        };
        let escape = rest.get(plain..).unwrap_or_default();
        let Some((_, length)) = escaped(escape) else {
            return false;
        };
        at += plain + length;
    }
}

/// Returns what an escape means, and how long it is; nothing if it is none.
#[inline]
fn escaped(escape: &[u8]) -> Option<(char, usize)> {
    if escape.first() != Some(&b'\\') {
        return None;
    }
    match escaped_byte(*escape.get(1)?) {
        Some(byte) => Some((char::from(byte), 2)),
        None => escaped_unit(escape),
    }
}

/// Returns what a letter behind a backslash means; nothing if it is none of these.
#[inline]
fn escaped_byte(letter: u8) -> Option<u8> {
    Some(match letter {
        b'n' => b'\n',
        b'"' | b'\\' | b'/' => letter,
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x8,
        b'f' => 0xC,
        _ => return None,
    })
}

/// Returns what a `\uXXXX` escape means, or two of them that are a pair of surrogates.
#[inline(never)]
fn escaped_unit(escape: &[u8]) -> Option<(char, usize)> {
    let unit = unit(escape)?;
    if let Some(character) = char::from_u32(unit) {
        return Some((character, 6));
    }
    let low = self::unit(escape.get(6..)?)?;
    if !(0xD800..0xDC00).contains(&unit) || !(0xDC00..0xE000).contains(&low) {
        return None;
    }
    let character = 0x1_0000 + ((unit - 0xD800) << 10 | (low - 0xDC00));
    Some((char::from_u32(character)?, 12))
}

/// Returns the UTF-16 unit of the `\uXXXX` escape that `text` begins with.
pub(super) fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_string_means_what_serde_json_says(
            before in "[a-zé ]{0,20}",
            written in "(\\\\[\"\\\\/bfnrtux]|\\\\u[dD][89abcdefAF][0-9a-f]{2}|\\\\u00[0-9a-f]{2}|[a-zé ]{1,9}|[\n\u{0}\u{1f}\u{7f}]?){0,12}\\\\?",
        ) {
            let plain = before.len();
            let written = before + &written;
            let expected = serde_json::from_str::<String>(&format!("\"{written}\"")).ok();
            let read = unescape(&written, plain);
            prop_assert_eq!(is_sound(&written, plain), read.is_some());
            prop_assert_eq!(&read, &expected);
            prop_assert_eq!(unescape(&written, 0), expected);
        }
    }
}
