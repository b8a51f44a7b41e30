//! Characters of a capture that know where they are written.
//!
//! A character of an answer may be an escape sequence inside a JSON string that is itself a piece
//! of a longer text, streamed over many lines. Ids and words are looked for in the text, and
//! replaced where it is written.

/// A character, and the bytes that write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) value: char,
    /// Offset of its first byte.
    pub(super) at: usize,
    /// How many bytes write it.
    pub(super) length: usize,
}

/// A string in JSON, decoded.
#[derive(Clone, Debug)]
pub(super) struct JsonString {
    /// The key it belongs to; also the elements of an array under that key.
    pub(super) key: String,
    pub(super) letters: Vec<Letter>,
}

/// Returns the letters of plain text that begins at an offset.
pub(super) fn letters(text: &str, start: usize) -> Vec<Letter> {
    text.char_indices()
        .map(|(at, value)| Letter {
            value,
            at: start + at,
            length: value.len_utf8(),
        })
        .collect()
}

/// Returns the letters as text.
pub(super) fn text_of(letters: &[Letter]) -> String {
    letters.iter().map(|letter| letter.value).collect()
}

/// Returns the string values in JSON, each with its key. Anything at all may be given: what is no
/// string is passed over.
pub(super) fn strings(json: &[Letter]) -> Vec<JsonString> {
    let mut strings = Vec::new();
    let mut key = String::new();
    let mut rest = json;
    while let Some(open) = rest.iter().position(|letter| letter.value == '"') {
        let (letters, after) = decode(rest.get(open + 1..).unwrap_or_default());
        let next = after.iter().find(|letter| !letter.value.is_whitespace());
        if next.is_some_and(|letter| letter.value == ':') {
            key = text_of(&letters);
        } else {
            strings.push(JsonString {
                key: key.clone(),
                letters,
            });
        }
        rest = after;
    }
    strings
}

/// Decodes a string up to its closing quote; returns what follows as well.
fn decode(json: &[Letter]) -> (Vec<Letter>, &[Letter]) {
    let mut letters = Vec::new();
    let mut rest = json;
    while let Some((first, after)) = rest.split_first() {
        if first.value == '"' {
            return (letters, after);
        }
        if first.value != '\\' {
            letters.push(*first);
            rest = after;
            continue;
        }
        let Some((second, _)) = after.split_first() else {
            break;
        };
        let (value, used) = match second.value {
            'n' => ('\n', 2),
            't' => ('\t', 2),
            'r' => ('\r', 2),
            'b' => ('\u{8}', 2),
            'f' => ('\u{c}', 2),
            'u' => {
                let digits = text_of(rest.get(2..6).unwrap_or_default());
                let code = u32::from_str_radix(&digits, 16).ok();
                (code.and_then(char::from_u32).unwrap_or('\u{fffd}'), 6)
            }
            other => (other, 2),
        };
        let (written, after) = rest.split_at(used.min(rest.len()));
        let length = written.iter().map(|letter| letter.length).sum();
        letters.push(Letter {
            value,
            at: first.at,
            length,
        });
        rest = after;
    }
    (letters, &[])
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a wrong place is to fail the test")]
mod tests {
    use super::*;

    #[test]
    fn strings_know_their_keys_and_where_they_are_written() {
        let line = r#"  {"a": "x\n\u00e9y", "b": [1, "z"], "c": {"d": "open"#;
        let found = strings(&letters(line, 100));
        let seen: Vec<(&str, String)> = found
            .iter()
            .map(|string| (string.key.as_str(), text_of(&string.letters)))
            .collect();
        assert_eq!(
            seen,
            [
                ("a", "x\n\u{e9}y".into()),
                ("b", "z".into()),
                ("d", "open".into())
            ]
        );
        let last = found[0].letters[3];
        assert_eq!(&line[last.at - 100..][..last.length], "y");
        let escape = found[0].letters[2];
        assert_eq!(&line[escape.at - 100..][..escape.length], r"\u00e9");
    }

    #[test]
    fn json_inside_a_string_is_json_again() {
        let outer = strings(&letters(r#"{"p":"{\"q\":\"a\\nb\"}"}"#, 0));
        let inner = strings(&outer[0].letters);
        assert_eq!(
            (inner[0].key.as_str(), text_of(&inner[0].letters)),
            ("q", "a\nb".into())
        );
    }
}
