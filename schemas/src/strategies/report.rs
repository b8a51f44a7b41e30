//! What commands print for programs.

use proptest::prelude::*;
use runtape_core::record::UsageSource;
use runtape_core::report::{
    AdapterCapabilities, BackupReport, CheckLevel, CheckpointDiff, DoctorCheck, DoctorReport,
    DoctorStatus, Document, Drift, DriftKind, ExitInfo, ExportedFile, ExportedTree, Failure,
    FaultPlace, FieldChange, FileUse, FormatInfo, GcReport, ImportedRun, IngestGroup, IngestLine,
    IngestOutcome, IngestSummary, IngestedFile, JobInfo, LedgerEntry, RawOutput, RebuiltRun,
    RecordReport, RecoveredRun, RecoverySource, Removal, RemovalReason, RenormalizedRun, RunDetail,
    RunInfo, RunOrigin, RunSeal, RuntimeInfo, SchemaInfo, SealHead, SearchHit, SessionAnswer,
    SnippetPart, SqlRow, StepInfo, StoreStats, TableStats, ToolCallInfo, ToolUse, TreeFault,
    TreeLine, TreeOutcome, TreeRun, TreeVintage, Unseen, UsageGroup, ValidationCounts,
    ValidationFault, ValidationLine, ValidationUnknown, VerifyFault, VerifyReport,
};
use runtape_core::{Stream, iso_time};

use super::leaf::{
    checkpoint_id, count, finite, job_id, json, named_object, run_id, runtime, signed, text,
};
use super::run::{error_family, job_status, status, token_counts};
use super::summary;
use super::{build, maybe, some, word};

/// A time that a calendar has.
fn time() -> BoxedStrategy<i64> {
    prop_oneof![4 => 0..2_000_000_000_000_i64, 1 => -60_000_000_000_000..250_000_000_000_000_i64]
        .boxed()
}

fn failure() -> BoxedStrategy<Failure> {
    build!(Failure {
        name: text(),
        message: text(),
        status_code: maybe(any::<u16>()),
        is_retryable: any::<bool>(),
        family: maybe(error_family()),
        retry_at: maybe(time()),
    })
}

fn exit() -> BoxedStrategy<ExitInfo> {
    build!(ExitInfo {
        code: maybe(any::<i32>()),
        signal: maybe(text()),
        timed_out: any::<bool>(),
        recorder_lost: any::<bool>(),
    })
}

fn outcome() -> BoxedStrategy<IngestOutcome> {
    word(&[
        IngestOutcome::Stored,
        IngestOutcome::Skipped,
        IngestOutcome::Unusable,
    ])
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
        expert_key: maybe(text()),
        model: maybe(text()),
        session_id: maybe(text()),
        cwd: maybe(text()),
        cli_version: maybe(text()),
        started_at: time(),
        finished_at: maybe(time()),
        duration_ms: maybe(signed()),
        steps: count(),
        messages: count(),
        records: count(),
        unparsed: count(),
        usage: token_counts(),
        cost_usd: maybe(finite()),
        error: maybe(failure()),
        seal: maybe(count()),
    })
}

