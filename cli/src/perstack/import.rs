//! Job trees into the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use runtape_core::report::{TreeFault, TreeOutcome, TreeRun};
use runtape_core::{Checkpoint, CheckpointStatus, Message, Record, RecordKind, RunId};
use runtape_store::{Store, StoreError};

use super::error::PerstackError;
use super::findings::{Findings, find_jobs};
use super::reader::{CheckpointFile, JobReader, RunFiles};
use super::rebuild::{NewIds, Rebuilder};
use crate::imported::store_records;

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

/// Reads the job trees below a directory and stores their runs. `now` is in milliseconds since
/// 1970.
///
/// A run that is there already is left as it is, so that importing again changes nothing.
pub fn import_trees(
    store: &mut Store,
    directory: &Path,
    now: i64,
) -> Result<Imported, PerstackError> {
    let mut findings = Findings::default();
    let mut runs = Vec::new();
    for (job, path) in find_jobs(directory, &mut findings)? {
        let mut reader = JobReader::open(job, &path, &mut findings);
        for tree in family_trees(&reader, &mut findings) {
            runs.extend(import_tree(store, &mut reader, &tree, &mut findings, now)?);
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
    if let Some(outcome) = known(store, &imported, &records)? {
        imported.outcome = outcome;
        return Ok(Some(imported));
    }
    store_records(store, &records, now)?;
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
    let modified = first.as_ref().map_or(0, |(file, _)| file.modified());
    let state = first.as_ref().map(|(_, checkpoint)| checkpoint);
    let job = reader.id.clone();
    let opened = Rebuilder::open((&job, run), &source, state, modified, ids);
    let mut rebuilder = match opened {
        Ok(rebuilder) => rebuilder,
        Err(fault) => {
            findings.fault(&directory, fault);
            return None;
        }
    };
    let mut take = |file: &CheckpointFile, checkpoint: &Checkpoint, findings: &mut Findings| {
        if let Err(fault) = rebuilder.checkpoint(checkpoint, file.modified(), ids) {
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

/// Tells whether a run, or one of its children, is stored already, and with the same content.
fn known(
    store: &Store,
    run: &TreeRun,
    records: &[Record],
) -> Result<Option<TreeOutcome>, PerstackError> {
    let is_there = |run: &RunId| match store.run(run) {
        Ok(run) => Ok(Some(run)),
        Err(StoreError::UnknownRun { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let Some(stored) = is_there(&run.run_id)? else {
        for record in records.iter().filter(|record| record.seq == 0) {
            if is_there(&record.run_id)?.is_some() {
                return Ok(Some(TreeOutcome::Differs));
            }
        }
        return Ok(None);
    };
    let is_same = stored.seal.is_some()
        && stored.root_run_id.is_none()
        && stored.job_id == run.job_id
        && essence(&store.tree_records(&run.run_id)?) == essence(records);
    Ok(Some(if is_same {
        TreeOutcome::Skipped
    } else {
        TreeOutcome::Differs
    }))
}

/// Returns what makes up a run in either form: what was said, and where each step ended.
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
