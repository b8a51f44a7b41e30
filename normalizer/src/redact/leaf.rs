//! A string in JSON: what it means, and which of its bytes mean what.

use std::borrow::Cow;
use std::ops::Range;

/// What a string means, with the way back from its meaning to the bytes that it is written in.
#[derive(Debug)]
pub(super) struct Leaf<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) places: WrittenPlaces,
}

/// Where the parts of a meaning are written.
#[derive(Debug)]
pub(super) struct WrittenPlaces {
    /// Where its first byte is written.
    first: usize,
    /// Where another stretch of plain text begins: in the meaning, and as it is written. In order.
    stretches: Vec<(usize, usize)>,
}

impl<'a> Leaf<'a> {
    /// Returns a text that stands for itself, whose first byte is at a place.
    pub(super) fn plain(text: &'a [u8], place: usize) -> Self {
        Self {
            text: Cow::Borrowed(text),
            places: WrittenPlaces {
                first: place,
                stretches: Vec::new(),
            },
        }
    }

    /// Reads what is written between two quotes, the first of them just before a place. `None` if an escape is none.
    pub(super) fn decode(written: &'a [u8], place: usize) -> Option<Self> {
        let Some(first) = memchr::memchr(b'\\', written) else {
            return Some(Self::plain(written, place));
        };
        let mut text = Vec::with_capacity(written.len());
        let mut stretches = Vec::new();
        let (mut from, mut escape) = (0, Some(first));
        while let Some(at) = escape {
            text.extend_from_slice(written.get(from..at)?);
            stretches.push((text.len(), place + at));
            let length = unescape(written.get(at..)?, &mut text)?;
            from = at + length;
            stretches.push((text.len(), place + from));
            escape = memchr::memchr(b'\\', written.get(from..)?).map(|next| from + next);
        }
        text.extend_from_slice(written.get(from..)?);
        Some(Self {
            text: Cow::Owned(text),
            places: WrittenPlaces {
                first: place,
                stretches,
            },
        })
    }

    /// Tells whether it is written as it is meant: not in escapes.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    /// Returns the same for longer than the line lasts.
    pub(super) fn into_owned(self) -> Leaf<'static> {
        Leaf {
            text: Cow::Owned(self.text.into_owned()),
            places: self.places,
        }
    }

    /// Returns where a part of the meaning is written.
    pub(super) fn written(&self, place: Range<usize>) -> Range<usize> {
        self.places.written(place)
    }

    /// Reads a string that is written in this one's meaning, at a place of it.
    pub(super) fn inner(&self, place: Range<usize>) -> Option<Leaf<'static>> {
        let written = self.text.get(place.clone())?;
        let inner = Leaf::decode(written, place.start)?;
        let text = inner.text.into_owned();
        // Both ways back in one: the plain stretches of either are cut at those of the other.
        let (inner, outer) = (inner.places, &self.places);
        let mut stretches = Vec::with_capacity(inner.stretches.len());
        let all = std::iter::once((0, inner.first)).chain(inner.stretches.iter().copied());
        for (index, (meant, between)) in all.enumerate() {
            let end = inner.stretches.get(index).map_or(text.len(), |next| next.0);
            if index > 0 {
                stretches.push((meant, outer.at(between)));
            }
            let first = outer.stretches.partition_point(|(cut, _)| *cut <= between);
            for &(cut, written) in outer.stretches.get(first..).unwrap_or_default() {
                if cut - between + meant >= end {
                    break;
                }
                stretches.push((cut - between + meant, written));
            }
        }
        Some(Leaf {
            text: Cow::Owned(text),
            places: WrittenPlaces {
                first: outer.at(inner.first),
                stretches,
            },
        })
    }
}

impl WrittenPlaces {
    /// Returns where a part of the meaning is written.
    pub(super) fn written(&self, place: Range<usize>) -> Range<usize> {
        self.at(place.start)..self.at(place.end)
    }

    fn at(&self, place: usize) -> usize {
        let index = self.stretches.partition_point(|(meant, _)| *meant <= place);
        let stretch = index.checked_sub(1).and_then(|at| self.stretches.get(at));
        let (meant, written) = stretch.copied().unwrap_or((0, self.first));
        written + place - meant
    }
}

/// Appends what an escape means, and returns how long it is. What is no character becomes U+FFFD.
fn unescape(escape: &[u8], text: &mut Vec<u8>) -> Option<usize> {
    let byte = match escape.get(1)? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        byte @ (b'"' | b'\\' | b'/') => *byte,
        b'u' => {
            let first = unit(escape)?;
            let second = escape.get(6..).and_then(unit);
            let (character, length) = match (char::from_u32(first), second) {
                (Some(character), _) => (character, 6),
                (None, Some(second)) if first < 0xDC00 && (0xDC00..0xE000).contains(&second) => {
                    let joined = 0x1_0000 + ((first - 0xD800) << 10 | (second - 0xDC00));
                    (
                        char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER),
                        12,
                    )
                }
                (None, _) => (char::REPLACEMENT_CHARACTER, 6),
            };
            let mut buffer = [0; 4];
            text.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            return Some(length);
        }
        _ => return None,
    };
    text.push(byte);
    Some(2)
}

fn unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_meaning_is_found_as_it_is_written() {
        let written = br#"a\nb\u0041c\"d\\\ud83d\ude00e"#;
        let leaf = Leaf::decode(written, 10).unwrap();
        assert_eq!(leaf.text, "a\nbAc\"d\\😀e".as_bytes());
        assert_eq!(leaf.written(0..1), 10..11);
        assert_eq!(leaf.written(1..2), 11..13);
        assert_eq!(leaf.written(3..4), 14..20);
        assert_eq!(leaf.written(4..7), 20..24);
        assert_eq!(leaf.written(8..13), 26..39);
    }

    #[test]
    fn a_string_within_a_string_is_found_as_it_is_written() {
        let inner = r#"{"a":"x\ny\"z"}"#;
        let outer = serde_json::to_string(inner).unwrap();
        let written = outer.trim_matches('"').as_bytes();
        let leaf = Leaf::decode(written, 0).unwrap();
        assert_eq!(leaf.text, inner.as_bytes());
        let nested = leaf.inner(6..13).unwrap();
        assert_eq!(&*nested.text, b"x\ny\"z");
        let shown =
            |place: Range<usize>| std::str::from_utf8(&written[nested.written(place)]).unwrap();
        assert_eq!(shown(0..1), "x");
        assert_eq!(shown(1..2), r"\\n");
        assert_eq!(shown(2..3), "y");
        assert_eq!(shown(3..4), r#"\\\""#);
        assert_eq!(shown(0..5), r#"x\\ny\\\"z"#);
    }
}
