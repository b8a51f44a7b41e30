//! Files that fit into memory: many of them in one transaction.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use runtape_core::{RunId, Stream};
use runtape_normalizer::redact::RuleSet;
use runtape_recorder::{Capture, RecordError, store_capture_batches};
use runtape_store::{Store, StoreError};

use super::report::FileOutcome;
use super::source::CaptureSource;
use super::{Begun, IngestArgs, begin, unusable};
use crate::arguments::input::Input;
use crate::error::CliError;
use crate::terminal::times;

/// How many sources are looked at before the database is asked whether it has them.
const ASKED_AT_ONCE: usize = 64;

/// A source that was looked at.
type Beginning = Result<Result<Begun, FileOutcome>, CliError>;

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
    args: &'a IngestArgs,
    rules: &Arc<RuleSet>,
    store: &mut Store,
    known: Store,
    sources: &'a [CaptureSource],
    mut done: impl FnMut(&CaptureSource, FileOutcome) -> Result<(), CliError>,
) -> Result<Vec<&'a CaptureSource>, CliError> {
    let mut unfinished = Vec::new();
    let found = ShortSources {
        args,
        known,
        rest: sources,
        begun: VecDeque::new(),
        stored: HashSet::new(),
        met: HashSet::new(),
    };
    store_capture_batches(store, found, rules, times::now, |store, batch| {
        let runs = batch.iter().filter_map(|(source, written)| match source {
            (_, Note::Run(run)) if matches!(written, Some(Ok(_))) => Some(run.clone()),
            _ => None,
        });
        let runs: Vec<RunId> = runs.collect();
        let mut trees = store.trees(&runs)?.into_iter();
        for ((source, note), written) in batch {
            let outcome = match (note, written) {
                (Note::Done(outcome), _) => outcome,
                (Note::Failed(error), _) => unusable(source, error)?,
                (Note::Run(_), Some(Err(RecordError::Store(StoreError::Conflict { .. })))) => {
                    unfinished.push(source);
                    continue;
                }
                (Note::Run(_), Some(Err(error))) => unusable(source, error.into())?,
                (Note::Run(_), _) => FileOutcome::Stored {
                    path: source.name(),
                    tree: trees.next().unwrap_or_default(),
                },
            };
            done(source, outcome)?;
        }
        Ok::<(), CliError>(())
    })?;
    Ok(unfinished)
}

/// Sources on their way to be stored.
struct ShortSources<'a> {
    args: &'a IngestArgs,
    known: Store,
    /// The first of them were not looked at yet.
    rest: &'a [CaptureSource],
    /// These were, and the database was asked which of their runs it has.
    begun: VecDeque<(&'a CaptureSource, Beginning)>,
    stored: HashSet<RunId>,
    met: HashSet<RunId>,
}

impl ShortSources<'_> {
    /// Looks at some more sources, and asks for all of their runs at once.
    fn begin_some(&mut self) -> Result<(), CliError> {
        let (some, rest) = self.rest.split_at(self.rest.len().min(ASKED_AT_ONCE));
        self.rest = rest;
        let begun = some.iter().map(|source| (source, begin(self.args, source)));
        self.begun = begun.collect();
        let runs = self.begun.iter().filter_map(|(_, begun)| {
            let begun = begun.as_ref().ok()?.as_ref().ok()?;
            Some(begun.context.run_id.clone())
        });
        let runs: Vec<RunId> = runs.collect();
        self.stored = self.known.sealed_among(&runs)?;
        Ok(())
    }

    /// Reads all of a source, unless it is unusable or known.
    fn read(&mut self, source: &CaptureSource, begun: Beginning) -> (Note, Option<Capture>) {
        let begun = match begun {
            Ok(Ok(begun)) => begun,
            Ok(Err(outcome)) => return (Note::Done(outcome), None),
            Err(error) => return (Note::Failed(error), None),
        };
        let run_id = begun.context.run_id.clone();
        if self.stored.contains(&run_id) || !self.met.insert(run_id.clone()) {
            let path = source.name();
            return (Note::Done(FileOutcome::Skipped { path, run_id }), None);
        }
        match read(source, begun) {
            Ok(capture) => (Note::Run(run_id), Some(capture)),
            Err(error) => (Note::Failed(error), None),
        }
    }
}

impl<'a> Iterator for ShortSources<'a> {
    type Item = ((&'a CaptureSource, Note), Option<Capture>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.begun.is_empty()
            && let Some(first) = self.rest.first()
            && let Err(error) = self.begin_some()
        {
            // Without an answer nothing is stored any more.
            self.begun.clear();
            self.rest = &[];
            return Some(((first, Note::Failed(error)), None));
        }
        let (source, begun) = self.begun.pop_front()?;
        let (note, capture) = self.read(source, begun);
        Some(((source, note), capture))
    }
}

/// Reads all of a source.
fn read(source: &CaptureSource, begun: Begun) -> Result<Capture, CliError> {
    let Begun {
        runtime,
        context,
        exit,
        mut input,
        first,
    } = begun;
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
    Ok(Capture {
        runtime,
        context,
        started_at,
        output,
        exit,
    })
}
