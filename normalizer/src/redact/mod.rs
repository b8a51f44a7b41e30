//! The filter before tape and parser: what is kept has no secrets.
//!
//! A [`Redactor`] stands between a stream's bytes and everything that keeps or reads them. It lets
//! bytes through unchanged, but for the secrets that its [`RuleSet`] finds: each is replaced by a
//! marker such as `[REDACTED:github-pat:3f9c0a1be27d5581]`, which names the rule and, with a
//! [`RedactionKey`], commits to the secret without telling it. [`Kept`] bytes can be made by a
//! redactor, or by saying that they are kept as they are given; tape and parser accept nothing else.
//!
//! No clock, no I/O, no randomness: rules, key and times are given by the caller.

mod alphabet;
mod block;
mod counts;
mod delta;
mod edit;
mod examples;
mod fingerprints;
mod form;
mod groups;
mod held_lines;
mod kept;
mod key;
mod leaf;
mod line;
mod look;
mod marker;
mod matchers;
mod needles;
mod one_line;
mod over_long;
mod piecewise;
mod plausible;
mod ready;
mod redactor;
mod report;
mod rule;
mod rule_file;
mod rule_set;
mod scan;
mod seen;
mod shape;
mod stream;
mod strides;
#[cfg(test)]
mod tests;
mod text;
mod tier;
mod walk;
mod wrapped;

pub use counts::RedactionCounts;
pub use delta::DeltaShape;
pub use examples::{Example, examples};
pub use kept::{Kept, KeptLine, KeptLines};
pub use key::RedactionKey;
pub use redactor::{Found, Redactor};
pub use rule_set::{RuleError, RuleSet};
pub use tier::{NoTier, Tier};
