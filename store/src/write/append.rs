//! A root run and its children while they are being written.

use std::collections::BTreeMap;

use runtape_core::{Record, RecordKind, RunId, Span, Stream};

use super::kept_usage::SessionPlace;
use crate::backend::{NewRun, RunKey, RunLock, RunRow, Tables};
use crate::derive::facts::FactFolder;
use crate::derive::run_writer::{Rows, RunWriter};
use crate::error::{Result, StoreError};
use crate::format::chain;
use crate::format::tape::{TapeChunk, TapeEnd, encode};
use crate::read::runs::get;
use crate::read::{records, tape};

/// A root run that a store writes.
#[derive(Debug)]
pub(crate) struct OpenTree {
    /// The lock on the run; absent in memory, and for a run that has ended already.
    pub(crate) lock: Option<Box<dyn RunLock>>,
    /// What is written so far; absent after a failure, until the tree is read again.
    pub(crate) state: Option<TreeState>,
}

/// How far a tree has been written.
#[derive(Debug)]
pub(crate) struct TreeState {
    pub(crate) root: RunRow,
    runs: BTreeMap<RunId, RunState>,
    tape: TapeEnd,
}

#[derive(Debug)]
struct RunState {
    key: RunKey,
    id: RunId,
    writer: RunWriter,
    /// Where its row stands in its session.
    place: Option<SessionPlace>,
    started_at: i64,
    /// Records came that the run's row does not know of.
    is_dirty: bool,
}

impl RunState {
    fn new(key: RunKey, id: &RunId, started_at: i64) -> Self {
        Self {
            key,
            id: id.clone(),
            writer: RunWriter::new(id),
            place: None,
            started_at,
            is_dirty: false,
        }
    }

    /// Reads how far a run has been written.
    fn load(tables: &dyn Tables, row: &RunRow) -> Result<Self> {
        let mut folder = FactFolder::default();
        let mut facts = Vec::new();
        records::each_from(tables, &row.key, &row.id, 0, |record| {
            folder.push(&record, &mut facts);
            facts.clear();
            Ok(true)
        })?;
        let hash = records::last_hash(tables, &row.key, &row.id)?;
        Ok(Self {
            key: row.key.clone(),
            id: row.id.clone(),
            place: SessionPlace::of(&folder.run, row.started_at),
            started_at: row.started_at,
            writer: RunWriter::after(hash, folder),
            is_dirty: false,
        })
    }

    /// Writes what came since the last time, besides the run's row.
    fn write_rows(&mut self, tables: &dyn Tables) -> Result<()> {
        let place = SessionPlace::of(&self.writer.folder.run, self.started_at);
        if let Some(before) = self
            .place
            .take()
            .filter(|before| Some(before) != place.as_ref())
        {
            before.make_way(tables, &self.id)?;
        }
        if let Some(place) = &place {
            place.make_way(tables, &self.id)?;
        }
        self.place = place;
        write_rows(tables, &self.key, self.writer.rows())
    }

    fn flush(&mut self, tables: &dyn Tables) -> Result<()> {
        self.write_rows(tables)?;
        self.is_dirty = false;
        tables.update_run(&self.key, &self.writer.folder.run)
    }
}

/// Writes the records of a run, and the rows that follow from them.
pub(crate) fn write_rows(tables: &dyn Tables, run: &RunKey, rows: Rows) -> Result<()> {
    let (blocks, facts) = rows.finish();
    for block in blocks {
        tables.insert_record_block(run, &block)?;
    }
    tables.insert_facts(run, &facts)
}

/// Length from which on compressing output is worth a thread of its own.
const WORTH_A_THREAD: usize = 64 << 10;

impl TreeState {
    /// Starts a tree that has no records yet.
    pub(crate) fn new(root: RunRow) -> Self {
        let state = RunState::new(root.key.clone(), &root.id, root.started_at);
        Self {
            runs: BTreeMap::from([(root.id.clone(), state)]),
            tape: TapeEnd::first(&root.id),
            root,
        }
    }

    /// Reads how far a tree has been written.
    pub(crate) fn load(tables: &dyn Tables, root: &RunId) -> Result<Self> {
        let root = get(tables, root)?;
        if root.root.is_some() {
            return Err(StoreError::invalid(
                &root.id,
                "it is a child: write its root run",
            ));
        }
        let mut loaded = BTreeMap::new();
        for row in tables.tree(&root.key)? {
            loaded.insert(row.id.clone(), RunState::load(tables, &row)?);
        }
        Ok(Self {
            runs: loaded,
            tape: tape::end(tables, &root.key, &root.id)?,
            root,
        })
    }

    /// Adds records and output; what is there already must be the same.
    pub(crate) fn append(
        &mut self,
        tables: &dyn Tables,
        records: &[Record],
        chunks: &[TapeChunk],
    ) -> Result<()> {
        let fresh = self.fresh_chunks(tables, chunks)?;
        if self.root.seal.is_some() && !fresh.is_empty() {
            return Err(StoreError::invalid(&self.root.id, "its tape is sealed"));
        }
        let mut end = self.tape.clone();
        let length: usize = fresh.iter().map(|(_, _, bytes)| bytes.len()).sum();
        let blocks = if length < WORTH_A_THREAD {
            self.append_records(tables, records)?;
            encode(&mut end, fresh)
        } else {
            std::thread::scope(|scope| {
                let blocks = scope.spawn(|| encode(&mut end, fresh));
                self.append_records(tables, records)?;
                blocks
                    .join()
                    .map_err(|_| StoreError::invalid(&self.root.id, "its tape was not encoded"))
            })?
        };
        self.tape = end;
        for block in &blocks {
            tables.insert_tape_block(&self.root.key, block)?;
        }
        Ok(())
    }

