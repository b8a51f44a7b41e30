//! Job trees into the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use runtape_core::report::{TreeFault, TreeOutcome, TreeRun};
use runtape_core::{Checkpoint, Record, RecordKind, RunId};
use runtape_normalizer::redact::RuleSet;
use runtape_store::Store;

use super::error::PerstackError;
use super::findings::{Findings, find_jobs};
use super::reader::{CheckFile, CheckpointFile, JobReader, RunFiles};
use super::rebuild::{NewIds, Rebuilder};
use crate::imported::{Comparison, StoredAlready, known_records, store_records};
use crate::redaction::redact_records;

/// What an import found and did.
#[derive(Debug, Default)]
pub struct Imported {
    /// The root runs, in the order of their jobs.
    pub runs: Vec<TreeRun>,
    /// The files that are not as they should be. What was in them is missing in the store.
    pub faults: Vec<TreeFault>,
    /// Files that are no part of a job tree.
    pub ignored: Vec<PathBuf>,
}

/// Reads the job trees below a directory and stores their runs. `check` says what is wrong with a
/// file besides what reading finds; `now` is in milliseconds since 1970. Secrets that the rules find are not stored.
///
/// A run that is there already is left as it is, so that importing again changes nothing.
pub fn import_trees(
    store: &mut Store,
    directory: &Path,
    check: CheckFile,
    rules: &RuleSet,
    now: i64,
) -> Result<Imported, PerstackError> {
    let mut findings = Findings::default();
    let mut runs = Vec::new();
    for (job, path) in find_jobs(directory, &mut findings)? {
        let mut reader = JobReader::open(job, &path, check, &mut findings);
        for tree in family_trees(&reader, &mut findings) {
            runs.extend(import_tree(
                store,
                &mut reader,
                &tree,
                &mut findings,
                rules,
                now,
            )?);
        }
    }
    // Found while several passes went over the files.
    findings.faults.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Imported {
        runs,
        faults: findings.faults,
        ignored: findings.ignored,
    })
}

/// Returns the root runs of a job in order, each with its children, parents first.
fn family_trees(reader: &JobReader, findings: &mut Findings) -> Vec<Vec<RunId>> {
    let mut order: Vec<&RunId> = reader.runs.keys().collect();
    order.sort_by_key(|run| reader.runs.get(*run).map(RunFiles::order));
    let mut children: BTreeMap<&RunId, Vec<&RunId>> = BTreeMap::new();
    let mut roots = Vec::new();
    for run in order {
        let parent = reader.runs.get(run).and_then(|files| files.parent.as_ref());
        match parent.filter(|parent| reader.runs.contains_key(*parent)) {
            Some(parent) => children.entry(parent).or_default().push(run),
            None => roots.push(run),
        }
    }
    let mut seen = BTreeSet::new();
    let mut trees = Vec::new();
    for root in roots {
        let mut tree = Vec::new();
        let mut waiting = vec![root];
        while let Some(run) = waiting.pop() {
            tree.push(run.clone());
            seen.insert(run);
            let called = children.get(run).into_iter().flatten().copied();
            waiting.extend(called.rev());
        }
        trees.push(tree);
    }
    for (run, files) in &reader.runs {
        if !seen.contains(run) {
            findings.fault(
                &files.directory,
                "the runs that called it were called by it",
            );
        }
    }
    trees
}

/// Stores one root run with its children; `None` if there is nothing of it to store.
fn import_tree(
    store: &mut Store,
    reader: &mut JobReader,
    tree: &[RunId],
    findings: &mut Findings,
    rules: &RuleSet,
    now: i64,
) -> Result<Option<TreeRun>, PerstackError> {
    let mut ids = NewIds::new();
    let mut records = Vec::new();
    let mut stored_runs = 0;
    for run in tree {
        if let Some(rebuilt) = rebuild(reader, run, &mut ids, findings) {
            stored_runs += 1;
            records.extend(rebuilt);
        } else if records.is_empty() {
            // Without the root run its children have no place.
            for child in tree.iter().skip(1).filter_map(|run| reader.runs.get(run)) {
                let fault = "the run that called it could not be read";
                findings.fault(&child.directory, fault);
            }
            return Ok(None);
        }
    }
    let Some(Record {
        run_id,
        kind: RecordKind::Run(_),
        ..
    }) = records.first()
    else {
        return Ok(None);
    };
    let mut imported = TreeRun {
        job_id: reader.id.clone(),
        run_id: run_id.clone(),
        outcome: TreeOutcome::Stored,
        vintage: reader.vintage(),
        children: stored_runs - 1,
    };
    // What is stored may be from before secrets were taken out.
    let known = known_records(store, &records, Comparison::Essence)?;
    let (records, redaction) = redact_records(records, rules)?;
    let known = match known {
        StoredAlready::Other => known_records(store, &records, Comparison::Essence)?,
        known => known,
    };
    match known {
        StoredAlready::No => drop(store_records(store, &records, &redaction, now)?),
        StoredAlready::Same => imported.outcome = TreeOutcome::Skipped,
        StoredAlready::Other => imported.outcome = TreeOutcome::Differs,
    }
    Ok(Some(imported))
}

/// Makes the records of a run, reading its checkpoints one at a time.
fn rebuild(
    reader: &mut JobReader,
    run: &RunId,
    ids: &mut NewIds,
    findings: &mut Findings,
) -> Option<Vec<Record>> {
    let files = reader.runs.get(run)?;
    let (source, directory) = (files.source.clone(), files.directory.clone());
    let mut checkpoints = files.checkpoints.clone().into_iter();
    let first = checkpoints.find_map(|file| {
        let checkpoint = reader.checkpoint(run, &file, findings)?;
        Some((file, checkpoint))
    });
    let is_known = source.facts.beginning.is_some() || source.setting.model.is_some();
    if first.is_none() && !is_known {
        findings.fault(&directory, "no file of this run can be read");
        return None;
    }
    let times = first
        .as_ref()
        .map(|(file, _)| file.times())
        .unwrap_or_default();
    let state = first.as_ref().map(|(_, checkpoint)| checkpoint);
    let job = reader.id.clone();
    let opened = Rebuilder::open((&job, run), &source, state, times, ids);
    let mut rebuilder = match opened {
        Ok(rebuilder) => rebuilder,
        Err(fault) => {
            findings.fault(&directory, fault);
            return None;
        }
    };
    let mut take = |file: &CheckpointFile, checkpoint: &Checkpoint, findings: &mut Findings| {
        if let Err(fault) = rebuilder.checkpoint(checkpoint, file.times(), ids) {
            findings.fault(&file.path, fault);
        }
    };
    if let Some((file, checkpoint)) = &first {
        take(file, checkpoint, findings);
    }
    for file in checkpoints {
        if let Some(checkpoint) = reader.checkpoint(run, &file, findings) {
            take(&file, &checkpoint, findings);
        }
    }
    Some(rebuilder.finish())
}
