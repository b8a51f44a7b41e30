//! Files that fit into memory: many of them in one transaction.

use std::collections::HashSet;
use std::sync::Arc;

use runtape_core::{RunId, Stream};
use runtape_normalizer::redact::RuleSet;
use runtape_recorder::{Capture, RecordError, store_captures};
use runtape_store::{Store, StoreError};

use super::report::FileOutcome;
use super::source::CaptureSource;
use super::{Begun, IngestArgs, begin, stored, unusable};
use crate::arguments::input::Input;
use crate::error::CliError;
use crate::terminal::times;

/// What was found out about a source before it is written.
enum Note {
    Run(RunId),
    Done(FileOutcome),
    Failed(CliError),
}

/// Stores short files. `known` is the same database, to ask while the other one is written.
///
/// Returns those that an earlier ingest left unfinished, which have to be taken up again.
pub(super) fn ingest<'a>(
    args: &IngestArgs,
    rules: &Arc<RuleSet>,
    store: &mut Store,
    known: Store,
    sources: &'a [CaptureSource],
    mut done: impl FnMut(&CaptureSource, FileOutcome) -> Result<(), CliError>,
) -> Result<Vec<&'a CaptureSource>, CliError> {
    let mut unfinished = Vec::new();
    let mut met = HashSet::new();
    let found = sources.iter().map(move |source| {
        let (note, capture) = match read(args, &known, source) {
            Ok(Ok(capture)) => {
                let run_id = capture.context.run_id.clone();
                if met.insert(run_id.clone()) {
                    (Note::Run(run_id), Some(capture))
                } else {
                    let path = source.name();
                    (Note::Done(FileOutcome::Skipped { path, run_id }), None)
                }
            }
            Ok(Err(outcome)) => (Note::Done(outcome), None),
            Err(error) => (Note::Failed(error), None),
        };
        ((source, note), capture)
    });
    store_captures(
        store,
        found,
        rules,
        times::now,
        |store, (source, note), written| {
            let outcome = match (note, written) {
                (Note::Done(outcome), _) => outcome,
                (Note::Failed(error), _) => unusable(source, error)?,
                (Note::Run(_), Some(Err(RecordError::Store(StoreError::Conflict { .. })))) => {
                    unfinished.push(source);
                    return Ok(());
                }
                (Note::Run(_), Some(Err(error))) => unusable(source, error.into())?,
                (Note::Run(run_id), _) => stored(store, source, &run_id)?,
            };
            done(source, outcome)
        },
    )?;
    Ok(unfinished)
}

/// Reads all of a source, unless it is unusable or known.
fn read(
    args: &IngestArgs,
    known: &Store,
    source: &CaptureSource,
) -> Result<Result<Capture, FileOutcome>, CliError> {
    let Begun {
        runtime,
        context,
        exit,
        mut input,
        first,
    } = match begin(args, known, source)? {
        Ok(begun) => begun,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let started_at = input.received_at();
    let mut stdout = first;
    input.read_all(|bytes, _| {
        stdout.extend_from_slice(bytes);
        Ok(())
    })?;
    let mut output = vec![(Stream::Stdout, started_at, stdout)];
    if let Some(path) = &source.stderr {
        let mut input = Input::open(path)?;
        let at = input.received_at();
        let mut stderr = Vec::new();
        input.read_all(|bytes, _| {
            stderr.extend_from_slice(bytes);
            Ok(())
        })?;
        output.push((Stream::Stderr, at, stderr));
    }
    Ok(Ok(Capture {
        runtime,
        context,
        started_at,
        output,
        exit,
    }))
}
