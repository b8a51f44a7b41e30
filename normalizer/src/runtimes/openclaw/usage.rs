//! Tokens and cost, as the gateway passes them on from its model library.

use runtape_core::TokenCounts;
use serde_json::Value;

use crate::bounds::Numbers;

/// Returns the counters of a usage object; unknown is none, never zero.
pub(super) fn counts(usage: &Value, numbers: &mut Numbers) -> TokenCounts {
    let mut number = |names: &[&str]| numbers.count(usage, names);
    let input = number(&["input", "inputTokens", "input_tokens"]);
    let written = number(&[
        "cacheWrite",
        "cacheWriteTokens",
        "cache_creation_input_tokens",
    ]);
    TokenCounts {
        input_tokens: input.map(|input| input.saturating_add(written.unwrap_or(0))),
        output_tokens: number(&["output", "outputTokens", "output_tokens"]),
        reasoning_tokens: number(&["reasoning", "reasoningTokens", "reasoning_tokens"]),
        cached_input_tokens: number(&["cacheRead", "cacheReadTokens", "cache_read_input_tokens"]),
    }
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
