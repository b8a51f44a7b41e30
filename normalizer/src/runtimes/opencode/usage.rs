//! The tokens of a step.
//!
//! `input` excludes what was read from the cache and what was written to it, and `output` excludes
//! the reasoning.

use runtape_core::TokenCounts;
use serde_json::Value;

use super::wire::Tokens;
use crate::bounds::{self, Numbers};
use crate::json::Raw;

/// The counters of a step, and what of them was no number.
pub(super) struct Counted {
    pub(super) counts: TokenCounts,
    pub(super) faults: Vec<String>,
    /// Keys that were there and are not known.
    pub(super) unknown: Vec<Box<str>>,
}

/// What is stated, by its names.
struct Stated {
    input: Option<i64>,
    output: Option<i64>,
    reasoning: Option<i64>,
    read: Option<i64>,
    written: Option<i64>,
}

impl Stated {
    fn counts(&self) -> TokenCounts {
        let with = |count: Option<i64>, more: Option<i64>| {
            count.map(|count| count.saturating_add(more.unwrap_or(0)))
        };
        let counts = TokenCounts {
            input_tokens: with(self.input, self.written),
            cached_input_tokens: self.read,
            output_tokens: with(self.output, self.reasoning),
            reasoning_tokens: self.reasoning,
            ..TokenCounts::default()
        };
        counts.with_writes(self.written, None)
    }
}

/// Reads the tokens of a step, without making a value of them if they are as they are today.
pub(super) fn count(tokens: &mut Raw<'_>) -> Counted {
    if let Some(tokens) = tokens.read::<Tokens>() {
        let count = |count: Option<u64>| count.map(bounds::count);
        let stated = Stated {
            input: count(tokens.input),
            output: count(tokens.output),
            reasoning: count(tokens.reasoning),
            read: count(tokens.cache.read),
            written: count(tokens.cache.write),
        };
        let mut unknown = tokens.unknown;
        unknown.extend(tokens.cache.unknown);
        return Counted {
            counts: stated.counts(),
            faults: Vec::new(),
            unknown,
        };
    }
    let value = std::mem::take(tokens).into_value();
    let mut numbers = Numbers::default();
    if !value.is_object() && !value.is_null() {
        numbers.faults.push("tokens: not an object".to_owned());
    }
    let cache = value.get("cache").unwrap_or(&Value::Null);
    let mut count = |object: &Value, key: &str| numbers.count(object, &[key]);
    let stated = Stated {
        input: count(&value, "input"),
        output: count(&value, "output"),
        reasoning: count(&value, "reasoning"),
        read: count(cache, "read"),
        written: count(cache, "write"),
    };
    let counts = stated.counts();
    *tokens = Raw::Value(value);
    Counted {
        counts,
        faults: numbers.faults,
        unknown: Vec::new(),
    }
}

/// Tells whether there are tokens to be kept as they were printed.
pub(super) fn is_there(tokens: &Raw<'_>) -> bool {
    !matches!(tokens, Raw::Value(Value::Null))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cache_writes_are_input_and_reasoning_is_output() {
        let text =
            r#"{"total":97,"input":10,"output":20,"reasoning":40,"cache":{"write":3,"read":24}}"#;
        let expected = TokenCounts {
            input_tokens: Some(13),
            cached_input_tokens: Some(24),
            output_tokens: Some(60),
            reasoning_tokens: Some(40),
            cache_write_tokens: Some(3),
            ..TokenCounts::default()
        };
        for mut tokens in [
            Raw::Text(text),
            Raw::Value(serde_json::from_str(text).unwrap()),
        ] {
            let counted = count(&mut tokens);
            assert_eq!(counted.counts, expected);
            assert!(counted.faults.is_empty() && counted.unknown.is_empty());
        }
    }

    #[test]
    fn what_is_missing_is_unknown_and_what_is_no_number_is_told() {
        let counted = count(&mut Raw::Text(r#"{"input":1,"new":2}"#));
        assert_eq!(counted.counts.input_tokens, Some(1));
        assert_eq!(counted.counts.output_tokens, None);
        assert_eq!(counted.counts.cached_input_tokens, None);
        assert_eq!(counted.unknown, ["new".into()]);
        let odd = json!({"input": -1, "output": "2", "cache": {"read": 1.5}});
        assert_eq!(count(&mut Raw::Value(odd)).faults.len(), 3);
        assert_eq!(count(&mut Raw::Value(json!(5))).faults.len(), 1);
    }
}
