//! What queries answer to programs.

use proptest::prelude::*;
use runtape_core::record::UsageSource;
use runtape_core::report::{
    CheckpointDiff, Cost, CostEstimate, Drift, DriftKind, ExitInfo, Failure, FailureSum,
    FieldChange, FileAccess, FileCall, FileUse, HostUse, JobDetail, JobInfo, KnownBy, LedgerEntry,
    ModelPrice, NetworkCall, NoticeInfo, OpenStep, RawOutput, RunDetail, RunInfo, RunOrigin,
    RunSeal, SealHead, SealName, SearchHit, SearchRole, SearchedRun, SessionAnswer, SessionInfo,
    ShellEffects, SnippetPart, SqlRow, StepInfo, ToolCallInfo, ToolUse, UsageGroup, UsageKey,
};
use runtape_core::{Stream, ToolClass};

use super::leaf::{
    checkpoint_id, count, finite, job_id, json, named_object, run_id, runtime, signed, text,
};
use super::redaction::run_redaction;
use super::run::{error_family, job_status, outcome, status, token_counts};
use super::{build, maybe, some, word};

/// A time that a calendar has.
pub(super) fn time() -> BoxedStrategy<i64> {
    prop_oneof![4 => 0..2_000_000_000_000_i64, 1 => -60_000_000_000_000..250_000_000_000_000_i64]
        .boxed()
}

pub(super) fn failure() -> BoxedStrategy<Failure> {
    build!(Failure {
        name: text(),
        message: text(),
        status_code: maybe(any::<u16>()),
        is_retryable: any::<bool>(),
        family: maybe(error_family()),
        retry_at: maybe(time()),
    })
}

pub(super) fn exit() -> BoxedStrategy<ExitInfo> {
    build!(ExitInfo {
        code: maybe(any::<i32>()),
        signal: maybe(text()),
        timed_out: any::<bool>(),
        recorder_lost: any::<bool>(),
    })
}

/// Any cost.
pub(super) fn cost() -> BoxedStrategy<Cost> {
    let estimate = build!(CostEstimate {
        estimated_cost_usd: maybe(finite()),
        unpriced_models: some(text()),
        has_unnamed_model: any::<bool>(),
        price_table: maybe(text()),
    });
    let parts = (maybe(finite()), estimate, maybe(signed()), token_counts());
    parts
        .prop_map(|(reported, estimate, writes, before)| {
            Cost::new(reported, estimate)
                .with_cache_writes(writes)
                .with_counted_before(before)
        })
        .boxed()
}

/// Any run in a list.
pub fn run_info() -> BoxedStrategy<RunInfo> {
    build!(RunInfo {
        job_id: job_id(),
        run_id: run_id(),
        root_run_id: maybe(run_id()),
        parent_run_id: maybe(run_id()),
        runtime: runtime(),
        status: status(),
        outcome: outcome(),
        title: maybe(text()),
        expert_key: maybe(text()),
        model: maybe(text()),
        session_id: maybe(text()),
        cwd: maybe(text()),
        cli_version: maybe(text()),
        started_at: time(),
        finished_at: maybe(time()),
        duration_ms: maybe(signed()),
        reported_duration_ms: maybe(signed()),
        prompt: maybe(text()),
        argv: maybe(proptest::collection::vec(text(), 0..3)),
        permission_mode: maybe(text()),
        host: maybe(text()),
        user: maybe(text()),
        exit_code: maybe(signed()),
        signal: maybe(text()),
        git_commit: maybe(text()),
        git_branch: maybe(text()),
        labels: proptest::collection::btree_map(text(), text(), 0..3),
        steps: count(),
        messages: count(),
        records: count(),
        unparsed: count(),
        usage: token_counts(),
        cost: cost(),
        error: maybe(failure()),
        seal: maybe(count()),
        seal_chain: chain(),
    })
}

/// Any job in a list.
pub fn job_info() -> BoxedStrategy<JobInfo> {
    build!(JobInfo {
        job_id: job_id(),
        status: job_status(),
        outcome: outcome(),
        expert_key: text(),
        runs: count(),
        steps: count(),
        usage: token_counts(),
        cost: cost(),
        started_at: time(),
        finished_at: maybe(time()),
    })
}

fn step_info() -> BoxedStrategy<StepInfo> {
    build!(StepInfo {
        step: count(),
        checkpoint_id: checkpoint_id(),
        seq: count(),
        status: status(),
        started_at: time(),
        finished_at: time(),
        messages: count(),
        tool_calls: count(),
        pending_tool_calls: count(),
        usage: token_counts(),
    })
}

/// Any job with its runs.
pub fn job_detail() -> BoxedStrategy<JobDetail> {
    build!(JobDetail {
        job: job_info(),
        root_runs: some(run_info()),
        session_id: maybe(text()),
        session_run_id: maybe(run_id()),
    })
}

