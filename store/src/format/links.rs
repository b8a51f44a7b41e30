//! How the entries of a chain of seals follow each other.
//!
//! In a whole database each entry follows the one before. A bundle has only those that are about
//! its runs; where the one before is left out, its hash is kept. So the hash of each entry can be
//! computed, and compared with one that was kept elsewhere.

use std::collections::BTreeMap;

use super::chain::Hash;
use super::seals::{BEFORE_ALL, SealEntry, SealName};

/// Follows the chain from entry to entry.
#[derive(Debug)]
pub(crate) struct Links {
    /// The hashes that stand for entries that were left out, by the number of the next one.
    left_out: BTreeMap<u64, Hash>,
    is_bundle: bool,
    /// The entry that was passed last.
    last: (u64, Hash),
}

/// What comes before an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// This hash.
    Hash(Hash),
    /// Nothing that is known: an entry is missing, the one with this number.
    Missing(u64),
    /// Two hashes, of which one is wrong.
    Torn,
}

impl Links {
    /// Begins before the first entry; `left_out` are the hashes that stand for entries that are not
    /// there, by the entry that comes after.
    pub(crate) fn new(left_out: impl IntoIterator<Item = (SealName, Hash)>) -> Self {
        let left_out: BTreeMap<u64, Hash> = left_out
            .into_iter()
            .map(|(name, hash)| (name.number, hash))
            .collect();
        Self {
            is_bundle: !left_out.is_empty(),
            left_out,
            last: (0, BEFORE_ALL),
        }
    }

    /// Tells whether entries were left out, which only a bundle does.
    pub(crate) fn is_bundle(&self) -> bool {
        self.is_bundle
    }

    /// Returns the hash before an entry, which must come after those that were passed.
    pub(crate) fn before(&mut self, number: u64) -> Before {
        let (last, hash) = self.last;
        let is_next = last.checked_add(1) == Some(number);
        match self.left_out.remove(&number) {
            // One that is here needs no stand-in, unless it says the same.
            Some(stand_in) if is_next && stand_in != hash => Before::Torn,
            Some(stand_in) => Before::Hash(stand_in),
            None if is_next => Before::Hash(hash),
            None => Before::Missing(last.saturating_add(1)),
        }
    }

    /// Takes note of an entry that is as it should be.
    pub(crate) fn pass(&mut self, entry: &SealEntry) {
        self.last = (entry.name.number, entry.hash);
    }

    /// Returns the number after the entry that was passed last.
    pub(crate) fn end(&self) -> u64 {
        self.last.0.saturating_add(1)
    }

    /// Returns the first entry from which on nothing is left out up to an entry.
    pub(crate) fn covered_from(&self, last: u64) -> u64 {
        let gap = self.left_out.range(..=last).next_back();
        gap.map_or(0, |(number, _)| *number)
    }

    /// Returns the number of an entry that should be here, since what came before it is.
    pub(crate) fn unused(&self) -> Option<u64> {
        self.left_out.keys().next().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(left_out: &[(u64, u8)]) -> Links {
        Links {
            left_out: left_out.iter().map(|(n, byte)| (*n, [*byte; 32])).collect(),
            is_bundle: !left_out.is_empty(),
            last: (0, BEFORE_ALL),
        }
    }

    fn entry(number: u64, byte: u8) -> SealEntry {
        SealEntry {
            name: SealName::in_first_chain(number),
            at: 0,
            digest: [0; 32],
            hash: [byte; 32],
            run_id: None,
            removes: None,
            reason: None,
        }
    }

    #[test]
    fn an_entry_follows_another_or_what_stands_for_it() {
        let mut whole = links(&[]);
        assert_eq!(whole.before(1), Before::Hash(BEFORE_ALL));
        whole.pass(&entry(1, 1));
        assert_eq!(whole.before(2), Before::Hash([1; 32]));
        assert_eq!(whole.before(3), Before::Missing(2));
        assert_eq!(whole.before(1), Before::Missing(2));

        let mut bundle = links(&[(5, 4), (9, 8), (10, 9)]);
        assert_eq!(bundle.before(4), Before::Missing(1));
        assert_eq!(bundle.before(5), Before::Hash([4; 32]));
        bundle.pass(&entry(5, 5));
        assert_eq!(bundle.before(6), Before::Hash([5; 32]));
        assert_eq!(bundle.before(9), Before::Hash([8; 32]));
        bundle.pass(&entry(9, 99));
        assert_eq!(bundle.unused(), Some(10));
        assert_eq!(bundle.before(10), Before::Torn);
        assert_eq!(bundle.unused(), None);

        let mut forged = links(&[(1, 7)]);
        assert_eq!(forged.before(1), Before::Torn);
    }
}
