//! Objects whose fields are printed in an order that is known beforehand.

use super::reader::JsonReader;
use super::text::Str;

/// Reads the fields of an object one after the other, as its CLI always prints them.
///
/// Looking for each where it must be takes a small part of the code that any order of keys takes, and a
/// run of a few lines spends most of its time on getting at code. Where something is not as it is always
/// printed, a method gives nothing, and the whole text is to be decoded.
pub(crate) struct PlainFields<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> PlainFields<'a> {
    /// Begins at a place in a text.
    pub(crate) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Passes these very words.
    pub(crate) fn pass(&mut self, words: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        if !rest.starts_with(words.as_bytes()) {
            return None;
        }
        self.at += words.len();
        Some(())
    }

    /// Passes a string, and what comes before its content: from the comma to the opening quote.
    #[inline(never)]
    pub(crate) fn text(&mut self, opening: &str) -> Option<Str<'a>> {
        debug_assert!(opening.ends_with('"'), "{opening} opens no string");
        self.pass(opening)?;
        let mut reader = JsonReader::within(self.text, self.at.checked_sub(1)?, 0);
        let written = reader.string().ok()?;
        self.at = reader.place();
        Some(match written.read().ok()? {
            Ok(text) => text.into(),
            Err(text) => text.into(),
        })
    }

    /// Passes a small number that is not negative.
    pub(crate) fn number(&mut self) -> Option<u16> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let written = self.text.get(self.at..self.at + digits)?;
        // What has a zero first is no number in JSON.
        let is_whole = digits == 1 || (digits < 5 && !written.starts_with('0'));
        let number = written.parse().ok().filter(|_| is_whole)?;
        self.at += digits;
        Some(number)
    }

    /// Tells whether the text ends with these brackets.
    pub(crate) fn ends_with(&self, brackets: &str) -> bool {
        self.text.as_bytes().get(self.at..) == Some(brackets.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn fields_are_read_in_their_order_up_to_the_end() {
        let text = r#"{"a":"é","b":"c\n","d":12,"e":null}"#;
        let mut fields = PlainFields::new(text, 0);
        assert!(matches!(
            fields.text("{\"a\":\""),
            Some(Str(Cow::Borrowed("é")))
        ));
        assert!(fields.text(",\"c\":\"").is_none());
        assert_eq!(fields.text(",\"b\":\"").unwrap(), "c\n");
        fields.pass(",\"d\":").unwrap();
        assert_eq!(fields.number(), Some(12));
        fields.pass(",\"e\":").unwrap();
        assert_eq!(fields.number(), None);
        fields.pass("null").unwrap();
        assert!(fields.ends_with("}") && !fields.ends_with("") && !fields.ends_with("}}"));
    }

    #[test]
    fn what_is_odd_is_refused() {
        let cut = ["\"a", "\"a\\", "\"\\x\"", "\"\\ud800\"", "\"a\tb\"", "\""];
        for text in cut {
            let read = PlainFields::new(text, 0).text("\"");
            assert!(read.is_none(), "{text}");
        }
        for (text, at) in [
            ("01", 0),
            ("-1", 0),
            ("", 0),
            ("12345", 0),
            ("x", 0),
            ("1", 2),
        ] {
            assert_eq!(PlainFields::new(text, at).number(), None, "{text}");
        }
        // The fraction is no part of the number, and no bracket either.
        let mut fields = PlainFields::new("1.5}", 0);
        assert_eq!(fields.number(), Some(1));
        assert!(!fields.ends_with("}"));
    }
}
