//! Writing runs: begin, append, finish.

use runtape_core::report::SealName;
use runtape_core::{JobId, Record, RunId, Runtime};
use serde_json::Value;

use super::append::{OpenTree, TreeState};
use super::{kept_usage, merge, sealing};
use crate::backend::{NewRun, Opening, RunRow, Tables};
use crate::derive::facts::RunFacts;
use crate::error::{Result, StoreError};
use crate::format::codec;
use crate::format::tape::TapeChunk;
use crate::read::runs::{get, get_root};
use crate::store::Store;

/// What is known of a root run before it begins.
#[derive(Clone, Debug)]
pub struct BeginRun {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The runtime.
    pub runtime: Runtime,
    /// When the run begins, in milliseconds since 1970.
    pub started_at: i64,
    /// Whatever the writer needs to make the records again from the tape: command line, expert,
    /// query. Kept as it is, and covered by the seal.
    pub context: Value,
}

/// A root run that is not sealed, and whose writer is gone.
#[derive(Clone, Debug)]
pub struct OpenRun {
    /// What was known before the run began.
    pub begin: BeginRun,
    /// How many records the root run has.
    pub records: u64,
}

/// Writes a value that the caller wants kept.
pub(crate) fn json(run: &RunId, value: &Value) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|source| StoreError::Json {
        run: run.clone(),
        source,
    })
}

/// Reads a packed JSON value; absent is null.
pub(crate) fn value(run: &RunId, what: &str, packed: Option<&[u8]>) -> Result<Value> {
    let Some(packed) = packed else {
        return Ok(Value::Null);
    };
    let damaged = |fault: String| StoreError::damaged(format!("run {run}: its {what}"), fault);
    let data = codec::unpack(packed).map_err(damaged)?;
    serde_json::from_slice(&data).map_err(|error| damaged(error.to_string()))
}

/// Seals a tree of runs that have all ended, and merges its small blocks. If it is known how the
/// process ended, that is kept.
pub(crate) fn seal(
    tables: &dyn Tables,
    state: &TreeState,
    exit: Option<&[u8]>,
    at: i64,
) -> Result<SealName> {
    if let Some(run) = state.unended() {
        return Err(StoreError::NotEnded { run: run.clone() });
    }
    let root = &state.root;
    // First, for who may not write the tree any more is refused here, whatever has become of it.
    let mut tree = tables.unsealed_tree(&root.key)?;
    if tables.rights()?.deletes_blocks {
        for run in &mut tree.runs {
            merge::records(tables, &run.row, std::mem::take(&mut run.blocks))?;
        }
        if let Some(hashes) = merge::tape(tables, root, &tree)? {
            tree.tape = hashes;
        }
    }
    if let Some(exit) = exit {
        tables.set_exit(&root.key, exit)?;
        if let Some(root) = tree.runs.first_mut() {
            root.row.exit = Some(exit.to_vec());
        }
    }
    // Last, for until the transaction ends nobody else can add to the chain.
    let seal = sealing::seal_tree(tables, tree, at)?;
    if tables.settles_with_seals() {
        kept_usage::settle_many(tables)?;
    }
    Ok(seal)
}

/// Deletes the records of a tree, and its children with them; the root run and its tape stay, and
/// nothing is known of the run.
pub(crate) fn delete_records(tables: &dyn Tables, root: &RunRow) -> Result<()> {
    kept_usage::forget(tables, &root.key)?;
    for run in tables.tree(&root.key)? {
        tables.delete_record_blocks(&run.key)?;
        tables.delete_facts(&run.key)?;
        if run.key != root.key {
            tables.delete_run(&run.key)?;
        }
    }
    tables.update_run(&root.key, &RunFacts::default())
}

pub(crate) fn begin_of(row: &RunRow) -> Result<BeginRun> {
    Ok(BeginRun {
        job_id: row.job.clone(),
        run_id: row.id.clone(),
        runtime: row.runtime.clone(),
        started_at: row.started_at,
        context: value(&row.id, "context", row.context.as_deref())?,
    })
}

impl Store {
    /// Opens a root run for writing, and holds its lock until it is finished or the store ends.
    ///
    /// Beginning the same run again with the same content resumes it; with other content it is an
    /// error, and so is a run that another writer holds.
    pub fn begin_run(&mut self, begin: &BeginRun) -> Result<()> {
        let run = &begin.run_id;
        if self.open.contains_key(run) {
            return self.same_begin(begin);
        }
        let lock = self.patiently(|store| store.lock(run))?;
        let context = codec::pack(&json(run, &begin.context)?);
        let created = self.patiently(|store| {
            store.write(|tables| {
                // Also one that was made a moment ago by a statement whose answer was lost.
                if tables.find_run(run)?.is_some() {
                    return Ok(false);
                }
                let new = NewRun {
                    id: run,
                    job: &begin.job_id,
                    runtime: &begin.runtime,
                    root: None,
                    parent: None,
                    started_at: begin.started_at,
                    context: Some(&context),
                    facts: None,
                    exit: None,
                    seal: None,
                    is_settled: false,
                };
                tables.insert_run(&new)?;
                Ok(true)
            })
        })?;
        if !created {
            self.same_begin(begin)?;
        }
        let run_row = self.patiently(|store| store.read(|tables| get(tables, run)))?;
        let state = if created {
            Some(TreeState::new(run_row))
        } else {
            None
        };
        self.open.insert(run.clone(), OpenTree { lock, state });
        Ok(())
    }