/// Any job in a list.
pub fn job_info() -> BoxedStrategy<JobInfo> {
    build!(JobInfo {
        job_id: job_id(),
        status: job_status(),
        expert_key: text(),
        runs: count(),
        steps: count(),
        usage: token_counts(),
        cost_usd: maybe(finite()),
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

/// Any run with its steps and children.
pub fn run_detail() -> BoxedStrategy<RunDetail> {
    build!(RunDetail {
        run: run_info(),
        children: some(run_info()),
        steps_ended: some(step_info()),
        final_text: maybe(text()),
        exit: maybe(exit()),
        stdout_bytes: count(),
        stderr_bytes: count(),
        origin: maybe(build!(RunOrigin {
            seal: maybe(build!(SealHead {
                number: count(),
                hash: text()
            })),
            sealed_at: maybe(time()),
            is_verified: any::<bool>(),
            imported_at: time(),
        })),
    })
}

/// Any seal over a run.
fn run_seal() -> BoxedStrategy<RunSeal> {
    build!(RunSeal {
        run_id: run_id(),
        number: count(),
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
        started_at: maybe(time()),
        reason: maybe(text()),
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
        rank: finite(),
        snippet: some(build!(SnippetPart {
            text: text(),
            is_match: any::<bool>()
        })),
    })
}

/// Any usage of a group.
pub fn usage_group() -> BoxedStrategy<UsageGroup> {
    build!(UsageGroup {
        name: maybe(text()),
        runs: count(),
        usage: token_counts(),
        cost_usd: maybe(finite()),
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
        is_repeated: any::<bool>(),
        of_session: any::<bool>(),
    })
}

/// Any use of a tool.
pub fn tool_use() -> BoxedStrategy<ToolUse> {
    build!(ToolUse {
        runtime: runtime(),
        tool: text(),
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
        command: maybe(text()),
        path: maybe(text()),
        url: maybe(text()),
        is_error: maybe(any::<bool>()),
        duration_ms: maybe(signed()),
        result_seq: maybe(count()),
    })
}

/// Any use of a file.
pub fn file_use() -> BoxedStrategy<FileUse> {
    build!(FileUse {
        path: text(),
        tool: text(),
        calls: count(),
        errors: count(),
        runs: count(),
        run_id: run_id(),
        last_at: time().prop_map(iso_time),
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

/// Any line of an ingest.
pub fn ingest_line() -> BoxedStrategy<IngestLine> {
    let file = build!(IngestedFile {
        path: text(),
        outcome: outcome(),
        run_id: maybe(run_id()),
        run: maybe(run_info()),
        reason: maybe(text()),
    });
    let summary = build!(IngestSummary {
        stored: count(),
        skipped: count(),
        unusable: count(),
        ignored: count(),
        groups: some(build!(IngestGroup {
            runtime: runtime(),
            status: status(),
            runs: count(),
            steps: count(),
            records: count(),
            unparsed: count(),
            usage: token_counts(),
            cost_usd: maybe(finite()),
        })),
    });
    prop_oneof![
        file.prop_map(|file| IngestLine::File(Box::new(file))),
        summary.prop_map(IngestLine::Summary),
    ]
    .boxed()
}

/// Any run that was imported.
pub fn imported_run() -> BoxedStrategy<ImportedRun> {
    build!(ImportedRun {
        path: text(),
        run_id: run_id(),
        outcome: outcome(),
    })
}

/// Any file that was exported.
pub fn exported_file() -> BoxedStrategy<ExportedFile> {
    build!(ExportedFile {
        file: text(),
        bytes: count(),
        runs: some(run_id()),
        digest: maybe(text()),
        seals: some(run_seal()),
    })
}

/// Any line of what was read of job trees.
pub fn tree_line() -> BoxedStrategy<TreeLine> {
    let run = build!(TreeRun {
        job_id: job_id(),
        run_id: run_id(),
        outcome: word(&[
            TreeOutcome::Stored,
            TreeOutcome::Skipped,
            TreeOutcome::Differs,
        ]),
        vintage: word(&[TreeVintage::Seed, TreeVintage::Epic, TreeVintage::Head]),
        children: count(),
    });
    let fault = build!(TreeFault {
        path: text(),
        reason: text(),
    });
    prop_oneof![run.prop_map(TreeLine::Run), fault.prop_map(TreeLine::Fault),].boxed()
}

/// Any job tree that was written.
pub fn exported_tree() -> BoxedStrategy<ExportedTree> {
    build!(ExportedTree {
        job_id: job_id(),
        path: text(),
        runs: count(),
        checkpoints: count(),
        events: count(),
        bytes: count(),
    })
}

/// Any report of a recording.
pub fn record_report() -> BoxedStrategy<RecordReport> {
    build!(RecordReport {
        run_id: run_id(),
        job_id: job_id(),
        runtime: runtime(),
        session_id: maybe(text()),
        model: maybe(text()),
        status: status(),
        error: maybe(failure()),
        steps: count(),
        usage: maybe(summary::usage()),
        cost_usd: maybe(finite()),
        duration_ms: maybe(signed()),
        final_text: maybe(text()),
        exit: exit(),
        is_stored: any::<bool>(),
        spool: maybe(text()),
        lost_bytes: count(),
    })
}

/// Any run that was recovered.
pub fn recovered_run() -> BoxedStrategy<RecoveredRun> {
    build!(RecoveredRun {
        run_id: run_id(),
        source: word(&[RecoverySource::Tape, RecoverySource::Spool]),
        status: status(),
        error: maybe(failure()),
    })
}

/// Any run that was normalized again.
pub fn renormalized_run() -> BoxedStrategy<RenormalizedRun> {
    build!(RenormalizedRun {
        run_id: run_id(),
        same: count(),
        changed: count(),
        added: count(),
        removed: count(),
    })
}

fn fault_place() -> BoxedStrategy<FaultPlace> {
    prop_oneof![
        Just(FaultPlace::File),
        run_id().prop_map(|run_id| FaultPlace::Run { run_id }),
        (run_id(), count()).prop_map(|(run_id, seq)| FaultPlace::Record { run_id, seq }),
        (run_id(), count()).prop_map(|(run_id, block)| FaultPlace::Tape { run_id, block }),
        (text(), run_id(), count()).prop_map(|(table, run_id, seq)| FaultPlace::Row {
            table,
            run_id,
            seq
        }),
        count().prop_map(|number| FaultPlace::Seal { number }),
    ]
    .boxed()
}

/// Any report of verifying.
pub fn verify_report() -> BoxedStrategy<VerifyReport> {
    build!(VerifyReport {
        runs: count(),
        open_runs: count(),
        records: count(),
        tape_bytes: count(),
        head: maybe(build!(SealHead {
            number: count(),
            hash: text()
        })),
        removals: some(build!(Removal {
            run_id: run_id(),
            seal: count(),
            reason: word(RemovalReason::KNOWN),
            at: time(),
        })),
        faults: some(build!(VerifyFault {
            place: fault_place(),
            fault: text()
        })),
        bundle: maybe(some(run_seal())),
        unseen: some(word(&[Unseen::CutOffTail, Unseen::NewHashes])),
    })
}

/// Any statistics.
pub fn store_stats() -> BoxedStrategy<StoreStats> {
    build!(StoreStats {
        jobs: count(),
        runs: count(),
        open_runs: count(),
        records: count(),
        tape_bytes: count(),
        record_bytes: count(),
        database_bytes: count(),
        free_bytes: count(),
        search_bytes: count(),
        tables: some(build!(TableStats {
            name: text(),
            bytes: count()
        })),
    })
}

/// Any report of giving things up.
pub fn gc_report() -> BoxedStrategy<GcReport> {
    build!(GcReport {
        is_dry_run: any::<bool>(),
        deleted_runs: some(run_id()),
        dropped_tapes: count(),
        dropped_tape_bytes: count(),
        bytes_before: count(),
        bytes_after: count(),
        is_erased: maybe(any::<bool>()),
    })
}

/// Any run whose tables were made anew.
pub fn rebuilt_run() -> BoxedStrategy<RebuiltRun> {
    build!(RebuiltRun {
        run_id: run_id(),
        runs: count(),
        records: count(),
        steps: count(),
        tool_calls: count(),
        notices: count(),
        unparsed: count(),
        usage_entries: count(),
    })
}

/// Any report of a backup.
pub fn backup_report() -> BoxedStrategy<BackupReport> {
    build!(BackupReport {
        file: text(),
        bytes: count(),
    })
}

/// Any diagnosis.
pub fn doctor_report() -> BoxedStrategy<DoctorReport> {
    build!(DoctorReport {
        status: word(&[DoctorStatus::Pass, DoctorStatus::Warn, DoctorStatus::Fail]),
        checks: some(build!(DoctorCheck {
            code: text(),
            level: word(&[CheckLevel::Info, CheckLevel::Warn, CheckLevel::Error]),
            message: text(),
            detail: maybe(text()),
            hint: maybe(text()),
        })),
        adapter_type: text(),
        tested_at: time(),
    })
}

/// Any runtime that can be read.
pub fn runtime_info() -> BoxedStrategy<RuntimeInfo> {
    build!(RuntimeInfo {
        runtime: runtime(),
        commands: some(text()),
        formats: some(text()),
        installed: maybe(text()),
        adapter_type: text(),
        capabilities: build!(AdapterCapabilities {
            supports_local_agent_jwt: any::<bool>(),
            supports_instructions_bundle: any::<bool>(),
            instructions_path_key: maybe(text().prop_map(Into::into)),
            requires_materialized_runtime_skills: any::<bool>(),
        }),
        output_formats: some(build!(FormatInfo {
            name: text(),
            flags: text(),
            carries: some(text()),
        })),
        best_format: maybe(text()),
        versions: some(text()),
    })
}

/// Any schema that is published.
pub fn schema_info() -> BoxedStrategy<SchemaInfo> {
    build!(SchemaInfo {
        kind: text(),
        id: text(),
    })
}

/// Any line of validating.
pub fn validation_line() -> BoxedStrategy<ValidationLine> {
    let fault = build!(ValidationFault {
        line: count(),
        tag: maybe(text()),
        path: text(),
        message: text(),
        schema_path: text(),
    });
    let unknown = build!(ValidationUnknown {
        line: count(),
        tag: text(),
    });
    let counts = build!(ValidationCounts {
        valid: count(),
        unknown: count(),
        invalid: count(),
    });
    prop_oneof![
        fault.prop_map(ValidationLine::Invalid),
        unknown.prop_map(ValidationLine::Unknown),
        counts.prop_map(ValidationLine::Summary),
    ]
    .boxed()
}

/// Any document.
pub fn document() -> BoxedStrategy<Document> {
    build!(Document {
        name: text(),
        file: maybe(text()),
        text: maybe(text()),
    })
}
