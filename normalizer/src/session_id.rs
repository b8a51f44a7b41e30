//! The forms of session ids.
//!
//! An id may become a word on a command line, to go on with its session: no word of an answer may
//! pass for one. Which form a runtime's ids have is said in its entry of the registry.

/// Tells whether a text is a UUID.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Tells whether a text is one word that is no option: letters, digits, `-`, `_` and `.`.
pub(crate) fn is_word(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.len() <= 128
        && text
            .as_bytes()
            .first()
            .is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(is_part)
}

/// Tells whether a text is one word with a digit in it, as no word of prose has.
pub(crate) fn is_word_with_digit(text: &str) -> bool {
    is_word(text) && text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_no_session_id() {
        let table = [
            ("6baba7bc-061b-4fc8-9fe0-a222e7fee90d", true, true, true),
            ("6BABA7BC-061b-4fc8-9fe0-a222e7fee90d", true, true, true),
            ("6baba7bc-061b-4fc8-9fe0-a222e7fee90", false, true, true),
            ("6baba7bc_061b-4fc8-9fe0-a222e7fee90d", false, true, true),
            ("my_chat.2", false, true, true),
            ("latest", false, true, false),
            ("", false, false, false),
            ("not found", false, false, false),
            ("--force", false, false, false),
            ("a/b", false, false, false),
            ("é1", false, false, false),
        ];
        for (text, uuid, word, with_digit) in table {
            assert_eq!(is_uuid(text), uuid, "{text}");
            assert_eq!(is_word(text), word, "{text}");
            assert_eq!(is_word_with_digit(text), with_digit, "{text}");
        }
        assert!(is_word(&"a".repeat(128)) && !is_word(&"a".repeat(129)));
    }
}
