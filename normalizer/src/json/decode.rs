//! One JSON value into one wire struct, at the cost of as little as possible.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::quick;
use super::removed::Removed;
use super::repair::repair;
use super::text::sound_text;
use super::weight::is_too_much;

/// How many fields of one value may be dropped before it is given up.
///
/// Each costs another reading of the value, and a message with more faults than this is not the
/// message it was taken for.
const MOST_FAULTS: usize = 16;

/// How much of a path or a reason is kept at either end; serde quotes the offending text whole.
const KEPT: usize = 120;

/// What `serde_json` says when it stops at its nesting limit. It has no code for it to match on.
const TOO_DEEP: &str = "recursion limit exceeded";

/// A fault that cost a field, not the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where the field was, as in `message.content[2].text`; `.` is the value itself.
    pub path: String,
    /// What was wrong with it, without its full content.
    pub reason: String,
}

/// A value, and what had to be left out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<T> {
    /// The value that was read.
    pub value: T,
    /// The fields that were dropped to read it. A repaired character or number is not among them.
    pub faults: Vec<Fault>,
}

/// Why a value could not be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// The text is JSON of another shape, and dropping fields did not help.
    #[error("not the expected shape: {reason} (at {path})")]
    Shape {
        /// Where the first fault was.
        path: String,
        /// What the first fault was.
        reason: String,
    },
    /// The value is nested deeper than is read.
    #[error("nested too deep")]
    TooDeep,
    /// The text has more values than can be held.
    #[error("more values than can be held")]
    TooMany,
}

/// Reads one JSON value.
///
/// Sound text costs less than `serde_json` costs, and strings are borrowed from it. Only when that
/// fails is the text repaired, or read without the fields that do not fit:
///
/// - A lone surrogate escape and bytes that are not UTF-8 read as U+FFFD, a number out of range
///   as null, and a byte order mark is passed over.
/// - A field or list item of the wrong type is dropped and becomes a [`Fault`]. If what it was in
///   cannot do without it, that is dropped too, and so on; at the value itself this ends in
///   [`DecodeError::Shape`], which names the first fault.
///
/// A text with more than [`MOST_VALUES`](super::MOST_VALUES) values is refused before it is read.
///
/// What borrows must be able to own as well, since a repaired text does not outlive this call: wire
/// structs hold [`Str`](super::Str), not `&str`. And they should not use serde's `untagged`,
/// `flatten` or `tag`: those read their content through a buffer that knows no paths, so that a
/// fault inside costs the whole of it.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<Decoded<T>, DecodeError> {
    if is_too_much(bytes) {
        return Err(DecodeError::TooMany);
    }
    // Checking a line for UTF-8 once is quicker than checking each of its strings.
    let sound = sound_text(bytes).and_then(quick::read);
    match sound {
        Some(value) => Ok(Decoded {
            value,
            faults: Vec::new(),
        }),
        None => decode_slowly(bytes),
    }
}

/// Decodes the rest of an object from `at`, where a field of it has just ended, if it is sound and
/// plain. What comes before must have been read: the object is the innermost of `depth`, and the text
/// has to end with all of them.
///
/// Where this gives nothing, the whole text is to be decoded.
pub(crate) fn decode_rest<'a, T: Deserialize<'a>>(
    text: &'a str,
    at: usize,
    depth: u8,
) -> Option<T> {
    if is_too_much(text.as_bytes()) {
        return None;
    }
    quick::read_rest(text, at, depth)
}

#[cold]
fn decode_slowly<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<Decoded<T>, DecodeError> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Ok(Decoded {
            value,
            faults: Vec::new(),
        }),
        Err(error) => decode_repaired(bytes, &error),
    }
}

fn decode_repaired<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    error: &serde_json::Error,
) -> Result<Decoded<T>, DecodeError> {
    // Nothing that is replaced could supply the missing end.
    if error.is_eof() {
        return Err(refused(error));
    }
    let text = repair(bytes);
    if error.is_syntax() && matches!(text, Cow::Borrowed(text) if text.len() == bytes.len()) {
        return Err(refused(error));
    }
    let value = serde_json::from_slice(&text).map_err(|error| refused(&error))?;
    decode_without_faults(value)
}

