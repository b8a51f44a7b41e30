//! Records from a tape: closing runs whose recorder died, and reading old tapes with a new parser.

use std::collections::BTreeMap;

use runtape_core::report::RenormalizedRun;
use runtape_core::{Record, RunId, RunSummary, summarize};
use runtape_normalizer::{Exit, Normalizer};
use runtape_store::{BeginRun, OpenRun, Store, StoreError};

use crate::context::{RunContext, begin_at, exit_from_json, exit_to_json};
use crate::record_error::RecordError;

/// A run that was closed because its recorder died.
#[derive(Debug)]
pub struct Recovered {
    /// The run in one object; its status is what the tape proves, else the error `RecorderLost`.
    pub summary: RunSummary,
    /// The run.
    pub run_id: RunId,
}

/// Makes the records of a run from its tape.
fn replay(store: &Store, begin: &BeginRun, exit: &Exit) -> Result<Vec<Record>, RecordError> {
    let context = RunContext::from_json(begin.job_id.clone(), begin.run_id.clone(), &begin.context);
    let mut normalizer = Normalizer::new(begin.runtime.clone(), context.to_normalizer())?;
    begin_at(&mut normalizer, begin.started_at);
    let mut records = Vec::new();
    store.each_tape_chunk(&begin.run_id, |chunk| {
        records.extend(
            normalizer
                .push(chunk.stream, &chunk.bytes, chunk.received_at)
                .records,
        );
        true
    })?;
    records.extend(normalizer.finish(exit).records);
    Ok(records)
}

/// Closes the runs whose recorder died: from their tape, with what it proves.
///
/// Runs that a living process writes are left alone. `now` is in milliseconds since 1970.
pub fn recover(store: &mut Store, now: i64) -> Result<Vec<Recovered>, RecordError> {
    let open = store.open_runs()?;
    open.iter()
        .map(|open| recover_one(store, open, now))
        .collect()
}

fn recover_one(store: &mut Store, open: &OpenRun, now: i64) -> Result<Recovered, RecordError> {
    let run_id = open.begin.run_id.clone();
    let begin = store.resume_run(&run_id)?;
    let exit = Exit::lost();
    let records = replay(store, &begin, &exit)?;
    // What was stored before is the beginning of this, so appending it again changes nothing …
    match store.append(&run_id, &records, &[]) {
        // … unless it is of another version, which read the same tape in another way.
        Err(StoreError::Conflict { .. } | StoreError::Ended { .. }) => {
            store.discard_records(&run_id)?;
            store.append(&run_id, &records, &[])?;
        }
        appended => appended?,
    }
    store.finish_run(&run_id, &exit_to_json(&exit), now)?;
    let summary = summarize(&records).ok_or_else(|| RecordError::Unfinished {
        run: run_id.clone(),
    })?;
    Ok(Recovered { summary, run_id })
}

/// Makes a finished run's records anew from its tape with the current parser, in one transaction.
///
/// Where nothing changes, nothing is written.
pub fn renormalize(
    store: &mut Store,
    run_id: &RunId,
    now: i64,
) -> Result<RenormalizedRun, RecordError> {
    let begin = store.begin_of(run_id)?;
    let exit = store
        .exit(run_id)?
        .map_or_else(Exit::unknown, |exit| exit_from_json(&exit));
    let old = store.tree_records(run_id)?;
    let new = replay(store, &begin, &exit)?;
    let report = compare(run_id, &old, &new);
    if report.is_changed() {
        store.replace_records(run_id, &new, now)?;
    }
    Ok(report)
}

fn compare(run_id: &RunId, old: &[Record], new: &[Record]) -> RenormalizedRun {
    let by_place = |records: &[Record]| -> BTreeMap<(RunId, u64), Record> {
        let places = records
            .iter()
            .map(|r| ((r.run_id.clone(), r.seq), r.clone()));
        places.collect()
    };
    let (old, new) = (by_place(old), by_place(new));
    let both = new
        .iter()
        .filter_map(|(place, record)| Some((old.get(place)?, record)));
    let (same, changed): (Vec<_>, Vec<_>) = both.partition(|(old, new)| old == new);
    RenormalizedRun {
        run_id: run_id.clone(),
        same: same.len() as u64,
        changed: changed.len() as u64,
        added: new.keys().filter(|place| !old.contains_key(place)).count() as u64,
        removed: old.keys().filter(|place| !new.contains_key(place)).count() as u64,
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::{CheckpointStatus, Runtime, Stream};
    use runtape_store::TapeChunk;

    use super::*;

    #[test]
    fn a_run_that_another_version_began_is_closed_with_this_ones_records() {
        let mut store = Store::open_in_memory().unwrap();
        let context = RunContext::new("job".parse().unwrap(), "run".parse().unwrap());
        let begin = context.begin(Runtime::Hermes, 1);
        store.begin_run(&begin).unwrap();
        let tape = TapeChunk {
            stream: Stream::Stdout,
            start: 0,
            received_at: 2,
            bytes: b"Hello.\n".to_vec(),
        };
        store
            .append(&begin.run_id, &[], std::slice::from_ref(&tape))
            .unwrap();
        let exit = Exit::lost();
        let ours = replay(&store, &begin, &exit).unwrap();
        // As if an earlier parser had made other records of the same output, and more of them.
        let mut theirs = ours.clone();
        theirs.pop();
        for record in &mut theirs {
            record.at += 5;
        }
        store.append(&begin.run_id, &theirs, &[]).unwrap();
        store.release_run(&begin.run_id);
        let recovered = recover(&mut store, 9).unwrap();
        assert_eq!(recovered.len(), 1);
        assert_eq!(store.records(&begin.run_id, 0, usize::MAX).unwrap(), ours);
        assert_eq!(store.tape(&begin.run_id).unwrap(), [tape]);
        let run = store.run(&begin.run_id).unwrap();
        assert_ne!(run.status, CheckpointStatus::Proceeding);
        assert!(store.verify().unwrap().is_intact());
    }
}
