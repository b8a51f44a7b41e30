//! Guessing the runtime from the first bytes of its output.

use runtape_core::Runtime;

use crate::runtimes::RUNTIMES;

/// How sure a runtime must be of its own output.
const SURE_ENOUGH: u8 = 50;

/// Returns the runtime whose output begins with these bytes, if one is sure of it.
///
/// A few kilobytes are enough; a beginning that two runtimes claim alike is claimed by none.
#[must_use]
pub fn detect(first_bytes: &[u8]) -> Option<Runtime> {
    let mut best = None;
    let mut best_score = 0;
    for entry in RUNTIMES {
        let score = (entry.sniff)(first_bytes);
        if score > best_score {
            (best, best_score) = (Some(&entry.runtime), score);
        } else if score == best_score {
            best = None;
        }
    }
    best.filter(|_| best_score >= SURE_ENOUGH).cloned()
}
