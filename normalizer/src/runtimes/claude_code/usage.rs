//! Which of the many numbers are counted, and how.
//!
//! The best total of a run is the sum of `model_usage_since_last_result`; where it is not printed
//! the last `modelUsage`, unless the session was resumed, for then it holds earlier runs; else the
//! sum of `result.usage`, which lacks sub-agents and side calls.

use std::collections::HashMap;

use runtape_core::TokenCounts;

use super::wire::{ByModel, ModelUsage, Usage};
use crate::bounds;

fn count(number: Option<u64>) -> Option<i64> {
    number.map(bounds::count)
}

/// Adds cache writes to what was neither written to nor read from a cache.
fn prompt(input: Option<u64>, cache_creation: Option<u64>) -> Option<i64> {
    match (count(input), count(cache_creation)) {
        (Some(input), Some(written)) => Some(input.saturating_add(written)),
        (input, written) => input.or(written),
    }
}

/// Returns the numbers of one response.
///
/// Only a `message_delta` has the final output; what stands on an `assistant` line is whatever had
/// been generated when the message began (2.1) or, by timing, any time later (1.0, 2.0).
pub(super) fn of_response(usage: &Usage, is_final: bool) -> TokenCounts {
    TokenCounts {
        input_tokens: prompt(usage.input, usage.cache_creation),
        cached_input_tokens: count(usage.cache_read),
        output_tokens: count(usage.output).filter(|_| is_final),
        reasoning_tokens: count(usage.details.thinking).filter(|tokens| is_final && *tokens > 0),
        ..TokenCounts::default()
    }
    .with_writes(count(usage.cache_creation), count(usage.writes.for_an_hour))
}

fn of_main_loop(usage: &Usage) -> TokenCounts {
    TokenCounts {
        input_tokens: prompt(usage.input, usage.cache_creation),
        cached_input_tokens: count(usage.cache_read),
        output_tokens: count(usage.output),
        reasoning_tokens: count(usage.details.thinking),
        ..TokenCounts::default()
    }
    .with_writes(count(usage.cache_creation), count(usage.writes.for_an_hour))
}

pub(super) fn of_models(models: &ByModel<'_>, without_models: TokenCounts) -> TokenCounts {
    if models.0.is_empty() {
        let zero = TokenCounts {
            input_tokens: Some(0),
            cached_input_tokens: Some(0),
            output_tokens: Some(0),
            reasoning_tokens: None,
            ..TokenCounts::default()
        };
        return TokenCounts {
            reasoning_tokens: without_models.reasoning_tokens.map(|_| 0),
            ..zero
        };
    }
    models
        .0
        .iter()
        .fold(TokenCounts::default(), |sum, (_, model)| {
            let counts = TokenCounts {
                input_tokens: prompt(model.input, model.cache_creation),
                cached_input_tokens: count(model.cache_read),
                output_tokens: count(model.output),
                reasoning_tokens: count(model.thinking),
                ..TokenCounts::default()
            };
            sum.plus(counts.with_writes(count(model.cache_creation), count(model.for_an_hour)))
        })
}

fn cost(models: &ByModel<'_>) -> Option<f64> {
    let mut models = models.0.iter();
    models.try_fold(0.0, |sum, (_, model)| Some(sum + model.cost?))
}

/// The numbers of one result line.
#[derive(Debug, Default)]
pub(super) struct Stated<'a> {
    pub(super) usage: Option<Usage>,
    pub(super) models: Option<ByModel<'a>>,
    pub(super) since_last: Option<ByModel<'a>>,
    pub(super) total_cost: Option<f64>,
}

impl Stated<'_> {
    /// Returns the model of the main loop, where only one of those used can be it.
    pub(super) fn main_model(&self, asked: Option<&str>) -> Option<&str> {
        let models = &self.models.as_ref()?.0;
        let is_asked = |name: &str| Some(name) == asked;
        if let Some((model, _)) = models.iter().find(|(model, _)| is_asked(model)) {
            return Some(model);
        }
        let used = self.usage.as_ref()?;
        let can_be = |model: &ModelUsage| {
            used.output > Some(0) && model.output >= used.output && model.input >= used.input
        };
        let mut candidates = models
            .iter()
            .filter(|(_, model)| models.len() == 1 || can_be(model));
        match (candidates.next(), candidates.next()) {
            (Some((model, _)), None) => Some(model),
            _ => None,
        }
    }
}

