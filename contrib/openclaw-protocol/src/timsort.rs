//! The sort that JavaScript engines use, step by step.
//!
//! The protocol orders entries by a comparison that is not transitive once some timestamps are
//! missing. What comes out then depends on which pairs are compared, so agreeing with JavaScript
//! peers takes the same algorithm: V8's `TimSort`. It also has to be our own because the standard
//! library may panic on such a comparison, while nothing below depends on its consistency.

/// How many elements in a row one run must win before galloping pays.
const MIN_GALLOP: usize = 7;

/// From this length on, runs are merged rather than inserted into.
const MERGE_THRESHOLD: usize = 64;

/// Sorts stably by `precedes`, which may contradict itself.
pub(crate) fn sort<T: Copy>(items: &[T], precedes: impl Fn(T, T) -> bool) -> Vec<T> {
    let mut sorter = Sorter {
        precedes,
        min_gallop: MIN_GALLOP,
        runs: Vec::new(),
    };
    let minimum = minimum_run(items.len());
    let mut rest = items;
    while !rest.is_empty() {
        let run = sorter.next_run(rest, minimum);
        rest = rest.get(run.len()..).unwrap_or_default();
        sorter.runs.push(run);
        sorter.collapse();
    }
    sorter.finish()
}

/// Returns how long runs are made, so that their number is a power of two or just below.
fn minimum_run(mut length: usize) -> usize {
    let mut remainder = 0;
    while length >= MERGE_THRESHOLD {
        remainder |= length & 1;
        length >>= 1;
    }
    length + remainder
}

