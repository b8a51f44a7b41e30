//! Runs whose runtime nobody told, until their first lines do.
//!
//! An undecided run is stored as a generic one without records, and its context says that it is undecided; its tape is
//! written as it comes. So nothing is lost if its recorder dies: whoever closes the run looks at the same lines on
//! the tape.

use runtape_core::{Record, Runtime, Stream};
use runtape_normalizer::{Context, FirstLines, RuntimeFrom};
use runtape_store::{BeginRun, Store, StoreError, TapeChunk};
use serde_json::Value;

use crate::context_and_exit::{context_from_json, context_to_json};
use crate::recover::beyond;

/// What is held while the first lines have not decided the runtime.
#[derive(Default)]
pub(crate) struct Undecided {
    pub(crate) lines: FirstLines,
    /// The filtered output so far, to be read again by the parser of the runtime that is found.
    pub(crate) kept: Vec<(Stream, Vec<u8>, i64)>,
    /// The records of a generic run, in case none is found.
    pub(crate) records: Vec<Record>,
}

/// What the first lines told.
#[derive(Clone, Debug)]
pub struct DecidedRuntime {
    /// The runtime; [generic](Runtime::Generic) if they told none.
    pub runtime: Runtime,
    /// What is known of the run with that.
    pub context: Context,
}

/// Tells whether the runtime of a run is still to be decided.
pub(crate) fn is_undecided(begin: &BeginRun) -> bool {
    undecided_context(begin).is_some()
}

/// Returns the context of a run, if its runtime is still to be decided.
fn undecided_context(begin: &BeginRun) -> Option<Context> {
    let (job, run) = (begin.job_id.clone(), begin.run_id.clone());
    let context = context_from_json(job, run, &begin.context);
    (context.runtime_from == RuntimeFrom::Undecided).then_some(context)
}

/// Returns what a run begins with once its first lines have decided its runtime: those on its tape, and those in
/// `rest`, which is called until it has no more. A run whose runtime is known is returned as it is.
pub(crate) fn decide_by_tape<E: From<StoreError>>(
    store: &Store,
    begin: &BeginRun,
    mut rest: impl FnMut() -> Result<Option<TapeChunk>, E>,
) -> Result<BeginRun, E> {
    let mut decided = begin.clone();
    let Some(mut context) = undecided_context(begin) else {
        return Ok(decided);
    };
    let mut lines = FirstLines::default();
    let mut found = None;
    store.each_tape_chunk(&begin.run_id, |chunk| {
        found = lines.push(chunk.stream, &chunk.bytes, chunk.received_at);
        found.is_none()
    })?;
    let lengths = store.tape_lengths(&begin.run_id)?;
    while found.is_none()
        && let Some(chunk) = rest()?
    {
        if let Some(chunk) = beyond(chunk, lengths) {
            found = lines.push(chunk.stream, &chunk.bytes, chunk.received_at);
        }
    }
    context.runtime_from = RuntimeFrom::FirstLines;
    if let Some(found) = found.unwrap_or_else(|| lines.finish()) {
        decided.runtime = found.runtime;
        context.output_on = found.output_on;
        context.lines_before = found.lines_before;
    }
    decided.context = with_decision(&begin.context, &context);
    Ok(decided)
}

/// Writes what was decided of an unsealed run that this store has open, unless that is what the store has.
pub(crate) fn write_decision(store: &mut Store, decided: &BeginRun) -> Result<(), StoreError> {
    let stored = store.begin_of(&decided.run_id)?;
    if stored.runtime != decided.runtime || stored.context != decided.context {
        // They were made as another runtime's.
        store.discard_records(&decided.run_id)?;
        store.decide_runtime(&decided.run_id, &decided.runtime, &decided.context)?;
    }
    Ok(())
}

/// Tells whether two beginnings are of one run, of which one was written before the first lines decided.
pub(crate) fn differ_by_decision(one: &BeginRun, other: &BeginRun) -> bool {
    let bare = |begin: &BeginRun| {
        let mut context = begin.context.clone();
        if let Some(context) = context.as_object_mut() {
            for key in DECIDED_KEYS {
                context.remove(key);
            }
        }
        context
    };
    let is_guessed = |begin: &BeginRun| begin.context.get("runtimeFrom").is_some();
    one.job_id == other.job_id
        && is_guessed(one)
        && is_guessed(other)
        && (one.runtime != other.runtime || one.context != other.context)
        && bare(one) == bare(other)
}

/// The keys of a kept context that a decision changes.
const DECIDED_KEYS: [&str; 3] = ["runtimeFrom", "outputOn", "linesBefore"];

/// Returns a kept context with what was decided; what only the store or a sync put there stays.
pub(crate) fn with_decision(kept: &Value, context: &Context) -> Value {
    let mut new = context_to_json(context);
    if let (Some(new), Some(kept)) = (new.as_object_mut(), kept.as_object()) {
        for (key, value) in kept {
            if !DECIDED_KEYS.contains(&key.as_str()) {
                new.entry(key.as_str()).or_insert_with(|| value.clone());
            }
        }
    }
    new
}
