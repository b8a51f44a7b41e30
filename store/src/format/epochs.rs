//! Epochs: one hash over the ends of several chains of seals.
//!
//! Where there is one chain, the hash of its last entry stands for all of it, and whoever keeps it elsewhere can prove
//! later that nothing before it was changed. A server has many chains, so that many may seal at once. An epoch is the
//! Merkle root over their ends, hashed together with the epoch before: the same in one hash.

use runtape_core::report::{SealHead, SealName};

use super::chain::{self, Hash};

/// The end of a chain: the number of its last entry, and that one's hash. A chain without entries has 0 and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainEnd {
    pub(crate) number: u64,
    pub(crate) hash: Hash,
}

/// One hash over all chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// Counted from 1.
    pub(crate) number: u64,
    pub(crate) at: i64,
    /// The hash of the epoch before.
    pub(crate) before: Hash,
    /// The ends of the chains, in the order of the chains.
    pub(crate) ends: Vec<ChainEnd>,
    pub(crate) hash: Hash,
}

/// The hash before the first epoch.
const BEFORE_ALL: Hash = [0; 32];

/// Length of an end as it is kept.
#[cfg(any(test, feature = "postgres"))]
const END: usize = 40;

impl Epoch {
    /// Makes the epoch after another one.
    #[cfg(any(test, feature = "postgres"))]
    pub(crate) fn after(last: Option<&Self>, ends: Vec<ChainEnd>, at: i64) -> Self {
        let mut epoch = Self {
            number: last.map_or(0, |last| last.number) + 1,
            at,
            before: last.map_or(BEFORE_ALL, |last| last.hash),
            ends,
            hash: BEFORE_ALL,
        };
        epoch.hash = epoch.expected_hash();
        epoch
    }

    /// Returns the hash that the epoch should have.
    pub(crate) fn expected_hash(&self) -> Hash {
        let pieces: [&[u8]; 4] = [
            &self.before,
            &self.number.to_le_bytes(),
            &self.at.to_le_bytes(),
            &root(&self.ends),
        ];
        chain::keyed("runtape epoch", &pieces)
    }

    /// Says what is wrong with an epoch that should come after another one, if anything is.
    pub(crate) fn fault_after(&self, last: Option<&Self>) -> Option<&'static str> {
        let before = last.map_or(BEFORE_ALL, |last| last.hash);
        if self.number != last.map_or(0, |last| last.number) + 1 {
            return Some("the one before it is missing");
        }
        if self.before != before || self.hash != self.expected_hash() {
            return Some("changed: its hash does not fit the one before");
        }
        let earlier = last.map_or(&[][..], |last| &last.ends);
        let goes_back = earlier.iter().zip(&self.ends);
        let goes_back = goes_back
            .into_iter()
            .any(|(then, now)| now.number < then.number);
        if goes_back || self.ends.len() < earlier.len() {
            return Some("a chain ends in it before it ended in the one before");
        }
        None
    }

    /// Tells an epoch as what it stands for: the end of all chains.
    pub(crate) fn head(&self) -> SealHead {
        SealHead {
            name: SealName::in_first_chain(self.number),
            hash: chain::hex(&self.hash),
            is_epoch: true,
        }
    }

    /// Writes the ends as they are kept.
    #[cfg(any(test, feature = "postgres"))]
    pub(crate) fn packed_ends(&self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(self.ends.len() * END);
        for end in &self.ends {
            packed.extend_from_slice(&end.number.to_le_bytes());
            packed.extend_from_slice(&end.hash);
        }
        packed
    }

    /// Reads ends as they are kept; what is left over belongs to none, and is not what was hashed.
    #[cfg(any(test, feature = "postgres"))]
    pub(crate) fn unpacked_ends(packed: &[u8]) -> Vec<ChainEnd> {
        let ends = packed.chunks(END).map(|end| {
            let (number, hash) = end.split_at(end.len().min(8));
            ChainEnd {
                number: number.try_into().map_or(u64::MAX, u64::from_le_bytes),
                // What was cut off is no hash of ours, and not that of a chain without entries.
                hash: hash.try_into().unwrap_or([0xff; 32]),
            }
        });
        ends.collect()
    }
}

/// Returns the Merkle root over the ends of chains. Leaves and nodes are hashed apart, so that neither can be taken for
/// the other; a last one without a neighbour goes up as it is.
fn root(ends: &[ChainEnd]) -> Hash {
    let leaves = (0_u32..).zip(ends).map(|(number, end)| {
        let pieces: [&[u8]; 3] = [&number.to_le_bytes(), &end.number.to_le_bytes(), &end.hash];
        chain::keyed("runtape epoch leaf", &pieces)
    });
    let mut level: Vec<Hash> = leaves.collect();
    while level.len() > 1 {
        let nodes = level.chunks(2).map(|pair| match pair {
            [left, right] => chain::keyed("runtape epoch node", &[left, right]),
            [alone] => *alone,
            _ => BEFORE_ALL,
        });
        level = nodes.collect();
    }
    level.first().copied().unwrap_or(BEFORE_ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(number: u64) -> ChainEnd {
        ChainEnd {
            number,
            hash: [u8::try_from(number % 251).unwrap(); 32],
        }
    }

    #[test]
    fn a_hash_covers_every_end_and_its_place() {
        let ends: Vec<ChainEnd> = (0..5).map(end).collect();
        let epoch = Epoch::after(None, ends.clone(), 7);
        assert_eq!(epoch.fault_after(None), None);
        assert_eq!(Epoch::unpacked_ends(&epoch.packed_ends()), ends);
        let mut hashes = vec![epoch.hash];
        for place in 0..ends.len() {
            let mut other = ends.clone();
            other[place].number += 1;
            hashes.push(Epoch::after(None, other.clone(), 7).hash);
            other[place] = ends[place];
            other[place].hash[31] ^= 1;
            hashes.push(Epoch::after(None, other, 7).hash);
        }
        let mut swapped = ends.clone();
        swapped.swap(1, 2);
        hashes.push(Epoch::after(None, swapped, 7).hash);
        hashes.push(Epoch::after(None, ends[..4].to_vec(), 7).hash);
        hashes.push(Epoch::after(None, ends.clone(), 8).hash);
        hashes.push(Epoch::after(Some(&epoch), ends, 7).hash);
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }

    #[test]
    fn an_epoch_follows_the_one_before_and_no_chain_goes_back() {
        let first = Epoch::after(None, vec![end(3), end(5)], 1);
        let second = Epoch::after(Some(&first), vec![end(4), end(5)], 2);
        assert_eq!(second.fault_after(Some(&first)), None);
        assert!(second.fault_after(None).is_some());
        assert!(first.fault_after(Some(&second)).is_some());
        let back = Epoch::after(Some(&second), vec![end(4), end(4)], 3);
        assert!(back.fault_after(Some(&second)).is_some());
        let mut changed = second.clone();
        changed.ends[1] = end(6);
        assert!(changed.fault_after(Some(&first)).is_some());
    }
}