fn refused(error: &serde_json::Error) -> DecodeError {
    let reason = error.to_string();
    if reason.starts_with(TOO_DEEP) {
        DecodeError::TooDeep
    } else {
        DecodeError::Syntax(shorten(reason))
    }
}

fn decode_without_faults<'a, T: Deserialize<'a>>(
    mut value: Value,
) -> Result<Decoded<T>, DecodeError> {
    let mut faults: Vec<Fault> = Vec::new();
    let mut removed = Removed::default();
    loop {
        // The copy is read rather than the value borrowed, because `T` may outlive both.
        let error = match serde_path_to_error::deserialize(value.clone()) {
            Ok(value) => return Ok(Decoded { value, faults }),
            Err(error) => error,
        };
        let path: Vec<&Segment> = error.path().iter().collect();
        let fault = Fault {
            path: if path.is_empty() {
                ".".to_owned()
            } else {
                shorten(removed.original_path(&path))
            },
            reason: shorten(error.inner().to_string()),
        };
        if faults.len() == MOST_FAULTS || !removed.take_out(&mut value, &path) {
            let Fault { path, reason } = faults.into_iter().next().unwrap_or(fault);
            return Err(DecodeError::Shape { path, reason });
        }
        faults.push(fault);
    }
}

/// Keeps both ends of a long text: what is wrong is said first, and what was expected last.
fn shorten(text: String) -> String {
    let head = text.char_indices().nth(KEPT);
    let tail = text.char_indices().rev().nth(KEPT - 1);
    match (head, tail) {
        (Some((head, _)), Some((tail, _))) if head < tail => {
            let head = text.get(..head).unwrap_or_default();
            let tail = text.get(tail..).unwrap_or_default();
            format!("{head}…{tail}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{Str, number, wire_struct};
    use super::*;

    wire_struct! {
        struct Message<'a> {
            "id" => id: Option<Str<'a>>,
            "content" => content: Vec<Block<'a>>,
            "count" => count: Option<u64> as number::opt_u64,
        }
    }

    wire_struct! {
        struct Block<'a> {
            "type" => kind: Option<Str<'a>>,
            "text" => text: Option<Str<'a>>,
        }
    }

    wire_struct! {
        struct Envelope<'a> {
            "message" => message: Option<Message<'a>>,
            ; known "uuid"
        }
    }

    #[derive(Debug, Deserialize)]
    struct Strict {
        name: String,
        #[serde(default)]
        parts: Vec<Part>,
    }

    #[derive(Debug, Deserialize)]
    struct Part {
        size: u64,
    }

    fn paths<T>(decoded: &Decoded<T>) -> Vec<&str> {
        let faults = decoded.faults.iter();
        faults.map(|fault| fault.path.as_str()).collect()
    }

    #[test]
    fn sound_text_is_borrowed_and_has_no_faults() {
        let line = br#"{"uuid":[1],"message":{"id":"m1","content":[{"text":"hi"}],"count":2.0}}"#;
        let decoded: Decoded<Envelope<'_>> = decode(line).unwrap();
        assert!(decoded.faults.is_empty());
        let message = decoded.value.message.unwrap();
        assert!(matches!(message.id, Some(Str(Cow::Borrowed("m1")))));
        assert!(matches!(
            message.content[0].text,
            Some(Str(Cow::Borrowed("hi")))
        ));
        assert_eq!(message.count, Some(2));
        assert!(decoded.value.unknown.is_empty());
    }

    #[test]
    fn what_javascript_allows_costs_one_character_or_number() {
        let table: [(&str, &[u8], Value); 6] = [
            (
                "surrogate",
                br#"{"t":"a\ud83d b","n":1}"#,
                json!({"t": "a\u{fffd} b", "n": 1}),
            ),
            (
                "surrogate in a key",
                br#"{"\udc00":1}"#,
                json!({"\u{fffd}": 1}),
            ),
            (
                "range",
                br#"{"n":1e400,"m":[-1e999,2]}"#,
                json!({"n": null, "m": [null, 2]}),
            ),
            ("mark", b"\xEF\xBB\xBF{\"n\":1}", json!({"n": 1})),
            ("not utf-8", b"{\"n\":\"a\xC3\"}", json!({"n": "a\u{fffd}"})),
            (
                "pair",
                br#"["\ud83d\ude00\ud83d"]"#,
                json!(["\u{1f600}\u{fffd}"]),
            ),
        ];
        for (name, input, expected) in table {
            let decoded: Decoded<Value> = decode(input).unwrap();
            assert_eq!(decoded.value, expected, "{name}");
            assert!(decoded.faults.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_field_of_the_wrong_type_costs_that_field() {
        let line = br#"{"message":{"id":"m1","content":[{"text":"a"},{"text":5,"type":"text"}]}}"#;
        let decoded: Decoded<Envelope<'_>> = decode(line).unwrap();
        assert_eq!(
            decoded.faults,
            [Fault {
                path: "message.content[1].text".to_owned(),
                reason: "invalid type: integer `5`, expected a string".to_owned(),
            }]
        );
        let message = decoded.value.message.unwrap();
        assert_eq!(message.id.unwrap(), "m1");
        assert_eq!(message.content[0].text.as_deref(), Some("a"));
        assert_eq!(message.content[1].text, None);
        assert_eq!(message.content[1].kind.as_deref(), Some("text"));
    }

    #[test]
    fn list_items_that_do_not_fit_are_named_by_their_place_on_the_line() {
        let line = br#"{"message":{"content":[1,{"text":"a"},null,{"text":2},"x"],"count":"3"}}"#;
        let decoded: Decoded<Envelope<'_>> = decode(line).unwrap();
        assert_eq!(
            paths(&decoded),
            [
                "message.content[0]",
                "message.content[2]",
                "message.content[3].text",
                "message.content[4]",
                "message.count",
            ]
        );
        let message = decoded.value.message.unwrap();
        assert_eq!(message.content.len(), 2);
        assert_eq!(message.content[0].text.as_deref(), Some("a"));
    }

    #[test]
    fn a_faulty_field_and_a_faulty_character_may_meet() {
        let line = br#"{"message":{"count":-1,"id":"\ud800"}}"#;
        let decoded: Decoded<Envelope<'_>> = decode(line).unwrap();
        assert_eq!(paths(&decoded), ["message.count"]);
        assert_eq!(decoded.value.message.unwrap().id.unwrap(), "\u{fffd}");
    }

    #[test]
    fn what_cannot_do_without_a_field_goes_with_it() {
        let decoded: Decoded<Strict> =
            decode(br#"{"name":"n","parts":[{"size":1},{"size":"2"},{"size":3}]}"#).unwrap();
        assert_eq!(decoded.value.name, "n");
        let sizes: Vec<u64> = decoded.value.parts.iter().map(|part| part.size).collect();
        assert_eq!(sizes, [1, 3]);
        assert_eq!(paths(&decoded), ["parts[1].size", "parts[1]"]);
    }

    #[test]
    fn a_value_of_another_shape_names_the_first_fault() {
        let shape = |path: &str, reason: &str| DecodeError::Shape {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        assert_eq!(
            decode::<Strict>(br#"{"name":7}"#).unwrap_err(),
            shape("name", "invalid type: integer `7`, expected a string")
        );
        assert_eq!(
            decode::<Strict>(b"{}").unwrap_err(),
            shape(".", "missing field `name`")
        );
        assert_eq!(
            decode::<Envelope<'_>>(b"[1]").unwrap_err(),
            shape(".", "invalid type: sequence, expected an object")
        );
    }

    #[test]
    fn a_repeated_key_is_no_fault() {
        let decoded: Decoded<Strict> = decode(br#"{"name":"a","name":"b"}"#).unwrap();
        assert_eq!(decoded.value.name, "b");
        assert!(decoded.faults.is_empty());
    }

    #[test]
    fn too_many_faults_are_another_shape() {
        let list = |count: usize| format!("[{}]", vec!["\"x\""; count].join(","));
        let decoded: Decoded<Vec<u64>> = decode(list(MOST_FAULTS).as_bytes()).unwrap();
        assert_eq!(decoded.faults.len(), MOST_FAULTS);
        assert_eq!(decoded.faults[15].path, "[15]");
        let error = decode::<Vec<u64>>(list(MOST_FAULTS + 1).as_bytes()).unwrap_err();
        assert!(matches!(error, DecodeError::Shape { path, .. } if path == "[0]"));
    }

    #[test]
    fn variants_are_found_by_their_key() {
        #[derive(Debug, Deserialize, PartialEq)]
        enum Kind {
            Sized { size: Option<u64> },
            Bare,
        }
        let decoded: Decoded<BTreeMap<String, Kind>> =
            decode(br#"{"a":{"Sized":{"size":"x"}},"b":"Bare","c":"Other"}"#).unwrap();
        assert_eq!(paths(&decoded), ["a.Sized.size", "c"]);
        assert_eq!(
            decoded.value.into_iter().collect::<Vec<_>>(),
            [
                ("a".to_owned(), Kind::Sized { size: None }),
                ("b".to_owned(), Kind::Bare)
            ]
        );
    }

    #[test]
    fn text_that_is_not_json_is_a_syntax_error() {
        let table = [
            "",
            "{",
            "{\"a\":",
            "nope",
            "{\"a\":1}}",
            "{'a':1}",
            "\"\\ud800",
        ];
        for input in table {
            let error = decode::<Value>(input.as_bytes()).unwrap_err();
            assert!(matches!(error, DecodeError::Syntax(_)), "{input}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_not_followed() {
        for opening in ["[", "{\"a\":", "[{\"a\":"] {
            let text = opening.repeat(100_000);
            let error = decode::<Value>(text.as_bytes()).unwrap_err();
            assert_eq!(error, DecodeError::TooDeep, "{opening}");
            let text = format!("[\"\\ud800\",1e999,{text}");
            let error = decode::<Value>(text.as_bytes()).unwrap_err();
            assert_eq!(error, DecodeError::TooDeep, "{opening}");
        }
        let skipped = format!("{{\"uuid\":{}{}}}", "[".repeat(9999), "]".repeat(9999));
        assert!(decode::<Envelope<'_>>(skipped.as_bytes()).is_ok());
    }

    #[test]
    fn a_long_reason_keeps_both_ends() {
        let line = format!(r#"{{"message":{{"count":"{}"}}}}"#, "é".repeat(100_000));
        let decoded: Decoded<Envelope<'_>> = decode(line.as_bytes()).unwrap();
        let reason = &decoded.faults[0].reason;
        assert_eq!(reason.chars().count(), 2 * KEPT + 1);
        assert!(reason.starts_with("invalid type: string \"éé"), "{reason}");
        assert!(reason.ends_with("expected a JSON number"), "{reason}");
        assert_eq!(shorten("x".repeat(2 * KEPT)), "x".repeat(2 * KEPT));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            let key = prop_oneof!["message|content|text|type|id|count", "\\PC{0,4}"];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((key, inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Value>(&bytes);
            let _ = decode::<Envelope<'_>>(&bytes);
        }

        #[test]
        fn any_text_like_json_decodes_or_is_refused(
            text in r#"([\[\]{},:"\\-]|\\ud[89c]00|1e999|"(message|content|text)":|[a-z0-9 ]){0,60}"#,
        ) {
            let _ = decode::<Value>(text.as_bytes());
            let _ = decode::<Envelope<'_>>(text.as_bytes());
        }

        #[test]
        fn any_value_decodes_as_itself_or_in_part(value in value()) {
            let text = value.to_string();
            let same: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(decode::<Value>(text.as_bytes()).unwrap().value, same);
            match decode::<Envelope<'_>>(text.as_bytes()) {
                Ok(_) => prop_assert!(value.is_object()),
                Err(error) => {
                    let shape = matches!(error, DecodeError::Shape { .. });
                    prop_assert!(shape, "{}", error);
                }
            }
            let _ = decode::<Strict>(text.as_bytes());
        }

        #[test]
        fn lone_surrogates_cost_one_character_each(
            texts in proptest::collection::vec("[a-z é\"\\\\\n\u{1f600}\u{f8ff}]{0,9}", 1..6),
            // Two high or two low ones in a row are still no pair.
            surrogate in 0xD800u16..0xE000,
        ) {
            // A private-use character stands where the surrogate goes.
            let sound = json!({ "a": &texts, &texts[0]: &texts }).to_string();
            let injured = sound.replace('\u{f8ff}', &format!("\\u{surrogate:04x}"));
            let expected: Value =
                serde_json::from_str(&sound.replace('\u{f8ff}', "\u{fffd}")).unwrap();
            prop_assert_eq!(decode::<Value>(injured.as_bytes()).unwrap().value, expected);
        }
    }
}
