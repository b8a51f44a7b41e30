//! Guessing the runtime from the first bytes of its output.

use runtape_core::{Runtime, Stream};

use crate::first_lines::FirstLines;
use crate::runtimes::RUNTIMES;

/// How sure a runtime must be of its own output.
pub(crate) const SURE_ENOUGH: u8 = 50;
/// How sure a runtime must be of a line in the middle of an output.
const SURE_OF_A_LINE: u8 = 90;

/// Returns the runtime whose output these first bytes belong to, if one is sure of it.
///
/// Lines before the agent's own are passed over: the banner of a wrapper. A few kilobytes are enough; a beginning that
/// two runtimes claim alike is claimed by none.
#[must_use]
pub fn detect(first_bytes: &[u8]) -> Option<Runtime> {
    detect_beginning(first_bytes).or_else(|| {
        let mut lines = FirstLines::default();
        let found = lines.push(Stream::Stdout, first_bytes, 0);
        let found = found.unwrap_or_else(|| lines.finish());
        found.map(|found| found.runtime)
    })
}

/// The same for an output that begins with these bytes, without lines before it.
pub(crate) fn detect_beginning(bytes: &[u8]) -> Option<Runtime> {
    surest(bytes, SURE_ENOUGH)
}

/// Returns the runtime that printed a line for certain, wherever the line stands.
pub(crate) fn detect_line(line: &[u8]) -> Option<Runtime> {
    let is_candidate = match line.trim_ascii_start().first() {
        Some(first) => matches!(first, b'{' | b'[') || !first.is_ascii(),
        None => false,
    };
    is_candidate.then(|| surest(line, SURE_OF_A_LINE)).flatten()
}

fn surest(bytes: &[u8], least: u8) -> Option<Runtime> {
    let mut best = None;
    let mut best_score = 0;
    for entry in RUNTIMES {
        let score = (entry.sniff)(bytes);
        if score > best_score {
            (best, best_score) = (Some(&entry.runtime), score);
        } else if score == best_score {
            best = None;
        }
    }
    best.filter(|_| best_score >= least).cloned()
}