    /// Refuses to begin a run that was begun with other content.
    fn same_begin(&self, begin: &BeginRun) -> Result<()> {
        let stored = self.read(|tables| begin_of(&get(tables, &begin.run_id)?))?;
        let same = stored.job_id == begin.job_id
            && stored.runtime == begin.runtime
            && stored.context == begin.context;
        if same {
            return Ok(());
        }
        Err(StoreError::Conflict {
            run: begin.run_id.clone(),
            what: "the run".to_owned(),
        })
    }

    /// Says of which runtime an open root run is, and what is known of it with that: its first lines told. A run that
    /// has records is refused, since they were made from another reading of the output.
    pub fn decide_runtime(
        &mut self,
        root: &RunId,
        runtime: &Runtime,
        context: &Value,
    ) -> Result<()> {
        let Some(tree) = self.open.get_mut(root) else {
            return Err(StoreError::NotOpen { run: root.clone() });
        };
        // The tree is read again, with its new runtime.
        tree.state = None;
        let context = codec::pack(&json(root, context)?);
        self.patiently(|store| {
            store.write(|tables| {
                let row = get(tables, root)?;
                if row.seal.is_some() || row.records > 0 {
                    let seq = row.records;
                    let run = root.clone();
                    return Err(StoreError::Ended { run, seq });
                }
                tables.set_opening(
                    &row.key,
                    &Opening {
                        job: &row.job,
                        runtime,
                        parent: None,
                    },
                )?;
                tables.set_context(&row.key, &context)
            })
        })
    }

    /// Takes over a root run whose writer is gone, and returns what it had been begun with.
    pub fn resume_run(&mut self, run: &RunId) -> Result<BeginRun> {
        self.read(|tables| get(tables, run))?;
        let lock = if self.open.contains_key(run) {
            None
        } else {
            Some(self.patiently(|store| store.lock(run))?)
        };
        // The run is read again now that nobody else can delete or replace it.
        let begin = self.begin_of(run)?;
        if let Some(lock) = lock {
            let tree = OpenTree { lock, state: None };
            self.open.insert(run.clone(), tree);
        }
        Ok(begin)
    }

    /// Lets go of a run without finishing it.
    pub fn release_run(&mut self, run: &RunId) {
        self.open.remove(run);
    }

    /// Leaves a note about a run that this store writes and can no longer write, for those who take
    /// the run over. A note has room even where every disk is full. A run in memory is taken over by
    /// nobody.
    pub fn leave_note(&self, run: &RunId, note: &Value) -> Result<()> {
        let tree = self.open.get(run);
        let tree = tree.ok_or_else(|| StoreError::NotOpen { run: run.clone() })?;
        match &tree.lock {
            Some(lock) => lock
                .leave_note(&note.to_string())
                .map_err(|source| self.note_error("leave a note in the lock", source)),
            None => Ok(()),
        }
    }

    /// Returns the note about a run that this store has taken over, if its last writer left one.
    pub fn left_note(&self, run: &RunId) -> Result<Option<Value>> {
        let tree = self.open.get(run);
        let tree = tree.ok_or_else(|| StoreError::NotOpen { run: run.clone() })?;
        let Some(lock) = &tree.lock else {
            return Ok(None);
        };
        let note = lock
            .note()
            .map_err(|source| self.note_error("read the note in the lock", source))?;
        // A note that was cut off says nothing.
        Ok(note.and_then(|note| serde_json::from_str(&note).ok()))
    }

    fn note_error(&self, doing: &'static str, source: std::io::Error) -> StoreError {
        StoreError::File {
            path: self.path().map_or_else(|| self.name().into(), Into::into),
            doing,
            source,
        }
    }

    /// Returns the root runs that are not sealed and that nobody writes.
    pub fn open_runs(&self) -> Result<Vec<OpenRun>> {
        let rows = self.read(|tables| tables.open_roots())?;
        let mut open = Vec::new();
        for row in rows {
            if !self.open.contains_key(&row.id) && self.tables().is_unlocked(&row.id)? {
                open.push(OpenRun {
                    begin: begin_of(&row)?,
                    records: row.records,
                });
            }
        }
        Ok(open)
    }

