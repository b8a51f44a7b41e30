//! Runs that come as records, from elsewhere: without a tape.

use std::collections::BTreeMap;

use runtape_core::report::RunRedaction;
use runtape_core::{CheckpointStatus, Message, Record, RecordKind, RunId};
use runtape_normalizer::Exit;
use runtape_store::{BeginRun, PreparedRun, SealName, Store, StoreError};

use crate::context_and_exit::{context_of_records, exit_to_json};
use crate::likeness::are_records_alike;

/// Stores a root run and its children from all their records, and seals it: all of it or nothing. The records are
/// those that [`redact_records`](crate::redact_records) let through, and what it says of them is kept with the run.
///
/// Returns the name of its seal; `None` if the first record opens no run. `now` is in
/// milliseconds since 1970.
pub fn store_records(
    store: &mut Store,
    records: &[Record],
    redaction: &RunRedaction,
    now: i64,
) -> Result<Option<SealName>, StoreError> {
    match prepare_records(records, redaction)? {
        Some(run) => store.put_run(run, now).map(Some),
        None => Ok(None),
    }
}

/// Prepares a root run and its children from all their records, which must fit together; `None` if
/// the first one opens no run.
pub fn prepare_records(
    records: &[Record],
    redaction: &RunRedaction,
) -> Result<Option<PreparedRun>, StoreError> {
    let Some(Record {
        run_id,
        at,
        kind: RecordKind::Run(opened),
        ..
    }) = records.first()
    else {
        return Ok(None);
    };
    let begin = BeginRun {
        job_id: opened.job_id.clone(),
        run_id: run_id.clone(),
        runtime: opened.runtime.clone(),
        started_at: *at,
        context: context_of_records(&redaction.applied),
    };
    let exit = Exit {
        redacted: redaction.counts.clone(),
        ..Exit::unknown()
    };
    PreparedRun::new(&begin, records, &exit_to_json(&exit)).map(Some)
}

/// How runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Record by record; their places on a tape and the way they were recorded may differ.
    Records,
    /// By what survives any form that a run is written in: what was said, and where each step ended.
    Essence,
}

/// Whether a run is stored already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredAlready {
    /// Neither the run nor a child of it is stored.
    No,
    /// The run is stored with the same content.
    Same,
    /// The run, or a child of it, is stored with other content.
    Other,
}

/// Tells whether a root run that comes as records, or one of its children, is stored already, and
/// with the same content.
pub fn known_records(
    store: &Store,
    records: &[Record],
    comparison: Comparison,
) -> Result<StoredAlready, StoreError> {
    let is_there = |run: &RunId| match store.run(run) {
        Ok(run) => Ok(Some(run)),
        Err(StoreError::UnknownRun { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let Some(root) = records.first() else {
        return Ok(StoredAlready::No);
    };
    let Some(stored) = is_there(&root.run_id)? else {
        for record in records.iter().filter(|record| record.seq == 0) {
            if is_there(&record.run_id)?.is_some() {
                return Ok(StoredAlready::Other);
            }
        }
        return Ok(StoredAlready::No);
    };
    if stored.seal.is_none() || stored.root_run_id.is_some() {
        return Ok(StoredAlready::Other);
    }
    let stored = store.tree_records(&root.run_id)?;
    let is_same = match comparison {
        Comparison::Records => are_records_alike(&stored, records),
        Comparison::Essence => job(&stored) == job(records) && essence(&stored) == essence(records),
    };
    Ok(if is_same {
        StoredAlready::Same
    } else {
        StoredAlready::Other
    })
}

/// Returns the job of a tree of runs.
fn job(records: &[Record]) -> Option<&str> {
    match &records.first()?.kind {
        RecordKind::Run(opened) => Some(opened.job_id.as_str()),
        _ => None,
    }
}

/// Returns what makes up a run in any form.
fn essence(records: &[Record]) -> BTreeMap<&RunId, Vec<Essence<'_>>> {
    let mut runs: BTreeMap<&RunId, Vec<Essence<'_>>> = BTreeMap::new();
    for record in records {
        let kept = match &record.kind {
            RecordKind::Message(message) => Essence::Said(&message.message),
            RecordKind::Checkpoint(head) => Essence::Ended(head.step, head.status),
            _ => continue,
        };
        runs.entry(&record.run_id).or_default().push(kept);
    }
    runs
}

#[derive(Debug, PartialEq)]
enum Essence<'a> {
    Said(&'a Message),
    Ended(u64, CheckpointStatus),
}
