//! Making text of agents harmless: the one way for it to reach a terminal.

use std::borrow::Cow;

/// Tells whether a character could command a terminal, or hide or reorder what a person reads.
fn is_harmful(character: char) -> bool {
    let is_direction = matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    );
    is_direction || character.is_control()
}

/// Returns the text with control characters made visible; line breaks and tabs stay.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    neutralize(text, |character| matches!(character, '\n' | '\t'))
}

/// Returns the text on one line, control characters made visible and line breaks made spaces.
pub(crate) fn one_line(text: &str) -> String {
    let text = neutralize(text, char::is_whitespace);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn neutralize(text: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    // A line feed after a carriage return is one line break, as Windows prints it.
    let text = if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    if !text.chars().any(|c| is_harmful(c) && !allowed(c)) {
        return text;
    }
    let visible = text.chars().map(|character| match character {
        character if !is_harmful(character) || allowed(character) => character,
        // Unicode has a picture for each of the first control characters.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    });
    Cow::Owned(visible.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_control_characters_become_visible() {
        assert_eq!(lines("a\u{1b}[31mb\u{7}\n\tc"), "a␛[31mb␇\n\tc");
        assert_eq!(lines("one\r\ntwo\rthree"), "one\ntwo␍three");
        assert_eq!(lines("\u{9b}31m\u{202e}abc"), "\u{fffd}31m\u{fffd}abc");
        assert!(matches!(lines("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn one_line_has_no_breaks() {
        assert_eq!(one_line("  a\n\n b\t\u{1b}c "), "a b ␛c");
    }
}
