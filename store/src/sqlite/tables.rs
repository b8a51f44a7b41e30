//! The seam, implemented: each method by the table it is about.

use runtape_core::report::{
    DailyUsage, Drift, JobInfo, LedgerEntry, NoticeInfo, Removal, RunInfo, SealName, StoreStats,
    ToolCallInfo, ToolUse,
};
use runtape_core::{CheckpointId, JobId, RunId, Stream};
use serde_json::{Map, Value};

use super::check::structure;
use super::check::terms::IndexCheck;
use super::columns::{self, place_of_seal};
use super::lock::FileLock;
use super::{
    Sqlite, audit, calls, facts, keys, ledger, list, migrate, records, runs, seals, search,
    sessions, stats, steps, tape, usage_sums, words,
};
use crate::backend::{
    self, BareRun, EndedRoot, FactPlace, FactTable, IdOf, NewRun, Opening, PartlySearched, Rules,
    RunKey, RunRow, SearchCheck, Selection, SessionRow, Settlement, Stretch, Tables, UsageScope,
};
use crate::derive::cells::StoredRun;
use crate::derive::facts::{Fact, RunFacts, StepFact};
use crate::derive::usage_cell::{UsageCell, UsageDimension, UsageSpan};
use crate::derive::words::Words;
use crate::error::{Result, StoreError};
use crate::filter::{CallFilter, RunFilter};
use crate::format::chain::{Hash, TapeRule};
use crate::format::records::RecordBlock;
use crate::format::seals::SealEntry;
use crate::format::tape::TapeBlock;
use crate::page::PageMark;
use crate::read::search::WordQuery;

impl Tables for Sqlite {
    fn begin_reading(&self) -> Result<()> {
        Ok(self.connection.execute_batch("BEGIN")?)
    }

    fn end_reading(&self) -> Result<()> {
        self.end("ROLLBACK");
        match (&self.path, &self.snapshot) {
            (Some(path), Some(snapshot)) => snapshot.check(path),
            _ => Ok(()),
        }
    }

