//! A root run and its children while they are being written.

use std::collections::BTreeMap;

use runtape_core::{Record, RecordKind, RunId, Span, Stream};
use rusqlite::Connection;

use crate::chain::{self, Hash};
use crate::error::{Result, StoreError};
use crate::facts::{Fact, FactFolder};
use crate::lock::RunLock;
use crate::records::{self, PendingBlock};
use crate::runs::{self, NewRun, RunRow};
use crate::tape::{self, TapeChunk, TapeEnd};
use crate::words::Words;
use crate::{ledger, notices, read, steps, tool_calls};

/// A root run that a store writes.
#[derive(Debug)]
pub(crate) struct OpenTree {
    /// Absent in memory, and for a run that has ended already.
    pub(crate) lock: Option<RunLock>,
    /// What is written so far; absent after a failure, until it is read again.
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
    key: i64,
    hash: Hash,
    folder: FactFolder,
    pending: PendingBlock,
    facts: Vec<Fact>,
    /// Records came that the run's row does not know of.
    is_dirty: bool,
}

impl RunState {
    fn new(key: i64, id: &RunId) -> Self {
        Self {
            key,
            hash: chain::first_record(id),
            folder: FactFolder::default(),
            pending: PendingBlock::default(),
            facts: Vec::new(),
            is_dirty: false,
        }
    }

    /// Reads how far a run has been written.
    fn load(connection: &Connection, row: &RunRow) -> Result<Self> {
        let mut state = Self::new(row.key, &row.id);
        records::each_from(connection, row.key, &row.id, 0, |record| {
            state.folder.push(&record, &mut state.facts);
            state.facts.clear();
            Ok(true)
        })?;
        state.hash = records::last_hash(connection, row.key, &row.id)?;
        Ok(state)
    }

    fn flush(&mut self, connection: &Connection, words: &mut Words) -> Result<()> {
        self.pending.flush(connection, self.key, &self.hash)?;
        for fact in self.facts.drain(..) {
            match fact {
                Fact::Step(step) => steps::insert(connection, words, self.key, &step)?,
                Fact::Call(call) => tool_calls::insert(connection, words, self.key, &call)?,
                Fact::Result(result) => tool_calls::answer(connection, self.key, &result)?,
                Fact::Notice(notice) => notices::insert(connection, words, self.key, &notice)?,
                Fact::Unparsed(output) => {
                    notices::insert_unparsed(connection, words, self.key, &output)?;
                }
                Fact::Usage(usage) => ledger::insert(connection, words, self.key, &usage)?,
            }
        }
        self.is_dirty = false;
        runs::update(connection, words, self.key, &self.folder.run)
    }
}

impl TreeState {
    /// Starts a tree that has no records yet.
    pub(crate) fn new(root: RunRow) -> Self {
        let state = RunState::new(root.key, &root.id);
        let tape = TapeEnd {
            lengths: [0; 2],
            blocks: 0,
            hash: chain::first_tape(&root.id),
        };
        Self {
            runs: BTreeMap::from([(root.id.clone(), state)]),
            root,
            tape,
        }
    }

    /// Reads how far a tree has been written.
    pub(crate) fn load(connection: &Connection, root: &RunId) -> Result<Self> {
        let root = runs::get(connection, root)?;
        if root.root.is_some() {
            return Err(StoreError::invalid(
                &root.id,
                "it is a child: write its root run",
            ));
        }
        let mut loaded = BTreeMap::new();
        for row in runs::tree(connection, root.key)? {
            loaded.insert(row.id.clone(), RunState::load(connection, &row)?);
        }
        Ok(Self {
            runs: loaded,
            tape: tape::end(connection, root.key, &root.id)?,
            root,
        })
    }

    /// Adds records and output; what is there already must be the same.
    pub(crate) fn append(
        &mut self,
        connection: &Connection,
        words: &mut Words,
        records: &[Record],
        chunks: &[TapeChunk],
    ) -> Result<()> {
        for record in records {
            self.push(connection, words, record)?;
        }
        for state in self.runs.values_mut() {
            if state.is_dirty {
                state.flush(connection, words)?;
            }
        }
        let fresh = self.fresh_chunks(connection, chunks)?;
        if self.root.seal.is_some() && !fresh.is_empty() {
            return Err(StoreError::invalid(&self.root.id, "its tape is sealed"));
        }
        tape::append(connection, self.root.key, &mut self.tape, fresh)
    }

