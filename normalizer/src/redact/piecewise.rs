//! The needles of a text that comes in pieces, looked for byte after byte.
//!
//! Most pieces of a text are a word or two. A search that is made for long texts takes longer to begin with such a piece
//! than the piece takes, and has to look at the end of the one before it again. Here a text has a [`PieceState`] instead:
//! which needles its end may be the beginning of.

use std::collections::HashMap;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use foldhash::fast::FixedState;

use super::text::Text;

/// A beginning of a needle that is longer is not waited for; the last bit of a set of lengths.
const LONGEST: usize = 31;
/// So many bytes of a text tell its state: no needle of ours is longer.
const LAST: usize = 64;

/// All needles of some rules.
#[derive(Debug)]
pub(super) struct Piecewise {
    automaton: DFA,
    start: StateID,
    /// How long the beginnings of needles are that a text in a state ends with, a bit for each length of two or more.
    /// States without any are not there.
    beginnings: HashMap<u32, u32, FixedState>,
}

/// What the end of a text may be the beginning of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceState(StateID);

impl Piecewise {
    /// Takes the needles that secrets begin with, and those that stand elsewhere in secrets.
    pub(super) fn new(first: &[Box<[u8]>], placed: &[Box<[u8]>]) -> Option<Self> {
        let automaton = DFA::builder()
            .prefilter(false)
            .build(first.iter().chain(placed))
            .ok()?;
        let start = automaton.start_state(Anchored::No).ok()?;
        let mut piecewise = Self {
            automaton,
            start,
            beginnings: HashMap::default(),
        };
        // Shorter ones first: what a beginning ends with is known then.
        let longest = first.iter().chain(placed).map(|needle| needle.len()).max();
        for length in 2..longest.unwrap_or_default().min(LONGEST + 1) {
            for needle in first {
                piecewise.insert(needle, length, 1 << length);
            }
            for needle in placed {
                piecewise.insert(needle, length, 0);
            }
        }
        Some(piecewise)
    }

    /// Takes note of the beginning of a needle, which ends with the beginnings that it ends with without its first byte.
    fn insert(&mut self, needle: &[u8], length: usize, own: u32) {
        if length >= needle.len() {
            return;
        }
        let beginning = needle.get(..length).unwrap_or_default();
        let rest = beginning.get(1..).unwrap_or_default();
        let shorter = self.beginnings_at(self.walk(self.start, rest));
        if own | shorter != 0 {
            let state = self.walk(self.start, beginning).as_u32();
            *self.beginnings.entry(state).or_default() |= own | shorter;
        }
    }

    fn walk(&self, state: StateID, bytes: &[u8]) -> StateID {
        let next = |state, byte: &u8| self.automaton.next_state(Anchored::No, state, *byte);
        bytes.iter().fold(state, next)
    }

    fn beginnings_at(&self, state: StateID) -> u32 {
        let known = self.beginnings.get(&state.as_u32());
        known.copied().unwrap_or_default()
    }

    /// Tells whether no needle is in a text.
    pub(super) fn is_clean(&self, text: &[u8]) -> bool {
        self.after(PieceState(self.start), text).is_some()
    }

    /// Returns the state of a text, if no needle is at its end.
    pub(super) fn state_of(&self, text: &[u8]) -> Option<PieceState> {
        let last = text.len().saturating_sub(LAST);
        self.after(PieceState(self.start), text.get(last..)?)
    }

    /// Returns the state of a text that goes on with a piece; `None` if a needle ends in the piece.
    #[inline]
    pub(super) fn after(&self, state: PieceState, piece: &[u8]) -> Option<PieceState> {
        let mut state = state.0;
        for byte in piece {
            state = self.automaton.next_state(Anchored::No, state, *byte);
            if self.automaton.is_match(state) {
                return None;
            }
        }
        Some(PieceState(state))
    }

    /// Tells whether a text that has come to a state ends with the beginning of a needle, where a word begins.
    #[inline]
    pub(super) fn may_go_on(&self, state: PieceState, text: &[u8]) -> bool {
        if state.0 == self.start {
            return false;
        }
        let mut lengths = self.beginnings_at(state.0);
        if lengths == 0 {
            return false;
        }
        let text = Text::new(text);
        while lengths != 0 {
            let length = lengths.trailing_zeros() as usize;
            if text.begins_word(text.len().saturating_sub(length)) {
                return true;
            }
            lengths &= lengths - 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needles(texts: &[&str]) -> Vec<Box<[u8]>> {
        texts.iter().map(|text| text.as_bytes().into()).collect()
    }

    #[test]
    fn a_text_in_pieces_ends_as_it_does_in_one() {
        let piecewise = Piecewise::new(
            &needles(&["ghp_", "hp_x", "://", "AKIA"]),
            &needles(&["8Q~"]),
        )
        .unwrap();
        // What it ends with may go on; or it has a needle; or neither.
        let cases = [
            ("words", Some(false)),
            ("a g", Some(false)),
            ("a gh", Some(true)),
            ("a ghp", Some(true)),
            ("a ghp_", None),
            ("a ghp_ and more", None),
            // Within a word nothing begins.
            ("xgh", Some(false)),
            ("xghp", Some(false)),
            // The shorter beginning of two stands where a word begins.
            ("x-hp_", Some(true)),
            ("https:/", Some(false)),
            (" :/", Some(true)),
            ("AKI", Some(true)),
            ("AK IA", Some(false)),
            // What does not begin a secret is not waited for.
            (" 8Q", Some(false)),
            ("8Q~", None),
        ];
        for (text, expected) in cases {
            let text = text.as_bytes();
            for cut in 0..=text.len() {
                let (one, two) = text.split_at(cut);
                let state = piecewise.state_of(one);
                let state = state.and_then(|state| piecewise.after(state, two));
                let found = state.map(|state| piecewise.may_go_on(state, text));
                assert_eq!(found, expected, "{} {cut}", text.escape_ascii());
                assert_eq!(found.is_some(), piecewise.is_clean(text));
            }
        }
    }
}
