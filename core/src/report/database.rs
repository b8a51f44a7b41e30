//! The database itself: what it holds, whether it can be trusted, what was given up.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::seal::is_first_chain;
use super::{RunSeal, SealHead, SealName};
use crate::RunId;
use crate::iso::{self, Time};

/// How much there is, and what it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreStats {
    /// Jobs.
    pub jobs: u64,
    /// Runs, children included.
    pub runs: u64,
    /// Root runs that are not sealed.
    pub open_runs: u64,
    /// Kept records.
    pub records: u64,
    /// Bytes of output on tapes, before compressing.
    pub tape_bytes: u64,
    /// Bytes of records, before compressing.
    pub record_bytes: u64,
    /// Bytes of the database, without its log.
    pub database_bytes: u64,
    /// Bytes that deleted rows left unused; compacting gives them back.
    pub free_bytes: u64,
    /// Bytes of the search index.
    pub search_bytes: u64,
    /// Bytes of each table and index, largest first.
    pub tables: Vec<TableStats>,
}

/// What a table or index takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TableStats {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

/// What `verify` found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    /// Runs that were read, children included.
    pub runs: u64,
    /// Root runs among them that are open: their records are proved, but no seal covers them yet.
    pub open_runs: u64,
    /// Records that were read.
    pub records: u64,
    /// Bytes of output that were read.
    pub tape_bytes: u64,
    /// The end of the chain of seals; null while nothing was sealed. Kept elsewhere, it proves
    /// later that nothing before it in its chain changed.
    pub head: Option<SealHead>,
    /// What was removed, and when.
    pub removals: Vec<Removal>,
    /// What is wrong, the first fault of each chain; empty if all is as it was written.
    pub faults: Vec<VerifyFault>,
    /// The seals that cover the runs of a bundle, to be compared with what is kept elsewhere; not
    /// there for a whole database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<Vec<RunSeal>>,
    /// What could not be seen: in a chain without a head that was kept elsewhere, that the last
    /// entries were cut off together with their runs, or that all hashes were computed anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Unseen>,
}

/// What verifying could not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Unseen {
    /// Whether the last runs were cut off together with their seals: some chain's head was not given.
    CutOffTail,
    /// Whether somebody computed all hashes anew: some chain's head was not given.
    NewHashes,
}

impl Unseen {
    /// Returns what to tell a person.
    #[must_use]
    pub fn as_text(self) -> &'static str {
        match self {
            Self::CutOffTail => "the last runs may have been cut off together with their seals",
            Self::NewHashes => "all hashes may have been computed anew",
        }
    }
}

impl VerifyReport {
    /// Tells whether all is as it was written.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.faults.is_empty()
    }
}

macro_rules! removal_reasons {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// Why a seal no longer covers a run. A reason that a newer version named is kept.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum RemovalReason {
            $($(#[$doc])* $name,)*
            /// A reason that a newer version named.
            Other(Box<str>),
        }

        impl RemovalReason {
            /// Every reason this version knows by name.
            pub const KNOWN: &[Self] = &[$(Self::$name),*];

            /// Returns the name as in JSON.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(name) => name,
                }
            }

            /// Takes any name; an unknown one is kept as it is.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                match name {
                    $($text => Self::$name,)*
                    other => Self::Other(other.into()),
                }
            }
        }
    };
}

removal_reasons! {
    /// The run was deleted.
    Deleted => "deleted",
    /// The run's records were made again from its tape.
    Replaced => "replaced",
    /// The run's tape was dropped.
    TapeDropped => "tapeDropped",
    /// The run is as it was: a new seal covers more of it.
    Resealed => "resealed",
    /// The run was joined with another account of the same execution.
    Joined => "joined",
    /// Secrets were taken out of the run's tape and records.
    Redacted => "redacted",
    /// The run was read again as another runtime's.
    RuntimeChanged => "runtimeChanged",
}

impl Serialize for RemovalReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RemovalReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_name(&String::deserialize(deserializer)?))
    }
}

