//! Amounts of money as whole numbers.

use std::iter::Sum;
use std::ops::Add;

/// Millionths of a millionth of a US dollar: every price of the table is a whole number of them, so sums
/// are the same in whatever order they are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Picodollars(pub i128);

/// How many of them are a dollar.
const DOLLAR: f64 = 1e12;

impl Picodollars {
    /// Reads a price; none that is negative, no number or above a thousand dollars is one.
    #[must_use]
    pub fn of_price(dollars: f64) -> Option<Self> {
        let is_sound = dollars.is_finite() && (0.0..=1000.0).contains(&dollars);
        #[expect(clippy::cast_possible_truncation, reason = "at most 10^15")]
        is_sound.then(|| Self((dollars * DOLLAR).round() as i128))
    }

    /// Returns what so many tokens cost at this price.
    #[must_use]
    pub fn times(self, tokens: i64) -> Self {
        Self(self.0.saturating_mul(tokens.into()))
    }

    /// Returns the amount in dollars.
    #[must_use]
    pub fn dollars(self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "15 digits are enough to be shown"
        )]
        let amount = self.0 as f64;
        amount / DOLLAR
    }
}

impl Add for Picodollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Picodollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_a_whole_number_and_nonsense_is_none() {
        assert_eq!(Picodollars::of_price(2.5e-7), Some(Picodollars(250_000)));
        assert_eq!(Picodollars::of_price(1e-8), Some(Picodollars(10_000)));
        assert_eq!(Picodollars::of_price(0.0), Some(Picodollars(0)));
        for nonsense in [-1e-9, f64::NAN, f64::INFINITY, 1001.0] {
            assert_eq!(Picodollars::of_price(nonsense), None);
        }
        let price = Picodollars::of_price(3e-6).unwrap_or_default();
        assert!((price.times(1_000_000).dollars() - 3.0).abs() < 1e-12);
    }
}
