//! Sound JSON, read with little code.
//!
//! Nearly every line is sound and plain, and a run may be a few lines long, so that how much code a
//! line passes through counts as much as how fast it is. This knows what such lines have and
//! nothing else: it refuses what is odd about a value without giving a reason, and `serde_json`
//! reads the value again. What it does not refuse it reads as `serde_json` does.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, Expected, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::reader::{Inside, JsonReader, Number, Refused, Written};

/// Names the newtype that asks for the text of a value instead of the value.
pub(super) const AS_TEXT: &str = "$runtape::AsText";

/// Reads one value, if it is sound and plain.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let mut reader = JsonReader::new(text);
    match T::deserialize(&mut reader) {
        Ok(value) if reader.is_done() => Some(value),
        _ => None,
    }
}

/// Reads the rest of an object that is inside of others, `depth` in all, if everything is sound and
/// plain and all of them end with it. What comes before `at`, where a field has just ended, was read.
pub(super) fn read_rest<'a, T: Deserialize<'a>>(text: &'a str, at: usize, depth: u8) -> Option<T> {
    let mut reader = JsonReader::within(text, at, depth);
    match T::deserialize(RestOfObject(&mut reader)) {
        Ok(value) if is_end_of_all(&mut reader, depth) => Some(value),
        _ => None,
    }
}

/// Tells whether the objects around one that was read end with it, and the text with them.
fn is_end_of_all(reader: &mut JsonReader<'_>, depth: u8) -> bool {
    // The next thing that is no field of the outer object is its end.
    let mut ends = |_| matches!(reader.go_on().next_item(), Ok(false));
    (1..depth).all(&mut ends) && reader.is_done()
}

/// An object whose first fields were read.
struct RestOfObject<'r, 'de>(&'r mut JsonReader<'de>);

impl<'de> Deserializer<'de> for RestOfObject<'_, 'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_map(&mut self.0.go_on())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not plain")
    }
}

impl std::error::Error for Refused {}

/// Nobody will read a reason, so that none is written.
impl Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }
}

fn visit_text<'a, V: Visitor<'a>>(text: Written<'a>, visitor: V) -> Result<V::Value, Refused> {
    match text.read()? {
        Ok(text) => visitor.visit_borrowed_str(text),
        Err(text) => visitor.visit_string(text),
    }
}

