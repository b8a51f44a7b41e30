//! Proving that nothing was changed, or naming what was.

use runtape_core::report::{
    Failure, FaultPlace, RemovalReason, RunInfo, VerifyFault, VerifyReport,
};
use runtape_core::{RunId, Stream};
use rusqlite::Connection;

use crate::chain::{self, MARK};
use crate::error::{Result, StoreError};
use crate::facts::{Fact, FactFolder, RunFacts};
use crate::keys;
use crate::place::unsigned;
use crate::records::{self, RecordBlock};
use crate::runs::{self, RunRow};
use crate::seals;
use crate::store::Store;
use crate::{ledger, notices, steps, tape, tool_calls};

/// Gathers faults.
struct Verifier<'a> {
    connection: &'a Connection,
    report: VerifyReport,
    /// How far into stdout and stderr the records of the tree reach.
    reach: [u64; 2],
}

impl Store {
    /// Computes everything anew from the tape and the records up to the head of the seals, and
    /// compares.
    ///
    /// Someone who computes all hashes anew is found only against a head that was kept elsewhere:
    /// see [`verify_head`](Self::verify_head).
    pub fn verify(&self) -> Result<VerifyReport> {
        self.read(|connection| {
            let mut verifier = Verifier {
                connection,
                report: VerifyReport::default(),
                reach: [0; 2],
            };
            verifier.verify()?;
            Ok(verifier.report)
        })
    }

    /// Does what [`verify`](Self::verify) does, and proves that nothing sealed before `head` was
    /// changed since: `head` must be in the chain.
    pub fn verify_head(&self, head: &str) -> Result<VerifyReport> {
        let mut report = self.verify()?;
        let head = head.trim().to_ascii_lowercase();
        let is_known = self.read(|connection| {
            let seals = seals::all(connection)?;
            Ok(seals.iter().any(|seal| chain::hex(&seal.hash) == head))
        })?;
        if !is_known {
            report.faults.push(VerifyFault {
                place: FaultPlace::File,
                fault: format!("no seal has the hash {head}: what it covered was changed"),
            });
        }
        Ok(report)
    }
}

