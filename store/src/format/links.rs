//! How the entries of the chains of seals follow each other.
//!
//! In a whole database each entry follows the one before in its chain. A bundle has only those that
//! are about its runs; where the one before is left out, its hash is kept. So the hash of each entry
//! can be computed, and compared with one that was kept elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::report::SealName;

use super::chain::Hash;
use super::seals::{BEFORE_ALL, SealEntry};

/// Follows the chains from entry to entry.
#[derive(Debug)]
pub(crate) struct Links {
    /// The hashes that stand for entries that were left out, by the name of the next one.
    left_out: BTreeMap<SealName, Hash>,
    is_bundle: bool,
    /// The entry of each chain that was passed last: its number and hash.
    ends: BTreeMap<u32, (u64, Hash)>,
    /// Chains in which an entry is wrong, so that nothing after it can be verified.
    broken: BTreeSet<u32>,
}

/// What comes before an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HashBefore {
    /// This hash.
    Hash(Hash),
    /// Nothing that is known: an entry is missing, the one with this name.
    Missing(SealName),
    /// Two hashes, of which one is wrong.
    Torn,
}

impl Links {
    /// Begins before the first entry of each chain; `left_out` are the hashes that stand for entries
    /// that are not there, by the entry that comes after.
    pub(crate) fn new(left_out: impl IntoIterator<Item = (SealName, Hash)>) -> Self {
        let left_out: BTreeMap<SealName, Hash> = left_out.into_iter().collect();
        Self {
            is_bundle: !left_out.is_empty(),
            left_out,
            ends: BTreeMap::new(),
            broken: BTreeSet::new(),
        }
    }

    /// Tells whether entries were left out, which only a bundle does.
    pub(crate) fn is_bundle(&self) -> bool {
        self.is_bundle
    }

    /// Returns the hash before an entry, which must come after those of its chain that were passed.
    pub(crate) fn before(&mut self, entry: SealName) -> HashBefore {
        let (last, hash) = self.last(entry.chain);
        let next = last.saturating_add(1);
        let is_next = last < next && next == entry.number;
        match self.left_out.remove(&entry) {
            // One that is here needs no stand-in, unless it says the same.
            Some(stand_in) if is_next && stand_in != hash => HashBefore::Torn,
            Some(stand_in) => HashBefore::Hash(stand_in),
            None if is_next => HashBefore::Hash(hash),
            None => HashBefore::Missing(SealName {
                number: next,
                ..entry
            }),
        }
    }

    /// Takes note of an entry that is as it should be.
    pub(crate) fn pass(&mut self, entry: &SealEntry) {
        let end = (entry.name.number, entry.hash);
        self.ends.insert(entry.name.chain, end);
    }

    /// Takes note that a chain cannot be followed any further.
    pub(crate) fn give_up(&mut self, chain: u32) {
        self.broken.insert(chain);
    }

    /// Tells whether a chain could not be followed to its end.
    pub(crate) fn is_broken(&self, chain: u32) -> bool {
        self.broken.contains(&chain)
    }

    /// Tells whether an entry is not after the end of its chain.
    pub(crate) fn is_passed(&self, entry: SealName) -> bool {
        entry.number <= self.last(entry.chain).0
    }

    /// Tells whether there are entries in another chain than this one.
    pub(crate) fn has_others_than(&self, chain: u32) -> bool {
        let mut chains = self.ends.keys().chain(&self.broken);
        chains.any(|other| *other != chain)
    }

    /// Returns the first entry from which on nothing is left out up to an entry.
    pub(crate) fn covered_from(&self, last: SealName) -> SealName {
        let first = SealName { number: 0, ..last };
        let gap = self.left_out.range(first..=last).next_back();
        gap.map_or(first, |(name, _)| *name)
    }

    /// Returns the first entry of each chain that should be here, since what came before it is.
    pub(crate) fn unused(&self) -> Vec<SealName> {
        let mut found: Vec<SealName> = Vec::new();
        for name in self.left_out.keys() {
            let is_first = found.last().is_none_or(|last| last.chain != name.chain);
            if is_first && !self.is_broken(name.chain) {
                found.push(*name);
            }
        }
        found
    }

