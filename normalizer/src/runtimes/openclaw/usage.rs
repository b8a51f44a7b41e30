//! Tokens and cost, as the gateway passes them on from its model library.
//!
//! Three sources tell of the same responses. `usage` frames count the output of a run so far. Rows of
//! the transcript have all counters of their response, and the last answer to `agent` has those of
//! its run. Each response counts once: what frames told stays, and rows or answers add the other
//! counters where they tell of every response.

use std::collections::HashSet;

use runtape_core::TokenCounts;
use serde_json::Value;

use crate::bounds::Numbers;

/// What one session used.
#[derive(Debug, Default)]
pub(super) struct UsageBook {
    /// What frames told, response by response.
    told: TokenCounts,
    /// Messages of the model that were printed.
    messages: u64,
    rows: UsageTold,
    answers: UsageTold,
    /// Runs that used something, and those of which an answer told.
    runs: u64,
    seen_rows: HashSet<u64>,
}

/// What one source told.
#[derive(Debug, Default)]
struct UsageTold {
    count: u64,
    counts: TokenCounts,
    cost: Option<f64>,
}

impl UsageTold {
    fn add(&mut self, counts: TokenCounts, cost: Option<f64>) {
        self.count += 1;
        self.counts = self.counts.plus(counts);
        if let Some(cost) = cost {
            self.cost = Some(self.cost.unwrap_or(0.0) + cost);
        }
    }
}

impl UsageBook {
    /// A message of the model was printed.
    pub(super) fn on_message(&mut self) {
        self.messages += 1;
    }

    /// A run begins to use something.
    pub(super) fn on_run(&mut self) {
        self.runs += 1;
    }

    /// A frame told of a response.
    pub(super) fn on_told(&mut self, counts: TokenCounts) {
        self.told = self.told.plus(counts);
    }

    /// A row told of a response, under the row's own name.
    pub(super) fn on_row(&mut self, row: u64, usage: &Value, numbers: &mut Numbers) {
        let (counts, cost) = (counts(usage, numbers), cost(usage, numbers));
        if !is_nothing(counts) && self.seen_rows.insert(row) {
            self.rows.add(counts, cost);
        }
    }

    /// The last answer to a request told of its run.
    pub(super) fn on_answer(&mut self, usage: &Value, numbers: &mut Numbers) {
        let (counts, cost) = (counts(usage, numbers), cost(usage, numbers));
        if !is_nothing(counts) || cost.is_some() {
            self.answers.add(counts, cost);
        }
    }

    /// Returns what is known in the end, and what it cost.
    pub(super) fn known(&self) -> (TokenCounts, Option<f64>) {
        let agrees = |source: &UsageTold| {
            let output = self.told.output_tokens;
            output.is_none() || output == source.counts.output_tokens
        };
        if self.answers.count > 0 && self.answers.count >= self.runs && agrees(&self.answers) {
            (self.answers.counts, self.answers.cost)
        } else if self.rows.count > 0 && self.rows.count >= self.messages && agrees(&self.rows) {
            (self.rows.counts, self.rows.cost)
        } else {
            (self.told, None)
        }
    }

    /// Tells whether more is known than what frames told.
    pub(super) fn has_more(&self) -> bool {
        self.known().0 != self.told
    }
}

/// Tells whether nothing was used: what the gateway says itself has counters of zero.
pub(super) fn is_nothing(counts: TokenCounts) -> bool {
    let counters = [
        counts.input_tokens,
        counts.output_tokens,
        counts.cached_input_tokens,
    ];
    counters
        .iter()
        .all(|counter| counter.is_none_or(|n| n == 0))
}

