//! Summaries.

use proptest::prelude::*;
use runtape_core::{
    Outcome, RunSummary, SummaryError, SummaryNotice, SummaryRun, SummaryToolCall, SummaryUnparsed,
    SummaryUsage,
};

use super::leaf::{count, finite, json, run_id, runtime, signed, text, tool_call_id};
use super::run::{error_family, status};
use super::{build, maybe, some};

/// Any summary.
pub fn summary() -> BoxedStrategy<RunSummary> {
    build!(RunSummary {
        runtime: runtime(),
        output_format: maybe(text()),
        session_id: maybe(text()),
        model: maybe(text()),
        cli_version: maybe(text()),
        cwd: maybe(text()),
        status: status(),
        outcome: Just(Outcome::default()),
        steps: count(),
        duration_ms: maybe(signed()),
        usage: maybe(usage()),
        cost_usd: maybe(finite()),
        final_text: maybe(text()),
        texts: some(text()),
        thinking: some(text()),
        tool_calls: some(tool_call()),
        error: maybe(error()),
        runs: some(build!(SummaryRun {
            run_id: run_id(),
            parent_tool_call_id: maybe(tool_call_id()),
        })),
        notices: some(build!(SummaryNotice {
            kind: text(),
            text: text()
        })),
        unparsed: some(unparsed()),
    })
}

pub(super) fn usage() -> BoxedStrategy<SummaryUsage> {
    build!(SummaryUsage {
        input_tokens: maybe(signed()),
        output_tokens: maybe(signed()),
        reasoning_tokens: maybe(signed()),
        total_tokens: maybe(signed()),
        cached_input_tokens: maybe(signed()),
    })
}

fn tool_call() -> BoxedStrategy<SummaryToolCall> {
    build!(SummaryToolCall {
        id: text(),
        name: text(),
        input: json(),
        is_error: maybe(any::<bool>()),
        output: maybe(text()),
        step: count(),
        run_id: run_id(),
    })
}

fn error() -> BoxedStrategy<SummaryError> {
    build!(SummaryError {
        name: text(),
        message: text(),
        status_code: maybe(any::<u16>()),
        is_retryable: any::<bool>(),
        family: maybe(error_family()),
        retry_at: maybe(signed()),
    })
}

fn unparsed() -> BoxedStrategy<SummaryUnparsed> {
    (maybe(text()), count(), text())
        .prop_map(|(r#type, line, reason)| SummaryUnparsed {
            r#type,
            line,
            reason,
        })
        .boxed()
}
