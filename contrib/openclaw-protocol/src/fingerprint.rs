//! Hashes that let two peers tell whether they hold the same line.

use super::entry::{TranscriptEntryKind, TranscriptEntryRole};
use super::javascript::{is_whitespace, number_text, trim};

const OFFSET_BASIS: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

/// How many milliseconds count as the same moment.
const BUCKET_MS: f64 = 2000.0;

/// Returns the 32-bit FNV-1a hash of a text as eight hexadecimal digits.
///
/// Each step takes in one UTF-16 code unit, not one byte, so only ASCII hashes as usual.
///
/// ```
/// assert_eq!(runtape_openclaw_protocol::fnv1a("hello"), "4f9f2cab");
/// ```
#[must_use]
pub fn fnv1a(value: &str) -> String {
    let hash = value.encode_utf16().fold(OFFSET_BASIS, |hash, unit| {
        (hash ^ u32::from(unit)).wrapping_mul(PRIME)
    });
    format!("{hash:08x}")
}

/// Returns a text in the form in which two lines count as the same: words, one space apart.
pub(crate) fn comparable_text(text: &str) -> String {
    let mut comparable = String::with_capacity(text.len());
    for word in text.split(is_whitespace).filter(|word| !word.is_empty()) {
        if !comparable.is_empty() {
            comparable.push(' ');
        }
        comparable.push_str(word);
    }
    comparable
}

/// Returns the fingerprint of an entry.
///
/// Moments are counted in fixed buckets: one line a millisecond later may differ.
pub(crate) fn fingerprint(
    role: TranscriptEntryRole,
    kind: TranscriptEntryKind,
    text: &str,
    session_key: &str,
    run_id: Option<&str>,
    timestamp_ms: Option<f64>,
) -> String {
    let bucket = match timestamp_ms {
        Some(timestamp) if timestamp.is_finite() => number_text((timestamp / BUCKET_MS).floor()),
        _ => "none".to_owned(),
    };
    fnv1a(&format!(
        "{role}|{kind}|{}|{}|{}|{bucket}",
        comparable_text(text),
        trim(session_key),
        trim(run_id.unwrap_or_default()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_take_in_code_units() {
        let cases = [
            ("", "811c9dc5"),
            ("hello", "4f9f2cab"),
            ("é", "6c0b6c44"),
            ("\0", "050c5d1f"),
            ("héllo😀", "f529ab32"),
        ];
        for (text, expected) in cases {
            assert_eq!(fnv1a(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_compare_by_their_words() {
        let cases = [
            ("", ""),
            (" \u{feff}", ""),
            ("\u{feff} a\r\n\tb ", "a b"),
            ("a\u{85}b", "a\u{85}b"),
        ];
        for (text, expected) in cases {
            assert_eq!(comparable_text(text), expected, "{text:?}");
        }
    }

    #[test]
    fn fingerprints_join_what_identifies_a_line() {
        let cases = [
            (
                "  a\u{feff}\n b ",
                " s ",
                Some(" r "),
                Some(3999.5),
                "assistant|tool|a b|s|r|1",
            ),
            ("a", "s", None, None, "assistant|tool|a|s||none"),
            (
                "a",
                "s",
                Some(" "),
                Some(f64::NAN),
                "assistant|tool|a|s||none",
            ),
            ("a", "s", None, Some(-1.0), "assistant|tool|a|s||-1"),
            ("a", "s", None, Some(-0.0), "assistant|tool|a|s||0"),
            ("a", "s", None, Some(2e300), "assistant|tool|a|s||1e+297"),
            ("a|b", "s", None, Some(1999.0), "assistant|tool|a|b|s||0"),
        ];
        for (text, session_key, run_id, timestamp_ms, joined) in cases {
            let role = TranscriptEntryRole::Assistant;
            let kind = TranscriptEntryKind::Tool;
            let found = fingerprint(role, kind, text, session_key, run_id, timestamp_ms);
            assert_eq!(found, fnv1a(joined), "{joined}");
        }
    }
}
