//! Where values stand within JSON, so that a part of a line can be a line of its own.
//!
//! Nothing here looks at what it passes: whoever reads a value that was found refuses it if it is none.

use std::ops::Range;

use memchr::memchr2;

/// Returns where the value of a field of an object stands; of several fields with that name, the last.
pub(super) fn field(bytes: &[u8], object: Range<usize>, name: &[u8]) -> Option<Range<usize>> {
    let mut found = None;
    let mut at = enter(bytes, &object, b'{')?;
    while let Some(key) = value(bytes, at, object.end) {
        let colon = skip_space(bytes, key.end);
        if bytes.get(colon) != Some(&b':') {
            break;
        }
        let Some(value) = value(bytes, colon + 1, object.end) else {
            break;
        };
        at = after_comma(bytes, value.end);
        let key = bytes.get(key).unwrap_or_default();
        if key
            .strip_prefix(b"\"")
            .and_then(|key| key.strip_suffix(b"\""))
            == Some(name)
        {
            found = Some(value);
        }
    }
    found
}

/// Gives out where the elements of a list stand.
pub(super) fn elements(
    bytes: &[u8],
    list: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + use<'_> {
    let mut at = enter(bytes, &list, b'[');
    std::iter::from_fn(move || {
        let found = value(bytes, at?, list.end)?;
        at = Some(after_comma(bytes, found.end));
        Some(found)
    })
}

/// Returns a value without the white space between its tokens.
pub(super) fn compact(text: &[u8]) -> Vec<u8> {
    let mut compact = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let end = match byte {
            b'"' => end_of_string(text, at + 1),
            _ => at + 1,
        };
        if !byte.is_ascii_whitespace() {
            compact.extend_from_slice(text.get(at..end).unwrap_or_default());
        }
        at = end;
    }
    compact
}

/// Returns where the inside of an object or a list begins.
fn enter(bytes: &[u8], outer: &Range<usize>, bracket: u8) -> Option<usize> {
    let at = skip_space(bytes, outer.start);
    (bytes.get(at) == Some(&bracket) && at < outer.end).then_some(at + 1)
}

/// Returns where the value stands that begins next; nothing before a closing bracket.
fn value(bytes: &[u8], at: usize, end: usize) -> Option<Range<usize>> {
    let start = skip_space(bytes, at);
    let is_there = !matches!(bytes.get(start)?, b'}' | b']' | b',' | b':');
    (is_there && start < end).then(|| start..end_of_value(bytes, start).min(end))
}

/// Returns where the value ends that begins at `start`.
pub(super) fn end_of_value(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at + 1);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                // A bracket that closes what is around ends a number or a word.
                if depth <= 1 {
                    return at + depth;
                }
                depth -= 1;
            }
            b',' if depth == 0 => return at,
            byte if depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Returns where the string ends whose content begins at `at`, past the quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

fn after_comma(bytes: &[u8], at: usize) -> usize {
    let at = skip_space(bytes, at);
    at + usize::from(bytes.get(at) == Some(&b','))
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let space = rest.iter().position(|byte| !byte.is_ascii_whitespace());
    at + space.unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn texts(text: &str, name: &str) -> Vec<String> {
        let bytes = text.as_bytes();
        let Some(list) = field(bytes, 0..bytes.len(), name.as_bytes()) else {
            return Vec::new();
        };
        elements(bytes, list)
            .map(|range| String::from_utf8(bytes[range].to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn elements_are_found_within_a_field() {
        let text = r#" {"a":{"b":[9]},"b" : [ {"x":"}],\"["} , [1,2],3 ,"s",null],"c":1}"#;
        let expected = [r#"{"x":"}],\"["}"#, "[1,2]", "3", "\"s\"", "null"];
        assert_eq!(texts(text, "b"), expected);
        assert!(texts(r#"{"b":[]}"#, "b").is_empty());
        assert!(texts(r#"{"a":[1]}"#, "b").is_empty());
        assert_eq!(texts(r#"{"b":[1],"b":[2]}"#, "b"), ["2"]);
    }

    #[test]
    fn white_space_goes_and_strings_stay() {
        let text = "{\n  \"a b\": [ 1,\r\n\t\"c \\\" d\" ] }";
        assert_eq!(compact(text.as_bytes()), br#"{"a b":[1,"c \" d"]}"#);
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(
            prop_oneof![Just(b'"'), Just(b'['), Just(b']'), Just(b'{'), Just(b'}'), Just(b','), Just(b':'),
                Just(b'\\'), Just(b' '), any::<u8>()], 0..60),
        ) {
            if let Some(found) = field(&bytes, 0..bytes.len(), b"") {
                prop_assert!(elements(&bytes, found).count() <= bytes.len());
            }
            let count = elements(&bytes, 0..bytes.len()).count();
            prop_assert!(count <= bytes.len());
            prop_assert!(compact(&bytes).len() <= bytes.len());
        }

        #[test]
        fn elements_are_those_that_serde_json_reads(
            values in proptest::collection::vec("[0-9a-z\\\\\"\\[\\]{},: ]{0,8}", 0..6),
        ) {
            let list: Vec<Value> = values.iter().map(|text| serde_json::json!({"t": [text, 1]})).collect();
            let pretty = serde_json::to_string_pretty(&serde_json::json!({"m": list})).unwrap();
            let found = texts(&pretty, "m");
            let read: Vec<Value> = found.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
            prop_assert_eq!(&read, &list);
            for (text, value) in found.iter().zip(&list) {
                prop_assert_eq!(compact(text.as_bytes()), value.to_string().into_bytes());
            }
        }
    }
}
