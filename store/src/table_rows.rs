//! What passes the seam: the rows that a backend is given and gives back.

use runtape_core::report::SealName;
use runtape_core::{JobId, RunId, Runtime, TokenCounts};

use crate::derive::facts::RunFacts;
use crate::derive::usage_cell::UsageDimension;
use crate::filter::RunFilter;
use crate::format::chain::{Hash, TapeRule};

/// Names a run to the backend that gave the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunKey {
    /// The root run of its tree.
    pub(crate) root: RunId,
    /// Tells it from others: of the tree, or of the database.
    pub(crate) number: i64,
}

/// What algorithms need to know of a run besides what its records say.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) key: RunKey,
    pub(crate) id: RunId,
    /// The root run, if it is a child.
    pub(crate) root: Option<RunKey>,
    pub(crate) job: JobId,
    pub(crate) runtime: Runtime,
    pub(crate) records: u64,
    /// The seal that covers it and its children; absent while it is open, and for a child.
    pub(crate) seal: Option<SealName>,
    /// What the writer knew before it began, packed; root runs only.
    pub(crate) context: Option<Vec<u8>>,
    /// How the process ended, packed; root runs only.
    pub(crate) exit: Option<Vec<u8>>,
    pub(crate) started_at: i64,
}

/// A tree of runs as it is before it is sealed.
#[derive(Debug)]
pub(crate) struct UnsealedTree {
    /// The root run first.
    pub(crate) runs: Vec<UnsealedRun>,
    /// The hash of each block of the tape, and how long they are before compressing.
    pub(crate) tape: Vec<Hash>,
    pub(crate) tape_length: u64,
}

/// A run of such a tree.
#[derive(Debug)]
pub(crate) struct UnsealedRun {
    pub(crate) row: RunRow,
    /// First record and length of each of its blocks.
    pub(crate) blocks: Vec<(u64, usize)>,
    /// The hash of its chain after its last record; absent where it has none.
    pub(crate) last_hash: Option<Hash>,
}

/// A run by what is not derived from records: all else in its row may be damaged.
#[derive(Clone, Debug)]
pub(crate) struct BareRun {
    pub(crate) key: RunKey,
    pub(crate) id: RunId,
    pub(crate) seal: Option<SealName>,
}

/// A run that is about to be added.
#[derive(Debug)]
pub(crate) struct NewRun<'a> {
    pub(crate) id: &'a RunId,
    pub(crate) job: &'a JobId,
    pub(crate) runtime: &'a Runtime,
    pub(crate) root: Option<&'a RunKey>,
    pub(crate) parent: Option<&'a RunKey>,
    pub(crate) started_at: i64,
    pub(crate) context: Option<&'a [u8]>,
    /// What its records say, for one that is added when it has ended.
    pub(crate) facts: Option<&'a RunFacts>,
    pub(crate) exit: Option<&'a [u8]>,
    pub(crate) seal: Option<SealName>,
    /// What its tree used is added to the sums that are kept, in the same transaction.
    pub(crate) is_settled: bool,
}

/// What the first record of a run says of it.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) job: &'a JobId,
    pub(crate) runtime: &'a Runtime,
    pub(crate) parent: Option<&'a RunKey>,
}

/// Derived rows that stand in the order of their records. Steps need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactTable {
    Calls,
    Notices,
    Unparsed,
    Usage,
}

/// Where a derived row stands in its run: the record it follows from, and the part of it. Whatever
/// number somebody put there can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FactPlace(pub(crate) i64, pub(crate) i64);

/// By which rules the rows were written: those of a file from elsewhere may be earlier ones.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule by itself")]
pub(crate) struct Rules {
    /// What the hashes of tape blocks cover.
    pub(crate) tape: TapeRule,
    /// The ledger says which numbers are totals of a session.
    pub(crate) marks_totals: bool,
    /// Ids of checkpoints derive from the hash that they do now.
    pub(crate) specifies_ids: bool,
    /// What was used is kept added up.
    pub(crate) keeps_usage: bool,
    /// Runs have all of their columns, not only the first ones.
    pub(crate) tells_about: bool,
    /// They are those of this version.
    pub(crate) are_current: bool,
}

/// What a user of a server may do that can be left undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    /// Blocks may be taken away, so that few are made of many small ones.
    pub(crate) deletes_blocks: bool,
    /// The search index may be completed.
    pub(crate) indexes: bool,
}

/// Which runs a list is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    pub(crate) filter: &'a RunFilter,
    /// The runs that have the filter's text, if it has one.
    pub(crate) runs: Option<&'a [RunKey]>,
}

/// Of which runs usage is added up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UsageScope<'a> {
    /// Those that a filter lets through.
    Runs(&'a RunFilter),
    /// A root run and its children.
    Tree(&'a RunKey),
    /// Those that have one of these names in a dimension: run, root, job or session.
    Listed(UsageDimension, &'a [&'a str]),
    /// Those of trees that are not among the sums that are kept, and that a filter lets through.
    Unsettled(&'a RunFilter),
    /// Those of sealed trees that are to be among them, and are not: [`Tables::roots_to_settle`] named them.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(
            dead_code,
            reason = "where one writer comes after the other, they are all that wait"
        )
    )]
    Waiting(&'a [RunKey]),
    /// Those of trees that are.
    Settled,
}

impl<'a> UsageScope<'a> {
    /// Returns the filter whose period it is about, if there is one.
    pub(crate) fn filter(self) -> Option<&'a RunFilter> {
        match self {
            Self::Runs(filter) | Self::Unsettled(filter) => Some(filter),
            _ => None,
        }
    }
}

/// Whether the sums that are kept hold what a tree of runs used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settlement {
    /// Not yet: it is open, or something changes.
    Pending,
    /// They do.
    Kept,
    /// They never will: its numbers are absurd.
    Refused,
}

/// A run of which the search index knows only the first records.
#[derive(Clone, Debug)]
pub(crate) struct PartlySearched {
    pub(crate) key: RunKey,
    pub(crate) id: RunId,
    /// How many records it knows.
    pub(crate) searched: u64,
    /// How many there are.
    pub(crate) records: u64,
}

/// Records of a run in which a search may find something.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) run: RunKey,
    pub(crate) id: RunId,
    pub(crate) job: JobId,
    pub(crate) runtime: Runtime,
    pub(crate) started_at: i64,
    /// The first record, and the one after the last.
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// A fault of the database that is not of a single record, block or seal: which run it is about, if of
/// one, and what is wrong.
pub(crate) type DatabaseFinding = (Option<RunId>, String);

/// A root run that has ended, and where to look for what is known only at the end.
#[derive(Clone, Debug)]
pub(crate) struct EndedRoot {
    pub(crate) key: RunKey,
    pub(crate) id: RunId,
    pub(crate) runtime: Runtime,
    pub(crate) cli_version: Option<String>,
    /// The checkpoint before the last step; 0 if there is none.
    pub(crate) last_step_after: u64,
}

/// A session, by what its runs come to.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) runtime: Runtime,
    pub(crate) session: String,
    /// Its first root run, and its latest one.
    pub(crate) first: RunKey,
    pub(crate) latest: RunKey,
    /// Root runs.
    pub(crate) runs: u64,
    /// What counts of all its runs, children included.
    pub(crate) usage: TokenCounts,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) started_at: i64,
    pub(crate) last_active_at: i64,
    /// The directory of the latest run that names one.
    pub(crate) cwd: Option<String>,
}

/// Which ids are looked up by their beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdOf {
    Run,
    Job,
    Checkpoint,
}
