//! Token counts under the names of several formats.
//!
//! | ours | stream-json `stats` | json `stats.models.*.tokens` | the history's `tokens` | the API |
//! |---|---|---|---|---|
//! | input | `input_tokens` - `cached` | `prompt` - `cached` | `input` - `cached` | `promptTokenCount` - `cachedContentTokenCount` |
//! | cached | `cached` | `cached` | `cached` | `cachedContentTokenCount` |
//! | reasoning | `total_tokens` - `input_tokens` - `output_tokens` | `thoughts` | `thoughts` | `thoughtsTokenCount` |
//! | output | `output_tokens` + reasoning | `candidates` + `thoughts` | `output` + `thoughts` | `candidatesTokenCount` + `thoughtsTokenCount` |

use runtape_core::TokenCounts;
use serde_json::{Map, Value};

use super::history::Tokens;
use super::wire::Totals;
use crate::bounds::{self, Numbers};
use crate::json::Raw;

type Object = Map<String, Value>;

/// Reads one object with token counts.
fn counts_of(object: &Value, numbers: &mut Numbers) -> TokenCounts {
    let mut count = |keys: &[&str]| numbers.count(object, keys);
    let cached = count(&[
        "cached",
        "cachedContentTokenCount",
        "cached_input_tokens",
        "cachedInputTokens",
        "cache_read_input_tokens",
    ]);
    let prompt = count(&["input_tokens", "inputTokens", "promptTokenCount", "prompt"]);
    let candidates = count(&[
        "output_tokens",
        "outputTokens",
        "candidatesTokenCount",
        "candidates",
    ]);
    let total = count(&["total_tokens", "totalTokens", "totalTokenCount", "total"]);
    let stated = count(&["thoughts", "thoughtsTokenCount", "thoughts_tokens"]);
    let input = count(&["input"]);
    Stated {
        cached,
        prompt,
        candidates,
        total,
        thoughts: stated,
        input,
    }
    .counts()
}

/// What is stated, whatever its name.
struct Stated {
    cached: Option<i64>,
    prompt: Option<i64>,
    candidates: Option<i64>,
    total: Option<i64>,
    thoughts: Option<i64>,
    input: Option<i64>,
}

impl Stated {
    fn counts(&self) -> TokenCounts {
        let thoughts = self.thoughts.or_else(|| {
            let rest = self.total?.checked_sub(self.prompt?)?;
            let rest = rest.checked_sub(self.candidates?)?;
            (rest >= 0).then_some(rest)
        });
        // The prompt includes what was read from the cache.
        let cached = self.cached;
        let fresh = self
            .prompt
            .map(|prompt| bounds::beyond(prompt, cached.unwrap_or(0)));
        let candidates = self.candidates;
        TokenCounts {
            input_tokens: fresh.or(self.input),
            cached_input_tokens: cached,
            output_tokens: candidates.map(|count| count.saturating_add(thoughts.unwrap_or(0))),
            reasoning_tokens: thoughts,
            ..TokenCounts::default()
        }
    }
}

/// Reads what the history says that a response used.
///
/// A count of 0 beside thoughts that were seen is unknown.
pub(super) fn of_tokens(tokens: &Tokens, has_thoughts: bool) -> TokenCounts {
    let count = |count: Option<u64>| count.map(bounds::count);
    let counts = Stated {
        cached: count(tokens.cached),
        prompt: count(tokens.input),
        candidates: count(tokens.output),
        total: count(tokens.total),
        thoughts: count(tokens.thoughts),
        input: None,
    }
    .counts();
    TokenCounts {
        reasoning_tokens: counts
            .reasoning_tokens
            .filter(|count| *count > 0 || !has_thoughts),
        ..counts
    }
}

/// What `stats` say of a run.
pub(super) struct Summed {
    pub(super) counts: TokenCounts,
    pub(super) duration_ms: Option<u64>,
    /// Numbers that are none.
    pub(super) faults: Vec<String>,
}

