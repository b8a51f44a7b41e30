//! The ids of a program's own sessions.

/// Longest id of a session that is taken for one.
const LONGEST: usize = 128;

/// Tells whether a text can be the id of a session.
///
/// It may be handed to a command line, so that it is one word and no flag. A word without a digit is
/// a name or prose, and means something else tomorrow: `latest`.
pub(super) fn is_session_id(text: &str) -> bool {
    let is_word =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    text.len() <= LONGEST
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(is_word)
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_session_id;

    #[test]
    fn words_with_a_digit_are_ids_and_prose_and_flags_are_none() {
        for id in [
            "1",
            "run-7",
            "agent:main:2",
            "5b0d6c1e-0a5f-4c7e-9f53-2f1f6f9d1a01",
        ] {
            assert!(is_session_id(id), "{id}");
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
            assert!(!is_session_id(text), "{text}");
        }
    }
}
