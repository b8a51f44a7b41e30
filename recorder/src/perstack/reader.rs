//! The files of one job: read one at a time, and checked.
//!
//! Names and contents come from elsewhere. Links are not followed, what a file says of itself
//! must fit its name, and what is wrong with a file is reported with its name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use runtape_core::report::TreeVintage;
use runtape_core::{Checkpoint, CheckpointId, JobId, RunEvent, RunEventKind, RunId};
use serde::Deserialize;
use serde_json::Value;

use super::extension::{EventExtension, OURS, StepExtension};
use super::findings::{Findings, TreeEntry};
use super::rebuild::RunNotes;
use super::setting::KnownSetting;
use super::times::{FileTimes, JobTimes};
use super::tree::{
    CHECKPOINTS, EventName, JOB_FILE, MARKER_FILE, RUNS, SETTING_FILE, early_checkpoint,
};
use super::vintage::{Upgrade, is_retired};

/// A file of a job tree whose shape is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeFile {
    /// `job.json`.
    Job,
    /// An event of a run.
    RunEvent,
    /// A checkpoint.
    Checkpoint,
}

/// Says what is wrong with the value of a file. The published schemas are the measure; they are in a
/// crate of their own, since checking against them takes far more code than reading.
pub type CheckFile = fn(TreeFile, &Value) -> Result<(), String>;

/// A checkpoint's file, and what it takes to put it in order.
#[derive(Clone, Debug)]
pub(super) struct CheckpointFile {
    pub(super) path: PathBuf,
    id: CheckpointId,
    number: u64,
}

/// The event that ended a step: it holds the checkpoint, too.
#[derive(Clone, Debug)]
struct Spare {
    event: PathBuf,
    number: u64,
}

impl CheckpointFile {
    /// Returns what the file tells of its time.
    pub(super) fn times(&self) -> FileTimes {
        let name = self.path.file_name().and_then(|name| name.to_str());
        FileTimes {
            named: name.and_then(early_checkpoint).map(|(at, _)| at),
            modified: self.modified(),
        }
    }

    /// Returns when the file was written, in milliseconds since 1970.
    fn modified(&self) -> i64 {
        let modified = fs::metadata(&self.path).and_then(|meta| meta.modified());
        let since = modified
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let millis = since.map_or(0, |since| since.as_millis());
        i64::try_from(millis).unwrap_or_default()
    }
}

/// What is known of a run of a tree before its checkpoints are read in full.
#[derive(Debug, Default)]
pub(super) struct RunFiles {
    /// Its checkpoints in order.
    pub(super) checkpoints: Vec<CheckpointFile>,
    pub(super) source: RunNotes,
    /// The run that called it.
    pub(super) parent: Option<RunId>,
    /// Where checkpoints are found again whose own file is lost.
    spares: HashMap<CheckpointId, Spare>,
    /// Where its settings and events are.
    pub(super) directory: PathBuf,
}

impl RunFiles {
    /// Puts the checkpoints in order, those that have no file of their own included.
    fn complete(&mut self) {
        let own: HashSet<&CheckpointId> = self.checkpoints.iter().map(|file| &file.id).collect();
        let lost = self.spares.iter().filter(|(id, _)| !own.contains(id));
        let lost: Vec<CheckpointFile> = lost
            .map(|(id, spare)| CheckpointFile {
                path: spare.event.clone(),
                id: id.clone(),
                number: spare.number,
            })
            .collect();
        self.checkpoints.extend(lost);
        self.checkpoints
            .sort_by(|a, b| (a.number, &a.path).cmp(&(b.number, &b.path)));
    }

    /// Returns by what a job's runs are put in order: the number of the first step, then time.
    pub(super) fn order(&self) -> (u64, i64) {
        let first = self.checkpoints.first().map(|file| file.number);
        let begun = self.source.facts.beginning.as_ref().map(|begun| begun.at);
        let at = self.source.setting.started_at.or(begun);
        (first.unwrap_or(u64::MAX), at.unwrap_or(i64::MAX))
    }
}

/// A job tree whose files are known, and whose checkpoints can be read one at a time.
#[derive(Debug)]
pub(super) struct JobReader {
    pub(super) id: JobId,
    pub(super) runs: BTreeMap<RunId, RunFiles>,
    times: JobTimes,
    upgrade: Upgrade,
    check: CheckFile,
}

