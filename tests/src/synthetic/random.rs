//! Random numbers that are the same for the same seed.

/// A small generator (`SplitMix64`): fast, well mixed, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator; the same seed gives the same numbers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, or 0 where there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of the product is spread evenly enough, and costs no division.
        let product = u128::from(self.number()) * (bound as u128);
        usize::try_from(product >> 64).unwrap_or_default()
    }

    /// Returns one of a string's bytes as a character.
    pub fn pick(&mut self, of: &str) -> char {
        let at = self.below(of.len());
        of.as_bytes().get(at).copied().map_or('0', char::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut one, mut other) = (Random::new(1), Random::new(1));
        assert!((0..100).all(|_| one.number() == other.number()));
        assert_ne!(Random::new(1).number(), Random::new(2).number());
        assert_eq!(one.below(0), 0);
        assert!((0..1000).all(|_| one.below(7) < 7));
    }
}
