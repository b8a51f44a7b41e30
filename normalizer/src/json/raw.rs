//! A value that is kept as it is written.

use std::fmt;

use runtape_core::LateValue;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::Value;

use super::quick::{AS_TEXT, read};

/// A value that is kept as it is written on a sound line, and as a value otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw<'a> {
    /// The text of a value. It has neither escapes nor fractions.
    Text(&'a str),
    /// A value.
    Value(Value),
}

impl Raw<'_> {
    /// Tells whether it is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        match self {
            Self::Text(text) => text.starts_with('{'),
            Self::Value(value) => value.is_object(),
        }
    }

    /// Reads it into a wire struct, if it is still text and fits.
    #[must_use]
    pub fn read<'b, T: Deserialize<'b>>(&'b self) -> Option<T> {
        match self {
            Self::Text(text) => read(text),
            Self::Value(_) => None,
        }
    }

    /// Makes a value of it.
    #[must_use]
    pub fn into_value(self) -> Value {
        LateValue::from(self).into_value()
    }
}

impl From<Raw<'_>> for LateValue {
    fn from(raw: Raw<'_>) -> Self {
        match raw {
            Raw::Text(text) => Self::written(text),
            Raw::Value(value) => value.into(),
        }
    }
}

impl Default for Raw<'_> {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsText;

        impl<'de> Visitor<'de> for AsText {
            type Value = Raw<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            // Given by no other reader than the one that knows the name.
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Raw<'de>, E> {
                Ok(Raw::Text(text))
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Raw<'de>, D::Error> {
                Value::deserialize(deserializer).map(Raw::Value)
            }
        }

        deserializer.deserialize_newtype_struct(AS_TEXT, AsText)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{decode, wire_struct};
    use super::*;

    wire_struct! {
        struct Line<'a> {
            "stats" => stats: Raw<'a>,
            "size" => size: Option<u64>,
        }
    }

    fn stats(line: &str) -> Raw<'_> {
        decode::<Line<'_>>(line.as_bytes()).unwrap().value.stats
    }

    #[test]
    fn a_sound_line_gives_the_text_and_others_the_value() {
        let text = r#"{"a": [1, "b"], "c": null}"#;
        let sound = format!("{{\"stats\": {text}}}");
        assert_eq!(stats(&sound), Raw::Text(text));
        let value = json!({"a": [1, "b"], "c": null});
        assert_eq!(stats(&sound).into_value(), value);
        let faulty = format!("{{\"stats\": {text}, \"size\": \"x\"}}");
        assert_eq!(stats(&faulty), Raw::Value(value));
        assert_eq!(stats("{}"), Raw::default());
        assert_eq!(stats("{\"stats\":null}"), Raw::default());
    }

    #[test]
    fn what_a_late_reading_could_refuse_is_read_at_once() {
        for (written, value) in [
            (r#"["\ud800"]"#, json!(["\u{fffd}"])),
            ("[1e999]", json!([null])),
            ("[1.5]", json!([1.5])),
        ] {
            let line = format!("{{\"stats\":{written}}}");
            assert_eq!(stats(&line), Raw::Value(value));
        }
        let deep = format!("{{\"stats\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        assert!(decode::<Line<'_>>(deep.as_bytes()).is_err());
    }
}
