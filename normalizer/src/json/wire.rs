//! The macro that declares wire structs.

/// How many unknown keys of one object are noted, and how many bytes of each.
///
/// They are counted to notice that a format has grown; an object keyed by data is not that.
const MOST_KEYS: usize = 32;
const LONGEST_KEY: usize = 64;

/// Notes `key` among the keys of an object that its wire struct does not know.
///
/// At most 32 are kept, and at most 64 bytes of each.
pub fn note_unknown(keys: &mut Vec<Box<str>>, key: &str) {
    if keys.len() < MOST_KEYS {
        let length = (0..=LONGEST_KEY.min(key.len()))
            .rev()
            .find(|length| key.is_char_boundary(*length))
            .unwrap_or_default();
        keys.push(key.get(..length).unwrap_or_default().into());
    }
}

/// Declares a struct that reads a JSON object as a CLI prints it, or several of them.
///
/// ```ignore
/// wire_struct! {
///     /// What the model said.
///     pub(crate) struct Assistant<'a> {
///         "message" => message: Option<Message<'a>>,
///         "session_id" | "sessionId" => session: Option<Str<'a>>,
///         "duration_ms" => duration: Option<u64> as number::opt_u64,
///         ; known "uuid", "request_id"
///     }
/// }
/// ```
///
/// - A field that is absent or null has its type's default, so nothing is required: `Option`,
///   `Vec`, `Value`, or another wire struct.
/// - A key given twice counts as what it was last.
/// - Keys that are `known` are skipped unread. Others are skipped too, and end up in `unknown`,
///   unless the struct closes with `; rest skipped`, for a first look at an object's tag.
/// - `as` names a function to read the field with, as serde's `deserialize_with` does. The
///   field's type must not borrow.
///
/// Strings are [`Str`](super::Str), which borrows. Fields have the visibility of the struct.
#[allow(
    unused_macros,
    reason = "each runtime declares its wire structs with it"
)]
macro_rules! wire_struct {
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident<$lifetime:lifetime> { $($body:tt)* }
        $($others:tt)*
    ) => {
        $crate::json::wire_struct! {
            @declare [$(#[$attribute])*] [$visibility] $name [<$lifetime>] $lifetime
            ['de: $lifetime, $lifetime] 'de { $($body)* }
        }
        $crate::json::wire_struct! { $($others)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $($body:tt)* }
        $($others:tt)*
    ) => {
        $crate::json::wire_struct! {
            @declare [$(#[$attribute])*] [$visibility] $name [] 'de ['de] 'de { $($body)* }
        }
        $crate::json::wire_struct! { $($others)* }
    };
    (
        @declare [$(#[$attribute:meta])*] [$visibility:vis] $name:ident
        [$($generics:tt)*] $lifetime:lifetime [$($input_generics:tt)*] $input:lifetime
        {
            $(
                $(#[$field_attribute:meta])*
                $key:literal $(| $alias:literal)* => $field:ident: $type:ty $(as $with:path)?
            ),* $(,)?
            $(; known $($known:literal),+ $(,)?)?
            $(; rest $rest:ident)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default)]
        $visibility struct $name $($generics)* {
            $(
                $(#[$field_attribute])*
                $visibility $field: $type,
            )*
            /// Keys that were there and are not known.
            $visibility unknown: Vec<Box<str>>,
        }

        impl<$($input_generics)*> ::serde::de::Deserialize<$input> for $name $($generics)* {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where
                D: ::serde::de::Deserializer<$input>,
            {
                struct Fields;

                impl<$lifetime> ::serde::de::Visitor<$lifetime> for Fields {
                    type Value = $name $($generics)*;

                    fn expecting(
                        &self,
                        formatter: &mut ::std::fmt::Formatter<'_>,
                    ) -> ::std::fmt::Result {
                        formatter.write_str("an object")
                    }

                    fn visit_map<A>(self, mut map: A) -> Result<Self::Value, A::Error>
                    where
                        A: ::serde::de::MapAccess<$lifetime>,
                    {
                        const COUNTED: bool =
                            true $(&& $crate::json::wire_struct!(@counted $rest))?;
                        let mut value = Self::Value::default();
                        // A borrowed key measured faster than an enum told apart in a visitor.
                        while let Some(key) = map.next_key::<$crate::json::Str<$lifetime>>()? {
                            match key.as_str() {
                                $($key $(| $alias)* => {
                                    value.$field = $crate::json::wire_struct!(
                                        @read map, $type $(, $with)?
                                    );
                                })*
                                $($($known)|+ => {
                                    map.next_value::<::serde::de::IgnoredAny>()?;
                                })?
                                key => {
                                    if COUNTED {
                                        $crate::json::note_unknown(&mut value.unknown, key);
                                    }
                                    map.next_value::<::serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(value)
                    }
                }

                deserializer.deserialize_map(Fields)
            }
        }
    };
    (@counted skipped) => { false };
    (@read $map:ident, $type:ty) => {
        $map.next_value::<Option<$type>>()?.unwrap_or_default()
    };
    (@read $map:ident, $type:ty, $with:path) => {{
        struct Seed;

        impl<'de> ::serde::de::DeserializeSeed<'de> for Seed {
            type Value = $type;

            fn deserialize<D>(self, deserializer: D) -> Result<Self::Value, D::Error>
            where
                D: ::serde::de::Deserializer<'de>,
            {
                $with(deserializer)
            }
        }

        $map.next_value_seed(Seed)?
    }};
}

#[allow(
    unused_imports,
    reason = "each runtime declares its wire structs with it"
)]
pub(crate) use wire_struct;

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::Value;

    use super::super::{Str, number};
    use super::*;

    wire_struct! {
        /// A message.
        struct Message<'a> {
            /// Who it is.
            "id" => id: Option<Str<'a>>,
            "session_id" | "sessionId" => session: Option<Str<'a>>,
            "type" => r#type: Str<'a>,
            "parts" => parts: Vec<Usage>,
            "input" => input: Value,
            "usage" => usage: Usage,
            ; known "uuid", "request_id",
        }
    }

    wire_struct! {
        struct Usage {
            "tokens" => tokens: Option<u64> as number::opt_u64,
            "cost" => cost: Option<f64> as number::opt_f64,
        }
    }

    wire_struct! {
        struct Head<'a> {
            "type" => tag: Option<Str<'a>>,
            ; rest skipped
        }
    }

    wire_struct! {
        struct Nothing {
            ; known "a"
        }
    }

    /// Derived structs may hold wire structs.
    #[derive(serde::Deserialize)]
    struct Derived<'a> {
        #[serde(borrow)]
        head: Option<Head<'a>>,
    }

    fn read<'a, T: serde::Deserialize<'a>>(text: &'a str) -> T {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn fields_are_read_and_strings_borrowed() {
        let message: Message<'_> = read(
            r#"{"id":"m","sessionId":"s\n","type":"t","parts":[{"tokens":3.0,"cost":1}],
                "input":{"b":1,"a":2},"usage":{"tokens":4},"uuid":{"x":[1]},"request_id":null}"#,
        );
        assert!(matches!(message.id, Some(Str(Cow::Borrowed("m")))));
        assert_eq!(message.session.as_deref(), Some("s\n"));
        assert_eq!(message.r#type, "t");
        assert_eq!(message.parts[0].tokens, Some(3));
        assert_eq!(message.parts[0].cost, Some(1.0));
        assert_eq!(message.input.to_string(), r#"{"b":1,"a":2}"#);
        assert_eq!(message.usage.tokens, Some(4));
        assert!(message.unknown.is_empty());
    }

    #[test]
    fn absent_and_null_are_the_default() {
        let nulls = r#"{"id":null,"type":null,"parts":null,"input":null,"usage":null}"#;
        for text in ["{}", nulls] {
            let message: Message<'_> = read(text);
            assert_eq!(message.id, None);
            assert_eq!(message.r#type, "");
            assert!(message.parts.is_empty());
            assert!(message.input.is_null());
            assert_eq!(message.usage.tokens, None);
        }
    }

    #[test]
    fn a_repeated_key_counts_as_what_it_was_last() {
        let message: Message<'_> = read(r#"{"id":"a","session_id":"x","id":"b","sessionId":null}"#);
        assert_eq!(message.id.as_deref(), Some("b"));
        assert_eq!(message.session, None);
    }

    #[test]
    fn unknown_keys_are_noted_and_their_values_skipped() {
        let message: Message<'_> = read(r#"{"new":{"id":[1,"\ud800",1e999]},"n\u0065w2":1}"#);
        assert_eq!(message.unknown, ["new".into(), "new2".into()]);
        assert_eq!(message.id, None);
    }

    #[test]
    fn known_keys_and_a_skipped_rest_are_not_noted() {
        let nothing: Nothing = read(r#"{"a":1,"b":2}"#);
        assert_eq!(nothing.unknown, ["b".into()]);
        let head: Head<'_> = read(r#"{"a":1,"type":"t","b":2}"#);
        assert_eq!(head.tag.as_deref(), Some("t"));
        assert!(head.unknown.is_empty());
    }

    #[test]
    fn a_derived_struct_may_hold_a_wire_struct() {
        let derived: Derived<'_> = read(r#"{"head":{"type":"t"}}"#);
        let tag = derived.head.and_then(|head| head.tag);
        assert!(matches!(tag, Some(Str(Cow::Borrowed("t")))));
    }

    #[test]
    fn unknown_keys_are_bounded_in_number_and_length() {
        let keys: Vec<String> = (0..100)
            .map(|n| format!("\"{}{n}\":0", "é".repeat(40)))
            .collect();
        let nothing: Nothing = read(&format!("{{{}}}", keys.join(",")));
        assert_eq!(nothing.unknown.len(), MOST_KEYS);
        assert_eq!(&*nothing.unknown[0], "é".repeat(32));
        let mut cut = Vec::new();
        note_unknown(&mut cut, &format!("x{}", "é".repeat(40)));
        assert_eq!(cut[0].len(), 63);
    }

    #[test]
    fn anything_but_an_object_is_refused() {
        for text in ["[]", "5", "\"x\"", "null", "true"] {
            let error = serde_json::from_str::<Head<'_>>(text).unwrap_err();
            assert!(error.to_string().contains("expected an object"), "{error}");
        }
    }
}
