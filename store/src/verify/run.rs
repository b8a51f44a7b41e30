//! A run: the chain of its records, and its row.

use runtape_core::report::FaultPlace;
use runtape_core::{CheckpointStatus, ErrorFamily, Record};
use rusqlite::types::Value;

use crate::chain::{self, Hash, MARK};
use crate::error::Result;
use crate::facts::FactFolder;
use crate::place::signed;
use crate::records::{self, RecordBlock};
use crate::runs::RunRow;

use super::Verifier;
use super::rows::Rows;

/// Columns of a run's row that follow from its records, as [`Verifier::run_row`] expects them.
const COLUMNS: [&str; 28] = [
    "root",
    "parent",
    "expert",
    "model",
    "session",
    "cwd",
    "cli_version",
    "status",
    "started_at",
    "finished_at",
    "steps",
    "messages",
    "unparsed",
    "records",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cached_input_tokens",
    "cost_usd",
    "duration_ms",
    "error_name",
    "error_family",
    "error_message",
    "error_status",
    "error_retryable",
    "error_retry_at",
    "context",
    "exit",
];

impl Verifier<'_> {
    /// Verifies a run of a tree, and the rows that follow from its records.
    pub(super) fn run(&mut self, run: &RunRow, tree: &[RunRow]) -> Result<()> {
        self.report.runs += 1;
        self.begin_terms(run)?;
        let mut folder = FactFolder::default();
        let mut facts = Vec::new();
        let mut rows = Rows::new(run.key, self.version);
        let intact = self.chain(run, |verifier, record| {
            folder.push(record, &mut facts);
            verifier.add_terms(record)?;
            rows.compare(verifier.connection, &mut verifier.words, &mut facts)
        })?;
        if !intact {
            return Ok(());
        }
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
        let finished = rows.finish(self.connection);
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
        &mut self,
        run: &RunRow,
        folder: &FactFolder,
        tree: &[RunRow],
    ) -> Result<Option<&'static str>> {
        let facts = &folder.run;
        let error = facts.error.as_ref();
        let family = error.and_then(|error| error.family);
        let started = facts.started_at.unwrap_or(run.started_at);
        let parent = folder.parent().filter(|_| run.root.is_some());
        let parent = parent.and_then(|parent| tree.iter().rfind(|other| other.id == *parent));
        let root = tree.first().filter(|_| run.root.is_some());
        // Only a root run has these, and neither is ever empty.
        let kept = |packed: &Option<Vec<u8>>| match packed {
            Some(packed) if run.root.is_none() && !packed.is_empty() => Value::Blob(packed.clone()),
            _ => Value::Null,
        };
        let expected: [Value; COLUMNS.len()] = [
            maybe(root.map(|root| root.key)),
            maybe(parent.map(|parent| parent.key)),
            self.word(facts.expert.as_deref())?,
            self.word(facts.model.as_deref())?,
            self.word(facts.session.as_deref())?,
            self.word(facts.cwd.as_deref())?,
            self.word(facts.cli_version.as_deref())?,
            self.word(facts.status.map(CheckpointStatus::as_str))?,
            started.into(),
            maybe(facts.finished_at),
            signed(facts.steps).into(),
            signed(facts.messages).into(),
            signed(facts.unparsed).into(),
            signed(facts.records).into(),
            maybe(facts.usage.input_tokens),
            maybe(facts.usage.output_tokens),
            maybe(facts.usage.reasoning_tokens),
            maybe(facts.usage.cached_input_tokens),
            maybe(facts.cost_usd.filter(|cost| !cost.is_nan())),
            maybe(facts.duration_ms),
            self.word(error.map(|error| error.name.as_str()))?,
            self.word(family.map(ErrorFamily::as_str))?,
            maybe(error.map(|error| error.message.clone())),
            maybe(error.and_then(|error| error.status_code)),
            maybe(error.map(|error| error.is_retryable)),
            maybe(error.and_then(|error| error.retry_at)),
            kept(&run.context),
            kept(&run.exit),
        ];
        let sql = format!("SELECT {} FROM run WHERE key = ?1", COLUMNS.join(", "));
        let wrong = self
            .connection
            .prepare_cached(&sql)?
            .query_row([run.key], |row| {
                for (column, (name, expected)) in COLUMNS.iter().zip(&expected).enumerate() {
                    if row.get_ref(column)? != expected.into() {
                        return Ok(Some(*name));
                    }
                }
                Ok(None)
            })?;
        Ok(wrong)
    }

    /// Returns the key of a word as it stands in a row; a word that is not there is in no row.
    fn word(&mut self, text: Option<&str>) -> Result<Value> {
        let Some(text) = text else {
            return Ok(Value::Null);
        };
        let key = self.words.key(self.connection, text)?;
        Ok(key.unwrap_or(-1).into())
    }
}

/// Returns a value that may be absent as it stands in a row.
pub(super) fn maybe<T: Into<Value>>(value: Option<T>) -> Value {
    value.map_or(Value::Null, Into::into)
}
