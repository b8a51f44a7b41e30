//! A root run and its children while they are being written.

use std::collections::BTreeMap;

use runtape_core::{Record, RecordKind, RunId, Span, Stream};
use rusqlite::Connection;

use crate::chain;
use crate::error::{Result, StoreError};
use crate::facts::{Fact, FactFolder};
use crate::lock::RunLock;
use crate::records;
use crate::run_writer::{Rows, RunWriter};
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
    writer: RunWriter,
    /// Records came that the run's row does not know of.
    is_dirty: bool,
}

impl RunState {
    fn new(key: i64, id: &RunId) -> Self {
        Self {
            key,
            writer: RunWriter::new(id),
            is_dirty: false,
        }
    }

    /// Reads how far a run has been written.
    fn load(connection: &Connection, row: &RunRow) -> Result<Self> {
        let mut folder = FactFolder::default();
        let mut facts = Vec::new();
        records::each_from(connection, row.key, &row.id, 0, |record| {
            folder.push(&record, &mut facts);
            facts.clear();
            Ok(true)
        })?;
        let hash = records::last_hash(connection, row.key, &row.id)?;
        Ok(Self {
            key: row.key,
            writer: RunWriter::after(hash, folder),
            is_dirty: false,
        })
    }

    fn flush(&mut self, connection: &Connection, words: &mut Words) -> Result<()> {
        write_rows(connection, words, self.key, self.writer.rows())?;
        self.is_dirty = false;
        runs::update(connection, words, self.key, &self.writer.folder.run)
    }
}

/// Writes the records of a run, and the rows that follow from them.
pub(crate) fn write_rows(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    rows: Rows,
) -> Result<()> {
    let (blocks, facts) = rows.finish();
    for block in blocks {
        records::insert(connection, run, &block)?;
    }
    write_facts(connection, words, run, facts)
}

/// Writes rows that follow from the records of a run.
pub(crate) fn write_facts(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    facts: impl IntoIterator<Item = Fact>,
) -> Result<()> {
    for fact in facts {
        match fact {
            Fact::Step(step) => steps::insert(connection, words, run, &step)?,
            Fact::Call(call) => tool_calls::insert(connection, words, run, &call)?,
            Fact::Result(result) => tool_calls::answer(connection, run, &result)?,
            Fact::Notice(notice) => notices::insert(connection, words, run, &notice)?,
            Fact::Unparsed(output) => notices::insert_unparsed(connection, words, run, &output)?,
            Fact::Usage(usage) => ledger::insert(connection, words, run, &usage)?,
        }
    }
    Ok(())
}

/// Length from which on compressing output is worth a thread of its own.
const WORTH_A_THREAD: usize = 64 << 10;

impl TreeState {
    /// Starts a tree that has no records yet.
    pub(crate) fn new(root: RunRow) -> Self {
        let state = RunState::new(root.key, &root.id);
        Self {
            runs: BTreeMap::from([(root.id.clone(), state)]),
            tape: TapeEnd::first(&root.id),
            root,
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
        let fresh = self.fresh_chunks(connection, chunks)?;
        if self.root.seal.is_some() && !fresh.is_empty() {
            return Err(StoreError::invalid(&self.root.id, "its tape is sealed"));
        }
        let mut end = self.tape.clone();
        let length: usize = fresh.iter().map(|(_, _, bytes)| bytes.len()).sum();
        let blocks = if length < WORTH_A_THREAD {
            self.append_records(connection, words, records)?;
            tape::encode(&mut end, fresh)
        } else {
            std::thread::scope(|scope| {
                let blocks = scope.spawn(|| tape::encode(&mut end, fresh));
                self.append_records(connection, words, records)?;
                blocks
                    .join()
                    .map_err(|_| StoreError::invalid(&self.root.id, "its tape was not encoded"))
            })?
        };
        self.tape = end;
        tape::insert_some(connection, self.root.key, blocks)
    }

    fn append_records(
        &mut self,
        connection: &Connection,
        words: &mut Words,
        records: &[Record],
    ) -> Result<()> {
        for record in records {
            self.push(connection, words, record)?;
        }
        let dirty = self.runs.values_mut().filter(|state| state.is_dirty);
        for state in dirty {
            state.flush(connection, words)?;
        }
        Ok(())
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
        if record.seq < state.writer.next_seq() {
            return same_record(connection, words, state, record);
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
                if read::tape_bytes(connection, &self.root, span)? != old {
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
fn same_record(
    connection: &Connection,
    words: &mut Words,
    state: &mut RunState,
    record: &Record,
) -> Result<()> {
    // It may have come earlier in the same batch.
    write_rows(connection, words, state.key, state.writer.rows())?;
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
