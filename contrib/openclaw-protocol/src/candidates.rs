//! Live rows that history may turn out to be about.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::iter::successors;
use std::ops::Bound::{Excluded, Unbounded};

use super::order::Ordered as Row;

/// How far apart two rows count if one of them has no time.
const UNKNOWN_DISTANCE: f64 = 9_007_199_254_740_991.0;

/// A double that can be sorted and looked up, zero having one sign.
#[derive(Clone, Copy, Debug)]
struct Ordered(f64);

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// Which of two rows wins at the same distance: the lower sequence, then the earlier row.
type Rank = (Ordered, usize);

const LOWEST: Rank = (Ordered(-f64::NAN), 0);
const HIGHEST: Rank = (Ordered(f64::NAN), usize::MAX);

/// One row, as far as the choice among its like depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    time: Option<Ordered>,
    rank: Rank,
}

impl Candidate {
    /// Describes the row at `index`.
    pub(crate) fn new(index: usize, row: &impl Row) -> Self {
        Self {
            time: known_time(row.timestamp_ms()),
            rank: (Ordered(row.sequence_key()), index),
        }
    }

    fn is_unnumbered(self) -> bool {
        self.rank.0.0.is_nan()
    }
}

/// Rows alike, sorted so that the closest is found without looking at each.
///
/// A transcript may hold one line thousands of times; looking at each would cost the square.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    timed: BTreeSet<(Ordered, Rank)>,
    untimed: BTreeSet<Rank>,
    all: BTreeSet<(Rank, Option<Ordered>)>,
    /// How many rows have no place among rows of the same moment.
    unnumbered: usize,
}

impl Candidates {
    /// Returns how many rows are left.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds a row.
    pub(crate) fn insert(&mut self, candidate: Candidate) {
        if self.all.insert((candidate.rank, candidate.time)) {
            self.unnumbered += usize::from(candidate.is_unnumbered());
        }
        match candidate.time {
            Some(time) => self.timed.insert((time, candidate.rank)),
            None => self.untimed.insert(candidate.rank),
        };
    }

    /// Removes a row, if it is still there.
    pub(crate) fn remove(&mut self, candidate: Candidate) {
        if self.all.remove(&(candidate.rank, candidate.time)) {
            self.unnumbered -= usize::from(candidate.is_unnumbered());
        }
        match candidate.time {
            Some(time) => self.timed.remove(&(time, candidate.rank)),
            None => self.untimed.remove(&candidate.rank),
        };
    }

    /// Removes the row closest to `time` and returns its index.
    pub(crate) fn take_closest(&mut self, time: Option<f64>) -> Option<usize> {
        let is_mixed = self.unnumbered > 0 && self.unnumbered < self.len();
        let closest = if is_mixed {
            self.first_that_nothing_beats(known_time(time))?
        } else if let Some(time) = known_time(time) {
            self.closest_to(time)?
        } else {
            let (rank, time) = *self.all.first()?;
            Candidate { time, rank }
        };
        self.remove(closest);
        Some(closest.rank.1)
    }

    /// Looks at each row as JavaScript peers do. Where some rows lack a number there is no order
    /// among them that would find the same row without that.
    fn first_that_nothing_beats(&self, time: Option<Ordered>) -> Option<Candidate> {
        let rows = self.all.iter();
        let mut rows: Vec<_> = rows.map(|(rank, time)| (*rank, *time)).collect();
        rows.sort_unstable_by_key(|((_, index), _)| *index);
        let mut best: Option<(f64, Candidate)> = None;
        for (rank, own) in rows {
            let distance = match (own, time) {
                (Some(own), Some(time)) => (own.0 - time.0).abs(),
                _ => UNKNOWN_DISTANCE,
            };
            let beats = best.is_none_or(|(least, row)| {
                let nearness = distance.total_cmp(&least);
                nearness.is_lt() || (nearness.is_eq() && rank.0.0 < row.rank.0.0)
            });
            if beats {
                best = Some((distance, Candidate { time: own, rank }));
            }
        }
        best.map(|(_, row)| row)
    }

    fn closest_to(&self, time: Ordered) -> Option<Candidate> {
        let first_from = |time| self.timed.range((time, LOWEST)..).next().copied();
        let first_after = |time| {
            let bounds = (Excluded((time, HIGHEST)), Unbounded);
            self.timed.range(bounds).next().copied()
        };
        let first_of_last_before = |time| {
            let (before, _) = *self.timed.range(..(time, LOWEST)).next_back()?;
            first_from(before)
        };
        let later = successors(first_from(time), |(own, _)| first_after(*own));
        let earlier = successors(first_of_last_before(time), |(own, _)| {
            first_of_last_before(*own)
        });
        let untimed = self
            .untimed
            .first()
            .map(|rank| (Ordered(UNKNOWN_DISTANCE), *rank, None));
        let (_, rank, time) = [
            best_of_nearest(time, later),
            best_of_nearest(time, earlier),
            untimed,
        ]
        .into_iter()
        .flatten()
        .min_by_key(|(distance, rank, _)| (*distance, *rank))?;
        Some(Candidate { time, rank })
    }
}

