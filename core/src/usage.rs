//! Tokens: what was counted, and what is not known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CoreError;

/// Tokens used, in Perstack's five counters.
///
/// The same meaning for every runtime: a prompt token is counted under exactly one of
/// `inputTokens` and `cachedInputTokens`, a generated one under `outputTokens`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Prompt tokens that were not read from a cache; cache writes are included.
    pub input_tokens: u64,
    /// All generated tokens, reasoning included.
    pub output_tokens: u64,
    /// The part of the generated tokens that was reasoning.
    pub reasoning_tokens: u64,
    /// Input, cached input and output tokens together.
    pub total_tokens: u64,
    /// Prompt tokens that were read from a cache.
    pub cached_input_tokens: u64,
}

impl Usage {
    /// Adds two usages counter by counter.
    pub fn checked_add(self, other: Self) -> Result<Self, CoreError> {
        let add =
            |counter, a: u64, b: u64| a.checked_add(b).ok_or(CoreError::UsageOverflow { counter });
        Ok(Self {
            input_tokens: add("inputTokens", self.input_tokens, other.input_tokens)?,
            output_tokens: add("outputTokens", self.output_tokens, other.output_tokens)?,
            reasoning_tokens: add(
                "reasoningTokens",
                self.reasoning_tokens,
                other.reasoning_tokens,
            )?,
            total_tokens: add("totalTokens", self.total_tokens, other.total_tokens)?,
            cached_input_tokens: add(
                "cachedInputTokens",
                self.cached_input_tokens,
                other.cached_input_tokens,
            )?,
        })
    }
}

/// Tokens used, where each counter may be unknown.
///
/// Unknown is never zero: a counter nobody reported is absent here, and 0 in a checkpoint's
/// `usage` only together with its name in `metadata.usageUnknown`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenCounts {
    /// Prompt tokens that were not read from a cache; cache writes are included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    /// All generated tokens, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    /// The part of the generated tokens that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<i64>,
    /// Prompt tokens that were read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<i64>,
    /// The part of the input tokens that was written to a cache, where that is known and not nothing: its price is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<i64>,
    /// The part of those that was written for an hour instead of some minutes.
    #[serde(
        default,
        rename = "cacheWrite1hTokens",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_write_1h_tokens: Option<i64>,
}

/// Combines two optional numbers: known wins over unknown, two known ones are combined.
fn either(a: Option<i64>, b: Option<i64>, combine: fn(i64, i64) -> i64) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(combine(a, b)),
        (known, None) | (None, known) => known,
    }
}