    /// Tells whether some process writes a run, be it this one: an open run that nobody writes has lost its
    /// recorder, unless it never had one.
    pub fn is_written(&self, run: &RunId) -> Result<bool> {
        let root = self.read(|tables| get_root(tables, run))?;
        Ok(self.open.contains_key(&root.id) || !self.tables().is_unlocked(&root.id)?)
    }

    /// Adds records of a root run and its children, and the output they came from: all of it or
    /// nothing.
    ///
    /// What was returned from here survives the death of the process. The same again changes
    /// nothing; other content under the same number, or a gap, is an error.
    pub fn append(&mut self, root: &RunId, records: &[Record], chunks: &[TapeChunk]) -> Result<()> {
        self.patiently(|store| {
            store.with_tree(root, |tables, state| state.append(tables, records, chunks))
        })
    }

    /// Does some work on a tree in one transaction; after a failure its state is read again.
    pub(crate) fn with_tree<T>(
        &mut self,
        root: &RunId,
        work: impl FnOnce(&dyn Tables, &mut TreeState) -> Result<T>,
    ) -> Result<T> {
        let Some(tree) = self.open.get_mut(root) else {
            return Err(StoreError::NotOpen { run: root.clone() });
        };
        let state = tree.state.take();
        let (value, state) = self.write(|tables| {
            let mut state = match state {
                Some(state) => state,
                None => TreeState::load(tables, root)?,
            };
            let value = work(tables, &mut state)?;
            Ok((value, state))
        })?;
        if let Some(tree) = self.open.get_mut(root) {
            tree.state = Some(state);
        }
        Ok(value)
    }

    /// Ends a root run: merges its small blocks, seals it, and gives its lock back.
    ///
    /// Every run of the tree must have its terminal checkpoint. `exit` is how the process ended,
    /// in the writer's words; it is kept as it is and covered by the seal. Finishing again with
    /// the same exit changes nothing. Returns the name of the seal.
    pub fn finish_run(&mut self, root: &RunId, exit: &Value, at: i64) -> Result<SealName> {
        self.append_and_finish(root, &[], &[], exit, at)
    }

    /// Adds the last records and output of a root run and ends it, in one transaction: who dies in
    /// between would leave a run behind whose end is not known.
    pub fn append_and_finish(
        &mut self,
        root: &RunId,
        records: &[Record],
        chunks: &[TapeChunk],
        exit: &Value,
        at: i64,
    ) -> Result<SealName> {
        let packed = codec::pack(&json(root, exit)?);
        let seal = self.patiently(|store| {
            store.with_tree(root, |tables, state| {
                state.append(tables, records, chunks)?;
                if let Some(seal) = state.root.seal {
                    let stored = value(root, "exit", state.root.exit.as_deref())?;
                    if stored != *exit {
                        return Err(StoreError::Conflict {
                            run: root.clone(),
                            what: "its exit".to_owned(),
                        });
                    }
                    return Ok(seal);
                }
                let seal = self::seal(tables, state, Some(&packed), at)?;
                tables.retire_with(&state.root.key);
                Ok(seal)
            })
        })?;
        if let Some(lock) = self.open.remove(root).and_then(|tree| tree.lock) {
            lock.retire();
        }
        if !self.tables().settles_with_seals() && kept_usage::is_turn(seal) {
            // The run is sealed, whatever comes of this: trees that wait go in with some later turn.
            let _ = self.write(kept_usage::settle_many);
        }
        Ok(seal)
    }

    /// Returns how the process of a finished root run ended, as it was given to `finish_run`.
    pub fn exit(&self, root: &RunId) -> Result<Option<Value>> {
        self.read(|tables| {
            let row = get(tables, root)?;
            match &row.exit {
                Some(packed) => value(root, "exit", Some(packed)).map(Some),
                None => Ok(None),
            }
        })
    }

    /// Returns what a root run was begun with.
    pub fn begin_of(&self, root: &RunId) -> Result<BeginRun> {
        self.read(|tables| begin_of(&get(tables, root)?))
    }

    /// Returns what those of these root runs were begun with that there are.
    pub fn begins_of(&self, roots: &[RunId]) -> Result<Vec<BeginRun>> {
        self.read(|tables| tables.find_runs(roots)?.iter().map(begin_of).collect())
    }

    /// Gives up the records of an open root run that this store writes, and its children. Its tape
    /// stays, so that the records can be made again, maybe other ones by another parser.
    pub fn discard_records(&mut self, root: &RunId) -> Result<()> {
        let Some(tree) = self.open.get_mut(root) else {
            return Err(StoreError::NotOpen { run: root.clone() });
        };
        // What is known of the tree is no longer true: the tree is read again.
        tree.state = None;
        self.write(|tables| {
            let row = get(tables, root)?;
            if row.seal.is_some() {
                return Err(StoreError::Ended {
                    run: root.clone(),
                    seq: 0,
                });
            }
            delete_records(tables, &row)?;
            kept_usage::settle_many(tables)
        })
    }
}
