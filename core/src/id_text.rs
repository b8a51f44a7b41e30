//! The text of an id.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The longest text that is kept in place.
const IN_PLACE: usize = 30;

/// The text of an id: in place if it is as short as most are, or else shared.
///
/// A record has a handful of ids, and its run's is in every one of them, so that memory of their
/// own would be most of what is allocated for it.
#[derive(Clone)]
pub(crate) enum IdText {
    /// Its length, and its bytes.
    InPlace(u8, [u8; IN_PLACE]),
    /// A longer text.
    Shared(Arc<str>),
}

impl IdText {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::InPlace(..) => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Self::Shared(text) => text,
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::InPlace(length, bytes) => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Self::Shared(text) => text.as_bytes(),
        }
    }

    /// Takes ASCII characters that fit in place.
    pub(crate) fn from_ascii<const LENGTH: usize>(text: &[u8; LENGTH]) -> Self {
        const { assert!(LENGTH <= IN_PLACE) };
        Self::bytes_in_place(text).unwrap_or(Self::InPlace(0, [0; IN_PLACE]))
    }

    fn in_place(text: &str) -> Option<Self> {
        Self::bytes_in_place(text.as_bytes())
    }

    #[inline]
    fn bytes_in_place(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; IN_PLACE];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self::InPlace(u8::try_from(text.len()).ok()?, bytes))
    }
}

impl From<&str> for IdText {
    fn from(text: &str) -> Self {
        Self::in_place(text).unwrap_or_else(|| Self::Shared(text.into()))
    }
}

impl From<String> for IdText {
    fn from(text: String) -> Self {
        Self::in_place(&text).unwrap_or_else(|| Self::Shared(text.into()))
    }
}

impl From<Arc<str>> for IdText {
    fn from(text: Arc<str>) -> Self {
        Self::in_place(&text).unwrap_or(Self::Shared(text))
    }
}

impl fmt::Debug for IdText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl PartialEq for IdText {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for IdText {}

impl PartialOrd for IdText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for IdText {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for IdText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl serde::Serialize for IdText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_kept_however_long() {
        for length in [0, 1, IN_PLACE - 1, IN_PLACE, IN_PLACE + 1, 300] {
            let text = "a".repeat(length);
            let kept = [
                IdText::from(text.as_str()),
                IdText::from(text.clone()),
                IdText::from(Arc::<str>::from(text.as_str())),
            ];
            for id in kept {
                assert_eq!(id.as_str(), text);
                assert_eq!(id, IdText::from(text.as_str()));
                assert!(id < IdText::from(text.clone() + "a"));
            }
        }
        assert_eq!(IdText::from("é\n").as_str(), "é\n");
    }
}
