//! The catalogue: every shape that has a published schema.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use runtape_core::report;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use crate::{SchemaError, Validator, generate};

/// What is made once per kind and then shared.
pub(crate) struct Cell {
    schema: OnceLock<Value>,
    pub(crate) validator: OnceLock<Validator>,
}

impl Cell {
    const fn new() -> Self {
        Self {
            schema: OnceLock::new(),
            validator: OnceLock::new(),
        }
    }
}

macro_rules! kinds {
    ($($variant:ident $name:literal => $type:ty;)*) => {
        /// A shape that has a published schema.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum SchemaKind {
            $(
                #[doc = concat!("`", $name, "`: the JSON of [`", stringify!($type), "`].")]
                $variant,
            )*
        }

        impl SchemaKind {
            /// Every kind, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the name, as in file names and on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Makes a reference to the schema of the kind's type.
            pub(crate) fn reference(self, generator: &mut SchemaGenerator) -> Schema {
                match self {
                    $(Self::$variant => generator.subschema_for::<$type>(),)*
                }
            }

            pub(crate) fn cell(self) -> &'static Cell {
                match self {
                    $(Self::$variant => {
                        static CELL: Cell = Cell::new();
                        &CELL
                    })*
                }
            }
        }
    };
}

// A new kind is one line here; then regenerate the files (`README.md` says how).
kinds! {
    RunEvent "run-event" => runtape_core::RunEvent;
    RuntimeEvent "runtime-event" => runtape_core::RuntimeEvent;
    Event "event" => runtape_core::Event;
    Checkpoint "checkpoint" => runtape_core::Checkpoint;
    Job "job" => runtape_core::Job;
    Step "step" => runtape_core::Step;
    Message "message" => runtape_core::Message;
    Usage "usage" => runtape_core::Usage;
    TranscriptEntry "transcript-entry" => runtape_core::TranscriptEntry;
    Record "record" => runtape_core::Record;
    Summary "summary" => runtape_core::RunSummary;
    RunInfo "run-info" => report::RunInfo;
    RunDetail "run-detail" => report::RunDetail;
    JobInfo "job-info" => report::JobInfo;
    JobDetail "job-detail" => report::JobDetail;
    SearchHit "search-hit" => report::SearchHit;
    SearchedRun "searched-run" => report::SearchedRun;
    UsageGroup "usage-group" => report::UsageGroup;
    LedgerEntry "ledger-entry" => report::LedgerEntry;
    ModelPrice "model-price" => report::ModelPrice;
    ToolUse "tool-use" => report::ToolUse;
    ToolCallInfo "tool-call-info" => report::ToolCallInfo;
    FileUse "file-use" => report::FileUse;
    FileCall "file-call" => report::FileCall;
    NetworkCall "network-call" => report::NetworkCall;
    HostUse "host-use" => report::HostUse;
    NoticeInfo "notice-info" => report::NoticeInfo;
    FailureSum "failure-sum" => report::FailureSum;
    Drift "drift" => report::Drift;
    CheckpointDiff "checkpoint-diff" => report::CheckpointDiff;
    SessionAnswer "session-answer" => report::SessionAnswer;
    SessionInfo "session-info" => report::SessionInfo;
    RawOutput "raw-output" => report::RawOutput;
    SqlRow "sql-row" => report::SqlRow;
    IngestLine "ingest-line" => report::IngestLine;
    SyncLine "sync-line" => report::SyncLine;
    ImportedRun "imported-run" => report::ImportedRun;
    CopyLine "copy-line" => report::CopyLine;
    ExportedFile "exported-file" => report::ExportedFile;
    TreeLine "tree-line" => report::TreeLine;
    ExportedTree "exported-tree" => report::ExportedTree;
    RecordReport "record-report" => report::RecordReport;
    RecoveredRun "recovered-run" => report::RecoveredRun;
    RenormalizedRun "renormalized-run" => report::RenormalizedRun;
    VerifyReport "verify-report" => report::VerifyReport;
    StoreStats "store-stats" => report::StoreStats;
    GcReport "gc-report" => report::GcReport;
    ScanLine "scan-line" => report::ScanLine;
    RedactLine "redact-line" => report::RedactLine;
    ConfigInfo "config-info" => report::ConfigInfo;
    RebuiltRun "rebuilt-run" => report::RebuiltRun;
    BackupReport "backup-report" => report::BackupReport;
    DatabaseStatus "database-status" => report::DatabaseStatus;
    MigrationReport "migration-report" => report::MigrationReport;
    DoctorReport "doctor-report" => report::DoctorReport;
    AdapterSession "adapter-session" => report::AdapterSession;
    AdapterEnvironment "adapter-environment" => report::AdapterEnvironment;
    AdapterCommand "adapter-command" => report::AdapterCommand;
    RuntimeInfo "runtime-info" => report::RuntimeInfo;
    SchemaInfo "schema-info" => report::SchemaInfo;
    ValidationLine "validation-line" => report::ValidationLine;
    ServeInfo "serve-info" => report::ServeInfo;
    Document "document" => report::Document;
}

impl SchemaKind {
    /// Returns the kind of a name.
    pub fn from_name(name: &str) -> Result<Self, SchemaError> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| SchemaError::UnknownKind {
                name: name.chars().take(80).collect(),
                known: Self::ALL
                    .iter()
                    .map(|kind| kind.name())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// Returns the name of the schema's file.
    #[must_use]
    pub fn file_name(self) -> String {
        format!("{}.schema.json", self.name())
    }

    /// Returns the schema's `$id`, which stays the same for all of v1.
    #[must_use]
    pub fn id(self) -> String {
        generate::id_of(&self.file_name())
    }

    /// Returns the schema: the same document as the published file.
    #[must_use]
    pub fn schema(self) -> &'static Value {
        self.cell().schema.get_or_init(|| generate::schema(self))
    }
}

impl fmt::Display for SchemaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SchemaKind {
    type Err = SchemaError;

    fn from_str(name: &str) -> Result<Self, SchemaError> {
        Self::from_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_are_the_same_thing() {
        for kind in SchemaKind::ALL {
            assert_eq!(kind.name().parse::<SchemaKind>().unwrap(), *kind);
        }
        let error = "runevent".parse::<SchemaKind>().unwrap_err().to_string();
        assert!(
            error.contains("\"runevent\"") && error.contains("run-event, runtime-event"),
            "{error}"
        );
    }

    #[test]
    fn ids_are_addresses() {
        assert_eq!(
            SchemaKind::RunEvent.id(),
            "https://runtape.dev/schemas/v1/run-event.schema.json"
        );
        assert_eq!(
            SchemaKind::RunEvent.schema()["$id"],
            SchemaKind::RunEvent.id()
        );
    }
}
