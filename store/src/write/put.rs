//! Whole runs, written at once.
//!
//! Most of what storing takes is hashing and compressing, which need no database. So a run that
//! has ended is prepared first, on any thread, and then written in one go: no lock, no row that is
//! written and changed again, no block that is merged later.

use runtape_core::report::SealName;
use runtape_core::{JobId, Record, RecordKind, RunId, Runtime, Stream};
use serde_json::Value;

use super::append::write_rows;
use super::begin::{BeginRun, json};
use super::kept_usage::{SessionPlace, UnwrittenUsage};
use super::sealing;
use crate::backend::{NewRun, RunKey, Tables};
use crate::derive::facts::{Fact, RunFacts};
use crate::derive::run_writer::{Rows, RunWriter};
use crate::derive::tree_usage::{UsedRun, cells_of_tree};
use crate::derive::usage_cell::UsageCell;
use crate::error::{Result, StoreError};
use crate::format::chain::Hash;
use crate::format::codec;
use crate::format::seals::Sealed;
use crate::format::tape::{TapeBlock, TapeEnd, encode};
use crate::read::sealed;
use crate::store::Store;

/// A root run and its children, ready to be written.
#[derive(Clone, Debug)]
pub struct PreparedRun {
    job: JobId,
    runtime: Runtime,
    context: Vec<u8>,
    exit: Vec<u8>,
    /// The root run first.
    runs: Vec<Prepared>,
    tape: Vec<TapeBlock>,
    tape_bytes: u64,
    /// What they used, if no other run is of their sessions.
    used: Option<Vec<UsageCell>>,
}

#[derive(Clone, Debug)]
struct Prepared {
    id: RunId,
    /// The position of the run that started this one.
    parent: Option<usize>,
    started_at: i64,
    facts: RunFacts,
    rows: Rows,
    hash: Hash,
}

impl Prepared {
    /// Returns its job and its runtime, which for a child its first record says.
    fn origin<'a>(&'a self, of_root: (&'a JobId, &'a Runtime)) -> (&'a JobId, &'a Runtime) {
        match &self.facts.opened {
            Some(opened) if opened.delegated_by.is_some() => (&opened.job_id, &opened.runtime),
            _ => of_root,
        }
    }

    fn used<'a>(&'a self, of_root: (&'a JobId, &'a Runtime)) -> UsedRun<'a> {
        let (_, runtime) = self.origin(of_root);
        UsedRun {
            runtime: runtime.as_str(),
            run: &self.facts,
            started_at: self.started_at,
            facts: &self.rows.facts,
        }
    }
}

impl PreparedRun {
    /// Prepares a run that has ended: all its records, and those of its children, in order; and how
    /// the process ended.
    pub fn new(begin: &BeginRun, records: &[Record], exit: &Value) -> Result<Self> {
        let root = &begin.run_id;
        let mut tree = Tree {
            root,
            job: &begin.job_id,
            runs: vec![(root.clone(), None, begin.started_at, RunWriter::new(root))],
        };
        records.iter().try_for_each(|record| tree.push(record))?;
        let runs = tree.finish()?;
        let used = runs
            .iter()
            .map(|run| run.used((&begin.job_id, &begin.runtime)));
        let used: Vec<UsedRun<'_>> = used.collect();
        Ok(Self {
            job: begin.job_id.clone(),
            runtime: begin.runtime.clone(),
            context: codec::pack(&json(root, &begin.context)?),
            exit: codec::pack(&json(root, exit)?),
            used: cells_of_tree(&used),
            runs,
            tape: Vec::new(),
            tape_bytes: 0,
        })
    }

    /// Adds the tape: what the process printed, as stream, receive time and bytes, in the order it
    /// was received. Then compresses tape and records, which takes as long as all the rest: that is why
    /// this is a step of its own, which can be done on another thread.
    #[must_use]
    pub fn with_output<'a>(
        mut self,
        output: impl IntoIterator<Item = (Stream, i64, &'a [u8])>,
    ) -> Self {
        if let Some(root) = self.runs.first() {
            let mut end = TapeEnd::first(&root.id);
            self.tape = encode(&mut end, output);
            self.tape_bytes = end.lengths.total();
        }
        for run in &mut self.runs {
            run.rows.compress();
        }
        self
    }