impl JobReader {
    /// Finds the files of a job and reads all but its checkpoints, which are large.
    pub(super) fn open(
        id: JobId,
        directory: &Path,
        check: CheckFile,
        findings: &mut Findings,
    ) -> Self {
        let mut reader = Self {
            id,
            runs: BTreeMap::new(),
            times: JobTimes::default(),
            upgrade: Upgrade::default(),
            check,
        };
        let mut run_directories = Vec::new();
        for entry in findings.list(directory) {
            match (entry.name.as_str(), entry.is_directory) {
                (JOB_FILE, false) => reader.job_file(&entry.path, findings),
                (CHECKPOINTS, true) => reader.checkpoints(&entry.path, findings),
                // Says who wrote the tree, and nothing of its runs.
                (MARKER_FILE, false) => {}
                (RUNS, true) => run_directories = findings.list(&entry.path),
                _ => findings.ignored.push(entry.path),
            }
        }
        let mut found = Vec::new();
        for entry in run_directories {
            match RunId::parse(entry.name.as_str()) {
                _ if !entry.is_directory => findings.ignored.push(entry.path),
                Ok(run) => {
                    let run_files = findings.list(&entry.path);
                    reader.runs.entry(run.clone()).or_default().directory = entry.path;
                    // Which run a checkpoint belongs to must be known before any event is read.
                    found.push((
                        run.clone(),
                        reader.early_checkpoints(&run, run_files, findings),
                    ));
                }
                Err(error) => findings.fault(&entry.path, error.to_string()),
            }
        }
        for (run, entries) in found {
            reader.run_files(&run, entries, findings);
        }
        for (id, run) in &mut reader.runs {
            if run.directory.as_os_str().is_empty() {
                run.directory = directory.join(RUNS).join(id.as_str());
            }
            run.source.job = reader.times;
            run.complete();
        }
        reader
    }

    pub(super) fn vintage(&self) -> TreeVintage {
        self.upgrade.vintage()
    }

    fn job_file(&mut self, path: &Path, findings: &mut Findings) {
        let Some(job) = findings.json(path) else {
            return;
        };
        let fault = (self.check)(TreeFile::Job, &job).err();
        if let Some(fault) = fault.or_else(|| self.is_of_job(&job, "id")) {
            findings.fault(path, fault);
            return;
        }
        let time = |key: &str| job.get(key).and_then(Value::as_i64);
        self.times = JobTimes {
            started_at: time("startedAt"),
            finished_at: time("finishedAt"),
        };
    }

    fn is_of_job(&self, value: &Value, key: &str) -> Option<String> {
        mismatch(value, key, self.id.as_str())
    }

    fn checkpoints(&mut self, directory: &Path, findings: &mut Findings) {
        for entry in findings.list(directory) {
            match entry.name.strip_suffix(".json") {
                Some(id) if !entry.is_directory => self.checkpoint_file(&entry.path, id, findings),
                _ => findings.ignored.push(entry.path),
            }
        }
    }

    /// Reads of a checkpoint where it belongs; whether the rest is valid is seen later.
    fn checkpoint_file(&mut self, path: &Path, id: &str, findings: &mut Findings) {
        let Some(value) = findings.json(path) else {
            return;
        };
        let placed = self.place(&value, id);
        match placed {
            Ok((id, run, number, parent)) => {
                self.upgrade.owners.insert(id.to_string(), run.clone());
                let files = self.runs.entry(run).or_default();
                files.parent = files.parent.take().or(parent);
                files.checkpoints.push(CheckpointFile {
                    path: path.to_owned(),
                    id,
                    number,
                });
            }
            Err(fault) => findings.fault(path, fault),
        }
    }

    /// Returns a checkpoint's id, its run, its number, and the run that called that one.
    fn place(
        &self,
        value: &Value,
        id: &str,
    ) -> Result<(CheckpointId, RunId, u64, Option<RunId>), String> {
        let own = CheckpointId::parse(id).map_err(|error| error.to_string())?;
        let fault = mismatch(value, "id", id).or_else(|| self.is_of_job(value, "jobId"));
        if let Some(fault) = fault {
            return Err(fault);
        }
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        let run = text("/runId").ok_or("/runId: expected string, found none")?;
        let run = RunId::parse(run).map_err(|error| format!("/runId: {error}"))?;
        let number = value.get("stepNumber").and_then(Value::as_u64);
        let number = number.ok_or("/stepNumber: expected a number that counts steps")?;
        let parent = text("/delegatedBy/runId").map(str::to_owned);
        let parent = parent.and_then(|parent| RunId::parse(parent).ok());
        Ok((own, run, number, parent))
    }

    /// Takes the checkpoints out of a run's directory, where they were until 2025-12-09.
    fn early_checkpoints(
        &mut self,
        run: &RunId,
        entries: Vec<TreeEntry>,
        findings: &mut Findings,
    ) -> Vec<TreeEntry> {
        let mut rest = Vec::new();
        for entry in entries {
            match early_checkpoint(&entry.name) {
                Some((_, id)) if !entry.is_directory => {
                    self.checkpoint_file(&entry.path, id, findings);
                    if self
                        .upgrade
                        .owners
                        .get(id)
                        .is_some_and(|owner| owner != run)
                    {
                        findings.fault(&entry.path, "/runId: it is in another run's directory");
                    }
                }
                _ => rest.push(entry),
            }
        }
        rest
    }

