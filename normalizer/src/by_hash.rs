//! What is known of things by the hashes of their names.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

use foldhash::quality::FixedState;

/// Up to so many things are looked through: most runs have a call or two, and a table for them would
/// cost more than to look at each.
const FEW: usize = 8;

/// The most things for which memory is kept when they are forgotten.
const KEPT: usize = 1024;

/// Returns the hash of a name, the same in every run of the program: normalizing has no randomness.
pub(crate) fn hash_of(name: &(impl Hash + ?Sized)) -> u64 {
    FixedState::default().hash_one(name)
}

/// Passes on a number that is a hash already.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What is known of things by the hashes of their names.
#[derive(Debug)]
pub(crate) struct ByHash<T> {
    /// The first ones.
    few: Vec<(u64, T)>,
    /// Those that came when there were a few already. Boxed, because a run has several of these that
    /// never hold more than a few, and all of them are written when it begins.
    more: Option<Box<Table<T>>>,
}

type Table<T> = HashMap<u64, T, BuildHasherDefault<Hashed>>;

impl<T> Default for ByHash<T> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            more: None,
        }
    }
}

impl<T> ByHash<T> {
    fn place(&self, hash: u64) -> Option<usize> {
        self.few.iter().position(|(known, _)| *known == hash)
    }

    fn has_more(&self) -> bool {
        self.more.as_ref().is_some_and(|more| !more.is_empty())
    }

    /// Tells whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && !self.has_more()
    }

    /// Tells whether something is known.
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.get(hash).is_some()
    }

    /// Returns what is known.
    pub(crate) fn get(&self, hash: u64) -> Option<&T> {
        match self.few.iter().find(|(known, _)| *known == hash) {
            Some((_, value)) => Some(value),
            None => self.more.as_ref()?.get(&hash),
        }
    }

    /// Returns what is known, to be changed.
    pub(crate) fn get_mut(&mut self, hash: u64) -> Option<&mut T> {
        match self.few.iter_mut().find(|(known, _)| *known == hash) {
            Some((_, value)) => Some(value),
            None => self.more.as_mut()?.get_mut(&hash),
        }
    }

    /// Learns something, in the place of what was known. Tells whether nothing was.
    pub(crate) fn insert(&mut self, hash: u64, value: T) -> bool {
        if let Some((_, known)) = self.few.iter_mut().find(|(known, _)| *known == hash) {
            *known = value;
            return false;
        }
        if !self.has_more() && self.few.len() < FEW {
            self.few.push((hash, value));
            return true;
        }
        let more = self.more.get_or_insert_default();
        more.insert(hash, value).is_none()
    }

    /// Returns what is known, and forgets it.
    pub(crate) fn remove(&mut self, hash: u64) -> Option<T> {
        match self.place(hash) {
            Some(place) => Some(self.few.swap_remove(place).1),
            None => self.more.as_mut()?.remove(&hash),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        // Clearing takes as long as there is room, so that one large step would slow down all others.
        match &mut self.more {
            Some(more) if more.capacity() <= KEPT => more.clear(),
            more => *more = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn few_or_many_it_is_a_map(actions in proptest::collection::vec((0..4, 0..24_u64, 0..9), 0..200)) {
            let (mut map, mut expected) = (ByHash::default(), HashMap::new());
            for (action, hash, value) in actions {
                match action {
                    0 | 1 => {
                        let is_new = expected.insert(hash, value).is_none();
                        prop_assert_eq!(map.insert(hash, value), is_new);
                    }
                    2 => prop_assert_eq!(map.remove(hash), expected.remove(&hash)),
                    _ if hash == 0 => {
                        map.clear();
                        expected.clear();
                    }
                    _ => {
                        let known = map.get_mut(hash).map(|value| std::mem::replace(value, 9));
                        prop_assert_eq!(known, expected.get_mut(&hash).map(|value| std::mem::replace(value, 9)));
                    }
                }
                prop_assert_eq!(map.is_empty(), expected.is_empty());
                prop_assert_eq!(map.get(hash), expected.get(&hash));
                prop_assert_eq!(map.contains(hash), expected.contains_key(&hash));
            }
        }
    }
}
