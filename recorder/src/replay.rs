//! Records from a tape: the same output read again, a part at a time.

use std::collections::BTreeMap;

use runtape_core::report::RenormalizedRun;
use runtape_core::{Record, RunId, Runtime, Stream};
use runtape_normalizer::{Context, Exit, FirstLines, Kept, Normalizer, RunSource, RuntimeFrom};
use runtape_store::{BeginRun, Store, StoreError};

use crate::context_and_exit::{begin_at, came_as_records, context_from_json, exit_from_json};
use crate::error::RecordError;
use crate::undecided::with_decision;

/// Makes a normalizer that will make the records of a run again.
pub(crate) fn normalizer(begin: &BeginRun) -> Result<Normalizer, RecordError> {
    let context = context_from_json(begin.job_id.clone(), begin.run_id.clone(), &begin.context);
    normalizer_in(begin, context)
}

/// Makes one that also yields what can be shown at once.
pub(crate) fn live_normalizer(begin: &BeginRun) -> Result<Normalizer, RecordError> {
    let context = context_from_json(begin.job_id.clone(), begin.run_id.clone(), &begin.context);
    let mut normalizer = Normalizer::with_live(begin.runtime.clone(), context)?;
    begin_at(&mut normalizer, begin.started_at);
    Ok(normalizer)
}

/// Makes a normalizer for a run of which this is known.
pub(crate) fn normalizer_in(begin: &BeginRun, context: Context) -> Result<Normalizer, RecordError> {
    let mut normalizer = Normalizer::new(begin.runtime.clone(), context)?;
    begin_at(&mut normalizer, begin.started_at);
    Ok(normalizer)
}

/// Reads the tape of a run, calling `each` with the records of one part after the other, and how
/// many bytes of output that part has. What session files say goes before what was printed: where a run has
/// both, the one is laid along the other.
pub(crate) fn read_tape(
    store: &mut Store,
    run: &RunId,
    normalizer: &mut Normalizer,
    mut each: impl FnMut(&mut Store, Vec<Record>, usize) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let lengths = store.tape_lengths(run)?;
    let history = lengths.of(Stream::History);
    let passes: &[fn(Stream) -> bool] = match (history, lengths.total() - history) {
        (0, _) | (_, 0) => &[|_| true],
        _ => &[
            |stream| stream == Stream::History,
            |stream| stream != Stream::History,
        ],
    };
    for is_wanted in passes {
        for number in 0.. {
            let Some(chunks) = store.tape_part(run, number)? else {
                break;
            };
            let (mut records, mut bytes) = (Vec::new(), 0);
            for chunk in chunks.into_iter().filter(|chunk| is_wanted(chunk.stream)) {
                bytes += chunk.bytes.len();
                let output = normalizer.push(
                    chunk.stream,
                    Kept::as_given(&chunk.bytes),
                    chunk.received_at,
                );
                records.extend(output.records);
            }
            each(store, records, bytes)?;
        }
    }
    Ok(())
}

/// The stored records of a root run and its children, to be compared with ones made again.
pub(crate) struct StoredCounts {
    /// How many records each run has.
    counts: BTreeMap<RunId, u64>,
    /// How many of them were made again.
    met: BTreeMap<RunId, u64>,
}

impl StoredCounts {
    pub(crate) fn new(store: &Store, root: &RunId) -> Result<Self, StoreError> {
        let runs = store.tree(root)?.into_iter();
        Ok(Self {
            counts: runs.map(|run| (run.run_id, run.records)).collect(),
            met: BTreeMap::new(),
        })
    }

    /// Tells whether a record with this number is stored.
    pub(crate) fn has(&self, record: &Record) -> bool {
        let count = self.counts.get(&record.run_id);
        count.is_some_and(|count| record.seq < *count)
    }

    /// Returns how many stored records were not made again so far.
    pub(crate) fn missing(&self) -> u64 {
        let met = |run| self.met.get(run).copied().unwrap_or_default();
        let runs = self.counts.iter();
        runs.map(|(run, count)| count.saturating_sub(met(run)))
            .sum()
    }

    /// Returns how many of these records are stored in the same form, and how many in another.
    ///
    /// Each run's come in order, so one look at the store serves many of them.
    pub(crate) fn compare(
        &mut self,
        store: &Store,
        records: &[Record],
    ) -> Result<(u64, u64), StoreError> {
        let mut by_run: BTreeMap<&RunId, Vec<&Record>> = BTreeMap::new();
        for record in records.iter().filter(|record| self.has(record)) {
            by_run.entry(&record.run_id).or_default().push(record);
        }
        let (mut same, mut other) = (0, 0);
        for (run, records) in by_run {
            let first = records.first().map_or(0, |record| record.seq);
            let stored = store.records(run, first, records.len())?;
            let count = records.len() as u64;
            let alike = records.into_iter().zip(&stored);
            let alike = alike.filter(|(new, old)| new == old).count() as u64;
            same += alike;
            other += count - alike;
            *self.met.entry(run.clone()).or_default() += count;
        }
        Ok((same, other))
    }
}

