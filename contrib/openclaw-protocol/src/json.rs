//! JSON the way JavaScript reads it.
//!
//! `serde_json` refuses three things that `JSON.parse` takes: numbers too large for a double,
//! halves of surrogate pairs in escapes, and deep nesting. A message must not be lost over those,
//! so this reader takes them as well, without recursion.

use serde_json::{Map, Value};

use super::javascript::number_value;

/// How deep [`parse`] lets arrays and objects nest.
///
/// Dropping a [`Value`] recurses, so an unlimited depth would let a message exhaust the stack.
const MAX_DEPTH: usize = 512;

/// Why a text is not JSON that can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text breaks the grammar.
    #[error("not JSON at byte {position}")]
    Syntax {
        /// Where reading stopped.
        position: usize,
    },
    /// The text is JSON, but nests further than can be held safely.
    #[error("arrays and objects nest deeper than {MAX_DEPTH}")]
    TooDeep,
}

/// Reads one JSON document as `JSON.parse` does.
///
/// Numbers become doubles. One too large for a double is read as null, which is also how
/// JavaScript would print it; half a surrogate pair is read as U+FFFD. Of a repeated key the first
/// position and the last value count.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    let mut reader = Reader::new(text, MAX_DEPTH);
    let value = reader.document()?;
    if reader.dropped {
        return Err(JsonError::TooDeep);
    }
    Ok(value)
}

/// Checks a whole document, keeping the scalars at its top and reading everything below as null.
pub(crate) fn parse_top_level(text: &str) -> Option<Value> {
    Reader::new(text, 1).document().ok()
}

/// A container that is still being filled.
enum Open {
    Array(Vec<Value>),
    Object(Map<String, Value>, String),
}