/// Adds up what the result lines of a run state.
#[derive(Debug, Default)]
pub(super) struct Totals {
    since_last: Option<TokenCounts>,
    since_last_cost: Option<f64>,
    /// A result line lacked what came since the last one, so that the sum is not whole.
    lacks_since_last: bool,
    main_loops: Option<TokenCounts>,
    session: Option<TokenCounts>,
    session_cost: Option<f64>,
    /// Responses after the last result line, which no total holds yet.
    later: HashMap<Box<str>, TokenCounts>,
}

impl Totals {
    pub(super) fn add(&mut self, stated: &Stated<'_>) {
        self.later.clear();
        let main_loop = stated.usage.as_ref().map(of_main_loop);
        if let Some(counts) = main_loop {
            self.main_loops = Some(self.main_loops.map_or(counts, |sum| sum.plus(counts)));
        }
        let without_models = main_loop.unwrap_or_default();
        // An empty `modelUsage` beside a main loop that used something is one not filled in.
        if let Some(models) = &stated.models
            && (!models.0.is_empty() || without_models.total().is_none_or(|total| total == 0))
        {
            self.session = Some(of_models(models, without_models));
        }
        self.session_cost = stated.total_cost.or(self.session_cost);
        self.lacks_since_last |= stated.since_last.is_none();
        if let Some(models) = &stated.since_last {
            let counts = of_models(models, without_models);
            let is_first = self.since_last.is_none();
            self.since_last = Some(self.since_last.map_or(counts, |sum| sum.plus(counts)));
            self.since_last_cost = match (is_first, self.since_last_cost, cost(models)) {
                (true, _, cost) => cost,
                (false, Some(sum), Some(cost)) => Some(sum + cost),
                _ => None,
            };
        }
    }

    /// Tells whether no result line stated anything.
    pub(super) fn is_empty(&self) -> bool {
        self.main_loops.is_none() && self.session.is_none() && self.since_last.is_none()
    }

    /// Tells whether a result line had what came since the last one.
    pub(super) fn has_since_last(&self) -> bool {
        self.since_last.is_some()
    }

    /// Notes a response that came after a result line.
    pub(super) fn note_response(&mut self, key: &str, counts: TokenCounts) {
        if self.is_empty() {
            return;
        }
        if let Some(known) = self.later.get_mut(key) {
            *known = counts.or(*known);
        } else {
            self.later.insert(key.into(), counts);
        }
    }

    /// Returns what the run used, as far as result lines state it.
    ///
    /// `restored` tells that the session's totals may hold earlier runs. `thought` tells that the
    /// model was seen thinking: then no reasoning tokens means that the API did not count them.
    pub(super) fn counts(&self, restored: bool, thought: bool) -> Option<TokenCounts> {
        let session = self.session.filter(|_| !restored);
        let whole = self.since_last.filter(|_| !self.lacks_since_last);
        let mut total = whole.or(session).or(self.since_last).or(self.main_loops)?;
        if thought {
            total.reasoning_tokens = total.reasoning_tokens.filter(|tokens| *tokens > 0);
        }
        Some(total)
    }

    /// Returns what the run used if responses came after the last result line.
    pub(super) fn counts_with_later(&self, restored: bool, thought: bool) -> Option<TokenCounts> {
        let total = self
            .counts(restored, thought)
            .filter(|_| !self.later.is_empty())?;
        let (later, whole) = self
            .later
            .values()
            .fold((TokenCounts::default(), true), |(sum, whole), counts| {
                (sum.plus(*counts), whole && counts.output_tokens.is_some())
            });
        let mut total = total.plus(later);
        if !whole {
            total.output_tokens = None;
            total.reasoning_tokens = None;
        }
        Some(total)
    }