/// Reads `stats`, without making a value of them if they are as they are today.
pub(super) fn sum(stats: &mut Raw<'_>) -> Summed {
    if let Some(summed) = stats.read::<Totals>().and_then(|totals| totals.sum()) {
        return summed;
    }
    let value = std::mem::take(stats).into_value();
    let mut numbers = Numbers::default();
    let counts = of_stats(&value, &mut numbers);
    let summed = Summed {
        counts,
        duration_ms: numbers.millis(&value, &["duration_ms"]),
        faults: numbers.faults,
    };
    *stats = Raw::Value(value);
    summed
}

impl Totals {
    /// Nothing if that takes more than the totals.
    fn sum(&self) -> Option<Summed> {
        let count = |count: Option<u64>| count.map(bounds::count);
        let stated = Stated {
            cached: count(self.cached),
            prompt: count(self.prompt),
            candidates: count(self.candidates),
            total: count(self.total),
            thoughts: None,
            input: count(self.input),
        };
        // Without these two, the models may say more.
        let is_whole = stated.prompt.is_some() && stated.candidates.is_some();
        (is_whole && self.unknown.is_empty()).then(|| Summed {
            counts: stated.counts(),
            duration_ms: self.duration,
            faults: Vec::new(),
        })
    }
}

/// Reads the counts of a result line: its `stats`, or what older versions had instead.
pub(super) fn of_stats(stats: &Value, numbers: &mut Numbers) -> TokenCounts {
    let inner = ["usageMetadata", "usage_metadata"]
        .iter()
        .find_map(|key| stats.get(*key));
    if let Some(inner) = inner.filter(|inner| inner.is_object()) {
        return counts_of(inner, numbers);
    }
    let counts = counts_of(stats, numbers);
    if counts.is_unknown() {
        of_models(stats, numbers)
    } else {
        counts
    }
}

/// Reads the sum over the models, from any of the formats.
pub(super) fn of_models(stats: &Value, numbers: &mut Numbers) -> TokenCounts {
    let models = stats.get("models").and_then(Value::as_object);
    let all = models
        .into_iter()
        .flat_map(Object::values)
        .filter_map(|model| {
            let tokens = model.get("tokens").unwrap_or(model);
            tokens.is_object().then(|| counts_of(tokens, numbers))
        });
    all.fold(TokenCounts::default(), TokenCounts::plus)
}

