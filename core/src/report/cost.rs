//! Cost as one number, with its parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CostEstimate, counts};
use crate::{SummaryUsage, TokenCounts};

/// From this many dollars on, people are shown cents only.
const CENTS_FROM_USD: f64 = 10.0;

/// The cost of something: the total that every list, page and answer shows, and its parts.
///
/// The total is what runtimes reported, plus what is estimated for tokens that nobody reported a cost of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// US dollars, as runtimes reported it; null where none did.
    #[serde(rename = "costUsd")]
    reported: Option<f64>,
    /// US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
    #[serde(
        rename = "costTotalUsd",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    total: Option<f64>,
    /// Some of `costTotalUsd` is estimated.
    #[serde(
        rename = "costIsEstimated",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    is_estimated: bool,
    #[serde(flatten)]
    estimate: CostEstimate,
    /// The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is
    /// none, or nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<i64>,
    /// Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
    #[serde(
        default,
        with = "counts",
        skip_serializing_if = "TokenCounts::is_unknown"
    )]
    #[schemars(with = "Option<SummaryUsage>")]
    counted_before: TokenCounts,
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    let parts = [one, other].into_iter().flatten();
    parts
        .reduce(|one, other| one + other)
        .map(|sum| sum.clamp(f64::MIN, f64::MAX))
}

impl Cost {
    /// Creates a cost from its two parts.
    #[must_use]
    pub fn new(reported: Option<f64>, estimate: CostEstimate) -> Self {
        Self {
            reported,
            total: sum(reported, estimate.estimated_cost_usd),
            is_estimated: estimate.estimated_cost_usd.is_some(),
            estimate,
            ..Self::default()
        }
    }

    /// Creates a cost of which only the reported part is known.
    #[must_use]
    pub fn of_reported(reported: Option<f64>) -> Self {
        Self::new(reported, CostEstimate::default())
    }

    /// Replaces the estimated part.
    #[must_use]
    pub fn with_estimate(self, estimate: CostEstimate) -> Self {
        Self::new(self.reported, estimate)
            .with_cache_writes(self.cache_write_tokens)
            .with_counted_before(self.counted_before)
    }

    /// Notes how many of the input tokens were written to a cache; nothing is not noted.
    #[must_use]
    pub fn with_cache_writes(mut self, tokens: Option<i64>) -> Self {
        self.cache_write_tokens = tokens.filter(|tokens| *tokens != 0);
        self
    }

    /// Notes the tokens of responses that an earlier run counted.
    #[must_use]
    pub fn with_counted_before(mut self, tokens: TokenCounts) -> Self {
        self.counted_before = tokens.without_writes();
        self
    }

    /// Returns the US dollars that runtimes reported.
    #[must_use]
    pub fn reported(&self) -> Option<f64> {
        self.reported
    }

    /// Returns the estimate for tokens without a reported cost.
    #[must_use]
    pub fn estimate(&self) -> &CostEstimate {
        &self.estimate
    }

    /// Returns the US dollars of both parts together: the number to show, to add up and to sort by.
    #[must_use]
    pub fn total(&self) -> Option<f64> {
        self.total
    }

    /// Tells whether some of the total is estimated.
    #[must_use]
    pub fn is_estimated(&self) -> bool {
        self.is_estimated
    }

    /// Returns the part of the input tokens that was written to a cache.
    #[must_use]
    pub fn cache_write_tokens(&self) -> Option<i64> {
        self.cache_write_tokens
    }

    /// Returns the tokens of responses that an earlier run of the session counted.
    #[must_use]
    pub fn counted_before(&self) -> TokenCounts {
        self.counted_before
    }

    /// Tells whether nothing is left to pay for, because an earlier run of the session counted every response.
    #[must_use]
    pub fn is_counted_before(&self) -> bool {
        !self.counted_before.is_unknown() && self.total.is_none() && !self.estimate.is_partial()
    }

    /// Returns the input tokens without those that were written to a cache.
    #[must_use]
    pub fn input_without_writes(&self, usage: &TokenCounts) -> Option<i64> {
        let written = self.cache_write_tokens.unwrap_or(0);
        Some(usage.input_tokens?.saturating_sub(written))
    }

