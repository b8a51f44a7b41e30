//! The seam, implemented: each method by the table it is about.

use runtape_core::report::{
    DailyUsage, Drift, JobInfo, LedgerEntry, NoticeInfo, Removal, RunInfo, SealName, StoreStats,
    ToolCallInfo, ToolUse,
};
use runtape_core::{CheckpointId, JobId, RunId, Stream};
use serde_json::{Map, Value};

use super::{
    Postgres, audit, calls, check, epochs, facts, ledger, list, query, records, runs, schema,
    seals, search, sessions, settling, stats, steps, tape, together, usage_sums,
};
use crate::backend::{
    self, BareRun, EndedRoot, FactPlace, FactTable, IdOf, NewRun, Opening, PartlySearched, Rights,
    Rules, RunKey, RunRow, SearchCheck, Selection, SessionRow, Settlement, Stretch, Tables,
    UnsealedTree, UsageScope,
};
use crate::derive::cells::StoredRun;
use crate::derive::facts::{Fact, RunFacts, StepFact};
use crate::derive::usage_cell::{UsageCell, UsageDimension, UsageSpan};
use crate::derive::words::Words;
use crate::error::{Result, StoreError};
use crate::filter::{CallFilter, RunFilter};
use crate::format::chain::{Hash, TapeRule};
use crate::format::epochs::Epoch;
use crate::format::records::RecordBlock;
use crate::format::seals::SealEntry;
use crate::format::tape::TapeBlock;
use crate::page::PageMark;
use crate::read::search::WordQuery;

impl Tables for Postgres {
    fn begin_reading(&self) -> Result<()> {
        self.begin_to_read();
        Ok(())
    }

    fn end_reading(&self) -> Result<()> {
        self.undo();
        Ok(())
    }

    fn begin_writing(&self) -> Result<()> {
        self.begin_to_write();
        Ok(())
    }

    fn begin_batch(&self) -> Result<()> {
        self.begin_several();
        Ok(())
    }

    fn commit(&self) -> Result<()> {
        self.commit_all()
    }

    fn roll_back(&self) {
        self.undo();
    }

    fn set_savepoint(&self) -> Result<()> {
        self.begin_part()
    }

    fn release_savepoint(&self) -> Result<()> {
        self.keep_part()
    }

    fn roll_back_to_savepoint(&self) {
        self.undo_part();
    }

    fn check_in_place(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self, run: &RunId) -> Result<Option<Box<dyn backend::RunLock>>> {
        Ok(Some(Box::new(self.take_lease(run)?)))
    }

    fn is_unlocked(&self, run: &RunId) -> Result<bool> {
        self.is_free(run)
    }

    fn find_run(&self, run: &RunId) -> Result<Option<RunRow>> {
        runs::find(self, run)
    }

    fn find_runs(&self, runs: &[RunId]) -> Result<Vec<RunRow>> {
        runs::find_all(self, runs)
    }

    fn expect(&self, runs: &[&RunId], sessions: &[&str]) -> Result<()> {
        together::expect(self, runs, sessions)
    }

    fn run_at(&self, key: &RunKey) -> Result<Option<RunRow>> {
        runs::by_key(self, key)
    }

    fn tree(&self, root: &RunKey) -> Result<Vec<RunRow>> {
        runs::tree(self, root)
    }

    fn unsealed_tree(&self, root: &RunKey) -> Result<UnsealedTree> {
        runs::unsealed_tree(self, root)
    }

    fn bare_tree(&self, run: &RunId) -> Result<Vec<BareRun>> {
        runs::bare_tree(self, run)
    }

    fn each_root(&self, each: &mut dyn FnMut(&RunKey, &str) -> Result<()>) -> Result<()> {
        runs::each_root(self, each)
    }

    fn each_run(&self, each: &mut dyn FnMut(&RunKey, &RunId) -> Result<bool>) -> Result<()> {
        runs::each_run(self, each)
    }

    fn open_roots(&self) -> Result<Vec<RunRow>> {
        runs::open(self)
    }

    fn sealed_roots(&self) -> Result<Vec<RunRow>> {
        runs::sealed_roots(self)
    }

    fn roots_of_job(&self, job: &JobId) -> Result<Vec<RunId>> {
        runs::roots_of_job(self, job)
    }

    fn roots_with_tapes(&self, ended_before: i64) -> Result<Vec<RunId>> {
        runs::roots_with_tapes(self, ended_before)
    }

    fn insert_run(&self, run: &NewRun<'_>) -> Result<RunKey> {
        runs::insert(self, run)
    }

    fn update_run(&self, run: &RunKey, facts: &RunFacts) -> Result<()> {
        runs::update(self, run, facts)
    }