    fn last(&self, chain: u32) -> (u64, Hash) {
        self.ends.get(&chain).copied().unwrap_or((0, BEFORE_ALL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(chain: u32, number: u64) -> SealName {
        SealName { chain, number }
    }

    /// Makes links in which the entries before these, by chain and number, are left out.
    fn links(left_out: &[(u32, u64, u8)]) -> Links {
        let left_out = left_out.iter();
        Links::new(left_out.map(|(chain, number, byte)| (name(*chain, *number), [*byte; 32])))
    }

    fn entry(chain: u32, number: u64, byte: u8) -> SealEntry {
        SealEntry {
            name: name(chain, number),
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
        for chain in [0, 7] {
            let at = |number| name(chain, number);
            let mut whole = links(&[]);
            assert_eq!(whole.before(at(1)), HashBefore::Hash(BEFORE_ALL));
            whole.pass(&entry(chain, 1, 1));
            assert_eq!(whole.before(at(2)), HashBefore::Hash([1; 32]));
            assert_eq!(whole.before(at(3)), HashBefore::Missing(at(2)));
            assert_eq!(whole.before(at(1)), HashBefore::Missing(at(2)));

            let mut bundle = links(&[(chain, 5, 4), (chain, 9, 8), (chain, 10, 9)]);
            assert_eq!(bundle.before(at(4)), HashBefore::Missing(at(1)));
            assert_eq!(bundle.before(at(5)), HashBefore::Hash([4; 32]));
            bundle.pass(&entry(chain, 5, 5));
            assert_eq!(bundle.before(at(6)), HashBefore::Hash([5; 32]));
            assert_eq!(bundle.before(at(9)), HashBefore::Hash([8; 32]));
            bundle.pass(&entry(chain, 9, 99));
            assert_eq!(bundle.unused(), [at(10)]);
            assert_eq!(bundle.before(at(10)), HashBefore::Torn);
            assert_eq!(bundle.unused(), []);

            let mut forged = links(&[(chain, 1, 7)]);
            assert_eq!(forged.before(at(1)), HashBefore::Torn);
        }
    }

    #[test]
    fn each_chain_has_a_beginning_and_an_end_of_its_own() {
        let mut links = links(&[]);
        for (chain, numbers) in [(0, 1..=3), (5, 1..=2)] {
            for number in numbers {
                assert!(matches!(
                    links.before(name(chain, number)),
                    HashBefore::Hash(_)
                ));
                links.pass(&entry(chain, number, 1));
            }
        }
        assert!(links.is_passed(name(0, 3)) && !links.is_passed(name(0, 4)));
        assert!(links.is_passed(name(5, 2)) && !links.is_passed(name(5, 3)));
        assert!(!links.is_passed(name(6, 1)));
        assert!(links.has_others_than(0) && links.has_others_than(5));
        assert_eq!(
            links.before(name(6, 2)),
            HashBefore::Missing(name(6, 1)),
            "the end of one chain is no beginning of another"
        );
    }

    #[test]
    fn what_a_chain_lacks_is_named_unless_it_is_given_up() {
        let gaps = [(0, 4, 1), (0, 9, 1), (2, 3, 1), (3, 8, 1)];
        let mut links = links(&gaps);
        assert_eq!(links.unused(), [name(0, 4), name(2, 3), name(3, 8)]);
        links.give_up(2);
        assert_eq!(links.unused(), [name(0, 4), name(3, 8)]);
        assert!(links.is_broken(2) && !links.is_broken(0));
    }

    #[test]
    fn a_seal_covers_its_own_chain_back_to_the_last_gap() {
        let links = links(&[(0, 4, 1), (2, 3, 1), (2, 8, 1)]);
        let from = |chain, number| links.covered_from(name(chain, number));
        assert_eq!(from(0, 9), name(0, 4));
        assert_eq!(from(1, 9), name(1, 0));
        assert_eq!(from(2, 7), name(2, 3));
        assert_eq!(from(2, 8), name(2, 8));
        assert_eq!(from(2, 2), name(2, 0));
    }
}