/// Any run with its steps and children.
pub fn run_detail() -> BoxedStrategy<RunDetail> {
    build!(RunDetail {
        run: run_info(),
        children: some(run_info()),
        steps_ended: some(step_info()),
        query: maybe(text()),
        final_text: maybe(text()),
        exit: maybe(exit()),
        stdin_bytes: count(),
        stdout_bytes: count(),
        stderr_bytes: count(),
        origin: maybe(build!(RunOrigin {
            seal: maybe(seal_head()),
            sealed_at: maybe(time()),
            is_verified: any::<bool>(),
            imported_at: time(),
        })),
        redaction: maybe(run_redaction()),
        open_step: maybe(build!(OpenStep {
            step: count(),
            started_at: time(),
            text: maybe(text()),
            calls: some(tool_call_info()),
        })),
    })
}

/// Any name of a seal, most often one of the first chain.
pub(super) fn seal_name() -> BoxedStrategy<SealName> {
    build!(SealName {
        chain: chain(),
        number: count(),
    })
}

/// Any chain of seals, most often the first.
pub(super) fn chain() -> BoxedStrategy<u32> {
    prop_oneof![Just(0), any::<u32>()].boxed()
}

/// Any entry of a chain of seals.
pub(super) fn seal_head() -> BoxedStrategy<SealHead> {
    build!(SealHead {
        name: seal_name(),
        hash: text(),
        is_epoch: any::<bool>()
    })
}

/// Any seal over a run.
pub(super) fn run_seal() -> BoxedStrategy<RunSeal> {
    build!(RunSeal {
        run_id: run_id(),
        name: seal_name(),
        hash: text(),
        at: time(),
    })
}

/// Any answer to who is to be resumed.
pub fn session_answer() -> BoxedStrategy<SessionAnswer> {
    build!(SessionAnswer {
        session_id: maybe(text()),
        run_id: maybe(run_id()),
        job_id: maybe(job_id()),
        runtime: maybe(runtime()),
        cwd: maybe(text()),
        status: maybe(status()),
        outcome: maybe(outcome()),
        started_at: maybe(time()),
        reason: maybe(text()),
    })
}

/// Any session in a list.
pub fn session_info() -> BoxedStrategy<SessionInfo> {
    build!(SessionInfo {
        runtime: runtime(),
        session_id: text(),
        cwd: maybe(text()),
        title: maybe(text()),
        prompt: maybe(text()),
        model: maybe(text()),
        runs: count(),
        usage: token_counts(),
        cost: cost(),
        status: status(),
        outcome: outcome(),
        error: maybe(failure()),
        started_at: time(),
        last_active_at: time(),
        latest_run_id: run_id(),
        resume: maybe(text()),
    })
}

/// Any hit of a search.
pub fn search_hit() -> BoxedStrategy<SearchHit> {
    build!(SearchHit {
        job_id: job_id(),
        run_id: run_id(),
        runtime: runtime(),
        seq: count(),
        step: count(),
        at: time(),
        role: prop::sample::select(vec![
            SearchRole::User,
            SearchRole::Instruction,
            SearchRole::Expert,
            SearchRole::Tool,
            SearchRole::Error,
            SearchRole::Notice,
        ]),
        reference: text(),
        snippet: some(build!(SnippetPart {
            text: text(),
            is_match: any::<bool>()
        })),
    })
}

/// Any run in which a search found something.
pub fn searched_run() -> BoxedStrategy<SearchedRun> {
    build!(SearchedRun {
        job_id: job_id(),
        run_id: run_id(),
        runtime: runtime(),
        hits: count(),
        latest: search_hit(),
    })
}

/// Any usage of a group.
pub fn usage_group() -> BoxedStrategy<UsageGroup> {
    build!(UsageGroup {
        name: maybe(text()),
        keys: some(build!(UsageKey {
            by: text(),
            name: maybe(text()),
        })),
        runs: count(),
        usage: token_counts(),
        cost: cost(),
    })
}

/// Any price of a model.
pub fn model_price() -> BoxedStrategy<ModelPrice> {
    build!(ModelPrice {
        model: text(),
        name: maybe(text()),
        provider: maybe(text()),
        input: maybe(finite()),
        output: maybe(finite()),
        cache_read: maybe(finite()),
        cache_write: maybe(finite()),
        cache_write_1h: maybe(finite()),
        long_input: maybe(finite()),
        long_output: maybe(finite()),
        long_cache_read: maybe(finite()),
        price_table: text(),
        source: text(),
        taken: text(),
    })
}

/// Any entry of the ledger.
pub fn ledger_entry() -> BoxedStrategy<LedgerEntry> {
    build!(LedgerEntry {
        run_id: run_id(),
        seq: count(),
        at: time(),
        key: text(),
        source: word(&[
            UsageSource::Response,
            UsageSource::Total,
            UsageSource::Remainder
        ]),
        step: maybe(count()),
        model: maybe(text()),
        usage: token_counts(),
        cache_write_tokens: maybe(signed()),
        cache_write_1h_tokens: maybe(signed()),
        is_repeated: any::<bool>(),
        of_session: any::<bool>(),
        price_model: maybe(text()),
        estimated_cost_usd: maybe(finite()),
        price_table: maybe(text()),
    })
}

