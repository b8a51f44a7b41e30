//! JSON the way JavaScript writes it.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::javascript::number_text;

/// Returns `value` on one line, as `JSON.stringify` prints it.
#[must_use]
pub fn stringify(value: &Value) -> String {
    let mut writer = Writer {
        text: String::new(),
        indent: None,
    };
    writer.value(value);
    writer.text
}

/// Returns `value` indented by two spaces a level, as `JSON.stringify` prints it when asked to.
#[must_use]
pub fn stringify_pretty(value: &Value) -> String {
    let mut writer = Writer {
        text: String::new(),
        indent: Some(0),
    };
    writer.value(value);
    writer.text
}

struct Writer {
    text: String,
    /// How many levels deep the writer is, or nothing when all goes on one line.
    indent: Option<usize>,
}

impl Writer {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(flag) => self.text.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) => match number.as_f64() {
                Some(number) if number.is_finite() => self.text.push_str(&number_text(number)),
                _ => self.text.push_str("null"),
            },
            Value::String(string) => self.string(string),
            Value::Array(items) => {
                self.open('[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index);
                    self.value(item);
                }
                self.close(']', items.is_empty());
            }
            Value::Object(members) => {
                self.open('{');
                for (index, (key, member)) in in_property_order(members).into_iter().enumerate() {
                    self.separate(index);
                    self.string(key);
                    self.text.push(':');
                    if self.indent.is_some() {
                        self.text.push(' ');
                    }
                    self.value(member);
                }
                self.close('}', members.is_empty());
            }
        }
    }

    fn open(&mut self, bracket: char) {
        self.text.push(bracket);
        self.indent = self.indent.map(|level| level + 1);
    }

    fn close(&mut self, bracket: char, empty: bool) {
        self.indent = self.indent.map(|level| level.saturating_sub(1));
        if !empty {
            self.break_line();
        }
        self.text.push(bracket);
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.text.push(',');
        }
        self.break_line();
    }

    fn break_line(&mut self) {
        if let Some(level) = self.indent {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n("  ", level));
        }
    }

    fn string(&mut self, string: &str) {
        self.text.push('"');
        for character in string.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\0'..' ' => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(character));
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }
}

/// Returns the members as a JavaScript object lists them: array indices first, by size.
fn in_property_order(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut ordered: Vec<_> = members.iter().collect();
    // A stable sort leaves every other key where it was inserted.
    ordered.sort_by_key(|(key, _)| array_index(key).map_or(u64::MAX, u64::from));
    ordered
}

fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0"
        || (!key.starts_with('0') && !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit()));
    key.parse()
        .ok()
        .filter(|index| canonical && *index != u32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_print_on_one_line_as_in_javascript() {
        let cases = [
            (json!({}), "{}"),
            (json!([]), "[]"),
            (
                json!({"a": [1, 2.0, 1e21], "b": null}),
                r#"{"a":[1,2,1e+21],"b":null}"#,
            ),
            (
                json!("\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}\u{2028}é"),
                "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}\u{2028}é\"",
            ),
            (json!(u64::MAX), "18446744073709552000"),
            (json!(-0.0), "0"),
        ];
        for (value, expected) in cases {
            assert_eq!(stringify(&value), expected);
        }
    }

    #[test]
    fn keys_that_are_array_indices_come_first() {
        let value = json!({
            "b": 0, "10": 0, "9": 0, "01": 0, "4294967295": 0, "4294967294": 0, "-1": 0, "0": 0,
            "": 0, "+1": 0, "1.0": 0, "a": 0
        });
        let expected = r#"{"0":0,"9":0,"10":0,"4294967294":0,"b":0,"01":0,"4294967295":0,"-1":0,"":0,"+1":0,"1.0":0,"a":0}"#;
        assert_eq!(stringify(&value), expected);
    }

    #[test]
    fn pretty_text_indents_by_two_and_keeps_empty_containers_closed() {
        let value = json!({"a": [1, []], "b": {"c": {}}});
        let expected = "{\n  \"a\": [\n    1,\n    []\n  ],\n  \"b\": {\n    \"c\": {}\n  }\n}";
        assert_eq!(stringify_pretty(&value), expected);
    }
}
