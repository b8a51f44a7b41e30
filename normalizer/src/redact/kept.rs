//! Bytes that may be kept.

/// Bytes that may go on the tape and to the parser.
///
/// A [`Redactor`](super::Redactor) makes them; who has no need of one says so with
/// [`as_given`](Self::as_given), in so many words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a>(&'a [u8]);

impl<'a> Kept<'a> {
    /// Keeps bytes as they are given: they come from a tape, which was filtered when it was
    /// recorded, or nothing is to be filtered.
    #[must_use]
    pub fn as_given<B: AsRef<[u8]> + ?Sized>(bytes: &'a B) -> Self {
        Self(bytes.as_ref())
    }

    /// Keeps what the filter let through.
    pub(super) fn filtered(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }
}
