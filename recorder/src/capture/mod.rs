//! Output of processes that have ended: stored many at a time.

pub(crate) mod pipeline;

use std::sync::Arc;

use runtape_core::report::AppliedRules;
use runtape_core::{Runtime, Stream};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit, Kept, Normalizer, Output};
use runtape_store::{PreparedRun, SealName, Store, StoreError};

use self::pipeline::{usual_threads, work_in_order};
use crate::context_and_exit::{begin_at, begin_run, exit_to_json};
use crate::error::RecordError;
use crate::kept_tape::KeptTape;
use crate::redaction::{begin_redaction_by, rules_in_force};

/// How much output one transaction holds.
const BATCH_BYTES: u64 = 256 * 1024;
/// How much output is handed from thread to thread at once: waking one for each short run would
/// take longer than storing it.
const PARCEL_BYTES: usize = 128 * 1024;
/// What something found takes besides its output.
const OVERHEAD_BYTES: usize = 256;
/// How much output may be prepared and not be written yet: what comes in while the store waits for
/// the disk.
const AHEAD_BYTES: usize = 4 << 20;

/// What a process that has ended printed, all of it in memory. For long output there is
/// [`Recorder`](crate::Recorder), which needs to hold only a part of it.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The runtime.
    pub runtime: Runtime,
    /// What is known of the run.
    pub context: Context,
    /// When it began, in milliseconds since 1970.
    pub started_at: i64,
    /// What was printed: stream, receive time and bytes, in the order it was received.
    pub output: Vec<(Stream, i64, Vec<u8>)>,
    /// How the process ended.
    pub exit: Exit,
}

impl Capture {
    /// Takes the secrets out of the output, normalizes it, and does all that storing it takes besides writing.
    fn prepare(
        &self,
        rules: &Arc<RuleSet>,
        applied: &AppliedRules,
    ) -> Result<PreparedRun, RecordError> {
        let (mut redactor, context) =
            begin_redaction_by(rules, applied, &self.runtime, &self.context);
        let begin = begin_run(&context, self.runtime.clone(), self.started_at);
        let mut normalizer = Normalizer::new(self.runtime.clone(), context)?;
        begin_at(&mut normalizer, self.started_at);
        let mut output = Output::default();
        let mut tape = KeptTape::default();
        let mut keep = |stream, kept: Kept<'_>, at| {
            normalizer.push_into(stream, kept, at, &mut output);
            tape.push(stream, kept, at);
        };
        for (stream, received_at, bytes) in self.pieces() {
            redactor.push(stream, bytes, received_at, &mut keep);
        }
        redactor.finish(&mut keep);
        let mut exit = self.exit.clone();
        exit.redacted.add(redactor.counts());
        normalizer.finish_into(&exit, &mut output);
        let run = PreparedRun::new(&begin, &output.records, &exit_to_json(&exit))?;
        let chunks = tape.take();
        let pieces = chunks.iter();
        Ok(run.with_output(
            pieces.map(|chunk| (chunk.stream, chunk.received_at, chunk.bytes.as_slice())),
        ))
    }

    /// Returns how many bytes were printed.
    fn length(&self) -> usize {
        self.output.iter().map(|(.., bytes)| bytes.len()).sum()
    }

    fn pieces(&self) -> impl Iterator<Item = (Stream, i64, &[u8])> {
        let pieces = self.output.iter().filter(|(.., bytes)| !bytes.is_empty());
        pieces.map(|(stream, at, bytes)| (*stream, *at, bytes.as_slice()))
    }
}

/// Something that becomes a run, or was found not to; `T` says what it is.
pub type FoundCapture<T> = (T, Option<Capture>);

/// What became of a capture: the name of its seal.
pub type Stored = Option<Result<SealName, RecordError>>;

type ReadyRun<T> = (T, Option<Result<PreparedRun, RecordError>>);