/// Makes a finished run's records anew from its tape with the current parser, in one transaction.
///
/// Where nothing changes, nothing is written. A run whose tape is missing is refused: the tape was
/// dropped, or the run came as records. Neither the old records nor the new ones are ever all in memory:
/// the tape is read once to compare, and once more to replace what differs.
pub fn renormalize(
    store: &mut Store,
    run_id: &RunId,
    now: i64,
) -> Result<RenormalizedRun, RecordError> {
    renormalize_as(store, run_id, &ReadAs::Same, now)
}

/// As which runtime's a run is read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadAs {
    /// As that of the runtime that it has.
    Same,
    /// As that of a runtime that somebody names.
    Named(Runtime),
    /// As that of the first runtime that shows in its output, however late; if none does, as before.
    Detected,
}

/// Does what [`renormalize`] does for a run that may turn out to be another runtime's. The run keeps its id; its session,
/// and what else follows from the runtime, are what they would be had the runtime been known. The old seal stays as a
/// tombstone.
pub fn renormalize_as(
    store: &mut Store,
    run_id: &RunId,
    read_as: &ReadAs,
    now: i64,
) -> Result<RenormalizedRun, RecordError> {
    if let Some(root) = store.run(run_id)?.root_run_id {
        let fault = format!("it is a child: name its root run {root}");
        let run = run_id.clone();
        return Err(StoreError::Invalid { run, fault }.into());
    }
    let begin = store.begin_of(run_id)?;
    if store.tape_lengths(run_id)?.total() == 0 {
        if came_as_records(&begin.context) {
            let fault = "it came as records, without a tape".to_owned();
            let run = run_id.clone();
            return Err(StoreError::NoTape { run, fault }.into());
        }
        store.check_tape(run_id)?;
    }
    let exit = store
        .exit(run_id)?
        .map_or_else(Exit::unknown, |exit| exit_from_json(&exit));
    let stored = begin;
    let begin = read_with(store, &stored, read_as)?;
    let report = compare(store, &begin, &exit)?;
    let is_other = begin.runtime != stored.runtime || begin.context != stored.context;
    if report.is_changed() || is_other {
        let mut normalizer = normalizer(&begin)?;
        let write = |store: &mut Store| {
            read_tape(store, run_id, &mut normalizer, |store, records, _| {
                store.append(run_id, &records, &[])
            })?;
            store.append(run_id, &normalizer.finish(&exit).records, &[])?;
            Ok(None)
        };
        if is_other {
            store.replace_runtime(run_id, &begin.runtime, &begin.context, now, write)?;
        } else {
            store.replace_run(run_id, now, write)?;
        }
    }
    Ok(report)
}

/// Returns what a run begins with where it is read as another runtime's.
fn read_with(store: &Store, stored: &BeginRun, read_as: &ReadAs) -> Result<BeginRun, RecordError> {
    let wanted = match read_as {
        ReadAs::Same => return Ok(stored.clone()),
        ReadAs::Named(runtime) if *runtime == stored.runtime => return Ok(stored.clone()),
        ReadAs::Named(runtime) => Some(runtime),
        ReadAs::Detected => None,
    };
    let (job, run) = (stored.job_id.clone(), stored.run_id.clone());
    let mut context = context_from_json(job, run, &stored.context);
    if context.source != RunSource::Live {
        let (run, runtime) = (stored.run_id.clone(), &stored.runtime);
        let fault = format!("it was read from {runtime}'s session files, which tell its runtime");
        return Err(StoreError::Invalid { run, fault }.into());
    }
    let mut lines = FirstLines::unbounded(wanted.cloned());
    let mut found = None;
    store.each_tape_chunk(&stored.run_id, |chunk| {
        found = lines.push(chunk.stream, &chunk.bytes, chunk.received_at);
        found.is_none()
    })?;
    let found = found.unwrap_or_else(|| lines.finish());
    let mut begin = stored.clone();
    match (wanted, found) {
        (Some(runtime), found) => {
            begin.runtime = runtime.clone();
            context.runtime_from = RuntimeFrom::Caller;
            context.output_on = Stream::Stdout;
            context.lines_before = 0;
            if let Some(found) = found {
                context.output_on = found.output_on;
                context.lines_before = found.lines_before;
            }
        }
        (None, Some(found)) if found.runtime != stored.runtime => {
            begin.runtime = found.runtime;
            context.runtime_from = RuntimeFrom::FirstLines;
            context.output_on = found.output_on;
            context.lines_before = found.lines_before;
        }
        (None, _) => return Ok(begin),
    }
    begin.context = with_decision(&stored.context, &context);
    Ok(begin)
}

fn compare(
    store: &mut Store,
    begin: &BeginRun,
    exit: &Exit,
) -> Result<RenormalizedRun, RecordError> {
    let mut known = StoredCounts::new(store, &begin.run_id)?;
    let mut report = RenormalizedRun {
        run_id: begin.run_id.clone(),
        runtime: begin.runtime.clone(),
        same: 0,
        changed: 0,
        added: 0,
        removed: 0,
    };
    let mut normalizer = normalizer(begin)?;
    let mut count = |store: &mut Store, records: Vec<Record>, _| {
        let (same, changed) = known.compare(store, &records)?;
        report.same += same;
        report.changed += changed;
        report.added += records.len() as u64 - same - changed;
        Ok(())
    };
    read_tape(store, &begin.run_id, &mut normalizer, &mut count)?;
    count(store, normalizer.finish(exit).records, 0)?;
    report.removed = known.missing();
    Ok(report)
}
