//! Frames that come twice.

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;

/// The key of a frame's number.
const NUMBER: &[u8] = b"\"seq\":";

/// How many frames are remembered.
const MOST_FRAMES: usize = 4096;

/// The last frames, eight bytes of each. Frames are numbered, so that two of the same bytes are the
/// same frame; without a number they may be two.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Repeats {
    /// Tells whether a frame came before, and remembers it.
    pub(super) fn is_repeated(&mut self, bytes: &[u8]) -> bool {
        if memchr::memmem::find(bytes, NUMBER).is_none() {
            return false;
        }
        let hash = FixedState::default().hash_one(bytes);
        if !self.seen.insert(hash) {
            return true;
        }
        if self.order.len() == MOST_FRAMES
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        self.order.push_back(hash);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_known_again_and_memory_stays_bounded() {
        let frame = |n: usize| format!("{{\"seq\":{n}}}").into_bytes();
        let mut repeats = Repeats::default();
        for n in 0..3 * MOST_FRAMES {
            assert!(!repeats.is_repeated(&frame(n)));
            assert!(repeats.is_repeated(&frame(n)));
        }
        let counts = (repeats.seen.len(), repeats.order.len());
        assert_eq!(counts, (MOST_FRAMES, MOST_FRAMES));
        assert!(!repeats.is_repeated(&frame(0)), "forgotten");
        assert!(!repeats.is_repeated(b"{}") && !repeats.is_repeated(b"{}"));
    }
}
