//! Seals by name: which entry of which chain covers a run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::iso::{self, Time};

/// Names an entry of a chain of seals. As text it is the number, with the chain before it where that
/// is not the first: `7`, `3.7`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SealName {
    /// The chain; not there for the first one, which is 0 and the only one of a database in a file.
    #[serde(default, skip_serializing_if = "is_first_chain")]
    pub chain: u32,
    /// Which entry of its chain it is, counted from 1.
    pub number: u64,
}

impl SealName {
    /// Names an entry of the only chain that a database in a file has.
    #[must_use]
    pub fn in_first_chain(number: u64) -> Self {
        Self { chain: 0, number }
    }

    /// Returns the name of the entry before.
    #[must_use]
    pub fn before(self) -> Option<Self> {
        let number = self.number.checked_sub(1).filter(|number| *number > 0)?;
        Some(Self { number, ..self })
    }
}

impl fmt::Display for SealName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.chain {
            0 => self.number.fmt(f),
            chain => write!(f, "{chain}.{}", self.number),
        }
    }
}

/// Tells whether a chain is the first one, which reports leave out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
pub(super) fn is_first_chain(chain: &u32) -> bool {
    *chain == 0
}

/// An entry of a chain of seals, and its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SealHead {
    /// Which entry it is.
    #[serde(flatten)]
    pub name: SealName,
    /// The hash over it and all entries of its chain before it, in hexadecimal digits.
    pub hash: String,
    /// The hash is over the ends of several chains, as a server has them, and over all such hashes before it; the number
    /// counts those. Not there for an entry of a chain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_epoch: bool,
}

/// The seal that covers a root run and its children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSeal {
    /// The root run.
    pub run_id: RunId,
    /// Which entry it is.
    #[serde(flatten)]
    pub name: SealName,
    /// Its hash, in hexadecimal digits: it covers the run and all that its chain sealed before.
    pub hash: String,
    /// When the run was sealed.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_chain_that_is_not_the_first_is_named() {
        let first = SealName::in_first_chain(7);
        let other = SealName {
            chain: 3,
            number: 7,
        };
        for (name, text, value) in [
            (first, "7", json!({"number": 7})),
            (other, "3.7", json!({"chain": 3, "number": 7})),
        ] {
            assert_eq!(name.to_string(), text);
            assert_eq!(serde_json::to_value(name).unwrap(), value);
            let head = SealHead {
                name,
                hash: "00".to_owned(),
                is_epoch: false,
            };
            let mut value = value;
            value["hash"] = json!("00");
            assert_eq!(serde_json::to_value(&head).unwrap(), value);
            assert_eq!(serde_json::from_value::<SealHead>(value).unwrap(), head);
        }
    }
}
