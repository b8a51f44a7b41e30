//! Completion lines of several lines: 0.16 prints a command as it is, and an error's text may have
//! line breaks.

use super::tool_line::{ends_completion, ends_failure, opens_completion};
use crate::framing::held_lines::MOST_HELD;
use crate::signal::TapePlace;

/// A completion whose time was not printed yet.
#[derive(Debug)]
pub(super) struct LongCompletion {
    pub(super) text: String,
    pub(super) place: TapePlace,
    /// The line end it is printed with; another thread's lines have a shorter one.
    rank: u8,
}

/// What a further line made of a completion.
#[derive(Debug)]
pub(super) enum Continued {
    /// None is open.
    No,
    /// More is to come.
    Open,
    /// All of it, where it is, and whether it has its time; without that it is none.
    Over(String, TapePlace, bool),
}

impl LongCompletion {
    /// Begins with a line, if it is the first of several.
    pub(super) fn open(line: &str, place: TapePlace, rank: u8) -> Option<Self> {
        opens_completion(line).then(|| Self {
            text: line.to_owned(),
            place,
            rank,
        })
    }

    /// Takes the next line, whatever it looks like: a command may hold anything.
    pub(super) fn push(
        slot: &mut Option<Self>,
        line: &str,
        rank: u8,
        place: TapePlace,
    ) -> Continued {
        let Some(mut long) = slot.take_if(|long| rank >= long.rank) else {
            return Continued::No;
        };
        long.text.push('\n');
        long.text.push_str(line);
        long.place = long.place.through(place);
        let is_whole = ends_completion(line) || ends_failure(&long.text);
        if is_whole || long.text.len() > MOST_HELD {
            return Continued::Over(long.text, long.place, is_whole);
        }
        *slot = Some(long);
        Continued::Open
    }
}
