//! How much memory a text takes once it is read.
//!
//! Two bytes of text can be a value, and a value takes many times that. A line within the limit
//! may so be far beyond it as a tree: such a text is refused before it is read.

use memchr::memchr2;
use serde::de::{Deserialize, Error, SeqAccess};
use serde_json::Value;

use crate::lines::DEFAULT_LIMIT;

/// The most values of one text: as many as the limit has room for.
pub const MOST_VALUES: usize = DEFAULT_LIMIT / size_of::<Value>();

/// The shortest text that may have more: `[],` counts as two in three bytes.
const SUSPECT: usize = MOST_VALUES / 2 * 3;

/// Tells whether a text has more values than can be held.
///
/// Names of fields count as values, too. Texts of usual length are not looked at.
pub(crate) fn is_too_much(text: &[u8]) -> bool {
    text.len() > SUSPECT && has_more_values(text, MOST_VALUES)
}

#[cold]
fn has_more_values(text: &[u8], most: usize) -> bool {
    let (mut at, mut count) = (0, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = end_of_string(text, at),
            b',' | b':' | b'[' | b'{' => {
                count += 1;
                if count > most {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Returns where the string ends whose content begins at `at`, past the quote.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += found;
        if text.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// Reads the items of a list, as many as the limit has room for; each takes `weight` bytes.
pub(crate) fn items<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    mut list: A,
    weight: usize,
) -> Result<Vec<T>, A::Error> {
    let most = DEFAULT_LIMIT / weight.max(1);
    // Nearly all lists of messages have one item.
    let mut items = Vec::with_capacity(1);
    while let Some(item) = list.next_element()? {
        if items.len() == most {
            return Err(A::Error::custom("more items than can be held"));
        }
        items.push(item);
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{DecodeError, Decoded, decode};
    use super::*;

    #[test]
    fn values_and_names_are_counted_and_what_is_in_strings_is_not() {
        let table = [
            ("[1,1,1]", 3),
            ("{\"a\":[],\"b\":{}}", 6),
            ("\"[,:{\\\"[[[\"", 0),
            ("[\"a,b\",\"c:d\"]", 2),
            ("\"cut [[[", 0),
        ];
        for (text, count) in table {
            assert!(!has_more_values(text.as_bytes(), count), "{text}");
            assert!(
                count == 0 || has_more_values(text.as_bytes(), count - 1),
                "{text}"
            );
        }
    }

    #[test]
    fn a_text_with_too_many_values_is_refused_and_one_long_value_is_not() {
        for piece in ["1,", "[],", "{},", "\"\",", "null,"] {
            let list = format!("[{}1]", piece.repeat(MOST_VALUES + 1));
            let error = decode::<Value>(list.as_bytes()).unwrap_err();
            assert_eq!(error, DecodeError::TooMany, "{piece}");
        }
        let text = ",[".repeat(MOST_VALUES);
        let line = json!({ "a": text }).to_string();
        let decoded: Decoded<Value> = decode(line.as_bytes()).unwrap();
        assert_eq!(decoded.value, json!({ "a": text }));
    }
}
