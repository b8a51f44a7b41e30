//! Reading runs back: records, events, checkpoints, tape.

use std::collections::{HashMap, HashSet};

use runtape_core::record::CheckpointHead;
use runtape_core::report::RunInfo;
use runtape_core::{
    Checkpoint, CheckpointId, Event, JobId, Materializer, Record, RecordKind, RunId, Span,
};

use super::runs::{get, get_root, root_of};
use super::{records, sealed, tape};
use crate::backend::{IdOf, RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::streams::StreamLengths;
use crate::format::tape::TapeChunk;
use crate::store::Store;

/// Makes the checkpoint whose head is the record at `seq`.
fn checkpoint_at(tables: &dyn Tables, row: &RunRow, seq: u64) -> Result<Option<Checkpoint>> {
    let mut materializer = Materializer::new();
    let mut number = 0;
    records::each_from(tables, &row.key, &row.id, 0, |mut record| {
        if record.seq > seq {
            return Ok(false);
        }
        // Earlier heads have no part in a later checkpoint, but each would be made in full: that
        // is quadratic. Left out, the rest is numbered anew; a checkpoint does not show numbers.
        let is_earlier = matches!(record.kind, RecordKind::Checkpoint(_)) && record.seq < seq;
        if !is_earlier {
            record.seq = number;
            number += 1;
            materializer.push(&record)?;
        }
        Ok(true)
    })?;
    Ok(materializer.checkpoint())
}

impl Store {
    /// Tells whether there is a run of this id.
    pub fn has_run(&self, run: &RunId) -> Result<bool> {
        self.read(|tables| Ok(tables.find_run(run)?.is_some()))
    }

    /// Returns what is known of a run.
    pub fn run(&self, run: &RunId) -> Result<RunInfo> {
        self.read(|tables| tables.run_info(&get(tables, run)?.key))
    }

    /// Returns a root run and its children, the root first, in the order they appeared.
    pub fn tree(&self, root: &RunId) -> Result<Vec<RunInfo>> {
        self.read(|tables| {
            let row = get_root(tables, root)?;
            let tree = tables.tree(&row.key)?;
            tree.iter().map(|run| tables.run_info(&run.key)).collect()
        })
    }

    /// Returns what [`tree`](Self::tree) does of several root runs, in their order. On a server it takes as long as one.
    pub fn trees(&self, roots: &[RunId]) -> Result<Vec<Vec<RunInfo>>> {
        let mut asked = roots.to_vec();
        asked.sort_unstable();
        asked.dedup();
        let found = self.read(|tables| tables.trees_info(&asked))?;
        let mut trees: HashMap<RunId, Vec<RunInfo>> = HashMap::new();
        for run in found {
            let root = run.root_run_id.as_ref().unwrap_or(&run.run_id).clone();
            trees.entry(root).or_default().push(run);
        }
        let unknown = |root: &RunId| StoreError::UnknownRun {
            run: root.to_string(),
        };
        let trees = roots
            .iter()
            .map(|root| trees.get(root).cloned().ok_or_else(|| unknown(root)));
        trees.collect()
    }

    /// Returns those of these runs that are stored and sealed.
    pub fn sealed_among(&self, runs: &[RunId]) -> Result<HashSet<RunId>> {
        self.read(|tables| {
            let mut sealed = HashSet::new();
            for row in tables.find_runs(runs)? {
                let id = row.id.clone();
                if root_of(tables, row)?.seal.is_some() {
                    sealed.insert(id);
                }
            }
            Ok(sealed)
        })
    }

    /// Returns the root runs of these sessions, each with its session.
    pub fn roots_of_sessions(&self, sessions: &[&str]) -> Result<Vec<(String, RunId)>> {
        self.read(|tables| tables.roots_of_sessions(sessions))
    }

    /// Returns a run's records from a sequence number on, at most `limit`.
    pub fn records(&self, run: &RunId, from: u64, limit: usize) -> Result<Vec<Record>> {
        let mut found = Vec::new();
        if limit > 0 {
            self.each_record(run, from, |record| {
                found.push(record);
                found.len() < limit
            })?;
        }
        Ok(found)
    }

    /// Calls `each` with a run's records from a sequence number on, until it returns `false`.
    pub fn each_record(
        &self,
        run: &RunId,
        from: u64,
        mut each: impl FnMut(Record) -> bool,
    ) -> Result<()> {
        self.read(|tables| {
            let row = get(tables, run)?;
            records::each_from(tables, &row.key, run, from, |record| Ok(each(record)))
        })
    }

    /// Returns one record.
    pub fn record(&self, run: &RunId, seq: u64) -> Result<Option<Record>> {
        self.read(|tables| {
            let row = get(tables, run)?;
            records::one(tables, &row.key, run, seq)
        })
    }

    /// Returns all records of a root run and its children: each run's in order, the root's first.
    pub fn tree_records(&self, root: &RunId) -> Result<Vec<Record>> {
        self.read(|tables| {
            let row = get_root(tables, root)?;
            let mut found = Vec::new();
            for run in tables.tree(&row.key)? {
                records::each_from(tables, &run.key, &run.id, 0, |record| {
                    found.push(record);
                    Ok(true)
                })?;
            }
            Ok(found)
        })
    }

    /// Calls `each` with a run's events in full, until it returns `false`.
    ///
    /// Each step's event holds the whole state, which is quadratic by nature: take one at a time.
    pub fn each_event(&self, run: &RunId, mut each: impl FnMut(Event) -> bool) -> Result<()> {
        self.read(|tables| {
            let row = get(tables, run)?;
            let mut materializer = Materializer::new();
            records::each_from(tables, &row.key, run, 0, |record| {
                Ok(materializer.push(&record)?.into_iter().all(&mut each))
            })
        })
    }

    /// Returns a checkpoint by its id.
    pub fn checkpoint(&self, id: &CheckpointId) -> Result<Option<Checkpoint>> {
        self.read(|tables| {
            let Some((run, step)) = tables.find_checkpoint(id)? else {
                return Ok(None);
            };
            let Some(row) = tables.run_at(&run)? else {
                return Ok(None);
            };
            match tables.seq_of_step(&run, Some(step))? {
                Some(seq) => checkpoint_at(tables, &row, seq),
                None => Ok(None),
            }
        })
    }

    /// Returns the checkpoint of a run's step; of the last one that ended if no step is named.
    pub fn checkpoint_of(&self, run: &RunId, step: Option<u64>) -> Result<Option<Checkpoint>> {
        self.read(|tables| {
            let row = get(tables, run)?;
            match tables.seq_of_step(&row.key, step)? {
                Some(seq) => checkpoint_at(tables, &row, seq),
                None => Ok(None),
            }
        })
    }

    /// Returns the head of a step's checkpoint, without messages; of the last one that ended if no
    /// step is named. The time it takes does not grow with the run.
    pub fn checkpoint_head(
        &self,
        run: &RunId,
        step: Option<u64>,
    ) -> Result<Option<CheckpointHead>> {
        self.read(|tables| {
            let row = get(tables, run)?;
            let Some(seq) = tables.seq_of_step(&row.key, step)? else {
                return Ok(None);
            };
            let record = records::one(tables, &row.key, run, seq)?;
            Ok(record.and_then(|record| match record.kind {
                RecordKind::Checkpoint(head) => Some(*head),
                _ => None,
            }))
        })
    }

    /// Calls `each` with the output of a run's process in the order it was received, until it
    /// returns `false`. A child's output is on the tape of its root.
    pub fn each_tape_chunk(
        &self,
        run: &RunId,
        mut each: impl FnMut(TapeChunk) -> bool,
    ) -> Result<()> {
        self.read(|tables| {
            let root = get_root(tables, run)?;
            tape::each_block(tables, &root.key, |block| {
                let raw = block.raw(&root.id)?;
                Ok(block.chunks(&root.id, &raw)?.into_iter().all(&mut each))
            })
        })
    }

    /// Returns a part of the output of a run's process, counted from 0 in the order it was
    /// received; `None` after the last one. For those who write the run while they read its tape.
    pub fn tape_part(&self, run: &RunId, number: u64) -> Result<Option<Vec<TapeChunk>>> {
        self.read(|tables| {
            let root = get_root(tables, run)?;
            let Some(block) = tables.tape_block(&root.key, number)? else {
                return Ok(None);
            };
            let raw = block.raw(&root.id)?;
            block.chunks(&root.id, &raw).map(Some)
        })
    }

    /// Returns when the last output of a run's process was received; `None` where nothing is kept of it.
    pub fn last_received_at(&self, run: &RunId) -> Result<Option<i64>> {
        self.read(|tables| {
            let root = get_root(tables, run)?;
            let Some(block) = tables.last_tape_block(&root.key)? else {
                return Ok(None);
            };
            let raw = block.raw(&root.id)?;
            let mut last = None;
            block.each_chunk(&root.id, &raw, |_, _, at, _| last = last.max(Some(at)))?;
            Ok(last)
        })
    }

    /// Returns the root runs in the order they were sealed in each chain; those that are not sealed come last.
    pub fn root_runs(&self) -> Result<Vec<RunId>> {
        let rows = self.read(|tables| tables.sealed_roots())?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// Tells whether a run had a tape that was dropped.
    pub fn was_tape_dropped(&self, run: &RunId) -> Result<bool> {
        self.read(|tables| sealed::was_tape_dropped(tables, run))
    }

    /// Returns the root runs that are not sealed and that this store does not write: some other
    /// may, which is found out by taking one over.
    pub fn unsealed_runs(&self) -> Result<Vec<RunId>> {
        let rows = self.read(|tables| tables.open_roots())?;
        let ids = rows.into_iter().map(|row| row.id);
        Ok(ids.filter(|run| !self.open.contains_key(run)).collect())
    }

    /// Returns the output of a run's process in the order it was received.
    pub fn tape(&self, run: &RunId) -> Result<Vec<TapeChunk>> {
        let mut chunks = Vec::new();
        self.each_tape_chunk(run, |chunk| {
            chunks.push(chunk);
            true
        })?;
        Ok(chunks)
    }

    /// Returns a range of the output of a run's process: less than asked for where the tape ends
    /// or was dropped.
    pub fn tape_span(&self, run: &RunId, span: Span) -> Result<Vec<u8>> {
        self.read(|tables| {
            let root = get_root(tables, run)?;
            tape::bytes(tables, &root, span)
        })
    }

    /// Returns the raw output that a record was made from; `None` for what came from the exit.
    pub fn tape_of_record(&self, run: &RunId, seq: u64) -> Result<Option<Vec<u8>>> {
        let record = self.record(run, seq)?;
        let span = record.and_then(|record| record.span);
        span.map(|span| self.tape_span(run, span)).transpose()
    }

    /// Returns the runs whose id begins with a text, at most `limit`, so that people need not
    /// type whole ids.
    pub fn runs_by_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<RunId>> {
        let found = self.by_prefix(IdOf::Run, prefix, limit)?;
        Ok(found
            .into_iter()
            .map(RunId::parse)
            .collect::<std::result::Result<_, _>>()?)
    }

    /// Returns the jobs whose id begins with a text, at most `limit`.
    pub fn jobs_by_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<JobId>> {
        let found = self.by_prefix(IdOf::Job, prefix, limit)?;
        Ok(found
            .into_iter()
            .map(JobId::parse)
            .collect::<std::result::Result<_, _>>()?)
    }

    /// Returns the checkpoints whose id begins with a text, at most `limit`.
    pub fn checkpoints_by_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<CheckpointId>> {
        let found = self.by_prefix(IdOf::Checkpoint, prefix, limit)?;
        Ok(found
            .into_iter()
            .map(CheckpointId::parse)
            .collect::<std::result::Result<_, _>>()?)
    }

    fn by_prefix(&self, of: IdOf, prefix: &str, limit: usize) -> Result<Vec<String>> {
        self.read(|tables| tables.ids_with_prefix(of, prefix, limit))
    }

    /// Returns how many bytes of each stream the tape of a run has.
    pub fn tape_lengths(&self, run: &RunId) -> Result<StreamLengths> {
        self.read(|tables| {
            let root = get_root(tables, run)?;
            Ok(tape::end(tables, &root.key, &root.id)?.lengths)
        })
    }
}
