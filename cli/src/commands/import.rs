//! `runtape import`: what `export` wrote, read back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use runtape_core::report::{ImportedRun, IngestOutcome};
use runtape_core::{Record, RecordKind, RunId};
use runtape_store::{BeginRun, Options, RunFilter, Store, StoreError};
use serde_json::{Value, json};

use crate::commands::Session;
use crate::error::CliError;
use crate::table::plural;
use crate::times;

/// How every database file begins.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Read back what export wrote: bundles, or JSON lines of records
///
/// Runs that are there already are left as they are. Without a tape, records of JSON lines lose
/// their places on it.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &ImportArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let mut store = session.database.open()?;
    let (mut stored, mut known) = (0, 0);
    for path in &args.files {
        let failed = |error| CliError::Read {
            path: path.clone(),
            error,
        };
        let mut first = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(DATABASE.len() as u64)
            .read_to_end(&mut first)
            .map_err(failed)?;
        let outcomes = if first == DATABASE {
            bundle(&mut store, path)?
        } else {
            lines(&mut store, path)?
        };
        for (run, is_new) in outcomes {
            stored += usize::from(is_new);
            known += usize::from(!is_new);
            if session.console.json {
                session.console.object(&ImportedRun {
                    path: path.display().to_string(),
                    run_id: run,
                    outcome: if is_new {
                        IngestOutcome::Stored
                    } else {
                        IngestOutcome::Skipped
                    },
                })?;
            }
        }
    }
    session.note(&format!(
        "{} stored, {known} known already",
        plural(stored, "run")
    ));
    if stored + known == 0 {
        return Err(CliError::NothingFound);
    }
    Ok(())
}

fn is_known(store: &Store, run: &RunId) -> Result<bool, CliError> {
    match store.run(run) {
        Ok(run) => Ok(run.seal.is_some()),
        Err(StoreError::UnknownRun { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Takes over the runs of a bundle, tapes included.
fn bundle(store: &mut Store, path: &Path) -> Result<Vec<(RunId, bool)>, CliError> {
    let source = Store::open(path, &Options::read_only())?;
    let mut filter = RunFilter::default();
    filter.roots_only = true;
    let mut runs = source.runs(&filter, None, u32::MAX as usize)?.items;
    // Oldest first, as they came.
    runs.reverse();
    let mut outcomes = Vec::new();
    for run in runs {
        let id = run.run_id;
        let is_new = !is_known(store, &id)?;
        if is_new {
            store.begin_run(&source.begin_of(&id)?)?;
            let mut chunks = Vec::new();
            source.each_tape_chunk(&id, |chunk| {
                chunks.push(chunk);
                true
            })?;
            store.append(&id, &source.tree_records(&id)?, &chunks)?;
            let exit = source.exit(&id)?.unwrap_or(Value::Null);
            store.finish_run(&id, &exit, times::now())?;
        }
        outcomes.push((id, is_new));
    }
    Ok(outcomes)
}

/// Takes over runs from JSON lines of records.
fn lines(store: &mut Store, path: &Path) -> Result<Vec<(RunId, bool)>, CliError> {
    let failed = |error| CliError::Read {
        path: path.to_owned(),
        error,
    };
    // The records of each tree, in the order of the lines; a child belongs to its parent's tree.
    let mut roots: BTreeMap<RunId, RunId> = BTreeMap::new();
    let mut trees: Vec<(RunId, Vec<Record>)> = Vec::new();
    for (index, line) in BufReader::new(File::open(path).map_err(failed)?)
        .lines()
        .enumerate()
    {
        let line = line.map_err(failed)?;
        if line.trim().is_empty() {
            continue;
        }
        let mut record: Record =
            serde_json::from_str(&line).map_err(|error| CliError::BadLine {
                path: path.to_owned(),
                line: index + 1,
                error,
            })?;
        record.span = None;
        if let RecordKind::Run(opened) = &record.kind {
            let parent = opened.delegated_by.as_ref().map(|by| by.run_id.clone());
            let root = parent.and_then(|parent| roots.get(&parent).cloned());
            let root = root.unwrap_or_else(|| record.run_id.clone());
            if root == record.run_id {
                trees.push((root.clone(), Vec::new()));
            }
            roots.insert(record.run_id.clone(), root);
        }
        let root = roots.get(&record.run_id);
        let tree = trees.iter_mut().rev().find(|(id, _)| Some(id) == root);
        let Some((_, records)) = tree else {
            let what = format!("the first record of run {}", record.run_id);
            return Err(CliError::NotFound { what });
        };
        records.push(record);
    }
    let mut outcomes = Vec::new();
    for (id, records) in trees {
        let is_new = !is_known(store, &id)?;
        if let Some(Record {
            at,
            kind: RecordKind::Run(opened),
            ..
        }) = records.first()
            && is_new
        {
            store.begin_run(&BeginRun {
                job_id: opened.job_id.clone(),
                run_id: id.clone(),
                runtime: opened.runtime.clone(),
                started_at: *at,
                context: Value::Null,
            })?;
            store.append(&id, &records, &[])?;
            store.finish_run(&id, &json!({}), times::now())?;
        }
        outcomes.push((id, is_new));
    }
    Ok(outcomes)
}
