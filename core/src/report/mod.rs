//! What commands print for programs: every shape of `--json` that is no event, record, checkpoint
//! or transcript entry.
//!
//! Here unknown is null and a field is always there. Times are ISO 8601 texts in JSON and
//! milliseconds since 1970 in Rust.

mod adapter;
mod audit;
mod bundle;
mod calls;
mod checkpoint_diff;
mod cost;
mod counts;
mod database;
mod failure;
mod health;
mod history;
mod ingest;
mod moving;
mod output;
mod recording;
mod redaction;
mod run;
mod seal;
mod search;
mod server;
mod serving;
mod session;
mod title;
mod tree;
mod usage;

pub use adapter::{AdapterCommand, AdapterEnvironment, AdapterFault, AdapterSession, PromptPlace};
pub use audit::{Drift, DriftKind, NoticeInfo};
pub use bundle::RunOrigin;
pub use calls::{
    FileAccess, FileCall, FileUse, HostUse, KnownBy, NetworkCall, ShellEffects, ToolCallInfo,
    ToolUse,
};
pub use checkpoint_diff::{CheckpointDiff, FieldChange};
pub use cost::Cost;
pub use database::{
    BackupReport, FaultPlace, GcReport, RebuiltRun, Removal, RemovalReason, StoreStats, TableStats,
    Unseen, VerifyFault, VerifyReport,
};
pub use failure::{Failure, FailureSum};
pub use health::{
    AdapterCapabilities, CheckLevel, DoctorCheck, DoctorReport, DoctorStatus, FormatInfo,
    HistoryPlace, RuntimeInfo, SchemaInfo, ValidationCounts, ValidationFault, ValidationLine,
    ValidationUnknown,
};
pub use history::{SyncGroup, SyncLine, SyncSummary, SyncedSource};
pub use ingest::{
    ImportedRun, IngestGroup, IngestLine, IngestOutcome, IngestSummary, IngestedFile,
};
pub use moving::{CopiedRun, CopyLine, CopyOutcome, CopySummary};
pub use output::{Document, ExportedFile, RawOutput, SqlRow};
pub use recording::{ExitInfo, RecordReport, RecoveredRun, RecoverySource, RenormalizedRun};
pub use redaction::{
    AppliedRules, ConfigInfo, FoundMarker, FoundSecret, RedactLine, RedactSummary, RedactedRun,
    RedactionCounts, RunRedaction, ScanLine, ScanSummary, SecretPlace,
};
pub use run::{JobDetail, JobInfo, OpenStep, RunDetail, RunInfo, SessionAnswer, StepInfo};
pub use seal::{RunSeal, SealHead, SealName};
pub use search::{SearchHit, SearchRole, SearchedRun, SnippetPart};
pub use server::{DatabaseStatus, LeaseInfo, MigrationReport, ServerStatus};
pub use serving::ServeInfo;
pub use session::SessionInfo;
pub use title::{command_line, run_title};
pub use tree::{ExportedTree, TreeFault, TreeLine, TreeOutcome, TreeRun, TreeVintage};
pub use usage::{CostEstimate, DailyUsage, LedgerEntry, ModelPrice, UsageGroup, UsageKey};

/// Tells whether a counter is left out of JSON.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