/// Returns the counters of a usage object; unknown is none, never zero.
pub(super) fn counts(usage: &Value, numbers: &mut Numbers) -> TokenCounts {
    let mut number = |names: &[&str]| numbers.count(usage, names);
    let input = number(&["input", "inputTokens", "input_tokens"]);
    let written = number(&[
        "cacheWrite",
        "cacheWriteTokens",
        "cache_creation_input_tokens",
    ]);
    let counts = TokenCounts {
        input_tokens: input.map(|input| input.saturating_add(written.unwrap_or(0))),
        output_tokens: number(&["output", "outputTokens", "output_tokens"]),
        reasoning_tokens: number(&["reasoning", "reasoningTokens", "reasoning_tokens"]),
        cached_input_tokens: number(&["cacheRead", "cacheReadTokens", "cache_read_input_tokens"]),
        ..TokenCounts::default()
    };
    counts.with_writes(written, None)
}

/// Returns what it cost in US dollars. The library writes 0 for a model without a price.
pub(super) fn cost(usage: &Value, numbers: &mut Numbers) -> Option<f64> {
    let cost = usage.get("cost").filter(|cost| !cost.is_null())?;
    let total = match cost.get("total") {
        Some(total) => total,
        None if cost.is_object() => return None,
        None => cost,
    };
    let amount = total.as_f64().filter(|amount| *amount >= 0.0);
    if amount.is_none() && !total.is_null() {
        let shown: String = total.to_string().chars().take(40).collect();
        numbers.faults.push(format!("cost: {shown} is no amount"));
    }
    amount.filter(|amount| *amount > 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(tokens: i64) -> TokenCounts {
        TokenCounts {
            output_tokens: Some(tokens),
            ..TokenCounts::default()
        }
    }

    #[test]
    fn rows_count_only_if_they_tell_of_every_response() {
        let numbers = &mut Numbers::default();
        let row = |output: i64| json!({"input": 10, "output": output, "cacheRead": 1});
        let mut book = UsageBook::default();
        for (n, tokens) in [(1, 5), (2, 6)] {
            book.on_message();
            book.on_told(output(tokens));
            assert!(!book.has_more(), "a row is missing");
            book.on_row(n, &row(tokens), numbers);
            book.on_row(n, &row(tokens), numbers);
            assert_eq!(
                book.known().0.input_tokens,
                Some(10 * i64::try_from(n).unwrap())
            );
        }
        assert_eq!(book.known().0.output_tokens, Some(11));
        // The gateway's own message has counters of zero.
        book.on_row(3, &json!({"input": 0, "output": 0}), numbers);
        assert_eq!(book.known().0.output_tokens, Some(11));
        book.on_told(output(1));
        assert!(!book.has_more(), "rows contradict the frames");
    }

    #[test]
    fn an_answer_tells_of_its_run() {
        let numbers = &mut Numbers::default();
        let mut book = UsageBook::default();
        book.on_run();
        book.on_told(output(5));
        book.on_answer(
            &json!({"input": 1, "output": 5, "cacheRead": 2, "cacheWrite": 3,
            "cost": {"total": 0.5}}),
            numbers,
        );
        let (counts, cost) = book.known();
        assert_eq!((counts.input_tokens, cost), (Some(4), Some(0.5)));
        // Of another run nothing is known but its output.
        book.on_run();
        book.on_told(output(5));
        assert_eq!(book.known(), (output(10), None));
    }

    #[test]
    fn cache_writes_are_input_and_unknown_is_not_zero() {
        let usage = json!({"input": 10, "output": 5, "cacheRead": 7, "cacheWrite": 3,
            "cost": {"total": 0.25}});
        let numbers = &mut Numbers::default();
        let found = counts(&usage, numbers);
        assert_eq!(found.input_tokens, Some(13));
        assert_eq!(found.cached_input_tokens, Some(7));
        assert_eq!(found.output_tokens, Some(5));
        assert_eq!(found.reasoning_tokens, None);
        assert_eq!(cost(&usage, numbers), Some(0.25));
        assert!(counts(&json!({"input": "10"}), numbers).is_unknown());
        assert_eq!(cost(&json!({"cost": {"total": 0}}), numbers), None);
    }
}
