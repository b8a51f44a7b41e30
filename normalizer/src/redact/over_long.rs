//! Lines over the limit, filtered part by part.

use super::edit::apply;
use super::groups::MOST_TEXT;
use super::line::{FoundSecret, LineReader};
use super::scan::blot;
use super::text::Text;
use super::walk::{StringState, is_of_number, may_be_json};

/// How much of an over-long line is kept back, so that no secret is cut between two parts of it.
pub(super) const OVERLAP: usize = 8 * 1024;
/// How much of it is looked at again with what comes after it, though it was given out: names before secrets.
const CONTEXT: usize = 512;

/// A line that is over the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverLong {
    is_raw: bool,
    /// What was given out of it ends within a string, if it is JSON.
    strings: StringState,
    /// How much of what is carried was given out before, its secrets blotted out.
    given: usize,
}

/// What may be given out of an over-long line by now.
#[derive(Debug)]
pub(super) struct FilteredPart {
    pub(super) bytes: Vec<u8>,
    /// How many bytes of the line it stands for.
    pub(super) length: usize,
    pub(super) found: Vec<FoundSecret>,
    /// How often a part of what may be a secret was let go.
    pub(super) unfinished: u64,
}

impl OverLong {
    /// Begins with what has come of the line.
    pub(super) fn new(line: &[u8]) -> Self {
        Self {
            is_raw: may_be_json(line),
            strings: StringState::default(),
            given: 0,
        }
    }

    /// Filters what is carried of the line: all of it if it is the last, else all but its end, which is carried on.
    pub(super) fn part(
        &mut self,
        carry: &mut Vec<u8>,
        is_last: bool,
        reader: LineReader<'_>,
    ) -> FilteredPart {
        let given = self.given;
        let mut unfinished = 0;
        let text = || Text::new(carry).raw(self.is_raw);
        let mut scanned = reader.scanner().scan(&text().open(!is_last));
        // No secret is that long: what there is of it goes, and the rest does not.
        if scanned
            .undecided
            .is_some_and(|open| carry.len() - open > 2 * MOST_TEXT)
        {
            unfinished += 1;
            scanned = reader.scanner().scan(&text());
        }
        let mut cut = if is_last {
            carry.len()
        } else {
            carry.len().saturating_sub(OVERLAP)
        };
        cut = cut.min(scanned.undecided.unwrap_or(cut)).max(given);
        let (mut edits, mut found) = (Vec::new(), Vec::new());
        for secret in &scanned.secrets {
            if secret.place.end <= given || secret.place.start >= cut {
                continue;
            }
            let bytes = carry.get(secret.place.clone()).unwrap_or_default();
            let place = secret.place.start.max(given)..secret.place.end;
            // In a line of JSON numbers are not looked at.
            let before = carry.get(given..place.start).unwrap_or_default();
            if self.is_raw
                && bytes.iter().copied().all(is_of_number)
                && !self.strings.after(before).is_within
            {
                continue;
            }
            unfinished += u64::from(secret.place.start < given);
            cut = cut.max(place.end);
            edits.push(reader.edit(secret, place, bytes));
            found.push(FoundSecret {
                rule: secret.rule,
                secret: bytes.to_vec(),
            });
        }
        let done = carry.get(given..cut).unwrap_or_default();
        let length = done.len();
        self.strings = self.strings.after(done);
        let mut bytes = apply(carry.get(..cut).unwrap_or_default(), &edits);
        bytes.drain(..given);
        for edit in &edits {
            blot(carry, &edit.place);
        }
        let kept = cut.saturating_sub(CONTEXT);
        carry.drain(..kept);
        self.given = cut - kept;
        FilteredPart {
            bytes,
            length,
            found,
            unfinished,
        }
    }
}
