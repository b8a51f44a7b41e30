//! The seam: what a database has to provide, so that everything above it is written once.
//!
//! Above are the algorithms (`write/`, `read/`): they append, seal, replace, verify and copy runs in
//! terms of blocks, facts and seals, which `format/` and `derive/` make without a database. Below is a
//! backend, which keeps those things in tables and finds them again. A backend has no opinion: it does
//! not check a chain, count a token, or decide what may be deleted.
//!
//! # What a backend provides
//!
//! [`Tables`] at the level of rows: insert these blocks, read the blocks of a run from a record on,
//! list runs by a filter after a mark, add this seal. A run is named by the [`RunKey`] that the backend
//! gave it, a seal by chain and number, a place in a list by time and id. Which words are shared, how
//! keys are packed and what is indexed is its own business.
//!
//! A [`RunLock`] for each run that is written, which is given back when its holder dies.
//!
//! # What it guarantees
//!
//! - Between [`Tables::begin_reading`] and [`Tables::end_reading`] all answers are from one committed
//!   state, however others write meanwhile.
//! - Between [`Tables::begin_writing`] and [`Tables::commit`] nobody else writes what was read there, all
//!   of it becomes visible at once, and what `commit` acknowledged survives the death of the process.
//!   After [`Tables::roll_back`] none of it ever was. A failed statement may end the transaction; the
//!   caller rolls back whatever failed.
//! - Within a transaction, what comes after [`Tables::set_savepoint`] can be undone by itself.
//! - A key that was given to a run is never given to another.
//!
//! What only a file has (its path, a copy of it, its pages) is asked of [`Backend::Sqlite`] by name.

use std::fmt;
use std::io;

use runtape_core::report::{
    DailyUsage, Drift, JobInfo, LedgerEntry, NoticeInfo, Removal, RunInfo, SealName, StoreStats,
    ToolCallInfo, ToolUse,
};
use runtape_core::{CheckpointId, JobId, RunId, Stream};
use serde_json::{Map, Value};

use crate::derive::cells::StoredRun;
use crate::derive::facts::{Fact, RunFacts, StepFact};
use crate::derive::text::Text;
use crate::derive::usage_cell::{UsageCell, UsageDimension, UsageSpan};
use crate::derive::words::Words;
use crate::error::Result;
use crate::filter::{CallFilter, RunFilter};
use crate::format::chain::Hash;
use crate::format::epochs::Epoch;
use crate::format::records::RecordBlock;
use crate::format::seals::SealEntry;
use crate::format::tape::TapeBlock;
use crate::page::PageMark;
#[cfg(feature = "postgres")]
use crate::postgres::Postgres;
use crate::read::search::WordQuery;
use crate::sqlite::Sqlite;
pub(crate) use crate::table_rows::{
    BareRun, DatabaseFinding, EndedRoot, FactPlace, FactTable, IdOf, NewRun, Opening,
    PartlySearched, Rights, Rules, RunKey, RunRow, Selection, SessionRow, Settlement, Stretch,
    UnsealedRun, UnsealedTree, UsageScope,
};

/// Compares a search index with the records there are.
pub(crate) trait SearchCheck {
    /// Gets ready for the records of a run; says what is wrong with what is known of it.
    fn begin(&mut self, run: &RunRow) -> Result<Option<String>>;
    /// Takes what can be found in the next record.
    fn add(&mut self, seq: u64, text: Option<&Text>) -> Result<()>;
    /// Compares, once all records came.
    fn finish(&mut self) -> Result<Vec<DatabaseFinding>>;
}

/// The right to write a run, held until dropped: when the holder dies, it is free.
pub(crate) trait RunLock: fmt::Debug + Send {
    /// Leaves a note for whoever takes the run over; an earlier one is gone then.
    fn leave_note(&self, note: &str) -> io::Result<()>;
    /// Returns the note that the last writer left, if any.
    fn note(&self) -> io::Result<Option<String>>;
    /// Gives the lock back for good: the run is sealed or gone, nobody will ask again.
    fn retire(self: Box<Self>);
}

