//! Terminal escape sequences, and text without them.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

pub(crate) const ESCAPE: u8 = 0x1B;
const BELL: u8 = 0x07;

/// Returns `text` without terminal escape sequences.
///
/// Colours and cursor movement (CSI), titles and links (OSC), device and private strings (DCS, SOS,
/// PM, APC) and short escapes are removed whole, and so is one that the text ends within. A
/// sequence broken off by a character that cannot be part of it ends before that character, so that
/// no text is lost to it.
///
/// ```
/// use runtape_normalizer::escapes::strip_escapes;
///
/// assert_eq!(strip_escapes("\x1b[1;31merror\x1b[0m: no"), "error: no");
/// ```
#[must_use]
pub fn strip_escapes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let Some(first) = memchr(ESCAPE, bytes) else {
        return Cow::Borrowed(text);
    };
    let mut plain = String::with_capacity(text.len());
    let mut kept_from = 0;
    let mut next = Some(first);
    while let Some(escape) = next {
        plain.push_str(text.get(kept_from..escape).unwrap_or_default());
        kept_from = escape + sequence_length(bytes.get(escape..).unwrap_or_default());
        next = bytes
            .get(kept_from..)
            .and_then(|rest| memchr(ESCAPE, rest))
            .map(|found| kept_from + found);
    }
    plain.push_str(text.get(kept_from..).unwrap_or_default());
    Cow::Owned(plain)
}

/// Returns the length of the escape sequence that `bytes` begin with, its ESC included.
pub(crate) fn sequence_length(bytes: &[u8]) -> usize {
    let body = bytes.get(2..).unwrap_or_default();
    let length = match bytes.get(1) {
        None => return bytes.len(),
        Some(b'[') => control_sequence_length(body),
        Some(b']') => string_length(body, memchr2(BELL, ESCAPE, body)),
        Some(b'P' | b'X' | b'^' | b'_') => string_length(body, memchr(ESCAPE, body)),
        // As in `ESC ( B`, which selects a character set.
        Some(0x20..=0x2F) => run_length(body, 0x20..=0x2F, 0x30..=0x7E),
        Some(0x30..=0x7E) => 0,
        Some(_) => return 1,
    };
    2 + length
}

/// Parameters, intermediates, then the one final byte that says what the sequence does.
fn control_sequence_length(body: &[u8]) -> usize {
    run_length(body, 0x20..=0x3F, 0x40..=0x7E)
}

fn run_length(
    body: &[u8],
    inner: std::ops::RangeInclusive<u8>,
    last: std::ops::RangeInclusive<u8>,
) -> usize {
    let run = body.iter().take_while(|byte| inner.contains(byte)).count();
    run + usize::from(body.get(run).is_some_and(|byte| last.contains(byte)))
}

/// The length of a string that ends at `found`: at BEL, at ESC `\`, or before any other escape.
fn string_length(body: &[u8], found: Option<usize>) -> usize {
    let Some(end) = found else { return body.len() };
    match (body.get(end), body.get(end + 1)) {
        (Some(&BELL), _) => end + 1,
        (_, Some(b'\\')) => end + 2,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_are_removed_and_text_is_not() {
        let table = [
            ("plain", "no escapes at all", "no escapes at all"),
            ("colour", "\x1b[38;5;196mred\x1b[0m.", "red."),
            ("cursor", "\x1b[2K\x1b[1G\x1b[?25l{\"a\":1}", "{\"a\":1}"),
            ("title", "\x1b]0;a title\x07text", "text"),
            ("link", "\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\!", "here!"),
            ("device", "a\x1bPq#0;1\x07\x1b\\b", "ab"),
            (
                "private",
                "a\x1b^one\x1b\\b\x1b_two\x1b\\c\x1bXthree\x1b\\d",
                "abcd",
            ),
            ("short", "\x1b7a\x1b8b\x1b(Bc\x1b=d\x1bMe", "abcde"),
            ("unterminated csi", "a\x1b[31", "a"),
            ("unterminated osc", "a\x1b]0;tit", "a"),
            ("unterminated dcs", "a\x1bPtit", "a"),
            ("half a terminator", "a\x1b]0;tit\x1b", "a"),
            ("lone escape", "a\x1b", "a"),
            (
                "broken off",
                "a\x1b[31\u{e9}b\x1b\u{e9}c",
                "a\u{e9}b\u{e9}c",
            ),
            ("string broken off", "a\x1b]0;t\x1b[1mb", "ab"),
            ("doubled", "a\x1b\x1b[1mb", "ab"),
        ];
        for (name, input, expected) in table {
            assert_eq!(strip_escapes(input), expected, "{name}");
        }
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        assert!(matches!(strip_escapes("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn a_megabyte_of_openings_is_quick() {
        for opening in ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b]\x1b", "\x1b[1;"] {
            let text = opening.repeat(1_000_000 / opening.len());
            let began = Instant::now();
            assert!(!strip_escapes(&text).contains('\x1b'));
            assert!(began.elapsed() < Duration::from_secs(10), "{opening:?}");
        }
    }

    proptest! {
        #[test]
        fn no_escape_is_left(text in "(\\PC|\x1b|\x07|[\\[\\]P\\\\;0-9m]){0,60}") {
            prop_assert!(!strip_escapes(&text).contains('\x1b'));
        }
    }
}