impl JsonSchema for RemovalReason {
    fn schema_name() -> Cow<'static, str> {
        "RemovalReason".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known: Vec<_> = Self::KNOWN.iter().map(Self::as_str).collect();
        json_schema!({
            "type": "string",
            "description": "Why a seal no longer covers a run: it was deleted, its records were \
                made again from its tape, its tape was dropped, a new seal covers more of it, or \
                secrets were taken out of it. \
                Names beyond the examples may be added.",
            "examples": known
        })
    }
}

/// A run, or a part of it, that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    /// The run.
    pub run_id: RunId,
    /// The number of the seal that covered it, in its chain.
    pub seal: u64,
    /// The chain of that seal; not there for the first one, which is 0.
    #[serde(default, skip_serializing_if = "is_first_chain")]
    pub seal_chain: u32,
    /// Why.
    pub reason: RemovalReason,
    /// When.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
}

impl Removal {
    /// Returns the name of the seal that covered the run.
    #[must_use]
    pub fn seal_name(&self) -> SealName {
        SealName {
            chain: self.seal_chain,
            number: self.seal,
        }
    }
}

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifyFault {
    /// Where.
    pub place: FaultPlace,
    /// What is wrong there.
    pub fault: String,
}

impl fmt::Display for VerifyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

/// A place in the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[non_exhaustive]
pub enum FaultPlace {
    /// The file as a whole.
    File,
    /// The row of a run.
    #[serde(rename_all = "camelCase")]
    Run {
        /// The run.
        run_id: RunId,
    },
    /// A record.
    #[serde(rename_all = "camelCase")]
    Record {
        /// The run.
        run_id: RunId,
        /// The record.
        seq: u64,
    },
    /// A part of the tape.
    #[serde(rename_all = "camelCase")]
    Tape {
        /// The root run.
        run_id: RunId,
        /// The block.
        block: u64,
    },
    /// A row that follows from records.
    #[serde(rename_all = "camelCase")]
    Row {
        /// The table: `step`, `tool_call`, `notice`, `unparsed` or `usage`.
        table: String,
        /// The run.
        run_id: RunId,
        /// The record it follows from.
        seq: u64,
    },
    /// An entry in a chain of seals.
    Seal(SealName),
}

impl fmt::Display for FaultPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => write!(f, "the file"),
            Self::Run { run_id } => write!(f, "run {run_id}"),
            Self::Record { run_id, seq } => write!(f, "run {run_id}, record {seq}"),
            Self::Tape { run_id, block } => write!(f, "run {run_id}, tape block {block}"),
            Self::Row { table, run_id, seq } => {
                write!(f, "run {run_id}, table {table}, record {seq}")
            }
            Self::Seal(name) => write!(f, "seal {name}"),
        }
    }
}

/// What `gc` gave up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcReport {
    /// Whether nothing was done, only told.
    pub is_dry_run: bool,
    /// The root runs that were deleted, or would be.
    pub deleted_runs: Vec<RunId>,
    /// Tapes that were dropped while their records stay.
    pub dropped_tapes: u64,
    /// Bytes of output that those tapes held.
    pub dropped_tape_bytes: u64,
    /// Bytes of the database before.
    pub bytes_before: u64,
    /// Bytes of the database after.
    pub bytes_after: u64,
    /// Whether nothing of what was given up is left in the files, but for ids of runs in
    /// tombstones; false if somebody read from the database for so long that its log had to be
    /// kept; not there if nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_erased: Option<bool>,
}

/// A root run whose tables for queries were made anew from its records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RebuiltRun {
    /// The root run.
    pub run_id: RunId,
    /// Runs of its tree, itself included.
    pub runs: u64,
    /// Records that were read.
    pub records: u64,
    /// Rows of table `step`.
    pub steps: u64,
    /// Rows of table `tool_call`.
    pub tool_calls: u64,
    /// Rows of table `notice`.
    pub notices: u64,
    /// Rows of table `unparsed`.
    pub unparsed: u64,
    /// Rows of table `usage`.
    pub usage_entries: u64,
}

/// A copy of the database that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    /// The file.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
}