    fn begin_writing(&self) -> Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let refreshed = self.words.borrow_mut().refresh(&self.connection);
        if refreshed.is_err() {
            self.roll_back();
        }
        refreshed
    }

    fn commit(&self) -> Result<()> {
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    fn roll_back(&self) {
        self.end("ROLLBACK");
        self.words.borrow_mut().forget();
    }

    fn set_savepoint(&self) -> Result<()> {
        Ok(self.connection.execute_batch("SAVEPOINT part")?)
    }

    fn release_savepoint(&self) -> Result<()> {
        Ok(self.connection.execute_batch("RELEASE part")?)
    }

    fn roll_back_to_savepoint(&self) {
        self.end("ROLLBACK TO part; RELEASE part");
        self.words.borrow_mut().forget();
    }

    fn check_in_place(&self) -> Result<()> {
        Sqlite::check_in_place(self)
    }

    fn lock(&self, run: &RunId) -> Result<Option<Box<dyn backend::RunLock>>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        match FileLock::take(path, run)? {
            Some(lock) => Ok(Some(Box::new(lock))),
            None => Err(StoreError::Locked { run: run.clone() }),
        }
    }

    fn is_unlocked(&self, run: &RunId) -> Result<bool> {
        match &self.path {
            Some(path) => FileLock::is_free(path, run),
            None => Ok(true),
        }
    }

    fn find_run(&self, run: &RunId) -> Result<Option<RunRow>> {
        runs::find(&self.connection, run)
    }

    fn run_at(&self, key: &RunKey) -> Result<Option<RunRow>> {
        runs::by_key(&self.connection, key.number)
    }

    fn tree(&self, root: &RunKey) -> Result<Vec<RunRow>> {
        runs::tree(&self.connection, root.number)
    }

    fn bare_tree(&self, run: &RunId) -> Result<Vec<BareRun>> {
        runs::bare_tree(&self.connection, run)
    }

    fn each_root(&self, each: &mut dyn FnMut(&RunKey, &str) -> Result<()>) -> Result<()> {
        runs::each_root(&self.connection, each)
    }

    fn each_run(&self, each: &mut dyn FnMut(&RunKey, &RunId) -> Result<bool>) -> Result<()> {
        runs::each_run(&self.connection, each)
    }

    fn open_roots(&self) -> Result<Vec<RunRow>> {
        runs::open(&self.connection)
    }

    fn sealed_roots(&self) -> Result<Vec<RunRow>> {
        runs::sealed_roots(&self.connection)
    }

    fn roots_of_job(&self, job: &JobId) -> Result<Vec<RunId>> {
        runs::roots_of_job(&self.connection, job)
    }

    fn roots_of_sessions(&self, sessions: &[&str]) -> Result<Vec<(String, RunId)>> {
        runs::roots_of_sessions(&self.connection, sessions)
    }

    fn roots_with_tapes(&self, ended_before: i64) -> Result<Vec<RunId>> {
        runs::roots_with_tapes(&self.connection, ended_before)
    }

    fn insert_run(&self, run: &NewRun<'_>) -> Result<RunKey> {
        runs::insert(&self.connection, &mut self.words.borrow_mut(), run)
    }

    fn update_run(&self, run: &RunKey, facts: &RunFacts) -> Result<()> {
        runs::update(
            &self.connection,
            &mut self.words.borrow_mut(),
            run.number,
            facts,
        )
    }

    fn set_opening(&self, run: &RunKey, opening: &Opening<'_>) -> Result<()> {
        runs::set_opening(
            &self.connection,
            &mut self.words.borrow_mut(),
            run.number,
            opening,
        )
    }

    fn set_context(&self, run: &RunKey, context: &[u8]) -> Result<()> {
        runs::set(&self.connection, run.number, "context", context)
    }

    fn set_exit(&self, run: &RunKey, exit: &[u8]) -> Result<()> {
        runs::set(&self.connection, run.number, "exit", exit)
    }

    fn set_seal(&self, run: &RunKey, seal: Option<SealName>) -> Result<()> {
        runs::set(
            &self.connection,
            run.number,
            "seal",
            seal.map(place_of_seal).transpose()?,
        )
    }

    fn stored_run(&self, run: &RunKey) -> Result<StoredRun> {
        runs::stored(&self.connection, run.number)
    }

    fn delete_run(&self, run: &RunKey) -> Result<()> {
        runs::delete(&self.connection, run.number)
    }

    fn insert_record_block(&self, run: &RunKey, block: &RecordBlock) -> Result<()> {
        records::insert(&self.connection, run.number, block)
    }

    fn record_block_of(&self, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>> {
        records::block_of(&self.connection, run.number, seq)
    }

    fn record_block_from(&self, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>> {
        records::block_from(&self.connection, run.number, seq)
    }

    fn record_block_lengths(&self, run: &RunKey) -> Result<Vec<(u64, usize)>> {
        records::lengths(&self.connection, run.number)
    }

    fn delete_record_block(&self, run: &RunKey, first_seq: u64) -> Result<()> {
        records::delete_one(&self.connection, run.number, first_seq)
    }

    fn delete_record_blocks(&self, run: &RunKey) -> Result<()> {
        records::delete(&self.connection, run.number)
    }

    fn insert_tape_block(&self, root: &RunKey, block: &TapeBlock) -> Result<()> {
        tape::insert(&self.connection, root.number, block)
    }

    fn tape_block(&self, root: &RunKey, number: u64) -> Result<Option<TapeBlock>> {
        tape::one(&self.connection, root.number, number)
    }

    fn last_tape_block(&self, root: &RunKey) -> Result<Option<TapeBlock>> {
        tape::last(&self.connection, root.number)
    }

    fn next_tape_number(&self, root: &RunKey, number: u64) -> Result<Option<u64>> {
        tape::next_number(&self.connection, root.number, number)
    }

    fn tape_blocks_with(
        &self,
        root: &RunKey,
        stream: Stream,
        start: u64,
        end: u64,
    ) -> Result<Vec<TapeBlock>> {
        tape::blocks_of(&self.connection, root.number, stream, start, end)
    }

    fn tape_hashes(&self, root: &RunKey) -> Result<Vec<Hash>> {
        tape::hashes(&self.connection, root.number)
    }

    fn tape_weight(&self, root: &RunKey) -> Result<(u64, u64)> {
        tape::weight(&self.connection, root.number)
    }

    fn set_tape_hash(&self, root: &RunKey, number: u64, hash: &Hash) -> Result<()> {
        tape::set_hash(&self.connection, root.number, number, hash)
    }

    fn delete_tape_block(&self, root: &RunKey, number: u64) -> Result<()> {
        tape::delete_one(&self.connection, root.number, number)
    }

    fn delete_tape(&self, root: &RunKey) -> Result<u64> {
        tape::delete(&self.connection, root.number)
    }

    fn insert_facts(&self, run: &RunKey, facts: &[Fact]) -> Result<()> {
        facts::insert(
            &self.connection,
            &mut self.words.borrow_mut(),
            run.number,
            facts,
        )
    }

    fn delete_facts(&self, run: &RunKey) -> Result<()> {
        facts::delete(&self.connection, run.number)
    }

    fn stored_facts(
        &self,
        run: &RunKey,
        table: FactTable,
        after: Option<FactPlace>,
        limit: usize,
    ) -> Result<Vec<(FactPlace, Fact)>> {
        facts::stored(&self.connection, run.number, table, after, limit)
    }

    fn stored_step(&self, run: &RunKey, step: u64) -> Result<Option<StepFact>> {
        steps::one(&self.connection, run.number, step)
    }

    fn stored_step_numbers(&self, run: &RunKey) -> Result<Vec<(i64, i64)>> {
        steps::numbers(&self.connection, run.number)
    }

    fn steps_after(&self, run: &RunKey, step: u64, limit: usize) -> Result<Vec<StepFact>> {
        steps::after(&self.connection, run.number, step, limit)
    }

    fn seq_of_step(&self, run: &RunKey, step: Option<u64>) -> Result<Option<u64>> {
        steps::seq_of(&self.connection, run.number, step)
    }

    fn find_checkpoint(&self, id: &CheckpointId) -> Result<Option<(RunKey, u64)>> {
        steps::find(&self.connection, id)
    }

    fn end_of_chain(&self, _run: &RunId) -> Result<(u32, Option<(u64, Hash)>)> {
        Ok((0, seals::end(&self.connection)?))
    }

    fn insert_seal(&self, entry: &SealEntry) -> Result<()> {
        seals::insert(&self.connection, entry)
    }

    fn seal(&self, name: SealName) -> Result<Option<SealEntry>> {
        seals::one(&self.connection, name)
    }

    fn each_seal(&self, each: &mut dyn FnMut(SealEntry) -> Result<bool>) -> Result<()> {
        seals::each(&self.connection, each)
    }

    fn seals_of_run(&self, run: &RunId) -> Result<Vec<SealEntry>> {
        seals::of_run(&self.connection, run)
    }

    fn last_seal(&self) -> Result<Option<SealEntry>> {
        seals::last(&self.connection)
    }

    fn seal_with_hash(&self, hash: &Hash) -> Result<Option<SealName>> {
        seals::with_hash(&self.connection, hash)
    }

    fn make_tombstone(&self, seal: SealName, run: &RunId) -> Result<()> {
        seals::make_tombstone(&self.connection, seal, run)
    }

    fn is_removed(&self, seal: SealName) -> Result<bool> {
        seals::is_removed(&self.connection, seal)
    }

    fn removals(&self) -> Result<Vec<Removal>> {
        seals::removals(&self.connection)
    }

    fn left_out(&self) -> Result<Vec<(SealName, Hash)>> {
        seals::left_out(&self.connection)
    }

    fn insert_left_out(&self, after: SealName, hash: &Hash) -> Result<()> {
        seals::insert_left_out(&self.connection, after, hash)
    }

    fn children_with_seals(&self) -> Result<Vec<(RunId, SealName)>> {
        seals::of_children(&self.connection)
    }

    fn runs(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<RunInfo>> {
        list::runs(&self.connection, selection, after, limit)
    }

    fn run_info(&self, run: &RunKey) -> Result<RunInfo> {
        runs::one_info(&self.connection, run.number)
    }

    fn jobs(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<JobInfo>> {
        list::jobs(&self.connection, selection, after, limit)
    }

    fn job(&self, id: &JobId) -> Result<Option<JobInfo>> {
        list::job_with_id(&self.connection, id)
    }

    fn sessions(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<SessionRow>> {
        sessions::list(&self.connection, selection, after, limit)
    }

    fn runs_without_session(&self, selection: Selection<'_>) -> Result<u64> {
        sessions::runs_without(&self.connection, selection)
    }

    fn ids_with_prefix(&self, of: IdOf, prefix: &str, limit: usize) -> Result<Vec<String>> {
        match of {
            IdOf::Run => list::ids_with_prefix(&self.connection, "run", prefix, limit),
            IdOf::Job => list::ids_with_prefix(&self.connection, "job", prefix, limit),
            IdOf::Checkpoint => steps::by_prefix(&self.connection, prefix, limit),
        }
    }

    fn ledger(&self, run: &RunRow) -> Result<Vec<LedgerEntry>> {
        ledger::of_run(&self.connection, run)
    }

    fn usage_daily(&self) -> Result<Vec<DailyUsage>> {
        ledger::daily(&self.connection)
    }

    fn usage_cells(&self, scope: UsageScope<'_>, by: &[UsageDimension]) -> Result<Vec<UsageCell>> {
        usage_sums::cells(&self.connection, scope, by)
    }

    fn kept_usage(&self, span: UsageSpan) -> Result<Vec<UsageCell>> {
        usage_sums::kept(&self.connection, span)
    }

    fn add_usage(&self, cells: &[UsageCell]) -> Result<()> {
        usage_sums::change(&self.connection, &mut self.words.borrow_mut(), cells, false)
    }

    fn take_usage_away(&self, cells: &[UsageCell]) -> Result<()> {
        usage_sums::change(&self.connection, &mut self.words.borrow_mut(), cells, true)
    }

    fn clear_kept_usage(&self) -> Result<()> {
        usage_sums::clear(&self.connection)
    }

    fn set_settled(&self, root: &RunKey, settlement: Settlement) -> Result<()> {
        let number = match settlement {
            Settlement::Pending => 0,
            Settlement::Kept => 1,
            Settlement::Refused => 2,
        };
        runs::set(&self.connection, root.number, "summed", number)
    }

    fn is_settled(&self, root: &RunKey) -> Result<bool> {
        usage_sums::is_settled(&self.connection, root.number)
    }

    fn waiting_trees(&self, most: u32) -> Result<u32> {
        usage_sums::waiting(&self.connection, most)
    }

    fn roots_to_settle(&self) -> Result<Vec<RunKey>> {
        usage_sums::to_settle(&self.connection)
    }

    fn has_session(&self, session: &str) -> Result<bool> {
        // The word is about to be needed, if it is not there.
        let session = self.words.borrow_mut().key(&self.connection, session)?;
        sessions::has_run(&self.connection, session)
    }

    fn settled_after(&self, session: &str, at: i64, run: &RunId) -> Result<Vec<RunKey>> {
        usage_sums::settled_after(&self.connection, session, at, run.as_str())
    }

    fn each_call(
        &self,
        filter: &CallFilter,
        limit: usize,
        each: &mut dyn FnMut(ToolCallInfo) -> Result<bool>,
    ) -> Result<()> {
        calls::each(&self.connection, filter, limit, each)
    }

    fn tools(&self, filter: &CallFilter, limit: usize) -> Result<Vec<ToolUse>> {
        calls::tools(&self.connection, filter, limit)
    }

    fn notices(&self, filter: &RunFilter, kinds: &[&str], limit: usize) -> Result<Vec<NoticeInfo>> {
        audit::notices(&self.connection, filter, kinds, limit)
    }

    fn errors(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunInfo>> {
        audit::errors(&self.connection, filter, limit)
    }

    fn unparsed_lines(&self, filter: &RunFilter, limit: usize) -> Result<Vec<Drift>> {
        audit::unparsed_lines(&self.connection, filter, limit)
    }

    fn ended_roots(&self, filter: &RunFilter) -> Result<Vec<EndedRoot>> {
        audit::ended_roots(&self.connection, filter)
    }

    fn query(&self, sql: &str, each: &mut dyn FnMut(Map<String, Value>) -> bool) -> Result<()> {
        audit::query(&self.connection, sql, each)
    }

    fn partly_searched(&self, most: usize) -> Result<Vec<PartlySearched>> {
        search::partly_searched(&self.connection, most)
    }

    fn unsearched_records(&self) -> Result<u64> {
        search::unsearched_records(&self.connection)
    }

    fn insert_words(&self, run: &RunKey, first: u64, words: &Words) -> Result<()> {
        search::insert(&self.connection, columns::place(run.number, first)?, words)
    }

    fn set_searched(&self, run: &RunKey, records: u64) -> Result<()> {
        search::set_searched(&self.connection, run.number, records)
    }

    fn clear_search(&self) -> Result<()> {
        search::clear(&self.connection)
    }

    fn find_words(
        &self,
        words: &WordQuery,
        selection: Selection<'_>,
        most: usize,
    ) -> Result<Vec<Stretch>> {
        search::find(&self.connection, words, selection, most)
    }

    fn stretches(&self, selection: Selection<'_>, is_unknown: bool) -> Result<Vec<Stretch>> {
        search::stretches(&self.connection, selection, is_unknown)
    }

    fn search_check(&self) -> Result<Box<dyn SearchCheck + '_>> {
        Ok(Box::new(IndexCheck::new(&self.connection)?))
    }

    fn rules(&self) -> Result<Rules> {
        let version = migrate::version(&self.connection)?;
        Ok(Rules {
            tape: if version < migrate::TIMES_IN_CHAIN {
                TapeRule::Distances
            } else {
                TapeRule::Times
            },
            marks_totals: version >= migrate::LEDGER_KNOWS_TOTALS,
            specifies_ids: version >= migrate::IDS_ARE_SPECIFIED,
            keeps_usage: version >= migrate::USAGE_IS_SUMMED,
            tells_about: version >= migrate::RUNS_TELL_ABOUT,
            are_current: version == migrate::newest(),
        })
    }

    fn schema_version(&self) -> Result<u64> {
        migrate::version(&self.connection).map(columns::unsigned)
    }

    fn structure_faults(&self) -> Result<Vec<String>> {
        structure::faults(&self.connection)
    }

    fn stray_rows(&self) -> Result<Vec<String>> {
        structure::strays(&self.connection)
    }

    fn repair_structure(&self) -> Result<()> {
        // Also an index may say something else than its table.
        self.connection.execute_batch("REINDEX")?;
        self.words.borrow_mut().forget();
        for table in facts::TABLES {
            let sql = format!("DELETE FROM {table} WHERE run NOT IN (SELECT key FROM run)");
            self.connection.execute(&sql, [])?;
        }
        let sql = "DELETE FROM search WHERE rowid >> 32 NOT IN (SELECT key FROM run)";
        self.connection.execute(sql, [])?;
        Ok(())
    }

    fn delete_unused(&self) -> Result<()> {
        runs::delete_unused_jobs(&self.connection)?;
        words::delete_unused(&self.connection)?;
        self.words.borrow_mut().forget();
        keys::restore(&self.connection)
    }

    fn stats(&self) -> Result<StoreStats> {
        stats::stats(&self.connection)
    }
}

impl Sqlite {
    /// Ends a transaction or a part of one, unless a failure did. There is nothing to be done if it
    /// fails: whoever goes on is told.
    fn end(&self, sql: &str) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch(sql);
        }
    }
}