impl<'de> Deserializer<'de> for &mut JsonReader<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.peek() {
            b'"' => visit_text(self.string()?, visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => visitor.visit_seq(&mut self.enter()?),
            b't' => {
                self.word(b"true")?;
                visitor.visit_bool(true)
            }
            b'f' => {
                self.word(b"false")?;
                visitor.visit_bool(false)
            }
            b'n' => {
                self.word(b"null")?;
                visitor.visit_unit()
            }
            _ => match self.number()? {
                Number::Whole(number) => visitor.visit_u64(number),
                Number::Negative(number) => visitor.visit_i64(number),
                Number::Float(number) => visitor.visit_f64(number),
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek() == b'n' {
            self.word(b"null")?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    // What can only be text, or an object, takes less code than what can be anything.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek() != b'"' {
            return Err(Refused);
        }
        visit_text(self.string()?, visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_str(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek() != b'{' {
            return Err(Refused);
        }
        visitor.visit_map(&mut self.enter()?)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        if name == AS_TEXT {
            visitor.visit_borrowed_str(self.text_of_value()?)
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Refused> {
        Err(Refused)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        seq tuple tuple_struct struct identifier
    }
}

impl<'de> SeqAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refused> {
        if self.next_item()? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<'de> MapAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refused> {
        if self.next_name()? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        self.reader.colon()?;
        seed.deserialize(&mut *self.reader)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// What is read here is what `serde_json` reads; what it refuses is refused.
    fn agrees(text: &str) -> bool {
        let expected = serde_json::from_str::<Value>(text).ok();
        match read::<Value>(text) {
            Some(value) => {
                // Written out as well: an order of keys or a float may hide behind `==`.
                let written = expected.as_ref().map(Value::to_string);
                written == Some(value.to_string()) && expected == Some(value)
            }
            None => true,
        }
    }

    #[test]
    fn plain_values_are_read_and_others_refused() {
        let plain = [
            r#"{"a":[1,-2,0,2.5,1e3],"b":{"c":null,"d":true,"e":false},"f":"g\n\u00e9\ud83d\ude00"}"#,
            " { } ",
            "[]",
            "[ 1 , \"é\" ]",
            "123456789012345678",
            r#"{"a":1,"a":2}"#,
        ];
        for text in plain {
            assert!(read::<Value>(text).is_some(), "{text}");
            assert!(agrees(text), "{text}");
        }
        let deep = "[".repeat(65) + &"]".repeat(65);
        let odd = [
            "",
            " ",
            "[",
            "]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":1]",
            "[1}",
            "01",
            "-",
            "-0",
            "1.",
            "1e",
            "+1",
            "1 1",
            "tru",
            "truex",
            "nul",
            "\"a",
            "\"\\\"",
            "\"\n\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "18446744073709551616",
            "1e999",
            &deep,
        ];
        for text in odd {
            assert!(read::<Value>(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_rest_of_an_object_is_read_only_if_all_is_sound_up_to_the_end() {
        let rest = |text: &str| {
            let at = text.find('|').unwrap();
            let text = text.replace('|', "");
            read_rest::<Value>(&text, at, 2).map(|value| value.to_string())
        };
        let sound = [
            (r#"{"a":{"b":1|,"c":[2],"d":"e"}}"#, r#"{"c":[2],"d":"e"}"#),
            (r#"{"a":{"b":1| , "c":2 } } "#, r#"{"c":2}"#),
            (r#"{"a":{"b":1|}}"#, "{}"),
        ];
        for (text, expected) in sound {
            assert_eq!(rest(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            r#"{"a":{"b":1|,}}"#,
            r#"{"a":{"b":1|,"c":2}"#,
            r#"{"a":{"b":1|,"c":2}}}"#,
            r#"{"a":{"b":1|,"c":2},"d":3}"#,
            r#"{"a":{"b":1|"c":2}}"#,
            r#"{"a":{"b":1|,"c":2]}"#,
            r#"{"a":{"b":1|,"c":2}} x"#,
            r#"{"a":{"b":1|,"c":"\x"}}"#,
        ] {
            assert_eq!(rest(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_skipped_is_looked_at() {
        use serde::de::IgnoredAny;
        assert!(read::<IgnoredAny>(r#"{"a":[1,"\n",{"b":null}]}"#).is_some());
        for text in [
            "[1,]",
            "{\"a\":\"\\x\"}",
            "[1}",
            "[01]",
            "{\"a\" 1}",
            "[tru]",
        ] {
            assert!(read::<IgnoredAny>(text).is_none(), "{text}");
        }
    }

    fn any_json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| Value::from(number).to_string()),
            "-?[0-9]{1,20}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
            "\"([a-zé \u{1f600}]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-f]{4}){0,90}\"",
            Just("null".to_owned()),
            Just("true".to_owned()),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            let items = proptest::collection::vec(inner.clone(), 0..6);
            let fields = proptest::collection::vec(("\"[a-c\\\\n]{0,2}\"", inner), 0..6);
            let fields = fields.prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| name + ": " + &value);
                format!("{{{}}}", fields.collect::<Vec<_>>().join(",\t"))
            });
            prop_oneof![
                items.prop_map(|items| format!("[{}]", items.join(" ,"))),
                fields
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_read_as_serde_json_does(text in any_json()) {
            prop_assert!(agrees(&text), "{}", text);
        }

        #[test]
        fn damaged_values_too(text in any_json(), at in any::<usize>(), byte in "[\\]\\[{},:\"0-9.eE\\\\ +-]?") {
            let at = at % (text.len() + 1);
            if let Some((before, after)) = text.split_at_checked(at) {
                let mut rest = after.chars();
                rest.next();
                let damaged = format!("{before}{byte}{}", rest.as_str());
                prop_assert!(agrees(&damaged), "{}", damaged);
            }
        }
    }
}
