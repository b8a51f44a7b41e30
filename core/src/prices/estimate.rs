//! What tokens come to.

use std::collections::{BTreeMap, BTreeSet};

use super::amount::Picodollars;
use super::table::{Price, PriceTable};
use crate::TokenCounts;

/// Whether prompt tokens were written to a cache, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheWrite {
    /// They were not, or nobody said so.
    #[default]
    None,
    /// For some minutes.
    Minutes,
    /// For an hour.
    Hour,
}

/// Tokens of one model whose cost nobody reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelTokens {
    /// The model as the runtime named it.
    pub model: Option<String>,
    /// They are of responses with long prompts.
    pub is_long: bool,
    /// The input tokens were written to a cache. There are no others among these then.
    pub write: CacheWrite,
    /// The tokens.
    pub counts: TokenCounts,
}

impl ModelTokens {
    /// Tells whether there is no token that costs anything.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        is_nothing(&self.counts)
    }
}

/// How an amount came about: tokens of one model, each at its price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PricedTokens<'a> {
    /// The model as the runtime named it.
    pub model: &'a str,
    /// Its name in the table.
    pub name: &'a str,
    /// They are of responses with long prompts.
    pub is_long: bool,
    /// The input tokens were written to a cache.
    pub write: CacheWrite,
    /// Input, cached input and output: how many, and the price of one.
    pub parts: [(i64, Picodollars); 3],
}

impl<'a> PricedTokens<'a> {
    fn new(tokens: &ModelTokens, model: &'a str, (name, price): (&'a str, &Price)) -> Self {
        let counts = &tokens.counts;
        let [_, cached, output] = price.per_token(tokens.is_long);
        let input = price.of_input(tokens.is_long, tokens.write);
        // What nobody counted adds nothing: the estimate is of what is known.
        let known = |count: Option<i64>| count.unwrap_or(0);
        Self {
            model,
            name,
            is_long: tokens.is_long,
            write: tokens.write,
            parts: [
                (known(counts.input_tokens), input),
                (known(counts.cached_input_tokens), cached),
                (known(counts.output_tokens), output),
            ],
        }
    }

    /// Returns what they come to.
    #[must_use]
    pub fn amount(&self) -> Picodollars {
        let parts = self.parts.iter();
        parts.map(|(tokens, price)| price.times(*tokens)).sum()
    }
}

/// What tokens come to, as far as prices are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The amount; absent where no token has a price.
    pub amount: Option<Picodollars>,
    /// Models with tokens that have no price. A model that the runtime did not name is not among them.
    pub unpriced_models: BTreeSet<String>,
    /// Tokens of a model that nobody named: they have no price either.
    pub has_unnamed: bool,
}

impl Estimate {
    /// Returns the amount in US dollars.
    #[must_use]
    pub fn dollars(&self) -> Option<f64> {
        self.amount.map(Picodollars::dollars)
    }

    /// Tells whether some tokens have no price.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.has_unnamed || !self.unpriced_models.is_empty()
    }

    /// Adds another estimate.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.amount = match (self.amount, other.amount) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.unpriced_models.extend(other.unpriced_models);
        self.has_unnamed |= other.has_unnamed;
        self
    }
}

fn is_nothing(counts: &TokenCounts) -> bool {
    let priced = [
        counts.input_tokens,
        counts.cached_input_tokens,
        counts.output_tokens,
    ];
    priced.into_iter().flatten().all(|count| count == 0)
}

impl PriceTable {
    /// Returns what some tokens come to; `None` where the model is not known.
    #[must_use]
    pub fn price<'a>(&'a self, tokens: &'a ModelTokens) -> Option<PricedTokens<'a>> {
        let model = tokens.model.as_deref()?;
        Some(PricedTokens::new(tokens, model, self.find(model)?))
    }

