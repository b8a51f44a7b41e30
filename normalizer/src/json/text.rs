//! A string that is borrowed from its line where it can be.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Returns bytes as text, if they are UTF-8. A line may be megabytes of it, and the standard library
/// looks at sixteen bytes at a time.
pub(crate) fn sound_text(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

/// A string borrowed from the line it was read from, or owned if it has escapes.
///
/// Unlike `Cow<str>` it borrows anywhere, also inside an `Option` or a `Vec`, where serde's
/// `borrow` attribute does not reach; and unlike `&str` it can hold `"a\nb"`.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str<'a>(pub Cow<'a, str>);

impl<'a> Str<'a> {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text as a `String`, copying it only if it was borrowed.
    #[must_use]
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }

    /// Returns the text as the `Cow` it is.
    #[must_use]
    pub fn into_cow(self) -> Cow<'a, str> {
        self.0
    }
}

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Str<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl fmt::Display for Str<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Str<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str::from(text))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str::from(text.to_owned()))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Str<'de>, E> {
                Ok(Str::from(text))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_without_escapes_is_borrowed_also_inside_other_types() {
        let strings: Vec<Option<Str<'_>>> =
            serde_json::from_str(r#"["plain é", "a\nb", null]"#).unwrap();
        assert!(matches!(&strings[0], Some(Str(Cow::Borrowed("plain é")))));
        assert!(matches!(&strings[1], Some(Str(Cow::Owned(text))) if text == "a\nb"));
        assert_eq!(strings[2], None);
    }

    #[test]
    fn a_string_from_a_value_is_owned() {
        let text = Str::deserialize(serde_json::json!("moved")).unwrap();
        assert_eq!(text, "moved");
        assert_eq!(text.into_owned(), "moved");
    }

    #[test]
    fn anything_else_is_refused() {
        let error = serde_json::from_str::<Str<'_>>("5").unwrap_err();
        assert!(error.to_string().contains("expected a string"), "{error}");
    }
}
