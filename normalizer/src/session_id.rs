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

/// Tells whether a text is a UUID in small letters.
pub(crate) fn is_small_uuid(text: &str) -> bool {
    // One short loop: counting digits is made many instructions, more than a line of 36 bytes is worth.
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// The longest word that is taken for an id.
const LONGEST: usize = 128;

/// Tells whether a text is one word that is no option: letters, digits, `-`, `_` and `.`.
pub(crate) fn is_word(text: &str) -> bool {
    is_word_with(text, LONGEST, b"")
}

/// Tells whether a text is one word that is no option, of letters, digits, `-`, `_`, `.` and `marks`.
pub(crate) fn is_word_with(text: &str, longest: usize, marks: &[u8]) -> bool {
    let is_part = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') || marks.contains(&byte)
    };
    text.len() <= longest
        && text
            .as_bytes()
            .first()
            .is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(is_part)
}

/// Tells whether a text is one word with a digit in it, as no word of prose has.
pub(crate) fn is_word_with_digit(text: &str) -> bool {
    is_word(text) && has_digit(text)
}

/// Tells whether a text is such a word, which may have colons between its parts.
pub(crate) fn is_path_with_digit(text: &str) -> bool {
    is_word_with(text, LONGEST, b":") && has_digit(text)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
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

    #[test]
    fn small_letters_and_parts_are_told() {
        assert!(is_small_uuid("6baba7bc-061b-4fc8-9fe0-a222e7fee90d"));
        assert!(!is_small_uuid("6BABA7BC-061b-4fc8-9fe0-a222e7fee90d"));
        let ids = [
            "1",
            "run-7",
            "agent:main:2",
            "5b0d6c1e-0a5f-4c7e-9f53-2f1f6f9d1a01",
        ];
        for id in ids {
            assert!(is_path_with_digit(id), "{id}");
        }
        let long = "1".repeat(129);
        for text in [
            "",
            "latest",
            "--resume=1",
            "a b1",
            "../1",
            "1;x",
            "1\n",
            &long,
        ] {
            assert!(!is_path_with_digit(text), "{text}");
        }
    }
}