    fn run_files(&mut self, run: &RunId, entries: Vec<TreeEntry>, findings: &mut Findings) {
        let mut events = Vec::new();
        for entry in entries {
            match EventName::parse(&entry.name) {
                _ if entry.is_directory => findings.ignored.push(entry.path),
                Some(name) => events.push((name, entry.path)),
                None if entry.name == SETTING_FILE => self.setting(run, &entry.path, findings),
                None if entry.name.starts_with("event-") => {
                    let fault = "its name is not event-<timestamp>-<step>-<type>.json";
                    findings.fault(&entry.path, fault);
                }
                None => findings.ignored.push(entry.path),
            }
        }
        events.sort_by_key(|(name, _)| name.timestamp);
        for (name, path) in events {
            self.event(run, &name, &path, findings);
        }
        // Seen only now: which run called a run that has no checkpoint, or an early one.
        if let Some(files) = self.runs.get_mut(run)
            && files.parent.is_none()
        {
            let begun = files.source.facts.beginning.as_ref();
            let by = begun.and_then(|begun| begun.initial.delegated_by.as_ref());
            files.parent = by.map(|by| by.run_id.clone());
        }
    }

    fn setting(&mut self, run: &RunId, path: &Path, findings: &mut Findings) {
        let Some(value) = findings.json(path) else {
            return;
        };
        self.upgrade.setting(&value);
        match KnownSetting::read(&value, &self.id, run) {
            Ok(setting) => {
                let files = self.runs.entry(run.clone()).or_default();
                files.source.setting = setting;
            }
            Err(fault) => findings.fault(path, fault),
        }
    }

    fn event(&mut self, run: &RunId, name: &EventName, path: &Path, findings: &mut Findings) {
        let Some(value) = findings.json(path) else {
            return;
        };
        match self.parse_event(value, run, name) {
            Ok(Some((event, at))) => {
                let files = self.runs.entry(run.clone()).or_default();
                if let Some(checkpoint) = files.source.facts.push(event, at) {
                    let number = name.step;
                    let event = path.to_owned();
                    files.spares.insert(checkpoint, Spare { event, number });
                }
            }
            Ok(None) => {}
            Err(fault) => findings.fault(path, fault),
        }
    }

    /// Reads an event; `None` for one of a type that was given up.
    fn parse_event(
        &mut self,
        mut value: Value,
        run: &RunId,
        name: &EventName,
    ) -> Result<Option<(RunEvent, i64)>, String> {
        self.upgrade.event(&mut value, run)?;
        let fault = mismatch(&value, "runId", run.as_str())
            .or_else(|| self.is_of_job(&value, "jobId"))
            .or_else(|| mismatch(&value, "type", &name.tag));
        if let Some(fault) = fault {
            return Err(fault);
        }
        if is_retired(&value) {
            return Ok(None);
        }
        (self.check)(TreeFile::RunEvent, &value)?;
        let ours = value.get(OURS).map(EventExtension::deserialize);
        let ours = ours.transpose();
        let ours = ours.map_err(|error| format!("/{OURS}: {error}"))?;
        let event = RunEvent::deserialize(value).map_err(|error| error.to_string())?;
        if let RunEventKind::StartRun(start) = &event.kind {
            check_extension(&start.initial_checkpoint)
                .map_err(|fault| format!("/initialCheckpoint{fault}"))?;
        }
        let at = ours.map_or(event.timestamp, |ours| ours.at);
        Ok(Some((event, at)))
    }

    /// Reads a checkpoint in full.
    pub(super) fn checkpoint(
        &mut self,
        run: &RunId,
        file: &CheckpointFile,
        findings: &mut Findings,
    ) -> Option<Checkpoint> {
        let value = findings.json(&file.path)?;
        let fault = match self.parse_checkpoint(value, run) {
            Ok(checkpoint) => return Some(checkpoint),
            Err(fault) => fault,
        };
        findings.fault(&file.path, fault);
        // The event that made it was valid, or it would not be known.
        let spare = self.runs.get(run)?.spares.get(&file.id)?;
        let event = spare.event.clone();
        let event = findings.json(&event)?;
        self.parse_checkpoint(event, run).ok()
    }

    /// Reads a checkpoint from its own file's value, or from that of the event that made it.
    fn parse_checkpoint(&mut self, mut value: Value, run: &RunId) -> Result<Checkpoint, String> {
        if let Some(checkpoint) = value.get_mut("checkpoint") {
            value = checkpoint.take();
        }
        self.upgrade.checkpoint(&mut value, run)?;
        (self.check)(TreeFile::Checkpoint, &value)?;
        let checkpoint = Checkpoint::deserialize(value).map_err(|error| error.to_string())?;
        check_extension(&checkpoint)?;
        Ok(checkpoint)
    }
}

fn check_extension(checkpoint: &Checkpoint) -> Result<(), String> {
    StepExtension::of(checkpoint).map(|_| ())
}

/// Says how a text of a file differs from what the file's place says.
fn mismatch(value: &Value, key: &str, expected: &str) -> Option<String> {
    match value.get(key).and_then(Value::as_str) {
        Some(found) if found == expected => None,
        Some(found) => {
            let found: String = found.chars().take(80).collect();
            Some(format!(
                "/{key}: {found:?} does not fit the file's place, {expected:?}"
            ))
        }
        None => Some(format!("/{key}: expected string, found none")),
    }
}