    /// Returns how many bytes its process printed.
    #[must_use]
    pub fn tape_bytes(&self) -> u64 {
        self.tape_bytes
    }

    /// Returns what a seal covers.
    fn sealed(&self) -> Sealed<'_> {
        Sealed {
            job: &self.job,
            runtime: &self.runtime,
            context: &self.context,
            exit: &self.exit,
            runs: self
                .runs
                .iter()
                .map(|run| (&run.id, run.facts.records, run.hash))
                .collect(),
            tape: self.tape.iter().map(|block| block.hash).collect(),
        }
    }
}

/// The runs of a tree while they are prepared.
struct Tree<'a> {
    root: &'a RunId,
    job: &'a JobId,
    /// Of each run: its id, the position of the run that started it, when that was, and its records.
    /// They are few enough to be searched.
    runs: Vec<(RunId, Option<usize>, i64, RunWriter)>,
}

impl Tree<'_> {
    fn find(&self, run: &RunId) -> Option<usize> {
        self.runs.iter().rposition(|(id, ..)| id == run)
    }

    fn push(&mut self, record: &Record) -> Result<()> {
        let at = match self.find(&record.run_id) {
            Some(at) => at,
            None => self.open_child(record)?,
        };
        match self.runs.get_mut(at) {
            Some((.., writer)) => writer.push(record, self.job),
            None => Ok(()),
        }
    }

    fn open_child(&mut self, record: &Record) -> Result<usize> {
        let not_open = || StoreError::NotOpen {
            run: record.run_id.clone(),
        };
        let RecordKind::Run(opened) = &record.kind else {
            return Err(not_open());
        };
        let Some(by) = &opened.delegated_by else {
            let fault = format!("it is no child of run {}", self.root);
            return Err(StoreError::invalid(&record.run_id, fault));
        };
        let (id, parent) = (record.run_id.clone(), self.find(&by.run_id));
        let writer = RunWriter::new(&id);
        self.runs.push((id, parent, record.at, writer));
        Ok(self.runs.len() - 1)
    }

    fn finish(self) -> Result<Vec<Prepared>> {
        let runs = self.runs.into_iter();
        let prepared = runs.map(|(id, parent, started_at, mut writer)| {
            if !writer.has_ended() {
                return Err(StoreError::NotEnded { run: id });
            }
            let mut rows = writer.rows();
            answer_calls(&mut rows.facts);
            Ok(Prepared {
                id,
                parent,
                started_at,
                rows,
                hash: writer.hash(),
                facts: writer.folder.run,
            })
        });
        prepared.collect()
    }
}

/// Puts results beside their calls, so that a call's row is written once.
fn answer_calls(facts: &mut Vec<Fact>) {
    let mut calls = std::collections::HashMap::new();
    let mut answers = Vec::new();
    for (at, fact) in facts.iter().enumerate() {
        match fact {
            Fact::Call(call) => drop(calls.insert((call.seq, call.part), at)),
            Fact::Result(result) => answers.extend(calls.get(&result.call).map(|call| (*call, at))),
            _ => {}
        }
    }
    for (call, answer) in answers {
        let Some(Fact::Result(result)) = facts.get(answer).cloned() else {
            continue;
        };
        if let Some(Fact::Call(call)) = facts.get_mut(call) {
            call.result = Some(result);
        }
    }
    facts.retain(|fact| !matches!(fact, Fact::Result(_)));
}

impl Store {
    /// Writes a run that has ended, and seals it: all of it or nothing. Returns its seal's name.
    ///
    /// The same again changes nothing; other content under the same id is an error. For many short
    /// runs, write several in one [`batch`](Self::batch).
    pub fn put_run(&mut self, run: PreparedRun, at: i64) -> Result<SealName> {
        let digest = run.sealed().digest();
        if self.in_batch {
            let known = known(self.tables(), &run, &digest);
            let write = || self.or_spoil(|tables, usage| put(tables, run, digest, usage, at));
            let seal = known.and_then(|seal| seal.map_or_else(write, Ok));
            return seal.map_err(|error| self.named(error));
        }
        // A file takes it at once, or not at all: only for a server it must be there a second time.
        if self.is_server() {
            return self.patiently(|store| store.put_alone(run.clone(), digest, at));
        }
        self.put_alone(run, digest, at)
    }