/// The tables of a database. The module says what each backend guarantees.
pub(crate) trait Tables: fmt::Debug {
    /// Begins to read from one state.
    fn begin_reading(&self) -> Result<()>;
    /// Ends reading; an error if what was read may not have been one state.
    fn end_reading(&self) -> Result<()>;
    /// Begins a transaction that writes.
    fn begin_writing(&self) -> Result<()>;
    /// Begins one in which several runs may be sealed.
    fn begin_batch(&self) -> Result<()> {
        self.begin_writing()
    }
    /// Makes the transaction visible and lasting.
    fn commit(&self) -> Result<()>;
    /// Undoes the transaction, unless a failure did.
    fn roll_back(&self);
    /// Begins a part of a transaction that may be undone by itself.
    fn set_savepoint(&self) -> Result<()>;
    /// Keeps what was written since the savepoint.
    fn release_savepoint(&self) -> Result<()>;
    /// Undoes what was written since the savepoint.
    fn roll_back_to_savepoint(&self);

    /// Refuses to go on where the database is no longer the one that was opened.
    fn check_in_place(&self) -> Result<()>;

    /// Takes the lock of a run; an error if another writer holds it. There is none where nobody else
    /// can have the database open.
    fn lock(&self, run: &RunId) -> Result<Option<Box<dyn RunLock>>>;
    /// Tells whether nobody holds the lock of a run.
    fn is_unlocked(&self, run: &RunId) -> Result<bool>;