    /// Adds up what tokens come to. Counters that nobody reported add nothing.
    pub fn estimate<'a>(&self, tokens: impl IntoIterator<Item = &'a ModelTokens>) -> Estimate {
        let mut estimate = Estimate::default();
        // Each name is looked up once, however often it comes.
        let mut found: BTreeMap<&str, Option<(&str, &Price)>> = BTreeMap::new();
        for tokens in tokens {
            if tokens.counts.is_unknown() {
                continue;
            }
            let model = tokens.model.as_deref();
            let price = model.and_then(|model| {
                let found = found.entry(model).or_insert_with(|| self.find(model));
                found.map(|price| (model, price))
            });
            match (price, model) {
                (Some((model, price)), _) => {
                    let amount = PricedTokens::new(tokens, model, price).amount();
                    estimate.amount = Some(estimate.amount.unwrap_or_default() + amount);
                }
                // No tokens cost nothing, whatever the price is.
                _ if is_nothing(&tokens.counts) => {}
                (None, Some(model)) => drop(estimate.unpriced_models.insert(model.to_owned())),
                (None, None) => estimate.has_unnamed = true,
            }
        }
        estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(
        model: Option<&str>,
        is_long: bool,
        input: i64,
        cached: i64,
        output: i64,
    ) -> ModelTokens {
        ModelTokens {
            model: model.map(str::to_owned),
            is_long,
            write: CacheWrite::None,
            counts: TokenCounts {
                input_tokens: Some(input),
                output_tokens: Some(output),
                reasoning_tokens: None,
                cached_input_tokens: Some(cached),
                ..TokenCounts::default()
            },
        }
    }

    #[test]
    fn tokens_are_multiplied_with_the_prices_of_their_model() {
        let table = PriceTable::built_in();
        // Two captures of claude-code, with what it reported of them.
        let plain = tokens(Some("claude-sonnet-4-5-20250929"), false, 1033, 0, 457);
        assert_eq!(table.estimate([&plain]).dollars(), Some(0.009_954));
        let small = tokens(Some("claude-haiku-4-5-20251001"), false, 50, 0, 25);
        assert_eq!(table.estimate([&small]).dollars(), Some(0.000_175));
        let both = table.estimate([&plain, &small]);
        assert_eq!(both.dollars(), Some(0.010_129));
        let long = tokens(Some("gemini-2.5-pro"), true, 300_000, 1_000_000, 1000);
        assert_eq!(table.estimate([&long]).dollars(), Some(0.75 + 0.25 + 0.015));
    }

    #[test]
    fn what_was_written_to_a_cache_has_a_price_of_its_own() {
        let ours = r#"{"models": {"long-one": {"input": 3e-6, "output": 1e-6, "cacheWrite": 3.75e-6,
            "inputAbove200k": 6e-6}}}"#;
        let table = PriceTable::built_in().overridden_by(PriceTable::parse(ours).unwrap());
        let million = |model, is_long, write| {
            let mut tokens = tokens(Some(model), is_long, 1_000_000, 0, 0);
            tokens.write = write;
            table.estimate([&tokens]).dollars()
        };
        let sonnet = "claude-sonnet-4-5-20250929";
        assert_eq!(million(sonnet, false, CacheWrite::None), Some(3.0));
        assert_eq!(million(sonnet, false, CacheWrite::Minutes), Some(3.75));
        assert_eq!(million(sonnet, false, CacheWrite::Hour), Some(6.0));
        assert_eq!(million("long-one", true, CacheWrite::None), Some(6.0));
        // As many times the price of input as without a long prompt; where an hour has no price, as for minutes.
        assert_eq!(million("long-one", true, CacheWrite::Minutes), Some(7.5));
        assert_eq!(million("long-one", true, CacheWrite::Hour), Some(7.5));
        // Where writing has no price of its own, it is input.
        assert_eq!(million("gpt-5", false, CacheWrite::Hour), Some(1.25));
    }

    #[test]
    fn what_has_no_price_is_said_and_never_free() {
        let table = PriceTable::built_in();
        let unknown = tokens(Some("m1"), false, 5, 5, 5);
        let unnamed = tokens(None, false, 5, 5, 5);
        let nothing = ModelTokens {
            model: Some("m2".to_owned()),
            ..ModelTokens::default()
        };
        let zero = tokens(Some("m3"), false, 0, 0, 0);
        let estimate = table.estimate([&unknown, &unnamed, &nothing, &zero]);
        assert_eq!(estimate.amount, None);
        assert!(estimate.is_partial() && estimate.has_unnamed);
        assert_eq!(
            estimate.unpriced_models.into_iter().collect::<Vec<_>>(),
            ["m1"]
        );
        let free = tokens(Some("zai/glm-4.7-flash"), false, 5, 5, 5);
        assert_eq!(table.estimate([&free]).amount, Some(Picodollars(0)));
    }
}