    fn push(&mut self, connection: &Connection, words: &mut Words, record: &Record) -> Result<()> {
        if !self.runs.contains_key(&record.run_id) {
            self.open_child(connection, words, record)?;
        }
        let Some(state) = self.runs.get_mut(&record.run_id) else {
            return Err(StoreError::NotOpen {
                run: record.run_id.clone(),
            });
        };
        let expected = state.folder.run.records;
        if record.seq < expected {
            return same_record(connection, state, record);
        }
        if record.seq > expected {
            return Err(StoreError::Gap {
                run: record.run_id.clone(),
                seq: record.seq,
                expected,
            });
        }
        if state.folder.run.status.is_some() || self.root.seal.is_some() {
            return Err(StoreError::Ended {
                run: record.run_id.clone(),
                seq: record.seq,
            });
        }
        let fault = match (&record.kind, record.seq) {
            (RecordKind::Run(opened), 0) if opened.job_id != self.root.job => {
                Some(format!("it belongs to job {}", self.root.job))
            }
            (RecordKind::Run(_), 0) => None,
            (RecordKind::Run(_), _) => Some("it is open already".to_owned()),
            (_, 0) => Some("its first record must open it".to_owned()),
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(StoreError::invalid(&record.run_id, fault));
        }
        state.hash = state.pending.push(record, &state.hash)?;
        state.folder.push(record, &mut state.facts);
        state.is_dirty = true;
        if state.pending.is_full() {
            state.pending.flush(connection, state.key, &state.hash)?;
        }
        Ok(())
    }

    /// Adds the row of a child run that its first record opens.
    fn open_child(
        &mut self,
        connection: &Connection,
        words: &mut Words,
        record: &Record,
    ) -> Result<()> {
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
        if runs::find(connection, &record.run_id)?.is_some() {
            return Err(StoreError::Conflict {
                run: record.run_id.clone(),
                what: "a run of another tree".to_owned(),
            });
        }
        let key = runs::insert(
            connection,
            words,
            &NewRun {
                id: &record.run_id,
                job: &opened.job_id,
                runtime: &opened.runtime,
                root: Some(self.root.key),
                parent: self.runs.get(&by.run_id).map(|parent| parent.key),
                started_at: record.at,
                context: None,
            },
        )?;
        let state = RunState::new(key, &record.run_id);
        self.runs.insert(record.run_id.clone(), state);
        Ok(())
    }

    /// Returns the output that is new; what is there already must be the same.
    fn fresh_chunks<'a>(
        &self,
        connection: &Connection,
        chunks: &'a [TapeChunk],
    ) -> Result<Vec<(Stream, i64, &'a [u8])>> {
        let mut fresh = Vec::new();
        let [mut stdout, mut stderr] = self.tape.lengths;
        for chunk in chunks {
            let name = chunk.stream.as_str();
            let end = match chunk.stream {
                Stream::Stdout => &mut stdout,
                Stream::Stderr => &mut stderr,
            };
            if chunk.start > *end {
                let start = chunk.start;
                let fault = format!("{name} goes on at byte {start}, but the tape ends at {end}");
                return Err(StoreError::invalid(&self.root.id, fault));
            }
            let known = usize::try_from(*end - chunk.start).unwrap_or(usize::MAX);
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
                if read::tape_bytes(connection, &self.root, span)? != old {
                    return Err(StoreError::Conflict {
                        run: self.root.id.clone(),
                        what: format!("{name} from byte {} on", chunk.start),
                    });
                }
            }
            if !new.is_empty() {
                fresh.push((chunk.stream, chunk.received_at, new));
                *end = chunk.end();
            }
        }
        Ok(fresh)
    }

    /// Returns a run of the tree that has not ended.
    pub(crate) fn unended(&self) -> Option<&RunId> {
        let mut runs = self.runs.iter();
        runs.find(|(_, state)| state.folder.run.status.is_none())
            .map(|(id, _)| id)
    }
}

/// Refuses a record that differs from the stored one with the same number.
fn same_record(connection: &Connection, state: &mut RunState, record: &Record) -> Result<()> {
    // It may have come earlier in the same batch.
    state.pending.flush(connection, state.key, &state.hash)?;
    let stored = records::one(connection, state.key, &record.run_id, record.seq)?;
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
