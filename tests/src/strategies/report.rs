//! What commands that do something report to programs.

use proptest::prelude::*;
use runtape_core::report::{
    AdapterCapabilities, AdapterCommand, AdapterEnvironment, AdapterFault, AdapterSession,
    BackupReport, CheckLevel, DoctorCheck, DoctorReport, DoctorStatus, Document, ExportedFile,
    ExportedTree, FaultPlace, FormatInfo, GcReport, HistoryPlace, ImportedRun, IngestGroup,
    IngestLine, IngestOutcome, IngestSummary, IngestedFile, PromptPlace, RebuiltRun, RecordReport,
    RecoveredRun, RecoverySource, Removal, RemovalReason, RenormalizedRun, RuntimeInfo, SchemaInfo,
    ServeInfo, StoreStats, SyncGroup, SyncLine, SyncSummary, SyncedSource, TableStats, TreeFault,
    TreeLine, TreeOutcome, TreeRun, TreeVintage, Unseen, ValidationCounts, ValidationFault,
    ValidationLine, ValidationUnknown, VerifyFault, VerifyReport,
};

use super::answer::{chain, cost, exit, failure, run_info, run_seal, seal_head, seal_name, time};
use super::leaf::{count, job_id, run_id, runtime, signed, text};
use super::redaction::applied_rules;
use super::run::{outcome as run_outcome, status, token_counts};
use super::summary;
use super::{build, maybe, some, word};

fn outcome() -> BoxedStrategy<IngestOutcome> {
    word(&[
        IngestOutcome::Stored,
        IngestOutcome::Skipped,
        IngestOutcome::Unusable,
    ])
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
            outcome: run_outcome(),
            runs: count(),
            steps: count(),
            records: count(),
            unparsed: count(),
            usage: token_counts(),
            cost: cost(),
        })),
    });
    prop_oneof![
        file.prop_map(|file| IngestLine::File(Box::new(file))),
        summary.prop_map(IngestLine::Summary),
    ]
    .boxed()
}

/// Any line of a sync.
pub fn sync_line() -> BoxedStrategy<SyncLine> {
    let source = build!(SyncedSource {
        runtime: runtime(),
        session_id: maybe(text()),
        paths: some(text()),
        new: some(run_id()),
        grown: some(run_id()),
        joined: some(run_id()),
        unchanged: count(),
        reason: maybe(text()),
    });
    let summary = build!(SyncSummary {
        is_dry_run: any::<bool>(),
        groups: some(build!(SyncGroup {
            runtime: runtime(),
            sessions: count(),
            new: count(),
            grown: count(),
            joined: count(),
            unchanged: count(),
            unreadable: count(),
            usage: token_counts(),
            cost: cost(),
        })),
    });
    prop_oneof![
        source.prop_map(|source| SyncLine::Source(Box::new(source))),
        summary.prop_map(SyncLine::Summary),
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
        redaction: some(applied_rules()),
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
        redaction: some(applied_rules()),
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
        outcome: run_outcome(),
        error: maybe(failure()),
        steps: count(),
        usage: maybe(summary::usage()),
        cost: cost(),
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
        outcome: run_outcome(),
        error: maybe(failure()),
    })
}

/// Any run that was normalized again.
pub fn renormalized_run() -> BoxedStrategy<RenormalizedRun> {
    build!(RenormalizedRun {
        run_id: run_id(),
        runtime: runtime(),
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
        seal_name().prop_map(FaultPlace::Seal),
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
        head: maybe(seal_head()),
        removals: some(build!(Removal {
            run_id: run_id(),
            seal: count(),
            seal_chain: chain(),
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

/// Any place where something is served.
pub fn serve_info() -> BoxedStrategy<ServeInfo> {
    build!(ServeInfo {
        url: text(),
        port: any::<u16>(),
        token: text(),
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
        history: some(build!(HistoryPlace {
            runtime: runtime(),
            path: text(),
            files: count(),
            bytes: count(),
            kept_days: maybe(any::<u32>()),
            due: count(),
        })),
    })
}

/// Any decision about a session.
pub fn adapter_session() -> BoxedStrategy<AdapterSession> {
    build!(AdapterSession {
        resume: maybe(text()),
        reason: maybe(text()),
        message: maybe(text()),
    })
}

/// Any environment of an agent CLI.
pub fn adapter_environment() -> BoxedStrategy<AdapterEnvironment> {
    let variables = || proptest::collection::btree_map(text(), text(), 0..3).boxed();
    build!(AdapterEnvironment {
        variables: variables(),
        logged: variables(),
        withheld: some(text()),
        skills_home: maybe(text()),
    })
}

/// Any command line of an agent CLI.
pub fn adapter_command() -> BoxedStrategy<AdapterCommand> {
    build!(AdapterCommand {
        program: text(),
        arguments: some(text()),
        logged_arguments: some(text()),
        prompt: word(&[PromptPlace::Stdin, PromptPlace::Argument]),
        fault: maybe(build!(AdapterFault {
            code: text(),
            message: text(),
        })),
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
        path: maybe(text()),
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
        suggested_kind: maybe(text()),
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
