//! Keeps records and tapes in `SQLite`.
//!
//! A [`Store`] is one file that many processes may write at once. A writer begins a run, appends
//! records together with the output they came from, and finishes the run, which seals it:
//!
//! ```
//! use runtape_core::{JobId, Record, RecordKind, RunId, Runtime, record::RunOpened};
//! use runtape_store::{BeginRun, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut store = Store::open_in_memory()?;
//! let (job_id, run_id) = (JobId::parse("job-1")?, RunId::parse("run-1")?);
//! store.begin_run(&BeginRun {
//!     job_id: job_id.clone(),
//!     run_id: run_id.clone(),
//!     runtime: Runtime::Hermes,
//!     started_at: 0,
//!     context: serde_json::json!({"argv": ["hermes", "chat"]}),
//! })?;
//! let opened = RunOpened { job_id, runtime: Runtime::Hermes, delegated_by: None };
//! let record = Record { run_id: run_id.clone(), seq: 0, at: 0, span: None, kind: opened.into() };
//! store.append(&run_id, std::slice::from_ref(&record), &[])?;
//! assert_eq!(store.records(&run_id, 0, 10)?, [record]);
//! assert!(store.verify()?.is_intact());
//! # Ok(())
//! # }
//! ```
//!
//! # What is kept, and how
//!
//! *Records* are canonical JSON lines in compressed blocks; a message is in one record, so a run
//! of n steps takes O(n) space, and checkpoints and events are made from records on reading. The
//! *tape* is what the process printed, in compressed blocks with receive times. When a run ends,
//! small blocks are merged. *Derived tables* (steps, tool calls, notices, the usage ledger and its sums, columns of a run)
//! hold what queries need; `VIEWS.md` documents the views on them, [`Store::rebuild`] makes them
//! anew.
//!
//! # How it is built
//!
//! `format` (blocks, chains, seals) and `derive` (what follows from records) know no database. `write`
//! and `read` are the algorithms, written once over the seam in `backend`; `sqlite` is behind it.
//!
//! # What can be proved
//!
//! A record's hash covers its run, number, span, content and the hash before it; tape blocks form
//! such a chain, too, with their receive times; a seal covers both ends, the counts, and how the
//! process ended; seals form chains (one in a database file), whose last hash is the head.
//! [`Store::verify`] computes all of it anew, with every derived row, the indexes and the search
//! index, compares the schema with what the migrations make, and names what was changed, is
//! missing, was moved or inserted. Someone who computes all hashes anew is found only against a
//! head kept elsewhere ([`Store::verify_head`]), and so is someone who cuts off the last seals with
//! their runs; of an open run, that what the writer knew before it began was changed.
//!
//! # What leaves, and comes back
//!
//! [`Store::write_bundle`] writes some runs as a database of their own, with those entries of the
//! chain that are about them and a hash for each neighbour that was left out.
//! [`Store::open_bundle`] opens such a file from anybody: it compares the schema before anything is
//! asked, and bounds what reading takes. [`Store::import_bundle`] verifies it, copies its runs and
//! keeps the seals that covered them in their contexts.
//!
//! # What is deleted
//!
//! [`Store::delete_run`] and its likes take rows away, [`Store::compact`] their bytes: from free
//! pages, the search index, the shared words and the log. A tombstone with the run's id and hashes
//! stays. Deleting takes the run's lock, and no key is ever given twice.
//!
//! # What survives
//!
//! What [`Store::append`] acknowledged survives the death of the process at any moment, and with
//! [`Options::sync_each_commit`] the loss of power. A writer holds a lock on each run it writes;
//! [`Store::open_runs`] lists the runs whose writer is gone.

mod backend;
mod derive;
mod error;
mod filter;
mod filter_words;
mod format;
mod options;
mod page;
mod pattern;
mod period;
#[cfg(feature = "postgres")]
mod postgres;
mod read;
mod search_query;
mod server_name;
#[cfg(test)]
mod several_chains;
mod sqlite;
mod store;
mod table_rows;
mod write;

pub use derive::paths::resolved_paths;
pub use derive::touched::tell;
pub use error::{DatabaseFault, StoreError};
pub use filter::{CallFilter, CallSubject, RunFilter};
pub use filter_words::{OutcomeWord, parse_family, parse_label};
pub use format::streams::StreamLengths;
pub use format::tape::TapeChunk;
pub use options::{Options, Patience};
pub use page::{Page, PageMark};
pub use pattern::{NamePattern, PathPattern};
pub use read::calls::UntoldCommands;
pub use read::failures::FailureBy;
pub use read::files::FileChoice;
pub use read::search::{Search, SearchEnd, SearchMode, SearchProgress};
pub use read::usage::{Calendar, CostBasis, UsageBy, UsageOf, UsageSum};
pub use runtape_core::report::{
    DailyUsage, Drift, FailureSum, FaultPlace, FileCall, FileUse, HostUse, JobInfo, LeaseInfo,
    LedgerEntry, NetworkCall, NoticeInfo, RebuiltRun, Removal, RemovalReason, RunInfo, RunOrigin,
    RunSeal, SealHead, SealName, SearchHit, SearchRole, ServerStatus, SnippetPart, StepInfo,
    StoreStats, TableStats, ToolCallInfo, ToolUse, Unseen, VerifyFault, VerifyReport,
};
pub use server_name::ServerName;
pub use sqlite::Erased;
pub use store::{Store, server_address};
pub use write::begin::{BeginRun, OpenRun};
pub use write::import::{BundleImport, Import, LeftOut, Trust};
pub use write::put::PreparedRun;
pub use write::replace::Replaced;
pub use write::retention::DroppedTapes;