    fn append_records(&mut self, tables: &dyn Tables, records: &[Record]) -> Result<()> {
        for record in records {
            self.push(tables, record)?;
        }
        let dirty = self.runs.values_mut().filter(|state| state.is_dirty);
        for state in dirty {
            state.flush(tables)?;
        }
        Ok(())
    }

    fn push(&mut self, tables: &dyn Tables, record: &Record) -> Result<()> {
        if !self.runs.contains_key(&record.run_id) {
            self.open_child(tables, record)?;
        }
        let Some(state) = self.runs.get_mut(&record.run_id) else {
            return Err(StoreError::NotOpen {
                run: record.run_id.clone(),
            });
        };
        if record.seq < state.writer.next_seq() {
            return same_record(tables, state, record);
        }
        if self.root.seal.is_some() {
            return Err(StoreError::Ended {
                run: record.run_id.clone(),
                seq: record.seq,
            });
        }
        state.writer.push(record, &self.root.job)?;
        state.is_dirty = true;
        Ok(())
    }

    /// Adds the row of a child run that its first record opens.
    fn open_child(&mut self, tables: &dyn Tables, record: &Record) -> Result<()> {
        let RecordKind::Run(opened) = &record.kind else {
            return Err(StoreError::NotOpen {
                run: record.run_id.clone(),
            });
        };
        let Some(by) = &opened.delegated_by else {
            return Err(StoreError::invalid(
                &record.run_id,
                format!("it is no child of run {}", self.root.id),
            ));
        };
        if self.root.seal.is_some() {
            return Err(StoreError::Ended {
                run: self.root.id.clone(),
                seq: record.seq,
            });
        }
        if tables.find_run(&record.run_id)?.is_some() {
            return Err(StoreError::Conflict {
                run: record.run_id.clone(),
                what: "a run of another tree".to_owned(),
            });
        }
        let key = tables.insert_run(&NewRun {
            id: &record.run_id,
            job: &opened.job_id,
            runtime: &opened.runtime,
            root: Some(&self.root.key),
            parent: self.runs.get(&by.run_id).map(|parent| &parent.key),
            started_at: record.at,
            context: None,
            facts: None,
            exit: None,
            seal: None,
            is_settled: false,
        })?;
        let state = RunState::new(key, &record.run_id, record.at);
        self.runs.insert(record.run_id.clone(), state);
        Ok(())
    }

    /// Returns the output that is new; what is there already must be the same.
    fn fresh_chunks<'a>(
        &self,
        tables: &dyn Tables,
        chunks: &'a [TapeChunk],
    ) -> Result<Vec<(Stream, i64, &'a [u8])>> {
        let mut fresh = Vec::new();
        let mut ends = self.tape.lengths;
        for chunk in chunks {
            let name = chunk.stream.as_str();
            let end = ends.of(chunk.stream);
            if chunk.start > end {
                let start = chunk.start;
                let fault = format!("{name} goes on at byte {start}, but the tape ends at {end}");
                return Err(StoreError::invalid(&self.root.id, fault));
            }
            let known = usize::try_from(end - chunk.start).unwrap_or(usize::MAX);
            let (old, new) = chunk
                .bytes
                .split_at_checked(known)
                .unwrap_or((&chunk.bytes, &[]));
            if !old.is_empty() {
                let span = Span {
                    stream: chunk.stream,
                    start: chunk.start,
                    end: chunk.start + u64::try_from(old.len()).unwrap_or(0),
                };
                if tape::bytes(tables, &self.root, span)? != old {
                    return Err(StoreError::Conflict {
                        run: self.root.id.clone(),
                        what: format!("{name} from byte {} on", chunk.start),
                    });
                }
            }
            if !new.is_empty() {
                fresh.push((chunk.stream, chunk.received_at, new));
                ends.advance(chunk.stream, chunk.end());
            }
        }
        Ok(fresh)
    }

    /// Returns a run of the tree that has not ended.
    pub(crate) fn unended(&self) -> Option<&RunId> {
        let mut runs = self.runs.iter();
        runs.find(|(_, state)| !state.writer.has_ended())
            .map(|(id, _)| id)
    }
}

/// Refuses a record that differs from the stored one with the same number.
fn same_record(tables: &dyn Tables, state: &mut RunState, record: &Record) -> Result<()> {
    // The stored record may have come earlier in the same batch, and not be a row yet.
    state.write_rows(tables)?;
    let stored = records::one(tables, &state.key, &record.run_id, record.seq)?;
    let mut old = Vec::new();
    let mut new = Vec::new();
    if let Some(stored) = &stored {
        chain::write_canonical(&mut old, stored)?;
    }
    chain::write_canonical(&mut new, record)?;
    if old == new {
        return Ok(());
    }
    Err(StoreError::Conflict {
        run: record.run_id.clone(),
        what: format!("record {}", record.seq),
    })
}
