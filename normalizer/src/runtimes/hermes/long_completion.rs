//! Completion lines of several lines: 0.16 prints a command as it is.

use super::tool_line::{ends_completion, opens_completion};
use crate::signal::Place;

/// The longest completion that is held. A command may write a whole file.
const MOST: usize = 1024 * 1024;

/// A completion whose time was not printed yet.
#[derive(Debug)]
pub(super) struct LongCompletion {
    text: String,
    place: Place,
    /// The line end it is printed with; another thread's lines have a shorter one.
    pub(super) rank: u8,
}

/// What a further line made of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// More is to come.
    Open,
    /// It has its time.
    Whole,
    /// It is none.
    GivenUp,
}

impl LongCompletion {
    /// Begins with a line, if it is the first of several.
    pub(super) fn open(line: &str, place: Place, rank: u8) -> Option<Self> {
        opens_completion(line).then(|| Self {
            text: line.to_owned(),
            place,
            rank,
        })
    }

    /// Takes the next line, whatever it looks like: a command may hold anything.
    pub(super) fn push(&mut self, line: &str, place: Place) -> Completion {
        self.text.push('\n');
        self.text.push_str(line);
        self.place = self.place.through(place);
        if ends_completion(line) {
            Completion::Whole
        } else if self.text.len() > MOST {
            Completion::GivenUp
        } else {
            Completion::Open
        }
    }

    /// Returns all of it, and where it is.
    pub(super) fn into_parts(self) -> (String, Place) {
        (self.text, self.place)
    }
}
