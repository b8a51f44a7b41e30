//! Runs from one store to another, a file or a server each: `push` and `pull`.
//!
//! Runs are copied as they are, with what proves them, and sealed anew; one that has secrets is written without them. Each
//! is there as a whole or not at all, and what is there is not copied again: so whoever is interrupted begins again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use runtape_core::RunId;
use runtape_normalizer::redact::RuleSet;
use runtape_store::{BeginRun, Import, Store, StoreError};

use crate::error::RecordError;
use crate::likeness::is_same_execution;
use crate::redaction::filter_begin;
use crate::stored_redaction::{in_batch, secrets_in, write_filtered};

/// How long one transaction may take: others who write wait meanwhile.
const BATCH_TIME: Duration = Duration::from_millis(500);
/// The most runs of one transaction.
const BATCH_RUNS: usize = 64;

/// How often a transaction is tried again that may go well another time.
const TRIES: u32 = 5;
/// How long to wait before the first of these times.
const PAUSE: Duration = Duration::from_millis(100);

/// What became of a root run on its way to another store.
#[derive(Debug)]
pub enum Transferred {
    /// It is there now.
    Stored,
    /// It was there already.
    Known,
    /// It was there already, recorded under another key, by other rules, or on another machine. Both are as they were.
    RecordedDifferently,
    /// It has not ended: it goes when it has.
    Open,
    /// Another run is there under its id, or the id of a child of it. Both are as they were.
    Conflict,
    /// It could not be copied.
    Failed(RecordError),
}

/// Copies root runs from one store to another. `each` is told what became of each, once that is certain; `clock` gives the
/// time in milliseconds since 1970.
///
/// An error is one of a store as a whole. What `each` was told of is done then, and calling this again goes on.
pub fn transfer(
    source: &Store,
    target: &mut Store,
    roots: &[RunId],
    rules: &Arc<RuleSet>,
    clock: impl Fn() -> i64,
    mut each: impl FnMut(&RunId, Transferred),
) -> Result<(), RecordError> {
    let mut rest = roots;
    let mut failures = 0;
    while !rest.is_empty() {
        let (done, outcomes) = match batch(source, target, rest, rules, &clock) {
            // A server may be away for a moment, or others in the way.
            Err(error) if may_pass(&error) && failures < TRIES => {
                failures += 1;
                std::thread::sleep(PAUSE * failures);
                continue;
            }
            result => result?,
        };
        failures = 0;
        let (now, after) = rest.split_at(done);
        for (root, outcome) in now.iter().zip(outcomes) {
            each(root, outcome);
        }
        rest = after;
    }
    Ok(())
}

/// Copies the first of some runs in one transaction; returns how many that were, and what became of each.
fn batch(
    source: &Store,
    target: &mut Store,
    roots: &[RunId],
    rules: &Arc<RuleSet>,
    clock: &impl Fn() -> i64,
) -> Result<(usize, Vec<Transferred>), RecordError> {
    let mut outcomes = Vec::new();
    // What needs no writing is told without a transaction.
    for root in roots.iter().take(BATCH_RUNS) {
        match seen(source, target, root)? {
            Some(outcome) => outcomes.push(outcome),
            None => break,
        }
    }
    if !outcomes.is_empty() {
        return Ok((outcomes.len(), outcomes));
    }
    let begun = Instant::now();
    let together = in_batch(target, |target| {
        for root in roots.iter().take(BATCH_RUNS) {
            if !outcomes.is_empty() && begun.elapsed() >= BATCH_TIME {
                break;
            }
            let outcome = match seen(source, target, root)? {
                Some(outcome) => outcome,
                None => copy(source, target, root, rules, clock())?,
            };
            outcomes.push(outcome);
        }
        Ok(())
    });
    match together {
        Ok(()) => Ok((outcomes.len(), outcomes)),
        Err(error) if is_of_store(&error) => Err(error),
        // One of them spoiled it for all: each is written by itself, to see which.
        Err(_) => {
            let some = roots.iter().take(outcomes.len() + 1);
            let alone = some.map(|root| {
                if let Some(outcome) = seen(source, target, root)? {
                    return Ok(outcome);
                }
                let copied = in_batch(target, |target| copy(source, target, root, rules, clock()));
                copied.or_else(failed)
            });
            let outcomes = alone.collect::<Result<Vec<_>, RecordError>>()?;
            Ok((outcomes.len(), outcomes))
        }
    }
}

/// Tells what of a run needs no copying; `None` if it does.
fn seen(source: &Store, target: &Store, root: &RunId) -> Result<Option<Transferred>, RecordError> {
    match target.has_copy(source, root) {
        Ok(true) => Ok(Some(Transferred::Known)),
        Ok(false) => Ok(None),
        Err(StoreError::Unsealed { .. }) => Ok(Some(Transferred::Open)),
        Err(error) => failed(error.into()).map(Some),
    }
}

/// Tells of a run that could not be copied; passes on what is wrong with a store as a whole.
fn failed(error: RecordError) -> Result<Transferred, RecordError> {
    match error {
        RecordError::Store(StoreError::Conflict { .. }) => Ok(Transferred::Conflict),
        error if is_of_store(&error) => Err(error),
        error => Ok(Transferred::Failed(error)),
    }
}

/// Tells whether the same may succeed in a moment.
fn may_pass(error: &RecordError) -> bool {
    matches!(error, RecordError::Store(error) if error.may_pass())
}

/// Tells whether an error has nothing to do with the run at hand: the next one would meet it, too.
fn is_of_store(error: &RecordError) -> bool {
    matches!(
        error,
        RecordError::Store(
            StoreError::Database { .. }
                | StoreError::File { .. }
                | StoreError::Gone { .. }
                | StoreError::NotWritable { .. }
        )
    )
}

/// Copies a run, without its secrets if it has any. After an error the transaction must not be kept.
fn copy(
    source: &Store,
    target: &mut Store,
    root: &RunId,
    rules: &Arc<RuleSet>,
    now: i64,
) -> Result<Transferred, RecordError> {
    let counts = secrets_in(source, root, rules)?;
    if counts.total() == 0 {
        return match target.copy_run(source, root, now) {
            Ok(Import::Stored) => Ok(Transferred::Stored),
            Ok(Import::Known) => Ok(Transferred::Known),
            Ok(Import::RecordedDifferently) => Ok(Transferred::RecordedDifferently),
            // Nothing was written: whatever failed in the middle has spoiled the transaction.
            Err(error) => known_or_failed(source, target, root, error),
        };
    }
    let begin = match target.begin_of_copy(source, root, now) {
        Ok(Some(begin)) => begin,
        Ok(None) => return Ok(Transferred::Known),
        Err(error) => return known_or_failed(source, target, root, error),
    };
    let context = filter_begin(rules, &begin, &mut counts.clone());
    let filtered = BeginRun { context, ..begin };
    write_filtered(source, target, &filtered, &counts, rules, now)?;
    Ok(Transferred::Stored)
}

/// Tells a run that is there in another recording from one that is in the way.
fn known_or_failed(
    source: &Store,
    target: &Store,
    root: &RunId,
    error: StoreError,
) -> Result<Transferred, RecordError> {
    let is_conflict = matches!(error, StoreError::Conflict { .. });
    if is_conflict && is_same_execution(source, target, root)? {
        return Ok(Transferred::RecordedDifferently);
    }
    failed(error.into())
}
