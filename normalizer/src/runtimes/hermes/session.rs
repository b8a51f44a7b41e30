//! Session ids, and the times that hermes prints.

use crate::session_id::is_uuid;
use crate::times::seconds_to_millis;

/// Tells whether `text` is an id of a session: `20261115_234656_5eb98f`, or a UUID.
///
/// Anything else is prose: no word of an answer may become a session to resume.
pub(super) fn is_session_id(text: &str) -> bool {
    is_dated_id(text.as_bytes()) || is_lower_uuid(text)
}

fn is_dated_id(bytes: &[u8]) -> bool {
    bytes.len() == 22
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 15 => *byte == b'_',
            0..15 => byte.is_ascii_digit(),
            _ => is_lower_hex(*byte),
        })
}

/// Python prints UUIDs in small letters.
fn is_lower_uuid(text: &str) -> bool {
    is_uuid(text) && !text.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Returns the id that `text` begins with, if it is one.
pub(super) fn leading_session_id(text: &str) -> Option<&str> {
    let word = text.split(' ').next()?;
    is_session_id(word).then_some(word)
}

/// Reads a duration with one decimal, as in `0.3s`, in milliseconds.
pub(super) fn tenths(text: &str) -> Option<u64> {
    let (whole, tenth) = text.strip_suffix('s')?.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || tenth.len() != 1 || !digits(whole) || !digits(tenth) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let tenth: u64 = tenth.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(tenth * 100)
}

/// Reads a duration with any number of decimals, as in `0.77s`, in milliseconds.
pub(super) fn seconds(text: &str) -> Option<u64> {
    seconds_to_millis(text.strip_suffix('s')?.parse().ok()?)
}

/// Reads the summary's duration, as in `1h 2m 3s`, in milliseconds.
pub(super) fn clock(text: &str) -> Option<u64> {
    let mut total: u64 = 0;
    for word in text.split_ascii_whitespace() {
        let scale = match word.as_bytes().last()? {
            b'd' => 86_400_000,
            b'h' => 3_600_000,
            b'm' => 60_000,
            b's' => 1000,
            _ => return None,
        };
        let number: u64 = word.get(..word.len() - 1)?.parse().ok()?;
        total = total.checked_add(number.checked_mul(scale)?)?;
    }
    (!text.trim().is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_forms_of_hermes_are_session_ids() {
        let table = [
            ("20261115_234656_5eb98f", true),
            ("618c72fb-3b45-495c-a05d-cb728b507743", true),
            ("abc123", false),
            ("from", false),
            ("20261115_234656_5eb98", false),
            ("20261115_234656_5eb98g", false),
            ("20261115-234656-5eb98f", false),
            ("618c72fb-3b45-495c-a05d-cb728b50774", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_session_id(text), expected, "{text}");
        }
        let line = "20261115_234656_5eb98f \"Title\" (1 user message)";
        assert_eq!(leading_session_id(line), Some("20261115_234656_5eb98f"));
    }

    #[test]
    fn durations_are_read_strictly() {
        assert_eq!(tenths("0.3s"), Some(300));
        assert_eq!(tenths("123.0s"), Some(123_000));
        for text in [
            "0.30s",
            "1.2.3s",
            ".3s",
            "10s",
            "-0.1s",
            "0.s",
            "s",
            "99999999999999999999.0s",
        ] {
            assert_eq!(tenths(text), None, "{text}");
        }
        assert_eq!(seconds("0.77s"), Some(770));
        assert_eq!(seconds("nans"), None);
        assert_eq!(clock("1h 2m 3s"), Some(3_723_000));
        assert_eq!(clock("10s"), Some(10_000));
        assert_eq!(clock("soon"), None);
        assert_eq!(clock(""), None);
    }
}