    fn set_opening(&self, run: &RunKey, opening: &Opening<'_>) -> Result<()> {
        runs::set_opening(self, run, opening)
    }

    fn set_context(&self, run: &RunKey, context: &[u8]) -> Result<()> {
        runs::set(self, run, "context", &context)
    }

    fn set_exit(&self, run: &RunKey, exit: &[u8]) -> Result<()> {
        runs::set_exit(self, run, exit);
        Ok(())
    }

    fn set_seal(&self, run: &RunKey, seal: Option<SealName>) -> Result<()> {
        runs::set_seal(self, run, seal);
        Ok(())
    }

    fn retire_with(&self, root: &RunKey) {
        self.retire(&root.root);
    }

    fn stored_run(&self, run: &RunKey) -> Result<StoredRun> {
        runs::stored(self, run)
    }

    fn delete_run(&self, run: &RunKey) -> Result<()> {
        runs::delete(self, run)
    }

    fn rights(&self) -> Result<Rights> {
        self.known_rights()
    }

    fn insert_record_block(&self, run: &RunKey, block: &RecordBlock) -> Result<()> {
        records::insert(self, run, block)
    }

    fn record_block_of(&self, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>> {
        records::block_of(self, run, seq)
    }

    fn record_block_from(&self, run: &RunKey, seq: u64) -> Result<Option<RecordBlock>> {
        records::block_from(self, run, seq)
    }

    fn first_record_blocks(&self, runs: &[&RunKey]) -> Result<Vec<(RunKey, RecordBlock)>> {
        records::first_blocks(self, runs)
    }

    fn record_block_lengths(&self, run: &RunKey) -> Result<Vec<(u64, usize)>> {
        records::lengths(self, run)
    }

    fn delete_record_block(&self, run: &RunKey, first_seq: u64) -> Result<()> {
        records::delete_one(self, run, first_seq)
    }

    fn delete_record_blocks(&self, run: &RunKey) -> Result<()> {
        records::delete(self, run)
    }

    fn insert_tape_block(&self, root: &RunKey, block: &TapeBlock) -> Result<()> {
        tape::insert(self, root, block)
    }

    fn tape_block(&self, root: &RunKey, number: u64) -> Result<Option<TapeBlock>> {
        tape::one(self, root, number)
    }

    fn last_tape_block(&self, root: &RunKey) -> Result<Option<TapeBlock>> {
        tape::last(self, root)
    }

    fn next_tape_number(&self, root: &RunKey, number: u64) -> Result<Option<u64>> {
        tape::next_number(self, root, number)
    }

    fn tape_blocks_with(
        &self,
        root: &RunKey,
        stream: Stream,
        start: u64,
        end: u64,
    ) -> Result<Vec<TapeBlock>> {
        tape::blocks_of(self, root, stream, start, end)
    }

    fn tape_hashes(&self, root: &RunKey) -> Result<Vec<Hash>> {
        tape::hashes(self, root)
    }

    fn tape_weight(&self, root: &RunKey) -> Result<(u64, u64)> {
        tape::weight(self, root)
    }

    fn set_tape_hash(&self, root: &RunKey, number: u64, hash: &Hash) -> Result<()> {
        tape::set_hash(self, root, number, hash)
    }

    fn delete_tape_block(&self, root: &RunKey, number: u64) -> Result<()> {
        tape::delete_one(self, root, number)
    }

    fn delete_tape(&self, root: &RunKey) -> Result<u64> {
        tape::delete(self, root)
    }

    fn insert_facts(&self, run: &RunKey, facts: &[Fact]) -> Result<()> {
        facts::insert(self, run, facts)
    }

    fn delete_facts(&self, run: &RunKey) -> Result<()> {
        facts::delete(self, run)
    }

    fn stored_facts(
        &self,
        run: &RunKey,
        table: FactTable,
        after: Option<FactPlace>,
        limit: usize,
    ) -> Result<Vec<(FactPlace, Fact)>> {
        facts::stored(self, run, table, after, limit)
    }

    fn stored_step(&self, run: &RunKey, step: u64) -> Result<Option<StepFact>> {
        steps::one(self, run, step)
    }

    fn stored_step_numbers(&self, run: &RunKey) -> Result<Vec<(i64, i64)>> {
        steps::numbers(self, run)
    }

    fn steps_after(&self, run: &RunKey, step: u64, limit: usize) -> Result<Vec<StepFact>> {
        steps::after(self, run, step, limit)
    }

    fn seq_of_step(&self, run: &RunKey, step: Option<u64>) -> Result<Option<u64>> {
        steps::seq_of(self, run, step)
    }

    fn find_checkpoint(&self, id: &CheckpointId) -> Result<Option<(RunKey, u64)>> {
        steps::find(self, id)
    }

    fn end_of_chain(&self, run: &RunId) -> Result<(u32, Option<(u64, Hash)>)> {
        seals::end(self, run)
    }

    fn lock_chain(&self, run: &RunId) -> Result<()> {
        seals::end(self, run).map(drop)
    }

    fn insert_seal(&self, entry: &SealEntry) -> Result<()> {
        seals::insert(self, entry);
        Ok(())
    }

    fn seal(&self, name: SealName) -> Result<Option<SealEntry>> {
        seals::one(self, name)
    }

    fn each_seal(&self, each: &mut dyn FnMut(SealEntry) -> Result<bool>) -> Result<()> {
        seals::each(self, each)
    }

    fn seals_of_run(&self, run: &RunId) -> Result<Vec<SealEntry>> {
        seals::of_run(self, run)
    }

    fn last_seal(&self) -> Result<Option<SealEntry>> {
        Ok(None)
    }

    fn has_epochs(&self) -> bool {
        true
    }

    fn last_epoch(&self) -> Result<Option<Epoch>> {
        epochs::last(self)
    }

    fn each_epoch(&self, each: &mut dyn FnMut(Epoch) -> Result<()>) -> Result<()> {
        epochs::each(self, each)
    }

    fn epoch_with_hash(&self, hash: &Hash) -> Result<Option<u64>> {
        epochs::with_hash(self, hash)
    }

    fn seal_with_hash(&self, hash: &Hash) -> Result<Option<SealName>> {
        seals::with_hash(self, hash)
    }

    fn make_tombstone(&self, seal: SealName, run: &RunId) -> Result<()> {
        seals::make_tombstone(self, seal, run)
    }

    fn is_removed(&self, seal: SealName) -> Result<bool> {
        seals::is_removed(self, seal)
    }

    fn removals(&self) -> Result<Vec<Removal>> {
        seals::removals(self)
    }

    fn left_out(&self) -> Result<Vec<(SealName, Hash)>> {
        // Only bundles leave entries out, and a bundle is a file.
        Ok(Vec::new())
    }

    fn insert_left_out(&self, after: SealName, _: &Hash) -> Result<()> {
        Err(StoreError::damaged(
            format!("seal {after}"),
            "nothing is left out on a server",
        ))
    }

    fn children_with_seals(&self) -> Result<Vec<(RunId, SealName)>> {
        // A child has no place for a seal.
        Ok(Vec::new())
    }

    fn runs(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<RunInfo>> {
        list::runs(self, selection, after, limit)
    }

    fn run_info(&self, run: &RunKey) -> Result<RunInfo> {
        runs::one_info(self, run)
    }

    fn trees_info(&self, roots: &[RunId]) -> Result<Vec<RunInfo>> {
        together::trees_info(self, roots)
    }

    fn roots_of_sessions(&self, sessions: &[&str]) -> Result<Vec<(String, RunId)>> {
        together::roots_of_sessions(self, sessions)
    }

    fn jobs(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<JobInfo>> {
        list::jobs(self, selection, after, limit)
    }

    fn job(&self, id: &JobId) -> Result<Option<JobInfo>> {
        list::job_with_id(self, id)
    }

    fn sessions(
        &self,
        selection: Selection<'_>,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Vec<SessionRow>> {
        sessions::list(self, selection, after, limit)
    }

    fn runs_without_session(&self, selection: Selection<'_>) -> Result<u64> {
        sessions::runs_without(self, selection)
    }

    fn ids_with_prefix(&self, of: IdOf, prefix: &str, limit: usize) -> Result<Vec<String>> {
        match of {
            IdOf::Run => list::ids_with_prefix(self, "run", prefix, limit),
            IdOf::Job => list::ids_with_prefix(self, "job", prefix, limit),
            IdOf::Checkpoint => steps::by_prefix(self, prefix, limit),
        }
    }

    fn ledger(&self, run: &RunRow) -> Result<Vec<LedgerEntry>> {
        ledger::of_run(self, run)
    }

    fn usage_daily(&self) -> Result<Vec<DailyUsage>> {
        ledger::daily(self)
    }

    fn usage_cells(&self, scope: UsageScope<'_>, by: &[UsageDimension]) -> Result<Vec<UsageCell>> {
        usage_sums::cells(self, scope, by)
    }

    fn kept_usage(&self, span: UsageSpan) -> Result<Vec<UsageCell>> {
        usage_sums::kept(self, span)
    }

    fn add_usage(&self, cells: &[UsageCell]) -> Result<()> {
        usage_sums::change(self, cells, false)
    }

    fn take_usage_away(&self, cells: &[UsageCell]) -> Result<()> {
        usage_sums::change(self, cells, true)
    }

    fn clear_kept_usage(&self) -> Result<()> {
        usage_sums::clear(self)
    }

    fn set_settled(&self, root: &RunKey, settlement: Settlement) -> Result<()> {
        let number: i16 = match settlement {
            Settlement::Pending => 0,
            Settlement::Kept => 1,
            Settlement::Refused => 2,
        };
        runs::set(self, root, "summed", &number)
    }

    fn set_all_settled(&self, roots: &[RunKey]) -> Result<()> {
        settling::set_all_settled(self, roots)
    }

    fn is_settled(&self, root: &RunKey) -> Result<bool> {
        settling::is_settled(self, root)
    }

    fn settles_with_seals(&self) -> bool {
        // Who seals holds a chain until the transaction ends, and others wait for it.
        self.transaction.borrow().is_batch
    }

    fn waiting_trees(&self, most: u32) -> Result<u32> {
        settling::waiting(self, most)
    }

    fn roots_to_settle(&self) -> Result<Vec<RunKey>> {
        settling::to_settle(self)
    }

    fn has_session(&self, session: &str) -> Result<bool> {
        settling::has_session(self, session)
    }

    fn settled_after(&self, session: &str, at: i64, run: &RunId) -> Result<Vec<RunKey>> {
        settling::settled_after(self, session, at, run)
    }

    fn each_call(
        &self,
        filter: &CallFilter,
        limit: usize,
        each: &mut dyn FnMut(ToolCallInfo) -> Result<bool>,
    ) -> Result<()> {
        calls::each(self, filter, limit, each)
    }

    fn tools(&self, filter: &CallFilter, limit: usize) -> Result<Vec<ToolUse>> {
        calls::tools(self, filter, limit)
    }

    fn notices(&self, filter: &RunFilter, kinds: &[&str], limit: usize) -> Result<Vec<NoticeInfo>> {
        audit::notices(self, filter, kinds, limit)
    }

    fn errors(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunInfo>> {
        audit::errors(self, filter, limit)
    }

    fn unparsed_lines(&self, filter: &RunFilter, limit: usize) -> Result<Vec<Drift>> {
        audit::unparsed_lines(self, filter, limit)
    }

    fn ended_roots(&self, filter: &RunFilter) -> Result<Vec<EndedRoot>> {
        audit::ended_roots(self, filter)
    }

    fn query(&self, sql: &str, each: &mut dyn FnMut(Map<String, Value>) -> bool) -> Result<()> {
        query::query(self, sql, each)
    }

    fn partly_searched(&self, most: usize) -> Result<Vec<PartlySearched>> {
        search::partly_searched(self, most)
    }

    fn unsearched_records(&self) -> Result<u64> {
        search::unsearched_records(self)
    }

    fn insert_words(&self, run: &RunKey, first: u64, words: &Words) -> Result<()> {
        search::insert(self, run, first, words)
    }

    fn set_searched(&self, run: &RunKey, records: u64) -> Result<()> {
        search::set_searched(self, run, records);
        Ok(())
    }

    fn clear_search(&self) -> Result<()> {
        search::clear(self)
    }

    fn find_words(
        &self,
        words: &WordQuery,
        selection: Selection<'_>,
        most: usize,
    ) -> Result<Vec<Stretch>> {
        search::find(self, words, selection, most)
    }

    fn stretches(&self, selection: Selection<'_>, is_unknown: bool) -> Result<Vec<Stretch>> {
        search::stretches(self, selection, is_unknown)
    }

    fn search_check(&self) -> Result<Box<dyn SearchCheck + '_>> {
        Ok(Box::new(check::SearchIndex::new(self)))
    }

    fn rules(&self) -> Result<Rules> {
        Ok(Rules {
            tape: TapeRule::Times,
            marks_totals: true,
            specifies_ids: true,
            keeps_usage: true,
            tells_about: true,
            are_current: true,
        })
    }

    fn schema_version(&self) -> Result<u64> {
        Ok(schema::NEWEST.unsigned_abs())
    }

    fn structure_faults(&self) -> Result<Vec<String>> {
        check::structure(self)
    }

    fn stray_rows(&self) -> Result<Vec<String>> {
        check::strays(self)
    }

    fn repair_structure(&self) -> Result<()> {
        check::repair(self)
    }

    fn delete_unused(&self) -> Result<()> {
        Ok(())
    }

    fn stats(&self) -> Result<StoreStats> {
        stats::stats(self)
    }
}
