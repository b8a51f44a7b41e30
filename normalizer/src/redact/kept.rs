//! Bytes that may be kept.

use std::borrow::Cow;

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

/// A line by itself that may be kept: a [`RuleSet`](super::RuleSet) makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLine<'a>(Cow<'a, [u8]>);

impl<'a> KeptLine<'a> {
    pub(super) fn filtered(line: Cow<'a, [u8]>) -> Self {
        Self(line)
    }

    /// Returns its bytes.
    #[must_use]
    pub fn kept(&self) -> Kept<'_> {
        Kept(&self.0)
    }

    /// Tells whether something was taken out of it.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        matches!(self.0, Cow::Owned(_))
    }
}

/// Whole lines that may be kept, one after the other, each with its line feed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct KeptLines(Vec<u8>);

impl KeptLines {
    /// Adds a line, which comes without its line feed.
    pub fn push(&mut self, line: Kept<'_>) {
        self.0.extend_from_slice(line.bytes());
        self.0.push(b'\n');
    }

    /// Adds other lines.
    pub fn append(&mut self, lines: &Self) {
        self.0.extend_from_slice(&lines.0);
    }

    /// Returns all of them.
    #[must_use]
    pub fn kept(&self) -> Kept<'_> {
        Kept(&self.0)
    }

    /// Returns how many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
