//! Tokens, as the published shapes count them.
//!
//! Neither shape has a word for a count that is not known: there it is 0. So three zeros of a result,
//! and zeros of a single response, are no counts.

use runtape_core::transcript::RunResult;
use runtape_core::{TokenCounts, Usage};

use crate::bounds::count;

/// Returns what a result of a transcript says was used, if it says so.
pub(super) fn of_result(result: &RunResult) -> Option<TokenCounts> {
    let counters = [
        result.input_tokens,
        result.output_tokens,
        result.cached_tokens,
    ];
    let [input, output, cached] = counters.map(|number| Some(count(number)));
    counters
        .iter()
        .any(|number| *number > 0)
        .then_some(TokenCounts {
            input_tokens: input,
            output_tokens: output,
            reasoning_tokens: None,
            cached_input_tokens: cached,
            ..TokenCounts::default()
        })
}

/// Returns what one response used: a zero may be what nobody knows.
pub(super) fn of_response(usage: &Usage) -> TokenCounts {
    let counter = |number: u64| (number > 0).then(|| count(number));
    TokenCounts {
        input_tokens: counter(usage.input_tokens),
        output_tokens: counter(usage.output_tokens),
        reasoning_tokens: counter(usage.reasoning_tokens),
        cached_input_tokens: counter(usage.cached_input_tokens),
        ..TokenCounts::default()
    }
}

/// Returns what a run used by its last checkpoint, whose metadata names the counters that are not
/// known.
pub(super) fn of_run(usage: &Usage, unknown: &[&str]) -> Option<TokenCounts> {
    if of_response(usage).is_unknown() {
        return None;
    }
    let counter = |name: &str, number: u64| (!unknown.contains(&name)).then(|| count(number));
    Some(TokenCounts {
        input_tokens: counter("inputTokens", usage.input_tokens),
        output_tokens: counter("outputTokens", usage.output_tokens),
        reasoning_tokens: counter("reasoningTokens", usage.reasoning_tokens),
        cached_input_tokens: counter("cachedInputTokens", usage.cached_input_tokens),
        ..TokenCounts::default()
    })
}
