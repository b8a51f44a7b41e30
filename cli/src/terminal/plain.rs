//! Making text of agents harmless: the one way for it to reach a terminal.
//!
//! What commands a terminal, and what hides or reorders what a person reads, is made visible. The
//! store has the text as it was.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Tells whether a character could command a terminal, or hide or reorder what a person reads.
fn is_harmful(character: char) -> bool {
    // Most text is plain; the list is long.
    if character < '\u{7f}' {
        return character.is_control();
    }
    character.is_control()
        || matches!(
            character,
            // Reorders: marks, embeddings, overrides, isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Breaks a line where no line feed is.
            | '\u{2028}' | '\u{2029}'
            // Takes no room: soft hyphen, joiners, zero-width and invisible characters.
            | '\u{ad}' | '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            // Takes room and shows nothing: fillers.
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}'
            | '\u{ffa0}'
            // Tags, which spell out hidden text, and the rest of their plane but selectors.
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
        )
}

/// Tells whether a character chooses the form of the one before it.
fn is_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns the text with control characters made visible; line breaks and tabs stay.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    neutralize(text, |character| matches!(character, '\n' | '\t'))
}

/// Returns the text on one line, control characters made visible and line breaks made spaces.
pub(crate) fn one_line(text: &str) -> String {
    let text = neutralize(text, |character| matches!(character, '\n' | '\t'));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the name of a file, or whatever else is quoted whole: all that is not plain is made
/// visible, line breaks too, since a name could pretend to be the next message.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    neutralize(text, |_| false)
}

/// Returns JSON that says the same and has no harmful character in it, for a terminal.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    if !Harm::is_in(text, |_| false) {
        return Cow::Borrowed(text);
    }
    let mut harm = Harm::default();
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if harm.see(character) {
            // Outside of strings JSON has nothing but spaces, digits and punctuation.
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Looks at one character after the other.
#[derive(Default)]
struct Harm {
    after_selector: bool,
}

impl Harm {
    /// Tells whether a character is harmful where it stands. One selector belongs to the character
    /// before it, as in many emoji; a row of them is hidden text.
    fn see(&mut self, character: char) -> bool {
        let is_selector = is_selector(character);
        let is_one_more = is_selector && self.after_selector;
        self.after_selector = is_selector;
        is_one_more || is_harmful(character)
    }

    fn is_in(text: &str, allowed: impl Fn(char) -> bool) -> bool {
        let mut harm = Self::default();
        text.chars()
            .any(|character| harm.see(character) && !allowed(character))
    }
}

fn neutralize(text: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    // A line feed after a carriage return is one line break, as Windows prints it.
    let text = if allowed('\n') && text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    if !Harm::is_in(&text, &allowed) {
        return text;
    }
    let mut harm = Harm::default();
    let visible = text.chars().map(|character| match character {
        character if !harm.see(character) || allowed(character) => character,
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

    /// One of each kind: what it is called, and the character.
    const HARMFUL: &[(&str, char)] = &[
        ("escape", '\u{1b}'),
        ("delete", '\u{7f}'),
        ("control sequence introducer", '\u{9b}'),
        ("next line", '\u{85}'),
        ("Arabic letter mark", '\u{61c}'),
        ("left-to-right mark", '\u{200e}'),
        ("right-to-left override", '\u{202e}'),
        ("isolate", '\u{2067}'),
        ("line separator", '\u{2028}'),
        ("paragraph separator", '\u{2029}'),
        ("soft hyphen", '\u{ad}'),
        ("grapheme joiner", '\u{34f}'),
        ("Mongolian vowel separator", '\u{180e}'),
        ("zero-width space", '\u{200b}'),
        ("zero-width joiner", '\u{200d}'),
        ("word joiner", '\u{2060}'),
        ("invisible times", '\u{2062}'),
        ("byte order mark", '\u{feff}'),
        ("interlinear annotation", '\u{fff9}'),
        ("Hangul filler", '\u{3164}'),
        ("half-width Hangul filler", '\u{ffa0}'),
        ("Hangul choseong filler", '\u{115f}'),
        ("blank Braille", '\u{2800}'),
        ("tag", '\u{e0041}'),
        ("cancel tag", '\u{e007f}'),
    ];

    #[test]
    fn escapes_and_control_characters_become_visible() {
        assert_eq!(lines("a\u{1b}[31mb\u{7}\n\tc"), "a␛[31mb␇\n\tc");
        assert_eq!(lines("one\r\ntwo\rthree"), "one\ntwo␍three");
        assert_eq!(lines("\u{9b}31m\u{202e}abc"), "\u{fffd}31m\u{fffd}abc");
        assert!(matches!(lines("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn every_kind_of_harmful_character_is_made_visible_in_every_way() {
        for (kind, character) in HARMFUL {
            let text = format!("a{character}b");
            let shown = [
                lines(&text).into_owned(),
                one_line(&text),
                name(&text).into_owned(),
                json(&text).into_owned(),
            ];
            for shown in shown {
                assert!(!shown.contains(*character), "{kind}: {shown:?}");
                // Something is there in its place.
                assert!(shown.chars().count() >= 3, "{kind}: {shown:?}");
            }
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "naïve 日本語 العربية עברית",
            "⚠\u{fe0f} done ✓",
            "a\u{a0}b",
            "葛\u{e0100}",
        ] {
            assert_eq!(lines(text), text);
            assert_eq!(json(text), text);
        }
        // A row of selectors is no letter's form.
        assert_eq!(
            lines("a\u{fe0f}\u{fe01}\u{fe02}"),
            "a\u{fe0f}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn one_line_has_no_breaks() {
        assert_eq!(one_line("  a\n\n b\t\u{1b}c "), "a b ␛c");
    }

    #[test]
    fn a_name_is_quoted_whole() {
        assert_eq!(
            name("a  b\nruntape: all is well"),
            "a  b␊runtape: all is well"
        );
    }

    #[test]
    fn json_for_a_terminal_says_the_same() {
        let value = serde_json::json!({"a\u{202e}b": ["\u{1b}[2J", "\u{e0041}\u{9b}\u{7f}", "é"]});
        let text = value.to_string();
        let shown = json(&text);
        assert!(!Harm::is_in(&shown, |_| false), "{shown}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            value
        );
    }
}
