//! Texts that a runtime prints piece by piece, over many lines.

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

/// Tells whether a place in a line, by the keys above it, is what a path names.
pub(super) fn is_at(path: &str, line: &[u8], keys: &[Option<std::ops::Range<usize>>]) -> bool {
    // Nearly always the last key is another one.
    if let Some(Some(key)) = keys.last()
        && !path
            .as_bytes()
            .ends_with(line.get(key.clone()).unwrap_or_default())
    {
        return false;
    }
    let mut names = path.split('.');
    let fits = keys.iter().all(|key| match (names.next(), key) {
        (Some("*"), None) => true,
        (Some(name), Some(key)) => line.get(key.clone()) == Some(name.as_bytes()),
        _ => false,
    });
    fits && names.next().is_none()
}
