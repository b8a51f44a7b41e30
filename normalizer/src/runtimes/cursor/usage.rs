//! Token counts of a result.

use runtape_core::TokenCounts;
use serde_json::Value;

use crate::bounds::Numbers;

/// Maps the counters. `inputTokens` has neither what was read from the cache nor what was written.
pub(super) fn counts(usage: &Value, numbers: &mut Numbers) -> TokenCounts {
    let mut count = |keys: &[&str]| numbers.count(usage, keys);
    let input = count(&["inputTokens", "input_tokens"]);
    let written = count(&["cacheWriteTokens", "cache_creation_input_tokens"]);
    let counts = TokenCounts {
        input_tokens: input.map(|input| input.saturating_add(written.unwrap_or(0))),
        output_tokens: count(&["outputTokens", "output_tokens"]),
        reasoning_tokens: None,
        cached_input_tokens: count(&[
            "cacheReadTokens",
            "cachedInputTokens",
            "cached_input_tokens",
            "cache_read_input_tokens",
        ]),
        ..TokenCounts::default()
    };
    counts.with_writes(written, None)
}
