//! The macro that reads values of several shapes.

/// Reads a type from values of several shapes, each of which it names.
///
/// ```ignore
/// wire_shapes! {
///     Content: "text or blocks";
///     string text => Content::Text(text);
///     null => Content::Absent;
///     list list => items(list, size_of::<Block<'de>>()).map(Content::Blocks);
///     object object => Block::deserialize(object).map(Content::Block);
///     flag flag => Content::Other(flag.into());
///     number number => Content::Other(number);
/// }
/// ```
///
/// A string is a [`Str`](super::Str), borrowed where it can be. A number is a `Value`, and so are
/// `list_value` and `object_value`. `list` and `object_map` are what serde reads a list or an object
/// from entry by entry, `object` is what it reads a struct from: what is made of these may be
/// refused. Other shapes are refused.
macro_rules! wire_shapes {
    ($name:ident: $expected:literal; $($shape:ident $($given:ident)? => $made:expr;)*) => {
        impl<'de: 'a, 'a> ::serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                struct Shapes;

                impl<'de> ::serde::de::Visitor<'de> for Shapes {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str($expected)
                    }

                    $($crate::json::wire_shapes!(@ $shape $($given)? => $made);)*
                }

                deserializer.deserialize_any(Shapes)
            }
        }
    };
    (@ string $text:ident => $made:expr) => {
        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
            let $text = $crate::json::Str::from(text);
            Ok($made)
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            let $text = $crate::json::Str::from(text.to_owned());
            Ok($made)
        }

        fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
            let $text = $crate::json::Str::from(text);
            Ok($made)
        }
    };
    (@ null => $made:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($made)
        }
    };
    (@ flag $flag:ident => $made:expr) => {
        fn visit_bool<E>(self, $flag: bool) -> Result<Self::Value, E> {
            Ok($made)
        }
    };
    (@ number $number:ident => $made:expr) => {
        fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
            let $number = ::serde_json::Value::from(number);
            Ok($made)
        }

        fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
            let $number = ::serde_json::Value::from(number);
            Ok($made)
        }

        fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
            let $number = ::serde_json::Value::from(number);
            Ok($made)
        }
    };
    (@ list $list:ident => $made:expr) => {
        fn visit_seq<A: ::serde::de::SeqAccess<'de>>(
            self,
            $list: A,
        ) -> Result<Self::Value, A::Error> {
            $made
        }
    };
    (@ list_value $value:ident => $made:expr) => {
        fn visit_seq<A: ::serde::de::SeqAccess<'de>>(
            self,
            list: A,
        ) -> Result<Self::Value, A::Error> {
            let list = ::serde::de::value::SeqAccessDeserializer::new(list);
            let $value = <::serde_json::Value as ::serde::Deserialize>::deserialize(list)?;
            Ok($made)
        }
    };
    (@ object $object:ident => $made:expr) => {
        fn visit_map<A: ::serde::de::MapAccess<'de>>(
            self,
            object: A,
        ) -> Result<Self::Value, A::Error> {
            let $object = ::serde::de::value::MapAccessDeserializer::new(object);
            $made
        }
    };
    (@ object_map $map:ident => $made:expr) => {
        fn visit_map<A: ::serde::de::MapAccess<'de>>(
            self,
            $map: A,
        ) -> Result<Self::Value, A::Error> {
            $made
        }
    };
    (@ object_value $value:ident => $made:expr) => {
        $crate::json::wire_shapes!(@ object object => {
            let $value = <::serde_json::Value as ::serde::Deserialize>::deserialize(object)?;
            Ok($made)
        });
    };
}

pub(crate) use wire_shapes;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::json::Str;

    #[derive(Debug, PartialEq)]
    enum Any<'a> {
        Nothing,
        Text(Str<'a>),
        Value(Value),
    }

    wire_shapes! {
        Any: "anything but a list";
        string text => Any::Text(text);
        null => Any::Nothing;
        flag flag => Any::Value(flag.into());
        number number => Any::Value(number);
        object_value object => Any::Value(object);
    }

    #[test]
    fn each_shape_is_read_in_its_own_way() {
        let read = |text: &'static str| serde_json::from_str::<Any<'_>>(text);
        let value = |value: Value| Any::Value(value);
        assert_eq!(read("null").unwrap(), Any::Nothing);
        assert_eq!(read("\"a\"").unwrap(), Any::Text(Str::from("a")));
        assert_eq!(read(r#""\u0061""#).unwrap(), Any::Text(Str::from("a")));
        assert_eq!(read("true").unwrap(), value(json!(true)));
        for number in ["1", "-1", "1.5"] {
            let expected = serde_json::from_str(number).unwrap();
            assert_eq!(read(number).unwrap(), value(expected));
        }
        assert_eq!(read(r#"{"a":1}"#).unwrap(), value(json!({"a": 1})));
        let refused = read("[]").unwrap_err().to_string();
        assert!(
            refused.contains("expected anything but a list"),
            "{refused}"
        );
    }
}