    /// Writes runs that have ended in one transaction, each as [`put_run`](Self::put_run) does. One that is there with
    /// other content is told by itself, and keeps none of the others out.
    pub fn put_runs(&mut self, runs: Vec<PreparedRun>, at: i64) -> Result<Vec<Result<SealName>>> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        self.batch(|store| {
            let parts = || runs.iter().flat_map(|run| &run.runs);
            let ids: Vec<&RunId> = parts().map(|part| &part.id).collect();
            let sessions: Vec<&str> = parts()
                .filter_map(|part| part.facts.session.as_deref())
                .collect();
            store.tables().expect(&ids, &sessions)?;
            let put = |run| match store.put_run(run, at) {
                Err(fault @ StoreError::Conflict { .. }) => Ok(Err(fault)),
                stored => stored.map(Ok),
            };
            runs.into_iter().map(put).collect()
        })
    }

    /// Writes a run in a transaction of its own.
    fn put_alone(&mut self, run: PreparedRun, digest: Hash, at: i64) -> Result<SealName> {
        self.write(|tables| {
            if let Some(seal) = known(tables, &run, &digest)? {
                return Ok(seal);
            }
            let mut usage = UnwrittenUsage::default();
            let seal = put(tables, run, digest, &mut usage, at)?;
            usage.finish(tables)?;
            Ok(seal)
        })
    }
}

/// Returns the seal of a run that is stored already. Another run under the same id is an error.
fn known(tables: &dyn Tables, run: &PreparedRun, digest: &Hash) -> Result<Option<SealName>> {
    if let Some(root) = run.runs.first() {
        tables.lock_chain(&root.id)?;
    }
    for part in &run.runs {
        let Some(found) = tables.find_run(&part.id)? else {
            continue;
        };
        if let Some(seal) = found.seal
            && sealed::has_digest(tables, seal, digest)?
        {
            return Ok(Some(seal));
        }
        return Err(StoreError::Conflict {
            run: part.id.clone(),
            what: "the run".to_owned(),
        });
    }
    Ok(None)
}

/// Tells whether no other run is of a session that these runs are of.
fn are_alone(tables: &dyn Tables, runs: &[Prepared]) -> Result<bool> {
    let mut asked = None;
    for session in runs.iter().filter_map(|run| run.facts.session.as_deref()) {
        // Children are mostly of the session of their root run.
        if asked.replace(session) != Some(session) && tables.has_session(session)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes a run that is not there yet.
fn put(
    tables: &dyn Tables,
    mut run: PreparedRun,
    digest: Hash,
    usage: &mut UnwrittenUsage,
    at: i64,
) -> Result<SealName> {
    let Some(root_id) = run.runs.first().map(|root| root.id.clone()) else {
        return Err(StoreError::damaged("a prepared run", "it has no runs"));
    };
    let used = run.used.take();
    let used = if used.is_some() && are_alone(tables, &run.runs)? {
        used
    } else {
        // What counts of other runs may be another part of them in a moment.
        usage.write(tables)?;
        None
    };
    let seal = sealing::append_seal(tables, digest, &root_id, at)?;
    let mut keys: Vec<RunKey> = Vec::with_capacity(run.runs.len());
    for part in run.runs {
        let is_root = keys.is_empty();
        let (job, runtime) = part.origin((&run.job, &run.runtime));
        let key = tables.insert_run(&NewRun {
            id: &part.id,
            job,
            runtime,
            root: keys.first(),
            parent: part.parent.and_then(|parent| keys.get(parent)),
            started_at: part.started_at,
            context: is_root.then_some(run.context.as_slice()),
            facts: Some(&part.facts),
            exit: is_root.then_some(run.exit.as_slice()),
            seal: is_root.then_some(seal),
            is_settled: is_root && used.is_some(),
        })?;
        if used.is_none()
            && let Some(place) = SessionPlace::of(&part.facts, part.started_at)
        {
            place.make_way(tables, &part.id)?;
        }
        write_rows(tables, &key, part.rows)?;
        keys.push(key);
    }
    if let Some(root) = keys.first() {
        for block in &run.tape {
            tables.insert_tape_block(root, block)?;
        }
    }
    match used {
        Some(cells) => usage.add(cells),
        None => usage.has_waiting = true,
    }
    Ok(seal)
}