/// Returns the model that did the main work, from the json format's `stats`.
///
/// Routers and sub-agents have other roles. The first one wins where several did it.
pub(super) fn main_model(stats: &Value) -> Option<&str> {
    let models = stats.get("models")?.as_object()?;
    let is_main = |model: &Value| {
        model
            .get("roles")
            .is_some_and(|roles| roles.get("main").is_some())
    };
    let main = models.iter().find(|(_, model)| is_main(model));
    main.or_else(|| models.iter().next())
        .map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_stats(stats: &Value) -> TokenCounts {
        super::of_stats(stats, &mut Numbers::default())
    }

    fn of_models(stats: &Value) -> TokenCounts {
        super::of_models(stats, &mut Numbers::default())
    }

    fn numbers(counts: TokenCounts) -> [Option<i64>; 4] {
        [
            counts.input_tokens,
            counts.cached_input_tokens,
            counts.output_tokens,
            counts.reasoning_tokens,
        ]
    }

    #[test]
    fn every_format_gives_the_same_counts() {
        let expected = [Some(586), Some(2040), Some(272), Some(204)];
        let stream = json!({"total_tokens": 2898, "input_tokens": 2626, "output_tokens": 68,
            "cached": 2040, "input": 586, "duration_ms": 321, "tool_calls": 1, "models": {}});
        assert_eq!(numbers(of_stats(&stream)), expected);
        let document = json!({"models": {"m": {"tokens": {"input": 586, "prompt": 2626,
            "candidates": 68, "total": 2898, "cached": 2040, "thoughts": 204, "tool": 0}}}});
        assert_eq!(numbers(of_stats(&document)), expected);
        let metadata = json!({"usageMetadata": {"promptTokenCount": 2626,
            "candidatesTokenCount": 68, "cachedContentTokenCount": 2040,
            "thoughtsTokenCount": 204}});
        assert_eq!(numbers(of_stats(&metadata)), expected);
    }

    #[test]
    fn totals_are_read_from_the_text_as_from_the_value() {
        let table = [
            r#"{"total_tokens":2898,"input_tokens":2626,"output_tokens":68,"cached":2040,"input":586,"duration_ms":321,"tool_calls":1,"models":{"m":{"cached":1}}}"#,
            r#"{"total_tokens":1,"input_tokens":5,"output_tokens":5,"duration_ms":null}"#,
            r#"{"input_tokens":0,"output_tokens":0,"models":{}}"#,
            r#"{"input_tokens":9,"output_tokens":1,"thoughts":3}"#,
            r#"{"input_tokens":9,"output_tokens":"1"}"#,
            r#"{"input_tokens":9,"output_tokens":-1,"duration_ms":2.0}"#,
            r#"{"input_tokens":9,"input_tokens":8,"output_tokens":1}"#,
            r#"{"input_tokens":9,"output_tokens":1,"usageMetadata":{"promptTokenCount":3}}"#,
            r#"{"models":{"m":{"tokens":{"prompt":3}}}}"#,
            "{}",
            "[]",
        ];
        for text in table {
            let value: Value = serde_json::from_str(text).unwrap();
            let mut raw = Raw::Text(text);
            let summed = sum(&mut raw);
            assert_eq!(summed.counts, of_stats(&value), "{text}");
            assert_eq!(
                summed.duration_ms,
                Numbers::default().millis(&value, &["duration_ms"]),
                "{text}"
            );
            assert_eq!(raw.into_value(), value);
        }
    }

    #[test]
    fn models_are_added_up_and_not_added_to_their_sum() {
        let tokens = |n: i64| json!({"total_tokens": 3 * n, "input_tokens": n, "output_tokens": n, "cached": 0});
        let models = json!({"a": tokens(1), "b": tokens(10)});
        assert_eq!(
            numbers(of_models(&json!({"models": models}))),
            [Some(11), Some(0), Some(22), Some(11)]
        );
        let both =
            json!({"total_tokens": 33, "input_tokens": 11, "output_tokens": 11, "models": models});
        assert_eq!(
            numbers(of_stats(&both)),
            [Some(11), None, Some(22), Some(11)]
        );
    }

    #[test]
    fn what_is_not_stated_is_unknown() {
        assert!(of_stats(&json!(null)).is_unknown());
        assert!(of_stats(&json!({"models": {}})).is_unknown());
        assert!(of_stats(&json!({"input_tokens": "7", "output_tokens": -1})).is_unknown());
        let partial = of_stats(&json!({"input_tokens": 9095, "output_tokens": 29, "cached": 8132}));
        assert_eq!(numbers(partial), [Some(963), Some(8132), Some(29), None]);
        let inconsistent = json!({"total_tokens": 1, "input_tokens": 5, "output_tokens": 5});
        assert_eq!(
            numbers(of_stats(&inconsistent)),
            [Some(5), None, Some(5), None]
        );
    }

    #[test]
    fn the_main_model_is_the_one_with_the_main_role() {
        let stats = json!({"models": {"lite": {"roles": {"utility_router": {}}},
            "pro": {"roles": {"main": {}}}}});
        assert_eq!(main_model(&stats), Some("pro"));
        assert_eq!(
            main_model(&json!({"models": {"a": {}, "b": {}}})),
            Some("a")
        );
        assert_eq!(main_model(&json!({"models": {}})), None);
    }
}