    /// Returns a run by its id.
    fn find_run(&self, run: &RunId) -> Result<Option<RunRow>>;
    /// Returns those of these runs that there are.
    fn find_runs(&self, runs: &[RunId]) -> Result<Vec<RunRow>> {
        let found = runs.iter().map(|run| self.find_run(run));
        found.filter_map(Result::transpose).collect()
    }
    /// Gets ready to put runs of these ids and sessions there: what has to be known of them is asked once for all.
    fn expect(&self, _runs: &[&RunId], _sessions: &[&str]) -> Result<()> {
        Ok(())
    }
    /// Returns a run by its key.
    fn run_at(&self, key: &RunKey) -> Result<Option<RunRow>>;
    /// Returns a root run and its children, the root first, in the order they were added.
    fn tree(&self, root: &RunKey) -> Result<Vec<RunRow>>;
    /// Returns a tree that is about to be sealed, and refuses who may not write it any more.
    fn unsealed_tree(&self, root: &RunKey) -> Result<UnsealedTree> {
        let runs = self.tree(root)?.into_iter().map(|row| {
            let last = self.record_block_of(&row.key, u64::MAX)?;
            Ok(UnsealedRun {
                blocks: self.record_block_lengths(&row.key)?,
                last_hash: last.map(|block| block.hash),
                row,
            })
        });
        Ok(UnsealedTree {
            runs: runs.collect::<Result<_>>()?,
            tape: self.tape_hashes(root)?,
            tape_length: self.tape_weight(root)?.1,
        })
    }
    /// Returns the same runs, however damaged their rows are.
    fn bare_tree(&self, run: &RunId) -> Result<Vec<BareRun>>;
    /// Calls `each` with the keys and ids of root runs, in the order they were added. An id may be
    /// damaged.
    fn each_root(&self, each: &mut dyn FnMut(&RunKey, &str) -> Result<()>) -> Result<()>;
    /// Calls `each` with all runs until it returns `false`.
    fn each_run(&self, each: &mut dyn FnMut(&RunKey, &RunId) -> Result<bool>) -> Result<()>;
    /// Returns the root runs that are not sealed.
    fn open_roots(&self) -> Result<Vec<RunRow>>;
    /// Returns the root runs in the order they were sealed.
    fn sealed_roots(&self) -> Result<Vec<RunRow>>;
    /// Returns the root runs of a job.
    fn roots_of_job(&self, job: &JobId) -> Result<Vec<RunId>>;
    /// Returns the sealed root runs that ended before a time and have a tape.
    fn roots_with_tapes(&self, ended_before: i64) -> Result<Vec<RunId>>;
    /// Adds a run, and its job if there is none.
    fn insert_run(&self, run: &NewRun<'_>) -> Result<RunKey>;
    /// Writes what the records say of a run as a whole.
    fn update_run(&self, run: &RunKey, facts: &RunFacts) -> Result<()>;
    /// Writes what the first record of a run says.
    fn set_opening(&self, run: &RunKey, opening: &Opening<'_>) -> Result<()>;
    /// Writes what was known before a root run began.
    fn set_context(&self, run: &RunKey, context: &[u8]) -> Result<()>;
    /// Writes how the process of a root run ended.
    fn set_exit(&self, run: &RunKey, exit: &[u8]) -> Result<()>;
    /// Writes which seal covers a root run.
    fn set_seal(&self, run: &RunKey, seal: Option<SealName>) -> Result<()>;
    /// Gives the lock of a root run back with the transaction, if that is possible: nobody will ask for it again. Where
    /// it is not, whoever holds the lock gives it back.
    fn retire_with(&self, _root: &RunKey) {}
    /// Returns what stands in the row of a run, as it stands there.
    fn stored_run(&self, run: &RunKey) -> Result<StoredRun>;
    /// Deletes the row of a run, and its job if that was the last one.
    fn delete_run(&self, run: &RunKey) -> Result<()>;

    /// Returns what may be done here for the sake of size and speed.
    fn rights(&self) -> Result<Rights> {
        Ok(Rights {
            deletes_blocks: true,
            indexes: true,
        })
    }

    /// Adds a block of records.
    fn insert_record_block(&self, run: &RunKey, block: &RecordBlock) -> Result<()>;
    /// Returns the last block that begins at or before a record.
    fn record_block_of(&self, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>>;
    /// Returns the first block that begins at or after a record.
    fn record_block_from(&self, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>>;
    /// Returns the first blocks of runs, where asking for several is quicker than for each. Any of them may be
    /// missing.
    fn first_record_blocks(&self, _runs: &[&RunKey]) -> Result<Vec<(RunKey, RecordBlock)>> {
        Ok(Vec::new())
    }
    /// Returns first record and length of each block.
    fn record_block_lengths(&self, run: &RunKey) -> Result<Vec<(u64, usize)>>;
    /// Deletes the block that begins at a record.
    fn delete_record_block(&self, run: &RunKey, first_seq: u64) -> Result<()>;
    /// Deletes all blocks of records.
    fn delete_record_blocks(&self, run: &RunKey) -> Result<()>;

    /// Adds a block of a root run's tape.
    fn insert_tape_block(&self, root: &RunKey, block: &TapeBlock) -> Result<()>;
    /// Returns a block of the tape.
    fn tape_block(&self, root: &RunKey, number: u64) -> Result<Option<TapeBlock>>;
    /// Returns the last block of the tape.
    fn last_tape_block(&self, root: &RunKey) -> Result<Option<TapeBlock>>;
    /// Returns the number of the first block from a number on.
    fn next_tape_number(&self, root: &RunKey, number: u64) -> Result<Option<u64>>;
    /// Returns the blocks that hold a range of a stream.
    fn tape_blocks_with(
        &self,
        root: &RunKey,
        stream: Stream,
        start: u64,
        end: u64,
    ) -> Result<Vec<TapeBlock>>;
    /// Returns the hashes of the tape's blocks in order.
    fn tape_hashes(&self, root: &RunKey) -> Result<Vec<Hash>>;
    /// Returns how many blocks the tape has, and how long they are before compressing.
    fn tape_weight(&self, root: &RunKey) -> Result<(u64, u64)>;
    /// Puts another hash on a block of the tape.
    fn set_tape_hash(&self, root: &RunKey, number: u64, hash: &Hash) -> Result<()>;
    /// Deletes a block of the tape.
    fn delete_tape_block(&self, root: &RunKey, number: u64) -> Result<()>;
    /// Deletes the tape; returns how many bytes its streams had.
    fn delete_tape(&self, root: &RunKey) -> Result<u64>;

    /// Adds rows that follow from records.
    fn insert_facts(&self, run: &RunKey, facts: &[Fact]) -> Result<()>;
    /// Deletes all rows that follow from a run's records, besides its own, also from the search index.
    fn delete_facts(&self, run: &RunKey) -> Result<()>;
    /// Returns derived rows of a run as they stand there, after a place, at most `limit`.
    fn stored_facts(
        &self,
        run: &RunKey,
        table: FactTable,
        after: Option<FactPlace>,
        limit: usize,
    ) -> Result<Vec<(FactPlace, Fact)>>;
    /// Returns a step as it stands there.
    fn stored_step(&self, run: &RunKey, step: u64) -> Result<Option<StepFact>>;
    /// Returns number and record of each step as they stand there.
    fn stored_step_numbers(&self, run: &RunKey) -> Result<Vec<(i64, i64)>>;
    /// Returns the steps of a run after one, at most `limit`.
    fn steps_after(&self, run: &RunKey, step: u64, limit: usize) -> Result<Vec<StepFact>>;
    /// Returns the record of a step's checkpoint; of the last one if no step is named.
    fn seq_of_step(&self, run: &RunKey, step: Option<u64>) -> Result<Option<u64>>;
    /// Returns run and step of a checkpoint.
    fn find_checkpoint(&self, id: &CheckpointId) -> Result<Option<(RunKey, u64)>>;

    /// Returns the end of the chain that a root run belongs to: chain, number and hash of the last entry.
    fn end_of_chain(&self, run: &RunId) -> Result<(u32, Option<(u64, Hash)>)>;
    /// Keeps others from sealing the same root run at the same time: what is found of it after that, nobody else is about
    /// to write. Where one writer comes after the other, there is nothing to do.
    fn lock_chain(&self, _run: &RunId) -> Result<()> {
        Ok(())
    }
    /// Adds an entry to its chain.
    fn insert_seal(&self, entry: &SealEntry) -> Result<()>;
    /// Returns an entry.
    fn seal(&self, name: SealName) -> Result<Option<SealEntry>>;
    /// Calls `each` with all entries in order until it returns `false`.
    fn each_seal(&self, each: &mut dyn FnMut(SealEntry) -> Result<bool>) -> Result<()>;
    /// Returns what the chains say of a run besides the seal that covers it.
    fn seals_of_run(&self, run: &RunId) -> Result<Vec<SealEntry>>;
    /// Returns the last entry of the chain whose end is the head, where there is one chain.
    fn last_seal(&self) -> Result<Option<SealEntry>>;
    /// Tells whether the head is an epoch, since there are several chains.
    fn has_epochs(&self) -> bool {
        false
    }
    /// Returns the last epoch.
    fn last_epoch(&self) -> Result<Option<Epoch>> {
        Ok(None)
    }
    /// Calls `each` with all epochs in order.
    fn each_epoch(&self, _each: &mut dyn FnMut(Epoch) -> Result<()>) -> Result<()> {
        Ok(())
    }
    /// Returns the number of the epoch with a hash.
    fn epoch_with_hash(&self, _hash: &Hash) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Returns the entry with a hash.
    fn seal_with_hash(&self, hash: &Hash) -> Result<Option<SealName>>;
    /// Writes the id of a run beside its seal, which covers it no longer.
    fn make_tombstone(&self, seal: SealName, run: &RunId) -> Result<()>;
    /// Tells whether an entry after a seal says that it was removed.
    fn is_removed(&self, seal: SealName) -> Result<bool>;
    /// Returns what was removed, in order.
    fn removals(&self) -> Result<Vec<Removal>>;
    /// Returns the hashes that stand for entries that a bundle left out, by the entry that comes after.
    fn left_out(&self) -> Result<Vec<(SealName, Hash)>>;
    /// Adds such a hash.
    fn insert_left_out(&self, after: SealName, hash: &Hash) -> Result<()>;
    /// Returns children that claim a seal of their own.
    fn children_with_seals(&self) -> Result<Vec<(RunId, SealName)>>;

    /// Returns runs, those that began last first.
    fn runs(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<RunInfo>>;
    /// Returns what is known of a run.
    fn run_info(&self, run: &RunKey) -> Result<RunInfo>;
    /// Returns what is known of root runs and their children: each tree in order, the root first.
    fn trees_info(&self, roots: &[RunId]) -> Result<Vec<RunInfo>> {
        let mut found = Vec::new();
        for root in self.find_runs(roots)? {
            for run in self.tree(&root.key)? {
                found.push(self.run_info(&run.key)?);
            }
        }
        Ok(found)
    }
    /// Returns the root runs of these sessions, each with its session.
    fn roots_of_sessions(&self, sessions: &[&str]) -> Result<Vec<(String, RunId)>>;
    /// Returns the jobs of runs, those that began last first.
    fn jobs(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<JobInfo>>;
    /// Returns a job, made from its runs.
    fn job(&self, id: &JobId) -> Result<Option<JobInfo>>;
    /// Returns the sessions of runs, the one in which something happened last first. A mark is that
    /// time, and the runtime with the session's id: `codex/01a1…`.
    fn sessions(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<SessionRow>>;
    /// Returns how many root runs have no session.
    fn runs_without_session(&self, selection: Selection<'_>) -> Result<u64>;
    /// Returns ids that begin with a text, in order, at most `limit`.
    fn ids_with_prefix(&self, of: IdOf, prefix: &str, limit: usize) -> Result<Vec<String>>;
    /// Returns the ledger of a run.
    fn ledger(&self, run: &RunRow) -> Result<Vec<LedgerEntry>>;
    /// Returns what was used by day, runtime and model.
    fn usage_daily(&self) -> Result<Vec<DailyUsage>>;
    /// Adds up what counts of what runs used: entries of the ledger when they were made, root runs when
    /// they began, costs that were reported when the run ended.
    fn usage_cells(&self, scope: UsageScope<'_>, by: &[UsageDimension]) -> Result<Vec<UsageCell>>;
    /// Returns the sums that are kept, by time, runtime and model.
    fn kept_usage(&self, span: UsageSpan) -> Result<Vec<UsageCell>>;
    /// Adds cells to the sums of all spans; they are told apart by quarter, runtime and model.
    fn add_usage(&self, cells: &[UsageCell]) -> Result<()>;
    /// Takes such cells away again; no sum of nothing stays.
    fn take_usage_away(&self, cells: &[UsageCell]) -> Result<()>;
    /// Forgets all sums, and that any tree was among them.
    fn clear_kept_usage(&self) -> Result<()>;
    /// Notes whether a tree is among the sums.
    fn set_settled(&self, root: &RunKey, settlement: Settlement) -> Result<()>;
    /// Notes of several trees that they are among the sums.
    fn set_all_settled(&self, roots: &[RunKey]) -> Result<()> {
        let mut roots = roots.iter();
        roots.try_for_each(|root| self.set_settled(root, Settlement::Kept))
    }
    /// Tells whether a tree is among the sums. Until the transaction ends, nobody else changes that.
    fn is_settled(&self, root: &RunKey) -> Result<bool>;
    /// Tells whether trees are put into the sums by the transaction that seals one, or by one of its own.
    fn settles_with_seals(&self) -> bool {
        true
    }
    /// Counts the sealed trees that are pending, as far as that many.
    fn waiting_trees(&self, most: u32) -> Result<u32>;
    /// Returns the roots of sealed trees that are pending, and that nobody else is about to settle or to change: none of
    /// them changes until the transaction ends.
    fn roots_to_settle(&self) -> Result<Vec<RunKey>>;
    /// Tells whether there is a run of a session, or may be one before the transaction ends.
    fn has_session(&self, session: &str) -> Result<bool>;
    /// Returns the roots of trees among the sums that have a run of a session after this time and id.
    fn settled_after(&self, session: &str, at: i64, run: &RunId) -> Result<Vec<RunKey>>;
    /// Calls `each` with calls of tools until it returns `false`, the latest first, at most `limit`.
    fn each_call(
        &self,
        filter: &CallFilter,
        limit: usize,
        each: &mut dyn FnMut(ToolCallInfo) -> Result<bool>,
    ) -> Result<()>;
    /// Returns how tools were used, the most used first.
    fn tools(&self, filter: &CallFilter, limit: usize) -> Result<Vec<ToolUse>>;
    /// Returns what runtimes reported besides, the latest first; of some kinds only if any is named.
    fn notices(&self, filter: &RunFilter, kinds: &[&str], limit: usize) -> Result<Vec<NoticeInfo>>;
    /// Returns runs that failed, the latest first.
    fn errors(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunInfo>>;
    /// Returns lines that were not understood, by kind, the most frequent first.
    fn unparsed_lines(&self, filter: &RunFilter, limit: usize) -> Result<Vec<Drift>>;
    /// Returns the root runs that have ended, the latest first, and where their last step begins.
    fn ended_roots(&self, filter: &RunFilter) -> Result<Vec<EndedRoot>>;
    /// Calls `each` with the rows of a query of somebody's own until it returns `false`.
    fn query(&self, sql: &str, each: &mut dyn FnMut(Map<String, Value>) -> bool) -> Result<()>;

    /// Returns runs that the search index does not know in full, so many at most.
    fn partly_searched(&self, most: usize) -> Result<Vec<PartlySearched>>;
    /// Counts the records that the search index does not know.
    fn unsearched_records(&self) -> Result<u64>;
    /// Adds the words of a stretch of records to the search index. It ends where the next one begins, or
    /// where the index ends.
    fn insert_words(&self, run: &RunKey, first: u64, words: &Words) -> Result<()>;
    /// Notes how many records of a run the search index has seen.
    fn set_searched(&self, run: &RunKey, records: u64) -> Result<()>;
    /// Empties the search index, whatever it holds.
    fn clear_search(&self) -> Result<()>;
    /// Returns the stretches that have words, those of the run that began last first, and in a run the
    /// last one: so many of them at the most.
    fn find_words(
        &self,
        words: &WordQuery,
        selection: Selection<'_>,
        most: usize,
    ) -> Result<Vec<Stretch>>;
    /// Returns all records of runs in the same order, or only those that the search index does not know.
    fn stretches(&self, selection: Selection<'_>, is_unknown: bool) -> Result<Vec<Stretch>>;
    /// Compares the search index with the records.
    fn search_check(&self) -> Result<Box<dyn SearchCheck + '_>>;

    /// Returns by which rules the rows were written.
    fn rules(&self) -> Result<Rules>;
    /// Returns the number of the schema.
    fn schema_version(&self) -> Result<u64>;
    /// Checks the database's own structure: on a broken one nothing further can be said.
    fn structure_faults(&self) -> Result<Vec<String>>;
    /// Finds rows that belong to nothing, and counters that were set back.
    fn stray_rows(&self) -> Result<Vec<String>>;
    /// Makes anew what no run's records say: indexes, counters, rows that belong to nothing.
    fn repair_structure(&self) -> Result<()>;
    /// Deletes jobs and shared words that nothing refers to, and makes counters right.
    fn delete_unused(&self) -> Result<()>;
    /// Counts what there is and what it takes.
    fn stats(&self) -> Result<StoreStats>;
}

/// The database that a store is in.
#[derive(Debug)]
pub(crate) enum Backend {
    /// A file, or memory.
    Sqlite(Box<Sqlite>),
    /// A server.
    #[cfg(feature = "postgres")]
    Postgres(Box<Postgres>),
}

impl Backend {
    /// Returns the tables.
    pub(crate) fn tables(&self) -> &dyn Tables {
        match self {
            Self::Sqlite(sqlite) => sqlite.as_ref(),
            #[cfg(feature = "postgres")]
            Self::Postgres(postgres) => postgres.as_ref(),
        }
    }
}
