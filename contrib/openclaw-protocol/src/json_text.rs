//! JSON the way JavaScript writes it.
//!
//! `serde_json` does the writing. Two things differ in JavaScript: how a number is written, and the
//! order of an object's members.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use serde_json::{Map, Value};

use super::javascript::number_text;

/// Returns `value` on one line, as `JSON.stringify` prints it.
#[must_use]
pub fn stringify(value: &Value) -> String {
    write(value, CompactFormatter)
}

/// Returns `value` indented by two spaces a level, as `JSON.stringify` prints it when asked to.
#[must_use]
pub fn stringify_pretty(value: &Value) -> String {
    write(value, PrettyFormatter::new())
}

fn write(value: &Value, formatter: impl Formatter) -> String {
    let mut text = Vec::new();
    let formatter = JavaScriptNumbers(formatter);
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    // Memory takes every write, and every key is a string.
    let written = Printed(value).serialize(&mut serializer);
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8(text).unwrap_or_default()
}

/// A value whose numbers are doubles and whose members are in JavaScript's order.
struct Printed<'a>(&'a Value);

impl Serialize for Printed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Number(number) => number.as_f64().serialize(serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Printed)),
            Value::Object(members) => {
                let members = in_property_order(members).into_iter();
                serializer.collect_map(members.map(|(key, member)| (key, Printed(member))))
            }
            Value::Null | Value::Bool(_) | Value::String(_) => self.0.serialize(serializer),
        }
    }
}

/// Writes doubles as JavaScript does, and leaves the rest to another formatter.
struct JavaScriptNumbers<F>(F);

macro_rules! leave_to_the_other {
    ($($method:ident($($argument:ident: $type:ty)?);)*) => {$(
        fn $method<W: Write + ?Sized>(
            &mut self,
            writer: &mut W,
            $($argument: $type)?
        ) -> io::Result<()> {
            self.0.$method(writer, $($argument)?)
        }
    )*};
}

impl<F: Formatter> Formatter for JavaScriptNumbers<F> {
    fn write_f64<W: Write + ?Sized>(&mut self, writer: &mut W, number: f64) -> io::Result<()> {
        writer.write_all(number_text(number).as_bytes())
    }

    leave_to_the_other! {
        begin_array();
        end_array();
        begin_array_value(is_first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(is_first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
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
