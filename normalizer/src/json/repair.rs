//! Makes text that JavaScript takes for JSON into text that `serde_json` does.

use std::borrow::Cow;

use memchr::memchr2;

use super::scan::unit;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The shortest number out of range by its digits alone has 309 of them; others have an exponent.
const MANY_DIGITS: usize = 300;

/// Replaces what `serde_json` refuses and JavaScript does not, in one pass.
///
/// - A lone surrogate escape becomes `\ufffd`; JavaScript cuts strings within a pair.
/// - A number out of range becomes `null`, which is what JavaScript would print for it.
/// - A byte order mark is dropped.
/// - Bytes that are not UTF-8 become U+FFFD.
///
/// Borrowed if there was nothing to replace. The first two keep the length of the text, so that
/// positions in error messages hold.
pub(super) fn repair(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut text = match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'"' => repair_string(&mut text, at + 1),
            b'-' | b'0'..=b'9' => repair_number(&mut text, at),
            _ => at + 1,
        };
    }
    text
}

/// Repairs the string whose content begins at `at`; returns where it ends, past the quote.
fn repair_string(text: &mut Cow<'_, [u8]>, mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(found) = memchr2(b'"', b'\\', rest) else {
            return text.len();
        };
        at += found;
        if text.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += match escaped_unit(text, at) {
            None => 2,
            Some(0xD800..=0xDBFF)
                if matches!(escaped_unit(text, at + 6), Some(0xDC00..=0xDFFF)) =>
            {
                12
            }
            Some(0xD800..=0xDFFF) => {
                overwrite(text, at, *b"\\ufffd");
                6
            }
            Some(_) => 6,
        };
    }
}

/// Returns the UTF-16 unit of the `\uXXXX` escape at `at`, if there is one.
fn escaped_unit(text: &[u8], at: usize) -> Option<u32> {
    unit(text.get(at..)?)
}

/// Repairs the number that begins at `at`; returns where it ends.
fn repair_number(text: &mut Cow<'_, [u8]>, at: usize) -> usize {
    let token = text.get(at..).unwrap_or_default();
    let length = token
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        .count();
    let token = token.get(..length).unwrap_or_default();
    let end = at + length;
    if is_out_of_range(token) {
        // Never shorter than the word: the least of them is `1e309`.
        if let Some(number) = text.to_mut().get_mut(at..end) {
            number.fill(b' ');
        }
        overwrite(text, at, *b"null");
    }
    end
}

/// Asks `serde_json` itself, whose idea of the largest number is a little its own.
fn is_out_of_range(token: &[u8]) -> bool {
    let suspect = token.len() > MANY_DIGITS || memchr2(b'e', b'E', token).is_some();
    suspect
        && serde_json::from_slice::<f64>(token)
            .is_err_and(|error| error.to_string().starts_with("number out of range"))
}

fn overwrite<const LENGTH: usize>(text: &mut Cow<'_, [u8]>, at: usize, bytes: [u8; LENGTH]) {
    if let Some(slot) = text.to_mut().get_mut(at..at + LENGTH) {
        slot.copy_from_slice(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn only_what_serde_json_refuses_is_replaced() {
        let table: [(&str, &[u8], &str); 16] = [
            (
                "nothing",
                br#"{"a":[1,-2.5e3,"x"]}"#,
                r#"{"a":[1,-2.5e3,"x"]}"#,
            ),
            ("high alone", br#""a\ud83d""#, r#""a\ufffd""#),
            ("high at a cut", br#""\ud83d\n""#, r#""\ufffd\n""#),
            ("low alone", br#""\uDE00b""#, r#""\ufffdb""#),
            ("pair", br#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            ("reversed", br#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (
                "two high and a low",
                br#""\ud83d\ud83d\ude00""#,
                r#""\ufffd\ud83d\ude00""#,
            ),
            ("escaped backslash", br#""\\ud83d""#, r#""\\ud83d""#),
            (
                "ordinary escape",
                br#""\u00e9\"\ud800""#,
                r#""\u00e9\"\ufffd""#,
            ),
            ("not four digits", br#""\ud8+0""#, r#""\ud8+0""#),
            ("too large", b"[1e400,-1e999]", "[null ,null  ]"),
            ("too small is zero", b"[1e-400]", "[1e-400]"),
            ("in a string", br#"["1e400"]"#, r#"["1e400"]"#),
            ("no number at all", b"[1e4.e00]", "[1e4.e00]"),
            ("mark", b"\xEF\xBB\xBF{}", "{}"),
            ("not utf-8", b"\"a\xFFb\"", "\"a\u{fffd}b\""),
        ];
        for (name, input, expected) in table {
            assert_eq!(String::from_utf8_lossy(&repair(input)), expected, "{name}");
        }
    }

    #[test]
    fn sound_text_is_borrowed() {
        assert!(matches!(repair(br#"{"a":"\u00e9"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn many_digits_are_out_of_range_too() {
        let digits = "9".repeat(400);
        let repaired = repair(digits.as_bytes()).into_owned();
        let value: serde_json::Value = serde_json::from_slice(&repaired).unwrap();
        assert!(value.is_null());
    }

    #[test]
    fn a_megabyte_of_faults_is_quick() {
        for fault in ["\"\\ud800\",", "1e999,", "\\ud800", "\"\\", "9", "-", "\""] {
            let text = fault.repeat(1_000_000 / fault.len());
            let began = Instant::now();
            let _ = repair(text.as_bytes());
            assert!(began.elapsed() < Duration::from_secs(10), "{fault:?}");
        }
    }
}