/// Puts together what is handed from thread to thread at once, with its weight.
fn parcels<T>(
    mut found: impl Iterator<Item = FoundCapture<T>>,
) -> impl Iterator<Item = (Vec<FoundCapture<T>>, usize)> {
    std::iter::from_fn(move || {
        let mut parcel = Vec::new();
        let mut bytes = 0;
        while bytes < PARCEL_BYTES
            && let Some((what, capture)) = found.next()
        {
            bytes += OVERHEAD_BYTES + capture.as_ref().map_or(0, Capture::length);
            parcel.push((what, capture));
        }
        (!parcel.is_empty()).then_some((parcel, bytes))
    })
}

fn prepare_parcel<T>(
    parcel: Vec<FoundCapture<T>>,
    rules: &Arc<RuleSet>,
    applied: &AppliedRules,
) -> Vec<ReadyRun<T>> {
    let prepare = |capture: Capture| capture.prepare(rules, applied);
    let parcel = parcel.into_iter();
    let ready = parcel.map(|(what, capture)| (what, capture.map(prepare)));
    ready.collect()
}

/// Stores captures in transactions of 256 KiB. As many threads as there are cores normalize, hash and
/// compress them, without the secrets that the rules find; this one writes.
///
/// `each` is told what became of everything, in order, once it is written; `clock` gives the time
/// for a seal, in milliseconds since 1970. A fault of one run is that run's; a store that cannot be
/// written ends it all.
pub fn store_captures<T: Send, E: From<RecordError>>(
    store: &mut Store,
    found: impl Iterator<Item = FoundCapture<T>> + Send,
    rules: &Arc<RuleSet>,
    clock: impl Fn() -> i64,
    mut each: impl FnMut(&Store, T, Stored) -> Result<(), E>,
) -> Result<(), E> {
    store_capture_batches(store, found, rules, clock, |store, batch| {
        let mut batch = batch.into_iter();
        batch.try_for_each(|(what, stored)| each(store, what, stored))
    })
}

/// Does the same, and tells what became of all that one transaction held at once: who asks the store about it then need
/// not ask for each by itself.
pub fn store_capture_batches<T: Send, E: From<RecordError>>(
    store: &mut Store,
    found: impl Iterator<Item = FoundCapture<T>> + Send,
    rules: &Arc<RuleSet>,
    clock: impl Fn() -> i64,
    mut each: impl FnMut(&Store, Vec<(T, Stored)>) -> Result<(), E>,
) -> Result<(), E> {
    let threads = usual_threads();
    // Room for each thread to begin a parcel while another one of its waits.
    let most_bytes = AHEAD_BYTES.max(2 * threads * PARCEL_BYTES);
    let jobs = parcels(found);
    let applied = rules_in_force(rules);
    let prepare = |parcel| prepare_parcel(parcel, rules, &applied);
    work_in_order(threads, most_bytes, jobs, prepare, |results| {
        let mut ready = results.flatten().peekable();
        while ready.peek().is_some() {
            let batch = next_batch(&mut ready);
            let written = write(store, batch, clock());
            each(store, written.map_err(RecordError::from)?)?;
        }
        Ok(())
    })
}

/// Takes what is ready, until a transaction is full.
fn next_batch<T>(ready: &mut impl Iterator<Item = ReadyRun<T>>) -> Vec<ReadyRun<T>> {
    let mut bytes = 0;
    let mut batch = Vec::new();
    for next in ready {
        if let (_, Some(Ok(run))) = &next {
            bytes += run.tape_bytes();
        }
        batch.push(next);
        if bytes >= BATCH_BYTES {
            break;
        }
    }
    batch
}

fn write<T>(
    store: &mut Store,
    batch: Vec<ReadyRun<T>>,
    now: i64,
) -> Result<Vec<(T, Stored)>, StoreError> {
    let mut runs = Vec::with_capacity(batch.len());
    let mut rest = Vec::with_capacity(batch.len());
    for (what, prepared) in batch {
        let prepared = prepared.map(|prepared| prepared.map(|run| runs.push(run)));
        rest.push((what, prepared));
    }
    let mut seals = store.put_runs(runs, now)?.into_iter();
    let written = rest.into_iter().map(|(what, prepared)| {
        let stored = match prepared {
            None => None,
            Some(Err(fault)) => Some(Err(fault)),
            Some(Ok(())) => seals.next().map(|seal| seal.map_err(RecordError::from)),
        };
        (what, stored)
    });
    Ok(written.collect())
}