impl Verifier<'_> {
    fn fault(&mut self, place: FaultPlace, fault: impl Into<String>) {
        let fault = fault.into();
        self.report.faults.push(VerifyFault { place, fault });
    }

    /// Turns what cannot be read into a fault; passes on what has nothing to do with the data.
    fn read<T>(&mut self, place: FaultPlace, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Damaged { fault, .. }) => {
                self.fault(place, fault);
                Ok(None)
            }
            Err(StoreError::Database { source, .. }) => {
                self.fault(place, format!("cannot be read: {source}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn verify(&mut self) -> Result<()> {
        if !self.file()? {
            return Ok(());
        }
        self.report.removals = seals::removals(self.connection)?;
        self.orphans()?;
        self.keys()?;
        let mut statement = self
            .connection
            .prepare_cached("SELECT key, id FROM run WHERE root IS NULL ORDER BY key")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        let roots: Vec<(i64, String)> = rows.collect::<rusqlite::Result<_>>()?;
        for (root, id) in roots {
            let tree = runs::tree(self.connection, root);
            let Ok(run_id) = RunId::parse(id.as_str()) else {
                self.fault(FaultPlace::File, format!("a run has the id {id:?}"));
                continue;
            };
            let Some(tree) = self.read(FaultPlace::Run { run_id }, tree)? else {
                continue;
            };
            self.reach = [0; 2];
            for run in &tree {
                self.run(run)?;
            }
            if let Some(root) = tree.first() {
                self.tape(root)?;
                self.report.open_runs += u64::from(root.seal.is_none());
            }
        }
        self.seals()?;
        self.report.head = seals::head(self.connection)?;
        Ok(())
    }

    /// Lets `SQLite` check its own structure: on a broken one nothing further can be said.
    fn file(&mut self) -> Result<bool> {
        let mut statement = self.connection.prepare("PRAGMA quick_check(5)")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0));
        let lines: rusqlite::Result<Vec<String>> = rows.and_then(Iterator::collect);
        match lines {
            Ok(lines) => {
                for line in lines.iter().filter(|line| *line != "ok") {
                    self.fault(FaultPlace::File, line.clone());
                }
                Ok(self.report.faults.is_empty())
            }
            Err(error) => {
                self.fault(FaultPlace::File, error.to_string());
                Ok(false)
            }
        }
    }

    /// Finds rows that belong to no run.
    fn orphans(&mut self) -> Result<()> {
        let tables = [
            ("record_block", "place >> 32"),
            ("tape_block", "place >> 32"),
            ("step", "run"),
            ("tool_call", "run"),
            ("notice", "run"),
            ("unparsed", "run"),
            ("usage", "run"),
        ];
        for (table, run) in tables {
            let sql = format!(
                "SELECT min({run}), count(*) FROM {table} WHERE {run} NOT IN (SELECT key FROM run)"
            );
            let (first, count): (Option<i64>, i64) =
                self.connection
                    .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if let Some(first) = first {
                let fault = format!("{count} rows of table {table} belong to no run (key {first})");
                self.fault(FaultPlace::File, fault);
            }
        }
        let sql = "SELECT count(*) FROM run
                   WHERE root IS NOT NULL AND root NOT IN (SELECT key FROM run WHERE root IS NULL)";
        let lost: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        if lost > 0 {
            self.fault(
                FaultPlace::File,
                format!("{lost} child runs have no root run"),
            );
        }
        Ok(())
    }

    /// Finds counters that would give a key a second time.
    fn keys(&mut self) -> Result<()> {
        for fault in keys::faults(self.connection)? {
            self.fault(FaultPlace::File, fault);
        }
        Ok(())
    }

    fn run(&mut self, run: &RunRow) -> Result<()> {
        self.report.runs += 1;
        let mut folder = FactFolder::default();
        let mut facts = Vec::new();
        let intact = self.chain(run, |record| folder.push(&record, &mut facts))?;
        if !intact {
            return Ok(());
        }
        let opened = folder.run.opened.as_ref();
        if opened.is_some_and(|opened| opened.job_id != run.job || opened.runtime != run.runtime) {
            let place = FaultPlace::Run {
                run_id: run.id.clone(),
            };
            self.fault(place, "its job or runtime was changed");
        }
        self.run_row(run, &folder)?;
        self.rows(run, facts)
    }

    /// Follows the chain of a run's records.
    fn chain(&mut self, run: &RunRow, mut each: impl FnMut(runtape_core::Record)) -> Result<bool> {
        let at = |seq| FaultPlace::Record {
            run_id: run.id.clone(),
            seq,
        };
        let mut expected = 0;
        let mut hash = chain::first_record(&run.id);
        let mut from = 0;
        loop {
            let block = records::block_from(self.connection, run.key, from);
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
        before: chain::Hash,
        each: &mut impl FnMut(runtape_core::Record),
    ) -> Result<Option<chain::Hash>> {
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
        for line in records::each_line(&lines) {
            let record = match records::parse(line) {
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
            if seq >= block.first_seq + block.count {
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
                let [stdout, stderr] = &mut self.reach;
                let reach = match span.stream {
                    Stream::Stdout => stdout,
                    Stream::Stderr => stderr,
                };
                *reach = span.end.max(*reach);
            }
            each(record);
            seq += 1;
        }
        if seq != block.first_seq + block.count {
            self.fault(at(seq), "missing");
            return Ok(None);
        }
        if hash != block.hash || marks.next().is_some() {
            self.fault(at(seq - 1), "its hash was changed");
            return Ok(None);
        }
        Ok(Some(hash))
    }

    /// Compares the row of a run with what its records say.
    fn run_row(&mut self, run: &RunRow, folder: &FactFolder) -> Result<()> {
        let place = FaultPlace::Run {
            run_id: run.id.clone(),
        };
        let info = runs::one_info(self.connection, run.key);
        let Some(info) = self.read(place.clone(), info)? else {
            return Ok(());
        };
        if let Some(column) = wrong_column(&info, &folder.run) {
            self.fault(place.clone(), format!("its {column} was changed"));
        }
        if run.root.is_some() && info.parent_run_id.as_ref() != folder.parent() {
            self.fault(place, "its parent was changed");
        }
        Ok(())
    }

    /// Compares derived rows with what the records say.
    fn rows(&mut self, run: &RunRow, facts: Vec<Fact>) -> Result<()> {
        let (mut step_facts, mut calls, mut notice_facts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut unparsed, mut usage) = (Vec::new(), Vec::new());
        for fact in facts {
            match fact {
                Fact::Step(fact) => step_facts.push(fact),
                Fact::Call(fact) => calls.push(fact),
                Fact::Notice(fact) => notice_facts.push(fact),
                Fact::Unparsed(fact) => unparsed.push(fact),
                Fact::Usage(fact) => usage.push(fact),
                Fact::Result(result) => {
                    let place = calls
                        .binary_search_by_key(&result.call, |call: &crate::facts::CallFact| {
                            (call.seq, call.part)
                        });
                    if let Some(call) = place.ok().and_then(|place| calls.get_mut(place)) {
                        call.result = Some(result);
                    }
                }
            }
        }
        let stored = steps::after(self.connection, run.key, 0, u64::MAX);
        self.compare(run, "step", &step_facts, stored, |fact| fact.seq)?;
        let stored = tool_calls::all(self.connection, run.key);
        self.compare(run, "tool_call", &calls, stored, |fact| fact.seq)?;
        let stored = notices::all(self.connection, run.key);
        self.compare(run, "notice", &notice_facts, stored, |fact| fact.seq)?;
        let stored = notices::all_unparsed(self.connection, run.key);
        self.compare(run, "unparsed", &unparsed, stored, |fact| fact.seq)?;
        let stored = ledger::all(self.connection, run.key);
        self.compare(run, "usage", &usage, stored, |fact| fact.seq)?;
        if let Some(seq) = ledger::wrongly_repeated(self.connection, run.key)? {
            let place = FaultPlace::Row {
                table: "usage".to_owned(),
                run_id: run.id.clone(),
                seq,
            };
            self.fault(place, "changed: its mark as a repetition is wrong");
        }
        Ok(())
    }

    fn compare<T: PartialEq>(
        &mut self,
        run: &RunRow,
        table: &str,
        expected: &[T],
        stored: Result<Vec<T>>,
        seq: impl Fn(&T) -> u64,
    ) -> Result<()> {
        let at = |seq| FaultPlace::Row {
            table: table.to_owned(),
            run_id: run.id.clone(),
            seq,
        };
        let Some(stored) = self.read(at(0), stored)? else {
            return Ok(());
        };
        let mut pairs = expected.iter().zip(&stored);
        if let Some((expected, stored)) = pairs.find(|(expected, stored)| expected != stored) {
            let (wanted, there) = (seq(expected), seq(stored));
            match wanted.cmp(&there) {
                std::cmp::Ordering::Less => self.fault(at(wanted), "missing"),
                std::cmp::Ordering::Equal => self.fault(at(wanted), "changed"),
                std::cmp::Ordering::Greater => self.fault(at(there), "inserted"),
            }
        } else if let Some(missing) = expected.get(stored.len()) {
            self.fault(at(seq(missing)), "missing");
        } else if let Some(inserted) = stored.get(expected.len()) {
            self.fault(at(seq(inserted)), "inserted");
        }
        Ok(())
    }

    /// Follows the chain of a tape's blocks.
    fn tape(&mut self, root: &RunRow) -> Result<()> {
        let at = |block| FaultPlace::Tape {
            run_id: root.id.clone(),
            block,
        };
        let mut blocks = Vec::new();
        let listed = tape::each_block(self.connection, root.key, |block| {
            blocks.push(block.number);
            Ok(())
        });
        if self.read(at(0), listed)?.is_none() {
            return Ok(());
        }
        let mut hash = chain::first_tape(&root.id);
        let mut starts = [0_u64; 2];
        let count = u64::try_from(blocks.len()).unwrap_or(u64::MAX);
        for (expected, number) in (0_u64..).zip(blocks) {
            if number != expected {
                self.fault(at(expected), "missing");
                return Ok(());
            }
            let block = tape::one(self.connection, root.key, number);
            let Some(block) = self.read(at(number), block)? else {
                return Ok(());
            };
            let Some(raw) = self.read(at(number), block.raw(&root.id))? else {
                return Ok(());
            };
            hash = chain::next_tape(&hash, starts, &raw);
            if block.starts != starts || hash != block.hash {
                self.fault(at(number), "changed: its hash does not fit the one before");
                return Ok(());
            }
            let Some(chunks) = self.read(at(number), block.chunks(&root.id, &raw))? else {
                return Ok(());
            };
            for chunk in chunks {
                let [stdout, stderr] = &mut starts;
                match chunk.stream {
                    Stream::Stdout => *stdout = chunk.end(),
                    Stream::Stderr => *stderr = chunk.end(),
                }
            }
        }
        let [stdout, stderr] = starts;
        self.report.tape_bytes += stdout + stderr;
        let is_dropped = stdout + stderr == 0
            && self.report.removals.iter().any(|removal| {
                removal.run_id == root.id && removal.reason == RemovalReason::TapeDropped
            });
        // While a run is written, its records and their output may come in either order.
        let is_short = stdout < self.reach[0] || stderr < self.reach[1];
        if root.seal.is_some() && is_short && !is_dropped {
            self.fault(at(count), "missing: records were made from it");
        }
        Ok(())
    }

    /// Follows the chain of seals, and compares each with what it covers.
    fn seals(&mut self) -> Result<()> {
        let seals = seals::all(self.connection)?;
        let mut before = seals::BEFORE_ALL;
        for (expected, seal) in (1_u64..).zip(&seals) {
            let at = FaultPlace::Seal {
                number: seal.number,
            };
            if seal.number != expected {
                self.fault(FaultPlace::Seal { number: expected }, "missing");
                return Ok(());
            }
            let covered = self.covered(seal)?;
            let run_id = match (&covered, &seal.run_id) {
                (Some(root), None) => root.id.to_string(),
                (None, Some(run_id)) => run_id.clone(),
                (Some(root), Some(_)) => {
                    self.fault(at, format!("removed, but run {} still has it", root.id));
                    return Ok(());
                }
                (None, None) => {
                    self.fault(at, "the run it covers is missing");
                    return Ok(());
                }
            };
            if seal.hash != seal.expected_hash(&before, &run_id) {
                self.fault(at, "changed: its hash does not fit the one before");
                return Ok(());
            }
            before = seal.hash;
            if let Some(root) = covered {
                let tree = runs::tree(self.connection, root.key)?;
                let digest = seals::digest(self.connection, &tree);
                let Some(digest) = self.read(at.clone(), digest)? else {
                    continue;
                };
                if digest != seal.digest {
                    let fault = format!("run {} is not as it was sealed", root.id);
                    self.fault(at, fault);
                }
            } else if seal.removes.is_none() {
                let is_told = seals
                    .iter()
                    .any(|later| later.removes == Some(seal.number) && later.number > seal.number);
                if !is_told {
                    self.fault(at, format!("run {run_id} was removed without a word"));
                }
            }
        }
        self.unsealed(&seals)
    }

    /// Returns the root run that a seal covers.
    fn covered(&self, seal: &seals::SealRow) -> Result<Option<RunRow>> {
        if seal.removes.is_some() {
            return Ok(None);
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT key FROM run WHERE seal = ?1 AND root IS NULL ORDER BY key")?;
        let number = crate::place::signed(seal.number);
        let key: Option<i64> = statement
            .query_map([number], |row| row.get(0))?
            .next()
            .transpose()?;
        match key {
            Some(key) => runs::by_key(self.connection, key),
            None => Ok(None),
        }
    }

    /// Finds runs that claim a seal that is not there or not theirs.
    fn unsealed(&mut self, seals: &[seals::SealRow]) -> Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, seal FROM run
             WHERE (root IS NOT NULL AND seal IS NOT NULL)
                OR (exit IS NOT NULL AND seal IS NULL AND root IS NULL)
                OR (seal IS NOT NULL AND (seal NOT IN (SELECT number FROM seal)
                    OR EXISTS (SELECT 1 FROM run AS other
                        WHERE other.seal = run.seal AND other.key < run.key)))",
        )?;
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?))
        })?;
        let wrong: Vec<(String, Option<i64>)> = rows.collect::<rusqlite::Result<_>>()?;
        for (id, seal) in wrong {
            let Ok(run_id) = RunId::parse(id) else {
                continue;
            };
            let fault = match seal.map(unsigned) {
                None => "it has ended, but no seal covers it".to_owned(),
                Some(number) if seals.iter().any(|seal| seal.number == number) => {
                    format!("seal {number} is not its own")
                }
                Some(number) => format!("its seal {number} is missing"),
            };
            self.fault(FaultPlace::Run { run_id }, fault);
        }
        Ok(())
    }
}

/// Returns the first column of a run's row that is not what the records say.
fn wrong_column(info: &RunInfo, facts: &RunFacts) -> Option<&'static str> {
    let status = facts
        .status
        .unwrap_or(runtape_core::CheckpointStatus::Proceeding);
    let started = facts.started_at.unwrap_or(info.started_at);
    [
        ("expert", info.expert_key == facts.expert),
        ("model", info.model == facts.model),
        ("session", info.session_id == facts.session),
        ("cwd", info.cwd == facts.cwd),
        ("cli_version", info.cli_version == facts.cli_version),
        ("status", info.status == status),
        ("started_at", info.started_at == started),
        ("finished_at", info.finished_at == facts.finished_at),
        ("steps", info.steps == facts.steps),
        ("messages", info.messages == facts.messages),
        ("unparsed", info.unparsed == facts.unparsed),
        ("usage", info.usage == facts.usage),
        ("cost_usd", info.cost_usd == facts.cost_usd),
        ("duration_ms", info.duration_ms == facts.duration_ms),
        (
            "error",
            info.error == facts.error.clone().map(Failure::from),
        ),
    ]
    .into_iter()
    .find_map(|(column, is_right)| (!is_right).then_some(column))
}
