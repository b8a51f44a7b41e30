//! What may be kept, on its way out.

use runtape_core::Stream;

use super::edit::{Edit, apply_to_line_into};
use super::kept::Kept;
use super::stream::Each;

/// What may be kept and is given out soon, together: each call of the receiver costs as much as a line.
#[derive(Debug, Default)]
pub(super) struct Ready {
    bytes: Vec<u8>,
    at: i64,
}

impl Ready {
    /// As much is worth a call of its own, rather than a copy.
    const LARGE: usize = 8 * 1024;
    /// As much is given out at the latest.
    const MOST: usize = 64 * 1024;

    /// Tells whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds bytes with their edits, received at a time.
    pub(super) fn add(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        edits: &[Edit],
        at: i64,
        each: Each<'_>,
    ) {
        let is_other = at != self.at || self.bytes.len() > Self::MOST;
        if !self.bytes.is_empty() && (is_other || bytes.len() > Self::LARGE) {
            self.give(stream, each);
        }
        self.at = at;
        if !edits.is_empty() {
            apply_to_line_into(bytes, edits, &mut self.bytes);
        } else if bytes.len() > Self::LARGE {
            each(stream, Kept::filtered(bytes), at);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Gives everything out. The room for it is kept, unless it is large.
    pub(super) fn give(&mut self, stream: Stream, each: Each<'_>) {
        if !self.bytes.is_empty() {
            each(stream, Kept::filtered(&self.bytes), self.at);
            self.bytes.clear();
            self.bytes.shrink_to(2 * Self::MOST);
        }
    }
}
