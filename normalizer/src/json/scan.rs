//! Strings in JSON: where they end, and what they mean.

/// Returns what a string without control characters means; nothing if an escape is none.
#[inline(never)]
pub(super) fn unescape(written: &str) -> Option<String> {
    let mut text = String::with_capacity(written.len());
    read_escapes(written, |plain, escaped| {
        text.push_str(plain);
        text.extend(escaped);
    })
    .then_some(text)
}

/// Tells whether every escape is one.
#[inline(never)]
pub(super) fn is_sound(written: &str) -> bool {
    read_escapes(written, |_, _| {})
}

/// Gives out what is between escapes, and what the one after it means; `false` if one is none.
#[inline]
fn read_escapes(written: &str, mut each: impl FnMut(&str, Option<char>)) -> bool {
    let mut rest = written;
    loop {
        let Some((plain, escape)) =
            memchr::memchr(b'\\', rest.as_bytes()).and_then(|at| rest.split_at_checked(at))
        else {
            each(rest, None);
            return true;
        };
        let Some((character, length)) = escaped(escape.as_bytes()) else {
            return false;
        };
        each(plain, Some(character));
        let Some(after) = escape.get(length..) else {
            return false;
        };
        rest = after;
    }
}

/// Returns what an escape means, and how long it is.
#[inline]
fn escaped(escape: &[u8]) -> Option<(char, usize)> {
    let character = match escape.get(1)? {
        b'n' => '\n',
        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
        b't' => '\t',
        b'r' => '\r',
        b'u' => return escaped_unit(escape),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        _ => return None,
    };
    Some((character, 2))
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
            written in "(\\\\[\"\\\\/bfnrtux]|\\\\u[dD][89abcdefAF][0-9a-f]{2}|\\\\u00[0-9a-f]{2}|[a-zé ]{1,9}){0,12}\\\\?",
        ) {
            let expected = serde_json::from_str::<String>(&format!("\"{written}\"")).ok();
            let read = unescape(&written);
            prop_assert_eq!(is_sound(&written), read.is_some());
            prop_assert_eq!(read, expected);
        }
    }
}
