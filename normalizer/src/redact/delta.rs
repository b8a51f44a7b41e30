//! Texts that a runtime prints piece by piece, over many lines.

use std::ops::Range;

/// Where a runtime's lines have pieces of a longer text: said by the runtime's entry in the registry.
///
/// A path names keys from the outside in; `*` stands for any place in an array.
#[derive(Clone, Copy, Debug)]
pub struct DeltaShape {
    /// What stands in every line with such a piece, as it is written.
    pub needle: &'static str,
    /// The fields that hold a piece; in a line, the first one that is there.
    pub text: &'static [&'static str],
    /// The fields that hold the text so far, beside the piece or in place of it.
    pub so_far: &'static [&'static str],
    /// The fields that tell whose piece it is, among those that come at the same time.
    pub group: &'static [&'static str],
    /// A field without which the line is no piece, but the whole.
    pub only_with: Option<&'static str>,
    /// A field whose presence says that the line is no piece, but the whole.
    pub unless: Option<&'static str>,
    /// What stands in the line that ends a group, together with the fields of the group; `None` if any line ends it that
    /// holds no piece.
    pub ends: Option<&'static str>,
}

/// What a field in a line with a piece says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaRole {
    /// It is the piece.
    Text,
    /// It is the text so far.
    SoFar,
    /// It tells whose piece it is.
    Group,
    /// Without it the line has no piece.
    OnlyWith,
    /// With it the line has no piece.
    Unless,
}

/// A key, or any place in an array.
type Name = Option<&'static [u8]>;

/// The fields of lines of one shape, made ready to be recognised.
#[derive(Debug)]
pub(super) struct DeltaFields {
    /// Names from the outside in, the last one for itself, `None` for any place in an array; and what is there.
    paths: Vec<(Vec<Name>, Name, DeltaRole)>,
    /// A bit for how deep each of them is and how long its last name.
    outlines: u64,
}

impl DeltaFields {
    pub(super) fn new(shape: &DeltaShape) -> Self {
        let mut paths = Vec::new();
        for (places, role) in [
            (shape.group, DeltaRole::Group),
            (shape.unless.as_slice(), DeltaRole::Unless),
            (shape.only_with.as_slice(), DeltaRole::OnlyWith),
            (shape.text, DeltaRole::Text),
            (shape.so_far, DeltaRole::SoFar),
        ] {
            for path in places {
                let mut names: Vec<Name> = path.split('.').map(name).collect();
                if let Some(last) = names.pop() {
                    paths.push((names, last, role));
                }
            }
        }
        let outline = |(above, last, _): &(Vec<Name>, Name, DeltaRole)| {
            outline_of(above.len(), last.map(<[u8]>::len))
        };
        let outlines = paths.iter().map(outline).fold(0, |all, one| all | one);
        Self { paths, outlines }
    }

    /// Calls `each` for what a place in a line is, by the keys above it.
    #[inline]
    pub(super) fn roles(
        &self,
        line: &[u8],
        keys: &[Option<Range<usize>>],
        mut each: impl FnMut(DeltaRole),
    ) {
        let written = |key: &Option<Range<usize>>| key.clone().and_then(|key| line.get(key));
        let Some((last, above)) = keys.split_last() else {
            return;
        };
        let last = written(last);
        // Nearly no place is of interest.
        if self.outlines & outline_of(above.len(), last.map(<[u8]>::len)) == 0 {
            return;
        }
        for (names, name, role) in &self.paths {
            // Nearly always the depth or the last key is another one.
            if names.len() == above.len()
                && is_same(*name, last)
                && names
                    .iter()
                    .zip(above)
                    .all(|(name, key)| is_same(*name, written(key)))
            {
                each(*role);
            }
        }
    }
}

/// Returns the bit of paths so deep, with so long a name at their end.
#[inline]
fn outline_of(depth: usize, length: Option<usize>) -> u64 {
    1 << ((depth * 11 + length.unwrap_or_default()) % 64)
}

/// Tells whether two names are the same: mostly their lengths or first letters tell.
#[inline]
fn is_same(one: Option<&[u8]>, other: Option<&[u8]>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.len() == other.len() && one.first() == other.first() && one == other
        }
        (None, None) => true,
        _ => false,
    }
}

fn name(name: &'static str) -> Name {
    (name != "*").then_some(name.as_bytes())
}