    /// Adds another cost, part by part.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (one, two) = (&self.estimate, &other.estimate);
        let models = one.unpriced_models.iter().chain(&two.unpriced_models);
        let mut models: Vec<String> = models.cloned().collect();
        models.sort();
        models.dedup();
        let estimate = CostEstimate {
            estimated_cost_usd: sum(one.estimated_cost_usd, two.estimated_cost_usd),
            unpriced_models: models,
            has_unnamed_model: one.has_unnamed_model || two.has_unnamed_model,
            price_table: one.price_table.clone().or_else(|| two.price_table.clone()),
        };
        let writes = [self.cache_write_tokens, other.cache_write_tokens];
        let before = self.counted_before.plus(other.counted_before);
        Self::new(sum(self.reported, other.reported), estimate)
            .with_cache_writes(writes.into_iter().flatten().reduce(i64::saturating_add))
            .with_counted_before(before)
    }

    /// Writes the total for people: `~` marks an estimate, `?` tokens that have no price. Empty where nothing is known.
    #[must_use]
    pub fn text(&self) -> String {
        self.written(|_| 4)
    }

    /// Writes the total in as few digits as make sense.
    #[must_use]
    pub fn short_text(&self) -> String {
        self.written(|total| if total.abs() < CENTS_FROM_USD { 4 } else { 2 })
    }

    fn written(&self, digits: impl Fn(f64) -> usize) -> String {
        if self.is_counted_before() {
            return "counted before".to_owned();
        }
        let is_partial = self.estimate.is_partial();
        let Some(total) = self.total else {
            return if is_partial { "?" } else { "" }.to_owned();
        };
        let mark = if self.is_estimated { "~" } else { "" };
        let rest = if is_partial { "+?" } else { "" };
        format!("{mark}{total:.*}{rest}", digits(total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(reported: Option<f64>, estimated: Option<f64>, is_partial: bool) -> Cost {
        let estimate = CostEstimate {
            estimated_cost_usd: estimated,
            has_unnamed_model: is_partial,
            ..CostEstimate::default()
        };
        Cost::new(reported, estimate)
    }

    #[test]
    fn an_estimate_is_never_taken_for_a_reported_cost() {
        let table = [
            (cost(None, None, false), "", ""),
            (cost(None, None, true), "?", "?"),
            (cost(Some(0.5), None, false), "0.5000", "0.5000"),
            (cost(Some(0.5), None, true), "0.5000+?", "0.5000+?"),
            (cost(None, Some(0.25), false), "~0.2500", "~0.2500"),
            (cost(None, Some(0.25), true), "~0.2500+?", "~0.2500+?"),
            (cost(Some(0.5), Some(0.25), false), "~0.7500", "~0.7500"),
            (
                cost(Some(0.5859), Some(828.8), false),
                "~829.3859",
                "~829.39",
            ),
        ];
        for (cost, whole, short) in table {
            assert_eq!((&*cost.text(), &*cost.short_text()), (whole, short));
        }
    }

    #[test]
    fn the_total_is_the_sum_of_the_parts_and_of_the_rows() {
        let rows = [
            cost(Some(0.5), None, false),
            cost(None, Some(0.25), true),
            cost(None, None, false),
        ];
        let total = rows.iter().fold(Cost::default(), |sum, row| sum.plus(row));
        assert_eq!(total.total(), Some(0.75));
        assert_eq!(total.reported(), Some(0.5));
        assert_eq!(total.estimate().estimated_cost_usd, Some(0.25));
        assert!(total.is_estimated() && total.estimate().is_partial());
        let json = serde_json::to_value(&total).unwrap();
        assert_eq!(json["costTotalUsd"], 0.75);
        assert_eq!(json["costIsEstimated"], true);
        assert_eq!(serde_json::from_value::<Cost>(json).unwrap(), total);
        let huge = cost(Some(f64::MAX), Some(f64::MAX), false);
        assert_eq!(huge.total(), Some(f64::MAX));
    }

    #[test]
    fn a_run_whose_responses_were_counted_before_costs_nothing_and_says_so() {
        let used = TokenCounts {
            input_tokens: Some(434),
            ..TokenCounts::default()
        };
        let all = cost(None, None, false).with_counted_before(used);
        assert_eq!(all.text(), "counted before");
        let free = cost(None, Some(0.0), false).with_counted_before(used);
        assert_eq!(free.text(), "~0.0000");
        let some = cost(None, Some(0.5), false).with_counted_before(used);
        assert_eq!(some.text(), "~0.5000");
        let json = serde_json::to_value(&some).unwrap();
        assert_eq!(json["countedBefore"]["inputTokens"], 434);
        let nothing = serde_json::to_value(Cost::default()).unwrap();
        assert_eq!(nothing, serde_json::json!({"costUsd": null}));
        // Beside runs that cost something it is one of them.
        assert_eq!(all.plus(&cost(None, Some(0.5), false)).text(), "~0.5000");
    }

    #[test]
    fn input_is_told_without_what_was_written_to_a_cache() {
        let used = TokenCounts {
            input_tokens: Some(1000),
            ..TokenCounts::default()
        };
        let written = Cost::default().with_cache_writes(Some(900));
        assert_eq!(written.input_without_writes(&used), Some(100));
        assert_eq!(Cost::default().input_without_writes(&used), Some(1000));
        assert_eq!(written.input_without_writes(&TokenCounts::default()), None);
    }
}
