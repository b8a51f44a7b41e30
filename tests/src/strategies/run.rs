//! Usage, steps, checkpoints and jobs.

use proptest::prelude::*;
use runtape_core::{
    Checkpoint, CheckpointStatus, DelegatedBy, DelegationTarget, ErrorFamily, Expert, Job,
    JobStatus, Outcome, RunError, Step, TokenCounts, Usage,
};

use super::leaf::{
    checkpoint_id, count, finite, job_id, metadata, run_id, signed, text, tool_call_id, tool_name,
};
use super::message::{input_message, message, tool_call, tool_result};
use super::{build, maybe, some, word};

/// Any usage.
pub fn usage() -> BoxedStrategy<Usage> {
    build!(Usage {
        input_tokens: count(),
        output_tokens: count(),
        reasoning_tokens: count(),
        total_tokens: count(),
        cached_input_tokens: count(),
    })
}

pub(super) fn token_counts() -> BoxedStrategy<TokenCounts> {
    build!(TokenCounts {
        input_tokens: maybe(signed()),
        output_tokens: maybe(signed()),
        reasoning_tokens: maybe(signed()),
        cached_input_tokens: maybe(signed()),
        cache_write_tokens: Just(None),
        cache_write_1h_tokens: Just(None),
    })
}

/// Any numbers of an entry of the ledger.
pub(super) fn entry_counts() -> BoxedStrategy<TokenCounts> {
    let writes = (maybe(signed()), maybe(signed()));
    let with = |(counts, (written, for_an_hour)): (TokenCounts, _)| TokenCounts {
        cache_write_tokens: written,
        cache_write_1h_tokens: for_an_hour,
        ..counts
    };
    (token_counts(), writes).prop_map(with).boxed()
}

pub(super) fn status() -> BoxedStrategy<CheckpointStatus> {
    word(&[
        CheckpointStatus::Init,
        CheckpointStatus::Proceeding,
        CheckpointStatus::Completed,
        CheckpointStatus::StoppedByInteractiveTool,
        CheckpointStatus::StoppedByDelegate,
        CheckpointStatus::StoppedByExceededMaxSteps,
        CheckpointStatus::StoppedByError,
    ])
}

pub(super) fn outcome() -> BoxedStrategy<Outcome> {
    word(&Outcome::ALL)
}

pub(super) fn expert() -> BoxedStrategy<Expert> {
    build!(Expert {
        key: text(),
        name: text(),
        version: text()
    })
}

fn delegation_target() -> BoxedStrategy<DelegationTarget> {
    build!(DelegationTarget {
        expert: expert(),
        tool_call_id: tool_call_id(),
        tool_name: tool_name(),
        query: text(),
    })
}

pub(super) fn delegated_by() -> BoxedStrategy<DelegatedBy> {
    build!(DelegatedBy {
        expert: expert(),
        tool_call_id: tool_call_id(),
        tool_name: tool_name(),
        checkpoint_id: checkpoint_id(),
        run_id: run_id(),
    })
}

pub(super) fn error_family() -> BoxedStrategy<ErrorFamily> {
    word(&[
        ErrorFamily::Auth,
        ErrorFamily::RateLimit,
        ErrorFamily::Billing,
        ErrorFamily::Overload,
        ErrorFamily::ContextOverflow,
        ErrorFamily::Refusal,
        ErrorFamily::UnknownSession,
        ErrorFamily::ModelNotFound,
        ErrorFamily::Network,
        ErrorFamily::TurnLimit,
        ErrorFamily::Budget,
        ErrorFamily::Process,
        ErrorFamily::Other,
    ])
}

pub(super) fn run_error() -> BoxedStrategy<RunError> {
    build!(RunError {
        name: text(),
        message: text(),
        status_code: maybe(any::<u16>()),
        is_retryable: any::<bool>(),
        family: maybe(error_family()),
        retry_at: maybe(signed()),
    })
}

/// Any checkpoint.
pub fn checkpoint() -> BoxedStrategy<Checkpoint> {
    build!(Checkpoint {
        id: checkpoint_id(),
        job_id: job_id(),
        run_id: run_id(),
        status: status(),
        step_number: count(),
        messages: some(message()),
        expert: expert(),
        delegate_to: maybe(some(delegation_target())),
        delegated_by: maybe(delegated_by()),
        usage: usage(),
        context_window: maybe(count()),
        context_window_usage: maybe(finite()),
        pending_tool_calls: maybe(some(tool_call())),
        partial_tool_results: maybe(some(tool_result())),
        metadata: maybe(metadata()),
        error: maybe(run_error()),
        retry_count: maybe(count()),
    })
}

/// Any step.
pub fn step() -> BoxedStrategy<Step> {
    build!(Step {
        step_number: count(),
        input_messages: maybe(some(input_message())),
        new_messages: some(message()),
        tool_calls: maybe(some(tool_call())),
        tool_results: maybe(some(tool_result())),
        pending_tool_calls: maybe(some(tool_call())),
        partial_tool_results: maybe(some(tool_result())),
        usage: usage(),
        started_at: signed(),
        finished_at: maybe(signed()),
    })
}

pub(super) fn job_status() -> BoxedStrategy<JobStatus> {
    word(&[
        JobStatus::Running,
        JobStatus::Completed,
        JobStatus::StoppedByMaxSteps,
        JobStatus::StoppedByInteractiveTool,
        JobStatus::StoppedByError,
    ])
}

/// Any job.
pub fn job() -> BoxedStrategy<Job> {
    build!(Job {
        id: job_id(),
        status: job_status(),
        coordinator_expert_key: text(),
        total_steps: count(),
        max_steps: maybe(count()),
        usage: usage(),
        started_at: signed(),
        finished_at: maybe(signed()),
    })
}
