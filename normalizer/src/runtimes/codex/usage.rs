//! The tokens of a thread.
//!
//! `input_tokens` includes what was read from the cache and what was written to it, and
//! `output_tokens` the reasoning. All are totals of the thread so far.

use runtape_core::TokenCounts;
use serde_json::Value;

use super::wire::Usage;
use crate::bounds::{self, Numbers};
use crate::json::Raw;

/// The counters of a usage object, and what of it was no number.
pub(super) struct Counted {
    pub(super) counts: TokenCounts,
    pub(super) faults: Vec<String>,
    /// Keys that were there and are not known.
    pub(super) unknown: Vec<Box<str>>,
}

/// Reads a usage object, without making a value of it if it is as it is today.
pub(super) fn count(usage: &mut Raw<'_>) -> Counted {
    if let Some(totals) = usage.read::<Usage>() {
        let count = |count: Option<u64>| count.map(bounds::count);
        return Counted {
            counts: counts(
                count(totals.input),
                count(totals.cached),
                count(totals.output),
                count(totals.reasoning),
            )
            .with_writes(count(totals.written), None),
            faults: Vec::new(),
            unknown: totals.unknown,
        };
    }
    let value = std::mem::take(usage).into_value();
    let mut numbers = Numbers::default();
    if !value.is_object() && !value.is_null() {
        numbers.faults.push("usage: not an object".to_owned());
    }
    let mut count = |key: &str| numbers.count(&value, &[key]);
    let counts = counts(
        count("input_tokens"),
        count("cached_input_tokens"),
        count("output_tokens"),
        count("reasoning_output_tokens"),
    )
    .with_writes(count("cache_write_input_tokens"), None);
    *usage = Raw::Value(value);
    Counted {
        counts,
        faults: numbers.faults,
        unknown: Vec::new(),
    }
}

fn counts(
    input: Option<i64>,
    cached: Option<i64>,
    output: Option<i64>,
    reasoning: Option<i64>,
) -> TokenCounts {
    TokenCounts {
        input_tokens: input.map(|input| bounds::beyond(input, cached.unwrap_or(0))),
        cached_input_tokens: cached,
        output_tokens: output,
        reasoning_tokens: reasoning,
        ..TokenCounts::default()
    }
}

/// Tells whether there is a usage object to be kept.
pub(super) fn is_there(usage: &Raw<'_>) -> bool {
    !matches!(usage, Raw::Value(Value::Null))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_read_from_the_cache_is_not_counted_twice_and_unknown_is_not_zero() {
        let text = r#"{"input_tokens":3300,"cached_input_tokens":2100,"cache_write_input_tokens":0,"output_tokens":100,"reasoning_output_tokens":7}"#;
        let expected = TokenCounts {
            input_tokens: Some(1200),
            cached_input_tokens: Some(2100),
            output_tokens: Some(100),
            reasoning_tokens: Some(7),
            ..TokenCounts::default()
        };
        for mut usage in [
            Raw::Text(text),
            Raw::Value(serde_json::from_str(text).unwrap()),
        ] {
            let counted = count(&mut usage);
            assert_eq!(counted.counts, expected);
            assert!(counted.faults.is_empty() && counted.unknown.is_empty());
        }
        let written = text.replace(r#"tokens":0"#, r#"tokens":300"#);
        let counted = count(&mut Raw::Text(&written));
        assert_eq!(counted.counts.cache_write_tokens, Some(300));
        assert_eq!(counted.counts.input_tokens, Some(1200), "they are in it");
        // As printed before reasoning was counted.
        let older = r#"{"input_tokens":5,"cached_input_tokens":9,"output_tokens":1,"new":2}"#;
        let counted = count(&mut Raw::Text(older));
        assert_eq!(counted.counts.reasoning_tokens, None);
        assert_eq!(counted.counts.input_tokens, Some(0));
        assert_eq!(counted.unknown, ["new".into()]);
    }

    #[test]
    fn numbers_that_are_none_are_told() {
        let usage = json!({"input_tokens": "5", "output_tokens": -1, "cached_input_tokens": 3});
        let counted = count(&mut Raw::Value(usage));
        assert_eq!(counted.counts.cached_input_tokens, Some(3));
        assert_eq!(counted.counts.input_tokens, None);
        assert_eq!(counted.faults.len(), 2);
        assert_eq!(count(&mut Raw::Value(json!([]))).faults.len(), 1);
        let none = count(&mut Raw::default());
        assert!(none.faults.is_empty() && none.counts.is_unknown());
    }
}
