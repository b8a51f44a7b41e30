//! The corners of JavaScript that show in results: whitespace, case, word characters, numbers.
//!
//! The peers of this protocol are written in JavaScript, and their hashes, ids and lines have to
//! come out the same here. Rust's own `trim`, `(?i)` and float formatting each differ somewhere.

use std::fmt::Write as _;

use serde::Serializer;

/// The first integer that a double can no longer tell from its successor.
const UNSAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Returns whether `character` is whitespace to JavaScript.
///
/// Unlike Rust, that leaves out U+0085 and takes in U+FEFF.
pub(crate) fn is_whitespace(character: char) -> bool {
    match character {
        '\u{85}' => false,
        '\u{feff}' => true,
        other => other.is_whitespace(),
    }
}

/// Returns `text` without JavaScript whitespace at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_whitespace)
}

/// Returns `text` without JavaScript whitespace at its start.
pub(crate) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_whitespace)
}

/// Returns `text` without JavaScript whitespace at its end.
pub(crate) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_whitespace)
}

/// Returns what follows `prefix` in `text`, comparing ASCII letters without regard to case.
///
/// Only ASCII folds: U+212A is no `k` and U+017F is no `s`, as in a regex without the `u` flag.
pub(crate) fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Finds the first `needle`, an ASCII text, without regard to ASCII case.
pub(crate) fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    let first = needle.bytes().next()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text.as_bytes()).find(|start| {
        text.get(*start..)
            .is_some_and(|rest| strip_prefix_ignoring_case(rest, needle).is_some())
    })
}

/// Returns whether a word that ended just before `rest` really ends there.
pub(crate) fn starts_at_word_boundary(rest: &[u8]) -> bool {
    !rest
        .first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Splits on LF and CRLF; a CR on its own is an ordinary character.
pub(crate) fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        if let Some((line, after)) = current.split_once('\n') {
            rest = Some(after);
            Some(line.strip_suffix('\r').unwrap_or(line))
        } else {
            rest = None;
            Some(current)
        }
    })
}

/// Returns `text` without its first `units` UTF-16 code units.
///
/// A cut through a surrogate pair leaves U+FFFD for the half that stays, since a `String` cannot
/// hold half a character.
pub(crate) fn skip_utf16(text: &str, units: usize) -> String {
    let mut skipped = 0;
    let mut characters = text.chars();
    while skipped < units {
        match characters.next() {
            Some(character) => skipped += character.len_utf16(),
            None => return String::new(),
        }
    }
    let split_pair = skipped > units;
    let rest = characters.as_str();
    if split_pair {
        format!("{}{rest}", char::REPLACEMENT_CHARACTER)
    } else {
        rest.to_owned()
    }
}

/// Returns `number` the way JavaScript turns it into text.
pub(crate) fn number_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    // Rust finds the same shortest digits; only their layout differs.
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific
        .split_once('e')
        .unwrap_or((scientific.as_str(), "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", lay_out(&digits, exponent))
}

/// Places the decimal point or the exponent of `digits`, read as `d.ddd` times ten to `exponent`.
fn lay_out(digits: &str, exponent: i32) -> String {
    let mut text = String::new();
    match exponent {
        0..=20 => {
            let whole = usize::try_from(exponent).unwrap_or_default() + 1;
            if let Some((before, after)) = digits.split_at_checked(whole) {
                text.push_str(before);
                if !after.is_empty() {
                    text.push('.');
                    text.push_str(after);
                }
            } else {
                let _ = write!(text, "{digits:0<whole$}");
            }
        }
        -6..0 => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
            let _ = write!(text, "0.{:0<zeros$}{digits}", "");
        }
        _ => {
            let (first, after) = digits.split_at_checked(1).unwrap_or((digits, ""));
            text.push_str(first);
            if !after.is_empty() {
                text.push('.');
                text.push_str(after);
            }
            let _ = write!(text, "e{exponent:+}");
        }
    }
    text
}

/// Returns `number` as JSON: whole numbers without a fraction, what JSON cannot say as null.
pub(crate) fn number_value(number: f64) -> serde_json::Value {
    as_safe_integer(number).map_or_else(|| number.into(), Into::into)
}

/// Serializes a double as JavaScript would, whole numbers without a fraction.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field over by reference"
)]
pub(crate) fn serialize_number<S: Serializer>(
    number: &f64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match as_safe_integer(*number) {
        Some(integer) => serializer.serialize_i64(integer),
        None => serializer.serialize_f64(*number),
    }
}

/// Serializes a double as [`serialize_number`] does, and its absence as null.
#[expect(clippy::ref_option, reason = "serde hands the field over by reference")]
pub(crate) fn serialize_optional_number<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => serialize_number(number, serializer),
        None => serializer.serialize_none(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only whole numbers below 2^53 are cast"
)]
fn as_safe_integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < UNSAFE_INTEGER).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_is_javascript_whitespace() {
        let cases = [
            ("byte order mark", "\u{feff}x\u{feff}", "x"),
            ("next line stays", "\u{85}x\u{85}", "\u{85}x\u{85}"),
            ("no-break and ideographic", "\u{a0}x\u{3000}", "x"),
            ("line and paragraph separators", "\u{2028}x\u{2029}", "x"),
            (
                "ogham to medium mathematical",
                "\u{1680}\u{2000}\u{200a}\u{202f}x\u{205f}",
                "x",
            ),
            ("zero width space stays", "\u{200b}x", "\u{200b}x"),
            ("mongolian vowel separator stays", "\u{180e}x", "\u{180e}x"),
            ("vertical tab and form feed", "\u{b}x\u{c}", "x"),
            ("unit separator stays", "\u{1f}x", "\u{1f}x"),
        ];
        for (name, input, expected) in cases {
            assert_eq!(trim(input), expected, "{name}");
        }
    }

    #[test]
    fn numbers_print_as_in_javascript() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (123.456, "123.456"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.25e22, "-1.25e+22"),
            (1e-6, "0.000001"),
            (1.5e-6, "0.0000015"),
            (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (12_345_678_901_234_567_890.0, "12345678901234567000"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (number, expected) in cases {
            assert_eq!(number_text(number), expected);
        }
    }

    #[test]
    fn case_folds_among_ascii_letters_only() {
        assert_eq!(strip_prefix_ignoring_case("SYStem x", "system"), Some(" x"));
        assert_eq!(strip_prefix_ignoring_case("\u{17f}ystem", "system"), None);
        assert_eq!(strip_prefix_ignoring_case("é", "e"), None);
        assert_eq!(
            find_ignoring_case("a thin\u{212a} THINK", "think"),
            Some(10)
        );
        assert_eq!(find_ignoring_case("short", "much longer"), None);
    }

    #[test]
    fn a_lone_carriage_return_does_not_break_a_line() {
        let lines: Vec<_> = split_lines("a\rb\r\nc\n\r\nd\r").collect();
        assert_eq!(lines, ["a\rb", "c", "", "d\r"]);
    }

    #[test]
    fn code_units_are_skipped_not_characters() {
        let cases = [
            ("short", "abc", ""),
            ("exact", "12345678", ""),
            ("wide characters", "日本語のテキストです", "です"),
            ("whole pairs", "😀😀😀😀x", "x"),
            ("split pair", "1234567😀x", "\u{fffd}x"),
        ];
        for (name, input, expected) in cases {
            assert_eq!(skip_utf16(input, 8), expected, "{name}");
        }
    }
}