impl TokenCounts {
    /// Tells whether no counter is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Adds counter by counter; what one side does not know counts as nothing.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| either(a, b, i64::saturating_add))
    }

    /// Takes counters from `other` where this side does not know them.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.zip(other, Option::or)
    }

    /// Returns what `self` holds beyond `other`, never less than 0; unknown where `self` is unknown.
    #[must_use]
    pub fn beyond(self, other: Self) -> Self {
        self.zip(other, |a, b| {
            a.map(|a| a.saturating_sub(b.unwrap_or(0)).max(0))
        })
    }

    /// Returns the four counters alone.
    #[must_use]
    pub fn without_writes(self) -> Self {
        Self {
            cache_write_tokens: None,
            cache_write_1h_tokens: None,
            ..self
        }
    }

    /// Notes which part of the input was written to a cache, and which part of that for an hour. It is no more than the
    /// input; nothing is not noted.
    #[must_use]
    pub fn with_writes(self, written: Option<i64>, for_an_hour: Option<i64>) -> Self {
        let part = |part: Option<i64>, whole: Option<i64>| {
            let part = part?.min(whole?);
            (part > 0).then_some(part)
        };
        let written = part(written, self.input_tokens);
        Self {
            cache_write_tokens: written,
            cache_write_1h_tokens: part(for_an_hour, written),
            ..self
        }
    }

    fn zip(self, other: Self, with: impl Fn(Option<i64>, Option<i64>) -> Option<i64>) -> Self {
        let some = |count: Option<i64>| count.filter(|count| *count != 0);
        Self {
            input_tokens: with(self.input_tokens, other.input_tokens),
            output_tokens: with(self.output_tokens, other.output_tokens),
            reasoning_tokens: with(self.reasoning_tokens, other.reasoning_tokens),
            cached_input_tokens: with(self.cached_input_tokens, other.cached_input_tokens),
            cache_write_tokens: some(with(self.cache_write_tokens, other.cache_write_tokens)),
            cache_write_1h_tokens: some(with(
                self.cache_write_1h_tokens,
                other.cache_write_1h_tokens,
            )),
        }
    }

    /// Returns input, cached input and output together, if all three are known.
    #[must_use]
    pub fn total(&self) -> Option<i64> {
        let prompt = self.input_tokens?.saturating_add(self.cached_input_tokens?);
        Some(prompt.saturating_add(self.output_tokens?))
    }

    /// Returns Perstack's five numbers, 0 for what is unknown.
    #[must_use]
    pub fn to_usage(&self) -> Usage {
        let number = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let (input, cached) = (number(self.input_tokens), number(self.cached_input_tokens));
        let output = number(self.output_tokens);
        Usage {
            input_tokens: input,
            output_tokens: output,
            reasoning_tokens: number(self.reasoning_tokens),
            total_tokens: input.saturating_add(cached).saturating_add(output),
            cached_input_tokens: cached,
        }
    }

    /// Returns the JSON names of the counters that are unknown, in the order of [`Usage`].
    #[must_use]
    pub fn unknown_counters(&self) -> Vec<&'static str> {
        [
            ("inputTokens", self.input_tokens.is_none()),
            ("outputTokens", self.output_tokens.is_none()),
            ("reasoningTokens", self.reasoning_tokens.is_none()),
            ("totalTokens", self.total().is_none()),
            ("cachedInputTokens", self.cached_input_tokens.is_none()),
        ]
        .into_iter()
        .filter_map(|(name, unknown)| unknown.then_some(name))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addition_is_checked() {
        let one = Usage {
            input_tokens: 1,
            total_tokens: 1,
            ..Usage::default()
        };
        assert_eq!(one.checked_add(one).unwrap().input_tokens, 2);
        let full = Usage {
            output_tokens: u64::MAX,
            ..Usage::default()
        };
        let error = full
            .checked_add(Usage {
                output_tokens: 1,
                ..one
            })
            .unwrap_err();
        assert_eq!(
            error,
            CoreError::UsageOverflow {
                counter: "outputTokens"
            }
        );
    }

    #[test]
    fn unknown_is_never_zero() {
        let seen = TokenCounts {
            input_tokens: Some(5),
            ..TokenCounts::default()
        };
        assert_eq!(seen.to_usage().total_tokens, 5);
        assert_eq!(
            seen.unknown_counters(),
            [
                "outputTokens",
                "reasoningTokens",
                "totalTokens",
                "cachedInputTokens"
            ]
        );
        assert_eq!(seen.total(), None);
        assert!(TokenCounts::default().is_unknown());
    }

    #[test]
    fn cache_writes_are_a_part_of_the_input_and_nothing_is_not_noted() {
        let used = |input| TokenCounts {
            input_tokens: input,
            ..TokenCounts::default()
        };
        let writes = |input, written, for_an_hour| {
            let counts = used(input).with_writes(written, for_an_hour);
            (counts.cache_write_tokens, counts.cache_write_1h_tokens)
        };
        assert_eq!(writes(Some(9), Some(5), Some(2)), (Some(5), Some(2)));
        assert_eq!(writes(Some(9), Some(50), Some(20)), (Some(9), Some(9)));
        assert_eq!(writes(Some(9), Some(0), Some(2)), (None, None));
        assert_eq!(writes(Some(9), None, Some(2)), (None, None));
        assert_eq!(writes(None, Some(5), None), (None, None));
        let one = used(Some(9)).with_writes(Some(5), None);
        assert_eq!(one.beyond(one).cache_write_tokens, None);
        assert_eq!(one.plus(one).cache_write_tokens, Some(10));
        assert_eq!(one.without_writes(), used(Some(9)));
    }

    #[test]
    fn what_a_total_holds_beyond_the_entries_is_never_negative() {
        let total = TokenCounts {
            input_tokens: Some(5),
            output_tokens: Some(9),
            ..TokenCounts::default()
        };
        let seen = TokenCounts {
            input_tokens: Some(7),
            ..TokenCounts::default()
        };
        let rest = total.beyond(seen);
        assert_eq!((rest.input_tokens, rest.output_tokens), (Some(0), Some(9)));
        assert_eq!(seen.plus(rest).input_tokens, seen.input_tokens);
    }
}