    /// Returns what the run cost, if that can be told from what earlier runs of its session cost.
    pub(super) fn cost(&self, restored: bool) -> Option<f64> {
        if self.since_last.is_some() && !self.lacks_since_last {
            return self.since_last_cost;
        }
        // No part of nothing is anything.
        self.session_cost.filter(|cost| !restored || *cost == 0.0)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    fn models(input: u64, output: u64, cost: f64) -> Value {
        json!({"m": {"inputTokens": input, "outputTokens": output, "cacheReadInputTokens": 3,
            "cacheCreationInputTokens": 2, "thinkingTokens": 0, "costUSD": cost}})
    }

    fn main_loop(input: u64, output: u64) -> Value {
        json!({"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 2, "output_tokens_details": {"thinking_tokens": 0}})
    }

    fn stated<'a>(
        usage: &Value,
        models: &'a Value,
        since_last: &'a Value,
        cost: f64,
    ) -> Stated<'a> {
        Stated {
            usage: Deserialize::deserialize(usage).unwrap(),
            models: Deserialize::deserialize(models).unwrap(),
            since_last: Deserialize::deserialize(since_last).unwrap(),
            total_cost: Some(cost),
        }
    }

    #[test]
    fn what_came_since_the_last_result_adds_up() {
        let mut totals = Totals::default();
        totals.add(&stated(
            &main_loop(1, 1),
            &models(50, 9, 0.5),
            &models(10, 4, 0.25),
            0.5,
        ));
        totals.add(&stated(
            &main_loop(1, 1),
            &models(60, 9, 0.75),
            &models(20, 5, 0.25),
            0.75,
        ));
        let counts = totals.counts(true, false).unwrap();
        assert_eq!(
            (counts.input_tokens, counts.output_tokens),
            (Some(34), Some(9))
        );
        assert_eq!(counts.cached_input_tokens, Some(6));
        assert_eq!(counts.reasoning_tokens, Some(0));
        assert_eq!(totals.cost(true), Some(0.5));
    }

    #[test]
    fn a_resumed_session_is_not_counted_again() {
        let mut totals = Totals::default();
        totals.add(&stated(
            &main_loop(7, 4),
            &models(50, 9, 0.5),
            &Value::Null,
            0.5,
        ));
        assert_eq!(totals.counts(true, false).unwrap().input_tokens, Some(9));
        assert_eq!(totals.cost(true), None);
        assert_eq!(totals.counts(false, false).unwrap().input_tokens, Some(52));
        assert_eq!(totals.cost(false), Some(0.5));
    }

    #[test]
    fn an_empty_model_list_is_zero_or_not_filled_in() {
        let mut totals = Totals::default();
        totals.add(&stated(&main_loop(7, 4), &json!({}), &Value::Null, 0.0));
        assert_eq!(totals.counts(false, false).unwrap().output_tokens, Some(4));
        let mut totals = Totals::default();
        let nothing = json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0});
        totals.add(&stated(&nothing, &json!({}), &json!({}), 0.0));
        let counts = totals.counts(false, false).unwrap();
        assert_eq!(
            (counts.output_tokens, counts.reasoning_tokens),
            (Some(0), None)
        );
        assert_eq!(totals.cost(false), Some(0.0));
    }

    #[test]
    fn no_reasoning_beside_visible_thinking_is_unknown() {
        let mut totals = Totals::default();
        totals.add(&stated(
            &main_loop(7, 4),
            &models(7, 4, 0.1),
            &Value::Null,
            0.1,
        ));
        assert_eq!(
            totals.counts(false, false).unwrap().reasoning_tokens,
            Some(0)
        );
        assert_eq!(totals.counts(false, true).unwrap().reasoning_tokens, None);
    }

    #[test]
    fn responses_after_the_last_result_are_added() {
        let mut totals = Totals::default();
        let seen = TokenCounts {
            input_tokens: Some(5),
            ..TokenCounts::default()
        };
        totals.note_response("a", seen);
        totals.add(&stated(
            &main_loop(7, 4),
            &models(7, 4, 0.1),
            &Value::Null,
            0.1,
        ));
        assert_eq!(totals.counts_with_later(false, false), None);
        totals.note_response("b", seen);
        totals.note_response("b", seen);
        let counts = totals.counts_with_later(false, false).unwrap();
        assert_eq!(
            (counts.input_tokens, counts.output_tokens),
            (Some(14), None)
        );
    }

    #[test]
    fn the_main_model_is_the_one_that_can_be() {
        let two = json!({"side": {"inputTokens": 10, "outputTokens": 5},
            "main": {"inputTokens": 710, "outputTokens": 405}});
        let read = stated(&main_loop(700, 400), &two, &Value::Null, 0.1);
        assert_eq!(read.main_model(None), Some("main"));
        assert_eq!(read.main_model(Some("side")), Some("side"));
        let read = stated(&main_loop(1, 1), &two, &Value::Null, 0.1);
        assert_eq!(read.main_model(None), None);
    }
}
