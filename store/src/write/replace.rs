//! New records in the place of a finished run's, piece by piece and all or nothing.

use runtape_core::report::{RemovalReason, SealName};
use runtape_core::{Message, Record, RecordKind, RunId, Runtime};
use serde_json::Value;

use super::append::OpenTree;
use super::begin::{delete_records, json, seal};
use super::sealing;
use crate::backend::{Opening, RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::codec;
use crate::read::runs::{get, get_root};
use crate::read::{records, sealed, tape};
use crate::store::Store;

/// What replacing a run's records did to its seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The seal that is now a tombstone.
    pub old_seal: Option<SealName>,
    /// The seal over the new records.
    pub new_seal: SealName,
}

/// What is known of a run otherwise than before.
#[derive(Default)]
struct Retold<'a> {
    context: Option<&'a Value>,
    runtime: Option<&'a Runtime>,
}

impl Store {
    /// Puts new records in the place of a finished root run's and its children's, in one
    /// transaction. Job and run ids stay; the old seal stays as a tombstone. A run whose tape was
    /// dropped is refused: see [`check_tape`](Self::check_tape).
    pub fn replace_records(
        &mut self,
        root: &RunId,
        records: &[Record],
        at: i64,
    ) -> Result<Replaced> {
        self.replace_run(root, at, |store| {
            store.append(root, records, &[])?;
            Ok(None)
        })
    }

    /// Refuses a run whose records were made from output that is not on its tape: the tape was
    /// dropped, or the output never came here. What is made from the rest of the tape would be less.
    pub fn check_tape(&self, root: &RunId) -> Result<()> {
        self.read(|tables| check_tape(tables, &get_root(tables, root)?))
    }

    /// Does what [`replace_records`](Self::replace_records) does for records that need not be in memory
    /// at once: `write` is called with a run that has no records, and appends them. Meanwhile the run's
    /// tape can be read, and more can be added to it. `write` returns how the process ended, if that is
    /// known better now.
    pub fn replace_run(
        &mut self,
        root: &RunId,
        at: i64,
        write: impl FnOnce(&mut Self) -> Result<Option<Value>>,
    ) -> Result<Replaced> {
        self.replace(root, RemovalReason::Replaced, &Retold::default(), at, write)
    }

    /// The same for a run of which something else is known now than before it began: another account of it was
    /// found, or why another one is not of it. The old seal says the reason.
    pub fn retell_run(
        &mut self,
        root: &RunId,
        reason: RemovalReason,
        context: &Value,
        at: i64,
        write: impl FnOnce(&mut Self) -> Result<Option<Value>>,
    ) -> Result<Replaced> {
        let retold = Retold {
            context: Some(context),
            runtime: None,
        };
        self.replace(root, reason, &retold, at, write)
    }

    /// The same for a run that turned out to be another runtime's.
    pub fn replace_runtime(
        &mut self,
        root: &RunId,
        runtime: &Runtime,
        context: &Value,
        at: i64,
        write: impl FnOnce(&mut Self) -> Result<Option<Value>>,
    ) -> Result<Replaced> {
        let retold = Retold {
            context: Some(context),
            runtime: Some(runtime),
        };
        self.replace(root, RemovalReason::RuntimeChanged, &retold, at, write)
    }

    fn replace(
        &mut self,
        root: &RunId,
        reason: RemovalReason,
        retold: &Retold<'_>,
        at: i64,
        write: impl FnOnce(&mut Self) -> Result<Option<Value>>,
    ) -> Result<Replaced> {
        let lock = self.lock(root)?;
        let tree = OpenTree { lock, state: None };
        let replaced = self.batch(|store| {
            let old_seal = store.empty(root, reason, retold, at)?;
            store.open.insert(root.clone(), tree);
            let exit = write(store)?;
            let exit = exit.map(|exit| json(root, &exit)).transpose()?;
            let exit = exit.map(|exit| codec::pack(&exit));
            let new_seal = store.with_tree(root, |tables, state| {
                seal(tables, state, exit.as_deref(), at)
            })?;
            Ok(Replaced { old_seal, new_seal })
        });
        let lock = self.open.remove(root).and_then(|tree| tree.lock);
        if let (Ok(_), Some(lock)) = (&replaced, lock) {
            lock.retire();
        }
        replaced
    }

    /// Takes the records and the seal from a finished root run; returns what seal it was.
    fn empty(
        &mut self,
        root: &RunId,
        reason: RemovalReason,
        retold: &Retold<'_>,
        at: i64,
    ) -> Result<Option<SealName>> {
        let context = retold
            .context
            .map(|context| json(root, context))
            .transpose()?;
        self.write(|tables| {
            let row = get(tables, root)?;
            if row.root.is_some() || row.seal.is_none() {
                return Err(StoreError::NotEnded { run: root.clone() });
            }
            check_tape(tables, &row)?;
            sealing::remove(tables, &row, reason, at)?;
            delete_records(tables, &row)?;
            if let Some(runtime) = retold.runtime {
                let job = &row.job;
                let opening = Opening {
                    job,
                    runtime,
                    parent: None,
                };
                tables.set_opening(&row.key, &opening)?;
            }
            if let Some(context) = context {
                tables.set_context(&row.key, &codec::pack(&context))?;
            }
            Ok(row.seal)
        })
    }
}

/// Refuses a root run if the tape lacks what the records of its tree were made from.
fn check_tape(tables: &dyn Tables, root: &RunRow) -> Result<()> {
    let no_tape = |fault: String| StoreError::NoTape {
        run: root.id.clone(),
        fault,
    };
    let end = tape::end(tables, &root.key, &root.id)?;
    let is_empty = end.blocks == 0;
    if is_empty && sealed::was_tape_dropped(tables, &root.id)? {
        return Err(no_tape("its tape was dropped".to_owned()));
    }
    for run in tables.tree(&root.key)? {
        records::each_from(tables, &run.key, &run.id, 0, |record| {
            let place = || format!("record {} of run {}", record.seq, run.id);
            if is_empty && is_printed(&record) {
                return Err(no_tape(format!(
                    "it has no tape, and {} was printed",
                    place()
                )));
            }
            let Some(span) = record.span else {
                return Ok(true);
            };
            let length = end.lengths.of(span.stream);
            if span.end > length {
                let (name, end) = (span.stream.as_str(), span.end);
                return Err(no_tape(format!(
                    "{} was made from {name} up to byte {end}, the tape ends at {length}",
                    place()
                )));
            }
            Ok(true)
        })?;
    }
    Ok(())
}

/// Tells whether a record can only have been made from what a process printed.
fn is_printed(record: &Record) -> bool {
    match &record.kind {
        RecordKind::Message(message) => matches!(
            message.message,
            Message::ExpertMessage(_) | Message::ToolMessage(_)
        ),
        RecordKind::Usage(_) => true,
        _ => record.span.is_some(),
    }
}