/// Returns the best ranked among the rows that come first, as far as their distance is the same.
///
/// Times that differ can still be equally far, for distances are rounded.
fn best_of_nearest(
    time: Ordered,
    rows: impl Iterator<Item = (Ordered, Rank)>,
) -> Option<(Ordered, Rank, Option<Ordered>)> {
    let mut rows = rows
        .map(|(own, rank)| (Ordered((own.0 - time.0).abs()), rank, Some(own)))
        .peekable();
    let (nearest, ..) = *rows.peek()?;
    rows.take_while(|(distance, ..)| *distance == nearest)
        .min_by_key(|(_, rank, _)| *rank)
}

/// Returns a time that can be measured from.
fn known_time(timestamp_ms: Option<f64>) -> Option<Ordered> {
    timestamp_ms
        .filter(|timestamp| timestamp.is_finite())
        .map(Ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(rows: &[(Option<f64>, f64)]) -> Candidates {
        let mut candidates = Candidates::default();
        for (index, (time, sequence_key)) in rows.iter().enumerate() {
            candidates.insert(Candidate {
                time: known_time(*time),
                rank: (Ordered(*sequence_key), index),
            });
        }
        candidates
    }

    #[test]
    fn the_closest_in_time_is_taken() {
        let apart = [(Some(1.0), 1.0), (Some(9.0), 2.0)];
        let cases = [
            ("later", apart, Some(8.0), 1),
            ("earlier", apart, Some(3.0), 0),
            ("itself", apart, Some(9.0), 1),
            (
                "time beats none",
                [(None, 0.0), (Some(1.0), 1.0)],
                Some(500.0),
                1,
            ),
            (
                "none beats too far",
                [(Some(1e16), 0.0), (None, 1.0)],
                Some(1.0),
                1,
            ),
        ];
        for (name, rows, time, expected) in cases {
            assert_eq!(
                candidates(&rows).take_closest(time),
                Some(expected),
                "{name}"
            );
        }
    }

    #[test]
    fn ties_go_to_the_lower_sequence_then_to_the_earlier_row() {
        let cases = [
            (
                "sequence",
                [(Some(1.0), 2.0), (Some(9.0), 1.0)],
                Some(5.0),
                1,
            ),
            (
                "position",
                [(Some(9.0), 1.0), (Some(1.0), 1.0)],
                Some(5.0),
                0,
            ),
            (
                "same time",
                [(Some(1.0), 3.0), (Some(1.0), -2.0)],
                Some(5.0),
                1,
            ),
            (
                "signs of zero",
                [(Some(-0.0), 1.0), (Some(0.0), 0.0)],
                Some(5.0),
                1,
            ),
            (
                "rounded distance",
                [(Some(1.0), 2.0), (Some(3.0), 0.0)],
                Some(-1e300),
                1,
            ),
            (
                "rounded from above",
                [(Some(3.0), 2.0), (Some(1.0), 0.0)],
                Some(1e300),
                1,
            ),
            (
                "no time, by sequence",
                [(Some(1.0), 3.0), (None, 2.0)],
                None,
                1,
            ),
            (
                "no time, by position",
                [(None, 2.0), (Some(1.0), 2.0)],
                None,
                0,
            ),
            (
                "endless time",
                [(Some(1.0), 3.0), (None, 2.0)],
                Some(f64::INFINITY),
                1,
            ),
        ];
        for (name, rows, time, expected) in cases {
            assert_eq!(
                candidates(&rows).take_closest(time),
                Some(expected),
                "{name}"
            );
        }
    }

    #[test]
    fn a_row_without_a_number_neither_beats_nor_is_beaten() {
        let nan = f64::NAN;
        let cases = [
            ("first", vec![(None, nan), (None, 1.0)], 0),
            ("later", vec![(None, 2.0), (None, nan), (None, 1.0)], 2),
            ("closer", vec![(Some(1.0), 0.0), (Some(4.0), nan)], 1),
            ("all", vec![(None, nan), (None, nan)], 0),
        ];
        for (name, rows, expected) in cases {
            let taken = candidates(&rows).take_closest(Some(5.0));
            assert_eq!(taken, Some(expected), "{name}");
        }
    }

    #[test]
    fn each_row_is_taken_once() {
        let mut rows = candidates(&[(Some(1.0), 0.0), (None, 1.0), (Some(2.0), 2.0)]);
        let taken: Vec<_> = (0..4).map(|_| rows.take_closest(Some(2.0))).collect();
        assert_eq!(taken, [Some(2), Some(0), Some(1), None]);
        assert_eq!(rows.len(), 0);
    }
}
