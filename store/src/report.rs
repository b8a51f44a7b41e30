//! What `verify` tells.

use std::fmt;

use runtape_core::RunId;
use serde::{Deserialize, Serialize};

use crate::seals::{Head, Removal};

/// What `verify` found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Runs that were read, children included.
    pub runs: u64,
    /// Root runs among them that are open: their records are proved, but no seal covers them yet.
    pub open_runs: u64,
    /// Records that were read.
    pub records: u64,
    /// Bytes of output that were read.
    pub tape_bytes: u64,
    /// The end of the chain of seals.
    pub head: Option<Head>,
    /// What was removed, and when.
    pub removals: Vec<Removal>,
    /// What is wrong, the first fault of each chain; empty if all is as it was written.
    pub faults: Vec<Fault>,
}

impl Report {
    /// Tells whether all is as it was written.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Where.
    pub place: FaultPlace,
    /// What is wrong there.
    pub fault: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

/// A place in the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// An entry in the chain of seals.
    #[serde(rename_all = "camelCase")]
    Seal {
        /// The entry.
        number: u64,
    },
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
            Self::Seal { number } => write!(f, "seal {number}"),
        }
    }
}
