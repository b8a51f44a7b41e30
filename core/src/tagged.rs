//! Enums told apart by the value of one key, where values of a newer version survive.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A variant that this version does not know: its type and all its fields, as they were read.
///
/// Only ever read for a type that no known variant has. A known type with a wrong field is an
/// error, never this.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownKind {
    key: &'static str,
    tag: String,
    fields: Map<String, Value>,
}

impl UnknownKind {
    /// Returns the unknown type.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the fields besides the type and those that every variant has.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    pub(crate) fn new(key: &'static str, tag: String, fields: Map<String, Value>) -> Self {
        Self { key, tag, fields }
    }
}

impl Serialize for UnknownKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(self.fields.len() + 1))?;
        map.serialize_entry(self.key, &self.tag)?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Says what is wrong with an object that could not be read, and with which of its fields.
///
/// serde names a field that is missing, but not one of the wrong type. Reading once more to learn
/// the path costs those who made the mistake, and nobody else.
#[cold]
pub(crate) fn explain<T: DeserializeOwned>(object: &Value, error: &serde_json::Error) -> String {
    match serde_path_to_error::deserialize::<_, T>(object) {
        Err(traced) if traced.path().iter().next().is_some() => {
            format!("{}: {}", traced.path(), traced.inner())
        }
        _ => error.to_string(),
    }
}

/// Returns the schema of a variant whose type is none of `known`.
pub(crate) fn unknown_schema(key: &str, known: &[&str]) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "title": "Unknown",
        "description": "A type that this version of the schema does not know. Readers keep it as it is.",
        "properties": {
            key: { "type": "string", "not": { "enum": known } }
        },
        "required": [key]
    })
}

/// Declares an enum of payload structs told apart by one key, with a last variant for the types
/// of a newer version.
///
/// serde's own `untagged` catch-all would file a malformed known variant under unknown, or say
/// no more than that nothing matched; so reading is written out: the type first, then its struct.
macro_rules! tagged_enum {
    (
        $(#[$doc:meta])*
        pub enum $name:ident by $key:literal {
            $($(#[$variant_doc:meta])* $tag:literal => $variant:ident($payload:ty),)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = $key)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $tag)] $variant($payload),)*
            /// A type that this version does not know. Readers keep it as it is.
            #[serde(untagged)]
            #[schemars(with = "UnknownSchema")]
            Unknown($crate::tagged::UnknownKind),
        }

        /// Stands in for the unknown variant in the schema, where it excludes the known types.
        struct UnknownSchema;

        impl schemars::JsonSchema for UnknownSchema {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                concat!("Unknown", stringify!($name)).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::tagged::unknown_schema($key, $name::TAGS)
            }
        }

        impl $name {
            /// Every type this version knows.
            pub const TAGS: &'static [&'static str] = &[$($tag),*];

            /// Returns the type as in JSON.
            #[must_use]
            pub fn tag(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $tag,)*
                    Self::Unknown(unknown) => unknown.tag(),
                }
            }

            /// Returns the type if it is a known one.
            #[must_use]
            pub fn known_tag(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant(_) => Some($tag),)*
                    Self::Unknown(_) => None,
                }
            }

            /// Reads a variant from an object; `base` are the fields that are not its own.
            pub(crate) fn from_object(
                object: &serde_json::Value,
                base: &[&str],
            ) -> Result<Self, String> {
                let tag = object
                    .get($key)
                    .ok_or(concat!("missing field `", $key, "`"))?
                    .as_str()
                    .ok_or(concat!("field `", $key, "` is not a string"))?;
                match tag {
                    $($tag => <$payload as serde::Deserialize>::deserialize(object)
                        .map(Self::$variant)
                        .map_err(|error| {
                            let fault = $crate::tagged::explain::<$payload>(object, &error);
                            format!("{tag}: {fault}")
                        }),)*
                    unknown => {
                        let fields = object.as_object().into_iter().flatten();
                        let fields = fields
                            .filter(|(key, _)| *key != $key && !base.contains(&key.as_str()))
                            .map(|(key, value)| (key.clone(), value.clone()))
                            .collect();
                        Ok(Self::Unknown($crate::tagged::UnknownKind::new($key, unknown.to_owned(), fields)))
                    }
                }
            }
        }

        $(
            impl From<$payload> for $name {
                fn from(payload: $payload) -> Self {
                    Self::$variant(payload)
                }
            }
        )*
    };
}

/// Implements reading for a struct of base fields with a [`tagged_enum`] flattened into it.
macro_rules! tagged_struct {
    ($name:ident, $kind:ident, $base:ident { $($field:ident: $key:literal),* $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error as _;
                let object = serde_json::Value::deserialize(deserializer)?;
                if !object.is_object() {
                    return Err(D::Error::custom("expected an object"));
                }
                let kind = $kind::from_object(&object, &[$($key),*]).map_err(D::Error::custom)?;
                let base = $base::deserialize(&object).map_err(|error| {
                    let fault = $crate::tagged::explain::<$base>(&object, &error);
                    D::Error::custom(format!("{}: {fault}", kind.tag()))
                })?;
                Ok(Self { $($field: base.$field,)* kind })
            }
        }
    };
}

pub(crate) use {tagged_enum, tagged_struct};
