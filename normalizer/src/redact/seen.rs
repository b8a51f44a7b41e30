//! What a search has seen in a line.

use std::ops::Range;

use super::needles::Owner;

/// A needle whose owner may find something where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) place: usize,
    pub(super) owner: Owner,
    /// Where the owner's shape is, if it was seen as the line is written.
    pub(super) shape: Option<(usize, usize)>,
}

/// What a look at the bytes around a needle tells, as they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Its owner finds nothing there.
    Nothing,
    /// It may find something.
    Maybe,
    /// Its shape is there.
    Shape(usize, usize),
}

/// What a search has seen in a line. Places are in order.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) hits: Vec<Hit>,
    /// Where needles are that find nothing as the line is written: in what a piece goes on with they may.
    others: Vec<usize>,
    /// The first of the runtime's shapes with a piece that the line may have.
    pub(super) delta: Option<usize>,
}

impl Seen {
    /// Takes note of a needle.
    pub(super) fn add(&mut self, place: usize, owner: Owner, look: Look) {
        match (owner.delta.map(usize::from), look) {
            (Some(_), Look::Nothing) => {}
            // It says that there is a piece, and finds nothing.
            (Some(shape), _) => {
                self.delta = Some(self.delta.map_or(shape, |known| known.min(shape)));
            }
            (None, Look::Nothing) => self.others.push(place),
            (None, look) => {
                let shape = match look {
                    Look::Shape(start, end) => Some((start, end)),
                    Look::Nothing | Look::Maybe => None,
                };
                self.hits.push(Hit {
                    place,
                    owner,
                    shape,
                });
            }
        }
    }

    /// Counts places from where the line begins. What was seen before it is forgotten.
    pub(super) fn count_from(&mut self, start: usize) {
        self.others.retain_mut(|place| {
            let is_within = *place >= start;
            *place = place.wrapping_sub(start);
            is_within
        });
        for hit in &mut self.hits {
            hit.place -= start;
            hit.shape = hit.shape.and_then(|(first, last)| {
                Some((first.checked_sub(start)?, last.checked_sub(start)?))
            });
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.hits.clear();
        self.others.clear();
        self.delta = None;
    }

    /// Tells whether there is nothing to be looked at, nor a piece.
    pub(super) fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.others.is_empty() && self.delta.is_none()
    }

    /// Tells whether all needles are in some parts of the line.
    pub(super) fn is_within(&self, parts: &[Range<usize>]) -> bool {
        let hits = self.hits.iter().map(|hit| hit.place);
        let mut places = hits.chain(self.others.iter().copied());
        places.all(|place| parts.iter().any(|part| part.contains(&place)))
    }

    /// Returns the hits in a part of the line.
    pub(super) fn hits_in(&self, part: &Range<usize>) -> &[Hit] {
        let first = self.hits.partition_point(|hit| hit.place < part.start);
        let last = self.hits.partition_point(|hit| hit.place < part.end);
        self.hits.get(first..last).unwrap_or_default()
    }

    /// Tells whether there is no needle at all in a part of the line.
    pub(super) fn is_clean(&self, part: &Range<usize>) -> bool {
        self.hits_in(part).is_empty() && !self.others.iter().any(|place| part.contains(place))
    }
}
