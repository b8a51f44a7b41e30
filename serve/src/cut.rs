//! Long texts, cut: an answer holds the beginning, says how long the whole is, and links the rest.

use serde::Serialize;
use serde_json::Value;

/// Bytes of a text that an answer holds at most.
pub(crate) const LONGEST: usize = 16 << 10;

/// Where an object says which of its texts are cut. No published shape may have a field of that name: what a runtime cut
/// off is another matter, and has its own.
pub(crate) const CUT_TEXTS: &str = "cutTexts";

/// A text that goes on elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CutText {
    /// Where in the object the text is, as a JSON pointer.
    pub(crate) pointer: String,
    /// Bytes of the whole text.
    pub(crate) length: usize,
    /// Where the rest is.
    pub(crate) rest: String,
}

/// Returns the beginning of a text that ends at a character.
pub(crate) fn beginning(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Cuts every long text in a value. `rest` makes the address of what follows, from the pointer and the
/// byte that it begins with.
fn cut_texts(value: &mut Value, rest: &dyn Fn(&str, usize) -> String) -> Vec<CutText> {
    let mut cuts = Vec::new();
    walk(value, &mut String::new(), rest, &mut cuts);
    cuts
}

fn walk(
    value: &mut Value,
    pointer: &mut String,
    rest: &dyn Fn(&str, usize) -> String,
    cuts: &mut Vec<CutText>,
) {
    let length = pointer.len();
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let kept = beginning(text, LONGEST).len();
            cuts.push(CutText {
                pointer: pointer.clone(),
                length: text.len(),
                rest: rest(pointer, kept),
            });
            text.truncate(kept);
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                pointer.push('/');
                pointer.push_str(&at.to_string());
                walk(item, pointer, rest, cuts);
                pointer.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                walk(field, pointer, rest, cuts);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// Adds what was cut to an object, where anything was.
pub(crate) fn cut_object(value: &mut Value, rest: &dyn Fn(&str, usize) -> String) {
    let cuts = cut_texts(value, rest);
    if let (Value::Object(fields), false) = (value, cuts.is_empty()) {
        let cuts = serde_json::to_value(cuts).unwrap_or_default();
        fields.insert(CUT_TEXTS.to_owned(), cuts);
    }
}

/// Writes a text so that it can stand in the query of an address.
pub(crate) fn in_query(text: &str) -> String {
    use std::fmt::Write;
    let mut written = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                written.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(written, "%{byte:02X}")),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character_and_say_where_they_go_on() {
        let long = "é".repeat(LONGEST);
        let mut value = json!({"a": [1, long], "b/c": "short"});
        cut_object(&mut value, &|pointer, from| format!("{pointer}@{from}"));
        let expected = json!([{"pointer": "/a/1", "length": 2 * LONGEST, "rest": "/a/1@16384"}]);
        assert_eq!(value[CUT_TEXTS], expected);
        assert_eq!(value["a"][1].as_str().unwrap().len(), LONGEST);
        assert_eq!(beginning("aé", 2), "a");
        assert_eq!(in_query("entry:0/a b"), "entry:0/a%20b");
    }

    /// A message that was cut off by a kill is not one whose text goes on elsewhere.
    #[test]
    fn no_published_shape_has_a_field_of_that_name() {
        fn has_field(schema: &Value) -> bool {
            match schema {
                Value::Object(parts) => parts.iter().any(|(key, part)| {
                    key == "properties" && part.get(CUT_TEXTS).is_some() || has_field(part)
                }),
                Value::Array(parts) => parts.iter().any(has_field),
                _ => false,
            }
        }
        assert!(has_field(
            &json!({"oneOf": [{"properties": {CUT_TEXTS: {}}}]})
        ));
        assert!(!has_field(&runtape_schemas::bundle()));
    }

    #[test]
    fn what_is_short_says_nothing_of_cuts() {
        let mut value = json!({"a": "x"});
        cut_object(&mut value, &|_, _| String::new());
        assert_eq!(value, json!({"a": "x"}));
    }
}