/// Any use of a tool.
pub fn tool_use() -> BoxedStrategy<ToolUse> {
    build!(ToolUse {
        runtime: runtime(),
        tool: text(),
        class: maybe(word(&ToolClass::ALL)),
        calls: count(),
        errors: count(),
        unanswered: count(),
        runs: count(),
        mean_ms: maybe(finite()),
        last_at: time(),
    })
}

/// Any call of a tool.
pub fn tool_call_info() -> BoxedStrategy<ToolCallInfo> {
    build!(ToolCallInfo {
        job_id: job_id(),
        run_id: run_id(),
        runtime: runtime(),
        step: count(),
        seq: count(),
        at: time(),
        tool: text(),
        class: maybe(word(&ToolClass::ALL)),
        cwd: maybe(text()),
        command: maybe(text()),
        path: maybe(text()),
        paths: some(text()),
        url: maybe(text()),
        is_error: maybe(any::<bool>()),
        duration_ms: maybe(signed()),
        result_seq: maybe(count()),
        is_running: any::<bool>(),
        known_by: maybe(known_by()),
        shell: maybe(shell_effects()),
    })
}

/// Any use of a file.
pub fn file_use() -> BoxedStrategy<FileUse> {
    build!(FileUse {
        path: text(),
        calls: count(),
        reads: count(),
        writes: count(),
        tools: some(text()),
        known_by: maybe(known_by()),
        errors: count(),
        runs: count(),
        run_id: run_id(),
        last_at: time(),
    })
}

/// Any call that touched a file.
pub fn file_call() -> BoxedStrategy<FileCall> {
    build!(FileCall {
        path: text(),
        access: maybe(file_access()),
        known_by: maybe(known_by()),
        call: tool_call_info(),
    })
}

fn file_access() -> BoxedStrategy<FileAccess> {
    use FileAccess::{Delete, Read, Search, Write};
    word(&[Read, Write, Delete, Search]).boxed()
}

fn known_by() -> BoxedStrategy<KnownBy> {
    word(&[KnownBy::Shell, KnownBy::Guess]).boxed()
}

fn shell_effects() -> BoxedStrategy<ShellEffects> {
    build!(ShellEffects {
        read: some(text()),
        written: some(text()),
        deleted: some(text()),
        hosts: some(text()),
        untold_files: count(),
        untold_hosts: count(),
    })
}

/// Any use of the network.
pub fn network_call() -> BoxedStrategy<NetworkCall> {
    build!(NetworkCall {
        host: maybe(text()),
        is_guessed: any::<bool>(),
        known_by: maybe(known_by()),
        call: tool_call_info(),
    })
}

/// Any use of a host.
pub fn host_use() -> BoxedStrategy<HostUse> {
    build!(HostUse {
        host: maybe(text()),
        is_guessed: any::<bool>(),
        known_by: maybe(known_by()),
        calls: count(),
        errors: count(),
        runs: count(),
        tools: some(text()),
        run_id: run_id(),
        last_at: time(),
    })
}

/// Any sum of failures.
pub fn failure_sum() -> BoxedStrategy<FailureSum> {
    build!(FailureSum {
        key: maybe(text()),
        runs: count(),
        retryable: count(),
        names: some(text()),
        runtimes: some(runtime()),
        run_id: run_id(),
        last_at: time(),
    })
}

/// Any notice.
pub fn notice_info() -> BoxedStrategy<NoticeInfo> {
    build!(NoticeInfo {
        job_id: job_id(),
        run_id: run_id(),
        runtime: runtime(),
        step: count(),
        seq: count(),
        at: time(),
        kind: text(),
        text: text(),
    })
}

/// Any output that was not understood.
pub fn drift() -> BoxedStrategy<Drift> {
    build!(Drift {
        kind: word(&[DriftKind::Line, DriftKind::Key]),
        runtime: runtime(),
        cli_version: maybe(text()),
        tag: maybe(text()),
        reason: text(),
        lines: count(),
        runs: count(),
        run_id: run_id(),
        seq: count(),
        excerpt: maybe(text()),
    })
}

/// Any difference between checkpoints.
pub fn checkpoint_diff() -> BoxedStrategy<CheckpointDiff> {
    build!(CheckpointDiff {
        from: checkpoint_id(),
        to: checkpoint_id(),
        changes: some(build!(FieldChange {
            path: text(),
            from: json(),
            to: json()
        })),
        same_messages: count(),
        removed_messages: some(named_object()),
        added_messages: some(named_object()),
    })
}

/// Any piece of raw output.
pub fn raw_output() -> BoxedStrategy<RawOutput> {
    build!(RawOutput {
        run_id: run_id(),
        seq: maybe(count()),
        stream: word(&[Stream::Stdout, Stream::Stderr]),
        start: count(),
        end: count(),
        text: text(),
        is_exact: any::<bool>(),
    })
}

/// Any row.
pub fn sql_row() -> BoxedStrategy<SqlRow> {
    named_object().prop_map(SqlRow).boxed()
}
