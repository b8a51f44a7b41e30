//! Databases, and runs on their way between them.

use proptest::prelude::*;
use runtape_core::report::{
    CopiedRun, CopyLine, CopyOutcome, CopySummary, DatabaseStatus, LeaseInfo, MigrationReport,
    ServerStatus, TableStats,
};

use super::leaf::{count, run_id, signed, text};
use super::{build, maybe, some, word};

/// Any line of runs that are copied.
pub fn copy_line() -> BoxedStrategy<CopyLine> {
    let run = build!(CopiedRun {
        run_id: run_id(),
        outcome: word(&[
            CopyOutcome::Stored,
            CopyOutcome::Skipped,
            CopyOutcome::Open,
            CopyOutcome::Differs,
            CopyOutcome::Failed,
        ]),
        reason: maybe(text()),
    });
    let summary = build!(CopySummary {
        from: text(),
        to: text(),
        stored: count(),
        skipped: count(),
        recorded_differently: count(),
        open: count(),
        differs: count(),
        failed: count(),
    });
    prop_oneof![
        run.prop_map(CopyLine::Run),
        summary.prop_map(CopyLine::Summary),
    ]
    .boxed()
}

/// How any database is.
pub fn database_status() -> BoxedStrategy<DatabaseStatus> {
    build!(DatabaseStatus {
        database: text(),
        directory: maybe(text()),
        schema: maybe(count()),
        fault: maybe(text()),
        bytes: maybe(count()),
        server: maybe(server_status()),
    })
}

fn server_status() -> BoxedStrategy<ServerStatus> {
    build!(ServerStatus {
        version: text(),
        user: text(),
        is_encrypted: any::<bool>(),
        is_standby: any::<bool>(),
        is_synchronous: any::<bool>(),
        synchronous_commit: text(),
        partitions: maybe(count()),
        is_sharded: any::<bool>(),
        clock_difference_ms: signed(),
        leases: some(build!(LeaseInfo {
            run_id: run_id(),
            owner: text(),
            remaining_ms: signed(),
            epoch: count(),
        })),
        tables: some(build!(TableStats {
            name: text(),
            bytes: count(),
        })),
    })
}

/// Any report of a migration.
pub fn migration_report() -> BoxedStrategy<MigrationReport> {
    build!(MigrationReport {
        database: text(),
        before: maybe(count()),
        after: count(),
    })
}