/// Returns the first index in `low..high` that does not precede, halving from the middle.
fn bisect(mut low: usize, mut high: usize, precedes: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if precedes(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the first index below `length` that does not precede, stepping out from `hint`.
fn gallop(length: usize, hint: usize, precedes: impl Fn(usize) -> bool) -> usize {
    let mut last = 0;
    let mut offset = 1;
    if precedes(hint) {
        let limit = length - hint;
        while offset < limit && precedes(hint + offset) {
            last = offset;
            offset = offset * 2 + 1;
        }
        bisect(hint + last + 1, hint + offset.min(limit), precedes)
    } else {
        let limit = hint + 1;
        while offset < limit && !precedes(hint - offset) {
            last = offset;
            offset = offset * 2 + 1;
        }
        bisect(limit - offset.min(limit), hint - last, precedes)
    }
}

/// Moves the first `count` items of `run` behind `merged`.
fn move_front<T: Copy>(run: &mut &[T], count: usize, merged: &mut Vec<T>) {
    let (moved, rest) = run.split_at_checked(count).unwrap_or((run, &[]));
    merged.extend_from_slice(moved);
    *run = rest;
}

/// Moves the last `count` items of `run` behind `merged`, last first.
fn move_back<T: Copy>(run: &mut &[T], count: usize, merged: &mut Vec<T>) {
    let kept = run.len().saturating_sub(count);
    let (rest, moved) = run.split_at_checked(kept).unwrap_or((&[], run));
    merged.extend(moved.iter().rev());
    *run = rest;
}

struct Sorter<T, P> {
    precedes: P,
    /// Adapts to the data: the more galloping pays, the sooner it starts.
    min_gallop: usize,
    /// Sorted stretches of the input, in its order, not yet merged.
    runs: Vec<Vec<T>>,
}

impl<T: Copy, P: Fn(T, T) -> bool> Sorter<T, P> {
    /// Takes the ascending or descending run at the start, made up to `minimum` by insertion.
    fn next_run(&self, rest: &[T], minimum: usize) -> Vec<T> {
        let mut steps = rest
            .iter()
            .zip(rest.iter().skip(1))
            .map(|(former, latter)| (self.precedes)(*latter, *former))
            .peekable();
        let descends = steps.peek().copied().unwrap_or_default();
        let natural = 1 + steps.take_while(|step| *step == descends).count();
        let mut run: Vec<_> = rest.iter().take(natural).copied().collect();
        if descends {
            run.reverse();
        }
        for pivot in rest.iter().take(minimum).skip(natural) {
            let position = bisect(0, run.len(), |index| self.stays_before(&run, index, *pivot));
            run.insert(position, *pivot);
        }
        run
    }

    /// Merges until run lengths shrink fast enough again.
    fn collapse(&mut self) {
        while let Some(last) = self.runs.len().checked_sub(2) {
            let settled = self.is_settled(last + 1) && self.is_settled(last);
            if !settled && last > 0 && self.length(last - 1) < self.length(last + 1) {
                self.merge_at(last - 1);
            } else if !settled || self.length(last) <= self.length(last + 1) {
                self.merge_at(last);
            } else {
                break;
            }
        }
    }

    /// Returns whether a run and the one before are together shorter than the one before that.
    fn is_settled(&self, index: usize) -> bool {
        index < 2 || self.length(index - 2) > self.length(index - 1) + self.length(index)
    }

    fn length(&self, index: usize) -> usize {
        self.runs.get(index).map_or(0, Vec::len)
    }

    /// Merges all that is left into one.
    fn finish(mut self) -> Vec<T> {
        while let Some(last) = self.runs.len().checked_sub(2) {
            if last > 0 && self.length(last - 1) < self.length(last + 1) {
                self.merge_at(last - 1);
            } else {
                self.merge_at(last);
            }
        }
        self.runs.pop().unwrap_or_default()
    }

    /// Merges a run with the next.
    fn merge_at(&mut self, index: usize) {
        let second = self.runs.remove(index + 1);
        let first = self.runs.remove(index);
        let merged = self.merge(&first, &second);
        self.runs.insert(index, merged);
    }

    fn merge(&mut self, first: &[T], second: &[T]) -> Vec<T> {
        let mut merged = Vec::with_capacity(first.len() + second.len());
        let (Some(key), Some(last)) = (second.first(), first.last()) else {
            return [first, second].concat();
        };
        // What is in its place already at either end need not take part.
        let head = self.gallop_right(*key, first, 0);
        let (head, first) = first.split_at_checked(head).unwrap_or((first, &[]));
        merged.extend_from_slice(head);
        if first.is_empty() {
            merged.extend_from_slice(second);
            return merged;
        }
        let tail = self.gallop_left(*last, second, second.len() - 1);
        let (second, tail) = second.split_at_checked(tail).unwrap_or((second, &[]));
        if second.is_empty() {
            merged.extend_from_slice(first);
        } else if first.len() <= second.len() {
            self.merge_low(first, second, &mut merged);
        } else {
            self.merge_high(first, second, &mut merged);
        }
        merged.extend_from_slice(tail);
        merged
    }

    /// Merges from the left.
    fn merge_low(&mut self, mut first: &[T], mut second: &[T], merged: &mut Vec<T>) {
        move_front(&mut second, 1, merged);
        'merge: while !second.is_empty() && first.len() > 1 {
            let (mut first_wins, mut second_wins) = (0, 0);
            while first_wins < self.min_gallop && second_wins < self.min_gallop {
                let (Some(left), Some(right)) = (first.first(), second.first()) else {
                    break 'merge;
                };
                if (self.precedes)(*right, *left) {
                    move_front(&mut second, 1, merged);
                    (first_wins, second_wins) = (0, second_wins + 1);
                    if second.is_empty() {
                        break 'merge;
                    }
                } else {
                    move_front(&mut first, 1, merged);
                    (first_wins, second_wins) = (first_wins + 1, 0);
                    if first.len() == 1 {
                        break 'merge;
                    }
                }
            }
            self.min_gallop += 1;
            loop {
                self.min_gallop = (self.min_gallop - 1).max(1);
                let Some(right) = second.first() else {
                    break 'merge;
                };
                first_wins = self.gallop_right(*right, first, 0);
                move_front(&mut first, first_wins, merged);
                if first.len() <= 1 {
                    break 'merge;
                }
                move_front(&mut second, 1, merged);
                let (Some(left), false) = (first.first(), second.is_empty()) else {
                    break 'merge;
                };
                second_wins = self.gallop_left(*left, second, 0);
                move_front(&mut second, second_wins, merged);
                if second.is_empty() {
                    break 'merge;
                }
                move_front(&mut first, 1, merged);
                if first.len() == 1 {
                    break 'merge;
                }
                if first_wins < MIN_GALLOP && second_wins < MIN_GALLOP {
                    break;
                }
            }
            self.min_gallop += 1;
        }
        // Only the greatest of the first run may be left beside anything of the second.
        merged.extend_from_slice(second);
        merged.extend_from_slice(first);
    }

    /// Merges from the right.
    fn merge_high(&mut self, mut first: &[T], mut second: &[T], merged: &mut Vec<T>) {
        let mut reversed = Vec::with_capacity(first.len() + second.len());
        move_back(&mut first, 1, &mut reversed);
        'merge: while !first.is_empty() && second.len() > 1 {
            let (mut first_wins, mut second_wins) = (0, 0);
            while first_wins < self.min_gallop && second_wins < self.min_gallop {
                let (Some(left), Some(right)) = (first.last(), second.last()) else {
                    break 'merge;
                };
                if (self.precedes)(*right, *left) {
                    move_back(&mut first, 1, &mut reversed);
                    (first_wins, second_wins) = (first_wins + 1, 0);
                    if first.is_empty() {
                        break 'merge;
                    }
                } else {
                    move_back(&mut second, 1, &mut reversed);
                    (first_wins, second_wins) = (0, second_wins + 1);
                    if second.len() == 1 {
                        break 'merge;
                    }
                }
            }
            self.min_gallop += 1;
            loop {
                self.min_gallop = (self.min_gallop - 1).max(1);
                let Some(right) = second.last() else {
                    break 'merge;
                };
                first_wins = first.len() - self.gallop_right(*right, first, first.len() - 1);
                move_back(&mut first, first_wins, &mut reversed);
                if first.is_empty() {
                    break 'merge;
                }
                move_back(&mut second, 1, &mut reversed);
                let (Some(left), true) = (first.last(), second.len() > 1) else {
                    break 'merge;
                };
                second_wins = second.len() - self.gallop_left(*left, second, second.len() - 1);
                move_back(&mut second, second_wins, &mut reversed);
                if second.len() <= 1 {
                    break 'merge;
                }
                move_back(&mut first, 1, &mut reversed);
                if first.is_empty() {
                    break 'merge;
                }
                if first_wins < MIN_GALLOP && second_wins < MIN_GALLOP {
                    break;
                }
            }
            self.min_gallop += 1;
        }
        // Only the least of the second run may be left beside anything of the first.
        merged.extend_from_slice(second);
        merged.extend_from_slice(first);
        merged.extend(reversed.iter().rev());
    }

    /// Returns how many of `run` go before `key` if `key` goes before its equals.
    fn gallop_left(&self, key: T, run: &[T], hint: usize) -> usize {
        gallop(run.len(), hint, |index| {
            run.get(index)
                .is_some_and(|item| (self.precedes)(*item, key))
        })
    }

    /// Returns how many of `run` go before `key` if `key` goes behind its equals.
    fn gallop_right(&self, key: T, run: &[T], hint: usize) -> usize {
        gallop(run.len(), hint, |index| self.stays_before(run, index, key))
    }

    fn stays_before(&self, run: &[T], index: usize, key: T) -> bool {
        run.get(index)
            .is_some_and(|item| !(self.precedes)(key, *item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_keep_their_places() {
        let items: Vec<_> = (0..1000_u32)
            .map(|index| (index * 7919 % 10, index))
            .collect();
        let mut expected = items.clone();
        expected.sort_by_key(|(key, _)| *key);
        assert_eq!(sort(&items, |left, right| left.0 < right.0), expected);
    }

    #[test]
    fn runs_that_interlock_in_blocks_are_galloped_through() {
        let blocks = |offset: u32| {
            (0..40).flat_map(move |block| block * 200 + offset..block * 200 + offset + 90)
        };
        let items: Vec<_> = blocks(0).chain(blocks(100)).chain(blocks(50)).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        assert_eq!(sort(&items, |left, right| left < right), expected);
    }

    #[test]
    fn a_comparison_that_contradicts_itself_loses_nothing() {
        type Comparison = fn(u32, u32) -> bool;
        let comparisons: [(&str, Comparison); 4] = [
            ("always", |_, _| true),
            ("never", |_, _| false),
            ("in a circle", |left, right| {
                (right + 300 - left) % 300 < 150
            }),
            ("at random", |left, right| {
                left.wrapping_mul(2_654_435_761)
                    .wrapping_add(right.wrapping_mul(40_503))
                    & 64
                    > 0
            }),
        ];
        for (name, precedes) in comparisons {
            for length in [0, 1, 2, 63, 64, 65, 300, 4096] {
                let items: Vec<_> = (0..length).collect();
                let mut sorted = sort(&items, precedes);
                sorted.sort_unstable();
                assert_eq!(sorted, items, "{name} {length}");
            }
        }
    }
}
