//! How much is looked for.

use std::fmt;
use std::str::FromStr;

/// How much is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Nothing: bytes pass as they are.
    Off,
    /// What shows by itself to be a secret.
    #[default]
    Definite,
    /// Also what is only called a secret: `name = value`.
    Broad,
}

impl Tier {
    /// Every tier, from the least to the most.
    pub const ALL: [Self; 3] = [Self::Off, Self::Definite, Self::Broad];

    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Definite => "definite",
            Self::Broad => "broad",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The text is no tier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no tier of redaction: it is off, definite or broad")]
pub struct NoTier(String);

impl FromStr for Tier {
    type Err = NoTier;

    fn from_str(text: &str) -> Result<Self, NoTier> {
        Self::ALL
            .into_iter()
            .find(|tier| tier.as_str() == text)
            .ok_or_else(|| NoTier(text.to_owned()))
    }
}
