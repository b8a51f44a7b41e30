//! A run: the chain of its records, and its row.

use runtape_core::Record;
use runtape_core::report::FaultPlace;

use super::Verifier;
use super::rows::DerivedRows;
use super::times::RunTimes;
use crate::backend::RunRow;
use crate::derive::cells::{self, FIRST_WIDTH, RUN_COLUMNS, RUN_WIDTH};
use crate::derive::facts::FactFolder;
use crate::derive::text::Text;
use crate::error::Result;
use crate::format::chain::{self, Hash, MARK};
use crate::format::records::{RecordBlock, each_line, parse};

impl Verifier<'_> {
    /// Verifies a run of a tree, and the rows that follow from its records.
    pub(super) fn run(&mut self, run: &RunRow, tree: &[RunRow]) -> Result<()> {
        self.report.runs += 1;
        if let Some(fault) = self.search.begin(run)? {
            let run_id = run.id.clone();
            self.fault(FaultPlace::Run { run_id }, fault);
        }
        let mut folder = FactFolder::default();
        let mut facts = Vec::new();
        let mut rows = DerivedRows::new(&run.key, self.rules);
        let mut times = RunTimes::default();
        let intact = self.chain(run, |verifier, record| {
            folder.push(record, &mut facts);
            times.push(record);
            verifier.search.add(record.seq, Text::of(record).as_ref())?;
            rows.compare(verifier.tables, &mut facts)
        })?;
        if !intact {
            return Ok(());
        }
        self.times(&run.id, run.root.is_none(), &times);
        let place = FaultPlace::Run {
            run_id: run.id.clone(),
        };
        let opened = folder.run.opened.as_ref();
        if opened.is_some_and(|opened| opened.job_id != run.job || opened.runtime != run.runtime) {
            self.fault(place.clone(), "its job or runtime was changed");
        }
        let wrong = self.run_row(run, &folder, tree);
        if let Some(Some(column)) = self.read(place, wrong)? {
            let run_id = run.id.clone();
            let fault = format!("its {column} was changed");
            self.fault(FaultPlace::Run { run_id }, fault);
        }
        let at = |table: &str, seq| FaultPlace::Row {
            table: table.to_owned(),
            run_id: run.id.clone(),
            seq,
        };
        let finished = rows.finish(self.tables);
        let Some(faults) = self.read(at("step", 0), finished)? else {
            return Ok(());
        };
        for (table, seq, fault) in faults {
            self.fault(at(table, seq), fault);
        }
        Ok(())
    }

    /// Follows the chain of a run's records.
    pub(super) fn chain(
        &mut self,
        run: &RunRow,
        mut each: impl FnMut(&mut Self, &Record) -> Result<()>,
    ) -> Result<bool> {
        let at = |seq| FaultPlace::Record {
            run_id: run.id.clone(),
            seq,
        };
        let mut expected = 0;
        let mut hash = chain::first_record(&run.id);
        let mut from = 0;
        loop {
            let block = self.tables.record_block_from(&run.key, from);
            let Some(block) = self.read(at(expected), block)? else {
                return Ok(false);
            };
            let Some(block) = block else { break };
            from = block.first_seq + 1;
            if block.first_seq > expected {
                let last = block.first_seq - 1;
                self.fault(at(expected), format!("missing, up to record {last}"));
                return Ok(false);
            }
            if block.first_seq < expected {
                self.fault(at(block.first_seq), "inserted: it is there twice");
                return Ok(false);
            }
            let Some(after) = self.block(run, &block, hash, &mut each)? else {
                return Ok(false);
            };
            hash = after;
            expected += block.count;
        }
        if expected != run.records {
            let fault = format!(
                "the run has {expected} records, its row says {}",
                run.records
            );
            self.fault(at(expected.min(run.records)), fault);
            return Ok(false);
        }
        Ok(true)
    }

    /// Follows the chain through a block; returns the hash after it unless there is a fault.
    fn block(
        &mut self,
        run: &RunRow,
        block: &RecordBlock,
        before: Hash,
        each: &mut impl FnMut(&mut Self, &Record) -> Result<()>,
    ) -> Result<Option<Hash>> {
        let at = |seq| FaultPlace::Record {
            run_id: run.id.clone(),
            seq,
        };
        let Some(lines) = self.read(at(block.first_seq), block.lines(&run.id))? else {
            return Ok(None);
        };
        let mut hash = before;
        let mut seq = block.first_seq;
        let mut marks = block.marks.chunks(MARK);
        for line in each_line(&lines) {
            let record = match parse(line) {
                Ok(record) => record,
                Err(error) => {
                    self.fault(at(seq), format!("changed: it is no record: {error}"));
                    return Ok(None);
                }
            };
            if record.run_id != run.id {
                let fault = format!("moved here from run {}", record.run_id);
                self.fault(at(seq), fault);
                return Ok(None);
            }
            if record.seq != seq {
                let fault = format!("moved: record {} stands in its place", record.seq);
                self.fault(at(seq), fault);
                return Ok(None);
            }
            if seq - block.first_seq >= block.count {
                self.fault(at(seq), "inserted");
                return Ok(None);
            }
            hash = chain::next_record(&hash, line);
            if marks.next() != Some(&chain::mark(&hash)[..]) {
                self.fault(at(seq), "changed: its hash does not fit the one before");
                return Ok(None);
            }
            self.report.records += 1;
            if let Some(span) = record.span {
                self.reach.advance(span.stream, span.end);
            }
            let taken = each(self, &record);
            if self.read(at(seq), taken)?.is_none() {
                return Ok(None);
            }
            seq += 1;
        }
        if seq - block.first_seq != block.count {
            self.fault(at(seq), "missing");
            return Ok(None);
        }
        // Lines end in one line feed, and nothing stands between them.
        let ends = memchr::memchr_iter(b'\n', &lines).count();
        let is_whole = lines.last().is_none_or(|last| *last == b'\n');
        if u64::try_from(ends).unwrap_or(0) != block.count || !is_whole {
            self.fault(at(block.first_seq), "changed: there are empty lines");
            return Ok(None);
        }
        if hash != block.hash || marks.next().is_some() {
            self.fault(at(seq.saturating_sub(1)), "its hash was changed");
            return Ok(None);
        }
        Ok(Some(hash))
    }

    /// Returns the first column of a run's row that is not what the records say.
    fn run_row(
        &self,
        run: &RunRow,
        folder: &FactFolder,
        tree: &[RunRow],
    ) -> Result<Option<&'static str>> {
        let stored = self.tables.stored_run(&run.key)?;
        let parent = folder.parent().filter(|_| run.root.is_some());
        let parent = parent.and_then(|parent| tree.iter().rfind(|other| other.id == *parent));
        let root = tree.first().filter(|_| run.root.is_some());
        let number = |run: Option<&RunRow>| run.map(|run| run.key.number);
        if stored.root != number(root) {
            return Ok(Some("root"));
        }
        if stored.parent != number(parent) {
            return Ok(Some("parent"));
        }
        let expected = cells::cells(&folder.run, run.started_at);
        let columns = RUN_COLUMNS.iter().zip(expected.iter().zip(&stored.cells));
        let width = if self.rules.tells_about {
            RUN_WIDTH
        } else {
            FIRST_WIDTH
        };
        for (column, (expected, stored)) in columns.take(width) {
            if expected != stored {
                return Ok(Some(column.name));
            }
        }
        // Only a root run has these, and neither is ever empty.
        let is_right = |packed: &Option<Vec<u8>>| match packed {
            Some(packed) => run.root.is_none() && !packed.is_empty(),
            None => true,
        };
        if !is_right(&stored.context) {
            return Ok(Some("context"));
        }
        Ok((!is_right(&stored.exit)).then_some("exit"))
    }
}