struct Reader<'a> {
    text: &'a str,
    position: usize,
    kept_depth: usize,
    dropped: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, kept_depth: usize) -> Self {
        Self {
            text,
            position: 0,
            kept_depth,
            dropped: false,
        }
    }

    fn document(&mut self) -> Result<Value, JsonError> {
        let mut open: Vec<Open> = Vec::new();
        'value: loop {
            let mut value = match self.peek_token() {
                Some(b'[') => {
                    self.position += 1;
                    if self.peek_token() != Some(b']') {
                        open.push(Open::Array(Vec::new()));
                        continue 'value;
                    }
                    self.position += 1;
                    self.keep(Value::Array(Vec::new()), open.len())
                }
                Some(b'{') => {
                    self.position += 1;
                    if self.peek_token() != Some(b'}') {
                        let key = self.key()?;
                        open.push(Open::Object(Map::new(), key));
                        continue 'value;
                    }
                    self.position += 1;
                    self.keep(Value::Object(Map::new()), open.len())
                }
                _ => self.scalar()?,
            };
            // The value may be the last of its container, and that one the last of the next.
            loop {
                let token = self.peek_token();
                let Some(innermost) = open.pop() else {
                    return match token {
                        None => Ok(value),
                        Some(_) => self.fail(),
                    };
                };
                match innermost {
                    Open::Array(mut items) => {
                        items.push(value);
                        self.expect_one_of(token, *b",]")?;
                        if token == Some(b',') {
                            open.push(Open::Array(items));
                            continue 'value;
                        }
                        value = self.keep(Value::Array(items), open.len());
                    }
                    Open::Object(mut members, key) => {
                        members.insert(key, value);
                        self.expect_one_of(token, *b",}")?;
                        if token == Some(b',') {
                            let key = self.key()?;
                            open.push(Open::Object(members, key));
                            continue 'value;
                        }
                        value = self.keep(Value::Object(members), open.len());
                    }
                }
            }
        }
    }

    /// Drops a container that closed too deep, so that no deep tree ever exists.
    fn keep(&mut self, container: Value, depth: usize) -> Value {
        if depth < self.kept_depth {
            return container;
        }
        self.dropped = true;
        Value::Null
    }

    fn key(&mut self) -> Result<String, JsonError> {
        if self.peek_token() != Some(b'"') {
            return self.fail();
        }
        let key = self.string()?;
        let token = self.peek_token();
        self.expect_one_of(token, *b"::")?;
        Ok(key)
    }

    fn scalar(&mut self) -> Result<Value, JsonError> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => self.number(),
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, JsonError> {
        if !self.rest().starts_with(word) {
            return self.fail();
        }
        self.position += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.position;
        self.skip_if(b"-");
        if !self.skip_if(b"0") {
            self.digits()?;
        }
        if self.skip_if(b".") {
            self.digits()?;
        }
        if self.skip_if(b"eE") {
            self.skip_if(b"+-");
            self.digits()?;
        }
        let digits = self.text.get(start..self.position).unwrap_or_default();
        // The grammar is checked above, and Rust reads all of it; overflow gives an infinity.
        Ok(digits.parse().map_or(Value::Null, number_value))
    }

    /// Skips at least one digit.
    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.position;
        while self.skip_if(b"0123456789") {}
        if self.position == start {
            return self.fail();
        }
        Ok(())
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.position += 1;
        let mut string = String::new();
        loop {
            let rest = self.rest();
            let plain = rest
                .bytes()
                .position(|byte| byte < b' ' || byte == b'"' || byte == b'\\')
                .unwrap_or(rest.len());
            string.push_str(rest.get(..plain).unwrap_or_default());
            self.position += plain;
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(string);
                }
                Some(b'\\') => {
                    self.position += 1;
                    string.push(self.escape()?);
                }
                _ => return self.fail(),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let character = match self.peek() {
            Some(b'u') => {
                self.position += 1;
                return self.unicode_escape();
            }
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            _ => return self.fail(),
        };
        self.position += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let unit = self.four_hex_digits()?;
        if let 0xd800..0xdc00 = unit
            && self.rest().starts_with("\\u")
        {
            let before = self.position;
            self.position += 2;
            let second = self.four_hex_digits()?;
            if let Some(Ok(character)) = char::decode_utf16([unit, second]).next() {
                return Ok(character);
            }
            self.position = before;
        }
        Ok(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_hex_digits(&mut self) -> Result<u16, JsonError> {
        let Some(digits) = self.rest().get(..4) else {
            return self.fail();
        };
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return self.fail();
        }
        self.position += 4;
        Ok(u16::from_str_radix(digits, 16).unwrap_or_default())
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Skips what JSON calls whitespace, which is less than what JavaScript does.
    fn peek_token(&mut self) -> Option<u8> {
        while self.skip_if(b" \t\n\r") {}
        self.peek()
    }

    fn skip_if(&mut self, set: &[u8]) -> bool {
        let found = self.peek().is_some_and(|byte| set.contains(&byte));
        self.position += usize::from(found);
        found
    }

    fn expect_one_of(&mut self, token: Option<u8>, wanted: [u8; 2]) -> Result<(), JsonError> {
        if !token.is_some_and(|byte| wanted.contains(&byte)) {
            return self.fail();
        }
        self.position += 1;
        Ok(())
    }

    fn fail<T>(&self) -> Result<T, JsonError> {
        Err(JsonError::Syntax {
            position: self.position,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_read_as_in_javascript() {
        let cases = [
            (" [1, -2.50, 1E2, 0] ", json!([1, -2.5, 100, 0])),
            (r#"{"a":{"b":[]},"c":{}}"#, json!({"a": {"b": []}, "c": {}})),
            (r#"{"a":1,"b":2,"a":3}"#, json!({"a": 3, "b": 2})),
            (
                r#""\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\""#,
                json!("é😀/\u{8}\u{c}\n\r\t\"\\"),
            ),
            (
                r#""\ud83dx\ude00\ud83d\ud83d\ude00""#,
                json!("\u{fffd}x\u{fffd}\u{fffd}😀"),
            ),
            ("1e999", Value::Null),
            ("12345678901234567890", json!(12_345_678_901_234_567_890.0)),
            ("-0", json!(0)),
            ("true", json!(true)),
            ("\"\u{2028}\u{7f}\"", json!("\u{2028}\u{7f}")),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_breaks_the_grammar_is_refused() {
        let cases = [
            "",
            " ",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "nul",
            "True",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{a:1}",
            "{\"a\":1,}",
            "[1",
            "{\"a\":1",
            "1 2",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u+123\"",
            "\"a\nb\"",
            "\u{a0}1",
            "[1}",
            "{\"a\":1]",
            "NaN",
            "'a'",
            "]",
            "\"\\ud83d\\u12\"",
        ];
        for text in cases {
            assert!(
                matches!(parse(text), Err(JsonError::Syntax { .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_refused_without_exhausting_the_stack() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(parse(&deep), Err(JsonError::TooDeep));
        let allowed = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(parse(&allowed).is_ok());
        let unclosed = "[{\"a\":".repeat(100_000);
        assert!(parse(&unclosed).is_err());
    }

    #[test]
    fn the_top_level_reader_checks_what_it_does_not_keep() {
        let deep = format!(
            "{{\"a\":{}{},\"b\":1,\"c\":{{}}}}",
            "[".repeat(9_999),
            "]".repeat(9_999)
        );
        assert_eq!(
            parse_top_level(&deep),
            Some(json!({"a": null, "b": 1, "c": null}))
        );
        assert_eq!(parse_top_level("{\"a\":[1,]}"), None);
    }
}
