//! JSON the way JavaScript reads it.
//!
//! `serde_json` does the reading. It refuses two things that `JSON.parse` takes, and a message must
//! not be lost over them: a number too large for a double, and half a surrogate pair in an escape. So
//! what it refuses is repaired first, and read again.

use std::collections::HashMap;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::javascript::number_value;

/// How deep [`parse`] lets arrays and objects nest.
///
/// Reading and dropping a [`Value`] recurses, so an unlimited depth would let a message exhaust the
/// stack.
const MAX_DEPTH: usize = 512;

/// The shortest number out of range by its digits alone has 309 of them; others have an exponent.
const MANY_DIGITS: usize = 300;

/// Why a text is not JSON that can be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text breaks the grammar.
    #[error("not JSON: {source}")]
    Syntax {
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// The text nests further than can be held safely.
    #[error("arrays and objects nest deeper than {MAX_DEPTH}")]
    TooDeep,
}

/// Reads one JSON document as `JSON.parse` does.
///
/// Numbers become doubles. One too large for a double is read as null, which is also how
/// JavaScript would print it; half a surrogate pair is read as U+FFFD. Of a repeated key the first
/// position and the last value count.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    if depth(text) > MAX_DEPTH {
        return Err(JsonError::TooDeep);
    }
    let mut value = match read(text) {
        Ok(value) => value,
        Err(_) => read(&repair(text)).map_err(|source| JsonError::Syntax { source })?,
    };
    make_doubles(&mut value);
    Ok(value)
}

fn read(text: &str) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // How deep the text nests is known.
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Reads an object of which only scalars matter: its arrays and objects are checked, however deep they
/// nest, and read as null.
pub(crate) fn parse_scalars(text: &str) -> Option<HashMap<String, Value>> {
    let members: HashMap<String, Scalar> = serde_json::from_str(&repair(text)).ok()?;
    let members = members
        .into_iter()
        .map(|(name, Scalar(value))| (name, value));
    Some(members.collect())
}

struct Scalar(Value);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor).map(Self)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    // `IgnoredAny` does not recurse.
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Null)
    }
}

/// Returns how deep the brackets of a text nest, whether or not it is JSON.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    let mut is_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            // What is escaped ends no string.
            b'\\' if is_string => drop(bytes.next()),
            b'[' | b'{' if !is_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Makes every number what JavaScript has: a double, printed without a fraction where it has none.
fn make_doubles(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().map_or(Value::Null, number_value),
        Value::Array(items) => items.iter_mut().for_each(make_doubles),
        Value::Object(members) => members.values_mut().for_each(make_doubles),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Replaces what `serde_json` refuses and JavaScript does not: a number too large for a double by
/// `null`, half a surrogate pair by `\ufffd`. The text keeps its length, so that positions in errors
/// hold.
fn repair(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => repair_string(&mut bytes, at + 1),
            b'-' | b'0'..=b'9' => repair_number(&mut bytes, at),
            _ => at + 1,
        };
    }
    // ASCII took the place of ASCII.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Repairs the string whose content begins at `at`; returns where it ends, past the quote.
fn repair_string(bytes: &mut [u8], mut at: usize) -> usize {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
            return bytes.len();
        };
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += match (escaped_unit(bytes, at), escaped_unit(bytes, at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                overwrite(bytes, at, b"\\ufffd");
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
}

/// Returns the UTF-16 unit of the `\uXXXX` escape at `at`, if there is one.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    // A sign would be taken for a part of the number.
    let is_number = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Repairs the number that begins at `at`; returns where it ends.
fn repair_number(bytes: &mut [u8], at: usize) -> usize {
    let rest = bytes.get_mut(at..).unwrap_or_default();
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let length = rest.iter().take_while(|byte| is_part(byte)).count();
    let number = rest.get_mut(..length).unwrap_or_default();
    if is_too_large(number) {
        // Never shorter than the word: the least of them is `1e309`.
        number.fill(b' ');
        overwrite(number, 0, b"null");
    }
    at + length
}

/// Asks `serde_json` itself, so that nothing else is replaced.
fn is_too_large(number: &[u8]) -> bool {
    let may_be = number.len() > MANY_DIGITS || memchr::memchr2(b'e', b'E', number).is_some();
    let refusal = |error: serde_json::Error| error.to_string().starts_with("number out of range");
    may_be && serde_json::from_slice::<f64>(number).is_err_and(refusal)
}

fn overwrite(bytes: &mut [u8], at: usize, word: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + word.len()) {
        place.copy_from_slice(word);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

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
            assert_eq!(parse(text).unwrap(), expected, "{text}");
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
        assert!(matches!(parse(&deep), Err(JsonError::TooDeep)));
        let allowed = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(parse(&allowed).is_ok());
        let unclosed = "[{\"a\":".repeat(100_000);
        assert!(parse(&unclosed).is_err());
    }

    #[test]
    fn brackets_in_strings_do_not_nest() {
        let text = format!("\"{}\\\"{}\"", "[".repeat(600), "{".repeat(600));
        assert!(parse(&text).is_ok());
        assert_eq!(depth(r#"[{"a":["[","\\"]},[]]"#), 3);
    }

    #[test]
    fn only_what_serde_json_refuses_is_repaired() {
        let cases = [
            (r#"{"a":[1,-2.5e3,"x"]}"#, r#"{"a":[1,-2.5e3,"x"]}"#),
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\uDE00\ud83d\n""#, r#""\ufffd\ufffd\n""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\ud8+0""#, r#""\ud8+0""#),
            ("[1e400,-1e999]", "[null ,null  ]"),
            (r#"[1e-400,"1e400",1e4.e00]"#, r#"[1e-400,"1e400",1e4.e00]"#),
        ];
        for (text, expected) in cases {
            assert_eq!(repair(text), expected);
        }
        assert_eq!(parse(&"9".repeat(400)).unwrap(), Value::Null);
    }

    #[test]
    fn the_reader_of_scalars_checks_what_it_does_not_keep() {
        let deep = format!(
            "{{\"a\":{}{},\"b\":1,\"c\":{{\"d\":[]}},\"e\":1e999,\"b\":\"\\ud800\"}}",
            "[".repeat(9_999),
            "]".repeat(9_999)
        );
        let members = parse_scalars(&deep).unwrap();
        let read: Map<String, Value> = members.into_iter().collect();
        let expected = json!({"a": null, "b": "\u{fffd}", "c": null, "e": null});
        assert_eq!(Value::Object(read), expected);
        for bad in ["{\"a\":[1,]}", "[]", "{\"a\":{\"b\":1}", "1", ""] {
            assert!(parse_scalars(bad).is_none(), "{bad}");
        }
    }
}
