//! Lines that wait: one of them may be a part of a secret.

use std::collections::VecDeque;

use super::edit::Edit;

/// Lines that are held, in order. Each has a number, by which those who hold it name it.
#[derive(Debug, Default)]
pub(super) struct HeldLines {
    lines: VecDeque<HeldLine>,
    bytes: usize,
    /// The number of the first one.
    first: u64,
}

/// A line that is held, since it or one before it waits for its rest.
#[derive(Debug)]
pub(super) struct HeldLine {
    pub(super) bytes: Vec<u8>,
    pub(super) edits: Vec<Edit>,
    pub(super) at: i64,
    pub(super) start: u64,
    /// How often it is held.
    pub(super) holds: usize,
}

impl HeldLines {
    /// Tells whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns how many bytes they have.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of the line that is added next.
    pub(super) fn next_number(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    pub(super) fn push(&mut self, line: HeldLine) {
        self.bytes += line.bytes.len();
        self.lines.push_back(line);
    }

    /// Returns a line by its number.
    pub(super) fn get(&mut self, number: u64) -> Option<&mut HeldLine> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.lines.get_mut(index)
    }

    /// Takes the first line, if nobody holds it any more.
    pub(super) fn pop_free(&mut self) -> Option<HeldLine> {
        self.lines.front().filter(|line| line.holds == 0)?;
        let line = self.lines.pop_front()?;
        self.first += 1;
        self.bytes -= line.bytes.len();
        Some(line)
    }
}
